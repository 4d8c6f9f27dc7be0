//! Makes an album one trigger. Its messages arrive one by one, and any of them may have the caption.

use std::time::Duration;

use chime_core::{JobKind, JobPayload, Message, MessageAt, ParsedTrigger, Timestamp};
use chime_store::{Reader, Writer, jobs, messages};

/// Wait for the rest of an album. Its messages arrive within this time, so the answer has all photos and replies to the
/// message with the caption.
pub const SETTLES: Duration = Duration::from_secs(1);

/// State of the job for an album, as started by its other messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    Nothing,
    /// A photo without words has started a job that is due at this time.
    Wordless(MessageAt, Timestamp),
    /// A job with words exists, or a job has started.
    Done,
}

/// Returns the state of the job for the album of `message`; `Nothing` if it belongs to no album.
pub fn begun(conn: &Reader, message: &Message, now: Timestamp) -> chime_store::Result<Begun> {
    let Some(album) = &message.album else { return Ok(Begun::Nothing) };
    for (id, is_wordless) in messages::of_album(conn, message.chat, album)? {
        let at = MessageAt { chat: message.chat, message: id };
        if id == message.id || !has_job(conn, at)? {
            continue;
        }
        let waiting = jobs::find(conn, &answer_to(at))?.filter(|job| is_wordless && job.due_at > now);
        return Ok(waiting.map_or(Begun::Done, |job| Begun::Wordless(at, job.due_at)));
    }
    Ok(Begun::Nothing)
}

/// Replaces the job for the photo at `wordless` by a job for a message that has words.
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

fn answer_to(at: MessageAt) -> JobPayload {
    JobPayload::Answer { at, parsed: ParsedTrigger::default() }
}
