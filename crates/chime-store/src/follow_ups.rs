//! Suggestions that answers made, for example of films or products, and how later questions about them were understood.

use std::collections::BTreeSet;

use super::family::{Family, OptOutScope};
use super::sql::{Columns, Json, Statements, params};
use super::{Reader, Result, Writer, outbox};
use chime_core::{
    AnswerId, ChatKey, Conversation, FollowUp, ForumTopicId, Frame, Item, ItemId, MessageId, Reset, Seq, Suggested,
    Timestamp, UserId,
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

/// Suggestions of one answer, about which a later question may ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    pub answer: AnswerId,
    pub frame: Frame,
    pub asked_by: UserId,
    /// Members who asked for any suggestion of this chain.
    pub members: BTreeSet<UserId>,
    pub trigger: Seq,
    /// Id of the answer that began this chain of suggestions.
    pub chain: AnswerId,
    /// Messages that show the answer.
    pub carriers: BTreeSet<MessageId>,
    pub created_at: Timestamp,
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

/// Returns the triggers of all answers in the chain of `answer`. The frame contains their words.
pub fn triggers_of_chain(conn: &Reader, answer: AnswerId) -> Result<Vec<Seq>> {
    conn.all(
        "SELECT answer.trigger_seq FROM follow_up JOIN answer ON answer.id = follow_up.answer_id
         WHERE follow_up.chain = (SELECT chain FROM follow_up WHERE answer_id = :id)",
        params! { ":id": answer },
    )
}

/// Returns how the question behind an answer was understood, or `None` if nothing is stored.
pub fn find(conn: &Reader, answer: AnswerId) -> Result<Option<FollowUp>> {
    let found = conn.first("SELECT resolved FROM follow_up WHERE answer_id = :id", params! { ":id": answer })?;
    Ok(found.map(|Json(resolved)| resolved))
}

/// SQL that reads the columns of a [`Suggestion`]. A condition must follow.
const SUGGESTIONS: &str =
    "SELECT follow_up.answer_id, resolved, answer.asked_by, follow_up.created_at, answer.trigger_seq, chain
     FROM follow_up JOIN answer ON answer.id = follow_up.answer_id WHERE items <> '[]'";

/// Returns the suggestions made in a conversation, newest first, at most `limit`, without those that a member ended by
/// starting over.
pub fn suggestions(
    conn: &Reader,
    chat: ChatKey,
    forum_topic: Option<ForumTopicId>,
    limit: u32,
) -> Result<Vec<Suggestion>> {
    conn.map(
        &format!(
            "{SUGGESTIONS} AND follow_up.chat_key = :chat AND follow_up.forum_topic_id IS :forum_topic
             AND NOT EXISTS (
                 SELECT 1 FROM follow_up AS later
                 WHERE later.chat_key = :chat AND later.created_at > follow_up.created_at
                 AND later.resolved ->> 'reset' = 'start_over' AND follow_up.chain =
                     (SELECT chain FROM follow_up AS ended WHERE ended.answer_id = later.resolved ->> 'follows'))
             ORDER BY follow_up.created_at DESC, follow_up.answer_id DESC LIMIT :limit"
        ),
        params! { ":chat": chat, ":forum_topic": forum_topic, ":limit": limit },
        |row| suggestion(conn, row),
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

pub fn suggestion_of(conn: &Reader, answer: AnswerId) -> Result<Option<Suggestion>> {
    conn.map_first(&format!("{SUGGESTIONS} AND follow_up.answer_id = :id"), params! { ":id": answer }, |row| {
        suggestion(conn, row)
    })
}

/// Returns the items that an answer suggested; none if it suggested none.
pub fn items_of(conn: &Reader, answer: AnswerId) -> Result<Vec<Item>> {
    let sql = "SELECT answer_id, items FROM follow_up WHERE answer_id = :id";
    Ok(conn.map_first(sql, params! { ":id": answer }, items)?.unwrap_or_default())
}

/// Returns the newest `limit` items in the chain of suggestions that contains `answer`, oldest first.
pub fn items_of_chain(conn: &Reader, answer: AnswerId, limit: usize) -> Result<Vec<Item>> {
    let mut all = conn
        .map(
            "SELECT answer_id, items FROM follow_up
             WHERE chain = (SELECT chain FROM follow_up WHERE answer_id = :id) ORDER BY created_at, answer_id",
            params! { ":id": answer },
            items,
        )?
        .concat();
    Ok(all.split_off(all.len().saturating_sub(limit)))
}

/// Returns the item that the newest question in the chain of `answer` was about. Returns `None` if it was about several
/// or none, or if the bot had to ask which one was meant.
pub fn last_item(conn: &Reader, answer: AnswerId) -> Result<Option<Item>> {
    let newest: Option<Json<FollowUp>> = conn.first(
        "SELECT resolved FROM follow_up WHERE chain = (SELECT chain FROM follow_up WHERE answer_id = :id)
         ORDER BY created_at DESC, answer_id DESC LIMIT 1",
        params! { ":id": answer },
    )?;
    Ok(newest
        .map(|Json(resolved)| resolved)
        .filter(|it| it.items.len() == 1 && it.frame.clarification.is_none())
        .and_then(|it| it.items.into_iter().next()))
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

/// Returns the members who asked for any answer of a chain.
fn members_of(conn: &Reader, chain: AnswerId) -> Result<BTreeSet<UserId>> {
    let sql =
        "SELECT DISTINCT asked_by FROM follow_up JOIN answer ON answer.id = follow_up.answer_id WHERE chain = :chain";
    Ok(conn.map(sql, params! { ":chain": chain }, |row| row.get("asked_by"))?.into_iter().collect())
}

fn suggestion(conn: &Reader, raw: &Columns<'_>) -> Result<Suggestion> {
    let (answer, chain) = (raw.get("answer_id")?, raw.get("chain")?);
    Ok(Suggestion {
        answer,
        members: members_of(conn, chain)?,
        frame: raw.json::<FollowUp>("resolved")?.frame,
        asked_by: raw.get("asked_by")?,
        trigger: raw.get("trigger_seq")?,
        chain,
        carriers: outbox::messages_of(conn, answer)?.into_iter().map(|(_, message)| message).collect(),
        created_at: raw.get("created_at")?,
    })
}

fn items(raw: &Columns<'_>) -> Result<Vec<Item>> {
    let (answer, shown): (_, Vec<Suggested>) = (raw.get("answer_id")?, raw.json("items")?);
    let item = |(place, shown): (u32, Suggested)| Item {
        id: ItemId { answer, position: shown.number.unwrap_or(place) },
        shown,
    };
    Ok((1..).zip(shown).map(item).collect())
}
