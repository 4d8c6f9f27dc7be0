//! Concepts: named things that were captured from the answers in a chat. Each conversation has a context, which lists
//! the concepts that are in scope there.

use std::collections::{BTreeMap, BTreeSet};

use super::family::{Family, OptOutScope};
use super::sql::{Json, Statements, params};
use super::{Reader, Result, Writer, answer_sources};
use chime_core::{
    AnswerId, Captured, ChatKey, Concept, ConceptId, ConversationContext, ForumTopicId, Seq, Timestamp, UserId,
};

/// Reactions to privacy events. A forgotten message needs none, because concepts are deleted with the answer from which
/// they were captured.
pub(super) const FAMILY: Family = Family {
    tables: &["concept", "conversation_context"],
    moved: &[("concept", None)],
    opted_out,
    chat_gone: |tx, chat, _| forget_chat(tx, chat),
    // New messages build the contexts again.
    merged: |tx, chats| forget_contexts(tx, chats.from),
    ..Family::UNTOUCHED
};

/// Deletes the concepts that were captured from answers based on the member's messages.
fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.run(
        "DELETE FROM concept WHERE answer_id IN
         (SELECT answer_id FROM message_in_answer
          WHERE (user_id = :user OR (origin_user_id = :user AND forward_origin IS NOT NULL))
              AND (:chat IS NULL OR chat_key = :chat))",
        params! { ":user": user, ":chat": scope.chat() },
    )
}

/// Maximum number of captured concepts of one chat that are read, newest first. Older ones have not been mentioned for
/// long.
const MOST_CAPTURES: u32 = 2000;

/// Key of a stored context. `tenant` identifies the bot; `conversation` identifies the chat and forum topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextKey {
    pub bot: UserId,
    pub chat: ChatKey,
    pub forum_topic: Option<ForumTopicId>,
}

impl ContextKey {
    fn tenant(self) -> String {
        self.bot.to_string()
    }

    fn conversation(self) -> String {
        match self.forum_topic {
            Some(forum_topic) => format!("{}:{forum_topic}", self.chat),
            None => self.chat.to_string(),
        }
    }
}

/// Returns the stored context of a conversation. Returns `None` if there is none or it cannot be parsed; the next save
/// then replaces it.
pub fn load(conn: &Reader, key: ContextKey) -> Result<Option<ConversationContext>> {
    let raw: Option<String> = conn.first(
        "SELECT context_json FROM conversation_context
         WHERE tenant_id = :tenant AND conversation_id = :conversation",
        params! { ":tenant": key.tenant(), ":conversation": key.conversation() },
    )?;
    Ok(raw.and_then(|raw| {
        serde_json::from_str(&raw)
            .inspect_err(|error| {
                let error = chime_core::json_fault(error);
                tracing::warn!(error_type = "concepts", error, "chat.error: unreadable concepts in scope");
            })
            .ok()
    }))
}

pub fn save(tx: &Writer<'_>, key: ContextKey, context: &ConversationContext, now: Timestamp) -> Result<()> {
    tx.run(
        "INSERT INTO conversation_context (tenant_id, conversation_id, context_json, updated_at)
         VALUES (:tenant, :conversation, :json, :now)
         ON CONFLICT (tenant_id, conversation_id)
         DO UPDATE SET context_json = excluded.context_json, updated_at = excluded.updated_at",
        params! {
            ":tenant": key.tenant(), ":conversation": key.conversation(),
            ":json": Json(&context), ":now": now,
        },
    )
}

/// Deletes at most `limit` contexts that were last updated before `before`. Returns their number.
pub fn prune_contexts(tx: &Writer<'_>, before: Timestamp, limit: u32) -> Result<usize> {
    tx.changed(
        "DELETE FROM conversation_context WHERE (tenant_id, conversation_id) IN
         (SELECT tenant_id, conversation_id FROM conversation_context WHERE updated_at < :before LIMIT :limit)",
        params! { ":before": before, ":limit": limit },
    )
}

