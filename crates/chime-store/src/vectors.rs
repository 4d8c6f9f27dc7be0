//! Vectors of messages. A vector is deleted together with the text that it was made from.

use std::collections::HashMap;

use super::family::{Cause, Family, OptOutScope};
use super::messages::VISIBLE;
use super::row::row_id;
use super::sql::{Statements, params, rows};
use super::{Reader, Result, Writer, embedding_spaces};
use chime_core::{ChatId, ChatKey, Conversation, MessageId, Seq, StoredMessage, Timestamp, UserId, pack};

/// Message for which a model has not yet made a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    pub chat: ChatKey,
    pub seq: Seq,
    pub text: String,
}

rows! {
    Unread { chat = "chat_key", seq, text }
}

/// Returns the messages among the newest `within` of a conversation that have no vector of `model`, newest first, at
/// most `most`.
pub fn unread(
    conn: &Reader,
    conversation: Conversation,
    model: &str,
    within: usize,
    most: usize,
) -> Result<Vec<Unread>> {
    conn.all(
        &format!(
            "SELECT chat_key, seq, text FROM (
                 SELECT id, chat_key, seq, text FROM message
                 WHERE chat_key = :chat AND forum_topic_id IS :forum_topic AND {VISIBLE} AND role <> 'system'
                 ORDER BY ts DESC, message_id DESC LIMIT :within) AS newest
             WHERE trim(text) <> ''
                   AND NOT EXISTS (SELECT 1 FROM message_vector JOIN vector_space ON vector_space.id = space
                                   WHERE message_vector.id = newest.id AND model = :model)
             LIMIT :most"
        ),
        params! {
            ":chat": conversation.chat, ":forum_topic": conversation.forum_topic, ":model": model,
            ":within": within, ":most": most,
        },
    )
}

/// Stores the vector of a message, unless the message was changed or forgotten, or its author opted out, since it was
/// read.
pub fn keep(tx: &Writer<'_>, of: &Unread, model: &str, vector: &[f32]) -> Result<()> {
    let space = embedding_spaces::ensure(tx, model, vector.len())?;
    keep_in(tx, space.id, row_id(of.chat, of.seq), &of.text, vector)
}

/// Stores a vector in an existing space. `id` is the row id of the message and `text` the text from which the vector
/// was made: nothing is stored if the message has another text by now. A zero vector is not stored.
pub fn keep_in(tx: &Writer<'_>, space: i64, id: i64, text: &str, vector: &[f32]) -> Result<()> {
    tx.run("DELETE FROM message_vector WHERE id = :id AND space = :space", params! { ":id": id, ":space": space })?;
    let Some(packed) = pack(vector) else { return Ok(()) };
    tx.run(
        &format!(
            "INSERT INTO message_vector (id, space, vector)
             SELECT id, :space, :vector FROM message WHERE id = :id AND text = :text AND {VISIBLE}"
        ),
        params! { ":id": id, ":text": text, ":space": space, ":vector": packed },
    )
}

/// Returns the vectors of a conversation's newest `limit` messages before `moment`. If their dimensions differ because
/// the model was changed, returns only those with the dimension of the newest.
pub fn before(
    conn: &Reader,
    conversation: Conversation,
    moment: (Timestamp, MessageId),
    model: &str,
    limit: usize,
) -> Result<HashMap<(ChatId, MessageId), Vec<f32>>> {
    let rows = conn.map(
        &format!(
            "SELECT telegram_chat_id, message_id, vector FROM (
                 SELECT id, telegram_chat_id, message_id FROM message
                 WHERE chat_key = :chat AND forum_topic_id IS :forum_topic AND (ts, message_id) < (:ts, :id)
                       AND {VISIBLE} AND role <> 'system'
                 ORDER BY ts DESC, message_id DESC LIMIT :limit) AS newest
             JOIN message_vector ON message_vector.id = newest.id
             JOIN vector_space ON vector_space.id = space AND model = :model"
        ),
        params! {
            ":chat": conversation.chat, ":forum_topic": conversation.forum_topic, ":ts": moment.0.secs(),
            ":id": moment.1, ":model": model, ":limit": limit,
        },
        |raw| {
            let place = (raw.get("telegram_chat_id")?, raw.get("message_id")?);
            Ok((place, raw.get("vector")?))
        },
    )?;
    let mut found: HashMap<_, Vec<f32>> = rows.into_iter().collect();
    let dimension = found.iter().max_by_key(|((_, id), _)| *id).map_or(0, |(_, vector)| vector.len());
    found.retain(|_, vector| vector.len() == dimension);
    Ok(found)
}

