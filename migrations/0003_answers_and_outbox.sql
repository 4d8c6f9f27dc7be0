-- What an answer rested on. /why and `chime explain` read it back.
CREATE TABLE answer (
    -- A ULID: the same in log lines, /why and here.
    id                TEXT    PRIMARY KEY,
    chat_key          INTEGER NOT NULL REFERENCES chat (chat_key),
    thread_id         INTEGER,
    trigger_seq       INTEGER NOT NULL,
    asked_by          INTEGER NOT NULL,
    -- Unix milliseconds.
    created_at        INTEGER NOT NULL,
    status            TEXT    NOT NULL CHECK (status IN ('answered', 'offline', 'apologised')),
    text              TEXT    NOT NULL,
    anchor_id         INTEGER,
    -- JSON: [{seq, id, reason, score}], [{id, why}], [{name, tokens, sources}], [{id, text}].
    context_window    TEXT    NOT NULL,
    omitted           TEXT    NOT NULL,
    slots             TEXT    NOT NULL,
    sources           TEXT    NOT NULL,
    model             TEXT    NOT NULL,
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    latency_ms        INTEGER NOT NULL,
    -- One answer per trigger.
    UNIQUE (chat_key, trigger_seq)
) STRICT, WITHOUT ROWID;

-- One row per part of a reply, written before it is sent. 'sending' found at start is a send whose outcome nobody
-- knows: it is tried once more while it is fresh, and only then can a member see a reply twice.
CREATE TABLE outbox (
    id               INTEGER PRIMARY KEY,
    -- The reply that the part belongs to, e.g. answer:<chat>:<message>. Also the key of the job that sends it.
    reply_key        TEXT    NOT NULL,
    part             INTEGER NOT NULL,
    purpose          TEXT    NOT NULL CHECK (purpose IN ('answer', 'command', 'notice')),
    answer_id        TEXT    REFERENCES answer (id),
    telegram_chat_id INTEGER NOT NULL,
    thread_id        INTEGER,
    reply_to_id      INTEGER,
    text             TEXT    NOT NULL,
    entities         TEXT    NOT NULL,
    state            TEXT    NOT NULL CHECK (state IN ('pending', 'sending', 'sent', 'failed')),
    -- Sends whose outcome is unknown.
    unknown_sends    INTEGER NOT NULL DEFAULT 0,
    -- Unix milliseconds.
    created_at       INTEGER NOT NULL,
    message_id       INTEGER,
    error            TEXT,
    UNIQUE (reply_key, part)
) STRICT;
CREATE INDEX outbox_by_message ON outbox (telegram_chat_id, message_id) WHERE message_id IS NOT NULL;
