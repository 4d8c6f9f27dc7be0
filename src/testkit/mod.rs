//! The fake world of the tests.
//!
//! *Owns*: stand-ins for what is outside the process, scripted and strict: what was not expected is a failure.
//! *Never*: in a release build; a second implementation of anything of ours.
//! *Entry*: [`ModelServer`] is a language model with its lines learnt by heart.

mod model;
mod reply;

pub use model::ModelServer;
pub use reply::Reply;
