//! Content of other people in a message: quotes from the message it replies to, quotes from other chats, forwards, and
//! names of members who were added or removed.

use super::family::{Cause, Family, Merged, OptOutScope};
use super::messages;
use super::row::row_id;
use super::sql::{Statements, params};
use super::{Reader, Result, Writer};
use chime_core::{ChatId, ChatKey, Message, MessageId, Sender, Seq, StoredMessage, Timestamp, UserId};

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
    found.extend(hidden_copies_of(conn, of)?);
    let stored: Result<Vec<_>> = found.into_iter().map(|(chat, id)| messages::find_any(conn, chat, id)).collect();
    Ok(stored?.into_iter().flatten().filter(|copy| (copy.chat, copy.seq) != (of.chat, of.seq)).collect())
}

/// Returns forwards of `of` whose author Telegram hides, so that they contain only a name. The name alone is not enough:
/// the sending time must match too, or the text where an export has no time. The author must be a member of that chat.
fn hidden_copies_of(conn: &Reader, of: &StoredMessage) -> Result<Vec<(ChatId, MessageId)>> {
    const IN_CHAT: &str = "(chat_key = :key OR EXISTS (SELECT 1 FROM member WHERE member.chat_key = message.chat_key
                                                           AND member.user_id = :user))";
    let message = &of.message;
    let found: Vec<(ChatId, MessageId, String)> = conn.all(
        &format!(
            "SELECT telegram_chat_id, message_id, forward_origin FROM message
             WHERE origin_ts = :ts AND origin_user_id IS NULL AND forward_origin IS NOT NULL AND {IN_CHAT}
             UNION
             SELECT telegram_chat_id, message_id, forward_origin FROM message
             WHERE forward_origin = :name AND origin_user_id IS NULL AND origin_ts IS NULL
                 AND text = :text AND text <> '' AND {IN_CHAT}"
        ),
        params! {
            ":ts": message.sent_at.secs(), ":name": message.sender.name, ":text": message.text, ":key": of.chat,
            ":user": message.sender.id,
        },
    )?;
    let name = normalised(&message.sender.name);
    Ok(found
        .into_iter()
        .filter(|(.., origin)| name.is_some() && normalised(origin) == name)
        .map(|(chat, id, _)| (chat, id))
        .collect())
}

/// Returns the name of the person whose words `message` forwards or quotes from another chat, if Telegram hides the
/// account and gives only the name.
pub(super) fn hidden_author(message: &Message) -> Option<&str> {
    let is_hidden = message.borrowed.is_none_or(|borrowed| borrowed.author.is_none());
    // The description of a quote begins with the name of its author.
    let quoted =
        || message.snapshot.as_deref().map(|snapshot| snapshot.split_once(": ").map_or(snapshot, |(name, _)| name));
    message.forward_origin.as_deref().or_else(quoted).filter(|_| is_hidden)
}

/// Returns a name in lower case with single spaces, or `None` if it stands for an unknown person.
pub(super) fn normalised(name: &str) -> Option<String> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    (!name.is_empty() && name != "someone").then_some(name)
}

/// Records `member`, who opted out, as the author of the stored forwards that have only the member's name, in the chats
/// of the opt-out. They are then hidden, and forgotten, like forwards that name the account.
pub(super) fn attribute(tx: &Writer<'_>, member: &Sender) -> Result<()> {
    let rows: Vec<(i64, String)> = tx.all(
        "SELECT id, forward_origin FROM message
         WHERE forward_origin IS NOT NULL AND origin_user_id IS NULL
             AND EXISTS (SELECT 1 FROM opt_out WHERE opt_out.user_id = :user AND +opt_out.chat_key IN (0, message.chat_key))",
        params! { ":user": member.id },
    )?;
    let name = normalised(&member.name);
    for (id, _) in rows.into_iter().filter(|(_, origin)| normalised(origin) == name) {
        tx.run("UPDATE message SET origin_user_id = :user WHERE id = :id", params! { ":user": member.id, ":id": id })?;
    }
    Ok(())
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
