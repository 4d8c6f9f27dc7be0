-- Texts that a chat saved for reference.
CREATE TABLE note (
    id       INTEGER PRIMARY KEY,
    chat_key INTEGER NOT NULL REFERENCES chat (chat_key),
    -- As it is cited: n3. Never given again in its chat.
    number   INTEGER NOT NULL,
    title    TEXT    NOT NULL,
    -- Unix milliseconds.
    saved_at INTEGER NOT NULL,
    UNIQUE (chat_key, number)
) STRICT;
ALTER TABLE chat ADD COLUMN next_note INTEGER NOT NULL DEFAULT 1;

-- Parts of a note, each small enough for a prompt.
CREATE TABLE note_piece (
    note_id  INTEGER NOT NULL REFERENCES note (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    text     TEXT    NOT NULL,
    PRIMARY KEY (note_id, position)
) STRICT, WITHOUT ROWID;

-- The messages that a note was saved by and from. It goes with any of them.
CREATE TABLE note_source (
    chat_key INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    note_id  INTEGER NOT NULL REFERENCES note (id) ON DELETE CASCADE,
    PRIMARY KEY (chat_key, seq, note_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX note_source_by_note ON note_source (note_id);

-- What members think of an answer, by their reactions.
CREATE TABLE feedback (
    answer_id TEXT    NOT NULL REFERENCES answer (id) ON DELETE CASCADE,
    user_id   INTEGER NOT NULL,
    is_good   INTEGER NOT NULL CHECK (is_good IN (0, 1)),
    -- Unix milliseconds.
    given_at  INTEGER NOT NULL,
    PRIMARY KEY (answer_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX feedback_by_user ON feedback (user_id);
