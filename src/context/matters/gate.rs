//! Does the trigger take anything up at all, or does it start something new?

use crate::context::linear::chance;
use crate::context::matters::anchor::BestMatch;
use crate::context::matters::weights::{Gate, TagGate};
use crate::context::token::Token;

pub const FEATURES: usize = 12;
/// In the order of their places. Those of a remark come last: a tag that replies takes something up, whatever its words are.
pub const NAMES: [&str; FEATURES] = [
    "lpn",
    "text",
    "nst",
    "tsh",
    "vec",
    "best_words",
    "best_rarest",
    "best_words_near",
    "best_meaning",
    "best_meaning_near",
    "reply",
    "un",
];
/// How many are asked of a tag.
pub const OF_TAG: usize = 10;

/// What is known of a trigger before anything is chosen.
pub struct Opening<'a> {
    /// How likely its links say that it starts something new.
    pub unlinked: f64,
    /// How likely all matters together were taken up; asked of a remark, and not of a tag.
    pub mass: f64,
    pub is_reply: bool,
    /// Its stems; none where it says too little to go by.
    pub stems: Option<&'a [Token]>,
    /// The candidates' stems.
    pub known: &'a [&'a [Token]],
    /// Whether the embedding model knows its words. The languages that it does not know inflect more, as a rule: there it
    /// says less that the words of a trigger are new here.
    pub has_meaning: bool,
    /// How well the words of a tag are met; nothing of a remark.
    pub best: BestMatch,
}

/// Whether nothing earlier is to be taken.
pub fn starts_new(opening: &Opening<'_>, gate: &Gate) -> bool {
    newness(opening, gate) >= gate.threshold
}

/// What each candidate is expected to waste if it is given to a tag, in F1: all its tokens, where the tag starts something
/// new after all. One that may is given only what is all but sure to be meant if anything is.
/// `lengths` are the candidates' letters.
pub fn waste(opening: &Opening<'_>, gate: &TagGate, lengths: impl Iterator<Item = usize>) -> Vec<f32> {
    /// Letters that make a token, about.
    const TOKEN: f64 = 4.0;
    let newness = newness(opening, &gate.gate);
    // What helps only counts where something is taken up.
    let odds = newness / (1.0 - newness).max(1e-6);
    let tokens = |letters: usize| 1.0 + (letters as f64 / TOKEN).floor();
    lengths.map(|letters| (gate.price * odds * tokens(letters)) as f32).collect()
}

/// How likely the trigger starts something new.
fn newness(opening: &Opening<'_>, gate: &Gate) -> f64 {
    let values = NAMES.iter().zip(features(opening));
    chance(gate.bias + values.map(|(name, value)| gate.weight(name) * value).sum::<f64>())
}

/// By their names, what is asked of the trigger.
pub fn features(opening: &Opening<'_>) -> [f64; FEATURES] {
    let has_meaning = f64::from(u8::from(opening.has_meaning));
    let words = |stems: &[Token]| [1.0, (stems.len() as f64).ln_1p(), shared(stems, opening.known), has_meaning];
    let [text, nst, tsh, vec] = opening.stems.map_or([0.0; 4], words);
    let un = if opening.is_reply { 0.0 } else { text * ((1.0 - opening.mass).max(0.0) + 0.003).ln() };
    let BestMatch { words, rarest, words_near, meaning, meaning_near } = opening.best;
    let [words, rarest, near, meaning, around] = [words, rarest, words_near, meaning, meaning_near].map(|it| text * it);
    let reply = f64::from(u8::from(opening.is_reply));
    [(opening.unlinked + 0.003).ln(), text, nst, tsh, vec, words, rarest, near, meaning, around, reply, un]
}

/// The share of the trigger's stems that a candidate has too.
fn shared(stems: &[Token], known: &[&[Token]]) -> f64 {
    let is_known = |stem: &&Token| known.iter().any(|other| other.binary_search(stem).is_ok());
    if stems.is_empty() { 0.0 } else { stems.iter().filter(is_known).count() as f64 / stems.len() as f64 }
}
