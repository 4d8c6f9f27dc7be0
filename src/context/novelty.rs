//! Does the trigger take anything up at all, or does it start something new?

use crate::context::features::token::Token;
use crate::context::linear::{Terms, chance};

pub const FEATURES: usize = 4;
/// In the order of their places.
pub const NAMES: [&str; FEATURES] = ["unlinked_log_odds", "has_words", "shared_stems", "group_words"];

/// What is known of a trigger before anything is chosen.
pub struct TagSummary<'a> {
    /// How likely its links say that it starts something new.
    pub unlinked: f64,
    /// Its stems; none where it says too little to go by.
    pub stems: Option<&'a [Token]>,
    /// The candidates' stems.
    pub known: &'a [&'a [Token]],
    /// How many of its words speak of the people here, of what they said, or of their days.
    pub ours: usize,
}

/// Whether a tag takes up anything at all.
#[derive(Debug, Clone)]
pub struct NoveltyModel {
    /// What more likely than this starts something new is given nothing earlier.
    pub threshold: f64,
    /// What a token costs, in F1, that is spent on a tag that starts something new.
    pub price: f64,
    pub terms: Terms<FEATURES>,
}

impl NoveltyModel {
    /// How likely a tag starts something new.
    pub fn novelty(&self, summary: &TagSummary<'_>) -> f64 {
        chance(self.terms.score(&features(summary)))
    }
}

/// What each candidate is expected to waste if it is given to a tag, in F1: all its tokens, each at a `price`, where the tag
/// starts something new after all. One that may is given only what is all but sure to be meant if anything is.
/// `lengths` are the candidates' letters.
pub fn waste(newness: f64, price: f64, lengths: impl Iterator<Item = usize>) -> Vec<f32> {
    /// Letters that make a token, about.
    const TOKEN: f64 = 4.0;
    // What helps only counts where something is taken up.
    let odds = newness / (1.0 - newness).max(1e-6);
    let tokens = |letters: usize| 1.0 + (letters as f64 / TOKEN).floor();
    lengths.map(|letters| (price * odds * tokens(letters)) as f32).collect()
}

/// By their names, what is asked of the trigger.
pub fn features(summary: &TagSummary<'_>) -> [f64; FEATURES] {
    let ours = (summary.ours as f64).ln_1p();
    let of_words = summary.stems.map_or([0.0; 3], |stems| [1.0, shared(stems, summary.known), ours]);
    let [has_words, shared, ours] = of_words;
    [(summary.unlinked + 0.003).ln(), has_words, shared, ours]
}

/// The share of the trigger's stems that a candidate has too.
fn shared(stems: &[Token], known: &[&[Token]]) -> f64 {
    let is_known = |stem: &&Token| known.iter().any(|other| other.binary_search(stem).is_ok());
    if stems.is_empty() { 0.0 } else { stems.iter().filter(is_known).count() as f64 / stems.len() as f64 }
}
