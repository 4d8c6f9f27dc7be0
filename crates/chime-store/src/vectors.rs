//! Vectors of messages. A vector is deleted together with the text that it was made from.

use std::collections::HashMap;

use super::embedding_spaces::{self, DueVector};
use super::family::{Cause, Family, OptOutScope};
use super::messages::VISIBLE;
use super::row::row_id;
use super::sql::{Statements, params};
use super::{Reader, Result, Writer};
use chime_core::{ChatId, ChatKey, Conversation, MessageId, Seq, StoredMessage, Timestamp, UserId, pack};

/// Stores the vectors that `model` made of messages. A message that was changed or forgotten, or whose author opted
/// out, since it was read gets none, and neither does one whose vector is empty or zero. Stores nothing and returns
/// `false` while vectors of another model are stored.
pub fn keep(tx: &Writer<'_>, model: &str, made: &[(DueVector, Vec<f32>)]) -> Result<bool> {
    let dimension = made.iter().map(|(_, vector)| vector.len()).max().unwrap_or(0);
    if dimension > 0 && !embedding_spaces::admits(tx, model, dimension)? {
        return Ok(false);
    }
    for (due, vector) in made {
        // A text that was changed since it was read stays due.
        tx.run(
            "DELETE FROM vector_due WHERE ts = :ts AND id = :id
             AND (:text IS NULL OR NOT EXISTS (SELECT 1 FROM message WHERE id = :id AND text <> :text))",
            params! { ":ts": due.sent_at, ":id": due.id, ":text": due.text },
        )?;
        let (Some(text), Some(packed)) = (&due.text, pack(vector)) else { continue };
        tx.run("DELETE FROM message_vector WHERE id = :id", params! { ":id": due.id })?;
        tx.run(
            &format!(
                "INSERT INTO message_vector (id, vector)
                 SELECT id, :vector FROM message WHERE id = :id AND text = :text AND {VISIBLE}"
            ),
            params! { ":id": due.id, ":text": text, ":vector": packed },
        )?;
    }
    Ok(true)
}

/// Returns the vectors that `model` made of a conversation's newest `limit` messages before `moment`.
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
             JOIN vector_space ON model = :model"
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
    Ok(rows.into_iter().collect())
}

pub fn find(conn: &Reader, chat: ChatKey, seq: Seq, model: &str) -> Result<Option<Vec<f32>>> {
    conn.first(
        "SELECT vector FROM message_vector JOIN vector_space ON model = :model WHERE message_vector.id = :id",
        params! { ":id": row_id(chat, seq), ":model": model },
    )
}

pub(super) const FAMILY: Family = Family {
    // Triggers keep `vector_due` as the messages are.
    tables: &["message_vector", "vector_due"],
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
    // Messages that came after the request stay, and so do their vectors.
    tx.run(
        "DELETE FROM message_vector WHERE id BETWEEN :from AND :to
         AND NOT EXISTS (SELECT 1 FROM message WHERE message.id = message_vector.id)",
        params! { ":from": row_id(chat, Seq(0)), ":to": row_id(chat, Seq(u32::MAX)) },
    )
}

fn forget_member(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.run(
        "DELETE FROM message_vector WHERE id IN
         (SELECT id FROM message WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat))",
        params! { ":user": user, ":chat": scope.chat() },
    )
}

/// Marks the messages of a member who opted in as without a vector, so that vectors are made for them.
pub(super) fn make_again(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.run(
        "INSERT OR IGNORE INTO vector_due (ts, id) SELECT ts, id FROM message
         WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat) AND text <> ''
               AND NOT EXISTS (SELECT 1 FROM message_vector WHERE message_vector.id = message.id)",
        params! { ":user": user, ":chat": scope.chat() },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forget::{self, ForgetOptions, Replacement};
    use crate::row::seq_of;
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
                let open = embedding_spaces::due(tx, 10)?;
                assert_eq!(open.iter().map(|it| seq_of(it.id).0).collect::<Vec<_>>(), [1, 2, 4, 5]);
                let made: Vec<(DueVector, Vec<f32>)> = open.into_iter().map(|one| (one, vec![0.6, 0.8])).collect();
                assert!(keep(tx, MODEL, &made)?);
                assert_eq!((known(tx)?, embedding_spaces::due(tx, 10)?.len()), (vec![1, 2, 4, 5], 0));
                assert!(!keep(tx, "another", &made)?, "vectors of two models are never beside each other");

                let edited =
                    Message { text: "the door code is gone".to_owned(), edited_at: Some(LATER.0), ..said[0].clone() };
                messages::take_in(tx, &row, &edited)?;
                assert_eq!(known(tx)?, [2, 4, 5], "an edit");
                assert!(keep(tx, MODEL, &made[..1])?);
                assert_eq!(known(tx)?, [2, 4, 5], "the old words came back too late");
                let due: Vec<Option<String>> = embedding_spaces::due(tx, 10)?.into_iter().map(|one| one.text).collect();
                assert_eq!(due, [Some("the door code is gone".to_owned())]);
                let options =
                    ForgetOptions { cause: Cause::Forgotten, replacement: Replacement::Stub, repeats: |_, _| false };
                forget::messages(tx, &[(ChatKey(1), Seq(4))], options)?;
                assert_eq!(known(tx)?, [2, 5], "forgotten");
                consent::opt_out(tx, OptOutScope::Chat(ChatKey(1)), &said[1].sender, Timestamp::from_secs(9))?;
                let left: u32 = tx.query_row("SELECT count(*) AS n FROM message_vector", [], |raw| raw.get("n"))?;
                assert_eq!(left, 0, "opted out");
                consent::opt_in(tx, OptOutScope::Chat(ChatKey(1)), said[1].sender.id)?;
                let mut due: Vec<u32> = embedding_spaces::due(tx, 10)?.iter().map(|it| seq_of(it.id).0).collect();
                due.sort_unstable();
                assert_eq!(due, [1, 2, 5], "opted in");
                Ok(())
            })
            .await
            .unwrap();
    }
}
