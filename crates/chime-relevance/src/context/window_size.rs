//! Packs the picked messages into the token budget. Long messages lose their middle, and a note says how much is
//! missing.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use crate::context::candidates::{CandidateSet, Index};
use crate::context::context_window::Entry;
use crate::context::params::Params;
use chime_core::{Kind, Part, Reason, StoredMessage, clip, grouped};

/// Number of tokens that the start of a line (number, author, time, arrow) takes in the prompt.
pub const LINE_TOKENS: usize = 12;
/// A message other than the anchor gets at most the budget divided by this number.
const LARGEST_SHARE: usize = 4;
/// The anchor gets at most the budget divided by this number.
const ANCHOR_SHARE: usize = 2;
/// Number of tokens that the anchor may always take, however small the budget is.
const ANCHOR_FLOOR: usize = 40;
/// Minimum number of tokens to which a message is shortened. A shorter part is not worth a line of the prompt.
const SHORTEST: usize = 40;
/// Maximum characters of a quote, of the text of a replied-to message, or of the name of a forward's origin.
const ASIDE: usize = 200;

/// Picked message, to be packed into the window.
#[derive(Debug, Clone, Copy)]
pub struct Pick {
    pub place: Index,
    pub reason: Reason,
    pub score: f64,
    /// `true` if the message is packed before all others except the anchor.
    pub is_pinned: bool,
}

/// Packs `picks` into `budget` tokens, in this order: the anchor, pinned messages, the focus, the surroundings, and
/// within each by descending score. Returns the entries in order of time, and the indices of the focus messages that
/// did not fit.
pub fn pack(pool: &CandidateSet<'_>, mut picks: Vec<Pick>, params: &Params, budget: usize) -> (Vec<Entry>, Vec<Index>) {
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
    let mut taken: Vec<(Index, Entry)> = Vec::new();
    let mut no_room = Vec::new();
    for pick in picks {
        let message = pool.messages[pick.place];
        match shown_in(&body(message), pick.reason, left, params) {
            Some((shown, tokens)) => {
                left = left.saturating_sub(tokens + LINE_TOKENS);
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

/// Returns the text of a message, shortened if it is too long, and its number of tokens; `None` if it does not fit and
/// fewer than [`SHORTEST`] tokens are left for it.
fn shown_in(body: &str, reason: Reason, left: usize, params: &Params) -> Option<(String, usize)> {
    let room = left.saturating_sub(LINE_TOKENS);
    if reason.is_anchor() {
        let most = room.min(params.token_budget / ANCHOR_SHARE).max(ANCHOR_FLOOR);
        return Some(shorten(body, most, params.estimate));
    }
    let most = room.min((params.token_budget / LARGEST_SHARE).max(SHORTEST));
    // With room for at least SHORTEST tokens, a message that is too long is shortened; with less room, it is left out.
    if most >= SHORTEST {
        return Some(shorten(body, most, params.estimate));
    }
    let tokens = if left >= LINE_TOKENS { (params.estimate)(body) } else { usize::MAX };
    (tokens <= most).then(|| (body.to_owned(), tokens))
}

/// Renders a message with what Telegram shows around it: the origin of a forward, the quoted part of the message it
/// replies to, or that message's text if it is not stored itself.
fn body(stored: &StoredMessage) -> Cow<'_, str> {
    let message = &stored.message;
    let has_more = message.forward_origin.is_some() || message.quote.is_some() || message.snapshot.is_some();
    if message.kind == Kind::Text && !has_more {
        return message.text_without_notes();
    }
    // The name of a forward's origin is untrusted, so it must not contain the brackets that mark notes in the prompt.
    let name = |origin: &String| origin.replace(['[', ']'], "").split_whitespace().collect::<Vec<_>>().join(" ");
    let forwarded =
        message.forward_origin.as_ref().map(|origin| format!("[forwarded from {}]", clip(&name(origin), ASIDE)));
    let aside = match (&message.quote, &message.snapshot) {
        (Some(quote), _) => Some(format!("[quoting: {}]", clip(quote, ASIDE))),
        (None, Some(snapshot)) => Some(format!("[replying to: {}]", clip(snapshot, ASIDE))),
        (None, None) => None,
    };
    let said = message.rendered_with(&message.text_without_notes());
    joined([forwarded.as_deref().unwrap_or_default(), aside.as_deref().unwrap_or_default(), &said]).into()
}

fn joined(parts: [&str; 3]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Shortens `text` to `max_tokens`, as counted by `estimate`, by replacing its middle with a note. Returns the result
/// and its tokens, which exceed a very small `max_tokens`, since the note always stays.
fn shorten(text: &str, max_tokens: usize, estimate: fn(&str) -> usize) -> (String, usize) {
    let tokens = estimate(text);
    if tokens <= max_tokens {
        return (text.to_owned(), tokens);
    }
    let graphemes: Vec<&str> = text.graphemes(true).collect();
    let mut kept = graphemes.len() * max_tokens / tokens.max(1);
    loop {
        let shortened = without_middle(&graphemes, kept);
        let tokens = estimate(&shortened);
        if kept == 0 || tokens <= max_tokens {
            return (shortened, tokens);
        }
        kept = kept * 9 / 10;
    }
}

/// Removes the middle of a text, so that `kept` graphemes are left. Three fifths of them are from the beginning,
/// because it says more than the end.
fn without_middle(graphemes: &[&str], kept: usize) -> String {
    let head = kept * 3 / 5;
    let tail = kept - head;
    let (head, rest) = graphemes.split_at(head);
    let (middle, tail) = rest.split_at(rest.len() - tail);
    let note = format!("… [{} characters not shown] …", grouped(middle.len() as u64));
    joined([head.concat().trim_end(), &note, tail.concat().trim_start()])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    #[test]
    fn a_text_that_fits_stays_as_it_is() {
        assert_eq!(shorten("one two three", 3, words), ("one two three".to_owned(), 3));
    }

    #[test]
    fn the_middle_goes_and_says_how_much_it_was() {
        let text = format!("The beginning{} the end", " x".repeat(700));
        let (shortened, tokens) = shorten(&text, 20, words);
        assert_eq!(tokens, words(&shortened));
        assert!(shortened.starts_with("The beginning x"), "{shortened}");
        assert!(shortened.contains("… [1\u{202f}381 characters"), "{shortened}");
        assert!(shortened.ends_with("x the end"), "{shortened}");
    }

    #[test]
    fn with_no_room_at_all_only_the_note_is_left() {
        assert_eq!(shorten("one two three", 0, words).0, "… [13 characters not shown] …");
    }

    proptest! {
        #[test]
        fn a_shortened_text_fits_and_graphemes_stay_whole(text in "(👨‍👩‍👧|é|x| ){0,400}", max in 6_usize..60) {
            let bytes = |text: &str| text.len().div_ceil(8);
            let (shortened, _) = shorten(&text, max, bytes);
            prop_assert!(bytes(&shortened) <= max);
            let whole: BTreeSet<&str> = text.graphemes(true).collect();
            let (head, rest) = shortened.split_once("… [").unwrap_or((&shortened, ""));
            let tail = rest.split_once("] …").map_or("", |(_, tail)| tail);
            prop_assert!(head.trim().graphemes(true).all(|grapheme| whole.contains(grapheme)));
            prop_assert!(tail.trim().graphemes(true).all(|grapheme| whole.contains(grapheme)));
        }
    }
}
