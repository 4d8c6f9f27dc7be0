//! In-chat commands: what a member gets for `/why`, `/help` and `/start`, and the notices of the daemon.
//!
//! *Owns*: which command gives which words, and that each gets one reply.
//! *Never*: polls; calls a model.
//! *Entry*: [`handlers::Commands`].

pub mod handlers;
mod notice;
mod panel;
mod topics;

pub use notice::Notice;
