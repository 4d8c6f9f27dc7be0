//! Settings that the admins of a chat changed, for the chat or one forum topic. A missing one has the operator's value.

use super::family::{Family, Merged, run_merged};
use super::sql::{Statements, params};
use super::{Reader, Result, Writer};
use chime_core::Conversation;
use chime_core::chat_settings::{ChatSetting, ChatSettings, SettingValue};

pub(super) const FAMILY: Family = Family { tables: &["chat_setting"], merged, ..Family::UNTOUCHED };

/// Returns the settings of a conversation. Those of a forum topic override those of its chat.
pub fn load(conn: &Reader, conversation: Conversation) -> Result<ChatSettings> {
    let found: Vec<(String, String)> = conn.all(
        "SELECT key, value FROM chat_setting WHERE chat_key = :chat AND thread_id IN (0, :thread) ORDER BY thread_id",
        params! { ":chat": conversation.chat, ":thread": conversation.thread },
    )?;
    Ok(found.into_iter().collect())
}

pub fn get<T: SettingValue>(conn: &Reader, conversation: Conversation, setting: ChatSetting<T>) -> Result<Option<T>> {
    Ok(load(conn, conversation)?.get(setting))
}

/// Sets a value in the form in which it is stored; `None` removes it.
pub fn set(tx: &Writer<'_>, conversation: Conversation, key: &str, value: Option<&str>) -> Result<()> {
    let place = params! { ":chat": conversation.chat, ":thread": thread_key(conversation), ":key": key };
    tx.run("DELETE FROM chat_setting WHERE chat_key = :chat AND thread_id = :thread AND key = :key", place)?;
    let Some(value) = value else { return Ok(()) };
    tx.run(
        "INSERT INTO chat_setting (chat_key, thread_id, key, value) VALUES (:chat, :thread, :key, :value)",
        params! {
            ":chat": conversation.chat, ":thread": thread_key(conversation), ":key": key, ":value": value,
        },
    )
}

/// Returns the number that is stored for a forum topic; 0 stands for the whole chat.
fn thread_key(conversation: Conversation) -> i64 {
    conversation.thread.map_or(0, |thread| thread.0)
}

fn merged(tx: &Writer<'_>, chats: &Merged) -> Result<()> {
    run_merged(
        tx,
        chats,
        &[
            "INSERT OR IGNORE INTO chat_setting (chat_key, thread_id, key, value)
             SELECT :into, thread_id, key, value FROM chat_setting WHERE chat_key = :from",
            "DELETE FROM chat_setting WHERE chat_key = :from AND :into <> :from",
        ],
    )
}
