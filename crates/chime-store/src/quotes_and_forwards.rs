//! Content of other people in a message: quotes from the message it replies to, quotes from other chats, forwards, and
//! names of members who were added or removed.

use super::family::{Cause, Family, Merged, OptOutScope};
use super::messages;
use super::row::row_id;
use super::sql::{Statements, params};
use super::{Reader, Result, Writer};
use chime_core::{ChatId, ChatKey, MessageId, Seq, StoredMessage, Timestamp, UserId};

pub(super) const FAMILY: Family =
    Family { tables: &["message_name"], words_gone, opted_out, merged, ..Family::UNTOUCHED };

/// Records the members that a service message names besides its sender, for example members who were added.
pub fn note_named(tx: &Writer<'_>, chat: ChatKey, seq: Seq, named: &[UserId]) -> Result<()> {
    for user in named {
        tx.run(
            "INSERT OR IGNORE INTO message_name (user_id, id) VALUES (:user, :id)",
            params! { ":user": user, ":id": row_id(chat, seq) },
        )?;
    }
    Ok(())
}

fn words_gone(tx: &Writer<'_>, stored: &StoredMessage, cause: Cause) -> Result<()> {
    if cause == Cause::Edited {
        // The quotes were made from the earlier text and do not change.
        return Ok(());
    }
    tx.run(
        "UPDATE message SET quote_text = NULL
         WHERE telegram_chat_id = :chat AND reply_to_id = :id AND quote_text IS NOT NULL",
        params! { ":chat": stored.message.chat, ":id": stored.message.id },
    )?;
    tx.run("DELETE FROM message_name WHERE id = :id", params! { ":id": row_id(stored.chat, stored.seq) })
}

/// Deletes quotes of a member who opted out: all quotes in the chats of the opt-out, and quotes in other chats of what
/// the member wrote in these. Forwards stay in the table, but are no longer read (`messages::VISIBLE`).
fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    for sql in [
        "UPDATE message SET context_snapshot = NULL, quote_text = NULL, origin_chat_id = NULL, origin_message_id = NULL,
             origin_user_id = NULL, origin_ts = NULL
         WHERE origin_user_id = :user AND context_snapshot IS NOT NULL AND forward_origin IS NULL
             AND (:chat IS NULL OR chat_key = :chat
                  OR origin_chat_id IN (SELECT telegram_chat_id FROM chat_alias WHERE chat_key = :chat))",
        "UPDATE message SET quote_text = NULL
         WHERE quote_text IS NOT NULL AND (:chat IS NULL OR chat_key = :chat)
             AND EXISTS (SELECT 1 FROM message AS parent
                         WHERE parent.telegram_chat_id = message.telegram_chat_id
                             AND parent.message_id = message.reply_to_id AND parent.user_id = :user)",
    ] {
        tx.run(sql, params! { ":user": user, ":chat": scope.chat() })?;
    }
    Ok(())
}

fn merged(tx: &Writer<'_>, chats: Merged) -> Result<()> {
    chats.run(
        tx,
        "UPDATE message_name SET id = (:into << 32) + (id & 4294967295) + :shift
         WHERE id BETWEEN :from << 32 AND (:from << 32) | 4294967295",
    )
}

/// Returns messages in any chat that contain the words of `of` as a forward or as a quote from another chat. They are
/// found by their recorded origin, never by their text.
pub fn copies_of(conn: &Reader, of: &StoredMessage) -> Result<Vec<StoredMessage>> {
    let message = &of.message;
    let params = params! {
        ":chat": message.chat, ":id": message.id, ":user": message.sender.id, ":ts": message.sent_at.secs(),
    };
    let mut found: Vec<(ChatId, MessageId)> = conn.all(
        "SELECT telegram_chat_id, message_id FROM message WHERE origin_chat_id = :chat AND origin_message_id = :id
         UNION
         SELECT telegram_chat_id, message_id FROM message
         WHERE origin_user_id = :user AND origin_ts = :ts AND origin_message_id IS NULL",
        params,
    )?;
    // Some members hide their account in forwards, which then contain only a name. The name alone is not enough: the
    // sending time must match too, and the author must be a member of that chat.
    let by_name: Vec<(ChatId, MessageId)> = conn.all(
        "SELECT telegram_chat_id, message_id FROM message
         WHERE origin_ts = :ts AND origin_user_id IS NULL AND forward_origin = :name
             AND (chat_key = :key OR EXISTS (SELECT 1 FROM member WHERE member.chat_key = message.chat_key
                                                 AND member.user_id = :user))",
        params! {
            ":ts": message.sent_at.secs(), ":name": message.sender.name, ":key": of.chat, ":user": message.sender.id,
        },
    )?;
    found.extend(by_name);
    let stored: Result<Vec<_>> = found.into_iter().map(|(chat, id)| messages::find_any(conn, chat, id)).collect();
    Ok(stored?.into_iter().flatten().filter(|copy| (copy.chat, copy.seq) != (of.chat, of.seq)).collect())
}

/// Returns messages by others that forward messages of `user` or name `user`, in `chat` or, for `None`, in every chat.
/// `since` and `until` limit the sending time of the forwarded message, or of the message with the name.
pub fn about_member(
    conn: &Reader,
    chat: Option<ChatKey>,
    user: UserId,
    since: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<(ChatKey, Seq)>> {
    conn.all("SELECT chat_key, seq FROM message
         WHERE origin_user_id = :user AND coalesce(origin_ts, ts) BETWEEN :since AND :until AND forward_origin IS NOT NULL
             AND is_stub = 0 AND (:chat IS NULL OR chat_key = :chat)
         UNION
         SELECT chat_key, seq FROM message_name JOIN message USING (id)
         WHERE message_name.user_id = :user AND ts BETWEEN :since AND :until AND is_stub = 0
             AND (:chat IS NULL OR chat_key = :chat)
         LIMIT :limit", params! {
        ":user": user, ":since": since.secs(), ":until": until.secs(), ":chat": chat, ":limit": limit,
    })
}

/// Removes the quote from another chat from a message. Returns `true` if the message is a reply, whose own words
/// remain. Returns `false` for a forward: it has no words of its own, so the caller must turn it into a stub.
pub fn give_back(tx: &Writer<'_>, copy: &StoredMessage) -> Result<bool> {
    let is_reply = copy.message.forward_origin.is_none() && copy.message.snapshot.is_some();
    if is_reply {
        tx.run(
            "UPDATE message SET context_snapshot = NULL, quote_text = NULL, origin_chat_id = NULL,
             origin_message_id = NULL, origin_user_id = NULL, origin_ts = NULL WHERE id = :id",
            params! { ":id": row_id(copy.chat, copy.seq) },
        )?;
    }
    Ok(is_reply)
}
