-- Vectors that a server made of messages, where EMBEDDING names one: each costs a request, so they are kept. The model
-- inside the program needs no table, since it makes a vector faster than one is read.
CREATE TABLE message_vector (
    -- The message's id in our own numbers, as in message.id. Goes with the message's words.
    id        INTEGER PRIMARY KEY,
    -- Vectors of two models, or of two dimensions, are never compared.
    model     TEXT    NOT NULL,
    dimension INTEGER NOT NULL,
    -- Little-endian 32-bit floats, of length 1 together.
    vector    BLOB    NOT NULL
) STRICT;
