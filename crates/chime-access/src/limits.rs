//! Rate limits. Pure functions. All times are the sending times of messages, so messages that arrive all at once after
//! downtime do not count as a flood.

use std::time::Duration;

use chime_core::config::RateLimit;
use chime_core::{Conversation, ExplainedRefusal, RefusalNotice, RefusalReason, Timestamp, UserId};

/// Number of triggers of one member, the current one included, over which flooding is measured.
const FLOOD_TRIGGERS: usize = 5;
/// These triggers are a flood if they are on average closer together than this: nobody reads answers that fast.
const FLOOD_GAP: Duration = Duration::from_secs(2);
/// Shortest time between two explanations of a refusal in words. A refusal in between gets only a reaction.
const SAY_AGAIN_AFTER: Duration = Duration::from_mins(1);

/// Limit on a member's commands and presses to which no other limit applies, since admins must not lose one. Nobody who
/// types reaches it. Telegram lets a bot send as many messages a minute to a group: with more, replies to one member
/// would delay all answers.
pub const CONTROLS: RateLimit = RateLimit { triggers: 20, per: Duration::from_mins(1) };

/// Times of the recently admitted triggers, in any order, and the last refusals that were explained in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recent {
    pub of_conversation: Vec<Timestamp>,
    /// Triggers of the asking member in all conversations.
    pub of_member: Vec<Timestamp>,
    /// Last refusal in this conversation that was explained and concerns all its members.
    pub told_conversation: Option<ExplainedRefusal>,
    /// Last refusal in this conversation that was explained and concerns only the asking member.
    pub told_member: Option<ExplainedRefusal>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Allow,
    Refuse { because: RefusalReason, until: Timestamp, tell: RefusalNotice },
}

/// Decides if a trigger sent at `at` is admitted. Refused triggers are not in `recent`, so asking too early never
/// extends the wait.
pub fn admit(at: Timestamp, recent: &Recent, limit: RateLimit) -> Decision {
    let reached = [
        (RefusalReason::Conversation, full_until(at, &recent.of_conversation, limit)),
        (RefusalReason::Member, full_until(at, &recent.of_member, limit)),
        (RefusalReason::Flood, flood_until(at, &recent.of_member)),
    ];
    let longest = reached.into_iter().filter_map(|(because, until)| Some((because, until?))).max_by_key(|(_, at)| *at);
    let Some((because, until)) = longest else { return Decision::Allow };
    let earlier = if because.is_personal() { recent.told_member } else { recent.told_conversation };
    Decision::Refuse { because, until, tell: tell(at, earlier) }
}

/// Decides if a command or press at `at` to which only [`CONTROLS`] applies is admitted. `recent` has such ones only.
pub fn admit_control(at: Timestamp, recent: &Recent) -> Decision {
    match full_until(at, &recent.of_member, CONTROLS) {
        None => Decision::Allow,
        Some(until) => Decision::Refuse { because: RefusalReason::Member, until, tell: tell(at, recent.told_member) },
    }
}

/// Decides if a refusal at `at` is explained in words or only shown by a reaction. `earlier` is the last refusal
/// explained in words: until its end, and for at least a minute, further refusals get only a reaction.
pub fn tell(at: Timestamp, earlier: Option<ExplainedRefusal>) -> RefusalNotice {
    match earlier {
        Some(earlier) if at < earlier.until.max(earlier.at.plus(SAY_AGAIN_AFTER)) => RefusalNotice::Reaction,
        Some(_) | None => RefusalNotice::Words,
    }
}

/// Returns the key of a refusal. Of refusals with the same key, only the first is explained in words until asking again
/// makes sense. Rate and flood refusals of a member share a key, because both advise to wait.
pub fn subject(because: RefusalReason, conversation: Conversation, user: UserId, at: Timestamp) -> String {
    let (chat, forum_topic, day) = (conversation.chat, conversation.forum_topic.map_or(0, |id| id.0), at.day());
    match because {
        RefusalReason::Conversation => format!("rate:{chat}:{forum_topic}"),
        RefusalReason::Member | RefusalReason::Flood => format!("rate:{chat}:{forum_topic}:{user}"),
        RefusalReason::DailyTokens | RefusalReason::DailyTokensOfChat => format!("tokens:{chat}:{day}"),
        RefusalReason::DailyTokensOfMember => format!("tokens:{chat}:{day}:{user}"),
        RefusalReason::AdminsOnly => format!("askers:{chat}:{day}:{user}"),
    }
}

/// Returns the earliest time at which the rate limit admits another trigger, or `None` if it admits one now.
fn full_until(at: Timestamp, times: &[Timestamp], limit: RateLimit) -> Option<Timestamp> {
    let mut within: Vec<Timestamp> = times.iter().copied().filter(|time| at.since(*time) < limit.per).collect();
    within.sort_unstable();
    let too_many = within.len().checked_sub(limit.triggers)?;
    within.get(too_many).map(|oldest| oldest.plus(limit.per))
}

