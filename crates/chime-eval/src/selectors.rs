//! Selectors that can be compared: the daemon's own and simple baselines.

use std::sync::Arc;

use crate::score::Prediction;
use chime_core::MessageId;
use chime_relevance::context::{ContextWindow, History, Params, Past, Scorers, SeedRule, get_smart_context_with};

/// Selector under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Selector {
    /// The daemon's
    Chime,
    /// The newest twenty messages
    #[value(name = "last-20")]
    Last20,
    /// Back to a silence of an hour, at most twenty messages, and the anchor
    Seed,
    /// The last fifty messages, windows around reply targets, and reply chains of four
    RecentWindows,
}

#[derive(Debug, Clone, Copy)]
pub struct SelectorLimits {
    /// Most messages of the focus.
    pub k: usize,
    /// Token budget for all messages shown, counted as packs count tokens.
    pub tokens: usize,
}

/// Messages on each side of a reply target for `recent-windows`.
const AROUND: usize = 5;
const RECENT: usize = 50;
const CHAIN: usize = 4;

impl Selector {
    /// Selects at most `k` messages. Only the daemon's selector uses `scorers` and `past`.
    pub fn select(
        self,
        query_id: &str,
        history: &History,
        limits: SelectorLimits,
        scorers: &Arc<Scorers>,
        past: &impl Past,
    ) -> Prediction {
        let (selected, ranked) = match self {
            Self::Chime => {
                let window = get_smart_context_with(history, &params(limits, scorers), past, |_| None);
                return of_window(query_id, limits.k, &window);
            }
            Self::Seed => seed(history),
            Self::Last20 => newest_first(history, 20),
            Self::RecentWindows => recent_windows(history),
        };
        Prediction { query_id: query_id.to_owned(), given: selected.clone(), selected, ranked }
    }
}

fn params(limits: SelectorLimits, scorers: &Arc<Scorers>) -> Params {
    let estimate = |text: &str| 1 + text.chars().count() / 4;
    Params { focus_limit: limits.k, token_budget: limits.tokens, scorers: Arc::clone(scorers), ..Params::new(estimate) }
}

/// Converts a context window, with the best `k` of its focus as the selection. Messages linked by replies can exceed
/// `k`.
fn of_window(query_id: &str, k: usize, window: &ContextWindow) -> Prediction {
    let mut entries: Vec<(f64, i64)> = window.focus().map(|entry| (entry.score, entry.message.message.id.0)).collect();
    entries.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let selected: Vec<i64> = entries.into_iter().map(|(_, id)| id).take(k).collect();
    let ranked =
        if window.ranked.is_empty() { selected.clone() } else { window.ranked.iter().map(|id| id.0).collect() };
    let given = window.entries.iter().map(|entry| entry.message.message.id.0).collect();
    Prediction { query_id: query_id.to_owned(), selected, ranked, given }
}

fn newest_first(history: &History, count: usize) -> (Vec<i64>, Vec<i64>) {
    let ranked: Vec<i64> = history.recent.iter().rev().map(|stored| stored.message.id.0).collect();
    (ranked.iter().take(count).copied().collect(), ranked)
}

fn seed(history: &History) -> (Vec<i64>, Vec<i64>) {
    let selected: Vec<i64> = SeedRule::default().select(history).iter().map(|stored| stored.message.id.0).collect();
    (selected.clone(), selected)
}

fn recent_windows(history: &History) -> (Vec<i64>, Vec<i64>) {
    let place = |id: MessageId| history.recent.iter().position(|stored| stored.message.id == id);
    let mut chosen: Vec<usize> = Vec::new();
    let mut parent = history.trigger.message.reply_to;
    for _ in 0..CHAIN {
        let Some(at) = parent.and_then(place) else { break };
        chosen.push(at);
        chosen.extend(
            (at.saturating_sub(AROUND)..(at + AROUND + 1).min(history.recent.len())).filter(|near| *near != at),
        );
        parent = history.recent[at].message.reply_to;
    }
    chosen.extend((0..history.recent.len()).rev().take(RECENT));
    let mut seen = std::collections::HashSet::new();
    chosen.retain(|at| seen.insert(*at));
    let ids: Vec<i64> = chosen.into_iter().map(|at| history.recent[at].message.id.0).collect();
    (ids.clone(), ids)
}
