//! Concepts: named things that were captured from the answers in a chat. Each conversation has a context, which lists
//! the concepts that are in scope there.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{OptionalExtension, named_params};

use super::family::{Family, Merged, OptOutScope, run_merged};
use super::{Reader, Result, StoreError, Writer, answer_sources, row};
use chime_core::{
    AnswerId, Captured, ChatKey, Concept, ConceptId, ConversationContext, Seq, ThreadId, Timestamp, UserId,
};

/// Reactions to privacy events. A forgotten message needs none: concepts are deleted with the answer they were captured
/// from.
pub(super) const FAMILY: Family = Family {
    tables: &["concept", "concept_scan", "conversation_context"],
    opted_out,
    chat_gone: |tx, chat, _| forget_chat(tx, chat),
    merged,
    ..Family::UNTOUCHED
};

/// Deletes the concepts that were captured from answers based on the member's messages.
fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.prepare_cached(
        "DELETE FROM concept WHERE answer_id IN
             (SELECT answer_id FROM message_in_answer
              WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat))",
    )?
    .execute(named_params! { ":user": user.0, ":chat": scope.chat().map(|key| key.0) })?;
    Ok(())
}

/// Moves the concepts to the remaining chat. Deletes the contexts of the old chat; new messages build them again.
fn merged(tx: &Writer<'_>, chats: &Merged) -> Result<()> {
    forget_contexts(tx, chats.from)?;
    run_merged(tx, chats, &["UPDATE concept SET chat_key = :into WHERE chat_key = :from"])
}

/// Maximum number of captured concepts of one chat that are read, newest first. Older ones have not been mentioned for
/// long.
const MOST_CAPTURES: u32 = 2000;

/// Key of a stored context. `tenant` identifies the bot; `conversation` identifies the chat and forum topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextKey {
    pub bot: UserId,
    pub chat: ChatKey,
    pub thread: Option<ThreadId>,
}

impl ContextKey {
    fn tenant(self) -> String {
        self.bot.to_string()
    }

    fn conversation(self) -> String {
        match self.thread {
            Some(thread) => format!("{}:{thread}", self.chat),
            None => self.chat.to_string(),
        }
    }
}

/// Returns the stored context of a conversation. Returns `None` if there is none or it cannot be parsed; the next save
/// then replaces it.
pub fn load(conn: &Reader, key: ContextKey) -> Result<Option<ConversationContext>> {
    let raw: Option<String> = conn
        .prepare_cached(
            "SELECT context_json FROM conversation_context
             WHERE tenant_id = :tenant AND conversation_id = :conversation",
        )?
        .query_row(named_params! { ":tenant": key.tenant(), ":conversation": key.conversation() }, |raw| {
            raw.get("context_json")
        })
        .optional()?;
    Ok(raw.and_then(|raw| {
        row::json(&raw, "context_json")
            .inspect_err(
                |error| tracing::warn!(error_type = "concepts", %error, "chat.error: unreadable concepts in scope"),
            )
            .ok()
    }))
}

pub fn save(tx: &Writer<'_>, key: ContextKey, context: &ConversationContext, now: Timestamp) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO conversation_context (tenant_id, conversation_id, context_json, updated_at)
         VALUES (:tenant, :conversation, :json, :now)
         ON CONFLICT (tenant_id, conversation_id)
         DO UPDATE SET context_json = excluded.context_json, updated_at = excluded.updated_at",
    )?
    .execute(named_params! {
        ":tenant": key.tenant(), ":conversation": key.conversation(),
        ":json": row::to_json(context, "context_json")?, ":now": now.millis(),
    })?;
    Ok(())
}

/// Deletes at most `limit` contexts that were last updated before `before`. Returns their number.
pub fn prune_contexts(tx: &Writer<'_>, before: Timestamp, limit: u32) -> Result<usize> {
    Ok(tx
        .prepare_cached(
            "DELETE FROM conversation_context WHERE (tenant_id, conversation_id) IN
                 (SELECT tenant_id, conversation_id FROM conversation_context WHERE updated_at < :before LIMIT :limit)",
        )?
        .execute(named_params! { ":before": before.millis(), ":limit": limit })?)
}

