//! The reply model: antecedent scoring, as in conversation disentanglement.
//!
//! *Owns*: the features of a message and one before it (`pairs`, `similarity`), the linear model over them (`model`), the
//! distribution over antecedents (`antecedents`), and reply forests sampled from it (`sample`).
//! *Never*: IO; anything but a message and the window before it, so that a distribution can be cached.
//! *Entry*: [`antecedents::Past::antecedents`].

pub mod antecedents;
pub mod model;
pub mod pairs;
pub mod sample;
pub mod similarity;
