//! Scores a selection.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::pack::{PackQuery, Slice};

/// Figures of one query. A figure that is undefined, for example without gold, is absent.
pub type QueryFigures = BTreeMap<&'static str, f64>;

/// Result of a selector for one query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prediction {
    pub query_id: String,
    /// Ids of the chosen messages, best first.
    pub selected: Vec<i64>,
    /// Ids of further messages too, best first: a ranking longer than `selected`.
    pub ranked: Vec<i64>,
    /// Ids of all messages in the prompt.
    pub given: Vec<i64>,
}

/// Tokens for the head of a line in the prompt.
const LINE_TOKENS: f64 = 12.0;

/// Scores the first `k` messages of a prediction.
pub fn score(query: &PackQuery, prediction: &Prediction, texts: &HashMap<i64, usize>, k: usize) -> QueryFigures {
    let mut seen = BTreeSet::new();
    let selected: Vec<i64> = prediction.selected.iter().copied().filter(|id| seen.insert(*id)).take(k).collect();
    let gold: BTreeSet<i64> = query.gold.context.iter().copied().collect();
    let tokens = |ids: &mut dyn Iterator<Item = &i64>| -> f64 {
        ids.map(|id| (1 + texts.get(id).copied().unwrap_or(0) / 4) as f64).sum()
    };
    let spent = tokens(&mut selected.iter());
    let given: BTreeSet<i64> =
        if prediction.given.is_empty() { &prediction.selected } else { &prediction.given }.iter().copied().collect();
    let shown = tokens(&mut given.iter()) + LINE_TOKENS * given.len() as f64;
    let mut figures = QueryFigures::from([("nsel", selected.len() as f64), ("tok", spent), ("gtok", shown)]);
    let far: BTreeSet<i64> = query.gold.far.iter().copied().collect();
    let held = |ids: &BTreeSet<i64>| ratio(given.intersection(ids).count() as f64, ids.len() as f64);
    if !far.is_empty() {
        figures.insert("far", held(&far));
    }
    let Some(newest) = gold.last() else { return figures };
    let is_related = |id: &i64| gold.contains(id) || far.contains(id) || query.gold.related.contains(id);
    let right: Vec<i64> = selected.iter().copied().filter(is_related).collect();
    let precision = ratio(right.len() as f64, selected.len() as f64);
    let recall = right.iter().filter(|id| gold.contains(id)).count() as f64 / gold.len().min(k) as f64;
    figures.insert("cov", held(&gold));
    figures.insert("P", precision);
    figures.insert("R", recall);
    figures.insert("F1", ratio(2.0 * precision * recall, precision + recall));
    figures.insert("tokG", ratio(tokens(&mut right.iter()), spent));
    figures.insert("hitN", f64::from(u8::from(selected.contains(newest))));
    let ranked = if prediction.ranked.is_empty() { &prediction.selected } else { &prediction.ranked };
    for (name, depth) in [("R@10", 10), ("R@20", 20), ("R@40", 40)] {
        let found: BTreeSet<i64> = ranked.iter().take(depth).copied().filter(|id| gold.contains(id)).collect();
        figures.insert(name, found.len() as f64 / gold.len().min(depth) as f64);
    }
    figures
}

/// Returns the headings under which a query's figures are counted: its variant and its slices.
pub fn headings(query: &PackQuery) -> Vec<String> {
    let variant = &query.ask.variant;
    let mut headings = vec![variant.clone()];
    if query.gold.context.is_empty() {
        return headings;
    }
    let Slice { nearest_dist, nearest_gap_s, beyond20, beyond60min, day_span, bridge, kind } = &query.gold.slice;
    let slices = [
        (*beyond60min, "beyond60min"),
        (*beyond20, "beyond20"),
        (*nearest_dist > 1, "interleaved(prev msg is other conv)"),
        (*nearest_gap_s > 3600.0, "resumed(nearest gold >60min ago)"),
        (*day_span, "spans>1day"),
        (*bridge, "bridge(fresh start, older gold before a silence)"),
    ];
    headings.extend(slices.iter().filter(|(holds, _)| *holds).map(|(_, name)| format!("{variant}/{name}")));
    headings.extend(kind.iter().map(|kind| format!("{variant}/{kind}")));
    headings
}

pub fn mean(rows: &[QueryFigures]) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (name, value) in rows.iter().flatten() {
        let (sum, count) = sums.entry(name).or_default();
        *sum += value;
        *count += 1.0;
    }
    let mut means: BTreeMap<String, f64> =
        sums.into_iter().map(|(name, (sum, count))| (name.to_owned(), sum / count)).collect();
    means.insert("n".to_owned(), rows.len() as f64);
    means
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
