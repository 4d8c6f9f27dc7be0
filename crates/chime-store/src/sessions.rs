//! Sessions, and notes of changes. A note gives a time from which on the messages of a conversation must be divided
//! into sessions again.

use std::time::Duration;

use rusqlite::types::ValueRef;

use super::messages::{self, VISIBLE};
use super::row::{forum_topic_key, forum_topic_of};
use super::sql::{Columns, FromRow, Statements, params};
use super::{Reader, Result, StoreError, Writer};
use chime_core::{
    ChatKey, CloseReason, Conversation, FNV_START, MessageId, Session, SessionCut, SessionId, SessionMessage,
    StoredMessage, Timestamp, fnv1a,
};

pub(super) const COLUMNS: &str = "id, forum_topic_id, started_at, first_message_id, ended_at, last_message_id, messages, reason, \
                       closed_at, fingerprint, history_included_at";

/// Order in which the sessions of a chat get their summaries. Sessions of the 60 days before the newest one come first,
/// oldest first: a summary says which tasks and questions of earlier ones are done, and these are listed
/// for 60 days. Then come all older sessions, newest first.
pub(super) const SUMMARY_ORDER: &str =
    "CASE WHEN ended_at >= (SELECT max(ended_at) FROM session WHERE chat_key = :chat) - 5184000
                       THEN ended_at ELSE 1e12 - ended_at END, session.id";

/// Time span of changes that share one note. So a busy chat has few notes.
pub const NOTE_SPAN: Duration = Duration::from_hours(1);

/// Records that a message sent at `at` was added, changed or deleted, so that the sessions there are divided again.
pub fn note(tx: &Writer<'_>, conversation: Conversation, at: Timestamp) -> Result<()> {
    let span = NOTE_SPAN.as_secs().cast_signed();
    note_until(tx, conversation, Timestamp::from_secs(at.secs().div_euclid(span) * span), Timestamp::default())
}

/// Records that sessions must be divided again from `at` on, but not before `check_at`. If there is a note for `at`
/// already, the earlier of the two check times applies.
pub fn note_until(tx: &Writer<'_>, conversation: Conversation, at: Timestamp, check_at: Timestamp) -> Result<()> {
    tx.run(
        "INSERT INTO session_note (chat_key, forum_topic_id, ts, check_at) VALUES (:chat, :forum_topic, :ts, :check_at)
         ON CONFLICT (chat_key, forum_topic_id, ts) DO UPDATE SET check_at = excluded.check_at
         WHERE excluded.check_at < session_note.check_at",
        params! {
            ":chat": conversation.chat, ":forum_topic": forum_topic_key(conversation.forum_topic), ":ts": at.secs(),
            ":check_at": check_at,
        },
    )
}

/// Returns at most `limit` conversations that have a note whose check time has come.
pub fn noted(conn: &Reader, now: Timestamp, limit: u32) -> Result<Vec<Conversation>> {
    conn.map(
        "SELECT DISTINCT chat_key, forum_topic_id FROM session_note WHERE check_at <= :now
         ORDER BY chat_key, forum_topic_id LIMIT :limit",
        params! { ":now": now, ":limit": limit },
        |raw| Ok(Conversation { chat: raw.get("chat_key")?, forum_topic: forum_topic_of(raw.get("forum_topic_id")?) }),
    )
}

/// Returns the times of a conversation's notes, oldest first.
pub fn notes_of(conn: &Reader, conversation: Conversation) -> Result<Vec<Timestamp>> {
    conn.all(
        "SELECT ts * 1000 FROM session_note WHERE chat_key = :chat AND forum_topic_id = :forum_topic ORDER BY ts",
        params! { ":chat": conversation.chat, ":forum_topic": forum_topic_key(conversation.forum_topic) },
    )
}

pub fn clear_notes(tx: &Writer<'_>, conversation: Conversation, notes: &[Timestamp]) -> Result<()> {
    for at in notes {
        tx.run(
            "DELETE FROM session_note WHERE chat_key = :chat AND forum_topic_id = :forum_topic AND ts = :ts",
            params! {
                ":chat": conversation.chat, ":forum_topic": forum_topic_key(conversation.forum_topic), ":ts": at.secs(),
            },
        )?;
    }
    Ok(())
}

pub fn cut(tx: &Writer<'_>, conversation: Conversation, cut: SessionCut) -> Result<()> {
    tx.run(
        "INSERT OR IGNORE INTO session_cut (chat_key, forum_topic_id, ts, message_id, reason)
         VALUES (:chat, :forum_topic, :ts, :id, :reason)",
        params! {
            ":chat": conversation.chat, ":forum_topic": forum_topic_key(conversation.forum_topic), ":ts": cut.after.0.secs(),
            ":id": cut.after.1, ":reason": cut.reason,
        },
    )?;
    note(tx, conversation, cut.after.0)
}

