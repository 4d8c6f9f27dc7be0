//! Which earlier message does a message go on from? Antecedent scoring, as in disentanglement.
//!
//! *Owns*: the features of a message and one before it (`pairs`, `similarity`), the fitted table that weighs them (`model`), the
//! distribution over antecedents (`antecedents`), and reply forests sampled from it (`sample`).
//! *Never*: IO; anything about a message but itself and a window of messages before it, so that a row can be kept and read again.
//! *Entry*: [`antecedents::Past::antecedents`].

pub mod antecedents;
pub mod model;
pub mod pairs;
pub mod sample;
pub mod similarity;