/// Returns the concepts of a chat, the last captured one first. Captures with the same id are combined into one
/// concept.
pub fn of_chat(conn: &Reader, chat: ChatKey) -> Result<Vec<Concept>> {
    let mut statement = conn.prepare_cached(
        "SELECT concept_id, label, alt_labels, definition, kind FROM concept
         WHERE chat_key = :chat ORDER BY created_at DESC, answer_id DESC LIMIT :limit",
    )?;
    let mut rows = statement.query(named_params! { ":chat": chat.0, ":limit": MOST_CAPTURES })?;
    let mut order: Vec<ConceptId> = Vec::new();
    let mut found: BTreeMap<ConceptId, Concept> = BTreeMap::new();
    while let Some(raw) = rows.next()? {
        let id = parse_id(&row::get::<String>(raw, "concept_id")?)?;
        let label: String = row::get(raw, "label")?;
        let others: Vec<String> = row::json(&row::get::<String>(raw, "alt_labels")?, "alt_labels")?;
        match found.get_mut(&id) {
            // The concept was captured before: its older labels become alternative labels.
            Some(concept) => {
                for other in std::iter::once(label).chain(others) {
                    if other != concept.label && !concept.alt_labels.contains(&other) {
                        concept.alt_labels.push(other);
                    }
                }
            }
            None => {
                order.push(id);
                let (definition, kind) = (row::get(raw, "definition")?, row::get(raw, "kind")?);
                found.insert(id, Concept { id, label, alt_labels: others, definition, kind });
            }
        }
    }
    Ok(order.into_iter().filter_map(|id| found.remove(&id)).collect())
}

/// Returns the messages that the answers behind a chat's concepts are based on.
pub fn grounds(conn: &Reader, chat: ChatKey) -> Result<Vec<Seq>> {
    let mut statement = conn.prepare_cached(
        "SELECT answer_use.block AS block, answer_use.bits AS bits FROM concept
         JOIN answer_use ON answer_use.answer_id = concept.answer_id AND answer_use.chat_key = concept.chat_key
         WHERE concept.chat_key = :chat",
    )?;
    let blocks = statement.query_map(named_params! { ":chat": chat.0 }, answer_sources::block_of_row)?;
    Ok(answer_sources::seqs(blocks.collect::<rusqlite::Result<_>>()?))
}

pub fn capture(
    tx: &Writer<'_>,
    chat: ChatKey,
    answer: AnswerId,
    id: ConceptId,
    captured: &Captured,
    now: Timestamp,
) -> Result<()> {
    tx.prepare_cached(
        "INSERT OR REPLACE INTO concept (concept_id, answer_id, chat_key, label, alt_labels, definition, kind, created_at)
         VALUES (:id, :answer, :chat, :label, :others, :definition, :kind, :now)",
    )?
    .execute(named_params! {
        ":id": id.0.to_string(), ":answer": answer.0.to_string(), ":chat": chat.0, ":label": captured.label,
        ":others": row::to_json(&captured.alt_labels, "alt_labels")?, ":definition": captured.definition,
        ":kind": captured.kind, ":now": now.millis(),
    })?;
    Ok(())
}

/// Returns the concepts that an answer referenced: those that its text mentions, that were looked up for it, or that
/// were captured from it.
pub fn referenced(conn: &Reader, answer: AnswerId) -> Result<Vec<ConceptId>> {
    let raw: Option<String> = conn
        .prepare_cached("SELECT referenced_nodes FROM answer WHERE id = :id")?
        .query_row(named_params! { ":id": answer.0.to_string() }, |raw| raw.get("referenced_nodes"))
        .optional()?;
    raw.map_or(Ok(Vec::new()), |raw| row::json(&raw, "referenced_nodes"))
}

/// Adds `ids` to the concepts that an answer referenced, each only once.
pub fn note_referenced(tx: &Writer<'_>, answer: AnswerId, ids: &[ConceptId]) -> Result<()> {
    let mut all = referenced(tx, answer)?;
    all.extend(ids);
    let mut seen = BTreeSet::new();
    all.retain(|id| seen.insert(*id));
    tx.prepare_cached("UPDATE answer SET referenced_nodes = :ids WHERE id = :id")?.execute(named_params! {
        ":id": answer.0.to_string(), ":ids": row::to_json(&all, "referenced_nodes")?,
    })?;
    Ok(())
}

/// Returns answers made by a model since `since` whose concepts were not captured yet, oldest first, at most `limit`.
/// Skips chats that switched memory off.
pub fn unscanned(conn: &Reader, since: Timestamp, limit: u32) -> Result<Vec<AnswerId>> {
    // Answer ids are sorted by time. So the primary key finds the first answer since `since`.
    let first = ulid::Ulid::from_parts(u64::try_from(since.millis()).unwrap_or(0), 0);
    let sql = format!("SELECT id FROM answer WHERE id >= :first AND {UNSCANNED} ORDER BY id LIMIT :limit");
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement
        .query_map(named_params! { ":first": first.to_string(), ":limit": limit }, |raw| raw.get::<_, String>("id"))?;
    rows.map(|id| super::answers::parse_id(&id?)).collect()
}

