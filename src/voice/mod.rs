//! Voice messages and video notes: what is said in them is written down, so that they are read as other messages are.
//!
//! *Owns*: which recordings are listened to, when, and on whose account.
//! *Never*: keeps a recording; decides what an answer is about.
//! *Entry*: [`run::Listener`], for a `transcribe` job and for whoever asks about what was said.

pub mod run;

use crate::domain::{Kind, Message};
use crate::telegram::Recording;

/// Longer recordings are not listened to: nobody speaks to a chat for that long, and each second costs.
pub const LONGEST_SECONDS: u32 = 10 * 60;
/// Telegram gives larger files to no bot.
pub const MOST_BYTES: usize = 20 * 1024 * 1024;

/// Whether a recording is one that is listened to.
pub fn is_heard(recording: &Recording) -> bool {
    recording.seconds <= LONGEST_SECONDS && recording.bytes.is_none_or(|bytes| bytes <= MOST_BYTES as u64)
}

/// A name for the recording of `message`, with the ending of its format.
pub fn file_name(message: &Message) -> &'static str {
    match message.kind {
        Kind::VideoNote => "video_note.mp4",
        _ => "voice.ogg",
    }
}

/// How a chat stands towards what nobody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The operator and the chat want it remembered what was said.
    pub remembers: bool,
    /// Somebody tagged the bot lately.
    pub was_asked_lately: bool,
}

/// Whether a recording is written down before anybody asks about it. What is remembered of a chat, and what is read when it is
/// tagged, rests on that; nobody pays for chats that nobody asks.
pub fn is_written_down_unasked(standing: Standing) -> bool {
    standing.remembers && standing.was_asked_lately
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: u32, bytes: Option<u64>, expected: bool) {
        assert_eq!(is_heard(&Recording { id: "a".to_owned(), seconds, bytes }), expected);
    }

    #[test]
    fn what_is_too_long_or_too_large_is_not_listened_to() {
        check(12, None, true);
        check(600, Some(20 * 1024 * 1024), true);
        check(601, None, false);
        check(12, Some(20 * 1024 * 1024 + 1), false);
    }
}
