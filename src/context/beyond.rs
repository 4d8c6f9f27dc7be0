//! Further back than the candidates: where the matter of a trigger began, if that was before all of them.
//!
//! In a group of five hundred messages a day the last two hundred are one afternoon. What was picked of them, and what was
//! asked, says what is `sought`: its words are searched for in all that is older. Where they were said (`spans`) says how much
//! that tells: a word that this chat says once a month is no accident three days back, and is one three years back. The
//! hits are read and compared with it (`judge`), and of what is accepted the talk around it comes along
//! (`around`). Precision first: what is not clearly about the same is left where it is.

mod around;
mod find;
mod judge;
mod sought;
mod spans;
mod weights;

pub use around::around;
pub use find::{Archive, find};
pub use judge::{BESIDE, FEATURES, Judged, NAMES, ReadSpan, beside, compared, judged};
pub use sought::{About, Sought, Word};
pub use spans::{MOST_OF_A_WORD, Said, Span, spans};
pub use weights::Weights;

use crate::domain::StoredMessage;

/// A message from further back, taken with what it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Bridged {
    pub message: StoredMessage,
    /// How likely what it came with is about the same, 0 to 1.
    pub probability: f64,
}

/// What looking further back came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    pub bridged: Vec<Bridged>,
    /// What may be about it, and is not sure enough to be taken.
    pub nearby: Vec<Bridged>,
    /// All that was compared, the likeliest first, for whoever wants to know why.
    pub judged: Vec<Judged>,
}
