-- 1 once another bot was seen in the chat: commands without a name may then be for that one.
ALTER TABLE chat ADD COLUMN has_other_bots INTEGER NOT NULL DEFAULT 0 CHECK (has_other_bots IN (0, 1));
