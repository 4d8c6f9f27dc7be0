-- An answer rests on sixty messages and more, mostly neighbours. A row for each, and one in the index, was half of what
-- storing an answer wrote: now a row tells of 64 messages, those of the chat with the numbers 64 * block to 64 * block + 63,
-- and bit n of `bits` is set where the answer was given message 64 * block + n.
CREATE TABLE answer_use_by_block (
    chat_key  INTEGER NOT NULL,
    block     INTEGER NOT NULL,
    answer_id TEXT    NOT NULL,
    bits      INTEGER NOT NULL,
    PRIMARY KEY (chat_key, block, answer_id)
) STRICT, WITHOUT ROWID;
INSERT INTO answer_use_by_block (chat_key, block, answer_id, bits)
SELECT chat_key, seq >> 6, answer_id, sum(1 << (seq & 63)) FROM answer_use GROUP BY chat_key, seq >> 6, answer_id;
DROP TABLE answer_use;
ALTER TABLE answer_use_by_block RENAME TO answer_use;
CREATE INDEX answer_use_by_answer ON answer_use (answer_id);

-- A row for each message that an answer was given and whose row is still there.
CREATE VIEW message_in_answer AS
SELECT said.chat_key, said.seq, said.user_id, answer_use.answer_id
FROM message AS said
JOIN answer_use ON answer_use.chat_key = said.chat_key AND answer_use.block = said.seq >> 6
    AND (answer_use.bits >> (said.seq & 63)) & 1;
