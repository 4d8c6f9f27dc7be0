//! Treats an album as one trigger. Telegram sends its photos as separate messages, any of which may have the caption.

use std::time::Duration;

use chime_core::{JobKind, JobPayload, Message, MessageAt, ParsedTrigger, Timestamp};
use chime_store::{Reader, Writer, jobs, messages};

/// Delay of an album's answer. All its messages arrive within this time, so that the answer has every photo and replies
/// to the message with the caption.
pub const SETTLES: Duration = Duration::from_secs(1);

/// State of the job that another message of the same album may have started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlbumJobState {
    Nothing,
    /// A message without words has started a job that is not due yet: that message, and the time at which it is due.
    Wordless(MessageAt, Timestamp),
    /// A job is due already, or was started by a message with words.
    Done,
}

/// Returns the state of the job of `message`'s album. Returns [`AlbumJobState::Nothing`] if the message is not in an
/// album.
pub fn begun(conn: &Reader, message: &Message, now: Timestamp) -> chime_store::Result<AlbumJobState> {
    let Some(album) = &message.album else { return Ok(AlbumJobState::Nothing) };
    for (id, is_wordless) in messages::of_album(conn, message.chat, album)? {
        let at = MessageAt { chat: message.chat, message: id };
        if id == message.id || !has_job(conn, at)? {
            continue;
        }
        let waiting = jobs::find(conn, &answer_to(at))?.filter(|job| is_wordless && job.due_at > now);
        return Ok(waiting.map_or(AlbumJobState::Done, |job| AlbumJobState::Wordless(at, job.due_at)));
    }
    Ok(AlbumJobState::Nothing)
}

/// Replaces the job for the message `wordless` by `job`, which is for a message with words.
pub fn take_over(tx: &Writer<'_>, wordless: MessageAt, job: &JobPayload, due_at: Timestamp) -> chime_store::Result<()> {
    jobs::finish(tx, JobKind::Answer, &wordless.to_string())?;
    jobs::add(tx, job, due_at)?;
    Ok(())
}

fn has_job(conn: &Reader, at: MessageAt) -> chime_store::Result<bool> {
    for kind in [JobKind::Answer, JobKind::Command, JobKind::Thank, JobKind::Refusal] {
        if jobs::exists(conn, kind, &at.to_string())? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns a job with the same key as the answer to `at`. (The parsed trigger is not part of the key.)
pub fn answer_to(at: MessageAt) -> JobPayload {
    JobPayload::Answer { at, parsed: ParsedTrigger::default() }
}
