//! Chats, their Telegram ids and their members.

use std::time::Duration;

use super::family::{Family, OptOutScope};
use super::sql::{Columns, Statements, params, rows};
use super::{Reader, Result, Writer};
use chime_core::config::retention;
use chime_core::{Chat, ChatId, ChatKey, Language, Member, MessageId, MessagePlace, Sender, Seq, Timestamp, UserId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatRow {
    pub key: ChatKey,
    pub chat: Chat,
    /// Language of the chat's messages.
    pub language: Language,
    /// Language that the admins chose for the bot's own texts.
    pub chosen_language: Option<Language>,
    /// `true` if the bot was a member of the chat at the last update about that.
    pub is_present: bool,
}

impl ChatRow {
    /// Returns the language of the bot's own texts in this chat.
    pub fn speaks(&self) -> Language {
        self.chosen_language.unwrap_or(self.language)
    }
}

const COLUMNS: &str = "chat.chat_key, chat.telegram_chat_id, chat.kind, chat.title, chat.username, chat.language, \
                       (SELECT value FROM chat_setting WHERE chat_setting.chat_key = chat.chat_key \
                        AND chat_setting.forum_topic_id = 0 AND key = 'language') AS chosen_language, \
                       chat.is_member";

rows! {
    Member { id = "user_id", name, username }
}

fn from_row(row: &Columns<'_>) -> Result<ChatRow> {
    Ok(ChatRow {
        key: row.get("chat_key")?,
        chat: Chat {
            id: row.get("telegram_chat_id")?,
            kind: row.get("kind")?,
            title: row.get("title")?,
            username: row.get("username")?,
        },
        language: row.get("language")?,
        chosen_language: row.get("chosen_language")?,
        is_present: row.get("is_member")?,
    })
}

/// Finds a chat by its current Telegram id or a former one.
pub fn find(conn: &Reader, id: ChatId) -> Result<Option<ChatRow>> {
    let sql =
        format!("SELECT {COLUMNS} FROM chat_alias JOIN chat USING (chat_key) WHERE chat_alias.telegram_chat_id = :id");
    conn.map_first(&sql, params! { ":id": id }, from_row)
}

pub fn by_key(conn: &Reader, key: ChatKey) -> Result<Option<ChatRow>> {
    let sql = format!("SELECT {COLUMNS} FROM chat WHERE chat_key = :key");
    conn.map_first(&sql, params! { ":key": key }, from_row)
}

/// Returns every chat, oldest first.
pub fn all(conn: &Reader) -> Result<Vec<ChatRow>> {
    let sql = format!("SELECT {COLUMNS} FROM chat ORDER BY chat_key");
    conn.map(&sql, &[], from_row)
}

/// Returns at most `limit` groups that the bot is in, the newest group first.
pub fn groups(conn: &Reader, limit: u32) -> Result<Vec<ChatRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM chat WHERE is_member = 1 AND kind IN ('group', 'supergroup')
         ORDER BY chat_key DESC LIMIT :limit"
    );
    conn.map(&sql, params! { ":limit": limit }, from_row)
}

/// Returns groups that the bot is in and of which `user` is a stored member, at most `limit`, the newest first.
pub fn groups_of(conn: &Reader, user: UserId, limit: u32) -> Result<Vec<ChatRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM chat JOIN member USING (chat_key)
         WHERE user_id = :user AND is_member = 1 AND kind IN ('group', 'supergroup')
         ORDER BY chat_key DESC LIMIT :limit"
    );
    conn.map(&sql, params! { ":user": user, ":limit": limit }, from_row)
}

/// Finds a chat by its public name, without `@`.
pub fn by_username(conn: &Reader, username: &str) -> Result<Option<ChatRow>> {
    let sql = format!("SELECT {COLUMNS} FROM chat WHERE username = :username COLLATE NOCASE");
    conn.map_first(&sql, params! { ":username": username }, from_row)
}

