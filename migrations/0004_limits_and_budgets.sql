-- Triggers that were let through lately: what rates and floods are counted from, so that a restart forgives nothing.
-- Rows older than the longest rate are deleted as new ones come.
CREATE TABLE recent_trigger (
    telegram_chat_id INTEGER NOT NULL,
    message_id       INTEGER NOT NULL,
    chat_key         INTEGER NOT NULL,
    -- 0 outside topics, so that it can be compared.
    thread_id        INTEGER NOT NULL,
    user_id          INTEGER NOT NULL,
    -- Unix milliseconds, by Telegram's date of the message.
    sent_at          INTEGER NOT NULL,
    PRIMARY KEY (telegram_chat_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX recent_trigger_of_conversation ON recent_trigger (chat_key, thread_id, sent_at);
CREATE INDEX recent_trigger_of_member ON recent_trigger (user_id, sent_at);
CREATE INDEX recent_trigger_by_time ON recent_trigger (sent_at);

-- Triggers that were refused and whose refusal is still to be told.
CREATE TABLE refusal (
    telegram_chat_id INTEGER NOT NULL,
    message_id       INTEGER NOT NULL,
    thread_id        INTEGER,
    because          TEXT    NOT NULL CHECK (because IN ('conversation', 'member', 'flood', 'daily_tokens',
                                                         'daily_tokens_of_chat', 'daily_tokens_of_member')),
    -- Whom the words are for: refusals of one subject are explained once.
    subject          TEXT    NOT NULL,
    -- Unix milliseconds: when asking again makes sense.
    until            INTEGER NOT NULL,
    tell             TEXT    NOT NULL CHECK (tell IN ('words', 'reaction')),
    PRIMARY KEY (telegram_chat_id, message_id)
) STRICT, WITHOUT ROWID;

-- Which refusals were explained in words, so that the next ones need only a reaction.
CREATE TABLE told_refusal (
    subject   TEXT    PRIMARY KEY,
    -- Unix milliseconds.
    told_at   INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    -- Whether the one line was said that stands in for reactions where there are none.
    is_closed INTEGER NOT NULL DEFAULT 0 CHECK (is_closed IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE INDEX told_refusal_by_time ON told_refusal (until);

-- What model calls took, by UTC day. The day's budgets are counted from it.
CREATE TABLE token_usage (
    -- Days since 1970-01-01.
    day               INTEGER NOT NULL,
    chat_key          INTEGER NOT NULL,
    -- 0 for work in the background that nobody asked for.
    user_id           INTEGER NOT NULL,
    calls             INTEGER NOT NULL,
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    -- Millionths of whatever currency the prices were given in; 0 without prices.
    cost_micros       INTEGER NOT NULL,
    PRIMARY KEY (day, chat_key, user_id)
) STRICT, WITHOUT ROWID;
