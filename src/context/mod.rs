//! What is being talked about: from a trigger and the messages before it to the window that an answer is given.
//!
//! *Owns*: the anchor, reply chains, clusters, and the fit into a token budget; why each message is in or out.
//! *Never*: IO, a clock, SQL, a model. The same history gives the same window, byte for byte.
//! *Entry*: [`get_smart_context`].
//!
//! In reading order: `window` (the door and its stages), `pool` (what may be chosen from), `chain`, `cluster`, `fit`,
//! `shorten`.

mod chain;
mod cluster;
mod fit;
mod pool;
mod shorten;
mod window;

pub use window::{ContextWindow, Entry, History, Params, get_smart_context};

#[cfg(test)]
mod tests;
