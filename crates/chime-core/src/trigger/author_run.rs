//! Finds the short messages that belong to one question, because the author wrote them just before the trigger.

use std::time::Duration;

use crate::{Kind, Message, StoredMessage};

/// Longest pause between two messages of one question.
const PAUSE: Duration = Duration::from_mins(1);
/// Largest number of messages before the trigger that are returned.
const MOST: usize = 5;

/// Returns the messages that the trigger's author wrote directly before it, oldest first: in the same conversation,
/// without other authors in between, and with pauses of at most a minute.
///
/// `history` must be sorted by time, oldest first; later messages in it are ignored. The search stops at a forward,
/// because it is the subject of the question, not a part of it.
pub fn author_run<'a>(history: &'a [StoredMessage], trigger: &StoredMessage) -> Vec<&'a StoredMessage> {
    let mut run: Vec<&StoredMessage> = Vec::new();
    let mut later = &trigger.message;
    let before = history
        .iter()
        .rev()
        .filter(|stored| stored.seq < trigger.seq && stored.conversation() == trigger.conversation());
    for stored in before {
        if run.len() == MOST || !leads_to(&stored.message, later) {
            break;
        }
        later = &stored.message;
        run.push(stored);
    }
    run.reverse();
    run
}

/// Returns `true` if `earlier` and `later` can belong to one question.
fn leads_to(earlier: &Message, later: &Message) -> bool {
    earlier.sender.id == later.sender.id
        && earlier.kind != Kind::Service
        && earlier.forward_origin.is_none()
        && later.sent_at.since(earlier.sent_at) <= PAUSE
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::trigger::find::tests::plain_message;
    use crate::{ChatKey, ForumTopicId, Seq, Timestamp, UserId};

    /// Parses lines `SECOND AUTHOR [topic N] [forward]`, numbered from 1. The last line is the trigger.
    #[track_caller]
    fn check(chat: &str, expected: Expect) {
        let stored: Vec<StoredMessage> = chat
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .zip(1..)
            .map(|(line, seq)| {
                let parts: Vec<&str> = line.split(' ').collect();
                let mut message = plain_message(parts[1]);
                message.sent_at = Timestamp::from_secs(parts[0].parse().expect("a second"));
                message.sender.id = UserId(i64::from(parts[1].as_bytes()[0]));
                message.forum_topic = parts.contains(&"topic").then_some(ForumTopicId(9));
                message.forward_origin = parts.contains(&"forward").then(|| "Ann".to_owned());
                StoredMessage { chat: ChatKey(1), seq: Seq(seq), message }
            })
            .collect();
        let trigger = stored.last().expect("a trigger");
        let run: Vec<u32> = author_run(&stored, trigger).iter().map(|stored| stored.seq.0).collect();
        expected.assert_eq(&format!("{run:?}"));
    }

    #[test]
    fn what_one_member_types_in_bursts_is_one_ask() {
        check("0 ann\n10 bob\n20 bob\n80 bob", expect!["[2, 3]"]);
    }

    #[test]
    fn somebody_else_a_long_pause_or_a_forward_ends_the_run() {
        check("0 bob\n5 ann\n10 bob", expect!["[]"]);
        check("0 bob\n61 bob\n70 bob", expect!["[2]"]);
        check("0 bob\n5 bob forward\n7 bob\n10 bob", expect!["[3]"]);
    }

    #[test]
    fn another_thread_is_another_conversation() {
        check("0 bob\n5 ann topic\n6 bob topic\n10 bob", expect!["[1]"]);
    }

    #[test]
    fn a_run_is_at_most_five_long() {
        check("0 bob\n1 bob\n2 bob\n3 bob\n4 bob\n5 bob\n6 bob", expect!["[2, 3, 4, 5, 6]"]);
    }
}
