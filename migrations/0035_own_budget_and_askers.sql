-- What the admins of a chat chose: the tokens that it may take in a day, NULL as the operator has it; and who may tag the bot,
-- `admins`, or NULL for everybody.
ALTER TABLE chat ADD COLUMN daily_tokens INTEGER;
ALTER TABLE chat ADD COLUMN askers TEXT;
-- When it was told that voice messages are written down, in Unix milliseconds.
ALTER TABLE chat ADD COLUMN voice_told_at INTEGER;

-- Whoever may not tag the bot is told so: another reason for a refusal.
CREATE TABLE refusal_anew (
    telegram_chat_id INTEGER NOT NULL,
    message_id       INTEGER NOT NULL,
    thread_id        INTEGER,
    because          TEXT    NOT NULL CHECK (because IN ('conversation', 'member', 'flood', 'daily_tokens',
                                                         'daily_tokens_of_chat', 'daily_tokens_of_member', 'admins_only')),
    -- Whom the words are for: refusals of one subject are explained once.
    subject          TEXT    NOT NULL,
    -- Unix milliseconds: when asking again makes sense.
    until            INTEGER NOT NULL,
    tell             TEXT    NOT NULL CHECK (tell IN ('words', 'reaction')),
    PRIMARY KEY (telegram_chat_id, message_id)
) STRICT, WITHOUT ROWID;
INSERT INTO refusal_anew SELECT telegram_chat_id, message_id, thread_id, because, subject, until, tell FROM refusal;
DROP TABLE refusal;
ALTER TABLE refusal_anew RENAME TO refusal;
