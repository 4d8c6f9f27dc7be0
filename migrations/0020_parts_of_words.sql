-- Words of languages without a stemmer are searched by their parts: by what three letters in a row they hold. Rows as in
-- message_fts, for messages of such languages alone.
CREATE VIRTUAL TABLE message_part_fts USING fts5 (text, content = '', tokenize = 'trigram remove_diacritics 1');
INSERT INTO message_part_fts (message_part_fts, rank) VALUES ('secure-delete', 1);
INSERT INTO message_part_fts (rowid, text)
SELECT id, text FROM message
WHERE is_stub = 0 AND trim(text) <> ''
      AND stem_language NOT IN ('ara', 'dan', 'nld', 'eng', 'fin', 'fra', 'deu', 'ell', 'hun', 'ita', 'nob', 'por', 'ron',
                                'rus', 'spa', 'swe', 'tam', 'tur');