/// Returns the ids of the chat and the message that a link names; `None` if no chat with its username is stored.
pub fn ids_of(conn: &Reader, place: &MessagePlace) -> Result<Option<(ChatId, MessageId)>> {
    match place {
        MessagePlace::Ids(chat, message) => Ok(Some((*chat, *message))),
        MessagePlace::Public { username, message } => {
            Ok(by_username(conn, username)?.map(|row| (row.chat.id, *message)))
        }
    }
}

/// Finds or creates the chat. Updates its kind, title and public name, but not when `chat` has a former Telegram id.
pub fn upsert(tx: &Writer<'_>, chat: &Chat) -> Result<ChatRow> {
    let Some(known) = find(tx, chat.id)? else {
        return create(tx, chat);
    };
    let current = known.chat.id == chat.id;
    if current && known.chat != *chat {
        tx.run(
            "UPDATE chat SET kind = :kind, title = :title, username = :username WHERE chat_key = :key",
            params! {
                ":kind": chat.kind, ":title": chat.title, ":username": chat.username, ":key": known.key,
            },
        )?;
        return Ok(ChatRow { chat: chat.clone(), ..known });
    }
    Ok(known)
}

pub(super) fn create(tx: &Writer<'_>, chat: &Chat) -> Result<ChatRow> {
    tx.run(
        "INSERT INTO chat (telegram_chat_id, kind, title, username) VALUES (:id, :kind, :title, :username)",
        params! {
            ":id": chat.id, ":kind": chat.kind, ":title": chat.title, ":username": chat.username,
        },
    )?;
    let key: ChatKey = tx.one("SELECT last_insert_rowid()", &[])?;
    set_alias(tx, chat.id, key)?;
    Ok(ChatRow { key, chat: chat.clone(), language: Language::DEFAULT, chosen_language: None, is_present: true })
}

pub(super) fn set_alias(tx: &Writer<'_>, id: ChatId, key: ChatKey) -> Result<()> {
    tx.run(
        "INSERT INTO chat_alias (telegram_chat_id, chat_key) VALUES (:id, :key)
         ON CONFLICT (telegram_chat_id) DO UPDATE SET chat_key = excluded.chat_key",
        params! { ":id": id, ":key": key },
    )
}

/// Records that Telegram refused to show a message to one member of the chat alone; `None` removes this.
pub fn set_ephemeral_refused(tx: &Writer<'_>, chat: ChatId, at: Option<Timestamp>) -> Result<()> {
    tx.run(
        "UPDATE chat SET ephemeral_refused_at = :at WHERE telegram_chat_id = :chat",
        params! { ":chat": chat, ":at": at },
    )
}

/// Returns `true` if Telegram refused to show a message to one member of the chat alone within the last day.
pub fn refuses_ephemeral(conn: &Reader, chat: ChatId, now: Timestamp) -> Result<bool> {
    const TRIED_AGAIN_AFTER: Duration = Duration::from_hours(24);
    conn.any(
        "SELECT 1 FROM chat WHERE telegram_chat_id = :chat AND ephemeral_refused_at > :since",
        params! { ":chat": chat, ":since": now.minus(TRIED_AGAIN_AFTER) },
    )
}

/// Records that the bot lacks the right to send to the chat; `None` removes this.
pub fn set_sending_refused(tx: &Writer<'_>, chat: ChatId, at: Option<Timestamp>) -> Result<()> {
    tx.run(
        "UPDATE chat SET sending_refused_at = :at WHERE telegram_chat_id = :chat",
        params! { ":chat": chat, ":at": at },
    )
}

/// Returns `true` if the bot lacked the right to send to the chat a few minutes ago. It may return without an update.
pub fn refuses_sending(conn: &Reader, chat: ChatId, now: Timestamp) -> Result<bool> {
    const TRIED_AGAIN_AFTER: Duration = Duration::from_mins(5);
    conn.any(
        "SELECT 1 FROM chat WHERE telegram_chat_id = :chat AND sending_refused_at BETWEEN :since AND :now",
        params! { ":chat": chat, ":since": now.minus(TRIED_AGAIN_AFTER), ":now": now },
    )
}

