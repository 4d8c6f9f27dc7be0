UPDATE message SET origin_chat_id = -1002000000002, origin_message_id = 7, origin_user_id = 13, origin_ts = 1699999999
WHERE seq = 2;
INSERT INTO message_name VALUES (13, 4294967297);
INSERT INTO reply_use VALUES (1, 2, 'command:-1001000000001:105');
INSERT INTO deletion (scope, chat_key, user_id, until, asked_at, asked_by, was_announced)
VALUES ('derived', 1, 13, 1700000300, 1700000300000, 13, 0);
