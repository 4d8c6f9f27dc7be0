-- Topics: the tag that a conversation is about now, and a summary of each. All of it is made from messages and summaries, and
-- can be made from them again.

-- The topic of a conversation's open session. A row goes when its session ends.
CREATE TABLE conversation_topic (
    chat_key     INTEGER NOT NULL,
    -- 0 outside topics of a forum, so that it can be a key.
    thread_id    INTEGER NOT NULL,
    -- Our number of the first message of the session. 0: not looked at yet, or the topic was set by a member just now.
    opener       INTEGER NOT NULL,
    -- The turns at which topics were scored last, and at which the topic was adopted.
    evaluated_at INTEGER NOT NULL,
    adopted_at   INTEGER NOT NULL,
    -- The local scores left the choice open, and no answer of the session has paid for a call of the model yet.
    is_undecided INTEGER NOT NULL DEFAULT 0 CHECK (is_undecided IN (0, 1)),
    -- Our number of the answered trigger for which a model was asked last: one call an answer at most.
    asked_for    INTEGER NOT NULL DEFAULT 0,
    -- Messages of members until topics are scored again.
    turns_left   INTEGER NOT NULL,
    PRIMARY KEY (chat_key, thread_id)
) STRICT, WITHOUT ROWID;

-- A second one where two are equal and distinct.
CREATE TABLE active_topic (
    chat_key  INTEGER NOT NULL,
    thread_id INTEGER NOT NULL,
    place     INTEGER NOT NULL,
    tag_id    INTEGER NOT NULL REFERENCES tag (id) ON DELETE CASCADE,
    PRIMARY KEY (chat_key, thread_id, place),
    FOREIGN KEY (chat_key, thread_id) REFERENCES conversation_topic (chat_key, thread_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX active_topic_by_tag ON active_topic (tag_id);

-- Bullets as in mini_summary.
CREATE TABLE topic_summary (
    tag_id   INTEGER PRIMARY KEY REFERENCES tag (id) ON DELETE CASCADE,
    text     TEXT    NOT NULL,
    tokens   INTEGER NOT NULL,
    method   TEXT    NOT NULL CHECK (method IN ('model', 'extract')),
    model    TEXT    NOT NULL,
    -- Unix milliseconds.
    built_at INTEGER NOT NULL,
    -- A session that it was made from, or that carries the tag, has changed since.
    is_stale INTEGER NOT NULL DEFAULT 0 CHECK (is_stale IN (0, 1))
) STRICT;

-- The messages that each bullet rests on.
CREATE TABLE topic_source (
    tag_id INTEGER NOT NULL REFERENCES topic_summary (tag_id) ON DELETE CASCADE,
    bullet INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    PRIMARY KEY (tag_id, bullet, seq)
) STRICT, WITHOUT ROWID;

-- The sessions whose summaries it was made from.
CREATE TABLE topic_session (
    tag_id     INTEGER NOT NULL REFERENCES topic_summary (tag_id) ON DELETE CASCADE,
    session_id INTEGER NOT NULL,
    PRIMARY KEY (tag_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX topic_session_by_session ON topic_session (session_id);
