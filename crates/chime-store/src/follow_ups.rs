//! Suggestions that answers made, for example of films or products, and how later questions about them were understood.

use std::collections::BTreeSet;

use super::family::{Family, Merged, OptOutScope, run_merged};
use super::sql::{Columns, Json, Statements, params};
use super::{Reader, Result, Writer, outbox};
use chime_core::{
    Amount, AnswerId, ChatKey, Conversation, FollowUp, ForumTopicId, Frame, Item, ItemId, MessageId, Price, Reset, Seq,
    Suggested, Timestamp, UserId,
};

/// Has no `words_gone`, because `answers::forget` deletes the rows together with their answer.
pub(super) const FAMILY: Family =
    Family { tables: &["follow_up", "frame", "item"], opted_out, chat_gone, merged, ..Family::UNTOUCHED };

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

fn merged(tx: &Writer<'_>, chats: &Merged) -> Result<()> {
    run_merged(
        tx,
        chats,
        &[
            "UPDATE follow_up SET chat_key = :into WHERE chat_key = :from",
            "UPDATE frame SET chat_key = :into WHERE chat_key = :from",
        ],
    )
}

/// Suggestions of one answer, about which a later question may ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    pub answer: AnswerId,
    pub frame: Frame,
    pub asked_by: UserId,
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
    pub asked_by: UserId,
    pub created_at: Timestamp,
    pub resolved: FollowUp,
    pub items: Vec<Suggested>,
}

