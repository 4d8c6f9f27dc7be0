//! Opt-outs, and the text of an opted-out member's own request, which is stored only until the request is handled.

use super::derived;
use super::family::{Cause, Family, OptOutScope};
use super::sql::{Json, Statements, params};
use super::{Reader, Result, Writer, memory, messages, quotes_and_forwards, vectors};
use chime_core::{
    ChatId, ChatKey, Entity, FNV_START, Message, MessageAt, MessageId, Sender, StoredMessage, Timestamp, UserId, fnv1a,
};

pub(super) const FAMILY: Family = Family {
    tables: &["opt_out", "held_text"],
    moved: &[("opt_out", None)],
    words_gone: drop_held,
    ..Family::UNTOUCHED
};

/// Opts `user` out: from now on, their messages are not stored, and stored ones are not used. Returns `false` if they
/// had already opted out.
pub fn opt_out(tx: &Writer<'_>, scope: OptOutScope, member: &Sender, now: Timestamp) -> Result<bool> {
    let user = member.id;
    let added = tx.changed(
        "INSERT INTO opt_out (chat_key, user_id, since) VALUES (:chat, :user, :now)
         ON CONFLICT (chat_key, user_id) DO NOTHING",
        params! { ":chat": scope.key(), ":user": user, ":now": now },
    )?;
    if added == 0 {
        return Ok(false);
    }
    note_name(tx, member)?;
    derived::opted_out(tx, scope, user)?;
    Ok(true)
}

/// Records the name of a member who opted out, as a hash, so that forwards that have only the name are recognised. Does
/// nothing for other members.
pub fn note_name(tx: &Writer<'_>, member: &Sender) -> Result<()> {
    let Some(hash) = name_hash(&member.name) else { return Ok(()) };
    let params = params! { ":user": member.id, ":hash": hash };
    let changed =
        tx.changed("UPDATE opt_out SET name_hash = :hash WHERE user_id = :user AND name_hash IS NOT :hash", params)?;
    if changed > 0 {
        quotes_and_forwards::attribute(tx, member)?;
    }
    Ok(())
}

/// Returns a hash of a name that does not depend on case and spaces, or `None` if `name` says nothing.
fn name_hash(name: &str) -> Option<i64> {
    let name = quotes_and_forwards::normalised(name)?;
    Some(fnv1a(FNV_START, name.as_bytes()).cast_signed())
}

/// Returns `true` if `message` forwards or quotes a person who opted out in this chat, in the chat where the words come
/// from, or in a chat where the person wrote something at the original time. If Telegram hides the account, the name
/// decides; if the name of the member is not known, the original time.
pub fn is_author_out(conn: &Reader, chat: ChatKey, message: &Message) -> Result<bool> {
    let borrowed = message.borrowed.unwrap_or_default();
    let hash = quotes_and_forwards::hidden_author(message).and_then(name_hash);
    if borrowed.author.is_none() && hash.is_none() {
        return Ok(false);
    }
    let at = "EXISTS (SELECT 1 FROM message WHERE message.user_id = opt_out.user_id
                  AND opt_out.chat_key IN (0, message.chat_key) AND message.ts = :ts)";
    let is_author = match borrowed.author {
        Some(_) => "user_id = :author AND :hash IS NULL".to_owned(),
        None => format!(":author IS NULL AND (name_hash = :hash OR (name_hash IS NULL AND {at}))"),
    };
    conn.any(
        &format!(
            "SELECT 1 FROM opt_out WHERE {is_author}
             AND (chat_key IN (0, :chat)
                  OR chat_key IN (SELECT chat_key FROM chat_alias WHERE telegram_chat_id = :origin) OR {at})"
        ),
        params! {
            ":author": borrowed.author, ":hash": hash, ":ts": borrowed.sent_at.map(Timestamp::secs), ":chat": chat,
            ":origin": borrowed.chat,
        },
    )
}

fn drop_held(tx: &Writer<'_>, stored: &StoredMessage, cause: Cause) -> Result<()> {
    if cause != Cause::Edited {
        tx.run("DELETE FROM held_text WHERE key = :key", params! { ":key": MessageAt::of(stored).to_string() })?;
    }
    Ok(())
}

