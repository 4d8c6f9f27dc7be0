//! Packs: chats with queries whose right answers are known.
//!
//! What a selector may see and what it is judged by are different types, so gold cannot leak.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A pack as read from its folder.
#[derive(Debug, Clone)]
pub struct Pack {
    /// The folder's name.
    pub name: String,
    /// Messages of each chat, oldest first.
    pub chats: HashMap<String, Vec<PackMessage>>,
    pub queries: Vec<PackQuery>,
    /// Everything before a trigger is a candidate, further back than its window too.
    pub reaches_back: bool,
}

/// A message as a selector may see it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PackMessage {
    pub chat_id: String,
    pub message_id: i64,
    /// Unix seconds.
    pub date: i64,
    pub from_id: i64,
    pub from_name: String,
    #[serde(default)]
    pub username: Option<String>,
    #[serde(default)]
    pub is_bot: bool,
    pub text: String,
    /// The reply link that is visible in variants with links.
    #[serde(default)]
    pub reply_to: Option<i64>,
}

/// A query: what is asked, and apart from it what is right.
#[derive(Debug, Clone, PartialEq)]
pub struct PackQuery {
    pub ask: QueryAsk,
    pub gold: QueryGold,
}

/// What a selector is given of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryAsk {
    pub query_id: String,
    pub variant: String,
    pub chat_id: String,
    pub message_id: i64,
    /// The trigger's own visible parent.
    pub reply_to: Option<i64>,
    /// First and last candidate.
    pub window: (i64, i64),
}

/// What it is judged by.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryGold {
    pub context: Vec<i64>,
    /// From before the window.
    pub far: Vec<i64>,
    pub slice: Slice,
}

/// Facts about the gold, for reporting.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Slice {
    #[serde(default)]
    pub nearest_dist: i64,
    #[serde(default)]
    pub nearest_gap_s: f64,
    #[serde(default)]
    pub beyond20: bool,
    #[serde(default)]
    pub beyond60min: bool,
    #[serde(default)]
    pub day_span: bool,
    #[serde(default)]
    pub bridge: bool,
    #[serde(default)]
    pub kind: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum PackError {
    #[error("cannot read {path}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path}, line {line}: {what}")]
    Line { path: PathBuf, line: usize, what: String },
    #[error("{path}: query {query} names message {message}, which the chat does not have")]
    NoMessage { path: PathBuf, query: String, message: i64 },
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
    slice: Slice,
}

impl Pack {
    /// Reads `messages.jsonl` and `queries.jsonl` of a folder. Queries about recall (`qa`) are another command's.
    pub fn read(folder: &Path) -> Result<Self, PackError> {
        let mut chats: HashMap<String, Vec<PackMessage>> = HashMap::new();
        for message in lines::<PackMessage>(&folder.join("messages.jsonl"))? {
            chats.entry(message.chat_id.clone()).or_default().push(message);
        }
        let path = folder.join("queries.jsonl");
        let mut queries = Vec::new();
        let mut reaches_back = false;
        for raw in lines::<RawQuery>(&path)? {
            reaches_back |= raw.gold_far.is_some();
            if let Some(query) = query(raw) {
                check(&query, &chats, &path)?;
                queries.push(query);
            }
        }
        let name =
            folder.file_name().map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into());
        Ok(Self { name, chats, queries, reaches_back })
    }
}

fn query(raw: RawQuery) -> Option<PackQuery> {
    if raw.variant == "qa" {
        return None;
    }
    Some(PackQuery {
        ask: QueryAsk {
            query_id: raw.query_id,
            variant: raw.variant,
            chat_id: raw.chat_id,
            message_id: raw.message_id?,
            reply_to: raw.reply_to,
            window: raw.window?,
        },
        gold: QueryGold { context: raw.gold_context, far: raw.gold_far.unwrap_or_default(), slice: raw.slice },
    })
}

fn check(query: &PackQuery, chats: &HashMap<String, Vec<PackMessage>>, path: &Path) -> Result<(), PackError> {
    let known = chats
        .get(&query.ask.chat_id)
        .is_some_and(|chat| chat.iter().any(|message| message.message_id == query.ask.message_id));
    if known {
        return Ok(());
    }
    Err(PackError::NoMessage {
        path: path.to_owned(),
        query: query.ask.query_id.clone(),
        message: query.ask.message_id,
    })
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, PackError> {
    let read = |source| PackError::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(read)?;
    let mut parsed = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(file).lines()) {
        let line = line.map_err(read)?;
        if line.trim().is_empty() {
            continue;
        }
        let value = serde_json::from_str(&line).map_err(|error| PackError::Line {
            path: path.to_owned(),
            line: number,
            what: error.to_string(),
        })?;
        parsed.push(value);
    }
    Ok(parsed)
}
