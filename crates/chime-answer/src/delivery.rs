//! The next state of a part of a reply after an attempt to send it: pure.

use std::time::Duration;

use chime_core::{ChatId, MessageId, Timestamp};

/// A reply that could not be delivered for this long is not worth delivering: the talk has moved on.
pub const STALE_AFTER: Duration = Duration::from_secs(60 * 60);
/// The reaction for a reply that was given up as stale gets as long again.
const MARK_STALE_AFTER: Duration = Duration::from_secs(2 * 60 * 60);
/// A send whose outcome is unknown may be repeated while the member still waits for it.
pub const FRESH_FOR: Duration = Duration::from_secs(5 * 60);
/// How often a send of unknown outcome is repeated: the one case in which a reply can appear twice.
const MAX_UNKNOWN: u32 = 1;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Before a send of unknown outcome is repeated. There is one repeat: it must not fall into the outage that swallowed the
/// first answer, and most of those (a proxy that restarts, a route that changes) are over by then.
const OUTAGE: Duration = Duration::from_secs(10);

/// What Telegram made of a send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendResult {
    Sent(MessageId),
    /// Wait at least this long before sending to the chat again.
    Throttled(Duration),
    /// Surely not delivered; trying again may help.
    NotDelivered(String),
    /// Nobody knows whether it was delivered.
    Unknown(String),
    /// The message replied to is gone.
    ReplyGone,
    /// The topic is closed or gone.
    ThreadGone(String),
    /// The chat goes on under another id.
    Migrated(ChatId),
    /// Telegram does not take it as it is, and says so.
    Refused(String),
    /// Nothing can be sent there, now or later: kicked or blocked.
    Impossible(String),
}

/// Where the part stands before the attempt's result is weighed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub created_at: Timestamp,
    /// Earlier sends of it whose outcome is unknown.
    pub unknown_sends: u32,
    /// Attempts of the send job so far.
    pub attempts: u32,
    /// How often this attempt has followed the chat to another id.
    pub moves: u32,
    /// Whether it has neither formatting nor buttons that could be at fault.
    pub is_plain: bool,
    /// Whether it goes to a topic of a private chat: outside of the topic the same person reads it, and nobody else.
    pub is_in_private_topic: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Record(MessageId),
    /// Keep it pending and try again then.
    RetryAt {
        at: Timestamp,
        why: String,
    },
    /// As above, and count a send whose outcome is unknown.
    RetryUnknownAt {
        at: Timestamp,
        why: String,
    },
    /// The whole chat waits until then.
    HoldChatUntil(Timestamp),
    /// Send it again at once, not as a reply.
    SendWithoutReply,
    /// Send it again at once, to the chat outside of the topic.
    SendWithoutThread,
    /// Send it again at once, without formatting and buttons.
    SendPlain,
    /// Follow the chat to its new id.
    Follow(ChatId),
    /// Nothing can be sent there.
    GiveUp(String),
    /// It was surely not delivered, and whoever waits for it can be told.
    GiveUpVisibly(String),
    /// The last send may have arrived, and there is no other.
    GiveUpUnknown(String),
}

/// What becomes of the reaction that stands for a reply given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// It is there, or cannot be.
    Done,
    Wait(Duration),
    Retry(Duration, String),
}

pub fn after_send(result: SendResult, standing: Standing, now: Timestamp) -> Step {
    let age = now.since(standing.created_at);
    let pause = pause(standing.attempts);
    match result {
        SendResult::Sent(message) => Step::Record(message),
        SendResult::ReplyGone => Step::SendWithoutReply,
        SendResult::ThreadGone(_) if standing.is_in_private_topic => Step::SendWithoutThread,
        SendResult::ThreadGone(why) => Step::GiveUpVisibly(why),
        SendResult::Migrated(to) if standing.moves == 0 => Step::Follow(to),
        // One chat moves once. Whoever is sent from one id to the next goes round in circles.
        SendResult::Migrated(to) => {
            let moved = SendResult::NotDelivered(format!("the chat is said to have moved on to {to}"));
            after_send(moved, standing, now)
        }
        SendResult::Refused(_) if !standing.is_plain => Step::SendPlain,
        SendResult::Refused(why) => Step::GiveUpVisibly(why),
        SendResult::Impossible(why) => Step::GiveUp(why),
        SendResult::Throttled(wait) if age + wait <= STALE_AFTER => Step::HoldChatUntil(now.plus(wait)),
        SendResult::Throttled(wait) => {
            Step::GiveUpVisibly(format!("Telegram asks to wait {} s, too long", wait.as_secs()))
        }
        SendResult::NotDelivered(why) if age + pause <= STALE_AFTER => Step::RetryAt { at: now.plus(pause), why },
        SendResult::NotDelivered(why) => Step::GiveUpVisibly(why),
        SendResult::Unknown(why) if may_repeat(standing.unknown_sends, age) => {
            Step::RetryUnknownAt { at: now.plus(pause.max(OUTAGE)), why }
        }
        SendResult::Unknown(why) => Step::GiveUpUnknown(why),
    }
}

/// `failure` is what became of the reaction, none where it is there; `age` that of the reply. Setting a reaction twice is
/// setting it once, so an unknown outcome is a failure like any other.
pub fn after_mark(failure: Option<SendResult>, age: Duration, attempts: u32) -> Mark {
    match failure {
        Some(SendResult::Throttled(wait)) if age + wait <= MARK_STALE_AFTER => Mark::Wait(wait),
        Some(SendResult::NotDelivered(why) | SendResult::Unknown(why)) if age <= MARK_STALE_AFTER => {
            Mark::Retry(pause(attempts), why)
        }
        _ => Mark::Done,
    }
}