/// Stores how a question was understood and, if the answer suggested items, the suggestion with these items.
pub fn save(tx: &Writer<'_>, new: &NewFollowUp) -> Result<()> {
    let id = new.answer.0.to_string();
    // The chain keeps the wishes for another kind of thing too, so that forgetting reaches them.
    let follows = new.resolved.follows.filter(|_| new.resolved.reset != Some(Reset::StartOver));
    let chain = match follows.map(|before| chain_of(tx, before)).transpose()? {
        Some(Some(chain)) => chain,
        // The chain was forgotten while the model answered, but the frame still contains its words.
        Some(None) => return Ok(()),
        None => id.clone(),
    };
    tx.run(
        "INSERT OR REPLACE INTO follow_up (answer_id, chat_key, forum_topic_id, chain, created_at, resolved)
         VALUES (:id, :chat, :forum_topic, :chain, :at, :resolved)",
        params! {
            ":id": id, ":chat": new.chat, ":forum_topic": new.forum_topic, ":chain": chain,
            ":at": new.created_at, ":resolved": Json(&new.resolved),
        },
    )?;
    if new.items.is_empty() {
        return Ok(());
    }
    tx.run(
        "INSERT INTO frame (answer_id, chat_key, forum_topic_id, asked_by, created_at, frame)
         VALUES (:id, :chat, :forum_topic, :by, :at, :frame)",
        params! {
            ":id": id, ":chat": new.chat, ":forum_topic": new.forum_topic, ":by": new.asked_by,
            ":at": new.created_at, ":frame": Json(&new.resolved.frame),
        },
    )?;
    for (position, item) in (1_u32..).zip(&new.items) {
        tx.run(
            "INSERT INTO item (answer_id, position, title, kind, people, price, currency, url)
             VALUES (:id, :position, :title, :kind, :people, :price, :currency, :url)",
            params! {
                ":id": id, ":position": position, ":title": item.title, ":kind": item.kind,
                ":people": Json(&item.people),
                ":price": item.price.as_ref().map(|price| i64::try_from(price.amount.0).unwrap_or(i64::MAX)),
                ":currency": item.price.as_ref().and_then(|price| price.currency.as_deref()), ":url": item.url,
            },
        )?;
    }
    Ok(())
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

/// Returns the suggestions made in a conversation, newest first, at most `limit`.
pub fn suggestions(
    conn: &Reader,
    chat: ChatKey,
    forum_topic: Option<ForumTopicId>,
    limit: u32,
) -> Result<Vec<Suggestion>> {
    conn.map(
        "SELECT frame.answer_id, frame.frame, frame.asked_by, frame.created_at, answer.trigger_seq, chain
         FROM frame JOIN answer ON answer.id = frame.answer_id JOIN follow_up USING (answer_id)
         WHERE frame.chat_key = :chat AND frame.forum_topic_id IS :forum_topic
         ORDER BY frame.created_at DESC, frame.answer_id DESC LIMIT :limit",
        params! { ":chat": chat, ":forum_topic": forum_topic, ":limit": limit },
        |row| suggestion(conn, row),
    )
}

pub fn suggestion_of(conn: &Reader, answer: AnswerId) -> Result<Option<Suggestion>> {
    conn.map_first(
        "SELECT frame.answer_id, frame.frame, frame.asked_by, frame.created_at, answer.trigger_seq, chain
         FROM frame JOIN answer ON answer.id = frame.answer_id JOIN follow_up USING (answer_id)
         WHERE frame.answer_id = :id",
        params! { ":id": answer },
        |row| suggestion(conn, row),
    )
}

pub fn items_of(conn: &Reader, answer: AnswerId) -> Result<Vec<Item>> {
    conn.map(
        "SELECT answer_id, position, title, kind, people, price, currency, url FROM item
         WHERE answer_id = :id ORDER BY position",
        params! { ":id": answer },
        item,
    )
}

/// Returns the newest `limit` items in the chain of suggestions that contains `answer`, oldest first.
pub fn items_of_chain(conn: &Reader, answer: AnswerId, limit: u32) -> Result<Vec<Item>> {
    let mut items = conn.map(
        "SELECT item.answer_id, position, title, kind, people, price, currency, url
         FROM item JOIN follow_up ON follow_up.answer_id = item.answer_id
         WHERE follow_up.chain = (SELECT chain FROM follow_up WHERE answer_id = :id)
         ORDER BY follow_up.created_at DESC, item.answer_id DESC, position DESC LIMIT :limit",
        params! { ":id": answer, ":limit": limit },
        item,
    )?;
    items.reverse();
    Ok(items)
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

/// Returns the longest time without a message in a conversation between `since` and `now`, in milliseconds.
pub fn longest_silence(conn: &Reader, conversation: Conversation, since: Timestamp, now: Timestamp) -> Result<i64> {
    let secs: Option<i64> = conn.one(
        "SELECT max(gap) AS longest FROM (
         SELECT ts - lag(ts, 1, :since) OVER (ORDER BY ts) AS gap FROM message
         WHERE chat_key = :chat AND forum_topic_id IS :forum_topic AND ts BETWEEN :since AND :now
         UNION ALL
         SELECT :now - max(ts) FROM message
         WHERE chat_key = :chat AND forum_topic_id IS :forum_topic AND ts BETWEEN :since AND :now)",
        params! {
            ":chat": conversation.chat, ":forum_topic": conversation.forum_topic,
            ":since": since.secs(), ":now": now.secs(),
        },
    )?;
    Ok(secs.unwrap_or_else(|| now.secs() - since.secs()).saturating_mul(1000))
}

fn chain_of(conn: &Reader, answer: AnswerId) -> Result<Option<String>> {
    conn.first("SELECT chain FROM follow_up WHERE answer_id = :id", params! { ":id": answer })
}

fn suggestion(conn: &Reader, raw: &Columns<'_>) -> Result<Suggestion> {
    let answer = raw.get("answer_id")?;
    Ok(Suggestion {
        answer,
        frame: raw.json("frame")?,
        asked_by: raw.get("asked_by")?,
        trigger: raw.get("trigger_seq")?,
        chain: raw.get("chain")?,
        carriers: outbox::messages_of(conn, answer)?.into_iter().map(|(_, message)| message).collect(),
        created_at: raw.get("created_at")?,
    })
}

fn item(raw: &Columns<'_>) -> Result<Item> {
    let answer = raw.get("answer_id")?;
    let amount: Option<u64> = raw.get("price")?;
    let currency: Option<String> = raw.get("currency")?;
    Ok(Item {
        id: ItemId { answer, position: raw.get("position")? },
        shown: Suggested {
            title: raw.get("title")?,
            kind: raw.get("kind")?,
            people: raw.json("people")?,
            price: amount.map(|amount| Price { amount: Amount(amount), currency }),
            url: raw.get("url")?,
        },
    })
}
