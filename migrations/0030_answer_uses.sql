-- An answer rests on a hundred messages and more. To look its row up again for each was most of what storing them took;
-- they are stored with it and deleted with it, and nothing else writes here.
CREATE TABLE answer_use_unchecked (
    chat_key  INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    answer_id TEXT    NOT NULL,
    PRIMARY KEY (chat_key, seq, answer_id)
) STRICT, WITHOUT ROWID;
INSERT INTO answer_use_unchecked SELECT chat_key, seq, answer_id FROM answer_use;
DROP TABLE answer_use;
ALTER TABLE answer_use_unchecked RENAME TO answer_use;
CREATE INDEX answer_use_by_answer ON answer_use (answer_id);
