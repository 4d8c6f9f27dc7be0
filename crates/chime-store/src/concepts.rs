//! Named concepts of a chat, and the ones that are in scope in each conversation.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{OptionalExtension, named_params};

use super::family::{Family, Merged, OptOutScope, run_merged};
use super::{Reader, Result, StoreError, Writer, answer_sources, row};
use chime_core::{
    AnswerId, Captured, ChatKey, Concept, ConceptId, ConversationContext, Seq, ThreadId, Timestamp, UserId,
};

/// Concept rows are deleted with the answer that captured them.
pub(super) const FAMILY: Family = Family {
    tables: &["concept", "concept_scan", "conversation_context"],
    opted_out,
    chat_gone: |tx, chat, _| forget_chat(tx, chat),
    merged,
    ..Family::UNTOUCHED
};

/// Deletes concepts that were captured from answers based on the member's messages.
fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.prepare_cached(
        "DELETE FROM concept WHERE answer_id IN
             (SELECT answer_id FROM message_in_answer
              WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat))",
    )?
    .execute(named_params! { ":user": user.0, ":chat": scope.chat().map(|key| key.0) })?;
    Ok(())
}

/// Deletes the contexts of `chats.from`; later messages build them again.
fn merged(tx: &Writer<'_>, chats: &Merged) -> Result<()> {
    forget_contexts(tx, chats.from)?;
    run_merged(tx, chats, &["UPDATE concept SET chat_key = :into WHERE chat_key = :from"])
}

/// Most captures of one chat that are read at once, newest first. Older ones have not come up for long.
const MOST_CAPTURES: u32 = 2000;

/// Key of a stored context: the bot is the tenant, chat and forum topic are the conversation.
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

/// Returns the concepts in scope of a conversation; `None` if nothing readable is stored. The next save replaces it.
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

/// Deletes at most `limit` contexts that were not updated since `before`.
pub fn prune_contexts(tx: &Writer<'_>, before: Timestamp, limit: u32) -> Result<usize> {
    Ok(tx
        .prepare_cached(
            "DELETE FROM conversation_context WHERE (tenant_id, conversation_id) IN
                 (SELECT tenant_id, conversation_id FROM conversation_context WHERE updated_at < :before LIMIT :limit)",
        )?
        .execute(named_params! { ":before": before.millis(), ":limit": limit })?)
}

/// Returns the concepts of a chat, last captured first.
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
            // The label of an older capture becomes an alternative label.
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

/// Returns the messages that the concepts of a chat are based on.
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

/// The concepts that an answer referenced: those that it speaks of, that were looked up for it or captured from it.
pub fn referenced(conn: &Reader, answer: AnswerId) -> Result<Vec<ConceptId>> {
    let raw: Option<String> = conn
        .prepare_cached("SELECT referenced_nodes FROM answer WHERE id = :id")?
        .query_row(named_params! { ":id": answer.0.to_string() }, |raw| raw.get("referenced_nodes"))
        .optional()?;
    raw.map_or(Ok(Vec::new()), |raw| row::json(&raw, "referenced_nodes"))
}

/// Adds to the concepts that an answer referenced.
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

/// Returns model answers since `since` that were not yet scanned for concepts, oldest first. Skips chats that switched
/// memory off.
pub fn unscanned(conn: &Reader, since: Timestamp, limit: u32) -> Result<Vec<AnswerId>> {
    // Ids begin with the time, so the primary key finds the first one.
    let first = ulid::Ulid::from_parts(u64::try_from(since.millis()).unwrap_or(0), 0);
    let sql = format!("SELECT id FROM answer WHERE id >= :first AND {UNSCANNED} ORDER BY id LIMIT :limit");
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement
        .query_map(named_params! { ":first": first.to_string(), ":limit": limit }, |raw| raw.get::<_, String>("id"))?;
    rows.map(|id| super::answers::parse_id(&id?)).collect()
}

/// Returns `true` if a model wrote the answer, the chat has memory, and its concepts were not captured yet.
pub fn is_unscanned(conn: &Reader, answer: AnswerId) -> Result<bool> {
    let sql = format!("SELECT 1 FROM answer WHERE id = :id AND {UNSCANNED}");
    Ok(conn.prepare_cached(&sql)?.exists(named_params! { ":id": answer.0.to_string() })?)
}

/// A condition on rows of `answer`.
const UNSCANNED: &str = "status = 'answered' AND completion_tokens > 0
    AND NOT EXISTS (SELECT 1 FROM concept_scan WHERE answer_id = answer.id)
    AND NOT EXISTS (SELECT 1 FROM chat WHERE chat.chat_key = answer.chat_key AND chat.memory = 0)";

pub fn mark_scanned(tx: &Writer<'_>, answer: AnswerId) -> Result<()> {
    tx.prepare_cached("INSERT OR IGNORE INTO concept_scan (answer_id) VALUES (:id)")?
        .execute(named_params! { ":id": answer.0.to_string() })?;
    Ok(())
}

/// Rebuilds the contexts of a chat from its concepts, at most `most` concepts each, and marks answers without concepts
/// for another scan. Returns the number of contexts.
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
