//! What a chat talked about before: sessions, their summaries, and what is rolled up from them.
//!
//! *Owns*: where a session ends, what a summary may say and rests on, how one is made without a model, tags, how Recent
//! and History go on.
//! *Never*: IO or a clock outside its driver; SQL; the text of a prompt.
//! *Entry*: [`Divider`] for sessions; [`bullets::parse`], [`extract::session`] and [`tags::parse`] for summaries.
//!
//! In reading order: `session` (where a conversation is cut), `words` and `members` (what bullets are made of), `bullets`
//! (a model's summary, checked), `lines` (what a model reads), `cues` and `extract` (summaries without a model), `tags`,
//! `division` (how the kept sessions change), `policy` (by what means a summary is made, and its caps).

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
pub mod topics;
pub mod wording;
mod words;

pub use session::{Divider, OpenSession, SessionRules, Stretch, Tail, fingerprint};
