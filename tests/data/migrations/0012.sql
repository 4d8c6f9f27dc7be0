INSERT INTO message_fts (message_fts, rank) VALUES ('merge', 50);
