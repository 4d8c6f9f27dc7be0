INSERT INTO message_fts (message_fts, rank) VALUES ('merge', 50);
INSERT INTO held_text VALUES ('-1001000000001:101', '/forget@chime me 1h', '[]');
INSERT INTO job (kind, key, lane, due_at, state) VALUES
    ('command', '-1001000000001:101', -1001000000001, 1700000080000, 'due'),
    ('command', '-1001000000001:102', -1001000000001, 1700000080000, 'parked'),
    ('another', '-1001000000001:102', -1001000000001, 1700000080000, 'due'),
    ('press', '4815162342', -1001000000001, 1700000080000, 'due'),
    ('refusal', '-1001000000001:103', -1001000000001, 1700000080000, 'due'),
    ('backlog', '-1001000000001', -1001000000001, 1700000080000, 'due'),
    ('forget', '3', -1001000000001, 1700000080000, 'due'),
    ('retention', '', 0, 1700000080000, 'due');
