-- Recaps that a chat wants by themselves. They hold no words: a recap is made when it is due.
CREATE TABLE recap_subscription (
    chat_key  INTEGER PRIMARY KEY REFERENCES chat (chat_key),
    thread_id INTEGER,
    -- Counted from Monday, which is 0. NULL: every day.
    weekday   INTEGER CHECK (weekday BETWEEN 0 AND 6),
    -- Since midnight in the time zone of the chat.
    minute    INTEGER NOT NULL CHECK (minute BETWEEN 0 AND 1439),
    -- Unix milliseconds: up to here everything was told.
    since_at  INTEGER NOT NULL
) STRICT;
