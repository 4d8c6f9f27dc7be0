-- Schema of the database. Times are Unix milliseconds unless a column says otherwise; *_key and seq are our own numbers,
-- telegram_* and *_id those of Telegram.

-- Chats, members and messages

-- Chats that the bot is or was in.
CREATE TABLE chat (
    chat_key  INTEGER PRIMARY KEY,
    -- Telegram's present id; older ones stay in chat_alias.
    telegram_chat_id INTEGER NOT NULL,
    kind      TEXT    NOT NULL CHECK (kind IN ('private', 'group', 'supergroup', 'channel')),
    title     TEXT,
    username  TEXT,
    -- The number that the chat's next message gets: sources are cited as m<seq>.
    next_seq  INTEGER NOT NULL DEFAULT 1,
    -- ISO 639-3 code of the language that the chat's words are stemmed in; judged now and then over recent messages.
    language  TEXT    NOT NULL DEFAULT 'eng',
    is_member INTEGER NOT NULL DEFAULT 1 CHECK (is_member IN (0, 1)),
    -- Unix milliseconds. Set when the bot was removed; data of the chat is deleted some time later.
    removed_at INTEGER,
    -- Unix milliseconds. Set when Telegram refused to show a message to one member alone.
    ephemeral_refused_at INTEGER,
    -- Unix milliseconds. Set when the chat was told what is stored.
    announced_at INTEGER,
    -- NULL: as the operator set it. 0: forever.
    retention_days INTEGER,
    -- Unix seconds. The chat had everything up to then forgotten; older messages that come back, inside a reply, become stubs.
    forgotten_until INTEGER,
    -- Unix milliseconds. Set when the chat was told that summaries are made.
    memory_told_at INTEGER,
    -- Number of the next note: n<number>.
    next_note INTEGER NOT NULL DEFAULT 1,
    -- Unix milliseconds. Set when the chat was told that recordings are transcribed.
    voice_told_at INTEGER,
    -- 1 once another bot was seen: commands without a name may be for that one.
    has_other_bots INTEGER NOT NULL DEFAULT 0 CHECK (has_other_bots IN (0, 1))
) STRICT;

