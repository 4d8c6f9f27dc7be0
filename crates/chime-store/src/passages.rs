//! Reading of messages for searches: only the columns that a search needs.

use super::messages::VISIBLE;
use super::row::row_id;
use super::sql::{Columns, Json, Statements, params};
use super::{Reader, Result};
use chime_core::{
    ChatKey, Conversation, Entity, ForumTopicId, Kind, MessageId, Seq, Timestamp, UserId, hidden_links, searched_text,
    with_marks,
};

/// Message with only the data that a search needs.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredPassage {
    pub seq: Seq,
    pub id: MessageId,
    pub forum_topic: Option<ForumTopicId>,
    pub author: UserId,
    pub is_own: bool,
    pub sent_at: Timestamp,
    pub reply_to: Option<MessageId>,
    pub kind: Kind,
    /// Words by which a search finds it.
    pub text: String,
    /// Stored vector; empty if there is none or none was requested.
    pub vector: Vec<f32>,
}

/// Returns the messages of a chat, in all forum topics, whose numbers are in `from..=to`, sorted by number; with their
/// vectors on request. Without stubs and messages of members who opted out.
pub fn in_range(conn: &Reader, with_vectors: bool, chat: ChatKey, from: Seq, to: Seq) -> Result<Vec<StoredPassage>> {
    conn.map(&format!(
        "SELECT {COLUMNS}, (SELECT vector FROM message_vector WHERE message_vector.id = message.id AND :with_vectors) AS vector
         FROM message WHERE id BETWEEN :from AND :to AND {VISIBLE} AND role <> 'system' ORDER BY id"
    ), params! { ":with_vectors": with_vectors, ":from": row_id(chat, from), ":to": row_id(chat, to) }, |row| {
        let passage = from_columns(row)?;
        Ok(StoredPassage { vector: row.get::<Option<_>>("vector")?.unwrap_or_default(), ..passage })
    })
}

/// Filter for messages of members that are older than a given message.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    pub chat: ChatKey,
    /// Conversation to search; `None` for all forum topics of the chat.
    pub conversation: Option<Conversation>,
    pub before: Seq,
    /// Time range of the messages: start included, end excluded.
    pub within: Option<(Timestamp, Timestamp)>,
    pub by: Option<UserId>,
}

/// Returns the newest messages that match the filter, newest first, at most `limit`. They have no vectors.
pub fn newest(conn: &Reader, wanted: &Wanted, limit: u32) -> Result<Vec<StoredPassage>> {
    let by = if wanted.by.is_some() { "user_id = :by AND" } else { ":by IS NULL AND" };
    let forum_topic =
        if wanted.conversation.is_some() { "forum_topic_id IS :forum_topic AND" } else { ":forum_topic IS NULL AND" };
    let sql = format!(
        "SELECT {COLUMNS} FROM message
         WHERE {by} chat_key = :chat AND {forum_topic} ts >= :from AND ts < :until AND seq < :before AND {VISIBLE} AND role = 'user'
         ORDER BY ts DESC LIMIT :limit");
    let (from, until) = wanted.within.map_or((i64::MIN, i64::MAX), |(from, until)| (from.secs(), until.secs()));
    let params = params! {
        ":by": wanted.by, ":chat": wanted.chat, ":from": from, ":until": until,
        ":before": wanted.before, ":limit": limit,
        ":forum_topic": wanted.conversation.and_then(|one| one.forum_topic),
    };
    conn.map(&sql, params, from_columns)
}

/// What a message has besides words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attachment {
    Link,
    /// Document, audio or video file.
    File,
    Photo,
}

impl Attachment {
    /// Returns the SQL condition for messages with such an attachment.
    fn condition(self) -> &'static str {
        match self {
            Self::Link => "(instr(text, '://') OR instr(text, 'www.') OR instr(entities, '\"text_link\"'))",
            Self::File => "kind IN ('document', 'audio', 'video')",
            Self::Photo => "kind = 'photo'",
        }
    }
}

