//! The focus of a question that names only a time, a conversation or a member ("what was decided on monday?", "what
//! happened at the last meeting?", "what did Zoe say?"): the most representative messages of that time or member. The
//! picker cannot help there: it treats a name or a day in a question as its subject, not as the author or the time of
//! the messages.

use std::time::Duration;

use crate::context::central::central;
use crate::context::precomputed::PrecomputedFeatures;
use crate::retrieval::{ParsedQuestion, SESSION_SILENCE, TimeSpan};
use chime_core::{Chosen, Message, Reason, Role, StoredMessage};

/// Score of the best message, and the step by which each further one scores less.
const SCORE: f64 = 0.9;
const STEP: f64 = 0.005;
/// Most messages of a time span in the focus; more add nothing.
const MOST: usize = 60;
/// Number of newest messages, if the question names a member and no time.
const NEWEST_OF_MEMBERS: usize = 12;
/// Minimum messages of a conversation; fewer are only a remark.
const TALK: usize = 8;
/// Absence after which "news" means everything since the asker's last message. Outside these bounds it means the last
/// [`NEWS`].
const AWAY: (Duration, Duration) = (Duration::from_secs(6 * 3600), Duration::from_secs(30 * 86_400));
const NEWS: Duration = Duration::from_secs(7 * 86_400);

/// A range of messages to load for a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedSpan {
    Within(TimeSpan),
    Newest,
}

/// Returns the messages to load for a question that asks for all that was said; empty for any other question.
pub fn told(question: &ParsedQuestion, trigger: &StoredMessage) -> Vec<AskedSpan> {
    // "^ what I asked" means a question that the picker finds.
    let names_another = question.named.iter().any(|id| *id != trigger.message.sender.id);
    let names_any = names_another || !question.spans.is_empty() || question.last_talk || question.asks_news;
    if !question.asks_talk || !names_any || trigger.message.reply_to.is_some() {
        return Vec::new();
    }
    if question.spans.is_empty() {
        vec![AskedSpan::Newest]
    } else {
        question.spans.iter().copied().map(AskedSpan::Within).collect()
    }
}

/// Returns the messages of `read` that the question wants, oldest first; the most representative score highest.
pub fn said(
    question: &ParsedQuestion,
    trigger: &StoredMessage,
    read: &[StoredMessage],
    evidence: &PrecomputedFeatures,
) -> Option<Vec<Chosen>> {
    let meant: Vec<&StoredMessage> = if question.spans.is_empty() {
        if question.last_talk {
            last_talk(read)
        } else if question.asks_news {
            news(read, trigger)
        } else {
            let newest = read.iter().rev().filter(|stored| is_wanted(question, &stored.message));
            let mut newest: Vec<&StoredMessage> = newest.take(NEWEST_OF_MEMBERS).collect();
            newest.reverse();
            newest
        }
    } else {
        read.iter().filter(|stored| is_wanted(question, &stored.message)).collect()
    };
    let ranked = central(&meant, MOST, evidence);
    let chosen = |(rank, stored): (usize, &&StoredMessage)| {
        let score = SCORE - STEP * rank as f64;
        Chosen { seq: stored.seq, id: stored.message.id, reason: Reason::Named, score }
    };
    let mut said: Vec<Chosen> = ranked.iter().enumerate().map(chosen).collect();
    said.sort_unstable_by_key(|chosen| chosen.seq);
    (!said.is_empty()).then_some(said)
}

/// Returns `true` if a member wrote the message within a named time span and the author is named. If the question names
/// no time, any time matches; if it names nobody, any member.
fn is_wanted(question: &ParsedQuestion, message: &Message) -> bool {
    let is_within = |span: &TimeSpan| (span.from..span.to).contains(&message.sent_at);
    let is_then = question.spans.is_empty() || question.spans.iter().any(is_within);
    let is_by = question.named.is_empty() || question.named.contains(&message.sender.id);
    message.role == Role::User && is_then && is_by
}

/// Returns the newest run of messages without a long silence that is long enough to be a conversation.
fn last_talk(read: &[StoredMessage]) -> Vec<&StoredMessage> {
    let mut talks: Vec<Vec<&StoredMessage>> = Vec::new();
    for stored in read.iter().filter(|stored| stored.message.role == Role::User) {
        match talks.last_mut() {
            Some(talk) if stored.message.sent_at.since(talk[talk.len() - 1].message.sent_at) <= SESSION_SILENCE => {
                talk.push(stored);
            }
            Some(_) | None => talks.push(vec![stored]),
        }
    }
    let newest = talks.iter().rposition(|talk| talk.len() >= TALK).or_else(|| talks.len().checked_sub(1));
    newest.map_or_else(Vec::new, |place| talks.swap_remove(place))
}

/// Returns the messages since the asker's last message, or of the last days if the asker was not away.
fn news<'a>(read: &'a [StoredMessage], trigger: &StoredMessage) -> Vec<&'a StoredMessage> {
    let now = trigger.message.sent_at;
    let is_own = |stored: &&StoredMessage| stored.message.sender.id == trigger.message.sender.id;
    let seen = read.iter().rev().find(is_own).map(|stored| stored.message.sent_at);
    let away = seen.filter(|seen| (AWAY.0..AWAY.1).contains(&now.since(*seen)));
    let since = away.unwrap_or_else(|| now.minus(NEWS));
    let new = |stored: &&StoredMessage| stored.message.role == Role::User && stored.message.sent_at > since;
    let found: Vec<&StoredMessage> = read.iter().filter(new).collect();
    if found.is_empty() { last_talk(read) } else { found }
}
