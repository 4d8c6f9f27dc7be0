//! Decides the next step for a part of a reply after an attempt to send it. Pure functions.

use std::time::Duration;

use chime_core::{ChatId, MessageId, Timestamp};
use chime_runtime::resilience::doubled;

/// Age after which an undelivered reply is given up: the conversation has moved on.
pub const STALE_AFTER: Duration = Duration::from_secs(60 * 60);
/// Age of an undelivered reply after which the bot no longer tries to mark it with a reaction.
const MARK_STALE_AFTER: Duration = Duration::from_secs(2 * 60 * 60);
/// Maximum age of a reply at which a send of unknown outcome may be repeated. The member still expects the reply.
pub const FRESH_FOR: Duration = Duration::from_secs(5 * 60);
/// Maximum number of repeats of a send whose outcome is unknown. Only such a repeat can make a reply appear twice.
const MAX_UNKNOWN: u32 = 1;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Wait before a send of unknown outcome is repeated. There is only one repeat, and most outages (a proxy that
/// restarts, a route that changes) are shorter than this.
const OUTAGE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendResult {
    Sent(MessageId),
    /// Telegram accepts no message to the chat for this long.
    Throttled(Duration),
    /// Certainly not delivered; a retry may help.
    NotDelivered(String),
    /// It is unknown if it was delivered.
    Unknown(String),
    ReplyGone,
    /// The topic is closed or gone.
    ForumTopicGone(String),
    /// The chat has become a supergroup, which has this new id.
    Migrated(ChatId),
    /// Telegram refuses the content.
    Refused(String),
    /// Nothing can ever be sent to the chat: the bot was kicked or blocked.
    Impossible(String),
}

/// State of a part of a reply at the time of an attempt to send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartState {
    pub created_at: Timestamp,
    /// Earlier sends whose outcome is unknown.
    pub unknown_sends: u32,
    /// Attempts of the send job so far.
    pub attempts: u32,
    /// Number of times that this attempt has followed the chat to a new id.
    pub moves: u32,
    /// `true` if the part has neither formatting nor buttons that Telegram could refuse.
    pub is_plain: bool,
    /// `true` for a topic of a private chat. A reply sent outside of the topic reaches the same person, and nobody
    /// else.
    pub is_in_private_topic: bool,
    /// `true` for a reply that is never too old, such as a reminder.
    pub is_promised: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendStep {
    Record(MessageId),
    /// Keep the part pending and retry at that time.
    RetryAt {
        at: Timestamp,
        why: String,
    },
    /// Retry at that time, and count the last send as one of unknown outcome.
    RetryUnknownAt {
        at: Timestamp,
        why: String,
    },
    HoldChatUntil(Timestamp),
    /// Send it again at once, not as a reply.
    SendWithoutReply,
    /// Send it again at once, to the chat but not to its topic.
    SendWithoutForumTopic,
    /// Send it again at once, to the private chat of the member who asked for it.
    SendInPrivate(String),
    /// Send it again at once, without formatting and buttons.
    SendPlain,
    Follow(ChatId),
    /// Give the reply up without a sign, since nothing can be sent to the chat.
    GiveUp(String),
    /// Give the reply up and mark the trigger with a reaction: the part was certainly not delivered, but the bot can
    /// act in the chat.
    GiveUpVisibly(String),
    /// Give the reply up and mark the trigger with a reaction: the last send may have arrived, and no further one is
    /// allowed.
    GiveUpUnknown(String),
}

/// Messages that Telegram refuses to show to one member alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EphemeralRefusal {
    /// This message.
    Message,
    /// Any message of the chat.
    Chat,
}

/// Next step for the reaction that marks a reply as given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReactionStep {
    /// The reaction was set, or nothing more is tried.
    Done,
    Wait(Duration),
    Retry(Duration, String),
}

/// Returns what Telegram refused after an attempt to send a message to one member alone; `None` if it showed the
/// message, or if the attempt failed for another reason. `is_unseen` is `true` for the answer to a command that the
/// chat does not see.
pub fn ephemeral_refusal(result: &SendResult, is_plain: bool, is_unseen: bool) -> Option<EphemeralRefusal> {
    match result {
        // A server that does not know ephemeral messages has shown it to everybody.
        SendResult::Sent(message) => message.ephemeral_number().is_none().then_some(EphemeralRefusal::Chat),
        SendResult::Refused(why) | SendResult::Impossible(why) if is_about_rights(why) => Some(EphemeralRefusal::Chat),
        // The formatting may be the reason; without it the message is still for one member.
        SendResult::Refused(_) if !is_plain => None,
        SendResult::Refused(_) | SendResult::Impossible(_) => Some(EphemeralRefusal::Message),
        // In another chat, or without its target, Telegram would take it for a message to everybody.
        SendResult::ReplyGone | SendResult::Migrated(_) => is_unseen.then_some(EphemeralRefusal::Message),
        _ => None,
    }
}

