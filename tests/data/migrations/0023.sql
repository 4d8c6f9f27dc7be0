INSERT INTO note VALUES (1, 1, 1, 'Packing list', 1700000065000);
UPDATE chat SET next_note = 2 WHERE chat_key = 1;
INSERT INTO note_piece VALUES (1, 0, 'Packing list: sail, bread, ropes.');
INSERT INTO note_source VALUES (1, 1, 1);
INSERT INTO feedback VALUES ('01HF7YAT00000000000000000A', 12, 1, 1700000066000);
