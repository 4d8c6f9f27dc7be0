//! The whole daemon, told as stories: one test binary, a file for each kind of story.
//!
//! `answering` speaks with it, `updates` pours everything into it that Telegram might send, `faults` breaks what is
//! around it, and `kills` ends it at the worst moments, as a process of its own.

#![expect(clippy::expect_used, clippy::panic, reason = "a story that cannot go on fails its test")]

mod answering;
mod faults;
mod kills;
mod process;
mod updates;
