//! Names of forum topics.

use super::family::{Cause, Family, OptOutScope};
use super::sql::{Statements, params};
use super::{Reader, Result, Writer};
use chime_core::{ChatKey, Conversation, ForumTopicId, Kind, StoredMessage, Timestamp, TopicName, UserId};

pub(super) const FAMILY: Family = Family {
    tables: &["topic_name"],
    moved: &[("topic_name", None)],
    words_gone,
    opted_out,
    chat_gone,
    ..Family::UNTOUCHED
};

/// Stores the name of a forum topic. If the name comes from the message that created the topic, as contained in a
/// reply, it does not replace a stored name, which may be newer.
pub fn set(tx: &Writer<'_>, key: ChatKey, forum_topic: ForumTopicId, topic: &TopicName) -> Result<()> {
    tx.run(
        "INSERT INTO topic_name (chat_key, forum_topic_id, name) VALUES (:key, :forum_topic, :name)
         ON CONFLICT (chat_key, forum_topic_id) DO UPDATE SET name = excluded.name WHERE :is_news",
        params! { ":key": key, ":forum_topic": forum_topic, ":name": topic.name, ":is_news": topic.given_in.is_none() },
    )
}

/// Deletes the name of a forum topic if it is `name`, because this name must not be stored.
pub fn remove(tx: &Writer<'_>, key: ChatKey, forum_topic: ForumTopicId, name: &str) -> Result<()> {
    tx.run(
        "DELETE FROM topic_name WHERE chat_key = :key AND forum_topic_id = :forum_topic AND name = :name",
        params! { ":key": key, ":forum_topic": forum_topic, ":name": name },
    )
}

/// Returns the name of the forum topic of a conversation. Returns `None` outside forum topics and for an unknown name.
pub fn find(conn: &Reader, conversation: Conversation) -> Result<Option<String>> {
    let Some(forum_topic) = conversation.forum_topic else { return Ok(None) };
    conn.first(
        "SELECT name FROM topic_name WHERE chat_key = :key AND forum_topic_id = :forum_topic",
        params! { ":key": conversation.chat, ":forum_topic": forum_topic },
    )
}

/// Returns the name of the forum topic of a conversation, unless it is the conversation `here`.
pub fn find_other(conn: &Reader, conversation: Conversation, here: Conversation) -> Result<Option<String>> {
    if conversation == here { Ok(None) } else { find(conn, conversation) }
}

/// Returns the forum topics of a chat with their names.
pub fn of_chat(conn: &Reader, chat: ChatKey) -> Result<Vec<(ForumTopicId, String)>> {
    conn.all("SELECT forum_topic_id, name FROM topic_name WHERE chat_key = :key", params! { ":key": chat })
}

/// Deletes the name of a forum topic if the forgotten message is the service message that gave the topic this name.
fn words_gone(tx: &Writer<'_>, stored: &StoredMessage, cause: Cause) -> Result<()> {
    let StoredMessage { chat, message, .. } = stored;
    let (Cause::Forgotten, Kind::Service, Some(forum_topic)) = (cause, message.kind, message.forum_topic) else {
        return Ok(());
    };
    // The service message ends with the name that it gave.
    tx.run(
        "DELETE FROM topic_name WHERE chat_key = :chat AND forum_topic_id = :forum_topic AND substr(:line, -length(name)) = name",
        params! { ":chat": chat, ":forum_topic": forum_topic, ":line": message.detail },
    )
}

/// Deletes names of forum topics that were given by the member who opted out.
fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.run(
        "DELETE FROM topic_name WHERE (:chat IS NULL OR chat_key = :chat)
         AND EXISTS (SELECT 1 FROM message WHERE message.chat_key = topic_name.chat_key
                         AND message.forum_topic_id = topic_name.forum_topic_id AND user_id = :user AND kind = 'service'
                         AND substr(kind_detail, -length(name)) = name)",
        params! { ":user": user, ":chat": scope.chat() },
    )
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, _: Timestamp) -> Result<()> {
    tx.run("DELETE FROM topic_name WHERE chat_key = :chat", params! { ":chat": chat })
}
