//! What is being talked about: from a trigger and the messages before it to the window that an answer is given.
//!
//! *Owns*: the anchor, reply chains, clusters, and the fit into a token budget; why each message is in or out.
//! *Never*: IO, a clock, SQL or a model outside its driver. The same history gives the same window, byte for byte.
//! *Entry*: [`run::gather`] fetches; [`get_smart_context`] picks.
//!
//! In reading order: `window` (the door and its stages), `pool` (what may be chosen from), `reading` (what is read off each
//! message, `token` its words as numbers), `links` (which message goes on from which), `worlds` (strands as samples,
//! `places` sets of messages), `matters` (what is taken up across silences; the anchor that a tag hangs on, and who is kin
//! to it), `choose` (the set worth taking), `strands` (all of these together, and what of it is worked out before anybody
//! asks), `beyond` (what is older than all candidates), `linear` (the form of the weights), `explain` (the same again, with
//! what each feature did), `chain`, `cluster` (the seed's rule, kept as a baseline and for short talks), `fit`, `shorten`, and
//! `run` (what is fetched, and what is kept of it in memory).

mod beyond;
mod chain;
mod choose;
mod cluster;
mod explain;
mod fit;
pub mod fitting;
mod linear;
mod links;
mod matters;
mod places;
mod pool;
mod reading;
pub mod run;
mod scorers;
mod shorten;
mod strands;
mod token;
mod window;
mod worlds;

pub use beyond::{Archive, Found, Judged, MOST_OF_A_WORD, Sought, Word, find as find_further_back};
pub use explain::{Explained, Feature, explain};
pub use links::{Antecedents, Link, LinkModel, SCORER_VERSION};
pub use reading::{Evidence, Reading, antecedent_rows, without_bots};
pub use scorers::Scorers;
pub use window::{ContextWindow, Entry, History, Params, Picker, Sources, get_smart_context, get_smart_context_with};

#[cfg(test)]
mod tests;
