-- Raised whenever a message of the chat that was there is changed, replaced or taken out, or somebody opts out or in: what was
-- read of the chat before is as it was, but for new messages behind it, for as long as this number is the same.
ALTER TABLE chat ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER message_changes AFTER UPDATE ON message
BEGIN
    UPDATE chat SET revision = revision + 1 WHERE chat_key IN (old.chat_key, new.chat_key);
END;
CREATE TRIGGER message_goes AFTER DELETE ON message
BEGIN
    UPDATE chat SET revision = revision + 1 WHERE chat_key = old.chat_key;
END;
-- INSERT OR REPLACE tells no other trigger that a row went.
CREATE TRIGGER message_is_replaced BEFORE INSERT ON message WHEN EXISTS (SELECT 1 FROM message WHERE id = new.id)
BEGIN
    UPDATE chat SET revision = revision + 1 WHERE chat_key = new.chat_key;
END;

-- Whose messages may be read. 0 is every chat.
CREATE TRIGGER member_opts_out AFTER INSERT ON opt_out
BEGIN
    UPDATE chat SET revision = revision + 1 WHERE new.chat_key IN (0, chat_key);
END;
CREATE TRIGGER member_opts_in AFTER DELETE ON opt_out
BEGIN
    UPDATE chat SET revision = revision + 1 WHERE old.chat_key IN (0, chat_key);
END;

-- The number of a chat that is gone is given out again: its successor is not taken for it.
CREATE TRIGGER chat_begins AFTER INSERT ON chat
BEGIN
    UPDATE chat SET revision = random() >> 8 WHERE chat_key = new.chat_key;
END;
