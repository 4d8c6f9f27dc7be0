-- Where borrowed words stood first: what a forward forwards, and what a reply to another chat quotes. Copies are found by
-- it, and never by their text: two people may write the same.
ALTER TABLE message ADD COLUMN origin_chat_id INTEGER;
ALTER TABLE message ADD COLUMN origin_message_id INTEGER;
ALTER TABLE message ADD COLUMN origin_user_id INTEGER;
-- Unix seconds: when they were written there.
ALTER TABLE message ADD COLUMN origin_ts INTEGER;
WITH kept AS (
    SELECT json_extract(raw, '$.message') AS message FROM inbox
    WHERE json_valid(raw) AND (json_type(raw, '$.message.forward_origin') = 'object'
                               OR json_type(raw, '$.message.external_reply') = 'object')
), borrowed AS (
    SELECT json_extract(message, '$.chat.id') AS chat, json_extract(message, '$.message_id') AS id,
           coalesce(json_extract(message, '$.forward_origin'), json_extract(message, '$.external_reply.origin')) AS origin,
           json_extract(message, '$.external_reply') AS reply
    FROM kept
)
UPDATE message SET
    origin_chat_id = CAST(coalesce(json_extract(reply, '$.chat.id'), json_extract(origin, '$.chat.id'),
                                   json_extract(origin, '$.sender_chat.id')) AS INTEGER),
    origin_message_id = CAST(coalesce(json_extract(reply, '$.message_id'),
                                      json_extract(origin, '$.message_id')) AS INTEGER),
    origin_user_id = CAST(coalesce(json_extract(origin, '$.sender_user.id'), json_extract(origin, '$.sender_chat.id'),
                                   json_extract(origin, '$.chat.id')) AS INTEGER),
    origin_ts = CAST(json_extract(origin, '$.date') AS INTEGER)
FROM borrowed
WHERE message.telegram_chat_id = borrowed.chat AND message.message_id = borrowed.id;
DROP INDEX message_borrowing;
CREATE INDEX message_by_origin ON message (origin_chat_id, origin_message_id) WHERE origin_message_id IS NOT NULL;
CREATE INDEX message_by_origin_author ON message (origin_user_id, origin_ts) WHERE origin_user_id IS NOT NULL;
CREATE INDEX message_by_origin_moment ON message (origin_ts) WHERE origin_ts IS NOT NULL AND origin_user_id IS NULL;
CREATE INDEX message_quoting ON message (chat_key) WHERE quote_text IS NOT NULL;

-- Members whom a message of somebody else names: who was added, removed, invited.
CREATE TABLE message_name (
    user_id INTEGER NOT NULL,
    -- As message.id.
    id      INTEGER NOT NULL,
    PRIMARY KEY (user_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_name_by_message ON message_name (id);

-- Messages that a reply other than an answer shows something of, as /why does: the reply goes with them.
CREATE TABLE reply_use (
    chat_key  INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    reply_key TEXT    NOT NULL,
    PRIMARY KEY (chat_key, seq, reply_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX reply_use_by_reply ON reply_use (reply_key);
CREATE TRIGGER reply_use_goes_with_its_reply AFTER DELETE ON outbox
BEGIN
    DELETE FROM reply_use WHERE reply_key = old.reply_key;
END;

-- A new scope: the answers that rest on what a member wrote who opted out. And the moment of a request by Telegram's clock
-- too, since that is what dates the messages.
CREATE TABLE deletion_before AS SELECT * FROM deletion;
DROP TABLE deletion;
CREATE TABLE deletion (
    id               INTEGER PRIMARY KEY,
    scope            TEXT    NOT NULL CHECK (scope IN ('message', 'member', 'chat', 'derived')),
    -- NULL: in every chat.
    chat_key         INTEGER REFERENCES chat (chat_key),
    -- The message, or whose messages.
    seq              INTEGER,
    user_id          INTEGER,
    -- Unix seconds by Telegram's clock; messages sent from then on. NULL: all.
    since            INTEGER,
    -- Unix seconds by Telegram's clock; no message that was sent later is touched.
    until            INTEGER NOT NULL,
    -- Unix milliseconds by this machine's clock; nothing else that came later is touched.
    asked_at         INTEGER NOT NULL,
    asked_by         INTEGER NOT NULL,
    -- Whether the chat was told first and could object.
    was_announced    INTEGER NOT NULL CHECK (was_announced IN (0, 1)),
    -- Where to tell that it is done. NULL: nowhere.
    telegram_chat_id INTEGER,
    thread_id        INTEGER,
    reply_to_id      INTEGER,
    -- Counted on the way.
    messages         INTEGER NOT NULL DEFAULT 0,
    answers          INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO deletion
SELECT id, scope, chat_key, seq, user_id, since, asked_at / 1000, asked_at, asked_by, was_announced, telegram_chat_id,
       thread_id, reply_to_id, messages, answers
FROM deletion_before;
DROP TABLE deletion_before;

-- Raw updates of which nobody knows which messages they hold: forgetting empties them all, and need not look for them.
CREATE INDEX inbox_raw_parked ON inbox (received_day) WHERE raw IS NOT NULL AND state = 'parked';

-- What is still on its way, and what is none of a kept answer, without reading the whole table.
CREATE INDEX outbox_open ON outbox (telegram_chat_id) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_over ON outbox (created_at) WHERE answer_id IS NULL AND state IN ('sent', 'failed');
