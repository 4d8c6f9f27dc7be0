-- Vectors of more than one model beside each other: while those of a new model are being made, those of the old one are
-- searched. Vectors are made from texts, so the ones of the former tables are not carried over but made anew.
DROP TABLE message_vector;
DROP TABLE summary_vector;

-- What one model made in one dimension. Vectors of two spaces are never compared.
CREATE TABLE vector_space (
    id         INTEGER PRIMARY KEY,
    model      TEXT    NOT NULL,
    dimension  INTEGER NOT NULL,
    -- 'filling': its vectors are being made. 'active': the one that is searched. 'left': another took its place, and it is
    -- being deleted.
    state      TEXT    NOT NULL CHECK (state IN ('filling', 'active', 'left')),
    -- Whether the vec0 index of the space holds all of its vectors. Where it does not, the tables below are read instead.
    is_indexed INTEGER NOT NULL CHECK (is_indexed IN (0, 1)),
    UNIQUE (model, dimension)
) STRICT;
CREATE UNIQUE INDEX vector_space_active ON vector_space (state) WHERE state = 'active';

-- The vectors themselves. Each vec0 index is made from them and kept in step by triggers, which are made together with it.
-- A vector is a byte a value: signed, in eighths of what a value is on average times 127.
CREATE TABLE message_vector (
    -- As in message.id. Goes with the message's words.
    id     INTEGER NOT NULL,
    space  INTEGER NOT NULL REFERENCES vector_space (id),
    vector BLOB    NOT NULL,
    PRIMARY KEY (id, space)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_vector_by_space ON message_vector (space, id);

CREATE TABLE summary_vector (
    session_id INTEGER NOT NULL REFERENCES mini_summary (session_id) ON DELETE CASCADE,
    space      INTEGER NOT NULL REFERENCES vector_space (id),
    vector     BLOB    NOT NULL,
    PRIMARY KEY (session_id, space)
) STRICT, WITHOUT ROWID;
CREATE INDEX summary_vector_by_space ON summary_vector (space, session_id);

-- Up to which message of a chat the vectors of a space are made.
CREATE TABLE vector_progress (
    space    INTEGER NOT NULL REFERENCES vector_space (id) ON DELETE CASCADE,
    chat_key INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    PRIMARY KEY (space, chat_key)
) STRICT, WITHOUT ROWID;

-- Messages whose words changed, or that got another number, after their vector was made.
CREATE TABLE vector_due (
    id INTEGER PRIMARY KEY
) STRICT;