/// Returns the concepts of a chat, the last captured one first. Captures with the same id are combined into one
/// concept.
pub fn of_chat(conn: &Reader, chat: ChatKey) -> Result<Vec<Concept>> {
    let captures = conn.map(
        "SELECT concept_id, label, alt_labels, definition, kind FROM concept
         WHERE chat_key = :chat ORDER BY created_at DESC, answer_id DESC LIMIT :limit",
        params! { ":chat": chat, ":limit": MOST_CAPTURES },
        |row| {
            Ok(Concept {
                id: row.get("concept_id")?,
                label: row.get("label")?,
                alt_labels: row.json("alt_labels")?,
                definition: row.get("definition")?,
                kind: row.get("kind")?,
            })
        },
    )?;
    let mut order: Vec<ConceptId> = Vec::new();
    let mut found: BTreeMap<ConceptId, Concept> = BTreeMap::new();
    for capture in captures {
        match found.get_mut(&capture.id) {
            // The concept was captured before: its older labels become alternative labels.
            Some(concept) => {
                for other in std::iter::once(capture.label).chain(capture.alt_labels) {
                    if other != concept.label && !concept.alt_labels.contains(&other) {
                        concept.alt_labels.push(other);
                    }
                }
            }
            None => {
                order.push(capture.id);
                found.insert(capture.id, capture);
            }
        }
    }
    Ok(order.into_iter().filter_map(|id| found.remove(&id)).collect())
}

/// Returns the messages that the answers behind a chat's concepts are based on.
pub fn grounds(conn: &Reader, chat: ChatKey) -> Result<Vec<Seq>> {
    let blocks = conn.all(
        "SELECT answer_use.block AS block, answer_use.bits AS bits FROM concept
         JOIN answer_use ON answer_use.answer_id = concept.answer_id AND answer_use.chat_key = concept.chat_key
         WHERE concept.chat_key = :chat",
        params! { ":chat": chat },
    )?;
    Ok(answer_sources::seqs(blocks))
}

pub fn capture(
    tx: &Writer<'_>,
    chat: ChatKey,
    answer: AnswerId,
    id: ConceptId,
    captured: &Captured,
    now: Timestamp,
) -> Result<()> {
    tx.run("INSERT OR REPLACE INTO concept (concept_id, answer_id, chat_key, label, alt_labels, definition, kind, created_at)
         VALUES (:id, :answer, :chat, :label, :others, :definition, :kind, :now)", params! {
        ":id": id, ":answer": answer, ":chat": chat, ":label": captured.label,
        ":others": Json(&captured.alt_labels), ":definition": captured.definition,
        ":kind": captured.kind, ":now": now,
    })
}

/// Returns the concepts that an answer referenced: those that its text mentions, that were looked up for it, or that
/// were captured from it.
pub fn referenced(conn: &Reader, answer: AnswerId) -> Result<Vec<ConceptId>> {
    let found = conn.first("SELECT referenced_nodes FROM answer WHERE id = :id", params! { ":id": answer })?;
    Ok(found.flatten().map_or_else(Vec::new, |Json(ids)| ids))
}

/// Adds `ids` to the concepts that an answer referenced, each only once.
pub fn note_referenced(tx: &Writer<'_>, answer: AnswerId, ids: &[ConceptId]) -> Result<()> {
    let mut all = referenced(tx, answer)?;
    all.extend(ids);
    let mut seen = BTreeSet::new();
    all.retain(|id| seen.insert(*id));
    tx.run(
        "UPDATE answer SET referenced_nodes = :ids WHERE id = :id",
        params! {
            ":id": answer, ":ids": Json(&all),
        },
    )
}

/// Returns answers made by a model since `since` whose concepts were not captured yet, oldest first, at most `limit`.
/// Skips chats that switched memory off.
pub fn unscanned(conn: &Reader, since: Timestamp, limit: u32) -> Result<Vec<AnswerId>> {
    // Answer ids are sorted by time. So the primary key finds the first answer since `since`.
    let sql = format!("SELECT id FROM answer WHERE id >= :first AND {UNSCANNED} ORDER BY id LIMIT :limit");
    conn.all(&sql, params! { ":first": AnswerId(since.ulid(0)), ":limit": limit })
}

/// Returns `true` if a model wrote the answer, its concepts were not captured yet, and the chat has not switched memory
/// off.
pub fn is_unscanned(conn: &Reader, answer: AnswerId) -> Result<bool> {
    let sql = format!("SELECT 1 FROM answer WHERE id = :id AND {UNSCANNED}");
    conn.any(&sql, params! { ":id": answer })
}