/// Returns the earliest time at which another trigger is not a flood, or `None` if one is allowed now.
fn flood_until(at: Timestamp, times: &[Timestamp]) -> Option<Timestamp> {
    let mut newest = times.to_vec();
    newest.sort_unstable_by(|a, b| b.cmp(a));
    let first = newest.get(FLOOD_TRIGGERS - 2)?;
    let slow_enough = first.plus(FLOOD_GAP * (FLOOD_TRIGGERS as u32 - 1));
    (at < slow_enough).then_some(slow_enough)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    const LIMIT: RateLimit = RateLimit { triggers: 3, per: Duration::from_mins(1) };

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_secs(1_000_000 + secs)
    }

    /// Plays triggers, written as `second name`, in one conversation and checks each decision.
    #[track_caller]
    fn check(triggers: &str, limit: RateLimit, expected: Expect) {
        let mut allowed: Vec<(Timestamp, &str)> = Vec::new();
        let mut earlier: Vec<(RefusalReason, &str, ExplainedRefusal)> = Vec::new();
        let mut lines = Vec::new();
        for trigger in triggers.split(',').map(str::trim) {
            let (secs, name) = trigger.split_once(' ').expect("a second and a name");
            let now = at(secs.parse().expect("seconds"));
            let of = |wanted: fn(RefusalReason) -> bool, whose: Option<&str>| {
                let mut said = earlier.iter().rev();
                said.find(|(because, who, _)| wanted(*because) && whose.is_none_or(|whose| whose == *who))
                    .map(|(.., earlier)| *earlier)
            };
            let recent = Recent {
                of_conversation: allowed.iter().map(|(time, _)| *time).collect(),
                of_member: allowed.iter().filter(|(_, who)| *who == name).map(|(time, _)| *time).collect(),
                told_conversation: of(|because| because == RefusalReason::Conversation, None),
                told_member: of(|because| because != RefusalReason::Conversation, Some(name)),
            };
            lines.push(match admit(now, &recent, limit) {
                Decision::Allow => {
                    allowed.push((now, name));
                    format!("{trigger}: allowed")
                }
                Decision::Refuse { because, until, tell } => {
                    if tell == RefusalNotice::Words {
                        earlier.push((because, name, ExplainedRefusal { at: now, until }));
                    }
                    format!("{trigger}: {because:?} {tell:?}, again at {}", until.secs() - at(0).secs())
                }
            });
        }
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn a_conversation_that_asked_enough_waits_until_its_oldest_trigger_is_past() {
        check(
            "0 ana, 10 bob, 20 cat, 30 dan, 31 eve, 59 ana, 60 ana, 61 bob, 75 bob",
            LIMIT,
            expect![[r#"
                0 ana: allowed
                10 bob: allowed
                20 cat: allowed
                30 dan: Conversation Words, again at 60
                31 eve: Conversation Reaction, again at 60
                59 ana: Conversation Reaction, again at 60
                60 ana: allowed
                61 bob: Conversation Reaction, again at 70
                75 bob: allowed"#]],
        );
    }

    #[test]
    fn words_are_said_again_when_the_refusals_go_on() {
        check(
            "0 ana, 10 bob, 20 cat, 30 dan, 60 ana, 70 bob, 80 cat, 89 dan, 90 dan",
            LIMIT,
            expect![[r#"
                0 ana: allowed
                10 bob: allowed
                20 cat: allowed
                30 dan: Conversation Words, again at 60
                60 ana: allowed
                70 bob: allowed
                80 cat: allowed
                89 dan: Conversation Reaction, again at 120
                90 dan: Conversation Words, again at 120"#]],
        );
    }

    #[test]
    fn five_triggers_of_one_member_in_less_than_eight_seconds_are_a_flood() {
        check(
            "0 ana, 1 ana, 2 ana, 3 ana, 4 ana, 4 bob, 5 ana, 8 ana, 9 ana",
            RateLimit::default(),
            expect![[r#"
                0 ana: allowed
                1 ana: allowed
                2 ana: allowed
                3 ana: allowed
                4 ana: Flood Words, again at 8
                4 bob: allowed
                5 ana: Flood Reaction, again at 8
                8 ana: allowed
                9 ana: allowed"#]],
        );
    }

    #[test]
    fn a_question_every_two_seconds_is_no_flood() {
        check(
            "0 ana, 2 ana, 4 ana, 6 ana, 8 ana",
            RateLimit::default(),
            expect![[r#"
                0 ana: allowed
                2 ana: allowed
                4 ana: allowed
                6 ana: allowed
                8 ana: allowed"#]],
        );
    }

    #[test]
    fn a_member_has_a_limit_of_their_own_across_conversations() {
        let recent = Recent { of_member: vec![at(0), at(20), at(40)], ..Recent::default() };
        let refused = Decision::Refuse { because: RefusalReason::Member, until: at(60), tell: RefusalNotice::Words };
        assert_eq!(admit(at(50), &recent, LIMIT), refused);
        assert_eq!(admit(at(60), &recent, LIMIT), Decision::Allow);
    }

    proptest! {
        #[test]
        fn whoever_waits_as_long_as_told_is_let_through(
            times in prop::collection::vec(0_i64..400, 0..80), now in 300_i64..400,
        ) {
            let recent = Recent {
                of_conversation: times.iter().map(|secs| at(*secs)).collect(),
                of_member: times.iter().step_by(2).map(|secs| at(*secs)).collect(),
                ..Recent::default()
            };
            if let Decision::Refuse { until, .. } = admit(at(now), &recent, RateLimit::default()) {
                prop_assert!(until > at(now));
                prop_assert_eq!(admit(until, &recent, RateLimit::default()), Decision::Allow);
            }
        }
    }
}
