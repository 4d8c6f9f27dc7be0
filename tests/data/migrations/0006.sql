INSERT INTO owner VALUES (11, 1700000000000);
INSERT INTO allowed_chat VALUES (1, 11, 1700000000000);
UPDATE chat SET announced_at = 1700000000000, retention_days = 30;
INSERT INTO opt_out VALUES (0, 12, 1700000200000), (1, 13, 1700000200000);
INSERT INTO held_text VALUES ('-1001000000001:104', '@bot thoughts?', '[]');
INSERT INTO inbox_message VALUES (-1001000000001, 102, 7001, 19675);
INSERT INTO answer_use VALUES (1, 3, '01HF7YAT00000000000000000A');
INSERT INTO deletion (scope, chat_key, user_id, asked_at, asked_by, was_announced, telegram_chat_id)
VALUES ('chat', 1, NULL, 1700000300000, 11, 1, -1001000000001);
INSERT INTO scrub VALUES (1, 1700000300000);
