-- A message may be of two long strands: forgetting it must reach the summaries of both.
CREATE TABLE strand_source_wider (
    chat_key  INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    strand_id INTEGER NOT NULL REFERENCES strand_summary (id) ON DELETE CASCADE,
    PRIMARY KEY (chat_key, seq, strand_id)
) STRICT, WITHOUT ROWID;
INSERT INTO strand_source_wider SELECT chat_key, seq, strand_id FROM strand_source;
DROP TABLE strand_source;
ALTER TABLE strand_source_wider RENAME TO strand_source;
CREATE INDEX strand_source_by_strand ON strand_source (strand_id);

-- Never used: a session is a stretch of a conversation, and its messages are found by their moments.
ALTER TABLE message DROP COLUMN session_id;
