INSERT INTO answer VALUES ('01HF7YAT00000000000000000A', 1, NULL, 2, 12, 1700000061000, 'offline', 'A digest.', NULL,
                           '[{"seq":1,"id":101,"reason":"cluster","score":0.85}]', '[]', '[]', '[]', 'offline', 0, 0, 3);
INSERT INTO outbox (reply_key, part, purpose, answer_id, telegram_chat_id, reply_to_id, text, entities, state, created_at)
VALUES ('answer:-1001000000001:102', 0, 'answer', '01HF7YAT00000000000000000A', -1001000000001, 102, 'A digest.', '[]', 'pending', 1700000061000);
