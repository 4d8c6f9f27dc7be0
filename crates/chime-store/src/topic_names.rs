//! Names of forum topics.

use rusqlite::{OptionalExtension, named_params};

use super::family::{Cause, Family, Merged, OptOutScope, run_merged};
use super::{Reader, Result, Writer};
use chime_core::{ChatKey, Conversation, Kind, StoredMessage, ThreadId, Timestamp, TopicName, UserId};

pub(super) const FAMILY: Family = Family { tables: &["topic_name"], words_gone, opted_out, chat_gone, merged };

/// Stores the name of a forum topic. If the name comes from the message that created the topic, as contained in a
/// reply, it does not replace a stored name, which may be newer.
pub fn set(tx: &Writer<'_>, key: ChatKey, thread: ThreadId, topic: &TopicName) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO topic_name (chat_key, thread_id, name) VALUES (:key, :thread, :name)
         ON CONFLICT (chat_key, thread_id) DO UPDATE SET name = excluded.name WHERE :is_news",
    )?
    .execute(
        named_params! { ":key": key.0, ":thread": thread.0, ":name": topic.name, ":is_news": topic.given_in.is_none() },
    )?;
    Ok(())
}

/// Deletes the name of a forum topic if it is `name`, because this name must not be stored.
pub fn remove(tx: &Writer<'_>, key: ChatKey, thread: ThreadId, name: &str) -> Result<()> {
    tx.prepare_cached("DELETE FROM topic_name WHERE chat_key = :key AND thread_id = :thread AND name = :name")?
        .execute(named_params! { ":key": key.0, ":thread": thread.0, ":name": name })?;
    Ok(())
}

/// Returns the name of the forum topic of a conversation. Returns `None` outside forum topics and for an unknown name.
pub fn find(conn: &Reader, conversation: Conversation) -> Result<Option<String>> {
    let Some(thread) = conversation.thread else { return Ok(None) };
    let found = conn
        .prepare_cached("SELECT name FROM topic_name WHERE chat_key = :key AND thread_id = :thread")?
        .query_row(named_params! { ":key": conversation.chat.0, ":thread": thread.0 }, |raw| raw.get("name"));
    Ok(found.optional()?)
}

/// Deletes the name of a forum topic if the forgotten message is the service message that gave the topic this name.
fn words_gone(tx: &Writer<'_>, stored: &StoredMessage, cause: Cause) -> Result<()> {
    let StoredMessage { chat, message, .. } = stored;
    let (Cause::Forgotten, Kind::Service, Some(thread)) = (cause, message.kind, message.thread) else { return Ok(()) };
    // The service message ends with the name that it gave.
    tx.prepare_cached(
        "DELETE FROM topic_name WHERE chat_key = :chat AND thread_id = :thread AND substr(:line, -length(name)) = name",
    )?
    .execute(named_params! { ":chat": chat.0, ":thread": thread.0, ":line": message.detail })?;
    Ok(())
}

/// Deletes names of forum topics that were given by the member who opted out.
fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.prepare_cached(
        "DELETE FROM topic_name WHERE (:chat IS NULL OR chat_key = :chat)
             AND EXISTS (SELECT 1 FROM message WHERE message.chat_key = topic_name.chat_key
                             AND message.thread_id = topic_name.thread_id AND user_id = :user AND kind = 'service'
                             AND substr(kind_detail, -length(name)) = name)",
    )?
    .execute(named_params! { ":user": user.0, ":chat": scope.chat().map(|key| key.0) })?;
    Ok(())
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, _: Timestamp) -> Result<()> {
    tx.prepare_cached("DELETE FROM topic_name WHERE chat_key = :chat")?.execute(named_params! { ":chat": chat.0 })?;
    Ok(())
}

fn merged(tx: &Writer<'_>, chats: &Merged) -> Result<()> {
    run_merged(
        tx,
        chats,
        &[
            "INSERT OR IGNORE INTO topic_name (chat_key, thread_id, name)
             SELECT :into, thread_id, name FROM topic_name WHERE chat_key = :from",
            "DELETE FROM topic_name WHERE chat_key = :from AND :into <> :from",
        ],
    )
}
