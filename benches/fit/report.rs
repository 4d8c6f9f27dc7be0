//! How well chats are read with given weights: F1 by kind of chat and of tag, beside the seed's rule.

use std::collections::BTreeMap;
use std::sync::Arc;

use chime::context::Scorers;
use chime::eval::Selector;
use chime::eval::score::score;

use crate::chats::{Chat, Kind};

/// Messages that may be selected.
const MOST: usize = 20;

/// Figures by kind and what they are of: sums, and how many.
#[derive(Debug, Default)]
pub struct Report {
    rows: BTreeMap<(Kind, String), Figure>,
}

#[derive(Debug, Default)]
struct Figure {
    count: f64,
    ours: f64,
    seed: f64,
}

impl Report {
    /// Answers the queries of a chat, of chats without tags one in `every`, and counts how well.
    pub fn add(&mut self, chat: &Chat, scorers: &Arc<Scorers>, every: usize) {
        let every = if chat.kind.has_tags() { 1 } else { every };
        for query in chat.queries.iter().step_by(every) {
            let history = chat.prepared.history(&query.ask);
            let figure = |selector: Selector| {
                let prediction = selector.select(&query.ask.query_id, &history, (MOST, scorers), |sought| {
                    chat.prepared.look_further_back(&query.ask, sought)
                });
                let figures = score(query, &prediction, &chat.prepared.lengths, MOST);
                figures.get("F1").copied().unwrap_or(figures["tok"])
            };
            let (ours, seed) = (figure(Selector::Chime), figure(Selector::Seed));
            for heading in headings(&query.ask.variant, query.gold.slice.kind.as_deref()) {
                let row = self.rows.entry((chat.kind, heading)).or_default();
                row.count += 1.0;
                row.ours += ours;
                row.seed += seed;
            }
        }
    }

    pub fn table(&self) -> String {
        let mut lines = vec![format!("{:<9} {:<22} {:>5} {:>7} {:>7}", "kind", "F1 of", "n", "ours", "seed")];
        for ((kind, heading), Figure { count, ours, seed }) in &self.rows {
            let figure = |sum: &f64| match heading.starts_with("new") {
                true => format!("{:7.1}", sum / count),
                false => format!("{:7.3}", sum / count),
            };
            lines.push(format!("{:<9} {heading:<22} {count:>5} {} {}", kind.name(), figure(ours), figure(seed)));
        }
        lines.join("\n")
    }
}

fn headings(variant: &str, kind: Option<&str>) -> Vec<String> {
    match (variant, kind) {
        ("new", _) => vec!["new (tokens)".to_owned()],
        ("group", Some(kind)) => vec!["all".to_owned(), kind.to_owned()],
        ("telegram" | "bare_telegram", _) => vec![variant.to_owned()],
        _ => Vec::new(),
    }
}