/// Maximum number of messages of a chat, member, forum topic or time that [`matching`] reads.
const SEARCHED: u32 = 2000;

/// Returns the times and numbers of the newest messages that match the filter and have the attachment, newest first, at
/// most `limit`. With `among`, only those with these numbers.
pub fn matching(
    conn: &Reader,
    wanted: &Wanted,
    has: Option<Attachment>,
    among: Option<&[Seq]>,
    limit: u32,
) -> Result<Vec<(Timestamp, Seq)>> {
    let (by, topic) = (wanted.by, wanted.conversation);
    // The index is named because the planner reads the whole chat when it expects to find enough soon.
    let (index, which) = match (by, topic) {
        (Some(_), None) => ("message_by_author", "user_id = :by AND :topic IS NULL"),
        (Some(_), Some(_)) => ("message_by_author", "user_id = :by AND forum_topic_id IS :topic"),
        (None, Some(_)) => ("message_in_conversation", ":by IS NULL AND forum_topic_id IS :topic"),
        (None, None) => ("message_by_age", ":by IS NULL AND :topic IS NULL"),
    };
    let listed = "SELECT value FROM json_each(:among)";
    let within = match among {
        Some(_) if by.is_none() && topic.is_none() => format!("{listed} WHERE {which}"),
        _ => format!(
            "SELECT id FROM message INDEXED BY {index}
             WHERE {which} AND chat_key = :chat AND ts >= :from AND ts < :until AND (:among IS NULL OR id IN ({listed}))
             ORDER BY ts DESC LIMIT {SEARCHED}"
        ),
    };
    let has = has.map_or("TRUE", Attachment::condition);
    // The unary plus keeps SQLite from reading the chat in the order of time.
    let sql = format!(
        "SELECT ts, seq FROM message
         WHERE id IN ({within}) AND {has} AND +ts >= :from AND +ts < :until AND seq < :before AND {VISIBLE} AND role = 'user'
         AND +chat_key = :chat
         ORDER BY +ts DESC, id DESC LIMIT :limit");
    let (from, until) = wanted.within.map_or((i64::MIN, i64::MAX), |(from, until)| (from.secs(), until.secs()));
    let among = among.map(|seqs| Json(seqs.iter().map(|seq| row_id(wanted.chat, *seq)).collect::<Vec<_>>()));
    conn.all(
        &sql,
        params! {
            ":by": by, ":topic": topic.and_then(|one| one.forum_topic), ":chat": wanted.chat, ":among": among,
            ":from": from, ":until": until, ":before": wanted.before, ":limit": limit,
        },
    )
}

/// Returns the lowest and the highest number of the messages of a chat that were sent in `from..until`. An import may
/// store older messages between them. `None` if there are no messages.
pub fn numbers_between(conn: &Reader, chat: ChatKey, from: Timestamp, until: Timestamp) -> Result<Option<(Seq, Seq)>> {
    conn.first(
        "SELECT min(id) & 4294967295, max(id) & 4294967295 FROM message INDEXED BY message_by_age
         WHERE chat_key = :chat AND ts >= :from AND ts < :until HAVING count(*) > 0",
        params! { ":chat": chat, ":from": from.secs(), ":until": until.secs() },
    )
}

const COLUMNS: &str = "seq, message_id, forum_topic_id, user_id, role = 'assistant' AS is_own, ts, reply_to_id, kind, kind_detail, text, \
                       CASE WHEN instr(entities, '\"text_link\"') AND role = 'user' THEN entities END AS links";

/// Converts a row with the columns [`COLUMNS`]. The vector stays empty.
fn from_columns(columns: &Columns<'_>) -> Result<StoredPassage> {
    Ok(StoredPassage {
        seq: columns.get("seq")?,
        id: columns.get("message_id")?,
        forum_topic: columns.get("forum_topic_id")?,
        author: columns.get("user_id")?,
        is_own: columns.get("is_own")?,
        sent_at: Timestamp::from_secs(columns.get("ts")?),
        reply_to: columns.get("reply_to_id")?,
        kind: columns.get("kind")?,
        text: {
            let text: String = columns.get("text")?;
            let entities: Option<String> = columns.get("links")?;
            let entities: Vec<Entity> = entities.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
            let detail: Option<String> = columns.get("kind_detail")?;
            let text = with_marks(&text, hidden_links(&text, &entities));
            searched_text(text, columns.get("kind")?, detail.as_deref()).into_owned()
        },
        vector: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::new_store;
    use crate::{Priority, chats, messages};
    use chime_core::testkit::moment;
    use chime_core::{Chat, ChatId, ChatKind, Message, Sender};

    #[tokio::test]
    async fn the_newest_messages_that_match_all_filters_are_found() {
        let (_folder, store) = new_store().await;
        let found = store
            .write(Priority::Background, |tx| {
                let title = Some("Club".to_owned());
                let chat = Chat { id: ChatId(-1), kind: ChatKind::Supergroup, title, username: None };
                let row = chats::upsert(tx, &chat)?;
                for number in 0_i64..8 {
                    let sender = Sender::person(UserId(7 + number % 2), "Ann".to_owned());
                    let sent_at = moment("10:00").plus(std::time::Duration::from_secs(number.unsigned_abs()));
                    let message = Message {
                        text: if number < 4 { "see www.example.org".to_owned() } else { "see there".to_owned() },
                        kind: if number == 6 { Kind::Photo } else { Kind::Text },
                        forum_topic: (number > 1).then_some(ForumTopicId(5)),
                        ..Message::new(chat.id, MessageId(100 + number), sender, sent_at)
                    };
                    messages::take_in(tx, &row, &message)?;
                }
                // An import brings older messages later.
                let imported = Sender::person(UserId(9), "Ben".to_owned());
                messages::take_in(tx, &row, &Message::new(chat.id, MessageId(1), imported, moment("09:00")))?;
                let all = Wanted { chat: row.key, conversation: None, before: Seq(20), within: None, by: None };
                let by = Wanted { by: Some(UserId(7)), ..all };
                let topic = Conversation { chat: row.key, forum_topic: Some(ForumTopicId(5)) };
                let here = Wanted { conversation: Some(topic), ..all };
                let early = Wanted {
                    within: Some((moment("10:00"), moment("10:00").plus(std::time::Duration::from_secs(2)))),
                    ..all
                };
                let ids = |wanted: &Wanted, has, among: Option<&[u32]>| -> Result<Vec<u32>> {
                    let among: Option<Vec<Seq>> = among.map(|seqs| seqs.iter().map(|seq| Seq(*seq)).collect());
                    let found = matching(tx, wanted, has, among.as_deref(), 3)?;
                    Ok(found.into_iter().map(|(_, seq)| seq.0).collect())
                };
                Ok([
                    ids(&all, None, None)?,
                    ids(&by, None, None)?,
                    ids(&here, Some(Attachment::Link), None)?,
                    ids(&Wanted { conversation: Some(topic), ..by }, None, Some(&[1, 3, 4]))?,
                    ids(&all, Some(Attachment::Photo), Some(&[1, 7]))?,
                    ids(&all, Some(Attachment::File), None)?,
                    ids(&early, Some(Attachment::Link), None)?,
                    ids(&by, None, Some(&[2, 4]))?,
                    ids(&Wanted { before: Seq(2), ..all }, None, Some(&[1, 2, 3]))?,
                ])
            })
            .await
            .expect("a search");
        let expected: [&[u32]; 9] = [&[8, 7, 6], &[7, 5, 3], &[4, 3], &[3], &[7], &[], &[2, 1], &[], &[1]];
        assert_eq!(found.each_ref().map(Vec::as_slice), expected);
    }
}
