//! The recall slot: old messages that bear on the ask, beside the window.

use crate::answer::lines::Scribe;
use crate::answer::plain::clean_name;
use crate::domain::{Chosen, Reason, clip, day_in_words};
use crate::retrieval::RecalledMessage;

/// Characters of a recalled message that are shown.
const SHOWN_CHARS: usize = 600;
/// Tokens for the head of a line and the note of its day.
const LINE_TOKENS: usize = 24;
/// Tokens for the words of the slot around the lines.
const FRAME_TOKENS: usize = 90;

/// As many of `found`, best first, as fit into `cap` tokens, oldest first.
pub fn fitting(found: Vec<RecalledMessage>, cap: usize, estimate: fn(&str) -> usize) -> Vec<RecalledMessage> {
    let mut left = cap.saturating_sub(FRAME_TOKENS);
    let mut fitting = Vec::new();
    for one in found {
        let tokens = LINE_TOKENS + estimate(&shown(&one));
        if tokens <= left {
            left -= tokens;
            fitting.push(one);
        }
    }
    fitting.sort_by_key(|one| (one.message.message.sent_at, one.message.seq));
    fitting
}

fn shown(one: &RecalledMessage) -> String {
    clip(&one.message.message.rendered(), SHOWN_CHARS).into_owned()
}

/// The lines of the slot, each under its day; a message of another topic names it.
pub(super) fn lines(recalled: &[RecalledMessage], scribe: &mut Scribe<'_>) -> String {
    let mut lines = Vec::new();
    let mut heading = None;
    for one in recalled {
        let day = day_in_words(one.message.message.sent_at);
        let place = match &one.topic {
            Some(topic) => format!("[{day}, in the topic \"{}\"]", clean_name(topic)),
            None => format!("[{day}]"),
        };
        if heading.as_ref() != Some(&place) {
            lines.push(place.clone());
            heading = Some(place);
        }
        lines.push(scribe.line(&one.message, None, &shown(one)));
    }
    lines.join("\n")
}

/// What was recalled, as it is kept with the answer.
pub fn chosen(recalled: &[RecalledMessage]) -> Vec<Chosen> {
    let chosen = |one: &RecalledMessage| Chosen {
        seq: one.message.seq,
        id: one.message.message.id,
        reason: Reason::Query,
        score: one.features.wide_coverage.clamp(0.0, 1.0),
    };
    recalled.iter().map(chosen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::estimate_tokens;
    use crate::retrieval::Features;
    use crate::testkit::transcript;

    fn recalled() -> Vec<RecalledMessage> {
        let chat = transcript(
            "
            10:00 ann#1 the door code is 4711
            10:01 ben#2 thanks
            day 2
            10:02 ann#3 the code changed, it is 4712 now
            ",
        );
        let of = |message| RecalledMessage { message, topic: None, score: 1.0, features: Features::default() };
        chat.into_iter().rev().map(of).collect()
    }

    #[test]
    fn what_fits_stands_in_order_of_time_under_its_day() {
        let mut scribe = Scribe::new("Chime", "CODE");
        let shown = lines(&fitting(recalled(), 1_000, estimate_tokens), &mut scribe);
        let heads: Vec<&str> = shown.lines().map(|line| line.split(" ·").next().unwrap_or(line)).collect();
        assert_eq!(heads.len(), 5, "{shown}");
        assert!(heads[1] == "[m1" && heads[2] == "[m2" && heads[4] == "[m3", "{shown}");
    }

    #[test]
    fn the_best_come_first_where_room_is_short() {
        let fitting = fitting(recalled(), FRAME_TOKENS + LINE_TOKENS + 16, estimate_tokens);
        assert_eq!(fitting.iter().map(|one| one.message.seq.0).collect::<Vec<_>>(), [3]);
    }
}
