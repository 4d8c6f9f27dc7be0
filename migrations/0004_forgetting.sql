-- Hash of the member's name, to recognise forwards that have the name only. NULL: not seen since the opt-out.
ALTER TABLE opt_out ADD COLUMN name_hash INTEGER;
CREATE INDEX opt_out_by_name ON opt_out (name_hash);

-- Forwards and quotes whose author Telegram hides.
CREATE INDEX message_by_hidden_author ON message (forward_origin, chat_key)
    WHERE forward_origin IS NOT NULL AND origin_user_id IS NULL;

-- As in 0001, with the member whose words a message forwards.
DROP VIEW message_in_answer;
CREATE VIEW message_in_answer AS
SELECT said.chat_key, said.seq, said.user_id, said.origin_user_id, said.forward_origin, answer_use.answer_id
FROM message AS said
JOIN answer_use ON answer_use.chat_key = said.chat_key AND answer_use.block = said.seq >> 6
    AND (answer_use.bits >> (said.seq & 63)) & 1;

-- Folders in which daily copies were made, as bytes of the path: forgetting reaches them if BACKUP_DIR names another one.
CREATE TABLE backup_folder (
    path BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- A name that a member gave the bot is a text by a member, as a persona is; who gave the stored ones is not known.
UPDATE chat_setting SET set_by = 0 WHERE key = 'name';
