//! In-chat commands: what a member gets for `/why`, `/help` and `/start`, and the notices of the daemon.
//!
//! *Owns*: which command gives which words, and that each gets one reply.
//! *Never*: polls; calls a model.
//! *Entry*: [`run::Commands`].

mod notice;
mod panel;
pub mod run;
mod topics;

pub use notice::Notice;
