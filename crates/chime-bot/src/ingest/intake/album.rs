//! An album is one trigger, not one a photo: its messages arrive one by one, and the words may stand under any of them.

use std::time::Duration;

use chime_core::{JobKind, JobPayload, Message, MessageAt, ParsedTrigger, Timestamp};
use chime_store::{Reader, Writer, jobs, messages};

/// The photos of an album arrive within this time of each other: then the answer knows them all, and replies to the one
/// with words.
pub const SETTLES: Duration = Duration::from_secs(1);

/// What the other messages of an album have set in motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    Nothing,
    /// By a photo without words, and at this moment it starts.
    Wordless(MessageAt, Timestamp),
    /// It has words of its own, or has started.
    Done,
}

/// What is begun for the album that `message` belongs to; nothing where it belongs to none.
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

/// Has `message`, which has the words, answered in place of the photo at `wordless`.
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
