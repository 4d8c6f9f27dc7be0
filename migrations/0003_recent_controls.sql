-- Commands and presses of the last minute that the usual limits do not apply to, by which they are limited.
CREATE TABLE recent_control (
    user_id INTEGER NOT NULL,
    -- Unix milliseconds.
    sent_at INTEGER NOT NULL
) STRICT;
CREATE INDEX recent_control_of_member ON recent_control (user_id, sent_at);
CREATE INDEX recent_control_by_time ON recent_control (sent_at);
