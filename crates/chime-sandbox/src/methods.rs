//! What a bot does to the state.
//!
//! *Owns*: one function for each method, from state, parameters and the time to an answer; the real server's refusals.
//! *Never*: waits, which is why `getUpdates` is only half here and the server does the rest.
//! *Entry*: [`call`]; `table` lists the methods, `place` says where a message may go.

mod chats;
mod edits;
mod files;
mod place;
mod polling;
mod profile;
mod send;
mod table;

pub(super) use files::content as file_content;
pub(super) use polling::PollRequest;
pub(super) use table::{call, is_polling};
