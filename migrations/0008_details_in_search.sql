-- Names of files, polls, places and contacts are found like words. The empty index is built again with them.
INSERT INTO message_fts (message_fts) VALUES ('delete-all');
INSERT INTO message_part_fts (message_part_fts) VALUES ('delete-all');
