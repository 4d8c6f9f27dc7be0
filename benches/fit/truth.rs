//! True subjects of messages. The fit reads them; the selector never does.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use crate::Outcome;

/// Gold of a message, with the field names of a pack.
#[derive(Debug, Deserialize)]
pub struct GoldLine {
    chat_id: String,
    message_id: i64,
    /// Several names are joined by `+`; `-` and `new` mean none.
    gold_conversation_id: String,
    /// All messages that it answers. In a pack without this field, conversations are known from the start.
    #[serde(default)]
    gold_reply_to_all: Option<Vec<i64>>,
}

/// Subjects of each message of a chat, oldest first.
#[derive(Debug, Clone, Default)]
pub struct Truth {
    subjects: Vec<Vec<usize>>,
    /// For each message, the earlier messages of its conversation, as far as known at that time.
    same: Vec<Vec<usize>>,
}

/// Reads the gold of every chat of a pack.
pub fn read(folder: &Path, has_subjects: bool, reach: usize) -> Outcome<HashMap<String, Truth>> {
    let mut lines: HashMap<String, Vec<GoldLine>> = HashMap::new();
    for line in std::fs::read_to_string(folder.join("messages.jsonl"))?.lines().filter(|line| !line.trim().is_empty()) {
        let line: GoldLine = serde_json::from_str(line)?;
        lines.entry(line.chat_id.clone()).or_default().push(line);
    }
    Ok(lines.into_iter().map(|(chat, lines)| (chat, Truth::of(&lines, has_subjects, reach))).collect())
}

impl Truth {
    /// Builds the truth. With `has_subjects`, equal names mean the same subject from the start, and a message may have
    /// several; otherwise conversations grow along their reply links. Each message is compared with the `reach`
    /// messages before it only.
    pub fn of(lines: &[GoldLine], has_subjects: bool, reach: usize) -> Self {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let subjects: Vec<Vec<usize>> = (lines.iter())
            .map(|line| {
                let names = line.gold_conversation_id.split('+').filter(|name| !matches!(*name, "-" | "new" | ""));
                names
                    .map(|name| {
                        let next = numbers.len();
                        *numbers.entry(name).or_insert(next)
                    })
                    .collect()
            })
            .collect();
        let mut truth = Self { subjects, same: Vec::new() };
        let grows = !has_subjects && lines.iter().any(|line| line.gold_reply_to_all.is_some());
        truth.same = if grows {
            growing(lines, reach)
        } else {
            let like = |place: usize| {
                (place.saturating_sub(reach)..place).filter(|other| truth.are_kin(place, *other)).collect()
            };
            (0..lines.len()).map(like).collect()
        };
        truth
    }

    /// Builds the truth from the names of each message's subjects.
    pub fn of_subjects(subjects: &[Vec<String>], reach: usize) -> Self {
        let line = |subjects: &Vec<String>| GoldLine {
            chat_id: String::new(),
            message_id: 0,
            gold_conversation_id: subjects.join("+"),
            gold_reply_to_all: None,
        };
        Self::of(&subjects.iter().map(line).collect::<Vec<_>>(), true, reach)
    }

    pub fn are_kin(&self, one: usize, other: usize) -> bool {
        self.subjects[one].iter().any(|subject| self.subjects[other].contains(subject))
    }

    pub fn is_known(&self, place: usize) -> bool {
        !self.subjects[place].is_empty()
    }

    /// Returns the first subject of a message.
    pub fn about(&self, place: usize) -> Option<usize> {
        self.subjects[place].first().copied()
    }

    /// Returns the earlier messages of its conversation, ascending.
    pub fn same(&self, place: usize) -> &[usize] {
        &self.same[place]
    }
}

/// Grows conversations: a reply link joins two conversations from then on.
fn growing(lines: &[GoldLine], reach: usize) -> Vec<Vec<usize>> {
    let places: HashMap<i64, usize> = lines.iter().enumerate().map(|(place, line)| (line.message_id, place)).collect();
    let mut conversation: Vec<usize> = (0..lines.len()).collect();
    let mut same = Vec::with_capacity(lines.len());
    for (place, line) in lines.iter().enumerate() {
        let linked = line.gold_reply_to_all.iter().flatten().filter_map(|id| places.get(id).copied());
        for other in linked.filter(|other| *other < place) {
            let (from, to) = (conversation[place], conversation[other]);
            conversation[..=place].iter_mut().filter(|own| **own == from).for_each(|own| *own = to);
        }
        let near = place.saturating_sub(reach)..place;
        same.push(near.filter(|other| conversation[*other] == conversation[place]).collect());
    }
    same
}
