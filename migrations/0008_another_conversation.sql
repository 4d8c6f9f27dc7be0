-- A tag may mean either of two matters. Then the answer is about the likelier one and carries a button, and a press on it
-- gets a second answer to the same trigger: until now there could be only one.
PRAGMA defer_foreign_keys = ON;
CREATE TABLE answer_before AS SELECT * FROM answer;
DROP TABLE answer;
CREATE TABLE answer (
    -- A ULID: the same in log lines, /why and here.
    id                TEXT    PRIMARY KEY,
    chat_key          INTEGER NOT NULL REFERENCES chat (chat_key),
    thread_id         INTEGER,
    trigger_seq       INTEGER NOT NULL,
    -- 1: the likelier of the matters that the trigger may mean. 2: the other one.
    matter            INTEGER NOT NULL CHECK (matter IN (1, 2)),
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
    -- JSON: {margin, taken, other}; NULL where nothing else could have been meant. Numbers of messages, and no words.
    alternative       TEXT,
    model             TEXT    NOT NULL,
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    latency_ms        INTEGER NOT NULL,
    -- One answer per trigger and matter.
    UNIQUE (chat_key, trigger_seq, matter)
) STRICT, WITHOUT ROWID;
INSERT INTO answer (id, chat_key, thread_id, trigger_seq, matter, asked_by, created_at, status, text, anchor_id,
                    context_window, omitted, slots, sources, model, prompt_tokens, completion_tokens, latency_ms)
SELECT id, chat_key, thread_id, trigger_seq, 1, asked_by, created_at, status, text, anchor_id,
       context_window, omitted, slots, sources, model, prompt_tokens, completion_tokens, latency_ms
FROM answer_before;
DROP TABLE answer_before;

-- JSON: {label, data}. The button below this part, if it has one.
ALTER TABLE outbox ADD COLUMN button TEXT;

-- Presses on buttons, until each has had its outcome. The data is what we gave the button.
CREATE TABLE press (
    -- By which Telegram is told the outcome. Also the key of the job.
    query_id         TEXT    PRIMARY KEY,
    telegram_chat_id INTEGER NOT NULL,
    message_id       INTEGER NOT NULL,
    user_id          INTEGER NOT NULL,
    data             TEXT    NOT NULL,
    -- Unix milliseconds.
    pressed_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- However the job ends.
CREATE TRIGGER press_goes_with_its_job AFTER UPDATE OF state ON job WHEN new.kind = 'press' AND new.state <> 'due'
BEGIN
    DELETE FROM press WHERE query_id = new.key;
END;
