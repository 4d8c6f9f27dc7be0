//! Memory of a chat: sessions, their summaries, rolling summaries, topics, and recall of old messages.
//!
//! [`jobs`] runs in the background: [`Divider`] finds sessions, [`bullets::parse`] checks the summary of a model,
//! [`extract::session`] makes a summary without one, and [`tags::parse`] reads a model's tags. [`context`] loads the
//! messages for an answer, and [`recall`] finds older ones.

pub mod bullet_selection;
pub mod bullets;
pub mod context;
pub mod division;
pub mod extract;
pub mod jobs;
pub mod lines;
pub mod members;
pub mod policy;
pub mod recall;
mod session;
pub mod tags;
pub mod told;
pub mod topics;
pub mod wording;
mod words;

pub use session::{Divider, OpenSession, SessionRules, fingerprint};
