//! Chooses the surroundings of the focus: the next messages of the same ranking, with a small bonus for recency.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::context::candidates::{CandidateSet, Index};
use chime_core::{Role, Seq};

/// Bonus of the newest message. Set by hand: in real chats, replies and bare triggers are often about what was said in
/// the last minutes, which the picker may miss.
const RECENCY: f64 = 0.25;
/// The same bonus for a question with words of its own, which may be about any time.
const RECENCY_OF_QUESTION: f64 = 0.05;
/// Number of messages over which the bonus for recency falls to about a third.
const RECENCY_SPAN: f64 = 15.0;
/// Bonus of the messages next to the anchor, and the number of messages over which it falls to about a third.
const BESIDE_ANCHOR: f64 = 0.05;
const ANCHOR_SPAN: f64 = 8.0;
/// Number of the newest messages of members that are shown whatever their score is.
const JUST_SAID: usize = 3;
/// Maximum time between the trigger and a message that is shown whatever its score is.
const JUST_NOW: Duration = Duration::from_secs(10 * 60);

/// Returns the messages of the conversation before the trigger with scores from 0 to 1, newest first. `likely` holds
/// the probability that each belongs to the focus.
pub fn ranked(pool: &CandidateSet<'_>, likely: &BTreeMap<Seq, f32>, is_question: bool) -> Vec<(f64, Index)> {
    let newest = if is_question { RECENCY_OF_QUESTION } else { RECENCY };
    let fading = |distance: usize, span: f64| (-(distance as f64) / span).exp();
    let scored = |(back, place): (usize, &Index)| {
        let share = likely.get(&pool.messages[*place].seq).copied().unwrap_or(0.0);
        let recency = newest * fading(back, RECENCY_SPAN);
        let beside = pool.anchor().map_or(0.0, |anchor| BESIDE_ANCHOR * fading(anchor.abs_diff(*place), ANCHOR_SPAN));
        ((f64::from(share) + recency + beside).min(1.0), *place)
    };
    pool.conversation.iter().rev().enumerate().map(scored).collect()
}

/// Returns up to [`JUST_SAID`] messages of members that were sent shortly before the trigger.
pub fn just_said(pool: &CandidateSet<'_>) -> BTreeSet<Index> {
    let now = pool.trigger.message.sent_at;
    let by_member = |place: &Index| pool.messages[*place].message.role == Role::User;
    let newest = pool.conversation.iter().rev().copied().filter(by_member).take(JUST_SAID);
    newest.filter(|place| now.since(pool.sent_at(*place)) <= JUST_NOW).collect()
}