/// Returns `true` if Telegram's refusal names ephemeral messages or the bot's rights, so that it holds for the whole
/// chat.
fn is_about_rights(why: &str) -> bool {
    let why = why.to_lowercase();
    ["ephemeral", "rights", "admin"].iter().any(|word| why.contains(word))
}

pub fn after_send(result: SendResult, state: PartState, now: Timestamp) -> SendStep {
    let age = now.since(state.created_at);
    let pause = pause(state.attempts);
    match result {
        SendResult::Sent(message) => SendStep::Record(message),
        SendResult::ReplyGone => SendStep::SendWithoutReply,
        SendResult::ForumTopicGone(_) if state.is_in_private_topic => SendStep::SendWithoutForumTopic,
        SendResult::ForumTopicGone(why) if state.is_promised => SendStep::SendInPrivate(why),
        SendResult::ForumTopicGone(why) => SendStep::GiveUpVisibly(why),
        SendResult::Migrated(to) if state.moves == 0 => SendStep::Follow(to),
        // A chat changes its id only once. Several changes in one attempt would be a cycle.
        SendResult::Migrated(to) => {
            let moved = SendResult::NotDelivered(format!("the chat is said to have moved on to {to}"));
            after_send(moved, state, now)
        }
        SendResult::Refused(_) if !state.is_plain => SendStep::SendPlain,
        SendResult::Refused(why) => SendStep::GiveUpVisibly(why),
        SendResult::Impossible(why) => SendStep::GiveUp(why),
        SendResult::Throttled(wait) if state.is_promised || age + wait <= STALE_AFTER => {
            SendStep::HoldChatUntil(now.plus(wait))
        }
        SendResult::Throttled(wait) => {
            SendStep::GiveUpVisibly(format!("Telegram asks to wait {} s, too long", wait.as_secs()))
        }
        SendResult::NotDelivered(why) if age + pause <= STALE_AFTER => SendStep::RetryAt { at: now.plus(pause), why },
        SendResult::NotDelivered(why) => SendStep::GiveUpVisibly(why),
        SendResult::Unknown(why) if may_repeat(state.unknown_sends, age) => {
            SendStep::RetryUnknownAt { at: now.plus(pause.max(OUTAGE)), why }
        }
        SendResult::Unknown(why) => SendStep::GiveUpUnknown(why),
    }
}

/// Returns the next step after an attempt to set the reaction. `failure` is `None` if it succeeded; `age` is the age of
/// the reply. A reaction can be set twice without harm, so an unknown outcome is retried like any failure.
pub fn after_mark(failure: Option<SendResult>, age: Duration, attempts: u32) -> ReactionStep {
    match failure {
        Some(SendResult::Throttled(wait)) if age + wait <= MARK_STALE_AFTER => ReactionStep::Wait(wait),
        Some(SendResult::NotDelivered(why) | SendResult::Unknown(why)) if age <= MARK_STALE_AFTER => {
            ReactionStep::Retry(pause(attempts), why)
        }
        _ => ReactionStep::Done,
    }
}

/// Returns the wait before the next attempt, when `attempts` have failed. It doubles with each attempt, up to a minute.
pub fn pause(attempts: u32) -> Duration {
    doubled(FIRST_PAUSE, LONGEST_PAUSE, attempts)
}

/// Returns `true` if a part may be sent again although it may have been delivered.
pub fn may_repeat(unknown_sends: u32, age: Duration) -> bool {
    unknown_sends < MAX_UNKNOWN && age <= FRESH_FOR
}

