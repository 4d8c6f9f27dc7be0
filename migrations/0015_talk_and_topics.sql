-- From this byte on, a part of a reply is the bot's introduction below its first answer in a chat, which is no part of
-- the talk: 0 for a part that is nothing else, none for a part without one.
ALTER TABLE outbox ADD COLUMN talk_end INTEGER;

-- Commands, digests without a model and apologies are no talk. New ones are stored as what the role 'system' says, like
-- service messages; these came before.
UPDATE message SET role = 'system'
WHERE role = 'user' AND text LIKE '/%' AND text NOT LIKE '/ask%' AND entities LIKE '%bot_command%';
UPDATE message SET role = 'system'
WHERE role = 'assistant'
  AND EXISTS (SELECT 1 FROM outbox JOIN answer ON answer.id = outbox.answer_id
              WHERE outbox.telegram_chat_id = message.telegram_chat_id AND outbox.message_id = message.message_id
                AND answer.status <> 'answered');

-- What a forum topic is called, as Telegram last said. Part of the chat, like its title.
CREATE TABLE topic_name (
    chat_key  INTEGER NOT NULL REFERENCES chat (chat_key) ON DELETE CASCADE,
    thread_id INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    PRIMARY KEY (chat_key, thread_id)
) STRICT, WITHOUT ROWID;
