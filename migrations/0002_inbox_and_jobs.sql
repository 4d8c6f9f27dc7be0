-- Every update as it came, committed before its offset is confirmed. Telegram restarts update ids at random after a
-- quiet week, so an id alone is no key.
CREATE TABLE inbox (
    update_id    INTEGER NOT NULL,
    received_day INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    -- NULL where nothing of the content may be kept (chats that are not allowed).
    raw          TEXT,
    -- Unix milliseconds.
    received_at  INTEGER NOT NULL,
    state        TEXT    NOT NULL CHECK (state IN ('done', 'parked')),
    error        TEXT,
    PRIMARY KEY (update_id, received_day)
) STRICT, WITHOUT ROWID;
CREATE INDEX inbox_parked ON inbox (received_day) WHERE state = 'parked';
CREATE INDEX inbox_by_day ON inbox (received_day);

-- One row: where polling stands. Moves in the transaction that stores the updates.
CREATE TABLE poll_state (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    next_offset INTEGER NOT NULL,
    -- Unix milliseconds. After a week of silence Telegram counts anew, and the offset is worth nothing.
    updated_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE job (
    id         INTEGER PRIMARY KEY,
    kind       TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    -- Jobs of one lane (a Telegram chat id) share their places in the worker pool.
    lane       INTEGER NOT NULL,
    -- Unix milliseconds.
    due_at     INTEGER NOT NULL,
    -- Who works on a job is known in memory alone: one daemon holds the file.
    state      TEXT    NOT NULL CHECK (state IN ('due', 'done', 'parked')),
    attempts   INTEGER NOT NULL DEFAULT 0,
    last_error TEXT,
    UNIQUE (kind, key)
) STRICT;
CREATE INDEX job_due ON job (due_at) WHERE state = 'due';
CREATE INDEX job_parked ON job (kind) WHERE state = 'parked';

-- Triggers that were too old when they came in: counted, and told in one line per chat.
CREATE TABLE backlog (
    telegram_chat_id INTEGER PRIMARY KEY,
    thread_id        INTEGER,
    skipped          INTEGER NOT NULL
) STRICT;
