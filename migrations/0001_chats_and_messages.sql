-- A chat is the privacy boundary. Everything that is remembered hangs on chat_key, our own number, because
-- Telegram's id changes when a basic group becomes a supergroup.
CREATE TABLE chat (
    chat_key  INTEGER PRIMARY KEY,
    -- Telegram's present id; older ones stay in chat_alias.
    telegram_chat_id INTEGER NOT NULL,
    kind      TEXT    NOT NULL CHECK (kind IN ('private', 'group', 'supergroup', 'channel')),
    title     TEXT,
    username  TEXT,
    -- The number that the chat's next message gets: sources are cited as m<seq>.
    next_seq  INTEGER NOT NULL DEFAULT 1,
    -- ISO 639-3 code of the language that the chat's words are stemmed in; judged now and then over recent messages.
    language  TEXT    NOT NULL DEFAULT 'eng',
    is_member INTEGER NOT NULL DEFAULT 1 CHECK (is_member IN (0, 1))
) STRICT;

CREATE TABLE chat_alias (
    telegram_chat_id INTEGER PRIMARY KEY,
    chat_key         INTEGER NOT NULL REFERENCES chat (chat_key)
) STRICT;
CREATE INDEX chat_alias_by_key ON chat_alias (chat_key);

CREATE TABLE member (
    chat_key INTEGER NOT NULL REFERENCES chat (chat_key),
    user_id  INTEGER NOT NULL,
    name     TEXT    NOT NULL,
    username TEXT,
    PRIMARY KEY (chat_key, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_by_user ON member (user_id);

CREATE TABLE message (
    -- chat_key << 32 | seq. The full-text index uses it as rowid, so that one chat is one range of it:
    -- isolation and forgetting are a range, not a filter.
    id               INTEGER PRIMARY KEY,
    chat_key         INTEGER NOT NULL REFERENCES chat (chat_key),
    seq              INTEGER NOT NULL,
    telegram_chat_id INTEGER NOT NULL,
    message_id       INTEGER NOT NULL,
    thread_id        INTEGER,
    session_id       INTEGER,
    user_id          INTEGER NOT NULL,
    -- Set where somebody writes in the name of a chat; then it equals user_id.
    sender_chat_id   INTEGER,
    sender_name      TEXT    NOT NULL,
    sender_username  TEXT,
    role             TEXT    NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'system-summary')),
    is_bot           INTEGER NOT NULL CHECK (is_bot IN (0, 1)),
    -- Unix seconds, as Telegram sends them.
    ts               INTEGER NOT NULL,
    edit_ts          INTEGER,
    kind             TEXT    NOT NULL,
    kind_detail      TEXT,
    text             TEXT    NOT NULL,
    entities         TEXT,
    reply_to_id      INTEGER,
    quote_text       TEXT,
    context_snapshot TEXT,
    forward_origin   TEXT,
    media_group_id   TEXT,
    via_bot          TEXT,
    source           TEXT    NOT NULL CHECK (source IN ('update', 'snapshot', 'import')),
    -- A stub says that there was a message and nothing about what it said.
    is_stub          INTEGER NOT NULL DEFAULT 0 CHECK (is_stub IN (0, 1)),
    -- The language its words were stemmed in: deleting from a contentless index needs the very same words again.
    stem_language    TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX message_by_telegram_id ON message (telegram_chat_id, message_id);
CREATE INDEX message_in_conversation ON message (chat_key, thread_id, ts, message_id);
CREATE INDEX message_replies ON message (telegram_chat_id, reply_to_id) WHERE reply_to_id IS NOT NULL;
CREATE INDEX message_album ON message (telegram_chat_id, media_group_id) WHERE media_group_id IS NOT NULL;

-- Contentless: the words are indexed, the text stays in message alone. Words are stemmed before they come here.
-- Not contentless_delete: that leaves deleted words in the file. The 'delete' command with secure-delete does not.
CREATE VIRTUAL TABLE message_fts USING fts5 (text, author, content = '', tokenize = 'unicode61 remove_diacritics 2');
INSERT INTO message_fts (message_fts, rank) VALUES ('secure-delete', 1);