pub fn find(conn: &Reader, chat: ChatKey, seq: Seq, model: &str) -> Result<Option<Vec<f32>>> {
    conn.first(
        "SELECT vector FROM message_vector JOIN vector_space ON vector_space.id = space
         WHERE message_vector.id = :id AND model = :model ORDER BY space DESC LIMIT 1",
        params! { ":id": row_id(chat, seq), ":model": model },
    )
}

pub(super) const FAMILY: Family = Family {
    tables: &["message_vector"],
    words_gone: forget,
    opted_out: forget_member,
    chat_gone,
    // New ones are made for the new numbers of their messages.
    merged: |tx, chats| chat_gone(tx, chats.from, Timestamp::default()),
    ..Family::UNTOUCHED
};

/// Deletes the vectors of a message whose text is changed or deleted.
fn forget(tx: &Writer<'_>, stored: &StoredMessage, _: Cause) -> Result<()> {
    tx.run("DELETE FROM message_vector WHERE id = :id", params! { ":id": row_id(stored.chat, stored.seq) })
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, _: Timestamp) -> Result<()> {
    tx.run(
        "DELETE FROM message_vector WHERE id BETWEEN :from AND :to",
        params! { ":from": row_id(chat, Seq(0)), ":to": row_id(chat, Seq(u32::MAX)) },
    )
}

fn forget_member(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    let chat = scope.chat().map(|key| key.0);
    tx.run(
        "DELETE FROM message_vector WHERE id IN
         (SELECT id FROM message WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat))",
        params! { ":user": user, ":chat": chat },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forget::{self, ForgetOptions, Replacement};
    use crate::testkit::new_store;
    use crate::{Priority, chats, consent, messages};
    use chime_core::testkit::{CHAT, transcript};
    use chime_core::{Chat, ChatKind, Message};

    const MODEL: &str = "small";
    const HERE: Conversation = Conversation { chat: ChatKey(1), forum_topic: None };
    const LATER: (Timestamp, MessageId) = (Timestamp::END, MessageId(i64::MAX));

    fn known(conn: &Reader) -> Result<Vec<i64>> {
        let mut ids: Vec<i64> = before(conn, HERE, LATER, MODEL, 10)?.keys().map(|(_, id)| id.0).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    #[tokio::test]
    async fn vectors_go_with_the_words_that_they_were_made_of() {
        let (_folder, store) = new_store().await;
        let chat = Chat { id: CHAT, kind: ChatKind::Supergroup, title: None, username: None };
        let said: Vec<Message> = transcript(
            "
            10:00 ann#1 the door code is 4711
            10:01 ben#2 thanks
            10:02 ann#3 [photo]
            10:03 cat#4 who has the key?
            10:04 ben#5 I have it
            ",
        )
        .into_iter()
        .map(|stored| stored.message)
        .collect();
        store
            .write(Priority::Answering, move |tx| {
                let row = chats::upsert(tx, &chat)?;
                for message in &said {
                    messages::take_in(tx, &row, message)?;
                }
                let open = unread(tx, HERE, MODEL, 10, 10)?;
                assert_eq!(open.iter().map(|it| it.seq.0).collect::<Vec<_>>(), [5, 4, 2, 1]);
                for one in &open {
                    keep(tx, one, MODEL, &[0.6, 0.8])?;
                }
                assert_eq!((known(tx)?, unread(tx, HERE, MODEL, 10, 10)?.len()), (vec![1, 2, 4, 5], 0));
                assert_eq!(unread(tx, HERE, "another", 10, 2)?.len(), 2, "another model has none of them");

                let edited =
                    Message { text: "the door code is gone".to_owned(), edited_at: Some(LATER.0), ..said[0].clone() };
                messages::take_in(tx, &row, &edited)?;
                assert_eq!(known(tx)?, [2, 4, 5], "an edit");
                keep(tx, &open[3], MODEL, &[0.6, 0.8])?;
                assert_eq!(known(tx)?, [2, 4, 5], "the old words came back too late");
                let options =
                    ForgetOptions { cause: Cause::Forgotten, replacement: Replacement::Stub, repeats: |_, _| false };
                forget::messages(tx, &[(ChatKey(1), Seq(4))], options)?;
                assert_eq!(known(tx)?, [2, 5], "forgotten");
                consent::opt_out(tx, OptOutScope::Chat(ChatKey(1)), said[1].sender.id, Timestamp::from_secs(9))?;
                let left: u32 = tx.query_row("SELECT count(*) AS n FROM message_vector", [], |raw| raw.get("n"))?;
                assert_eq!(left, 0, "opted out");
                Ok(())
            })
            .await
            .unwrap();
    }
}
