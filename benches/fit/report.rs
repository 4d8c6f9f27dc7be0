//! Measures the selection with given weights, by kind of chat and trigger, next to the seed rule.

use std::collections::BTreeMap;
use std::sync::Arc;

use chime_eval::score::{QueryFigures, mean, score};
use chime_eval::{Selector, SelectorLimits};
use chime_relevance::context::Scorers;

use crate::chats::{Chat, Kind};

/// Most messages selected.
const LIMITS: SelectorLimits = SelectorLimits { k: 20, tokens: 1600 };

/// Figures of every query, by kind of chat and trigger.
#[derive(Debug, Default)]
pub struct Report {
    rows: BTreeMap<(Kind, String), (Vec<QueryFigures>, Vec<QueryFigures>)>,
}

impl Report {
    /// Runs the queries of a chat and adds their figures; in chats without triggers only one of `every`.
    pub fn add(&mut self, chat: &Chat, scorers: &Arc<Scorers>, every: usize) {
        let every = if chat.kind.has_tags() { 1 } else { every };
        for query in chat.queries.iter().step_by(every) {
            let history = chat.prepared.history(&query.ask);
            let figures = |selector: Selector| {
                let prediction =
                    selector.select(&query.ask.query_id, &history, LIMITS, scorers, &chat.prepared.past(&query.ask));
                score(query, &prediction, &chat.prepared.lengths, LIMITS.k)
            };
            let (ours, seed) = (figures(Selector::Chime), figures(Selector::Seed));
            for heading in headings(&query.ask.variant, query.gold.slice.kind.as_deref()) {
                let row = self.rows.entry((chat.kind, heading)).or_default();
                row.0.push(ours.clone());
                row.1.push(seed.clone());
            }
        }
    }

    pub fn table(&self) -> String {
        const COLUMNS: [&str; 6] = ["cov", "gtok", "far", "F1", "P", "tok"];
        let head: String = COLUMNS.iter().map(|column| format!(" {column:>7}")).collect();
        let mut lines = vec![format!("{:<9} {:<14} {:>5}{head} {:>7}", "kind", "tags", "n", "seed F1")];
        for ((kind, heading), (ours, seed)) in &self.rows {
            let (means, of_seed) = (mean(ours), mean(seed));
            let shown = |means: &BTreeMap<String, f64>, column: &str| match means.get(column) {
                Some(value) if matches!(column, "gtok" | "tok") => format!(" {value:7.0}"),
                Some(value) => format!(" {value:7.3}"),
                None => format!(" {:>7}", "-"),
            };
            let columns: String = COLUMNS.iter().map(|column| shown(&means, column)).collect();
            let seed = shown(&of_seed, "F1");
            lines.push(format!("{:<9} {heading:<14} {:>5}{columns}{seed}", kind.name(), ours.len()));
        }
        lines.join("\n")
    }
}

fn headings(variant: &str, kind: Option<&str>) -> Vec<String> {
    match (variant, kind) {
        ("new", _) => vec!["new".to_owned()],
        ("group", Some(kind)) => vec!["all".to_owned(), kind.to_owned()],
        ("telegram" | "bare_telegram", _) => vec![variant.to_owned()],
        _ => Vec::new(),
    }
}
