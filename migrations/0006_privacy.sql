-- Owners made by /claim, beside those of OWNER_IDS.
CREATE TABLE owner (
    user_id INTEGER PRIMARY KEY,
    -- Unix milliseconds.
    since   INTEGER NOT NULL
) STRICT;

-- Chats to which an owner added the bot, beside those of ALLOWED_CHATS.
CREATE TABLE allowed_chat (
    chat_key   INTEGER PRIMARY KEY REFERENCES chat (chat_key),
    allowed_by INTEGER NOT NULL,
    -- Unix milliseconds.
    since      INTEGER NOT NULL
) STRICT;

-- Unix milliseconds: when the bot was removed. What is kept of the chat goes some time later.
ALTER TABLE chat ADD COLUMN removed_at INTEGER;
-- Unix milliseconds: when the chat was told what is kept of it. Once is enough.
ALTER TABLE chat ADD COLUMN announced_at INTEGER;
-- NULL: as the operator has it. 0: keep for good.
ALTER TABLE chat ADD COLUMN retention_days INTEGER;
-- Unix seconds: the chat had everything forgotten up to then. Whatever brings an older message back (a reply encloses
-- its parent whole) makes a stub.
ALTER TABLE chat ADD COLUMN forgotten_until INTEGER;

-- Members of whom nothing is kept. Outlives everything else that is known of a chat: a bot that comes back must not
-- have forgotten who wants to be forgotten.
CREATE TABLE opt_out (
    -- 0: every chat.
    chat_key INTEGER NOT NULL,
    user_id  INTEGER NOT NULL,
    -- Unix milliseconds.
    since    INTEGER NOT NULL,
    PRIMARY KEY (chat_key, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX opt_out_by_user ON opt_out (user_id);

-- The words of a member who opted out and addresses the bot: kept until that one request is dealt with.
CREATE TABLE held_text (
    -- The key of the job that deals with it.
    key      TEXT PRIMARY KEY,
    text     TEXT NOT NULL,
    entities TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- However the job ends, the words go in the same transaction.
CREATE TRIGGER held_text_goes_with_its_job AFTER UPDATE OF state ON job WHEN new.state <> 'due'
BEGIN
    DELETE FROM held_text WHERE key = new.key;
END;

-- Which messages a raw update holds, its own and those that it encloses: what forgetting has to find.
CREATE TABLE inbox_message (
    telegram_chat_id INTEGER NOT NULL,
    message_id       INTEGER NOT NULL,
    update_id        INTEGER NOT NULL,
    received_day     INTEGER NOT NULL,
    PRIMARY KEY (telegram_chat_id, message_id, update_id, received_day)
) STRICT, WITHOUT ROWID;
CREATE INDEX inbox_message_by_update ON inbox_message (update_id, received_day);
INSERT OR IGNORE INTO inbox_message (telegram_chat_id, message_id, update_id, received_day)
SELECT json_extract(raw, node.path || '.chat.id'), node.value, update_id, received_day
FROM inbox, json_tree(CASE WHEN json_valid(raw) THEN raw ELSE 'null' END) AS node
WHERE node.key = 'message_id' AND node.type = 'integer'
  AND json_type(raw, node.path || '.chat.id') = 'integer';
CREATE TRIGGER inbox_message_goes_with_its_update AFTER DELETE ON inbox
BEGIN
    DELETE FROM inbox_message WHERE update_id = old.update_id AND received_day = old.received_day;
END;

-- Which messages each answer was given: an answer may repeat any of them, so it is forgotten with them.
CREATE TABLE answer_use (
    chat_key  INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    answer_id TEXT    NOT NULL REFERENCES answer (id),
    PRIMARY KEY (chat_key, seq, answer_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_use_by_answer ON answer_use (answer_id);
INSERT OR IGNORE INTO answer_use (chat_key, seq, answer_id)
SELECT answer.chat_key, json_extract(chosen.value, '$.seq'), answer.id
FROM answer, json_each(answer.context_window) AS chosen;
INSERT OR IGNORE INTO answer_use (chat_key, seq, answer_id) SELECT chat_key, trigger_seq, id FROM answer;
CREATE INDEX outbox_by_answer ON outbox (answer_id) WHERE answer_id IS NOT NULL;

-- Messages that carry the words of others from elsewhere: forwards, and replies to other chats.
CREATE INDEX message_borrowing ON message (id) WHERE forward_origin IS NOT NULL OR context_snapshot IS NOT NULL;
CREATE INDEX message_by_age ON message (chat_key, ts);
CREATE INDEX message_by_author ON message (user_id, chat_key, ts);

-- What is to be forgotten: written when it was asked for, gone when it is done and told.
CREATE TABLE deletion (
    id               INTEGER PRIMARY KEY,
    scope            TEXT    NOT NULL CHECK (scope IN ('message', 'member', 'chat')),
    -- NULL: in every chat.
    chat_key         INTEGER REFERENCES chat (chat_key),
    -- The message, or whose messages.
    seq              INTEGER,
    user_id          INTEGER,
    -- Unix seconds; messages sent from then on. NULL: all.
    since            INTEGER,
    -- Unix milliseconds; nothing that came later is touched.
    asked_at         INTEGER NOT NULL,
    asked_by         INTEGER NOT NULL,
    -- Whether the chat was told first and could object.
    was_announced    INTEGER NOT NULL CHECK (was_announced IN (0, 1)),
    -- Where to tell that it is done.
    telegram_chat_id INTEGER NOT NULL,
    thread_id        INTEGER,
    reply_to_id      INTEGER,
    -- Counted on the way.
    messages         INTEGER NOT NULL DEFAULT 0,
    answers          INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One row while unused parts of the file may still hold words that were deleted: SQLite overwrites what it deletes, but
-- not the copies that stay behind when a page is split. Writing the file anew ends that.
CREATE TABLE scrub (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    -- Unix milliseconds.
    wanted_since INTEGER NOT NULL
) STRICT;
