-- Time at which Telegram last refused a message for lack of the right to send.
ALTER TABLE chat ADD COLUMN sending_refused_at INTEGER;
