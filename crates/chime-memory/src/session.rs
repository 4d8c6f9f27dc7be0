//! Divides a conversation into sessions. The result depends only on the messages and cuts (stored places at which a
//! session must end), so dividing again gives the same sessions.

use std::time::Duration;

use crate::policy::SUBSTANCE_MESSAGES;
use chime_core::{
    CloseReason, Conversation, MessageId, Seq, Session, SessionCut, SessionId, SessionMessage, Timestamp,
};

/// Maximum duration of a conversation without a silence; an active one is divided after it.
const MAX_AGE: Duration = Duration::from_hours(24);
/// Silence after which the next message of a person no longer continues a small session, one with too few messages for a
/// summary. In a slow chat, most sessions would be so small.
const SMALL_IDLE: Duration = Duration::from_hours(3 * 24);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionRules {
    /// Silence after which a session ends.
    pub idle: Duration,
    pub max_messages: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenSession {
    pub opener: Seq,
    pub first: (Timestamp, MessageId),
    pub last: (Timestamp, MessageId),
    pub messages: u32,
    /// Number of messages by people, not bots.
    pub turns: u32,
    /// Time of the first message after the last silence that did not end the session.
    active_from: Timestamp,
    /// Time at which the session ends if no further message comes.
    pub ends_at: Timestamp,
    digest: u64,
}

/// Divides a conversation, message by message in order.
#[derive(Debug, Clone)]
pub struct Divider {
    conversation: Conversation,
    rules: SessionRules,
    now: Timestamp,
    cuts: Vec<SessionCut>,
    open: Option<OpenSession>,
    /// Messages of bots after the silence that follows a small session. They belong to it if a person continues it.
    pending: Vec<SessionMessage>,
}

impl Divider {
    /// Creates a divider. `cuts` are the cuts since the first message, oldest first.
    pub fn new(conversation: Conversation, rules: SessionRules, cuts: Vec<SessionCut>, now: Timestamp) -> Self {
        Self { conversation, rules, now, cuts, open: None, pending: Vec::new() }
    }

    /// Adds the next message. Returns the previous session if it ends before this message.
    pub fn push(&mut self, message: SessionMessage) -> Option<Session> {
        let was_silent = self.open.is_some_and(|open| message.at.since(open.last.0) > self.rules.idle);
        // A bot message waits no longer than a person may continue the session; a chat of bots would keep it open for ever.
        let waits = |open: &OpenSession| is_small(open) && message.at.since(open.last.0) <= SMALL_IDLE;
        if !message.is_human && was_silent && self.open.as_ref().is_some_and(waits) {
            self.pending.push(message);
            return None;
        }
        let ended = self.end_before(&message);
        for pending in std::mem::take(&mut self.pending) {
            self.open = self.open.map(|open| OpenSession {
                last: (pending.at, pending.id),
                messages: open.messages + 1,
                digest: digested(open.digest, &pending),
                ..open
            });
        }
        let place = (message.at, message.id);
        let open = match self.open.take() {
            Some(open) => {
                let active_from = if was_silent { message.at } else { open.active_from };
                OpenSession { last: place, messages: open.messages + 1, active_from, ..open }
            }
            // Only a person's message starts a session: a bot's message outside a session belongs to none.
            None if !message.is_human => return ended,
            None => OpenSession {
                opener: message.seq,
                first: place,
                last: place,
                messages: 1,
                turns: 0,
                active_from: message.at,
                ends_at: message.at,
                digest: SEED,
            },
        };
        self.open = Some(OpenSession {
            turns: open.turns + u32::from(message.is_human),
            ends_at: message.at.plus(self.rules.idle).min(open.active_from.plus(MAX_AGE)),
            digest: digested(open.digest, &message),
            ..open
        });
        ended
    }

    /// Returns `true` if `message`, which was added last, starts a session.
    pub fn begins_with(&self, message: &SessionMessage) -> bool {
        self.open.is_some_and(|open| open.opener == message.seq)
    }

    pub fn began(&self) -> Option<(Timestamp, MessageId)> {
        self.open.map(|open| open.first)
    }

    /// Returns the last session, closed or still open, when all messages have been added.
    pub fn finish(mut self) -> (Option<Session>, Option<OpenSession>) {
        let Some(open) = self.open else { return (None, None) };
        match self.reason_to_end(&open, (self.now, MessageId(i64::MAX)), self.rules.idle) {
            Some(reason) => (Some(self.closed(open, reason)), None),
            None => (None, Some(open)),
        }
    }

    fn end_before(&mut self, message: &SessionMessage) -> Option<Session> {
        let open = self.open?;
        let idle = if is_small(&open) { self.rules.idle.max(SMALL_IDLE) } else { self.rules.idle };
        let reason = self.reason_to_end(&open, (message.at, message.id), idle)?;
        self.open = None;
        Some(self.closed(open, reason))
    }

    /// Returns the reason why a session ends before `next`, or `None` if it goes on. It ends after a silence of `idle`.
    fn reason_to_end(
        &mut self,
        open: &OpenSession,
        next: (Timestamp, MessageId),
        idle: Duration,
    ) -> Option<CloseReason> {
        if let Some(reason) = self.cut_between(open.last, next) {
            return Some(reason);
        }
        let silence = next.0.since(open.last.0);
        let is_old = silence <= self.rules.idle && next.0.since(open.active_from) >= MAX_AGE;
        if open.messages >= self.rules.max_messages {
            Some(CloseReason::Size)
        } else if silence > idle {
            Some(CloseReason::Silence)
        } else {
            is_old.then_some(CloseReason::Age)
        }
    }

    /// Returns the reason of the first cut at or after `last` and before `next`. Forgets cuts before `last`.
    fn cut_between(&mut self, last: (Timestamp, MessageId), next: (Timestamp, MessageId)) -> Option<CloseReason> {
        self.cuts.retain(|cut| cut.after >= last);
        self.cuts.first().filter(|cut| cut.after < next).map(|cut| cut.reason)
    }

    fn closed(&self, open: OpenSession, reason: CloseReason) -> Session {
        Session {
            id: SessionId { chat: self.conversation.chat, first: open.opener },
            forum_topic: self.conversation.forum_topic,
            first: open.first,
            last: open.last,
            messages: open.messages,
            reason,
            closed_at: self.now,
            fingerprint: open.digest.cast_signed(),
            is_folded: false,
        }
    }
}

/// Returns `true` if an open session has too few messages of people for a summary.
fn is_small(open: &OpenSession) -> bool {
    (open.turns as usize) < SUBSTANCE_MESSAGES
}

pub fn fingerprint(messages: &[SessionMessage]) -> i64 {
    messages.iter().fold(SEED, digested).cast_signed()
}

fn digested(digest: u64, message: &SessionMessage) -> u64 {
    mixed(mixed(digest, u64::from(message.seq.0)), message.content)
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes a value into the fingerprint of a session (splitmix64).
fn mixed(digest: u64, value: u64) -> u64 {
    let mut z = digest.wrapping_add(value).wrapping_add(SEED);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;
    use chime_core::testkit::{CHAT_KEY, moment, transcript};
    use chime_core::{Conversation, Role};

    const RULES: SessionRules = SessionRules { idle: Duration::from_hours(1), max_messages: 4 };

    fn messages(chat: &str) -> Vec<SessionMessage> {
        let message = |stored: chime_core::StoredMessage| SessionMessage {
            seq: stored.seq,
            at: stored.message.sent_at,
            id: stored.message.id,
            is_human: stored.message.role == Role::User,
            content: 0,
        };
        transcript(chat).into_iter().map(message).collect()
    }

    fn divided(
        messages: &[SessionMessage],
        cuts: &[SessionCut],
        now: Timestamp,
    ) -> (Vec<Session>, Option<OpenSession>) {
        let mut divider = Divider::new(Conversation::whole(CHAT_KEY), RULES, cuts.to_vec(), now);
        let mut found: Vec<Session> = messages.iter().filter_map(|message| divider.push(*message)).collect();
        let (closed, open) = divider.finish();
        found.extend(closed);
        (found, open)
    }

    fn rendered(chat: &str, cuts: &[SessionCut], now: &str) -> String {
        let (found, open) = divided(&messages(chat), cuts, moment(now));
        let mut lines: Vec<String> =
            found.iter().map(|it| format!("{}-{} {}", it.first.1, it.last.1, it.reason.as_str())).collect();
        if let Some(open) = open {
            let minutes = open.ends_at.since(moment(now)).as_secs() / 60;
            lines.push(format!("{}-{} open for {minutes} min, {} turns", open.first.1, open.last.1, open.turns));
        }
        lines.join("\n")
    }

    #[track_caller]
    fn check(chat: &str, cuts: &[SessionCut], now: &str, expected: Expect) {
        expected.assert_eq(&rendered(chat, cuts, now));
    }

    #[test]
    fn silence_size_and_age_end_a_session() {
        check(
            "10:00 ann#1 a\n10:59 bob#2 b\n11:59 cat#3 c\n13:00 ann#4 d\n13:01 bob#5 e",
            &[],
            "13:10",
            expect![[r#"
                1-3 silence
                4-5 open for 51 min, 2 turns"#]],
        );
        check(
            "10:00 ann#1 a\n10:01 bob#2 b\n10:02 cat#3 c\n10:03 ann#4 d\n10:04 bob#5 e",
            &[],
            "12:00",
            expect![[r#"
                1-4 size
                5-5 silence"#]],
        );
        let day_long: Vec<SessionMessage> = (0..30)
            .map(|hour: u32| SessionMessage {
                seq: Seq(hour + 1),
                at: moment("00:00").plus(Duration::from_secs(u64::from(hour) * 3600)),
                id: MessageId(i64::from(hour) + 1),
                is_human: true,
                content: 0,
            })
            .collect();
        let rules = SessionRules { max_messages: 500, ..RULES };
        let mut divider = Divider::new(Conversation::whole(CHAT_KEY), rules, Vec::new(), moment("00:00"));
        let ended: Vec<Session> = day_long.iter().filter_map(|message| divider.push(*message)).collect();
        assert_eq!(ended.iter().map(|it| (it.messages, it.reason)).collect::<Vec<_>>(), [(24, CloseReason::Age)]);
    }

    #[test]
    fn a_command_the_end_of_a_topic_and_the_removal_of_the_bot_end_a_session() {
        let cut = |time: &str, id, reason| SessionCut { after: (moment(time), MessageId(id)), reason };
        check(
            "10:00 ann#1 a\n10:01 bob#2 /new\n10:02 cat#3 c\n10:05 ann#4 d",
            &[cut("10:01", 2, CloseReason::New), cut("10:04", i64::MAX, CloseReason::Removed)],
            "10:06",
            expect![[r#"
                1-2 new
                3-3 removed
                4-4 open for 59 min, 1 turns"#]],
        );
        check(
            "10:00 ann#1 a",
            &[cut("09:00", 0, CloseReason::New), cut("10:01", 2, CloseReason::Topic)],
            "10:02",
            expect!["1-1 topic"],
        );
    }

    #[test]
    fn people_open_sessions_and_bots_only_take_part() {
        check(
            "10:00 chime#1 [assistant] recap\n10:01 ann#2 a\n10:02 chime#3 [assistant] b",
            &[],
            "10:03",
            expect!["2-3 open for 59 min, 1 turns"],
        );
    }

    #[test]
    fn the_next_messages_within_three_days_continue_a_small_session() {
        check(
            "10:00 ann#1 shall we meet on the 12th?\nday 2\n18:00 bob#2 fine\nday 4\n09:00 cat#3 ok\n\
             12:00 bob#4 who cooks?\nday 8\n09:00 cat#5 me",
            &[],
            "day 8 12:00",
            expect![[r#"
                1-3 silence
                4-4 silence
                5-5 silence"#]],
        );
        // A bot's message after the silence neither ends it nor continues it alone.
        let weather = "10:00 ann#1 a\nday 2\n10:00 chime#2 [assistant] recap";
        check(weather, &[], "day 2 18:10", expect!["1-1 silence"]);
        let answered = format!("{weather}\n18:00 bob#3 b");
        check(&answered, &[], "day 2 18:10", expect!["1-3 open for 50 min, 2 turns"]);
        let feed = format!("{weather}\nday 5\n18:00 chime#3 [assistant] recap\n18:01 bob#4 b");
        check(
            &feed,
            &[],
            "day 5 18:10",
            expect![[r#"
                1-1 silence
                4-4 open for 51 min, 1 turns"#]],
        );
        let late = format!("{weather}\nday 5\n18:00 bob#3 b");
        check(
            &late,
            &[],
            "day 5 18:10",
            expect![[r#"
            1-1 silence
            3-3 open for 50 min, 1 turns"#]],
        );
    }

    #[test]
    fn a_clock_that_is_behind_closes_nothing() {
        check("10:00 ann#1 a", &[], "09:00", expect!["1-1 open for 120 min, 1 turns"]);
    }

    #[test]
    fn another_content_is_another_fingerprint() {
        let mut said = messages("10:00 ann#1 a\n10:01 bob#2 b");
        let before = divided(&said, &[], moment("12:00")).0[0].fingerprint;
        said[1].content = 1;
        assert_ne!(divided(&said, &[], moment("12:00")).0[0].fingerprint, before);
    }

    proptest! {
        /// Division may start at any session, since a session does not depend on earlier messages.
        #[test]
        fn dividing_from_a_session_on_gives_the_same_sessions(
            gaps in prop::collection::vec((0_u64..7200, any::<bool>()), 1..40), from in any::<prop::sample::Index>(),
        ) {
            let mut at = moment("00:00");
            let said: Vec<SessionMessage> = gaps.iter().zip(1..).map(|((gap, is_human), number)| {
                at = at.plus(Duration::from_secs(*gap));
                SessionMessage { seq: Seq(number), at, id: MessageId(number.into()), is_human: *is_human, content: 0 }
            }).collect();
            let now = at.plus(Duration::from_secs(1800));
            let (whole, tail) = divided(&said, &[], now);
            if whole.is_empty() {
                return Ok(());
            }
            let place = from.index(whole.len());
            let rest: Vec<SessionMessage> =
                said.iter().copied().filter(|it| (it.at, it.id) >= whole[place].first).collect();
            prop_assert_eq!(divided(&rest, &[], now), (whole[place..].to_vec(), tail));
        }
    }
}
