INSERT INTO message_part_fts (rowid, text) VALUES (4294967390, 'zarezerwowany stolik');
