//! Checks, once the model has answered, that the sources of the answer are still kept and the bot is still in the chat.

use chime_core::{AnswerRecord, Job, Seq};
use chime_store::{Reader, chats, consent, messages};

/// What became of an answer that was made.
pub enum Written {
    /// With the job that sends it, and whether jobs of the background were added.
    Down { send: Option<Job>, is_more_to_do: bool },
    /// Nobody waits for it any more.
    Ended,
    /// It rests on what may not be used any more: it has to be made anew.
    Gone,
}

/// Whether somebody had a message of the window, or of the suggestion it goes on with, forgotten, or opted out, since the window
/// was picked. `revision` is that of the chat when its messages were read; where it is still the same, they need no second look.
pub fn rests_on_what_is_gone(
    conn: &Reader,
    record: &AnswerRecord,
    also: &[Seq],
    revision: Option<i64>,
) -> chime_store::Result<bool> {
    let trigger = messages::any_by_seq(conn, record.chat, record.trigger)?.map(|stored| stored.message);
    let still_asked = trigger.map_or(Ok(None), |trigger| consent::for_job(conn, trigger.chat, trigger.id))?;
    if still_asked.is_none() {
        return Ok(true);
    }
    let is_as_read = revision.is_some() && chats::revision(conn, record.chat)?.map(|now| now.number) == revision;
    let shown = record.window.iter().map(|chosen| chosen.seq).filter(|_| !is_as_read);
    Ok(!messages::are_visible(conn, record.chat, shown.chain(also.iter().copied()))?)
}
