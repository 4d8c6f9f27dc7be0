//! Settings that the admins of a chat changed, for the chat or one forum topic. If a setting is missing, the operator's
//! value applies.

use super::family::{Cause, Family};
use super::row::forum_topic_key;
use super::sql::{Statements, params};
use super::{Reader, Result, Writer};
use chime_core::chat_settings::{ChatSetting, ChatSettings, SettingValue};
use chime_core::{ChatKey, Conversation, ForumTopicId, Seq, UserId, Zone};

pub(super) const FAMILY: Family = Family {
    tables: &["chat_setting"],
    moved: &[("chat_setting", Some("seq"))],
    words_gone: |tx, stored, cause| match cause {
        Cause::Forgotten => tx.run(
            "DELETE FROM chat_setting WHERE set_by = :user AND chat_key = :chat AND seq = :seq",
            params! { ":user": stored.message.sender.id, ":chat": stored.chat, ":seq": stored.seq },
        ),
        // A persona stays until somebody changes it.
        Cause::Expired | Cause::Edited => Ok(()),
    },
    opted_out: |tx, scope, user| forget_author(tx, scope.chat(), user),
    chat_gone: |tx, chat, _| {
        tx.run("DELETE FROM chat_setting WHERE chat_key = :chat AND set_by IS NOT NULL", params! { ":chat": chat })
    },
    ..Family::UNTOUCHED
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewValue {
    /// Value in the form in which it is stored.
    pub value: String,
    /// Author and command of a text by a member.
    pub written: Option<(UserId, Seq)>,
}

/// Returns the settings of a conversation. A forum topic's own values override the chat's.
pub fn load(conn: &Reader, conversation: Conversation) -> Result<ChatSettings> {
    let found: Vec<(String, String)> = conn.all(
        "SELECT key, value FROM chat_setting WHERE chat_key = :chat AND forum_topic_id IN (0, :forum_topic) ORDER BY forum_topic_id",
        params! { ":chat": conversation.chat, ":forum_topic": conversation.forum_topic },
    )?;
    Ok(found.into_iter().collect())
}

/// Returns all settings of a chat, each with the forum topic to which it is limited, its name and its stored value.
pub fn of_chat(conn: &Reader, chat: ChatKey) -> Result<Vec<(Option<ForumTopicId>, String, String)>> {
    let sql = "SELECT nullif(forum_topic_id, 0) AS topic, key, value FROM chat_setting
               WHERE chat_key = :chat ORDER BY forum_topic_id, key";
    conn.all(sql, params! { ":chat": chat })
}

pub fn get<T: SettingValue>(conn: &Reader, conversation: Conversation, setting: ChatSetting<T>) -> Result<Option<T>> {
    Ok(load(conn, conversation)?.get(setting))
}

/// Returns the time zone in which times are shown in a conversation: its own, or else the operator's.
pub fn zone(conn: &Reader, conversation: Conversation, operators: Zone) -> Result<Zone> {
    Ok(load(conn, conversation)?.zone(operators))
}

/// Sets a value; `None` removes it.
pub fn set(tx: &Writer<'_>, conversation: Conversation, key: &str, value: Option<&NewValue>) -> Result<()> {
    let place =
        params! { ":chat": conversation.chat, ":forum_topic": forum_topic_key(conversation.forum_topic), ":key": key };
    tx.run("DELETE FROM chat_setting WHERE chat_key = :chat AND forum_topic_id = :forum_topic AND key = :key", place)?;
    let Some(value) = value else { return Ok(()) };
    tx.run(
        "INSERT INTO chat_setting (chat_key, forum_topic_id, key, value, set_by, seq)
         VALUES (:chat, :forum_topic, :key, :value, :user, :seq)",
        params! {
            ":chat": conversation.chat, ":forum_topic": forum_topic_key(conversation.forum_topic), ":key": key, ":value": value.value,
            ":user": value.written.map(|(user, _)| user), ":seq": value.written.map(|(_, seq)| seq),
        },
    )
}

/// Removes all values of a forum topic, so that the chat's values apply.
pub fn clear_topic(tx: &Writer<'_>, conversation: Conversation) -> Result<()> {
    tx.run(
        "DELETE FROM chat_setting WHERE chat_key = :chat AND forum_topic_id = :forum_topic AND forum_topic_id <> 0",
        params! { ":chat": conversation.chat, ":forum_topic": forum_topic_key(conversation.forum_topic) },
    )
}

/// Removes the settings whose value a member wrote, in one chat or in all (`None`), even if the command itself is no
/// longer stored.
pub(super) fn forget_author(tx: &Writer<'_>, chat: Option<ChatKey>, user: UserId) -> Result<()> {
    tx.run(
        "DELETE FROM chat_setting WHERE set_by = :user AND (:chat IS NULL OR chat_key = :chat)",
        params! { ":user": user, ":chat": chat },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::OptOutScope;
    use crate::testkit::new_store;
    use crate::{Priority, chats, derived, retention};
    use chime_core::chat_settings::{ANSWER_LENGTH, AnswerLength, PERSONA};
    use chime_core::{Chat, ChatId, ChatKind, Timestamp};

    #[tokio::test]
    async fn values_of_a_topic_come_first_and_texts_go_with_their_author_and_all_with_the_chat() {
        let (_folder, store) = new_store().await;
        let work = |tx: &Writer<'_>| {
            let chat = Chat { id: ChatId(-100), kind: ChatKind::Supergroup, title: None, username: None };
            let whole = Conversation { chat: chats::upsert(tx, &chat)?.key, forum_topic: None };
            let topic = Conversation { forum_topic: Some(ForumTopicId(5)), ..whole };
            let written =
                |value: &str, user, seq| NewValue { value: value.to_owned(), written: Some((user, Seq(seq))) };
            let (ann, bob) = (UserId(1), UserId(2));
            set(tx, whole, PERSONA.key, Some(&written("a sailor", ann, 1)))?;
            set(tx, topic, PERSONA.key, Some(&written("a singer", bob, 2)))?;
            set(tx, whole, ANSWER_LENGTH.key, Some(&NewValue { value: "long".to_owned(), written: None }))?;
            let persona = |at| get(tx, at, PERSONA).map(|persona| persona.map(|text| text.0));
            assert_eq!((persona(whole)?.as_deref(), persona(topic)?.as_deref()), (Some("a sailor"), Some("a singer")));
            assert_eq!(get(tx, topic, ANSWER_LENGTH)?, Some(AnswerLength::Long));
            derived::opted_out(tx, OptOutScope::Chat(whole.chat), bob)?;
            assert_eq!(persona(topic)?.as_deref(), Some("a sailor"), "the text of another member stays");
            clear_topic(tx, whole)?;
            derived::chat_gone(tx, whole.chat, Timestamp::default())?;
            assert_eq!((persona(whole)?, get(tx, whole, ANSWER_LENGTH)?), (None, Some(AnswerLength::Long)));
            assert_eq!(retention::remove_chat(tx, whole.chat, Timestamp::default())?, 1);
            assert_eq!(load(tx, whole)?, ChatSettings::default());
            Ok(())
        };
        store.write(Priority::Background, work).await.unwrap();
    }
}
