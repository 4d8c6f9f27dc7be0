//! Says which message an entry of a window continues, and what it inherits from it.

use std::time::Duration;

use chime_core::Message;
use chime_core::trigger::Languages;
use chime_relevance::context::ContextWindow;

/// Share of a question's match that the answer to that question inherits. The match says how well a message fits the
/// words of the query.
const OF_QUESTION: f64 = 0.9;
/// Share of a message's match that a reply to it inherits, if the message is not a question.
const OF_REMARK: f64 = 0.5;
/// Maximum time between a question and the next message for that message to count as its answer without being a reply.
const ANSWERED_WITHIN: Duration = Duration::from_mins(30);

/// Returns the place of the message that the entry at `place` continues: the one it replies to, else the one that
/// another member wrote just before.
pub(super) fn continued(window: &ContextWindow, place: usize) -> Option<usize> {
    let message = &window.entries.get(place)?.message.message;
    match message.reply_to {
        Some(parent) => window.entries[..place].iter().rposition(|other| other.message.message.id == parent),
        None => place.checked_sub(1).filter(|before| follows(&window.entries[*before].message.message, message)),
    }
}

/// Returns the match that the entry at `place` inherits from the message it continues, if that is a question or it
/// replies to it.
pub(super) fn taken_over(window: &ContextWindow, matched: &[f64], place: usize) -> f64 {
    let Some(earlier) = continued(window, place) else { return 0.0 };
    let is_question = Languages::shipped().is_question(&window.entries[earlier].message.message.text);
    let share = match (is_question, window.entries[place].message.message.reply_to) {
        (true, _) => OF_QUESTION,
        (false, Some(_)) => OF_REMARK,
        (false, None) => 0.0,
    };
    share * matched[earlier]
}

/// Returns `true` if `later` is another member's quick response to `earlier`.
fn follows(earlier: &Message, later: &Message) -> bool {
    earlier.sender.id != later.sender.id && later.sent_at.since(earlier.sent_at) <= ANSWERED_WITHIN
}
