//! Packs what was picked into the token budget.

use crate::context::pool::{Place, Pool};
use crate::context::shorten::shorten;
use crate::context::window::{Entry, Params};
use crate::domain::{Part, Reason, StoredMessage, clip};

/// What the head of a line (number, author, time, arrow) costs the prompt, in tokens.
const LINE_TOKENS: usize = 12;
/// A message that is not the anchor takes at most this part of the budget.
const LARGEST_SHARE: usize = 4;
/// The anchor takes at most this part of the budget.
const ANCHOR_SHARE: usize = 2;
/// The anchor is shown in at least this many tokens, whatever the budget.
const ANCHOR_FLOOR: usize = 40;
/// Below this many tokens a shortened message says too little to be worth its line.
const SHORTEST: usize = 40;
/// Characters of a quote, a snapshot or the name of an origin.
const ASIDE: usize = 200;

/// A message that should be in the window.
#[derive(Debug, Clone, Copy)]
pub struct Pick {
    pub place: Place,
    pub reason: Reason,
    pub score: f64,
    /// It comes in before all others but the anchor.
    pub is_pinned: bool,
}

/// Takes `picks` while there is room in `budget` tokens: the anchor, what was just said, then the focus and then its
/// surroundings, each from its surest end. Gives the entries in order of time, and the places of the focus that found no room.
pub fn pack(pool: &Pool<'_>, mut picks: Vec<Pick>, params: &Params, budget: usize) -> (Vec<Entry>, Vec<Place>) {
    picks.sort_by(|a, b| {
        b.reason
            .is_anchor()
            .cmp(&a.reason.is_anchor())
            .then(b.is_pinned.cmp(&a.is_pinned))
            .then(a.reason.part().cmp(&b.reason.part()))
            .then(b.score.total_cmp(&a.score))
            .then(a.reason.cmp(&b.reason))
            .then(b.place.cmp(&a.place))
    });
    let mut left = budget;
    let mut taken: Vec<(Place, Entry)> = Vec::new();
    let mut no_room = Vec::new();
    for pick in picks {
        let message = pool.messages[pick.place];
        match shown_in(&body(message), pick.reason, left, params) {
            Some(shown) => {
                left = left.saturating_sub((params.estimate)(&shown) + LINE_TOKENS);
                let entry = Entry { message: message.clone(), reason: pick.reason, score: pick.score, shown };
                taken.push((pick.place, entry));
            }
            None if pick.reason.part() == Part::Focus => no_room.push(pick.place),
            None => {}
        }
    }
    taken.sort_by_key(|(place, _)| *place);
    (taken.into_iter().map(|(_, entry)| entry).collect(), no_room)
}

/// The text of a message as it goes into `left` tokens, or none when there is no room for it.
fn shown_in(body: &str, reason: Reason, left: usize, params: &Params) -> Option<String> {
    let room = left.saturating_sub(LINE_TOKENS);
    if reason.is_anchor() {
        let most = room.min(params.token_budget / ANCHOR_SHARE).max(ANCHOR_FLOOR);
        return Some(shorten(body, most, params.estimate));
    }
    let most = room.min((params.token_budget / LARGEST_SHARE).max(SHORTEST));
    let fits = left >= LINE_TOKENS && (params.estimate)(body) <= most;
    let worth_shortening = most >= SHORTEST;
    (fits || worth_shortening).then(|| shorten(body, most, params.estimate))
}

/// What a message says, with what Telegram shows around it: where it was forwarded from, which words of its parent it
/// marks, and what it replies to when that has no row of its own.
fn body(stored: &StoredMessage) -> String {
    let message = &stored.message;
    let forwarded = message.forward_origin.as_ref().map(|origin| format!("[forwarded from {}]", clip(origin, ASIDE)));
    let aside = match (&message.quote, &message.snapshot) {
        (Some(quote), _) => Some(format!("[quoting: {}]", clip(quote, ASIDE))),
        (None, Some(snapshot)) => Some(format!("[replying to: {}]", clip(snapshot, ASIDE))),
        (None, None) => None,
    };
    [forwarded, aside, Some(message.rendered())]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