pub(super) const FAMILY: Family = Family {
    tables: &["chat", "chat_alias", "member"],
    moved: &[("chat_alias", None), ("member", None)],
    opted_out: drop_names_of,
    chat_gone: forget_names,
    ..Family::UNTOUCHED
};

/// Clears the stored name of a member who opted out. It stays while a stored message of the member shows it anyway.
fn drop_names_of(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.run(
        "UPDATE member SET name = '', username = NULL WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat)
         AND NOT EXISTS (SELECT 1 FROM message WHERE message.chat_key = member.chat_key
                             AND message.user_id = member.user_id AND is_stub = 0 AND role <> 'system')",
        params! { ":user": user, ":chat": scope.chat() },
    )?;
    match scope {
        OptOutScope::EveryChat => forget_private_name(tx, user),
        OptOutScope::Chat(_) => Ok(()),
    }
}

/// Clears the title and public name of a member's private chat. These are the member's own, and so is its Telegram id.
pub(super) fn forget_private_name(tx: &Writer<'_>, user: UserId) -> Result<()> {
    tx.run(
        "UPDATE chat SET title = NULL, username = NULL WHERE telegram_chat_id = :user AND kind = 'private'",
        params! { ":user": user },
    )
}

fn forget_names(tx: &Writer<'_>, chat: ChatKey, _: Timestamp) -> Result<()> {
    for sql in [
        "DELETE FROM member WHERE chat_key = :chat",
        "UPDATE chat SET title = NULL, username = NULL WHERE chat_key = :chat",
    ] {
        tx.run(sql, params! { ":chat": chat })?;
    }
    Ok(())
}

/// Returns the number for the chat's next message, and increases it.
pub fn next_seq(tx: &Writer<'_>, key: ChatKey) -> Result<Seq> {
    let key = params! { ":key": key };
    let seq = tx.one("SELECT next_seq FROM chat WHERE chat_key = :key", key)?;
    // RETURNING would create a temporary table for the one row, which is a tenth of the cost of storing a message.
    tx.run("UPDATE chat SET next_seq = next_seq + 1 WHERE chat_key = :key", key)?;
    Ok(seq)
}

pub fn set_language(tx: &Writer<'_>, key: ChatKey, language: Language) -> Result<()> {
    tx.run("UPDATE chat SET language = :language WHERE chat_key = :key", params! { ":language": language, ":key": key })
}

/// Records that another bot was seen in the chat: a command without a bot name may be meant for that one.
pub fn set_other_bots(tx: &Writer<'_>, key: ChatKey) -> Result<()> {
    tx.run("UPDATE chat SET has_other_bots = 1 WHERE chat_key = :key AND has_other_bots = 0", params! { ":key": key })
}

/// Returns `true` if another bot was seen in the chat.
pub fn has_other_bots(conn: &Reader, id: ChatId) -> Result<bool> {
    let found = conn.first(
        "SELECT has_other_bots FROM chat_alias JOIN chat USING (chat_key) WHERE chat_alias.telegram_chat_id = :id",
        params! { ":id": id },
    )?;
    Ok(found.unwrap_or(false))
}

pub fn set_present(tx: &Writer<'_>, key: ChatKey) -> Result<()> {
    tx.run("UPDATE chat SET is_member = 1, removed_at = NULL WHERE chat_key = :key", params! { ":key": key })
}

/// Sets the initial language of a chat to the language of the member who added the bot. Does nothing if one of the 64
/// oldest messages is not a stub: then the chat is not new.
pub fn set_first_language(tx: &Writer<'_>, key: ChatKey, language: Language) -> Result<()> {
    tx.run(
        "UPDATE chat SET language = :language WHERE chat_key = :key
         AND NOT EXISTS (SELECT 1 FROM (SELECT is_stub FROM message
             WHERE id BETWEEN :key << 32 AND (:key << 32) | 4294967295 ORDER BY id LIMIT 64) WHERE is_stub = 0)",
        params! { ":language": language, ":key": key },
    )
}

/// Records that the bot left the chat at `now`. If a time is already recorded, it stays.
pub fn set_removed(tx: &Writer<'_>, key: ChatKey, now: Timestamp) -> Result<()> {
    tx.run(
        "UPDATE chat SET is_member = 0, removed_at = coalesce(removed_at, :now) WHERE chat_key = :key",
        params! { ":now": now, ":key": key },
    )
}

