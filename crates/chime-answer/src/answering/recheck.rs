//! Checks before an answer is stored that its sources may still be used: some may have been deleted while the model
//! wrote.

use chime_core::{AnswerRecord, Seq};
use chime_store::{Reader, consent, messages};

pub enum SaveOutcome {
    Saved,
    /// The job was ended by something else while the answer was made: nothing is stored.
    Ended,
    /// A source may no longer be used: nothing is stored, and the answer has to be made again.
    Gone,
}

/// Returns `true` if a source may no longer be used: the trigger, a message of the window or one of `also` was deleted,
/// or its author opted out.
pub fn rests_on_forgotten(conn: &Reader, record: &AnswerRecord, also: &[Seq]) -> chime_store::Result<bool> {
    let trigger = messages::any_by_seq(conn, record.chat, record.trigger)?.map(|stored| stored.message);
    let still_asked = trigger.map_or(Ok(None), |trigger| consent::for_job(conn, trigger.chat, trigger.id))?;
    if still_asked.is_none() {
        return Ok(true);
    }
    let shown = record.window.iter().map(|chosen| chosen.seq);
    Ok(!messages::are_visible(conn, record.chat, shown.chain(also.iter().copied()))?)
}