/// Ends every open session of a chat, because the bot was removed from it.
pub fn cut_all(tx: &Writer<'_>, chat: ChatKey, now: Timestamp) -> Result<()> {
    let forum_topics: Vec<i64> =
        tx.all("SELECT DISTINCT forum_topic_id FROM session_note WHERE chat_key = :chat", params! { ":chat": chat })?;
    for forum_topic in forum_topics {
        let conversation = Conversation { chat, forum_topic: forum_topic_of(forum_topic) };
        cut(tx, conversation, SessionCut { after: (now, MessageId(i64::MAX)), reason: CloseReason::Removed })?;
    }
    Ok(())
}

/// Returns the places at or after `from` where a session of the conversation was ended early, oldest first.
pub fn cuts_from(conn: &Reader, conversation: Conversation, from: Timestamp) -> Result<Vec<SessionCut>> {
    let params = params! { ":chat": conversation.chat, ":forum_topic": forum_topic_key(conversation.forum_topic), ":from": from.secs() };
    conn.map(
        "SELECT ts, message_id, reason FROM session_cut
         WHERE chat_key = :chat AND forum_topic_id = :forum_topic AND ts >= :from ORDER BY ts, message_id",
        params,
        |row| {
            Ok(SessionCut {
                after: (Timestamp::from_secs(row.get("ts")?), row.get("message_id")?),
                reason: row.get("reason")?,
            })
        },
    )
}

/// Returns the messages of a conversation from `from` on, oldest first, at most `limit`. Service messages are left out.
pub fn moments(
    conn: &Reader,
    conversation: Conversation,
    from: (Timestamp, MessageId),
    limit: u32,
) -> Result<Vec<SessionMessage>> {
    conn.map(
        &format!(
            "SELECT seq, ts, message_id, role = 'user' AND is_bot = 0 AS is_human, user_id, kind_detail, reply_to_id,
                    iif(kind = 'poll', NULL, edit_ts) AS edit_ts, iif(kind = 'poll', NULL, text) AS text, {VISIBLE} AS is_visible
             FROM message
             WHERE chat_key = :chat AND forum_topic_id IS :forum_topic AND (ts, message_id) >= (:ts, :id) AND role <> 'system'
             ORDER BY ts, message_id LIMIT :limit"
        ),
        params! {
            ":chat": conversation.chat, ":forum_topic": conversation.forum_topic, ":ts": from.0.secs(),
            ":id": from.1, ":limit": limit,
        },
        moment,
    )
}

/// Reads the columns on which a summary depends. The text of a poll is left out, because each vote changes it.
fn moment(raw: &Columns<'_>) -> Result<SessionMessage> {
    let is_visible: bool = raw.get("is_visible")?;
    let mut content = with_part(FNV_START, &[u8::from(is_visible)]);
    if is_visible {
        for column in ["edit_ts", "user_id", "text", "kind_detail", "reply_to_id"] {
            content = match raw.value(column)? {
                ValueRef::Null => with_part(content, &[0]),
                ValueRef::Integer(number) => with_part(content, &number.to_le_bytes()),
                ValueRef::Real(number) => with_part(content, &number.to_le_bytes()),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => with_part(content, bytes),
            };
        }
    }
    Ok(SessionMessage {
        seq: raw.get("seq")?,
        at: Timestamp::from_secs(raw.get("ts")?),
        id: raw.get("message_id")?,
        is_human: raw.get("is_human")?,
        content,
    })
}

/// Continues a hash with `bytes` and their length. Because of the length, moving text from one part to the next changes
/// the hash.
fn with_part(hash: u64, bytes: &[u8]) -> u64 {
    fnv1a(fnv1a(hash, &(bytes.len() as u64).to_le_bytes()), bytes)
}

pub fn last_begun_before(conn: &Reader, conversation: Conversation, at: Timestamp) -> Result<Option<Session>> {
    conn.first(
        &format!(
            "SELECT {COLUMNS} FROM session
             WHERE chat_key = :chat AND forum_topic_id IS :forum_topic AND started_at < :at
             ORDER BY started_at DESC, first_message_id DESC LIMIT 1"
        ),
        params! {
            ":chat": conversation.chat, ":forum_topic": conversation.forum_topic, ":at": at.secs(),
        },
    )
}

/// Returns the sessions of a conversation that began at or after `from`, oldest first, at most `limit`.
pub fn begun_from(
    conn: &Reader,
    conversation: Conversation,
    from: (Timestamp, MessageId),
    limit: u32,
) -> Result<Vec<Session>> {
    conn.all(
        &format!(
            "SELECT {COLUMNS} FROM session
             WHERE chat_key = :chat AND forum_topic_id IS :forum_topic AND (started_at, first_message_id) >= (:ts, :id)
             ORDER BY started_at, first_message_id LIMIT :limit"
        ),
        params! {
            ":chat": conversation.chat, ":forum_topic": conversation.forum_topic, ":ts": from.0.secs(),
            ":id": from.1, ":limit": limit,
        },
    )
}

pub fn find(conn: &Reader, id: SessionId) -> Result<Option<Session>> {
    conn.first(&format!("SELECT {COLUMNS} FROM session WHERE id = :id"), params! { ":id": id })
}

