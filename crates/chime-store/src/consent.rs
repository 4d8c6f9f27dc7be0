//! Opt-outs, and the text of an opted-out member's own request, which is stored only until the request is handled.

use rusqlite::{OptionalExtension, named_params};

use super::derived;
use super::family::{Cause, Family, Merged, OptOutScope, run_merged};
use super::{Reader, Result, Writer, memory, messages, row};
use chime_core::{ChatId, ChatKey, Entity, Message, MessageAt, MessageId, StoredMessage, Timestamp, UserId};

pub(super) const FAMILY: Family =
    Family { tables: &["opt_out", "held_text"], words_gone: drop_held, merged, ..Family::UNTOUCHED };

/// Opts `user` out: from now on, their messages are not stored, and stored ones are not used. Returns `false` if they
/// had already opted out.
pub fn opt_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId, now: Timestamp) -> Result<bool> {
    let added = tx
        .prepare_cached(
            "INSERT INTO opt_out (chat_key, user_id, since) VALUES (:chat, :user, :now)
         ON CONFLICT (chat_key, user_id) DO NOTHING",
        )?
        .execute(named_params! { ":chat": scope.key(), ":user": user.0, ":now": now.millis() })?;
    if added == 0 {
        return Ok(false);
    }
    derived::opted_out(tx, scope, user)?;
    Ok(true)
}

fn drop_held(tx: &Writer<'_>, stored: &StoredMessage, cause: Cause) -> Result<()> {
    if cause != Cause::Edited {
        tx.prepare_cached("DELETE FROM held_text WHERE key = :key")?
            .execute(named_params! { ":key": MessageAt::of(stored).to_string() })?;
    }
    Ok(())
}

fn merged(tx: &Writer<'_>, chats: &Merged) -> Result<()> {
    // Each statement must use both parameters, because an unused parameter is an error.
    run_merged(
        tx,
        chats,
        &[
            "INSERT OR IGNORE INTO opt_out (chat_key, user_id, since)
             SELECT :into, user_id, since FROM opt_out WHERE chat_key = :from",
            "DELETE FROM opt_out WHERE chat_key = :from AND :into <> :from",
        ],
    )
}

/// Cancels an opt-out. If the scope is every chat, opt-outs of single chats are cancelled too.
pub fn opt_in(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.prepare_cached("DELETE FROM opt_out WHERE user_id = :user AND :chat IN (0, chat_key)")?
        .execute(named_params! { ":chat": scope.key(), ":user": user.0 })?;
    // Memory is deleted and rebuilt, so that it includes the member's messages again.
    memory::forget_member(tx, scope, user)
}

/// Returns the scope of the opt-out that covers `user` in `chat`: every chat, if the user opted out of all, else this
/// chat. `None` without an opt-out.
pub fn opted_out(conn: &Reader, chat: ChatKey, user: UserId) -> Result<Option<OptOutScope>> {
    let key: Option<u32> = conn
        .prepare_cached(
            "SELECT min(chat_key) AS chat_key FROM opt_out WHERE user_id = :user AND +chat_key IN (0, :chat)",
        )?
        .query_row(named_params! { ":chat": chat.0, ":user": user.0 }, |raw| raw.get("chat_key"))?;
    Ok(key.map(|key| if key == 0 { OptOutScope::EveryChat } else { OptOutScope::Chat(ChatKey(key)) }))
}

pub fn is_out_everywhere(conn: &Reader, user: UserId) -> Result<bool> {
    Ok(conn
        .prepare_cached("SELECT 1 FROM opt_out WHERE user_id = :user AND chat_key = 0")?
        .exists(named_params! { ":user": user.0 })?)
}

/// Returns all users who opted out of this chat or of every chat.
pub fn opted_out_of(conn: &Reader, chat: ChatKey) -> Result<Vec<UserId>> {
    let mut statement = conn.prepare_cached("SELECT user_id FROM opt_out WHERE chat_key IN (0, :chat)")?;
    let users = statement.query_map(named_params! { ":chat": chat.0 }, |raw| raw.get("user_id").map(UserId))?;
    Ok(users.collect::<rusqlite::Result<_>>()?)
}

/// Returns the time up to which all messages of the chat were forgotten, or `None` if the chat was never forgotten.
pub fn forgotten_until(conn: &Reader, chat: ChatKey) -> Result<Option<Timestamp>> {
    let secs: Option<i64> = conn
        .prepare_cached("SELECT forgotten_until FROM chat WHERE chat_key = :chat")?
        .query_row(named_params! { ":chat": chat.0 }, |raw| raw.get("forgotten_until"))?;
    Ok(secs.map(Timestamp::from_secs))
}

/// Returns `true` if the text of a message must not be stored: its author opted out, or the message or the whole chat
/// was forgotten.
pub fn is_withheld(conn: &Reader, chat: ChatKey, message: &Message) -> Result<bool> {
    Ok(forgotten_until(conn, chat)?.is_some_and(|until| message.sent_at <= until)
        || opted_out(conn, chat, message.sender.id)?.is_some()
        || messages::is_stub(conn, message.chat, message.id)?)
}

/// Stores the text of a request by an opted-out member. It is deleted when the job that handles the request ends.
pub fn hold(tx: &Writer<'_>, message: &Message) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO held_text (key, text, entities) VALUES (:key, :text, :entities)
         ON CONFLICT (key) DO UPDATE SET text = excluded.text, entities = excluded.entities",
    )?
    .execute(named_params! {
        ":key": MessageAt { chat: message.chat, message: message.id }.to_string(), ":text": message.text,
        ":entities": row::to_json(&message.entities, "entities")?,
    })?;
    Ok(())
}

pub fn is_any_held(conn: &Reader) -> Result<bool> {
    Ok(conn.prepare_cached("SELECT 1 FROM held_text LIMIT 1")?.exists([])?)
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
    let found: Option<(String, String)> = conn
        .prepare_cached("SELECT text, entities FROM held_text WHERE key = :key")?
        .query_row(named_params! { ":key": MessageAt { chat, message: id }.to_string() }, |raw| {
            Ok((raw.get("text")?, raw.get("entities")?))
        })
        .optional()?;
    found.map(|(text, entities)| Ok((text, row::json(&entities, "entities")?))).transpose()
}
