//! Change of a basic group into a supergroup, which gives it another Telegram id, and the merge of two stored chats
//! that turn out to be the same.

use super::answer_sources::BLOCK;
use super::chats::{self, ChatRow, create, find, set_alias};
use super::family::Merged;
use super::search::Indexed;
use super::sql::{Statements, params};
use super::{Result, Writer, derived, messages, search, sessions};
use chime_core::{Chat, ChatId, ChatKey, ChatKind, Conversation, Migration};

/// Changes a basic group into a supergroup. Telegram sends two service messages about it, in either order, and the
/// second one changes nothing. If messages of the supergroup are already stored as a chat of their own, they are moved
/// to the older chat.
pub fn migrate(tx: &Writer<'_>, migration: Migration) -> Result<()> {
    match (find(tx, migration.from)?, find(tx, migration.to)?) {
        (Some(old), Some(new)) if old.key == new.key => {}
        (Some(old), Some(new)) => merge(tx, &old, &new)?,
        (Some(old), None) => adopt(tx, old.key, migration.to)?,
        (None, Some(new)) => set_alias(tx, migration.from, new.key)?,
        (None, None) => {
            let chat = Chat { id: migration.to, kind: ChatKind::Supergroup, title: None, username: None };
            let created = create(tx, &chat)?;
            set_alias(tx, migration.from, created.key)?;
        }
    }
    Ok(())
}

/// Makes `to` the current Telegram id of the chat.
fn adopt(tx: &Writer<'_>, key: ChatKey, to: ChatId) -> Result<()> {
    set_alias(tx, to, key)?;
    tx.run(
        "UPDATE chat SET telegram_chat_id = :to, kind = 'supergroup' WHERE chat_key = :key",
        params! { ":to": to, ":key": key },
    )
}

fn merge(tx: &Writer<'_>, old: &ChatRow, new: &ChatRow) -> Result<()> {
    let last = chats::next_seq(tx, old.key)?;
    let chats = Merged { into: old.key, from: new.key, shift: last.0.next_multiple_of(BLOCK) };
    for stored in messages::all_of(tx, new.key)? {
        let language = messages::stem_language(tx, stored.chat, stored.seq)?;
        let author = stored.message.sender.name.clone();
        let entry =
            |chat, seq| Indexed { chat, seq, text: stored.message.text_with_links(), author: &author, language };
        search::remove(tx, &entry(stored.chat, stored.seq))?;
        search::insert(tx, &entry(old.key, chats.number(stored.seq)))?;
        let conversation = Conversation { chat: old.key, forum_topic: stored.message.forum_topic };
        sessions::note(tx, conversation, stored.message.sent_at)?;
    }
    for sql in [
        "UPDATE message SET id = (:into << 32) + seq + :shift, chat_key = :into, seq = seq + :shift WHERE chat_key = :from",
        "UPDATE chat SET next_seq = :shift + (SELECT next_seq FROM chat AS other WHERE other.chat_key = :from)
         WHERE chat_key = :into",
    ] {
        chats.run(tx, sql)?;
    }
    derived::merged(tx, chats)?;
    tx.run("DELETE FROM chat WHERE chat_key = :from", params! { ":from": new.key })?;
    adopt(tx, old.key, new.chat.id)
}
