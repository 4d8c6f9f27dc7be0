INSERT INTO inbox VALUES (7001, 19675, 'message', '{"update_id":7001}', 1700000000500, 'done', NULL),
                         (7002, 19675, 'novelty', '{"update_id":7002}', 1700000000600, 'parked', 'unknown kind');
INSERT INTO poll_state VALUES (1, 7003, 1700000000600);
INSERT INTO job (kind, key, lane, due_at, state) VALUES ('answer', '-1001000000001:102', -1001000000001, 1700000060000, 'done'),
                                                        ('send', 'answer:-1001000000001:102', -1001000000001, 1700000061000, 'due');
INSERT INTO backlog VALUES (-1001000000001, NULL, 3);
