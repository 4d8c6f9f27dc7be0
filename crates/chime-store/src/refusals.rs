//! Recently accepted triggers, and refused triggers until their members are notified.

use super::family::{Family, Merged};
use super::row::forum_topic_key;
use super::sql::{Statements, params, rows};
use super::{Reader, Result, Writer};
use chime_core::{ChatId, Conversation, ExplainedRefusal, MessageId, Refusal, RefusalNotice, Timestamp, UserId};

const COLUMNS: &str = "telegram_chat_id, message_id, forum_topic_id, because, subject, until, tell";

pub(super) const FAMILY: Family = Family {
    tables: &["recent_trigger", "refusal", "told_refusal"],
    moved: &[("recent_trigger", None)],
    merged,
    ..Family::UNTOUCHED
};

rows! {
    Refusal { chat = "telegram_chat_id", message = "message_id", forum_topic = "forum_topic_id", because, subject, until, tell }
    ExplainedRefusal { at = "told_at", until }
}

/// Moves refusals to the merged chat. Their subject contains the chat's key, so a refusal that was explained before the
/// merge may be explained again.
fn merged(tx: &Writer<'_>, chats: Merged) -> Result<()> {
    let keys = params! { ":into": chats.into, ":from": chats.from };
    tx.run("UPDATE refusal SET subject = 'merged:' || :into WHERE subject GLOB '*:' || :from || ':*'", keys)?;
    tx.run("DELETE FROM told_refusal WHERE subject GLOB '*:' || :from || ':*'", params! { ":from": chats.from })
}

/// Returns the times, after `after`, of the accepted triggers in a conversation.
pub fn triggers_of_conversation(conn: &Reader, conversation: Conversation, after: Timestamp) -> Result<Vec<Timestamp>> {
    conn.all(
        "SELECT sent_at FROM recent_trigger WHERE chat_key = :chat AND forum_topic_id = :forum_topic AND sent_at > :after",
        params! {
            ":chat": conversation.chat, ":forum_topic": forum_topic_key(conversation.forum_topic), ":after": after,
        },
    )
}

/// Returns the times, after `after`, of a member's accepted triggers in all conversations.
pub fn triggers_of_member(conn: &Reader, user: UserId, after: Timestamp) -> Result<Vec<Timestamp>> {
    conn.all(
        "SELECT sent_at FROM recent_trigger WHERE user_id = :user AND sent_at > :after",
        params! { ":user": user, ":after": after },
    )
}

/// Accepted trigger, or a button press that counts as one for the limits.
#[derive(Debug, Clone, Copy)]
pub struct AcceptedTrigger {
    pub conversation: Conversation,
    pub chat: ChatId,
    pub message: MessageId,
    pub user: UserId,
}

/// Records an accepted trigger sent at `at`. Deletes triggers sent up to `too_old`, which no longer count for the
/// limits.
pub fn add_trigger(tx: &Writer<'_>, counted: AcceptedTrigger, at: Timestamp, too_old: Timestamp) -> Result<()> {
    tx.run("DELETE FROM recent_trigger WHERE sent_at <= :too_old", params! { ":too_old": too_old })?;
    tx.run(
        "INSERT INTO recent_trigger (telegram_chat_id, message_id, chat_key, forum_topic_id, user_id, sent_at)
         VALUES (:telegram_chat, :message, :chat, :forum_topic, :user, :at)
         ON CONFLICT (telegram_chat_id, message_id) DO NOTHING",
        params! {
            ":telegram_chat": counted.chat, ":message": counted.message, ":chat": counted.conversation.chat,
            ":forum_topic": forum_topic_key(counted.conversation.forum_topic), ":user": counted.user, ":at": at,
        },
    )
}

/// Returns the times, after `after`, of a member's accepted commands and presses that the usual limits do not apply to.
pub fn controls_of_member(conn: &Reader, user: UserId, after: Timestamp) -> Result<Vec<Timestamp>> {
    conn.all(
        "SELECT sent_at FROM recent_control WHERE user_id = :user AND sent_at > :after",
        params! { ":user": user, ":after": after },
    )
}

/// Records an accepted command or press at `at`. Deletes those up to `too_old`, which no longer count.
pub fn add_control(tx: &Writer<'_>, user: UserId, at: Timestamp, too_old: Timestamp) -> Result<()> {
    tx.run("DELETE FROM recent_control WHERE sent_at <= :too_old", params! { ":too_old": too_old })?;
    tx.run("INSERT INTO recent_control (user_id, sent_at) VALUES (:user, :at)", params! { ":user": user, ":at": at })
}

/// Returns the last refusal under the key `subject` that was explained in words, or `None`. Later refusals under the
/// same key only get a reaction for a while.
pub fn explained(conn: &Reader, subject: &str) -> Result<Option<ExplainedRefusal>> {
    conn.first("SELECT told_at, until FROM told_refusal WHERE subject = :subject", params! { ":subject": subject })
}

/// Stores a refusal that the member must be notified of. If the notice is in words, also records that this refusal was
/// explained.
pub fn add(tx: &Writer<'_>, refusal: &Refusal, at: Timestamp) -> Result<()> {
    tx.run(
        "INSERT INTO refusal (telegram_chat_id, message_id, forum_topic_id, because, subject, until, tell)
         VALUES (:chat, :message, :forum_topic, :because, :subject, :until, :tell)
         ON CONFLICT (telegram_chat_id, message_id) DO NOTHING",
        params! {
            ":chat": refusal.chat, ":message": refusal.message, ":forum_topic": refusal.forum_topic,
            ":because": refusal.because, ":subject": refusal.subject, ":until": refusal.until,
            ":tell": refusal.tell,
        },
    )?;
    if refusal.tell == RefusalNotice::Words {
        note_told(tx, &refusal.subject, at, refusal.until)?;
    }
    Ok(())
}

fn note_told(tx: &Writer<'_>, subject: &str, at: Timestamp, until: Timestamp) -> Result<()> {
    // An explanation is no longer needed a day after the refusals that it explains have ended.
    tx.run("DELETE FROM told_refusal WHERE until < :at - 86400000", params! { ":at": at })?;
    tx.run(
        "INSERT INTO told_refusal (subject, told_at, until) VALUES (:subject, :at, :until)
         ON CONFLICT (subject) DO UPDATE SET told_at = excluded.told_at, until = excluded.until, is_closed = 0",
        params! { ":subject": subject, ":at": at, ":until": until },
    )
}

/// Returns the refusal of a trigger, or `None` if there is none or the member has been notified already.
pub fn find(conn: &Reader, chat: ChatId, message: MessageId) -> Result<Option<Refusal>> {
    let sql = format!("SELECT {COLUMNS} FROM refusal WHERE telegram_chat_id = :chat AND message_id = :message");
    conn.first(&sql, params! { ":chat": chat, ":message": message })
}

pub fn remove(tx: &Writer<'_>, chat: ChatId, message: MessageId) -> Result<()> {
    tx.run(
        "DELETE FROM refusal WHERE telegram_chat_id = :chat AND message_id = :message",
        params! { ":chat": chat, ":message": message },
    )
}

/// Records that one line of text is now sent under the key `subject`, because the bot cannot react in this chat.
/// Returns `false` if the line was sent before: then nothing more is sent.
pub fn close(tx: &Writer<'_>, subject: &str) -> Result<bool> {
    let closed = tx.changed(
        "UPDATE told_refusal SET is_closed = 1 WHERE subject = :subject AND is_closed = 0",
        params! { ":subject": subject },
    )?;
    Ok(closed == 1)
}
