-- Link scores as bytes: a fourth of the room, and nothing to parse. What was kept as text is worked out again where it is
-- needed, since it is a cache: dropping it changes speed and nothing else.
DROP TABLE link_cache;

CREATE TABLE link_cache (
    -- The message's id in our own numbers, as in message.id. Of each chat only the newest are kept.
    id          INTEGER PRIMARY KEY,
    scorer      INTEGER NOT NULL,
    -- A fingerprint of the message and those before it that it was scored against: an edit or a deletion among them
    -- makes the row worthless.
    past        INTEGER NOT NULL,
    -- Five bytes for each possible antecedent, best first: how many messages back, and the probability as a
    -- little-endian 32-bit float.
    antecedents BLOB    NOT NULL
) STRICT;
