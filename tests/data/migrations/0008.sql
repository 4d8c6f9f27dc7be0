UPDATE answer SET alternative = '{"margin":0.1,"taken":[1],"other":[{"seq":2,"id":102,"reason":"strand","score":0.4}]}';
INSERT INTO answer VALUES ('01HF7YAT00000000000000000B', 1, NULL, 2, 2, 12, 1700000062000, 'offline', 'Another digest.', NULL,
                           '[{"seq":2,"id":102,"reason":"strand","score":0.4}]', '[]', '[]', '[]', NULL, 'offline', 0, 0, 3);
UPDATE outbox SET button = '{"label":"Another conversation","data":"other:01HF7YAT00000000000000000A"}';
INSERT INTO press VALUES ('4382bfdwdsb323b2d9', -1001000000001, 103, 12, 'other:01HF7YAT00000000000000000A', 1700000063000);
INSERT INTO job (kind, key, lane, due_at, state) VALUES ('press', '4382bfdwdsb323b2d9', -1001000000001, 1700000063000, 'due');
