//! Suggestions that answers made, for example of films or products, and how later questions about them were understood.

use super::family::{Family, OptOutScope};
use super::sql::{Columns, Json, Statements, params};
use super::{Reader, Result, Writer};
use chime_core::{
    AnswerId, ChatKey, Conversation, FollowUp, ForumTopicId, Item, ItemId, Reset, Seq, Suggested, Timestamp, UserId,
};

/// Has no `words_gone`, because `answers::forget` deletes the rows together with their answer.
pub(super) const FAMILY: Family =
    Family { tables: &["follow_up"], moved: &[("follow_up", None)], opted_out, chat_gone, ..Family::UNTOUCHED };

/// Deletes every chain of suggestions that contains an answer based on the member's messages: later answers in a chain
/// repeat content of earlier ones.
fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.run(
        "DELETE FROM follow_up WHERE chain IN
         (SELECT taken.chain FROM message_in_answer AS said
          JOIN follow_up AS taken ON taken.answer_id = said.answer_id
          WHERE said.user_id = :user AND (:chat IS NULL OR said.chat_key = :chat))",
        params! { ":user": user, ":chat": scope.chat() },
    )
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    tx.run(
        "DELETE FROM follow_up WHERE chat_key = :chat AND created_at <= :until",
        params! { ":chat": chat, ":until": until },
    )
}

/// An answer in a chain of suggestions.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainedAnswer {
    pub answer: AnswerId,
    pub asked_by: UserId,
    pub trigger: Seq,
    pub created_at: Timestamp,
    pub resolved: FollowUp,
    /// Things that the answer listed; none if it answered a question about an earlier list.
    pub items: Vec<Item>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewFollowUp {
    pub answer: AnswerId,
    pub chat: ChatKey,
    pub forum_topic: Option<ForumTopicId>,
    pub created_at: Timestamp,
    pub resolved: FollowUp,
    pub items: Vec<Suggested>,
}

/// Stores how a question was understood and, if the answer suggested items, the suggestion with these items.
pub fn save(tx: &Writer<'_>, new: &NewFollowUp) -> Result<()> {
    let id = new.answer.0.to_string();
    // The chain keeps the wishes for another kind of thing too, so that forgetting reaches them.
    let follows = new.resolved.follows.filter(|_| new.resolved.reset != Some(Reset::StartOver));
    let chain_of = |before| tx.first("SELECT chain FROM follow_up WHERE answer_id = :id", params! { ":id": before });
    let chain = match follows.map(chain_of).transpose()? {
        Some(Some(chain)) => chain,
        // The chain was forgotten while the model answered, but the frame still contains its words.
        Some(None) => return Ok(()),
        None => id.clone(),
    };
    tx.run(
        "INSERT OR REPLACE INTO follow_up (answer_id, chat_key, forum_topic_id, chain, created_at, resolved, items)
         VALUES (:id, :chat, :forum_topic, :chain, :at, :resolved, :items)",
        params! {
            ":id": id, ":chat": new.chat, ":forum_topic": new.forum_topic, ":chain": chain,
            ":at": new.created_at, ":resolved": Json(&new.resolved), ":items": Json(&new.items),
        },
    )
}

/// Returns how the question behind an answer was understood, or `None` if nothing is stored.
pub fn find(conn: &Reader, answer: AnswerId) -> Result<Option<FollowUp>> {
    let found = conn.first("SELECT resolved FROM follow_up WHERE answer_id = :id", params! { ":id": answer })?;
    Ok(found.map(|Json(resolved)| resolved))
}

/// Returns the newest answer of each chain of suggestions in a conversation that lists things, newest first, at most
/// `limit`. Lists from before a member started over are left out.
pub fn newest_lists(conn: &Reader, conversation: Conversation, limit: u32) -> Result<Vec<AnswerId>> {
    conn.all(
        "SELECT max(answer_id) AS newest FROM follow_up
         WHERE chat_key = :chat AND forum_topic_id IS :forum_topic AND items <> '[]' AND NOT EXISTS (
             SELECT 1 FROM follow_up AS later
             WHERE later.chat_key = :chat AND later.forum_topic_id IS :forum_topic
             AND later.created_at > follow_up.created_at AND later.resolved ->> 'reset' = 'start_over')
         GROUP BY chain ORDER BY newest DESC LIMIT :limit",
        params! { ":chat": conversation.chat, ":forum_topic": conversation.forum_topic, ":limit": limit },
    )
}

/// Returns the answers in the chain of suggestions that contains `answer`, oldest first.
pub fn chain_of(conn: &Reader, answer: AnswerId) -> Result<Vec<ChainedAnswer>> {
    let read = |raw: &Columns<'_>| {
        Ok(ChainedAnswer {
            answer: raw.get("answer_id")?,
            asked_by: raw.get("asked_by")?,
            trigger: raw.get("trigger_seq")?,
            created_at: raw.get("created_at")?,
            resolved: raw.json("resolved")?,
            items: items(raw)?,
        })
    };
    conn.map(
        "SELECT answer_id, answer.asked_by, answer.trigger_seq, follow_up.created_at, resolved, items
         FROM follow_up JOIN answer ON answer.id = follow_up.answer_id
         WHERE chain = (SELECT chain FROM follow_up WHERE answer_id = :id) ORDER BY follow_up.created_at, answer_id",
        params! { ":id": answer },
        read,
    )
}

/// Returns the newest question with which a member of a conversation started over.
pub fn started_over(conn: &Reader, conversation: Conversation) -> Result<Option<Seq>> {
    conn.first(
        "SELECT answer.trigger_seq FROM follow_up JOIN answer ON answer.id = follow_up.answer_id
         WHERE follow_up.chat_key = :chat AND follow_up.forum_topic_id IS :forum_topic
               AND resolved ->> 'reset' = 'start_over'
         ORDER BY follow_up.created_at DESC LIMIT 1",
        params! { ":chat": conversation.chat, ":forum_topic": conversation.forum_topic },
    )
}

/// Returns the items that an answer suggested; none if it suggested none.
pub fn items_of(conn: &Reader, answer: AnswerId) -> Result<Vec<Item>> {
    let sql = "SELECT answer_id, items FROM follow_up WHERE answer_id = :id";
    Ok(conn.map_first(sql, params! { ":id": answer }, items)?.unwrap_or_default())
}

/// Deletes the suggestion of an answer and of all later answers in its chain, because these repeat its content. The
/// texts of the later answers stay.
pub fn forget(tx: &Writer<'_>, answer: AnswerId) -> Result<()> {
    tx.run(
        "DELETE FROM follow_up WHERE chain = (SELECT chain FROM follow_up WHERE answer_id = :id)
         AND created_at >= (SELECT created_at FROM follow_up WHERE answer_id = :id)",
        params! { ":id": answer },
    )
}

fn items(raw: &Columns<'_>) -> Result<Vec<Item>> {
    let (answer, shown): (_, Vec<Suggested>) = (raw.get("answer_id")?, raw.json("items")?);
    let item = |(place, shown): (u32, Suggested)| Item {
        id: ItemId { answer, position: shown.number.unwrap_or(place) },
        shown,
    };
    Ok((1..).zip(shown).map(item).collect())
}
