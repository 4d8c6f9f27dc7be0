//! Selects the focus of a question that names only a time, a conversation, a member or a number of messages ("what was
//! decided on monday?", "what happened at the last meeting?", "what did Zoe say?", "summarize the last ten messages"):
//! the most representative of those messages.
//! The picker is of no use there: it takes a name or a day for the subject, not for the author or the time of the
//! messages.

use std::time::Duration;

use crate::context::candidate_features::CandidateFeatures;
use crate::context::central::central;
use crate::retrieval::{ParsedQuestion, SESSION_SILENCE, TimeSpan};
use chime_core::trigger::is_for_bot;
use chime_core::{Chosen, Message, Reason, Role, StoredMessage};

/// Score of the best message, and the amount by which each further one scores less.
const SCORE: f64 = 0.9;
const STEP: f64 = 0.005;
/// Maximum number of messages of a time span in the focus; more do not improve an answer.
const MOST: usize = 60;
/// Number of the newest messages of the named members in the focus, if the question names neither a time nor a number.
const NEWEST_OF_MEMBERS: usize = 12;
/// Minimum messages of a conversation; a shorter run is only a remark.
const TALK: usize = 8;
/// Minimum and maximum absence of the asker at which "news" means everything since their last message. After a shorter
/// or longer absence, it means everything within the last [`NEWS`].
const AWAY: (Duration, Duration) = (Duration::from_secs(6 * 3600), Duration::from_secs(30 * 86_400));
const NEWS: Duration = Duration::from_secs(7 * 86_400);

/// Range of messages to load for a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedSpan {
    Within(TimeSpan),
    Newest,
}

/// Returns the ranges of messages to load for a question that asks for all that was said at a time, in a conversation
/// or by a member, or in the newest messages; empty for any other question.
pub fn asked_spans(question: &ParsedQuestion, trigger: &StoredMessage) -> Vec<AskedSpan> {
    // A question that names only the asker ("^ what I asked") means an earlier question, which the picker finds.
    let names_another = question.named.iter().any(|id| *id != trigger.message.sender.id);
    let names_any = names_another || !question.spans.is_empty() || question.last_talk || question.asks_news;
    let names_any = names_any || question.newest.is_some();
    if !question.asks_talk || !names_any || trigger.message.reply_to.is_some() {
        return Vec::new();
    }
    if question.spans.is_empty() {
        vec![AskedSpan::Newest]
    } else {
        question.spans.iter().copied().map(AskedSpan::Within).collect()
    }
}

/// Returns the messages that the question wants, out of the loaded messages `read`, which are sorted oldest first. The
/// most representative have the highest score. `None` if there are none.
pub fn said(
    question: &ParsedQuestion,
    trigger: &StoredMessage,
    read: &[StoredMessage],
    evidence: &CandidateFeatures,
) -> Option<Vec<Chosen>> {
    let meant: Vec<&StoredMessage> = if question.spans.is_empty() {
        if question.last_talk {
            last_talk(read)
        } else if question.asks_news {
            news(read, trigger)
        } else {
            let newest = read.iter().rev().filter(|stored| is_wanted(question, &stored.message));
            let most = question.newest.unwrap_or(NEWEST_OF_MEMBERS);
            let mut newest: Vec<&StoredMessage> = newest.take(most).collect();
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

/// Returns `true` if the question wants this message: a member wrote it to the others, at a time that the question names
/// (any time if it names none), and the author is named (any author if the question names nobody).
fn is_wanted(question: &ParsedQuestion, message: &Message) -> bool {
    let is_within = |span: &TimeSpan| (span.from..span.to).contains(&message.sent_at);
    let is_then = question.spans.is_empty() || question.spans.iter().any(is_within);
    let is_by = question.named.is_empty() || question.named.contains(&message.sender.id);
    message.role == Role::User && !is_for_bot(message) && is_then && is_by
}

/// Returns the newest run of messages of members, without a long silence, that has at least [`TALK`] messages; the
/// newest run of any length if there is none.
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

/// Returns the messages of members since the asker's last one, or of the last [`NEWS`] if the asker was not away. If
/// there are none, returns the last conversation.
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
