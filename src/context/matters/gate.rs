//! Does the trigger take anything up at all, or does it start something new?

use crate::context::matters::weights::Gate;
use crate::context::token::Token;

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
}

/// Whether nothing earlier is to be taken.
pub fn starts_new(opening: &Opening<'_>, gate: &Gate) -> bool {
    newness(opening, gate) >= gate.threshold
}

/// How likely the trigger starts something new.
fn newness(opening: &Opening<'_>, gate: &Gate) -> f64 {
    let mut sum = gate.bias + gate.weight("lpn") * (opening.unlinked + 0.003).ln();
    if opening.is_reply {
        sum += gate.weight("reply");
    }
    if let Some(stems) = opening.stems {
        sum += gate.weight("text") + gate.weight("nst") * (stems.len() as f64).ln_1p();
        sum += gate.weight("tsh") * shared(stems, opening.known);
        if !opening.is_reply {
            sum += gate.weight("un") * ((1.0 - opening.mass).max(0.0) + 0.003).ln();
        }
    }
    1.0 / (1.0 + (-sum).exp())
}

/// The share of the trigger's stems that a candidate has too.
fn shared(stems: &[Token], known: &[&[Token]]) -> f64 {
    let is_known = |stem: &&Token| known.iter().any(|other| other.binary_search(stem).is_ok());
    if stems.is_empty() { 0.0 } else { stems.iter().filter(is_known).count() as f64 / stems.len() as f64 }
}