/// How long to wait before the next attempt, after so many.
pub fn pause(attempts: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << attempts.min(16)).min(LONGEST_PAUSE)
}

/// Whether a part that may already be out is sent again.
pub fn may_repeat(unknown_sends: u32, age: Duration) -> bool {
    unknown_sends < MAX_UNKNOWN && age <= FRESH_FOR
}

/// Whether a part found at start, after an interrupted send, is sent again. `unknown_sends` counts that send.
pub fn may_resume(unknown_sends: u32, age: Duration) -> bool {
    match unknown_sends {
        0 => age <= STALE_AFTER,
        interrupted => interrupted <= MAX_UNKNOWN && age <= FRESH_FOR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(age_s: u64, unknown_sends: u32) -> (Standing, Timestamp) {
        let created_at = Timestamp::from_secs(1_000_000);
        (
            Standing { created_at, unknown_sends, attempts: 0, moves: 0, is_plain: false, is_in_private_topic: false },
            created_at.plus(Duration::from_secs(age_s)),
        )
    }

    #[track_caller]
    fn check(result: SendResult, age_s: u64, unknown_sends: u32, expected: &str) {
        let (standing, now) = standing(age_s, unknown_sends);
        let step = match after_send(result, standing, now) {
            Step::Record(message) => format!("record {message}"),
            Step::RetryAt { at, .. } => format!("retry after {:?}", at.since(now)),
            Step::RetryUnknownAt { at, .. } => format!("repeat after {:?}", at.since(now)),
            Step::HoldChatUntil(at) => format!("hold for {:?}", at.since(now)),
            Step::SendWithoutReply => "send without reply".to_owned(),
            Step::SendWithoutThread => "send without thread".to_owned(),
            Step::SendPlain => "send plain".to_owned(),
            Step::Follow(chat) => format!("follow to {chat}"),
            Step::GiveUp(why) => format!("give up: {why}"),
            Step::GiveUpVisibly(why) | Step::GiveUpUnknown(why) => format!("give up with a reaction: {why}"),
        };
        assert_eq!(step, expected);
    }

    #[test]
    fn what_was_surely_not_delivered_is_tried_until_it_is_stale() {
        check(SendResult::NotDelivered("500".to_owned()), 0, 0, "retry after 500ms");
        check(SendResult::NotDelivered("500".to_owned()), 3_600, 0, "give up with a reaction: 500");
    }

    #[test]
    fn a_send_of_unknown_outcome_is_repeated_once_and_only_while_fresh() {
        check(SendResult::Unknown("cut".to_owned()), 10, 0, "repeat after 10s");
        check(SendResult::Unknown("cut".to_owned()), 10, 1, "give up with a reaction: cut");
        check(SendResult::Unknown("cut".to_owned()), 301, 0, "give up with a reaction: cut");
        assert!(may_resume(1, Duration::from_secs(10)));
        assert!(!may_resume(2, Duration::from_secs(10)));
        assert!(!may_resume(1, Duration::from_secs(301)));
    }

    #[test]
    fn a_throttled_chat_waits_as_long_as_it_is_told() {
        check(SendResult::Throttled(Duration::from_secs(35)), 0, 0, "hold for 35s");
        check(
            SendResult::Throttled(Duration::from_secs(9_000)),
            0,
            0,
            "give up with a reaction: Telegram asks to wait 9000 s, too long",
        );
    }

    #[test]
    fn what_is_refused_is_sent_plain_once_and_then_given_up_where_it_is_seen() {
        let (standing, now) = standing(0, 0);
        let refused = || SendResult::Refused("BUTTON_DATA_INVALID".to_owned());
        assert_eq!(after_send(refused(), standing, now), Step::SendPlain);
        let plain = Standing { is_plain: true, ..standing };
        assert_eq!(after_send(refused(), plain, now), Step::GiveUpVisibly("BUTTON_DATA_INVALID".to_owned()));
    }

    #[test]
    fn a_chat_that_moves_in_circles_is_followed_once_and_then_tried_later() {
        let (standing, now) = standing(0, 0);
        let moved = Standing { moves: 1, ..standing };
        let step = after_send(SendResult::Migrated(ChatId(-7)), moved, now);
        assert!(matches!(step, Step::RetryAt { .. }), "{step:?}");
    }

    #[test]
    fn the_reaction_is_tried_while_it_may_succeed() {
        let lost = || Some(SendResult::Unknown("cut".to_owned()));
        let retry = Mark::Retry(Duration::from_millis(500), "cut".to_owned());
        assert_eq!(after_mark(None, Duration::ZERO, 0), Mark::Done);
        assert_eq!(after_mark(lost(), STALE_AFTER, 0), retry);
        assert_eq!(after_mark(lost(), STALE_AFTER * 3, 0), Mark::Done);
        assert_eq!(after_mark(Some(SendResult::Impossible("kicked".to_owned())), Duration::ZERO, 0), Mark::Done);
    }

    #[test]
    fn a_gone_target_costs_the_reply_mark_and_not_the_reply() {
        check(SendResult::ReplyGone, 0, 0, "send without reply");
        check(SendResult::Migrated(ChatId(-1001)), 0, 0, "follow to -1001");
        check(SendResult::Impossible("kicked".to_owned()), 0, 0, "give up: kicked");
        check(SendResult::ThreadGone("closed".to_owned()), 0, 0, "give up with a reaction: closed");
        check(SendResult::Sent(MessageId(7)), 0, 0, "record 7");
    }
}