/// SQL condition on `answer`: made by a model, not yet scanned for concepts, and memory is not off in the chat.
const UNSCANNED: &str = "status = 'answered' AND completion_tokens > 0
    AND is_scanned = 0
    AND NOT EXISTS (SELECT 1 FROM chat_setting WHERE chat_setting.chat_key = answer.chat_key
                    AND chat_setting.forum_topic_id = 0 AND key = 'memory' AND value = 'off')";

pub fn mark_scanned(tx: &Writer<'_>, answer: AnswerId) -> Result<()> {
    tx.run("UPDATE answer SET is_scanned = 1 WHERE id = :id", params! { ":id": answer })
}

/// Rebuilds the contexts of a chat from its stored concepts, with at most `most` in each. Answers from which no concept
/// was captured are scanned again. Returns the number of contexts.
pub fn rebuild(tx: &Writer<'_>, bot: UserId, chat: ChatKey, most: usize, now: Timestamp) -> Result<usize> {
    forget_contexts(tx, chat)?;
    tx.run(
        "UPDATE answer SET is_scanned = 0
         WHERE chat_key = :chat AND NOT EXISTS (SELECT 1 FROM concept WHERE answer_id = answer.id)",
        params! { ":chat": chat },
    )?;
    let mut active: BTreeMap<Option<i64>, Vec<ConceptId>> = BTreeMap::new();
    let captured: Vec<(ConceptId, Option<i64>)> = tx.all(
        "SELECT concept_id, answer.forum_topic_id AS thread FROM concept JOIN answer ON answer.id = concept.answer_id
         WHERE concept.chat_key = :chat ORDER BY concept.created_at DESC, answer_id DESC",
        params! { ":chat": chat },
    )?;
    for (id, forum_topic) in captured {
        let of_topic = active.entry(forum_topic).or_default();
        if of_topic.len() < most && !of_topic.contains(&id) {
            of_topic.push(id);
        }
    }
    let count = active.len();
    for (forum_topic, mut active) in active {
        active.reverse();
        save(
            tx,
            ContextKey { bot, chat, forum_topic: forum_topic.map(ForumTopicId) },
            &ConversationContext { active },
            now,
        )?;
    }
    Ok(count)
}

pub fn forget_chat(tx: &Writer<'_>, chat: ChatKey) -> Result<()> {
    tx.run("DELETE FROM concept WHERE chat_key = :chat", params! { ":chat": chat })?;
    forget_contexts(tx, chat)
}

fn forget_contexts(tx: &Writer<'_>, chat: ChatKey) -> Result<()> {
    tx.run(
        "DELETE FROM conversation_context
         WHERE conversation_id = :chat OR conversation_id GLOB :chat || ':*'",
        params! { ":chat": chat },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Priority;
    use crate::testkit::new_store;

    #[tokio::test]
    async fn a_context_is_loaded_as_it_was_saved_and_missing_until_then() {
        let (_folder, store) = new_store().await;
        let key = ContextKey { bot: UserId(7), chat: ChatKey(1), forum_topic: Some(ForumTopicId(4)) };
        let elsewhere = ContextKey { forum_topic: None, ..key };
        let context = ConversationContext { active: vec![ConceptId(ulid::Ulid(3)), ConceptId(ulid::Ulid(2))] };
        let saved = context.clone();
        let now = Timestamp::from_secs(100);
        assert_eq!(store.read(move |conn| load(conn, key)).await.unwrap(), None);
        store.write(Priority::Answering, move |tx| save(tx, key, &saved, now)).await.unwrap();
        assert_eq!(store.read(move |conn| load(conn, key)).await.unwrap(), Some(context));
        assert_eq!(store.read(move |conn| load(conn, elsewhere)).await.unwrap(), None);
        let json = r#"{"activeNodeIds":["00000000000000000000000003"]}"#;
        let one = ConversationContext { active: vec![ConceptId(ulid::Ulid(3))] };
        assert_eq!(serde_json::to_string(&one).unwrap(), json);
        let pruned = store.write(Priority::Answering, move |tx| prune_contexts(tx, now, 8)).await.unwrap();
        assert_eq!(pruned, 0);
        let later = Timestamp::from_secs(101);
        let pruned = store.write(Priority::Answering, move |tx| prune_contexts(tx, later, 8)).await.unwrap();
        assert_eq!(pruned, 1);
    }
}
