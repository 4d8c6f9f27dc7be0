//! Reads packs from their folders.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::labelled;
use crate::pack::{
    Pack, PackMessage, PackQuery, PackQuestion, QUESTION, QueryAsk, QueryGold, QuestionAsk, QuestionGold, Slice,
};

/// Gold of a message, kept apart from the data that a retriever sees.
#[derive(Deserialize)]
struct RawConversation {
    chat_id: String,
    message_id: i64,
    #[serde(default)]
    gold_conversation_id: Option<String>,
}

#[derive(Deserialize)]
struct RawQuery {
    query_id: String,
    variant: String,
    chat_id: String,
    #[serde(default)]
    message_id: Option<i64>,
    #[serde(default)]
    reply_to: Option<i64>,
    #[serde(default)]
    window: Option<(i64, i64)>,
    #[serde(default)]
    gold_context: Vec<i64>,
    #[serde(default)]
    gold_far: Option<Vec<i64>>,
    #[serde(default)]
    gold_related: Vec<i64>,
    #[serde(default)]
    trigger: Option<PackMessage>,
    #[serde(default)]
    slice: Slice,
    #[serde(default)]
    question: Option<String>,
    #[serde(default)]
    date: Option<i64>,
    #[serde(default)]
    category: u32,
    #[serde(default)]
    gold_sessions: Vec<String>,
}

/// Reads `messages.jsonl` and `queries.jsonl` of a folder, or the labelled chats in it instead.
pub fn read_pack(folder: &Path) -> anyhow::Result<Pack> {
    let name = folder.file_name().map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into());
    if !folder.join("messages.jsonl").exists() {
        return Ok(labelled::as_pack(name, labelled::read(folder)?));
    }
    let mut chats: HashMap<String, Vec<PackMessage>> = HashMap::new();
    for message in lines::<PackMessage>(&folder.join("messages.jsonl"))? {
        chats.entry(message.chat_id.clone()).or_default().push(message);
    }
    let path = folder.join("queries.jsonl");
    let (mut queries, mut questions) = (Vec::new(), Vec::new());
    let mut reaches_back = false;
    for raw in lines::<RawQuery>(&path)? {
        reaches_back |= raw.gold_far.is_some();
        if raw.variant == QUESTION {
            questions.extend(question(raw));
        } else if let Some(query) = query(raw) {
            check(&query, &chats, &path)?;
            queries.push(query);
        }
    }
    let conversations = (lines::<RawConversation>(&folder.join("messages.jsonl"))?.into_iter())
        .filter_map(|raw| Some(((raw.chat_id, raw.message_id), raw.gold_conversation_id?)))
        .collect();
    Ok(Pack { name, chats, queries, reaches_back, questions, conversations })
}

fn question(raw: RawQuery) -> Option<PackQuestion> {
    Some(PackQuestion {
        ask: QuestionAsk { query_id: raw.query_id, chat_id: raw.chat_id, question: raw.question?, date: raw.date? },
        gold: QuestionGold { context: raw.gold_context, sessions: raw.gold_sessions, category: raw.category },
    })
}

fn query(raw: RawQuery) -> Option<PackQuery> {
    Some(PackQuery {
        ask: QueryAsk {
            query_id: raw.query_id,
            variant: raw.variant,
            chat_id: raw.chat_id,
            message_id: raw.message_id.or(raw.trigger.as_ref().map(|trigger| trigger.message_id))?,
            reply_to: raw.reply_to,
            window: raw.window?,
            trigger: raw.trigger,
        },
        gold: QueryGold {
            context: raw.gold_context,
            far: raw.gold_far.unwrap_or_default(),
            related: raw.gold_related,
            slice: raw.slice,
        },
    })
}

fn check(query: &PackQuery, chats: &HashMap<String, Vec<PackMessage>>, path: &Path) -> anyhow::Result<()> {
    let known = chats.get(&query.ask.chat_id).is_some_and(|chat| {
        query.ask.trigger.is_some() || chat.iter().any(|message| message.message_id == query.ask.message_id)
    });
    if known {
        return Ok(());
    }
    let (query, message) = (&query.ask.query_id, query.ask.message_id);
    bail!("{}: query {query} names message {message}, which the chat does not have", path.display())
}

fn lines<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Vec<T>> {
    let unread = || format!("cannot read {}", path.display());
    let file = std::fs::File::open(path).with_context(unread)?;
    let mut parsed = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(file).lines()) {
        let line = line.with_context(unread)?;
        if line.trim().is_empty() {
            continue;
        }
        let value = serde_json::from_str(&line);
        parsed.push(value.map_err(|error| anyhow!("{}, line {number}: {error}", path.display()))?);
    }
    Ok(parsed)
}
