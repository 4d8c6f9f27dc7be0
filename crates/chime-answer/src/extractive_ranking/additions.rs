//! Adds messages that belong to those that match a question.

use crate::extractive_ranking::replies::continued;
use chime_core::Part;
use chime_core::trigger::Languages;
use chime_relevance::context::ContextWindow;

/// Minimum number of content words of a reply that is shown with the message that it replies to.
pub(super) const REPLY_WORDS: usize = 3;
/// Maximum number of messages after filling up: the matches, then others of the focus, then what was said next. An
/// answer may share no word with its question.
pub(super) const FILL_UP_TO: usize = 4;
/// Number of messages after a shown one that may be shown too.
const NEXT: usize = 2;

/// Returns `true` if a question is shown with what was said to it.
pub(super) fn is_answered(window: &ContextWindow, shown: &[usize]) -> bool {
    let is_question = |place: &usize| Languages::shipped().is_question(&window.entries[*place].message.message.text);
    let is_answer = |place: &usize| {
        !is_question(place)
            && continued(window, *place).is_some_and(|before| shown.contains(&before) && is_question(&before))
    };
    shown.iter().any(is_answer)
}

/// Adds to the `shown` places, while there is room, the messages of the focus after the first of them: an answer may
/// have no word of its question. Those with a higher score come first.
pub(super) fn add_focus(window: &ContextWindow, shown: &mut Vec<usize>, most: usize, may_show: impl Fn(usize) -> bool) {
    let Some(first) = shown.iter().copied().min() else { return };
    let is_left =
        |place: &usize| window.entries[*place].part() == Part::Focus && !shown.contains(place) && may_show(*place);
    let mut left: Vec<usize> = (first..window.entries.len()).filter(is_left).collect();
    left.sort_by(|a, b| window.entries[*b].score.total_cmp(&window.entries[*a].score));
    left.truncate(most.saturating_sub(shown.len()));
    shown.extend(left);
}

/// Adds to the `shown` places, while there is room, what was said right after each of them.
pub(super) fn add_next(window: &ContextWindow, shown: &mut Vec<usize>, most: usize, may_show: impl Fn(usize) -> bool) {
    for near in 1..=NEXT {
        for at in 0..shown.len() {
            let place = shown[at] + near;
            if shown.len() < most && place < window.entries.len() && !shown.contains(&place) && may_show(place) {
                shown.push(place);
            }
        }
    }
}

/// Adds, while there is room, to each place in `shown` the first reply to that message that `says` something and is no
/// question: what came of it.
pub(super) fn add_replies(window: &ContextWindow, shown: &mut Vec<usize>, most: usize, says: impl Fn(usize) -> bool) {
    let mut next = 0;
    while next < shown.len() && shown.len() < most {
        let parent = window.entries[shown[next]].message.message.id;
        let is_reply = |place: &usize| {
            let message = &window.entries[*place].message.message;
            message.reply_to == Some(parent)
                && !shown.contains(place)
                && says(*place)
                && !Languages::shipped().is_question(&message.text)
        };
        let has_reply = shown.iter().any(|place| window.entries[*place].message.message.reply_to == Some(parent));
        let reply = (0..window.entries.len()).find(is_reply).filter(|_| !has_reply);
        shown.extend(reply);
        next += 1;
    }
}
