//! Transcription of voice messages and video notes, so that they are read like other messages.
//!
//! This module decides which recordings are transcribed. Recordings are never stored. [`worker::Voice`] transcribes
//! them in a `transcribe` job, or on demand for a question.

pub mod worker;

use chime_core::{Kind, Message, MessageFile, Timestamp};
use chime_memory::policy::ASKED_LATELY;
use chime_telegram::spoken_extension;

/// Maximum length of a recording that is transcribed, in seconds. Each second costs.
pub const LONGEST_SECONDS: u32 = 10 * 60;
/// Maximum size of a file that Telegram lets a bot download, in bytes.
pub const MOST_BYTES: usize = 20 * 1024 * 1024;

/// Returns `true` if a recording is short and small enough to be transcribed.
pub fn is_short_enough(recording: &MessageFile) -> bool {
    let is_short = recording.seconds.is_some_and(|seconds| seconds <= LONGEST_SECONDS);
    is_short && recording.bytes.is_none_or(|bytes| bytes <= MOST_BYTES as u64)
}

/// Returns a file name for the recording of `message`, with the extension of its format.
pub fn file_name(message: &Message, recording: &MessageFile) -> String {
    match (message.kind, spoken_extension(&recording.media_type)) {
        (Kind::VideoNote, _) => "video_note.mp4".to_owned(),
        (_, Some(extension)) => format!("voice.{extension}"),
        (_, None) => "voice.ogg".to_owned(),
    }
}

/// Returns `true` if a recording is transcribed although nobody asked about it: the chat has memory, which needs the
/// text, and was answered less than a week ago (at `asked_at`). In inactive chats it would be a waste.
pub fn is_transcribed_unasked(is_remembered: bool, asked_at: Option<Timestamp>, now: Timestamp) -> bool {
    is_remembered && asked_at.is_some_and(|at| now.since(at) < ASKED_LATELY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: u32, bytes: Option<u64>, expected: bool) {
        let recording = MessageFile { seconds: Some(seconds), bytes, ..MessageFile::default() };
        assert_eq!(is_short_enough(&recording), expected);
    }

    #[test]
    fn what_is_too_long_or_too_large_is_not_transcribed() {
        check(12, None, true);
        check(600, Some(20 * 1024 * 1024), true);
        check(601, None, false);
        check(12, Some(20 * 1024 * 1024 + 1), false);
    }

    #[test]
    fn a_chat_that_nobody_asks_is_not_transcribed_unasked() {
        let now = Timestamp::from_secs(10_000_000);
        let days_ago = |days: u64| Some(now.minus(std::time::Duration::from_secs(days * 24 * 3600)));
        assert!(is_transcribed_unasked(true, days_ago(6), now));
        assert!(!is_transcribed_unasked(true, days_ago(7), now));
        assert!(!is_transcribed_unasked(true, None, now));
        assert!(!is_transcribed_unasked(false, days_ago(1), now));
    }
}
