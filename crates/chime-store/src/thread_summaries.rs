//! Summaries of the oldest part of long threads. A thread is one of the conversations that interleave in a chat.

use std::collections::{BTreeMap, BTreeSet};

use super::sql::{Statements, params};
use super::{Reader, Result, Writer};
use chime_core::{ChatKey, Conversation, Seq, SummaryMethod, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSummary {
    pub id: i64,
    pub text: String,
    pub tokens: usize,
    pub method: SummaryMethod,
    pub model: String,
    pub built_at: Timestamp,
    /// Messages that the summary replaces in a prompt.
    pub sources: BTreeSet<Seq>,
}

/// Returns the summary that covers the largest number of `seqs`, the newest one if several do. Ignores summaries of
/// `below` or more messages.
pub fn of_messages(
    conn: &Reader,
    chat: ChatKey,
    seqs: impl IntoIterator<Item = Seq>,
    below: usize,
) -> Result<Option<ThreadSummary>> {
    let mut counts = BTreeMap::<i64, usize>::new();
    for seq in seqs {
        let sql = "SELECT summary_id FROM thread_source WHERE chat_key = :chat AND seq = :seq";
        for id in conn.all(sql, params! { ":chat": chat, ":seq": seq })? {
            *counts.entry(id).or_default() += 1;
        }
    }
    let mut known: Vec<(usize, i64)> = counts.into_iter().map(|(id, count)| (count, id)).collect();
    known.sort_unstable_by(|a, b| b.cmp(a));
    for (_, id) in known {
        if let Some(summary) = find(conn, chat, id)?.filter(|it| it.sources.len() < below) {
            return Ok(Some(summary));
        }
    }
    Ok(None)
}

fn find(conn: &Reader, chat: ChatKey, id: i64) -> Result<Option<ThreadSummary>> {
    conn.map_first(
        "SELECT text, tokens, method, model, built_at FROM thread_summary WHERE id = :id",
        params! { ":id": id },
        |row| {
            Ok(ThreadSummary {
                id,
                text: row.get("text")?,
                tokens: row.get("tokens")?,
                method: row.get("method")?,
                model: row.get("model")?,
                built_at: row.get("built_at")?,
                sources: conn
                    .all(
                        "SELECT seq FROM thread_source WHERE summary_id = :id AND chat_key = :chat",
                        params! { ":id": id, ":chat": chat },
                    )?
                    .into_iter()
                    .collect(),
            })
        },
    )
}

/// New or extended summary of a thread, to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// Stored summary that is extended; `None` for a new one.
    pub of: Option<ThreadSummary>,
    pub text: String,
    pub tokens: usize,
    pub method: SummaryMethod,
    pub model: String,
    pub built_at: Timestamp,
    /// Messages that the new summary covers and the stored one does not.
    pub added: BTreeSet<Seq>,
}

/// Stores an extension and returns the id of the summary. Stores nothing and returns `None` if the summary to extend
/// was changed or deleted since it was read.
pub fn extend(tx: &Writer<'_>, conversation: Conversation, extension: &Extension) -> Result<Option<i64>> {
    let chat = conversation.chat;
    let id = match &extension.of {
        Some(before) if find(tx, chat, before.id)?.as_ref() != Some(before) => return Ok(None),
        Some(before) => {
            tx.run(
                "UPDATE thread_summary SET text = :text, tokens = :tokens, method = :method, model = :model,
                 built_at = :built_at WHERE id = :id",
                params! {
                    ":text": extension.text, ":tokens": extension.tokens, ":method": extension.method,
                    ":model": extension.model, ":built_at": extension.built_at, ":id": before.id,
                },
            )?;
            before.id
        }
        None => {
            tx.run(
                "INSERT INTO thread_summary (chat_key, forum_topic_id, text, tokens, method, model, built_at)
                 VALUES (:chat, :forum_topic, :text, :tokens, :method, :model, :built_at)",
                params! {
                    ":chat": chat, ":forum_topic": conversation.forum_topic, ":text": extension.text,
                    ":tokens": extension.tokens, ":method": extension.method, ":model": extension.model,
                    ":built_at": extension.built_at,
                },
            )?;
            tx.last_insert_rowid()
        }
    };
    for seq in &extension.added {
        tx.run(
            "INSERT OR IGNORE INTO thread_source (chat_key, seq, summary_id) VALUES (:chat, :seq, :id)",
            params! { ":chat": chat, ":seq": seq, ":id": id },
        )?;
    }
    Ok(Some(id))
}

/// Deletes the summaries that cover a changed or deleted message. They are made again from the messages.
pub fn forget(tx: &Writer<'_>, chat: ChatKey, seq: Seq) -> Result<()> {
    tx.run(
        "DELETE FROM thread_summary
         WHERE id IN (SELECT summary_id FROM thread_source WHERE chat_key = :chat AND seq = :seq)",
        params! { ":chat": chat, ":seq": seq },
    )
}