/// Cancels an opt-out. If the scope is every chat, opt-outs of single chats are cancelled too.
pub fn opt_in(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.run(
        "DELETE FROM opt_out WHERE user_id = :user AND :chat IN (0, chat_key)",
        params! { ":chat": scope.key(), ":user": user },
    )?;
    vectors::make_again(tx, scope, user)?;
    // Memory is deleted and rebuilt, so that it includes the member's messages again.
    memory::forget_member(tx, scope, user)
}

/// Returns the scope of the opt-out that covers `user` in `chat`: every chat, if the user opted out of all, else this
/// chat. `None` without an opt-out.
pub fn opted_out(conn: &Reader, chat: ChatKey, user: UserId) -> Result<Option<OptOutScope>> {
    let key: Option<u32> = conn.one(
        "SELECT min(chat_key) AS chat_key FROM opt_out WHERE user_id = :user AND +chat_key IN (0, :chat)",
        params! { ":chat": chat, ":user": user },
    )?;
    Ok(key.map(|key| if key == 0 { OptOutScope::EveryChat } else { OptOutScope::Chat(ChatKey(key)) }))
}

pub fn is_out_everywhere(conn: &Reader, user: UserId) -> Result<bool> {
    conn.any("SELECT 1 FROM opt_out WHERE user_id = :user AND chat_key = 0", params! { ":user": user })
}

/// Returns all users who opted out of this chat or of every chat.
pub fn opted_out_of(conn: &Reader, chat: ChatKey) -> Result<Vec<UserId>> {
    conn.all("SELECT user_id FROM opt_out WHERE chat_key IN (0, :chat)", params! { ":chat": chat })
}

/// Returns the time up to which all messages of the chat were forgotten, or `None` if the chat was never forgotten.
pub fn forgotten_until(conn: &Reader, chat: ChatKey) -> Result<Option<Timestamp>> {
    conn.one("SELECT forgotten_until * 1000 FROM chat WHERE chat_key = :chat", params! { ":chat": chat })
}

/// Returns `true` if the text of a message must not be stored: the group does not see it, its author opted out, or the
/// message or the whole chat was forgotten.
pub fn is_withheld(conn: &Reader, chat: ChatKey, message: &Message) -> Result<bool> {
    Ok(message.id.ephemeral_number().is_some()
        || forgotten_until(conn, chat)?.is_some_and(|until| message.sent_at <= until)
        || opted_out(conn, chat, message.sender.id)?.is_some()
        || messages::is_stub(conn, message.chat, message.id)?)
}

/// Stores the text of a request by an opted-out member. It is deleted when the job that handles the request ends.
pub fn hold(tx: &Writer<'_>, message: &Message) -> Result<()> {
    tx.run(
        "INSERT INTO held_text (key, text, entities) VALUES (:key, :text, :entities)
         ON CONFLICT (key) DO UPDATE SET text = excluded.text, entities = excluded.entities",
        params! {
            ":key": MessageAt { chat: message.chat, message: message.id }.to_string(), ":text": message.text,
            ":entities": Json(&message.entities),
        },
    )
}

pub fn is_any_held(conn: &Reader) -> Result<bool> {
    conn.any("SELECT 1 FROM held_text LIMIT 1", &[])
}

/// Returns the message that a job is about, or `None` if it was forgotten. For an opted-out member it has the text
/// stored by [`hold`], or the one stored before the opt-out: a member who asks and then opts out still gets the answer.
pub fn for_job(conn: &Reader, chat: ChatId, id: MessageId) -> Result<Option<StoredMessage>> {
    let Some((text, entities)) = held(conn, chat, id)? else {
        return match messages::find(conn, chat, id)? {
            None if !messages::is_stub(conn, chat, id)? => messages::find_any(conn, chat, id),
            found => Ok(found),
        };
    };
    let Some(stub) = messages::find_any(conn, chat, id)? else { return Ok(None) };
    let message = Message { text, entities, ..stub.message };
    Ok(Some(StoredMessage { message, ..stub }))
}

fn held(conn: &Reader, chat: ChatId, id: MessageId) -> Result<Option<(String, Vec<Entity>)>> {
    let found: Option<(String, Json<_>)> = conn.first(
        "SELECT text, entities FROM held_text WHERE key = :key",
        params! { ":key": MessageAt { chat, message: id }.to_string() },
    )?;
    Ok(found.map(|(text, Json(entities))| (text, entities)))
}
