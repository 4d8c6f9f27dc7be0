//! Decides the next step for a part of a reply after an attempt to send it. Pure functions.

use std::time::Duration;

use chime_core::{ChatId, MessageId, Timestamp};
use chime_jobs::JobError;
use chime_runtime::resilience::doubled;
use chime_telegram::TelegramError;

/// Age after which an undelivered reply is given up: the conversation has moved on.
pub const STALE_AFTER: Duration = Duration::from_hours(1);
/// Age of an undelivered reply after which the bot no longer tries to mark it with a reaction.
const MARK_STALE_AFTER: Duration = Duration::from_hours(2);
/// Maximum age of a reply at which a send of unknown outcome may be repeated. The member still expects the reply.
pub const FRESH_FOR: Duration = Duration::from_mins(5);
/// Maximum number of repeats of a send whose outcome is unknown. Only such a repeat can make a reply appear twice.
const MAX_UNKNOWN: u32 = 1;
/// Longest time for which nothing is sent to a chat because Telegram asks for it.
const LONGEST_HOLD: Duration = Duration::from_hours(24);
/// A question in a chat that Telegram closes for longer than this is not answered before it opens.
pub const LONG_HOLD: Duration = Duration::from_mins(1);
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// Wait before a send of unknown outcome is repeated. There is only one repeat, and most outages (a proxy that
/// restarts, a route that changes) are shorter than this.
const OUTAGE: Duration = Duration::from_secs(10);

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
    /// `true` if the attempt edits the message that shows the beginning of the part. It can be repeated without harm.
    pub is_edit: bool,
    /// `true` if only one member should see the part.
    pub is_for_one: bool,
    /// `true` for the answer to a command that the chat does not see.
    pub is_unseen: bool,
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
    /// Address it to everybody, since Telegram does not show it to one member alone, and send it again at once, unless
    /// everybody sees the message `sent` already.
    ShowToAll {
        /// `true` if the chat refuses all such messages, not only this one.
        chat_refuses: bool,
        sent: Option<MessageId>,
    },
    /// Keep the part pending and retry at that time.
    RetryAt {
        at: Timestamp,
        why: String,
        /// `true` to count the last send as one of unknown outcome.
        is_unknown: bool,
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
    /// As [`GiveUpVisibly`](Self::GiveUpVisibly), and record that the bot may not send to the chat.
    GiveUpWithoutRight(String),
    /// As [`GiveUpVisibly`](Self::GiveUpVisibly), and send nothing to the chat, not even the reaction, until then.
    GiveUpAndHold {
        until: Timestamp,
        why: String,
    },
    /// Give the reply up and mark the trigger with a reaction: the last send may have arrived, and no further one is
    /// allowed.
    GiveUpUnknown(String),
}

/// Returns the next step after an attempt to send a message to one member alone; `None` if it is the same as for other
/// messages.
fn after_send_to_one(result: &Result<MessageId, TelegramError>, state: PartState) -> Option<SendStep> {
    let show_to_all = |chat_refuses| Some(SendStep::ShowToAll { chat_refuses, sent: None });
    match result {
        Ok(message) if message.ephemeral_number().is_some() => None,
        // A server that does not know ephemeral messages has shown it to everybody.
        Ok(message) => Some(SendStep::ShowToAll { chat_refuses: true, sent: Some(*message) }),
        Err(TelegramError::Refused { description, .. } | TelegramError::Gone { description })
            if is_about_rights(description) =>
        {
            show_to_all(true)
        }
        // The formatting may be the reason; without it the message is still for one member.
        Err(TelegramError::Refused { .. }) if !state.is_plain => None,
        Err(TelegramError::Refused { .. } | TelegramError::Gone { .. } | TelegramError::NotModified) => {
            show_to_all(false)
        }
        // In another chat, or without its target, Telegram would take it for a message to everybody.
        Err(TelegramError::ReplyGone | TelegramError::Migrated { .. }) if state.is_unseen => show_to_all(false),
        Err(_) => None,
    }
}

/// Returns `true` if Telegram's refusal names ephemeral messages or the bot's rights, so that it holds for the whole
/// chat.
fn is_about_rights(why: &str) -> bool {
    let why = why.to_lowercase();
    ["ephemeral", "rights", "admin"].iter().any(|word| why.contains(word))
}

