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
        let entry = |chat, seq| Indexed { chat, seq, text: stored.message.searched_text(), author: &author, language };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reminders::{self, Reminder};
    use crate::testkit::new_store;
    use crate::{Priority, answers, notes};
    use chime_core::testkit::moment;
    use chime_core::{
        AnswerId, AnswerRecord, AnswerStatus, ChatKey, Chosen, Message, MessageId, Reason, Sender, Seq, SourceRef,
        TokenUse, UserId,
    };

    fn answer(chat: ChatKey) -> AnswerRecord {
        AnswerRecord {
            id: AnswerId(ulid::Ulid(1)),
            chat,
            forum_topic: None,
            trigger: Seq(2),
            asked_by: UserId(7),
            created_at: moment("10:00"),
            status: AnswerStatus::Answered,
            text: "At eight [m1].".to_owned(),
            anchor: None,
            window: vec![Chosen { seq: Seq(1), id: MessageId(1), reason: Reason::Cluster, score: 1.0 }],
            omitted: vec![],
            slots: vec![],
            sources: vec![SourceRef { id: "m1".to_owned(), text: "dinner at eight".to_owned() }],
            model: "test".to_owned(),
            tokens: TokenUse::default(),
            latency_ms: 1,
            uncertainty: None,
            guard_used: false,
            removed: vec![],
        }
    }

    /// Returns a reminder that the first message of a chat asked for.
    fn reminder(row: &ChatRow) -> Reminder {
        Reminder {
            chat: row.key,
            forum_topic: None,
            asked_by: UserId(7),
            seq: Seq(1),
            asked_in: row.chat.id,
            message: MessageId(1),
            began: MessageId(1),
            due_at: moment("11:00"),
            repeat: None,
            until: None,
        }
    }

    #[tokio::test]
    async fn answers_notes_and_reminders_keep_their_messages_in_the_merged_chat() {
        let (_folder, store) = new_store().await;
        let work = |tx: &Writer<'_>| -> Result<()> {
            let chat = |id, kind| chats::upsert(tx, &Chat { id: ChatId(id), kind, title: None, username: None });
            let (old, new) = (chat(-1, ChatKind::Group)?, chat(-100, ChatKind::Supergroup)?);
            for (row, number) in [(&old, 1), (&new, 1), (&new, 2)] {
                let sender = Sender::person(UserId(7), "Ann".to_owned());
                messages::take_in(tx, row, &Message::new(row.chat.id, MessageId(number), sender, moment("10:00")))?;
            }
            for key in [old.key, new.key, new.key] {
                let (title, pieces) = ("rules".to_owned(), vec!["no shoes".to_owned()]);
                let sources = vec![Seq(1)];
                notes::add(tx, &notes::NewNote { chat: key, title, saved_at: moment("10:01"), sources, pieces })?;
            }
            for row in [&old, &new] {
                reminders::set(tx, &reminder(row))?;
            }
            let before = answer(new.key);
            answers::save(tx, &before)?;
            migrate(tx, Migration { from: old.chat.id, to: new.chat.id })?;
            let after = answers::find(tx, before.id)?.expect("the answer");
            assert_eq!((after.chat, after.trigger, after.window[0].seq), (old.key, Seq(66), Seq(65)));
            assert_eq!(
                (after.sources[0].id.as_str(), answers::grounds(tx, before.id)?),
                ("m65", vec![Seq(65), Seq(66)])
            );
            let kept: Vec<(u32, Vec<Seq>)> =
                notes::of_chat(tx, old.key)?.into_iter().map(|note| (note.number, note.sources)).collect();
            assert_eq!(kept, [(1, vec![Seq(1)]), (2, vec![Seq(65)]), (3, vec![Seq(65)])]);
            let asked: Vec<Seq> = reminders::of_chat(tx, old.key)?.iter().map(|(_, reminder)| reminder.seq).collect();
            assert_eq!(asked, [Seq(1), Seq(65)]);
            assert_eq!(chats::next_seq(tx, old.key)?, Seq(67));
            Ok(())
        };
        store.write(Priority::Background, work).await.expect("a merge");
    }
}
