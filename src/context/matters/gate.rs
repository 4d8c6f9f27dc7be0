//! Does the trigger take anything up at all, or does it start something new?

use crate::context::matters::weights::Weights;
use crate::context::token::{Quick, Token};

/// What is known of a trigger before anything is chosen.
pub struct Opening<'a> {
    /// How likely its links say that it starts something new.
    pub unlinked: f64,
    /// How likely all matters together were taken up.
    pub mass: f64,
    pub is_reply: bool,
    /// Its stems; none where it says too little to go by.
    pub stems: Option<&'a [Token]>,
    /// The candidates' stems.
    pub known: &'a [&'a [Token]],
}

/// Whether nothing earlier is to be taken.
pub fn starts_new(opening: &Opening<'_>, weights: &Weights) -> bool {
    let unlinked = (opening.unlinked + 0.003).ln();
    let mut sum = weights.gate_bias + weights.gate("lpn") * unlinked;
    if opening.is_reply {
        sum += weights.gate("reply");
    }
    if let Some(stems) = opening.stems {
        sum += weights.gate("text") + weights.gate("text*lpn") * unlinked;
        sum += weights.gate("nst") * (stems.len() as f64).ln_1p();
        let (closest, shared) = overlap(stems, opening.known);
        sum += weights.gate("maxlex") * closest + weights.gate("tsh") * shared;
        if !opening.is_reply {
            sum += weights.gate("un") * ((1.0 - opening.mass).max(0.0) + 0.003).ln();
        }
    }
    1.0 / (1.0 + (-sum).exp()) >= weights.gate_threshold
}

/// The highest cosine with a candidate, and the share of the trigger's stems that a candidate has too.
fn overlap(stems: &[Token], known: &[&[Token]]) -> (f64, f64) {
    if stems.is_empty() {
        return (0.0, 0.0);
    }
    let mut spread: Quick<Token, f64> = Quick::default();
    for stem in known.iter().copied().flatten().chain(stems) {
        *spread.entry(*stem).or_default() += 1.0;
    }
    let square =
        |stem: &Token| ((known.len() as f64 + 21.0) / (spread.get(stem).copied().unwrap_or(0.0) + 0.5)).ln().powi(2);
    let length = |stems: &[Token]| stems.iter().map(square).sum::<f64>().sqrt();
    let own = length(stems);
    let cosines = known.iter().map(|other| {
        let shared: f64 = stems.iter().filter(|stem| other.binary_search(stem).is_ok()).map(square).sum();
        if shared > 0.0 { shared / (length(other) * own).max(1e-3) } else { 0.0 }
    });
    let closest = cosines.fold(0.0, f64::max);
    let shared = stems.iter().filter(|stem| spread.get(*stem).is_some_and(|count| *count >= 2.0)).count();
    (closest, shared as f64 / stems.len() as f64)
}