/// Returns `true` if Telegram's refusal says that the bot is in the chat without the right to send.
fn is_about_sending(why: &str) -> bool {
    let why = why.to_lowercase();
    // Polls and media have rights of their own.
    const REFUSALS: [&str; 5] =
        ["rights to send text", "rights to send a message", "write_forbidden", "plain_forbidden", "chat_restricted"];
    REFUSALS.iter().any(|words| why.contains(words))
}

/// Returns the next step after an attempt to send a part.
pub fn after_send(result: Result<MessageId, TelegramError>, state: PartState, now: Timestamp) -> SendStep {
    if state.is_for_one
        && let Some(step) = after_send_to_one(&result, state)
    {
        return step;
    }
    let error = match result {
        Ok(message) => return SendStep::Record(message),
        Err(error) => error,
    };
    let (age, pause, why) = (now.since(state.created_at), pause(state.attempts), error.to_string());
    match error {
        TelegramError::ReplyGone => SendStep::SendWithoutReply,
        TelegramError::ForumTopicGone if state.is_in_private_topic => SendStep::SendWithoutForumTopic,
        TelegramError::ForumTopicGone if state.is_promised => SendStep::SendInPrivate(why),
        TelegramError::Migrated { to } if state.moves == 0 => SendStep::Follow(to),
        TelegramError::Refused { .. } if !state.is_plain => SendStep::SendPlain,
        TelegramError::ForumTopicGone | TelegramError::Refused { .. } => SendStep::GiveUpVisibly(why),
        TelegramError::Gone { description } if is_about_sending(&description) => SendStep::GiveUpWithoutRight(why),
        TelegramError::Gone { .. } | TelegramError::NotModified => SendStep::GiveUp(why),
        TelegramError::Throttled { retry_after } if state.is_promised || age + retry_after <= STALE_AFTER => {
            SendStep::HoldChatUntil(now.plus(retry_after))
        }
        TelegramError::Throttled { retry_after } => SendStep::GiveUpAndHold {
            until: now.plus(retry_after.min(LONGEST_HOLD)),
            why: format!("Telegram asks to wait {} s, too long", retry_after.as_secs()),
        },
        TelegramError::Unknown(_) | TelegramError::Malformed { .. } if !state.is_edit => {
            match may_repeat(state.unknown_sends, age) {
                true => SendStep::RetryAt { at: now.plus(pause.max(OUTAGE)), why, is_unknown: true },
                false => SendStep::GiveUpUnknown(why),
            }
        }
        // Certainly not delivered; a retry may help. A chat changes its id only once: several changes in one attempt
        // would be a cycle. If the token is invalid, the poller reports it.
        _ if age + pause <= STALE_AFTER => SendStep::RetryAt { at: now.plus(pause), why, is_unknown: false },
        _ => SendStep::GiveUpVisibly(why),
    }
}

