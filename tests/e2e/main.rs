//! The whole daemon, told as stories: one test binary, a file for each kind of story.

#![expect(clippy::expect_used, reason = "a story that cannot go on fails its test")]

mod access;
mod privacy;
