-- How a chat wants its answers. NULL: as the operator has it.
ALTER TABLE chat ADD COLUMN grounding TEXT CHECK (grounding IN ('open', 'strict'));
-- Whether answers are shown while they are written.
ALTER TABLE chat ADD COLUMN streaming INTEGER CHECK (streaming IN (0, 1));

-- How unsure the model said that it is. NULL: it did not say.
ALTER TABLE answer ADD COLUMN uncertainty TEXT CHECK (uncertainty IN ('low', 'medium', 'high'));
-- 1: nothing known was relevant enough, so that no model was asked.
ALTER TABLE answer ADD COLUMN guard_used INTEGER NOT NULL DEFAULT 0 CHECK (guard_used IN (0, 1));

-- A message may have rows of buttons below it: [[{label, data}, ...], ...].
UPDATE outbox SET button = '[[' || button || ']]' WHERE button IS NOT NULL;

-- Replies that are shown while they are written, until the whole of each stands in its message.
CREATE TABLE reply_stream (
    reply_key        TEXT    PRIMARY KEY,
    telegram_chat_id INTEGER NOT NULL,
    -- NULL: it was being sent, and nobody knows whether it arrived.
    message_id       INTEGER,
    -- Unix milliseconds.
    opened_at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