/// Returns `true` if a model wrote the answer, its concepts were not captured yet, and the chat has not switched memory
/// off.
pub fn is_unscanned(conn: &Reader, answer: AnswerId) -> Result<bool> {
    let sql = format!("SELECT 1 FROM answer WHERE id = :id AND {UNSCANNED}");
    Ok(conn.prepare_cached(&sql)?.exists(named_params! { ":id": answer.0.to_string() })?)
}

/// SQL condition on `answer`: made by a model, not yet scanned for concepts, and memory is not off in the chat.
const UNSCANNED: &str = "status = 'answered' AND completion_tokens > 0
    AND NOT EXISTS (SELECT 1 FROM concept_scan WHERE answer_id = answer.id)
    AND NOT EXISTS (SELECT 1 FROM chat WHERE chat.chat_key = answer.chat_key AND chat.memory = 0)";

pub fn mark_scanned(tx: &Writer<'_>, answer: AnswerId) -> Result<()> {
    tx.prepare_cached("INSERT OR IGNORE INTO concept_scan (answer_id) VALUES (:id)")?
        .execute(named_params! { ":id": answer.0.to_string() })?;
    Ok(())
}

/// Rebuilds the contexts of a chat from its stored concepts, with at most `most` in each. Answers from which no concept
/// was captured are scanned again. Returns the number of contexts.
pub fn rebuild(tx: &Writer<'_>, bot: UserId, chat: ChatKey, most: usize, now: Timestamp) -> Result<usize> {
    forget_contexts(tx, chat)?;
    tx.prepare_cached(
        "DELETE FROM concept_scan WHERE answer_id IN
             (SELECT id FROM answer WHERE chat_key = :chat AND NOT EXISTS (SELECT 1 FROM concept WHERE answer_id = id))",
    )?
    .execute(named_params! { ":chat": chat.0 })?;
    let mut active: BTreeMap<Option<i64>, Vec<ConceptId>> = BTreeMap::new();
    let mut statement = tx.prepare_cached(
        "SELECT concept_id, answer.thread_id AS thread FROM concept JOIN answer ON answer.id = concept.answer_id
         WHERE concept.chat_key = :chat ORDER BY concept.created_at DESC, answer_id DESC",
    )?;
    let mut rows = statement.query(named_params! { ":chat": chat.0 })?;
    while let Some(raw) = rows.next()? {
        let id = parse_id(&row::get::<String>(raw, "concept_id")?)?;
        let of_thread = active.entry(row::get(raw, "thread")?).or_default();
        if of_thread.len() < most && !of_thread.contains(&id) {
            of_thread.push(id);
        }
    }
    let count = active.len();
    for (thread, mut active) in active {
        active.reverse();
        save(tx, ContextKey { bot, chat, thread: thread.map(ThreadId) }, &ConversationContext { active }, now)?;
    }
    Ok(count)
}

pub fn forget_chat(tx: &Writer<'_>, chat: ChatKey) -> Result<()> {
    tx.prepare_cached("DELETE FROM concept WHERE chat_key = :chat")?.execute(named_params! { ":chat": chat.0 })?;
    forget_contexts(tx, chat)
}

fn forget_contexts(tx: &Writer<'_>, chat: ChatKey) -> Result<()> {
    tx.prepare_cached(
        "DELETE FROM conversation_context
         WHERE conversation_id = :chat OR conversation_id GLOB :chat || ':*'",
    )?
    .execute(named_params! { ":chat": chat.0.to_string() })?;
    Ok(())
}

fn parse_id(raw: &str) -> Result<ConceptId> {
    raw.parse()
        .map(ConceptId)
        .map_err(|_| StoreError::BadValue { column: "concept_id", what: format!("{raw:?} is no ULID") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Priority;
    use crate::testkit::new_store;

    #[tokio::test]
    async fn a_context_is_loaded_as_it_was_saved_and_missing_until_then() {
        let (_folder, store) = new_store().await;
        let key = ContextKey { bot: UserId(7), chat: ChatKey(1), thread: Some(ThreadId(4)) };
        let elsewhere = ContextKey { thread: None, ..key };
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
