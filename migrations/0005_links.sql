-- Where a message may go on from, as the scorer of that version sees it. A cache: dropping it changes speed and nothing
-- else.
CREATE TABLE link_cache (
    -- The message's id in our own numbers, as in message.id.
    id          INTEGER PRIMARY KEY,
    scorer      INTEGER NOT NULL,
    -- A fingerprint of the message and those before it that it was scored against: an edit or a deletion among them
    -- makes the row worthless.
    past        INTEGER NOT NULL,
    -- JSON: [[distance, probability], …], best first; distances count messages of the conversation.
    antecedents TEXT    NOT NULL
) STRICT;
