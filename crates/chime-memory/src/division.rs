//! Divides the changed part of a conversation into sessions again, and compares them with the stored ones.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::{Divider, OpenSession, SessionRules};
use chime_core::{Conversation, MessageId, Seq, Session, SessionCut, SessionMessage, Timestamp};

/// Part of a conversation to divide. It starts with the first message of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationPart {
    pub messages: Vec<SessionMessage>,
    /// `true` if the part reaches to the newest message of the conversation.
    pub is_all: bool,
    pub cuts: Vec<SessionCut>,
    /// Stored sessions of this part, oldest first.
    pub kept: Vec<Session>,
    /// No message sent at or after this time has changed.
    pub noted_until: Timestamp,
}

/// Changes of the stored sessions that a division requires.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Division {
    /// New sessions, and stored ones whose messages changed.
    pub save: Vec<Session>,
    /// Stored sessions that do not result from the messages any more, to be deleted.
    pub remove: Vec<Session>,
    /// Change notes (stored times at which messages changed) before this time are done and can be deleted; `None` if
    /// all are done.
    pub settled_until: Option<Timestamp>,
    /// Time from which division must continue: set if the part ended before a computed session equalled a stored one.
    pub goes_on_at: Option<Timestamp>,
    pub open: Option<OpenSession>,
}

/// Divides `part` into sessions as they are at `now`. Stops at the first session that is unchanged, since all later
/// ones are unchanged too.
pub fn divide(part: &ConversationPart, conversation: Conversation, rules: SessionRules, now: Timestamp) -> Division {
    let kept: BTreeMap<Seq, &Session> = part.kept.iter().map(|session| (session.id.first, session)).collect();
    let mut divider = Divider::new(conversation, rules, part.cuts.clone(), now);
    let mut found: Vec<Session> = Vec::new();
    let mut in_step_from: Option<(Timestamp, MessageId)> = None;
    for message in &part.messages {
        found.extend(divider.push(*message));
        let begins_as_kept = divider.begins_with(message)
            && kept.get(&message.seq).is_some_and(|session| session.first == (message.at, message.id));
        if begins_as_kept && message.at >= part.noted_until {
            // This session starts as stored, and no message changed after it: all later stored sessions are valid,
            // since a session does not depend on earlier messages.
            in_step_from = Some((message.at, message.id));
            break;
        }
    }
    let mut division = Division::default();
    let end = match in_step_from {
        Some(place) => Some(place),
        None if part.is_all => {
            let (closed, open) = divider.finish();
            found.extend(closed);
            division.open = open;
            None
        }
        None => {
            let last = part.messages.last().map(|message| (message.at, message.id));
            let place = divider.began().or(last);
            division.goes_on_at = place.map(|(at, _)| at);
            place
        }
    };
    division.settled_until = end.map(|(at, _)| at);
    let openers: BTreeSet<Seq> = found.iter().map(|session| session.id.first).collect();
    let within = |session: &&Session| end.is_none_or(|end| session.first < end);
    division.remove = part.kept.iter().filter(within).filter(|it| !openers.contains(&it.id.first)).cloned().collect();
    found.retain(|session| kept.get(&session.id.first).is_none_or(|kept| !is_same(kept, session)));
    division.save = found;
    division
}

/// Returns the times from which messages must still be divided after `division`. Each change note covers `span` from
/// its time on.
pub fn unsettled(notes: &[Timestamp], span: Duration, division: &Division) -> Vec<Timestamp> {
    let Some(until) = division.settled_until else { return Vec::new() };
    let open = notes.iter().filter(|at| at.plus(span) > until).map(|at| (*at).max(until));
    // If a part ends within a session, the sessions after it may change too.
    let mut left: Vec<Timestamp> = open.chain(division.goes_on_at).collect();
    left.sort_unstable();
    left.dedup();
    left
}

