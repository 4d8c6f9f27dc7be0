INSERT INTO job (kind, key, lane, due_at, state, payload, started)
VALUES ('leave', '-1001000000009', -1001000000009, 1700000090000, 'due', '{"leave":{"chat":-1001000000009}}', 1);