/// Returns `true` if a part may be sent again after an attempt was interrupted, for example by a crash. `unknown_sends`
/// includes that attempt.
pub fn may_resume(unknown_sends: u32, age: Duration) -> bool {
    match unknown_sends {
        0 => age <= STALE_AFTER,
        interrupted => interrupted <= MAX_UNKNOWN && age <= FRESH_FOR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(age_s: u64, unknown_sends: u32) -> (PartState, Timestamp) {
        let created_at = Timestamp::from_secs(1_000_000);
        (
            PartState {
                created_at,
                unknown_sends,
                attempts: 0,
                moves: 0,
                is_plain: false,
                is_in_private_topic: false,
                is_promised: false,
            },
            created_at.plus(Duration::from_secs(age_s)),
        )
    }

    #[track_caller]
    fn check(result: SendResult, age_s: u64, unknown_sends: u32, expected: &str) {
        let (state, now) = state(age_s, unknown_sends);
        let step = match after_send(result, state, now) {
            SendStep::Record(message) => format!("record {message}"),
            SendStep::RetryAt { at, .. } => format!("retry after {:?}", at.since(now)),
            SendStep::RetryUnknownAt { at, .. } => format!("repeat after {:?}", at.since(now)),
            SendStep::HoldChatUntil(at) => format!("hold for {:?}", at.since(now)),
            SendStep::SendWithoutReply => "send without reply".to_owned(),
            SendStep::SendWithoutForumTopic => "send without thread".to_owned(),
            SendStep::SendInPrivate(_) => "send in private".to_owned(),
            SendStep::SendPlain => "send plain".to_owned(),
            SendStep::Follow(chat) => format!("follow to {chat}"),
            SendStep::GiveUp(why) => format!("give up: {why}"),
            SendStep::GiveUpVisibly(why) | SendStep::GiveUpUnknown(why) => format!("give up with a reaction: {why}"),
        };
        assert_eq!(step, expected);
    }

    #[test]
    fn a_refusal_to_show_a_message_to_one_member_is_told_from_other_failures() {
        let refused = |why: &str| SendResult::Refused(why.to_owned());
        let (message, chat) = (Some(EphemeralRefusal::Message), Some(EphemeralRefusal::Chat));
        for (result, is_plain, is_unseen, expected) in [
            (SendResult::Sent(MessageId::ephemeral(7)), false, true, None),
            (SendResult::Sent(MessageId(7)), false, true, chat),
            (refused("not enough rights to send ephemeral messages"), false, false, chat),
            (SendResult::Impossible("CHAT_ADMIN_REQUIRED".to_owned()), true, false, chat),
            (refused("can't parse entities"), false, false, None),
            (refused("can't parse entities"), true, false, message),
            (SendResult::Impossible("bot was kicked".to_owned()), false, false, message),
            (SendResult::ReplyGone, false, true, message),
            (SendResult::ReplyGone, false, false, None),
            (SendResult::Migrated(ChatId(-5)), false, true, message),
            (SendResult::Unknown("cut".to_owned()), true, true, None),
        ] {
            let found = ephemeral_refusal(&result, is_plain, is_unseen);
            assert_eq!(found, expected, "{result:?}, plain: {is_plain}, unseen: {is_unseen}");
        }
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
        let (state, now) = state(0, 0);
        let wait = Duration::from_secs(9_000);
        let step = after_send(SendResult::Throttled(wait), PartState { is_promised: true, ..state }, now);
        assert_eq!(step, SendStep::HoldChatUntil(now.plus(wait)));
    }

    #[test]
    fn what_is_refused_is_sent_plain_once_and_then_given_up_where_it_is_seen() {
        let (state, now) = state(0, 0);
        let refused = || SendResult::Refused("BUTTON_DATA_INVALID".to_owned());
        assert_eq!(after_send(refused(), state, now), SendStep::SendPlain);
        let plain = PartState { is_plain: true, ..state };
        assert_eq!(after_send(refused(), plain, now), SendStep::GiveUpVisibly("BUTTON_DATA_INVALID".to_owned()));
    }

    #[test]
    fn a_chat_that_moves_in_circles_is_followed_once_and_then_tried_later() {
        let (state, now) = state(0, 0);
        let moved = PartState { moves: 1, ..state };
        let step = after_send(SendResult::Migrated(ChatId(-7)), moved, now);
        assert!(matches!(step, SendStep::RetryAt { .. }), "{step:?}");
    }

    #[test]
    fn the_reaction_is_tried_while_it_may_succeed() {
        let lost = || Some(SendResult::Unknown("cut".to_owned()));
        let retry = ReactionStep::Retry(Duration::from_millis(500), "cut".to_owned());
        assert_eq!(after_mark(None, Duration::ZERO, 0), ReactionStep::Done);
        assert_eq!(after_mark(lost(), STALE_AFTER, 0), retry);
        assert_eq!(after_mark(lost(), STALE_AFTER * 3, 0), ReactionStep::Done);
        assert_eq!(
            after_mark(Some(SendResult::Impossible("kicked".to_owned())), Duration::ZERO, 0),
            ReactionStep::Done
        );
    }

    #[test]
    fn a_gone_target_costs_the_reply_mark_and_not_the_reply() {
        check(SendResult::ReplyGone, 0, 0, "send without reply");
        check(SendResult::Migrated(ChatId(-1001)), 0, 0, "follow to -1001");
        check(SendResult::Impossible("kicked".to_owned()), 0, 0, "give up: kicked");
        check(SendResult::ForumTopicGone("closed".to_owned()), 0, 0, "give up with a reaction: closed");
        check(SendResult::Sent(MessageId(7)), 0, 0, "record 7");
    }
}