fn is_same(kept: &Session, found: &Session) -> bool {
    kept.first == found.first
        && kept.last == found.last
        && kept.fingerprint == found.fingerprint
        && kept.messages == found.messages
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use chime_core::ChatKey;

    const RULES: SessionRules = SessionRules { idle: Duration::from_hours(1), max_messages: 6 };
    const HERE: Conversation = Conversation { chat: ChatKey(1), forum_topic: None };
    const SPAN: Duration = Duration::from_hours(1);
    const NOW: Timestamp = Timestamp::from_secs(10_000_000);

    /// Stored conversation in a test: messages and sessions, changed and divided as the daemon does it.
    #[derive(Default)]
    struct Kept {
        messages: Vec<SessionMessage>,
        sessions: Vec<Session>,
        notes: Vec<Timestamp>,
    }

    impl Kept {
        fn change(&mut self, message: SessionMessage) {
            self.messages.retain(|other| other.id != message.id);
            self.messages.push(message);
            self.messages.sort_by_key(|it| (it.at, it.id));
            self.notes.push(Timestamp::from_secs(message.at.secs() / 3600 * 3600));
        }

        /// Divides the noted parts, in pages of `page` messages, until no change note remains.
        fn look(&mut self, now: Timestamp, page: usize) {
            self.notes.sort();
            while let Some(noted) = self.notes.first().copied() {
                let base = self.sessions.iter().rev().find(|it| it.first.0 < noted);
                let from = base.map_or((Timestamp::from_secs(0), MessageId(0)), |it| it.first);
                let rest: Vec<SessionMessage> =
                    self.messages.iter().copied().filter(|it| (it.at, it.id) >= from).collect();
                let part = ConversationPart {
                    is_all: rest.len() <= page,
                    messages: rest.into_iter().take(page).collect(),
                    cuts: Vec::new(),
                    kept: self.sessions.iter().filter(|it| it.first >= from).cloned().collect(),
                    noted_until: noted.plus(SPAN),
                };
                let division = divide(&part, HERE, RULES, now);
                self.sessions.retain(|it| !division.remove.contains(it));
                for session in division.save.clone() {
                    self.sessions.retain(|it| it.id != session.id);
                    self.sessions.push(session);
                }
                self.sessions.sort_by_key(|it| it.first);
                self.notes = unsettled(&self.notes, SPAN, &division);
            }
        }

        fn lines(&self) -> Vec<(Seq, MessageId, i64)> {
            self.sessions.iter().map(|it| (it.id.first, it.last.1, it.fingerprint)).collect()
        }
    }

    fn message(number: u32, secs: u32, content: u64) -> SessionMessage {
        SessionMessage {
            seq: Seq(number),
            at: Timestamp::from_secs(secs.into()),
            id: MessageId(number.into()),
            is_human: !number.is_multiple_of(5),
            content,
        }
    }

    proptest! {
        /// Messages arrive in any order and are edited, and divisions run at any time in between. At the end the
        /// sessions equal those of a single division.
        #[test]
        fn any_order_of_late_and_changed_messages_ends_with_the_same_sessions(
            steps in prop::collection::vec((1_u32..60, 0_u64..3, any::<bool>(), 0_u32..200_000), 1..80),
            times in prop::collection::vec(1_u32..120_000, 60),
        ) {
            let mut lived = Kept::default();
            for (number, content, looks, clock) in &steps {
                lived.change(message(*number, times[*number as usize], *content));
                if *looks {
                    lived.look(Timestamp::from_secs((*clock).into()), 20);
                }
            }
            // Adds a note at the last message, so that this pass also closes sessions that earlier passes left open.
            lived.notes.extend(lived.messages.iter().map(|it| it.at).max());
            lived.look(NOW, 20);
            let mut anew = Kept { messages: lived.messages.clone(), ..Kept::default() };
            anew.notes.push(Timestamp::from_secs(0));
            anew.look(NOW, 1000);
            prop_assert_eq!(lived.lines(), anew.lines());
        }
    }
}
