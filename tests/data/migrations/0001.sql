INSERT INTO chat (chat_key, telegram_chat_id, kind, title, next_seq) VALUES (1, -1001000000001, 'supergroup', 'Friday table', 4);
INSERT INTO chat_alias VALUES (-1001000000001, 1), (-4001, 1);
INSERT INTO member VALUES (1, 11, 'Ana', 'ana'), (1, 12, 'Bob', NULL);
INSERT INTO message (id, chat_key, seq, telegram_chat_id, message_id, user_id, sender_name, role, is_bot, ts, kind, text,
                     reply_to_id, source, stem_language)
VALUES (4294967297, 1, 1, -1001000000001, 101, 11, 'Ana', 'user', 0, 1700000000, 'text', 'Shall we book a table?', NULL, 'update', 'eng'),
       (4294967298, 1, 2, -1001000000001, 102, 12, 'Bob', 'user', 0, 1700000060, 'text', 'The thai one', 101, 'update', 'eng'),
       (4294967299, 1, 3, -1001000000001, 103, 12, 'Bob', 'user', 0, 1700000120, 'photo', '', NULL, 'snapshot', 'eng');
INSERT INTO message_fts (rowid, text, author) VALUES (4294967297, 'shall we book a tabl', 'ana'), (4294967298, 'the thai one', 'bob');
