//! Reply model: estimates which earlier message each message replies to (its antecedent), as in research on
//! conversation disentanglement.
//!
//! `pairs` and `similarity` compute the features of a message and an earlier one, `model` scores them, `antecedents`
//! turns the scores into probabilities, and `sample` draws reply forests from these. The probabilities depend only on a
//! message and the window before it, so they can be cached. Start at [`antecedents::ReplyContext::antecedents`].

pub mod antecedents;
pub mod model;
pub mod pairs;
pub mod sample;
pub mod similarity;
