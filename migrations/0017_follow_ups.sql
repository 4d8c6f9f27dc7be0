-- What was suggested, and how an ask that goes on with it was read. All of it hangs on an answer and goes with it.

-- How the ask behind an answer was resolved. /why reads it back.
CREATE TABLE follow_up (
    answer_id  TEXT    PRIMARY KEY REFERENCES answer (id) ON DELETE CASCADE,
    chat_key   INTEGER NOT NULL REFERENCES chat (chat_key),
    thread_id  INTEGER,
    -- The answer with which a run of suggestions began. Items of one run are not suggested twice; forgetting one answer of
    -- a run forgets what later ones took over from it.
    chain      TEXT    NOT NULL,
    -- Unix milliseconds.
    created_at INTEGER NOT NULL,
    -- JSON: the frame, what it goes on with, the references, the items left out.
    resolved   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX follow_up_by_chain ON follow_up (chain);
CREATE INDEX follow_up_by_chat ON follow_up (chat_key);

-- The reading of a trigger whose answer suggested items.
CREATE TABLE frame (
    answer_id  TEXT    PRIMARY KEY REFERENCES follow_up (answer_id) ON DELETE CASCADE,
    chat_key   INTEGER NOT NULL REFERENCES chat (chat_key),
    thread_id  INTEGER,
    asked_by   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    -- JSON: intent, subject, kind, budget and so on.
    frame      TEXT    NOT NULL,
    -- JSON: what the suggestion really used, {category_hints, popular}; NULL where it did not say.
    used       TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX frame_by_conversation ON frame (chat_key, thread_id, created_at);

-- What an answer suggested.
CREATE TABLE item (
    answer_id TEXT    NOT NULL REFERENCES frame (answer_id) ON DELETE CASCADE,
    -- From 1, as the answer lists them.
    position  INTEGER NOT NULL,
    title     TEXT    NOT NULL,
    kind      TEXT,
    -- JSON: names.
    people    TEXT    NOT NULL,
    -- Hundredths of the currency's unit.
    price     INTEGER,
    currency  TEXT,
    url       TEXT,
    PRIMARY KEY (answer_id, position)
) STRICT, WITHOUT ROWID;

-- Named things that answers were about: a row each time one was captured. The newest row of a concept says how it is
-- called and what it means. No user ids, no raw text of the chat.
CREATE TABLE concept (
    -- A ULID, the same in all rows of a concept.
    concept_id TEXT    NOT NULL,
    answer_id  TEXT    NOT NULL REFERENCES answer (id) ON DELETE CASCADE,
    chat_key   INTEGER NOT NULL REFERENCES chat (chat_key),
    label      TEXT    NOT NULL,
    -- JSON: other labels.
    alt_labels TEXT    NOT NULL,
    definition TEXT    NOT NULL,
    kind       TEXT,
    -- Unix milliseconds.
    created_at INTEGER NOT NULL,
    PRIMARY KEY (concept_id, answer_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX concept_by_chat ON concept (chat_key);
CREATE INDEX concept_by_answer ON concept (answer_id);

-- Which concepts a conversation is about now. Derived: deleting it loses nothing that cannot be made again.
CREATE TABLE conversation_context (
    -- The bot's id.
    tenant_id       TEXT    NOT NULL,
    -- The chat's key, and the thread after a colon where there is one.
    conversation_id TEXT    NOT NULL,
    -- JSON: {activeNodeIds: [concept_id, ...]}, the latest referenced last.
    context_json    TEXT    NOT NULL,
    -- Unix milliseconds.
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, conversation_id)
) STRICT, WITHOUT ROWID;

-- Answers that were looked through for concepts, so that none is paid for twice.
CREATE TABLE concept_scan (
    answer_id TEXT PRIMARY KEY REFERENCES answer (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