/// Decides what follows an attempt to set the reaction. `failure` is `None` if it succeeded; `age` is the age of the
/// reply. A reaction can be set twice without harm, so an unknown outcome is retried like any failure.
///
/// # Errors
/// The reaction is tried again later.
pub fn after_mark(
    failure: Option<TelegramError>,
    age: Duration,
    attempts: u32,
    now: Timestamp,
) -> Result<(), JobError> {
    match failure {
        Some(TelegramError::Throttled { retry_after }) if age + retry_after <= MARK_STALE_AFTER => {
            Err(JobError::Later(retry_after))
        }
        Some(
            error @ (TelegramError::NotSent(_)
            | TelegramError::Failed { .. }
            | TelegramError::Conflict { .. }
            | TelegramError::Unauthorized
            | TelegramError::Unknown(_)
            | TelegramError::Malformed { .. }),
        ) if age <= MARK_STALE_AFTER => Err(JobError::RetryAt(now.plus(pause(attempts)), error.to_string())),
        _ => Ok(()),
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
    use chime_telegram::LostReply;

    fn state(age_s: u64, unknown_sends: u32) -> (PartState, Timestamp) {
        let created_at = Timestamp::from_secs(1_000_000);
        (
            PartState {
                created_at,
                unknown_sends,
                attempts: 0,
                moves: 0,
                is_edit: false,
                is_for_one: false,
                is_unseen: false,
                is_plain: false,
                is_in_private_topic: false,
                is_promised: false,
            },
            created_at.plus(Duration::from_secs(age_s)),
        )
    }

    fn failed() -> TelegramError {
        TelegramError::Failed { status: 500, description: "down".to_owned() }
    }

    fn lost() -> TelegramError {
        TelegramError::Unknown(LostReply::Gateway(504))
    }

    fn refused(why: &str) -> TelegramError {
        TelegramError::Refused { status: 400, description: why.to_owned() }
    }

    fn gone(why: &str) -> TelegramError {
        TelegramError::Gone { description: why.to_owned() }
    }

    #[track_caller]
    fn check(error: TelegramError, age_s: u64, unknown_sends: u32, expected: &str) {
        let (state, now) = state(age_s, unknown_sends);
        let step = match after_send(Err(error), state, now) {
            SendStep::Record(message) => format!("record {message}"),
            SendStep::ShowToAll { .. } => "show to all".to_owned(),
            SendStep::RetryAt { at, is_unknown: false, .. } => format!("retry after {:?}", at.since(now)),
            SendStep::RetryAt { at, is_unknown: true, .. } => format!("repeat after {:?}", at.since(now)),
            SendStep::HoldChatUntil(at) => format!("hold for {:?}", at.since(now)),
            SendStep::SendWithoutReply => "send without reply".to_owned(),
            SendStep::SendWithoutForumTopic => "send without thread".to_owned(),
            SendStep::SendInPrivate(_) => "send in private".to_owned(),
            SendStep::SendPlain => "send plain".to_owned(),
            SendStep::Follow(chat) => format!("follow to {chat}"),
            SendStep::GiveUp(why) => format!("give up: {why}"),
            SendStep::GiveUpAndHold { until, why } => format!("give up, hold for {:?}: {why}", until.since(now)),
            SendStep::GiveUpWithoutRight(why) => format!("give up, may not send: {why}"),
            SendStep::GiveUpVisibly(why) | SendStep::GiveUpUnknown(why) => format!("give up with a reaction: {why}"),
        };
        assert_eq!(step, expected);
    }

    #[test]
    fn a_refusal_to_show_a_message_to_one_member_is_told_from_other_failures() {
        let (message, chat) = (Some((false, None)), Some((true, None)));
        for (result, is_plain, is_unseen, expected) in [
            (Ok(MessageId::ephemeral(7)), false, true, None),
            (Ok(MessageId(7)), false, true, Some((true, Some(MessageId(7))))),
            (Err(refused("not enough rights to send ephemeral messages")), false, false, chat),
            (Err(gone("CHAT_ADMIN_REQUIRED")), true, false, chat),
            (Err(refused("can't parse entities")), false, false, None),
            (Err(refused("can't parse entities")), true, false, message),
            (Err(gone("bot was kicked")), false, false, message),
            (Err(TelegramError::ReplyGone), false, true, message),
            (Err(TelegramError::ReplyGone), false, false, None),
            (Err(TelegramError::Migrated { to: ChatId(-5) }), false, true, message),
            (Err(lost()), true, true, None),
        ] {
            let (state, now) = state(0, 0);
            let shown = format!("{result:?}, plain: {is_plain}, unseen: {is_unseen}");
            let found = match after_send(result, PartState { is_for_one: true, is_plain, is_unseen, ..state }, now) {
                SendStep::ShowToAll { chat_refuses, sent } => Some((chat_refuses, sent)),
                _ => None,
            };
            assert_eq!(found, expected, "{shown}");
        }
    }

    #[test]
    fn what_was_surely_not_delivered_is_tried_until_it_is_stale() {
        check(failed(), 0, 0, "retry after 500ms");
        check(failed(), 3_600, 0, "give up with a reaction: status 500: down");
    }

    #[test]
    fn a_send_of_unknown_outcome_is_repeated_once_and_only_while_fresh() {
        check(lost(), 10, 0, "repeat after 10s");
        check(lost(), 10, 1, "give up with a reaction: the outcome is not known");
        check(lost(), 301, 0, "give up with a reaction: the outcome is not known");
        assert!(may_resume(1, Duration::from_secs(10)));
        assert!(!may_resume(2, Duration::from_secs(10)));
        assert!(!may_resume(1, Duration::from_secs(301)));
    }

    #[test]
    fn a_throttled_chat_waits_as_long_as_it_is_told() {
        check(TelegramError::Throttled { retry_after: Duration::from_secs(35) }, 0, 0, "hold for 35s");
        check(
            TelegramError::Throttled { retry_after: Duration::from_secs(9_000) },
            0,
            0,
            "give up, hold for 9000s: Telegram asks to wait 9000 s, too long",
        );
        check(
            TelegramError::Throttled { retry_after: Duration::from_secs(900_000) },
            0,
            0,
            "give up, hold for 86400s: Telegram asks to wait 900000 s, too long",
        );
        let (state, now) = state(0, 0);
        let wait = Duration::from_secs(9_000);
        let step = after_send(
            Err(TelegramError::Throttled { retry_after: wait }),
            PartState { is_promised: true, ..state },
            now,
        );
        assert_eq!(step, SendStep::HoldChatUntil(now.plus(wait)));
    }

    #[test]
    fn what_is_refused_is_sent_plain_once_and_then_given_up_where_it_is_seen() {
        let (state, now) = state(0, 0);
        let refused = || Err(refused("BUTTON_DATA_INVALID"));
        assert_eq!(after_send(refused(), state, now), SendStep::SendPlain);
        let plain = PartState { is_plain: true, ..state };
        assert_eq!(
            after_send(refused(), plain, now),
            SendStep::GiveUpVisibly("refused with 400: BUTTON_DATA_INVALID".to_owned())
        );
    }

    #[test]
    fn a_chat_that_moves_in_circles_is_followed_once_and_then_tried_later() {
        let (state, now) = state(0, 0);
        let moved = PartState { moves: 1, ..state };
        let step = after_send(Err(TelegramError::Migrated { to: ChatId(-7) }), moved, now);
        assert!(matches!(step, SendStep::RetryAt { is_unknown: false, .. }), "{step:?}");
    }

    #[test]
    fn the_reaction_is_tried_while_it_may_succeed() {
        let (_, now) = state(0, 0);
        let mark = |failure, age| after_mark(failure, age, 0, now);
        assert!(mark(None, Duration::ZERO).is_ok());
        let Err(JobError::RetryAt(at, why)) = mark(Some(lost()), STALE_AFTER) else { panic!("no retry") };
        assert_eq!((at.since(now), why.as_str()), (Duration::from_millis(500), "the outcome is not known"));
        assert!(mark(Some(lost()), STALE_AFTER * 3).is_ok());
        assert!(mark(Some(gone("kicked")), Duration::ZERO).is_ok());
    }

    #[test]
    fn a_gone_target_costs_the_reply_mark_and_not_the_reply() {
        check(TelegramError::ReplyGone, 0, 0, "send without reply");
        check(TelegramError::Migrated { to: ChatId(-1001) }, 0, 0, "follow to -1001");
        let no_right = "not enough rights to send text messages";
        let expected = "give up, may not send: the chat is out of reach: not enough rights to send text messages";
        check(gone(no_right), 0, 0, expected);
        let no_polls = "not enough rights to send polls to the chat";
        check(gone(no_polls), 0, 0, "give up: the chat is out of reach: not enough rights to send polls to the chat");
        check(gone("kicked"), 0, 0, "give up: the chat is out of reach: kicked");
        check(TelegramError::ForumTopicGone, 0, 0, "give up with a reaction: the topic is closed or gone");
        let (state, now) = state(0, 0);
        assert_eq!(after_send(Ok(MessageId(7)), state, now), SendStep::Record(MessageId(7)));
    }

    #[test]
    fn an_edit_of_unknown_outcome_is_repeated_while_it_is_not_stale() {
        let (state, now) = state(10, 5);
        let edit = PartState { is_edit: true, ..state };
        assert!(matches!(after_send(Err(lost()), edit, now), SendStep::RetryAt { is_unknown: false, .. }));
    }
}