/// Returns the retention period that the chat chose for its messages: `None` if it chose none, `Some(None)` for no
/// limit.
pub fn own_retention(conn: &Reader, key: ChatKey) -> Result<Option<Option<Duration>>> {
    let days: Option<usize> =
        conn.one("SELECT retention_days FROM chat WHERE chat_key = :key", params! { ":key": key })?;
    Ok(days.map(retention))
}

pub fn upsert_member(tx: &Writer<'_>, key: ChatKey, sender: &Sender) -> Result<()> {
    tx.run(
        "INSERT INTO member (chat_key, user_id, name, username) VALUES (:key, :user, :name, :username)
         ON CONFLICT (chat_key, user_id) DO UPDATE SET name = excluded.name, username = excluded.username, has_left = 0
         -- Most messages change nothing: leave the page clean.
         WHERE member.name IS NOT excluded.name OR member.username IS NOT excluded.username OR member.has_left = 1",
        params! {
            ":key": key, ":user": sender.id, ":name": sender.name, ":username": sender.username,
        },
    )
}

/// Notes that a member left a chat or was removed from it. The name stays, because messages and summaries show it.
pub fn set_left(tx: &Writer<'_>, key: ChatKey, user: UserId) -> Result<()> {
    tx.run(
        "UPDATE member SET has_left = 1 WHERE chat_key = :key AND user_id = :user",
        params! { ":key": key, ":user": user },
    )
}

/// Stores a member found in an old message. If the member is already stored, the stored name is newer and stays.
pub fn note_member(tx: &Writer<'_>, key: ChatKey, sender: &Sender) -> Result<()> {
    tx.run(
        "INSERT OR IGNORE INTO member (chat_key, user_id, name, username) VALUES (:key, :user, :name, :username)",
        params! {
            ":key": key, ":user": sender.id, ":name": sender.name, ":username": sender.username,
        },
    )
}

/// Returns the members whose names are stored for a chat, without those who opted out.
pub fn members(conn: &Reader, key: ChatKey) -> Result<Vec<Member>> {
    conn.all(
        "SELECT user_id, name, username FROM member WHERE chat_key = :key AND name <> ''
         AND NOT EXISTS (SELECT 1 FROM opt_out WHERE opt_out.user_id = member.user_id
                             AND +opt_out.chat_key IN (0, :key)) ORDER BY user_id",
        params! { ":key": key },
    )
}

pub fn is_known_member(conn: &Reader, user: UserId) -> Result<bool> {
    conn.one(
        "SELECT EXISTS (SELECT 1 FROM member JOIN chat USING (chat_key)
         WHERE user_id = :user AND kind <> 'private' AND is_member = 1 AND has_left = 0) AS known",
        params! { ":user": user },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::new_store;
    use crate::{Priority, messages};
    use chime_core::testkit::{CHAT, transcript};
    use chime_core::{Chat, ChatKind};

    #[tokio::test]
    async fn the_first_language_is_of_a_chat_without_words_whatever_its_first_number() {
        let (_folder, store) = new_store().await;
        let tried = store.write(Priority::Background, |tx| {
            let chat = Chat { id: CHAT, kind: ChatKind::Private, title: None, username: None };
            let row = upsert(tx, &chat)?;
            let language = |tx: &Writer<'_>| upsert(tx, &chat).map(|row| row.language.code());
            set_first_language(tx, row.key, Language::from_code("deu"))?;
            assert_eq!(language(tx)?, "deu");
            tx.prepare_cached("UPDATE chat SET next_seq = 100")?.execute([])?;
            messages::take_in(tx, &row, &transcript("10:00 ann#1 where is the key").remove(0).message)?;
            set_first_language(tx, row.key, Language::from_code("fra"))?;
            assert_eq!(language(tx)?, "deu", "retention took the first hundred messages, and one is left");
            Ok(())
        });
        tried.await.unwrap();
    }
}
