//! Bot API methods: one function each, from state, parameters and time to a result or the real server's refusal.
//!
//! Start with [`call`]; `table` lists the methods, `target` checks the target of a message. No function here waits: the
//! waiting part of `getUpdates` is in `server`.

mod chats;
mod edits;
mod files;
mod polling;
mod profile;
mod send;
mod table;
mod target;

pub(super) use files::content as file_content;
pub(super) use polling::PollRequest;
pub(super) use table::{call, is_polling};
