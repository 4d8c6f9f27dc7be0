-- Memory: what a chat talked about before. All of it is made from messages and can be made from them again.

-- NULL: as the operator has it. 0: the chat wants no memory.
ALTER TABLE chat ADD COLUMN memory INTEGER CHECK (memory IN (0, 1));
-- Seconds of silence that end a session. NULL: as the operator has it.
ALTER TABLE chat ADD COLUMN session_idle INTEGER;
-- Unix milliseconds: when the chat was told that summaries are made in the background. Chats that were told what is kept
-- before there were summaries are told once more.
ALTER TABLE chat ADD COLUMN memory_told_at INTEGER;

-- Moments of a conversation at which something changed since its sessions were last looked at. Taking in a message only
-- notes; dividing a conversation into sessions is the scheduler's work.
CREATE TABLE session_note (
    chat_key  INTEGER NOT NULL,
    -- 0 outside topics, so that it can be a key.
    thread_id INTEGER NOT NULL,
    -- Unix seconds.
    ts        INTEGER NOT NULL,
    -- Unix milliseconds: not looked at before. A session that is still open leaves a note for when it may end.
    check_at  INTEGER NOT NULL,
    PRIMARY KEY (chat_key, thread_id, ts)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_note_due ON session_note (check_at);
-- What was said before there were sessions is divided too.
INSERT INTO session_note (chat_key, thread_id, ts, check_at)
SELECT chat_key, coalesce(thread_id, 0), min(ts), 0 FROM message GROUP BY chat_key, coalesce(thread_id, 0);

-- What ends a session beside silence, size and age: /new, the closing of a topic, the removal of the bot.
CREATE TABLE session_cut (
    chat_key   INTEGER NOT NULL,
    thread_id  INTEGER NOT NULL,
    ts         INTEGER NOT NULL,
    -- The last message that belongs to the session that ends.
    message_id INTEGER NOT NULL,
    reason     TEXT    NOT NULL CHECK (reason IN ('new', 'topic', 'removed')),
    PRIMARY KEY (chat_key, thread_id, ts, message_id)
) STRICT, WITHOUT ROWID;

-- A closed session. An open one has no row: it is what follows the last closed one.
CREATE TABLE session (
    -- The row id of its first message, chat_key << 32 | seq: one chat is one range, and the source s<seq> names it.
    id                  INTEGER PRIMARY KEY,
    chat_key            INTEGER NOT NULL REFERENCES chat (chat_key),
    thread_id           INTEGER,
    -- Unix seconds, with the message ids that break ties.
    started_at          INTEGER NOT NULL,
    first_message_id    INTEGER NOT NULL,
    ended_at            INTEGER NOT NULL,
    last_message_id     INTEGER NOT NULL,
    messages            INTEGER NOT NULL,
    reason              TEXT    NOT NULL CHECK (reason IN ('silence', 'size', 'age', 'new', 'topic', 'removed')),
    -- Unix milliseconds.
    closed_at           INTEGER NOT NULL,
    -- Of the content of its messages. Another content is another fingerprint, and the summary is made anew.
    fingerprint         INTEGER NOT NULL,
    -- The fingerprint that its summary, or the decision that it needs none, rests on.
    summarized          INTEGER,
    -- Unix milliseconds: set in the transaction that stores the History that the session is part of.
    history_included_at INTEGER
) STRICT;
CREATE INDEX session_in_conversation ON session (chat_key, thread_id, started_at, first_message_id);
CREATE INDEX session_by_end ON session (chat_key, ended_at);
CREATE INDEX session_stale ON session (chat_key, ended_at) WHERE summarized IS NOT fingerprint;

-- The summary of a session. A bullet a line; members stand in it as {u7}, numbered by summary_member.
CREATE TABLE mini_summary (
    session_id INTEGER PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
    text       TEXT    NOT NULL,
    tokens     INTEGER NOT NULL,
    -- 'extract': messages word for word, made without a model and made anew by one when there is one.
    method     TEXT    NOT NULL CHECK (method IN ('model', 'extract')),
    model      TEXT    NOT NULL,
    -- Unix milliseconds.
    built_at   INTEGER NOT NULL
) STRICT;

-- The messages that each bullet of a mini-summary rests on.
CREATE TABLE summary_source (
    session_id INTEGER NOT NULL REFERENCES mini_summary (session_id) ON DELETE CASCADE,
    bullet     INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    PRIMARY KEY (session_id, bullet, seq)
) STRICT, WITHOUT ROWID;

-- Numbers of members in summaries. A number outlives its member, so that nobody else gets it.
CREATE TABLE summary_member (
    chat_key INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    user_id  INTEGER,
    PRIMARY KEY (chat_key, number),
    UNIQUE (chat_key, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tag (
    id       INTEGER PRIMARY KEY,
    chat_key INTEGER NOT NULL REFERENCES chat (chat_key),
    name     TEXT    NOT NULL,
    -- What its forms share: lower case, singular, stemmed.
    key      TEXT    NOT NULL,
    -- The tag that this one was merged into.
    same_as  INTEGER REFERENCES tag (id) ON DELETE SET NULL,
    UNIQUE (chat_key, key)
) STRICT;
CREATE INDEX tag_synonyms ON tag (same_as) WHERE same_as IS NOT NULL;

CREATE TABLE session_tag (
    session_id INTEGER NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    tag_id     INTEGER NOT NULL REFERENCES tag (id) ON DELETE CASCADE,
    confidence REAL    NOT NULL,
    PRIMARY KEY (session_id, tag_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_tag_by_tag ON session_tag (tag_id, session_id);

-- Vectors of mini-summaries. Those of two models, or of two dimensions, are never compared.
CREATE TABLE summary_vector (
    session_id INTEGER PRIMARY KEY REFERENCES mini_summary (session_id) ON DELETE CASCADE,
    model      TEXT    NOT NULL,
    dimension  INTEGER NOT NULL,
    -- Little-endian 32-bit floats, of length 1 together.
    vector     BLOB    NOT NULL
) STRICT;

-- Recent and History of a chat. Bullets as in mini_summary.
CREATE TABLE rolling_summary (
    chat_key INTEGER NOT NULL REFERENCES chat (chat_key),
    kind     TEXT    NOT NULL CHECK (kind IN ('recent', 'history')),
    text     TEXT    NOT NULL,
    tokens   INTEGER NOT NULL,
    -- How many sessions it rests on.
    sessions INTEGER NOT NULL,
    method   TEXT    NOT NULL CHECK (method IN ('model', 'extract')),
    model    TEXT    NOT NULL,
    built_at INTEGER NOT NULL,
    PRIMARY KEY (chat_key, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE rolling_source (
    chat_key INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    bullet   INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    PRIMARY KEY (chat_key, kind, bullet, seq),
    FOREIGN KEY (chat_key, kind) REFERENCES rolling_summary (chat_key, kind) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- The oldest part of a long strand, as one text that is extended and never made anew from nothing.
CREATE TABLE strand_summary (
    id         INTEGER PRIMARY KEY,
    chat_key   INTEGER NOT NULL REFERENCES chat (chat_key),
    thread_id  INTEGER,
    text       TEXT    NOT NULL,
    tokens     INTEGER NOT NULL,
    method     TEXT    NOT NULL CHECK (method IN ('model', 'extract')),
    model      TEXT    NOT NULL,
    built_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX strand_summary_in_chat ON strand_summary (chat_key, thread_id);

-- The messages that a strand's summary stands for. A message is in one at most.
CREATE TABLE strand_source (
    chat_key  INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    strand_id INTEGER NOT NULL REFERENCES strand_summary (id) ON DELETE CASCADE,
    PRIMARY KEY (chat_key, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX strand_source_by_strand ON strand_source (strand_id);
