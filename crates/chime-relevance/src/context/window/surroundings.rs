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
const JUST_NOW: Duration = Duration::from_mins(10);
/// The same for a message of the running talk, which is shown in larger windows.
const RUNNING_TALK: Duration = Duration::from_hours(24);

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

/// Returns the newest messages of members: up to [`JUST_SAID`] that were sent shortly before the trigger, and as much of
/// the running talk as `tokens` hold.
pub fn just_said(pool: &CandidateSet<'_>, tokens: usize, estimate: impl Fn(Index) -> usize) -> BTreeSet<Index> {
    let now = pool.trigger.message.sent_at;
    let (mut left, mut count) = (tokens, 0);
    let is_shown = |place: &Index| {
        count += 1;
        let age = now.since(pool.sent_at(*place));
        let is_just_said = count <= JUST_SAID && age <= JUST_NOW;
        let rest = left.checked_sub(estimate(*place)).filter(|_| age <= RUNNING_TALK);
        left = rest.unwrap_or(0);
        is_just_said || rest.is_some()
    };
    let by_member = |place: &Index| pool.messages[*place].message.role == Role::User;
    pool.conversation.iter().rev().copied().filter(by_member).take_while(is_shown).collect()
}
