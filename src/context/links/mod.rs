//! Which earlier message does a message go on from?
//!
//! *Owns*: what a message says to the scorer (`speech`), the features of a pair (`features`), the fitted table that weighs
//! them (`model`), and the distribution over antecedents (`antecedents`).
//! *Never*: IO; anything about a message but itself and at most [`WINDOW`] messages before it, so that a row can be kept
//! and read again.
//! *Entry*: [`Past::antecedents`].

mod antecedents;
mod features;
mod model;
mod similarity;
mod speech;

pub use antecedents::{Antecedents, Link, Past};
pub use features::{Turn, WINDOW, silence_ranks};
pub use model::{LinkModel, SCORER_VERSION};
pub use similarity::dot;
pub use speech::{Hearing, Speech};