/// Returns the closed session that a message belongs to, or `None`, for example if its session is still open.
pub fn of_message(
    conn: &Reader,
    conversation: Conversation,
    message: (Timestamp, MessageId),
) -> Result<Option<Session>> {
    let begun: Option<Session> = conn.first(
        &format!(
            "SELECT {COLUMNS} FROM session
             WHERE chat_key = :chat AND forum_topic_id IS :forum_topic AND (started_at, first_message_id) <= (:ts, :id)
             ORDER BY started_at DESC, first_message_id DESC LIMIT 1"
        ),
        params! {
            ":chat": conversation.chat, ":forum_topic": conversation.forum_topic, ":ts": message.0.secs(),
            ":id": message.1,
        },
    )?;
    Ok(begun.filter(|session| message <= session.last))
}

/// Returns the sessions that have no summary of their current content, those to summarize first, at most `limit`.
pub fn stale(conn: &Reader, chat: ChatKey, limit: u32) -> Result<Vec<Session>> {
    conn.all(
        &format!(
            "SELECT {COLUMNS} FROM session WHERE chat_key = :chat AND summarized IS NOT fingerprint
             ORDER BY {SUMMARY_ORDER} LIMIT :limit"
        ),
        params! { ":chat": chat, ":limit": limit },
    )
}

/// Returns sessions that ended before `until`, have a summary of their current content and are not yet in History,
/// oldest first, at most `limit`.
pub fn unfolded(conn: &Reader, chat: ChatKey, until: Timestamp, limit: u32) -> Result<Vec<Session>> {
    conn.all(
        &format!(
            "SELECT {COLUMNS} FROM session
             WHERE chat_key = :chat AND ended_at < :until AND history_included_at IS NULL AND summarized = fingerprint
                   AND EXISTS (SELECT 1 FROM mini_summary WHERE session_id = session.id)
             ORDER BY ended_at, id LIMIT :limit"
        ),
        params! { ":chat": chat, ":until": until.secs(), ":limit": limit },
    )
}

/// Returns the number of sessions that are merged into History, which may have no line of them.
pub fn count_folded(conn: &Reader, chat: ChatKey) -> Result<u32> {
    conn.one(
        "SELECT count(*) AS found FROM session WHERE chat_key = :chat AND history_included_at IS NOT NULL",
        params! { ":chat": chat },
    )
}

/// Returns the time at which the newest session in History ended, or `None` if History includes no session.
pub fn newest_folded(conn: &Reader, chat: ChatKey) -> Result<Option<Timestamp>> {
    conn.first(
        "SELECT ended_at * 1000 FROM session WHERE chat_key = :chat AND history_included_at IS NOT NULL
         ORDER BY ended_at DESC LIMIT 1",
        params! { ":chat": chat },
    )
}

/// Returns the readable messages of a session, oldest first: no stubs and no messages of members who opted out.
pub fn messages_of(conn: &Reader, session: &Session) -> Result<Vec<StoredMessage>> {
    messages::within(
        conn,
        Conversation { chat: session.id.chat, forum_topic: session.forum_topic },
        session.first,
        session.last,
    )
}

/// Adds or updates a session. An existing summary stays until it is replaced.
pub fn save(tx: &Writer<'_>, session: &Session) -> Result<()> {
    tx.run("INSERT INTO session (id, chat_key, forum_topic_id, started_at, first_message_id, ended_at, last_message_id, messages,
             reason, closed_at, fingerprint)
         VALUES (:id, :chat, :forum_topic, :started_at, :first, :ended_at, :last, :messages, :reason, :closed_at, :fingerprint)
         ON CONFLICT (id) DO UPDATE
         SET ended_at = excluded.ended_at, last_message_id = excluded.last_message_id, messages = excluded.messages,
             reason = excluded.reason, fingerprint = excluded.fingerprint", params! {
        ":id": session.id, ":chat": session.id.chat, ":forum_topic": session.forum_topic,
        ":started_at": session.first.0.secs(), ":first": session.first.1, ":ended_at": session.last.0.secs(),
        ":last": session.last.1, ":messages": session.messages, ":reason": session.reason,
        ":closed_at": session.closed_at, ":fingerprint": session.fingerprint,
    })
}

/// Deletes a session with its summary and tags, but not its messages.
pub fn remove(tx: &Writer<'_>, id: SessionId) -> Result<()> {
    tx.run("DELETE FROM session WHERE id = :id", params! { ":id": id })
}

impl FromRow for Session {
    fn from_row(raw: &Columns<'_>) -> Result<Self> {
        let moment = |secs, id| Ok::<_, StoreError>((Timestamp::from_secs(raw.get(secs)?), raw.get(id)?));
        Ok(Self {
            id: raw.get("id")?,
            forum_topic: raw.get("forum_topic_id")?,
            first: moment("started_at", "first_message_id")?,
            last: moment("ended_at", "last_message_id")?,
            messages: raw.get("messages")?,
            reason: raw.get("reason")?,
            closed_at: raw.get("closed_at")?,
            fingerprint: raw.get("fingerprint")?,
            is_folded: raw.get::<Option<i64>>("history_included_at")?.is_some(),
        })
    }
}