-- Settings that admins changed. The table in chat_settings.rs of chime-core names them.
CREATE TABLE chat_setting (
    chat_key  INTEGER NOT NULL REFERENCES chat (chat_key) ON DELETE CASCADE,
    -- Forum topic. 0: the whole chat.
    forum_topic_id INTEGER NOT NULL,
    key       TEXT    NOT NULL,
    value     TEXT    NOT NULL,
    -- Author and command of a value that is a text by a member; else NULL.
    set_by    INTEGER,
    seq       INTEGER,
    PRIMARY KEY (chat_key, forum_topic_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_setting_by_author ON chat_setting (set_by) WHERE set_by IS NOT NULL;

-- Every Telegram id that a chat has had: a group that becomes a supergroup gets a new one.
CREATE TABLE chat_alias (
    telegram_chat_id INTEGER PRIMARY KEY,
    chat_key         INTEGER NOT NULL REFERENCES chat (chat_key)
) STRICT;
CREATE INDEX chat_alias_by_key ON chat_alias (chat_key);

-- Latest name of each member of a chat.
CREATE TABLE member (
    chat_key INTEGER NOT NULL REFERENCES chat (chat_key),
    user_id  INTEGER NOT NULL,
    name     TEXT    NOT NULL,
    username TEXT,
    PRIMARY KEY (chat_key, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_by_user ON member (user_id);

-- Messages. Forgotten ones are deleted, or become stubs where a reply still needs them.
CREATE TABLE message (
    -- chat_key << 32 | seq. The full-text index uses it as rowid, so that one chat is one range of it:
    -- isolation and forgetting are a range, not a filter.
    id               INTEGER PRIMARY KEY,
    chat_key         INTEGER NOT NULL REFERENCES chat (chat_key),
    seq              INTEGER NOT NULL,
    telegram_chat_id INTEGER NOT NULL,
    message_id       INTEGER NOT NULL,
    forum_topic_id        INTEGER,
    user_id          INTEGER NOT NULL,
    -- Set where somebody writes in the name of a chat; then it equals user_id.
    sender_chat_id   INTEGER,
    sender_name      TEXT    NOT NULL,
    sender_username  TEXT,
    role             TEXT    NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'system-summary')),
    is_bot           INTEGER NOT NULL CHECK (is_bot IN (0, 1)),
    -- Unix seconds, as Telegram sends them.
    ts               INTEGER NOT NULL,
    edit_ts          INTEGER,
    kind             TEXT    NOT NULL,
    kind_detail      TEXT,
    -- JSON with Telegram's ids of its document, recording or photo.
    file             TEXT,
    text             TEXT    NOT NULL,
    entities         TEXT,
    reply_to_id      INTEGER,
    quote_text       TEXT,
    context_snapshot TEXT,
    forward_origin   TEXT,
    media_group_id   TEXT,
    via_bot          TEXT,
    source           TEXT    NOT NULL CHECK (source IN ('update', 'snapshot', 'import')),
    -- It addresses the bot, and is no source of what a chat says.
    is_trigger       INTEGER NOT NULL DEFAULT 0 CHECK (is_trigger IN (0, 1)),
    -- A stub says that there was a message and nothing about what it said.
    is_stub          INTEGER NOT NULL DEFAULT 0 CHECK (is_stub IN (0, 1)),
    -- The language its words were stemmed in: deleting from a contentless index needs the very same words again.
    stem_language    TEXT    NOT NULL,
    -- Original place of quoted or forwarded words, by which copies are found.
    origin_chat_id INTEGER,
    origin_message_id INTEGER,
    origin_user_id INTEGER,
    -- Unix seconds.
    origin_ts INTEGER
) STRICT;
CREATE UNIQUE INDEX message_by_telegram_id ON message (telegram_chat_id, message_id);
CREATE INDEX message_in_conversation ON message (chat_key, forum_topic_id, ts, message_id);
CREATE INDEX message_replies ON message (telegram_chat_id, reply_to_id) WHERE reply_to_id IS NOT NULL;
CREATE INDEX message_album ON message (telegram_chat_id, media_group_id) WHERE media_group_id IS NOT NULL;
CREATE INDEX message_by_age ON message (chat_key, ts);
CREATE INDEX message_by_author ON message (user_id, chat_key, ts);
CREATE INDEX message_by_origin ON message (origin_chat_id, origin_message_id) WHERE origin_message_id IS NOT NULL;
CREATE INDEX message_by_origin_author ON message (origin_user_id, origin_ts) WHERE origin_user_id IS NOT NULL;
CREATE INDEX message_by_origin_moment ON message (origin_ts) WHERE origin_ts IS NOT NULL AND origin_user_id IS NULL;
CREATE INDEX message_documents ON message (chat_key, seq) WHERE kind = 'document';
CREATE INDEX message_quoting ON message (chat_key) WHERE quote_text IS NOT NULL;

-- Members whose names occur in a message as mentions.
CREATE TABLE message_name (
    user_id INTEGER NOT NULL,
    -- As message.id.
    id      INTEGER NOT NULL,
    PRIMARY KEY (user_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_name_by_message ON message_name (id);

-- Full-text index of words, contentless: the text itself is in message.
CREATE VIRTUAL TABLE message_fts USING fts5 (text, author, content = '', tokenize = 'unicode61 remove_diacritics 2');
-- Deleted words leave the index at once. Two segments are merged where four would be.
INSERT INTO message_fts (message_fts, rank) VALUES ('secure-delete', 1);
INSERT INTO message_fts (message_fts, rank) VALUES ('usermerge', 2);

-- Trigram index, for languages without a stemmer.
CREATE VIRTUAL TABLE message_part_fts USING fts5 (text, content = '', tokenize = 'trigram remove_diacritics 1');
INSERT INTO message_part_fts (message_part_fts, rank) VALUES ('secure-delete', 1);

-- Names of forum topics.
CREATE TABLE topic_name (
    chat_key  INTEGER NOT NULL REFERENCES chat (chat_key) ON DELETE CASCADE,
    forum_topic_id INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    PRIMARY KEY (chat_key, forum_topic_id)
) STRICT, WITHOUT ROWID;

-- Updates and jobs

-- Offset of the next update to ask for.
CREATE TABLE poll_state (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    next_offset INTEGER NOT NULL,
    -- Unix milliseconds. After a week of silence Telegram counts anew, and the offset is worth nothing.
    updated_at  INTEGER NOT NULL
) STRICT;

-- Command menus as Telegram has them: a hash of each.
CREATE TABLE command_menu (
    hash INTEGER PRIMARY KEY
) STRICT;

-- Updates received from Telegram, kept for a limited time so that none is processed twice.
CREATE TABLE inbox (
    update_id    INTEGER NOT NULL,
    received_day INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    state        TEXT    NOT NULL CHECK (state IN ('done', 'parked')),
    error        TEXT,
    PRIMARY KEY (update_id, received_day)
) STRICT, WITHOUT ROWID;
CREATE INDEX inbox_by_day ON inbox (received_day);

-- Work to do. This table is the truth; notifications only wake the worker pool.
CREATE TABLE job (
    id         INTEGER PRIMARY KEY,
    kind       TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    -- Jobs of one lane (a Telegram chat id) share their places in the worker pool.
    lane       INTEGER NOT NULL,
    -- Unix milliseconds.
    due_at     INTEGER NOT NULL,
    -- Who works on a job is known in memory alone: one daemon holds the file.
    state      TEXT    NOT NULL CHECK (state IN ('due', 'done', 'parked')),
    attempts   INTEGER NOT NULL DEFAULT 0,
    last_error TEXT,
    -- JSON. NULL once the job is done.
    payload TEXT,
    -- 1 while it is worked on: if the process ends, only these are charged an attempt.
    started INTEGER NOT NULL DEFAULT 0,
    UNIQUE (kind, key)
) STRICT;
CREATE INDEX job_due ON job (due_at) WHERE state = 'due';
CREATE INDEX job_parked ON job (kind) WHERE state = 'parked';
CREATE TRIGGER press_goes_with_its_job AFTER UPDATE OF state ON job WHEN new.kind = 'press' AND new.state <> 'due'
BEGIN
    DELETE FROM press WHERE query_id = new.key;
END;
CREATE TRIGGER held_text_goes_with_its_jobs AFTER UPDATE OF state ON job WHEN new.state <> 'due'
BEGIN
    DELETE FROM held_text
    WHERE key = CASE WHEN new.key LIKE 'answer:%' THEN substr(new.key, 8) ELSE new.key END
      AND NOT EXISTS (SELECT 1 FROM job
                      WHERE state = 'due' AND kind IN ('answer', 'command') AND job.key = held_text.key)
      AND NOT EXISTS (SELECT 1 FROM job
                      WHERE state = 'due' AND kind = 'send' AND job.key = 'answer:' || held_text.key);
END;
CREATE INDEX job_done ON job (kind, due_at) WHERE state = 'done';

-- Question of a member who opted out, kept only until it is answered.
CREATE TABLE held_text (
    -- The key of the job that deals with it.
    key      TEXT PRIMARY KEY,
    text     TEXT NOT NULL,
    entities TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Presses on buttons, until they are handled.
CREATE TABLE press (
    -- By which Telegram is told the outcome. Also the key of the job.
    query_id         TEXT    PRIMARY KEY,
    telegram_chat_id INTEGER NOT NULL,
    message_id       INTEGER NOT NULL,
    user_id          INTEGER NOT NULL,
    data             TEXT    NOT NULL,
    -- Unix milliseconds.
    pressed_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Triggers that were too old to answer after a downtime, counted by chat.
CREATE TABLE backlog (
    telegram_chat_id INTEGER PRIMARY KEY,
    forum_topic_id        INTEGER,
    skipped          INTEGER NOT NULL
) STRICT;

-- Answers and replies

-- Answers with everything they used.
CREATE TABLE answer (
    -- A ULID: the same in log lines, /why and here.
    id                TEXT    PRIMARY KEY,
    chat_key          INTEGER NOT NULL REFERENCES chat (chat_key),
    forum_topic_id         INTEGER,
    trigger_seq       INTEGER NOT NULL,
    asked_by          INTEGER NOT NULL,
    -- Unix milliseconds.
    created_at        INTEGER NOT NULL,
    status            TEXT    NOT NULL CHECK (status IN ('answered', 'offline', 'apologised', 'made_up')),
    text              TEXT    NOT NULL,
    anchor_id         INTEGER,
    -- JSON: [{seq, id, reason, score}], [{id, why}], [{name, tokens, sources}], [{id, text}].
    context_window    TEXT    NOT NULL,
    omitted           TEXT    NOT NULL,
    slots             TEXT    NOT NULL,
    sources           TEXT    NOT NULL,
    model             TEXT    NOT NULL,
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    latency_ms        INTEGER NOT NULL,
    -- As the model stated it.
    uncertainty TEXT CHECK (uncertainty IN ('low', 'medium', 'high')),
    -- 1: nothing relevant was known, and no model was called.
    guard_used INTEGER NOT NULL DEFAULT 0 CHECK (guard_used IN (0, 1)),
    -- JSON: ids of the concepts that the answer used or introduced.
    referenced_nodes TEXT NOT NULL DEFAULT '[]',
    -- JSON: ids that the model cited although they were not in the prompt.
    removed TEXT NOT NULL DEFAULT '[]',
    -- 1 once it was searched for concepts.
    is_scanned INTEGER NOT NULL DEFAULT 0 CHECK (is_scanned IN (0, 1)),
    UNIQUE (chat_key, trigger_seq)
) STRICT, WITHOUT ROWID;

-- Messages that an answer was given. One row covers 64 messages of a chat, those numbered 64 * block to 64 * block + 63; bit n
-- of `bits` stands for message 64 * block + n. Most are neighbours, and a row for each message was half of the cost of an answer.
CREATE TABLE answer_use (
    chat_key  INTEGER NOT NULL,
    block     INTEGER NOT NULL,
    answer_id TEXT    NOT NULL,
    bits      INTEGER NOT NULL,
    PRIMARY KEY (chat_key, block, answer_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_use_by_answer ON answer_use (answer_id);

-- A row for each message that an answer was given and that still exists.
CREATE VIEW message_in_answer AS
SELECT said.chat_key, said.seq, said.user_id, answer_use.answer_id
FROM message AS said
JOIN answer_use ON answer_use.chat_key = said.chat_key AND answer_use.block = said.seq >> 6
    AND (answer_use.bits >> (said.seq & 63)) & 1;

-- Reactions of members to answers.
CREATE TABLE feedback (
    answer_id TEXT    NOT NULL REFERENCES answer (id) ON DELETE CASCADE,
    user_id   INTEGER NOT NULL,
    is_good   INTEGER NOT NULL CHECK (is_good IN (0, 1)),
    -- Unix milliseconds.
    given_at  INTEGER NOT NULL,
    PRIMARY KEY (answer_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX feedback_by_user ON feedback (user_id);

-- Replies, stored before they are sent: one row for each message of a reply.
CREATE TABLE outbox (
    id               INTEGER PRIMARY KEY,
    -- The reply that the part belongs to, e.g. answer:<chat>:<message>. Also the key of the job that sends it.
    reply_key        TEXT    NOT NULL,
    part             INTEGER NOT NULL,
    purpose          TEXT    NOT NULL CHECK (purpose IN ('answer', 'command', 'notice', 'reminder')),
    answer_id        TEXT    REFERENCES answer (id),
    telegram_chat_id INTEGER NOT NULL,
    forum_topic_id        INTEGER,
    reply_to_id      INTEGER,
    text             TEXT    NOT NULL,
    entities         TEXT    NOT NULL,
    state            TEXT    NOT NULL CHECK (state IN ('pending', 'sending', 'sent', 'failed')),
    -- Sends whose outcome is unknown.
    unknown_sends    INTEGER NOT NULL DEFAULT 0,
    -- Unix milliseconds.
    created_at       INTEGER NOT NULL,
    message_id       INTEGER,
    error            TEXT,
    -- JSON: [[{label, data}]].
    button TEXT,
    -- Byte at which the bot's introduction begins, which is not part of the conversation. NULL: there is none.
    talk_end INTEGER,
    -- The only member who sees the message. NULL: everybody does.
    receiver_id INTEGER,
    -- JSON of a poll, which is sent instead of the text, and Telegram's id of it.
    poll    TEXT,
    poll_id TEXT,
    UNIQUE (reply_key, part)
) STRICT;
CREATE INDEX outbox_by_poll ON outbox (poll_id) WHERE poll_id IS NOT NULL;
CREATE INDEX outbox_by_message ON outbox (telegram_chat_id, message_id) WHERE message_id IS NOT NULL;
CREATE INDEX outbox_by_answer ON outbox (answer_id) WHERE answer_id IS NOT NULL;
CREATE TRIGGER reply_use_goes_with_its_reply AFTER DELETE ON outbox
BEGIN
    DELETE FROM reply_use WHERE reply_key = old.reply_key;
END;
CREATE INDEX outbox_open ON outbox (telegram_chat_id) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_over ON outbox (created_at) WHERE answer_id IS NULL AND state IN ('sent', 'failed');

-- Messages that a reply without an answer record shows, such as a recap.
CREATE TABLE reply_use (
    chat_key  INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    reply_key TEXT    NOT NULL,
    PRIMARY KEY (chat_key, seq, reply_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX reply_use_by_reply ON reply_use (reply_key);

-- Replies shown while they are written.
CREATE TABLE reply_stream (
    reply_key        TEXT    PRIMARY KEY,
    telegram_chat_id INTEGER NOT NULL,
    -- NULL: it was being sent, and nobody knows whether it arrived.
    message_id       INTEGER,
    -- Unix milliseconds.
    opened_at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Refused triggers whose refusal has to be told.
CREATE TABLE refusal (
    telegram_chat_id INTEGER NOT NULL,
    message_id       INTEGER NOT NULL,
    forum_topic_id        INTEGER,
    because          TEXT    NOT NULL CHECK (because IN ('conversation', 'member', 'flood', 'daily_tokens',
                                                         'daily_tokens_of_chat', 'daily_tokens_of_member', 'admins_only')),
    -- Whom the words are for: refusals of one subject are explained once.
    subject          TEXT    NOT NULL,
    -- Unix milliseconds: when asking again makes sense.
    until            INTEGER NOT NULL,
    tell             TEXT    NOT NULL CHECK (tell IN ('words', 'reaction')),
    PRIMARY KEY (telegram_chat_id, message_id)
) STRICT, WITHOUT ROWID;

-- Access, limits and costs

-- Members who own the bot.
CREATE TABLE owner (
    user_id INTEGER PRIMARY KEY,
    -- Unix milliseconds.
    since   INTEGER NOT NULL
) STRICT;

-- Chats allowed by an owner, beside those of the settings.
CREATE TABLE allowed_chat (
    chat_key   INTEGER PRIMARY KEY REFERENCES chat (chat_key),
    allowed_by INTEGER NOT NULL,
    -- Unix milliseconds.
    since      INTEGER NOT NULL
) STRICT;

-- Triggers of the last hours, by which questions are rate-limited.
CREATE TABLE recent_trigger (
    telegram_chat_id INTEGER NOT NULL,
    message_id       INTEGER NOT NULL,
    chat_key         INTEGER NOT NULL,
    -- 0 outside topics, so that it can be compared.
    forum_topic_id        INTEGER NOT NULL,
    user_id          INTEGER NOT NULL,
    -- Unix milliseconds, by Telegram's date of the message.
    sent_at          INTEGER NOT NULL,
    PRIMARY KEY (telegram_chat_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX recent_trigger_of_conversation ON recent_trigger (chat_key, forum_topic_id, sent_at);
CREATE INDEX recent_trigger_of_member ON recent_trigger (user_id, sent_at);
CREATE INDEX recent_trigger_by_time ON recent_trigger (sent_at);

-- Whom a refusal was explained to, so that it is explained once.
CREATE TABLE told_refusal (
    subject   TEXT    PRIMARY KEY,
    -- Unix milliseconds.
    told_at   INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    -- Whether the one line was said that stands in for reactions where there are none.
    is_closed INTEGER NOT NULL DEFAULT 0 CHECK (is_closed IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE INDEX told_refusal_by_time ON told_refusal (until);

-- Model calls and tokens by day, chat and member.
CREATE TABLE token_usage (
    -- Days since 1970-01-01.
    day               INTEGER NOT NULL,
    chat_key          INTEGER NOT NULL,
    -- 0 for work in the background that nobody asked for.
    user_id           INTEGER NOT NULL,
    model             TEXT    NOT NULL,
    calls             INTEGER NOT NULL,
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    -- Millionths of whatever currency the prices were given in; 0 without prices.
    cost_micros       INTEGER NOT NULL,
    PRIMARY KEY (day, chat_key, user_id, model)
) STRICT, WITHOUT ROWID;

-- Ratio of real to estimated tokens, by model.
CREATE TABLE token_calibration (
    model TEXT PRIMARY KEY,
    ratio REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- Models that refused tools.
CREATE TABLE tool_refusal (
    -- The host of the server.
    server     TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    -- Unix milliseconds: when it last said so. It is offered tools again after a day.
    refused_at INTEGER NOT NULL,
    PRIMARY KEY (server, model)
) STRICT, WITHOUT ROWID;

-- Privacy

-- Members of whom nothing is stored.
CREATE TABLE opt_out (
    -- 0: every chat.
    chat_key INTEGER NOT NULL,
    user_id  INTEGER NOT NULL,
    -- Unix milliseconds.
    since    INTEGER NOT NULL,
    PRIMARY KEY (chat_key, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX opt_out_by_user ON opt_out (user_id);

-- Requests to forget that are being carried out.
CREATE TABLE deletion (
    id       INTEGER PRIMARY KEY,
    -- NULL: in every chat.
    chat_key INTEGER REFERENCES chat (chat_key),
    -- JSON: what to forget, from when to when, who asked for it, and where to tell that it is done.
    request  TEXT    NOT NULL CHECK (json_valid(request)),
    -- Counted on the way.
    messages INTEGER NOT NULL DEFAULT 0,
    answers  INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Present while deleted words may still be in free pages of the file.
CREATE TABLE scrub (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    -- Unix milliseconds.
    wanted_since INTEGER NOT NULL
) STRICT;

-- Memory

-- Times at which the sessions of a conversation have to be computed again.
CREATE TABLE session_note (
    chat_key  INTEGER NOT NULL,
    -- 0 outside topics, so that it can be a key.
    forum_topic_id INTEGER NOT NULL,
    -- Unix seconds.
    ts        INTEGER NOT NULL,
    -- Unix milliseconds: not looked at before. A session that is still open leaves a note for when it may end.
    check_at  INTEGER NOT NULL,
    PRIMARY KEY (chat_key, forum_topic_id, ts)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_note_due ON session_note (check_at);

-- Places at which a session ends although nobody was silent.
CREATE TABLE session_cut (
    chat_key   INTEGER NOT NULL,
    forum_topic_id  INTEGER NOT NULL,
    ts         INTEGER NOT NULL,
    -- The last message that belongs to the session that ends.
    message_id INTEGER NOT NULL,
    reason     TEXT    NOT NULL CHECK (reason IN ('new', 'topic', 'removed')),
    PRIMARY KEY (chat_key, forum_topic_id, ts, message_id)
) STRICT, WITHOUT ROWID;

-- Sessions: parts of a conversation between silences.
CREATE TABLE session (
    -- The row id of its first message, chat_key << 32 | seq: one chat is one range, and the source s<seq> names it.
    id                  INTEGER PRIMARY KEY,
    chat_key            INTEGER NOT NULL REFERENCES chat (chat_key),
    forum_topic_id           INTEGER,
    -- Unix seconds, with the message ids that break ties.
    started_at          INTEGER NOT NULL,
    first_message_id    INTEGER NOT NULL,
    ended_at            INTEGER NOT NULL,
    last_message_id     INTEGER NOT NULL,
    messages            INTEGER NOT NULL,
    reason              TEXT    NOT NULL CHECK (reason IN ('silence', 'size', 'age', 'new', 'topic', 'removed')),
    -- Unix milliseconds.
    closed_at           INTEGER NOT NULL,
    -- Of the content of its messages. Another content is another fingerprint, and the summary is made anew.
    fingerprint         INTEGER NOT NULL,
    -- The fingerprint that its summary, or the decision that it needs none, rests on.
    summarized          INTEGER,
    -- Unix milliseconds: set in the transaction that stores the History that the session is part of.
    history_included_at INTEGER
) STRICT;
CREATE INDEX session_in_conversation ON session (chat_key, forum_topic_id, started_at, first_message_id);
CREATE INDEX session_by_end ON session (chat_key, ended_at);
CREATE INDEX session_stale ON session (chat_key, ended_at) WHERE summarized IS NOT fingerprint;
CREATE INDEX session_unfolded ON session (chat_key, ended_at) WHERE history_included_at IS NULL;

-- Summary of a session.
CREATE TABLE mini_summary (
    session_id INTEGER PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
    -- JSON: [{kind, text, sources}], with the numbers of the messages that each bullet rests on.
    bullets    TEXT    NOT NULL CHECK (json_valid(bullets)),
    tokens     INTEGER NOT NULL,
    -- 'extract': messages word for word, made without a model and made anew by one when there is one.
    method     TEXT    NOT NULL CHECK (method IN ('model', 'extract')),
    model      TEXT    NOT NULL,
    -- Unix milliseconds.
    built_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX mini_summary_extract ON mini_summary (session_id, model) WHERE method = 'extract';
CREATE INDEX mini_summary_by_time ON mini_summary (built_at);

-- Tasks that are done and questions that are answered, by the first message that their bullet rests on.
CREATE TABLE item_mark (
    chat_key   INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    -- 0: a member opened it again.
    is_done    INTEGER NOT NULL CHECK (is_done IN (0, 1)),
    -- Unix milliseconds.
    marked_at  INTEGER NOT NULL,
    -- The session in which it was done. NULL: a member pressed a button.
    session_id INTEGER REFERENCES session (id) ON DELETE CASCADE,
    PRIMARY KEY (chat_key, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX item_mark_by_session ON item_mark (session_id);

-- Numbers by which summaries name members (u7), so that a name can change or be forgotten.
CREATE TABLE summary_member (
    chat_key INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    user_id  INTEGER,
    PRIMARY KEY (chat_key, number),
    UNIQUE (chat_key, user_id)
) STRICT, WITHOUT ROWID;

-- Tags of a chat.
CREATE TABLE tag (
    id       INTEGER PRIMARY KEY,
    chat_key INTEGER NOT NULL REFERENCES chat (chat_key),
    name     TEXT    NOT NULL,
    -- What its forms share: lower case, singular, stemmed.
    key      TEXT    NOT NULL,
    -- The tag that this one was merged into.
    same_as  INTEGER REFERENCES tag (id) ON DELETE SET NULL,
    UNIQUE (chat_key, key)
) STRICT;
CREATE INDEX tag_synonyms ON tag (same_as) WHERE same_as IS NOT NULL;

-- Tags of sessions.
CREATE TABLE session_tag (
    session_id INTEGER NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    tag_id     INTEGER NOT NULL REFERENCES tag (id) ON DELETE CASCADE,
    confidence REAL    NOT NULL,
    PRIMARY KEY (session_id, tag_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_tag_by_tag ON session_tag (tag_id, session_id);

-- Recent and History of a chat.
CREATE TABLE rolling_summary (
    chat_key INTEGER NOT NULL REFERENCES chat (chat_key),
    kind     TEXT    NOT NULL CHECK (kind IN ('recent', 'history')),
    -- As in mini_summary.
    bullets  TEXT    NOT NULL CHECK (json_valid(bullets)),
    tokens   INTEGER NOT NULL,
    -- How many sessions it rests on.
    sessions INTEGER NOT NULL,
    method   TEXT    NOT NULL CHECK (method IN ('model', 'extract')),
    model    TEXT    NOT NULL,
    built_at INTEGER NOT NULL,
    PRIMARY KEY (chat_key, kind)
) STRICT, WITHOUT ROWID;

-- Summary of the oldest part of a long thread.
CREATE TABLE thread_summary (
    id         INTEGER PRIMARY KEY,
    chat_key   INTEGER NOT NULL REFERENCES chat (chat_key),
    forum_topic_id  INTEGER,
    text       TEXT    NOT NULL,
    tokens     INTEGER NOT NULL,
    method     TEXT    NOT NULL CHECK (method IN ('model', 'extract')),
    model      TEXT    NOT NULL,
    built_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX thread_summary_in_chat ON thread_summary (chat_key, forum_topic_id);

-- Messages that the summary of a thread rests on.
CREATE TABLE thread_source (
    chat_key  INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    summary_id INTEGER NOT NULL REFERENCES thread_summary (id) ON DELETE CASCADE,
    PRIMARY KEY (chat_key, seq, summary_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX thread_source_by_summary ON thread_source (summary_id);

-- What a conversation is talking about now, and when that was computed.
CREATE TABLE conversation_topic (
    chat_key     INTEGER NOT NULL,
    -- 0 outside topics of a forum, so that it can be a key.
    forum_topic_id    INTEGER NOT NULL,
    -- Our number of the first message of the session. 0: not looked at yet, or the topic was set by a member just now.
    opener       INTEGER NOT NULL,
    -- The turns at which topics were scored last, and at which the topic was adopted.
    evaluated_at INTEGER NOT NULL,
    adopted_at   INTEGER NOT NULL,
    -- The local scores left the choice open, and no answer of the session has paid for a call of the model yet.
    is_undecided INTEGER NOT NULL DEFAULT 0 CHECK (is_undecided IN (0, 1)),
    -- Our number of the answered trigger for which a model was asked last: one call an answer at most.
    asked_for    INTEGER NOT NULL DEFAULT 0,
    -- Messages of members until topics are scored again.
    turns_left   INTEGER NOT NULL,
    PRIMARY KEY (chat_key, forum_topic_id)
) STRICT, WITHOUT ROWID;

-- Tags of the current topic, best first.
CREATE TABLE active_topic (
    chat_key  INTEGER NOT NULL,
    forum_topic_id INTEGER NOT NULL,
    place     INTEGER NOT NULL,
    tag_id    INTEGER NOT NULL REFERENCES tag (id) ON DELETE CASCADE,
    PRIMARY KEY (chat_key, forum_topic_id, place),
    FOREIGN KEY (chat_key, forum_topic_id) REFERENCES conversation_topic (chat_key, forum_topic_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX active_topic_by_tag ON active_topic (tag_id);

-- Summary of everything with one tag.
CREATE TABLE topic_summary (
    tag_id   INTEGER PRIMARY KEY REFERENCES tag (id) ON DELETE CASCADE,
    -- As in mini_summary.
    bullets  TEXT    NOT NULL CHECK (json_valid(bullets)),
    tokens   INTEGER NOT NULL,
    method   TEXT    NOT NULL CHECK (method IN ('model', 'extract')),
    model    TEXT    NOT NULL,
    -- Unix milliseconds.
    built_at INTEGER NOT NULL,
    -- A session that it was made from, or that carries the tag, has changed since.
    is_stale INTEGER NOT NULL DEFAULT 0 CHECK (is_stale IN (0, 1))
) STRICT;

-- Sessions that a topic summary was made from.
CREATE TABLE topic_session (
    tag_id     INTEGER NOT NULL REFERENCES topic_summary (tag_id) ON DELETE CASCADE,
    session_id INTEGER NOT NULL,
    PRIMARY KEY (tag_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX topic_session_by_session ON topic_session (session_id);

-- Recaps at a set time.
CREATE TABLE recap_subscription (
    chat_key  INTEGER PRIMARY KEY REFERENCES chat (chat_key),
    forum_topic_id INTEGER,
    -- Counted from Monday, which is 0. NULL: every day.
    weekday   INTEGER CHECK (weekday BETWEEN 0 AND 6),
    -- Since midnight in the time zone of the chat.
    minute    INTEGER NOT NULL CHECK (minute BETWEEN 0 AND 1439),
    -- Unix milliseconds: up to here everything was told.
    since_at  INTEGER NOT NULL
) STRICT;

-- Vectors

-- Embedding model whose vectors are stored: one row, or none before the first vector and while old ones are deleted.
CREATE TABLE vector_space (
    model     TEXT    NOT NULL,
    dimension INTEGER NOT NULL
) STRICT;

-- Embeddings of messages.
CREATE TABLE message_vector (
    -- As in message.id. Goes with the message's words. Not the primary key: the newest messages come first, and rows in
    -- that order would leave half of each page empty.
    id     INTEGER NOT NULL UNIQUE,
    vector BLOB    NOT NULL
) STRICT;

-- Embeddings of mini-summaries.
CREATE TABLE summary_vector (
    session_id INTEGER PRIMARY KEY REFERENCES mini_summary (session_id) ON DELETE CASCADE,
    vector     BLOB    NOT NULL
) STRICT;

-- Messages whose embedding has to be computed, by time and message.id.
CREATE TABLE vector_due (
    ts INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (ts, id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER message_needs_vector AFTER INSERT ON message WHEN new.text <> ''
BEGIN
    INSERT OR IGNORE INTO vector_due (ts, id) VALUES (new.ts, new.id);
END;
CREATE TRIGGER changed_message_needs_vector AFTER UPDATE OF id, ts, text ON message
WHEN new.id <> old.id OR new.ts <> old.ts OR new.text <> old.text
BEGIN
    DELETE FROM vector_due WHERE ts = old.ts AND id = old.id;
    INSERT OR IGNORE INTO vector_due (ts, id) SELECT new.ts, new.id WHERE new.text <> '';
END;
CREATE TRIGGER deleted_message_needs_no_vector AFTER DELETE ON message
BEGIN
    DELETE FROM vector_due WHERE ts = old.ts AND id = old.id;
END;

-- Suggestions and concepts

-- What was worked out about an answer that suggests things, or that continues such an answer.
CREATE TABLE follow_up (
    answer_id  TEXT    PRIMARY KEY REFERENCES answer (id) ON DELETE CASCADE,
    chat_key   INTEGER NOT NULL REFERENCES chat (chat_key),
    forum_topic_id  INTEGER,
    -- The answer with which a run of suggestions began. Items of one run are not suggested twice; forgetting one answer of
    -- a run forgets what later ones took over from it.
    chain      TEXT    NOT NULL,
    -- Unix milliseconds.
    created_at INTEGER NOT NULL,
    -- JSON: the frame, what it goes on with, the references, the items left out.
    resolved   TEXT    NOT NULL,
    -- JSON: the suggested things, as the answer lists them.
    items      TEXT    NOT NULL CHECK (json_valid(items))
) STRICT, WITHOUT ROWID;
CREATE INDEX follow_up_by_chain ON follow_up (chain);
CREATE INDEX follow_up_by_chat ON follow_up (chat_key);
CREATE INDEX follow_up_start_over ON follow_up (chat_key, created_at) WHERE resolved ->> 'reset' = 'start_over';
CREATE INDEX follow_up_by_conversation ON follow_up (chat_key, forum_topic_id, created_at) WHERE items <> '[]';

-- Named things that answers spoke of: one row for each answer.
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

-- Concepts in scope of a conversation.
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

-- Notes

-- Texts that admins saved for reference.
CREATE TABLE note (
    id       INTEGER PRIMARY KEY,
    chat_key INTEGER NOT NULL REFERENCES chat (chat_key),
    -- As it is cited: n3. Never given again in its chat.
    number   INTEGER NOT NULL,
    title    TEXT    NOT NULL,
    -- Unix milliseconds.
    saved_at INTEGER NOT NULL,
    -- JSON: its text in pieces, as they are searched and cited.
    pieces   TEXT    NOT NULL CHECK (json_valid(pieces)),
    UNIQUE (chat_key, number)
) STRICT;

-- Messages that a note came from.
CREATE TABLE note_source (
    chat_key INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    note_id  INTEGER NOT NULL REFERENCES note (id) ON DELETE CASCADE,
    PRIMARY KEY (chat_key, seq, note_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX note_source_by_note ON note_source (note_id);

-- Reminders that members asked for. Their words are those of the message that asked.
CREATE TABLE reminder (
    -- Never given again, since buttons name it.
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    chat_key         INTEGER NOT NULL REFERENCES chat (chat_key),
    forum_topic_id        INTEGER,
    user_id          INTEGER NOT NULL,
    -- The message that asked, and the Telegram id that its chat had then.
    seq              INTEGER NOT NULL,
    telegram_chat_id INTEGER NOT NULL,
    message_id       INTEGER NOT NULL,
    -- The message where it began.
    began_id         INTEGER NOT NULL,
    -- Unix milliseconds.
    due_at           INTEGER NOT NULL,
    -- 0 for Monday; NULL for every day.
    weekday          INTEGER,
    -- Minutes since midnight; NULL if it does not repeat.
    minute           INTEGER,
    -- Unix milliseconds: end of the repetition.
    until_at         INTEGER,
    UNIQUE (chat_key, telegram_chat_id, message_id)
) STRICT;
CREATE INDEX reminder_by_user ON reminder (user_id);
CREATE INDEX reminder_due ON reminder (due_at);

-- Pages

-- Web pages that members linked to and documents that they posted, as they were read for an answer. Read again when
-- they are older than 14 days.
CREATE TABLE page (
    id        INTEGER PRIMARY KEY,
    chat_key  INTEGER NOT NULL REFERENCES chat (chat_key),
    -- As it is cited: p3, or d3 for a document.
    number    INTEGER NOT NULL,
    -- As the member posted it; for a document, file:<Telegram's unique id>.
    address   TEXT    NOT NULL,
    title     TEXT    NOT NULL,
    -- As the page gives it.
    published TEXT,
    text      TEXT    NOT NULL,
    -- 1 if it is only the beginning.
    is_cut    INTEGER NOT NULL CHECK (is_cut IN (0, 1)),
    -- Unix milliseconds.
    read_at   INTEGER NOT NULL,
    UNIQUE (chat_key, address),
    UNIQUE (chat_key, number)
) STRICT;
CREATE INDEX page_by_time ON page (read_at);

-- Messages with the link or the file from which a text was read.
CREATE TABLE page_source (
    chat_key INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    page_id  INTEGER NOT NULL REFERENCES page (id) ON DELETE CASCADE,
    PRIMARY KEY (chat_key, seq, page_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX page_source_by_page ON page_source (page_id);
