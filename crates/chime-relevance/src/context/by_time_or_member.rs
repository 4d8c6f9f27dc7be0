//! Selects the focus of a question that names only a time, a conversation, a member or a number of messages ("what was
//! decided on monday?", "what happened at the last meeting?", "what did Zoe say?", "summarize the last ten messages"):
//! the most representative of those messages.
//! The picker is of no use there: it takes a name or a day for the subject, not for the author or the time of the
//! messages.

use std::collections::HashMap;
use std::time::Duration;

use crate::context::candidate_features::CandidateFeatures;
use crate::context::central::central;
use crate::retrieval::stretches::unbroken;
use crate::retrieval::{ParsedQuestion, TimeSpan};
use chime_core::trigger::{asks_others_for_summary, is_for_bot};
use chime_core::{Chosen, Message, Reason, Role, Seq, StoredMessage, Timestamp};

/// Score of the best message, and the amount by which each further one scores less.
const SCORE: f64 = 0.9;
const STEP: f64 = 0.005;
/// Maximum number of messages of a time span in the focus; more do not improve an answer.
const MOST: usize = 60;
/// Maximum number of messages of a time span that are ranked, before each talk gets its best ones.
const RANKED: usize = 5 * MOST;
/// Number of the newest messages of the named members in the focus, if the question names neither a time nor a number.
const NEWEST_OF_MEMBERS: usize = 12;
/// Minimum messages of a conversation; a shorter run is only a remark.
const TALK: usize = 8;
/// Minimum and maximum absence of the asker at which "news" means everything since their last message. After a shorter
/// or longer absence, it means everything within the last [`NEWS`].
const AWAY: (Duration, Duration) = (Duration::from_hours(6), Duration::from_secs(30 * 86_400));
const NEWS: Duration = Duration::from_secs(7 * 86_400);
/// Maximum silence between a member's messages of one visit.
const PRESENT: Duration = Duration::from_mins(10);

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
    let wanted = || read.iter().filter(|stored| is_wanted(question, &stored.message));
    let meant: Vec<&StoredMessage> = match question.last_talk {
        _ if !question.spans.is_empty() => wanted().collect(),
        true => last_talk(read),
        false if question.asks_news && question.named.is_empty() => news(read, trigger),
        false => {
            let most = question.newest.unwrap_or(NEWEST_OF_MEMBERS);
            wanted().skip(wanted().count().saturating_sub(most)).collect()
        }
    };
    let mut ranked = of_each_talk(&meant, &central(&meant, RANKED, evidence));
    ranked.truncate(MOST);
    let chosen = |(rank, stored): (usize, &&StoredMessage)| {
        let score = SCORE - STEP * rank as f64;
        Chosen { seq: stored.seq, id: stored.message.id, reason: Reason::Named, score }
    };
    let mut said: Vec<Chosen> = ranked.iter().enumerate().map(chosen).collect();
    said.sort_unstable_by_key(|chosen| chosen.seq);
    (!said.is_empty()).then_some(said)
}

/// Sorts `ranked`, the messages of `meant` with the best first, so that each talk has its best messages among the first:
/// of a talk four times as long twice as many.
fn of_each_talk<'a>(meant: &[&'a StoredMessage], ranked: &[&'a StoredMessage]) -> Vec<&'a StoredMessage> {
    let talks = unbroken(meant.iter().copied());
    let numbered =
        talks.iter().enumerate().flat_map(|(number, talk)| talk.iter().map(move |stored| (stored.seq, number)));
    let talk_of: HashMap<Seq, usize> = numbered.collect();
    let mut taken = vec![0.0; talks.len()];
    let mut by_turn: Vec<(f64, &StoredMessage)> = Vec::new();
    for stored in ranked.iter().copied() {
        let Some(talk) = talk_of.get(&stored.seq).copied() else { continue };
        by_turn.push((taken[talk] / (talks[talk].len() as f64).sqrt(), stored));
        taken[talk] += 1.0;
    }
    // The sort is stable: of an equal turn, the most representative come first.
    by_turn.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    by_turn.into_iter().map(|(_, stored)| stored).collect()
}

/// Returns `true` if the question wants this message: a member wrote it to the others, at a time that the question
/// names (any time if it names none), and the author is named (any author if the question names nobody).
fn is_wanted(question: &ParsedQuestion, message: &Message) -> bool {
    let is_within = |span: &TimeSpan| (span.from..span.to).contains(&message.sent_at);
    let is_then = question.spans.is_empty() || question.spans.iter().any(is_within);
    let is_by = question.named.is_empty() || question.named.contains(&message.sender.id);
    message.role == Role::User && !is_for_bot(message) && is_then && is_by
}

/// Returns `true` for a message of a member to the others.
fn is_of_members(stored: &&StoredMessage) -> bool {
    let message = &stored.message;
    message.role == Role::User && !message.sender.is_bot && !is_for_bot(message)
}

/// Returns the newest run of at least [`TALK`] messages of members without a long silence; a shorter one if there is
/// none.
fn last_talk(read: &[StoredMessage]) -> Vec<&StoredMessage> {
    let talks = unbroken(read.iter().filter(is_of_members));
    talks.into_iter().max_by_key(|talk| talk.len() >= TALK).unwrap_or_default()
}

/// Returns the messages of members since the asker's last one, or of the last [`NEWS`] if the asker was not away. If
/// there are none, returns the last conversation.
fn news<'a>(read: &'a [StoredMessage], trigger: &StoredMessage) -> Vec<&'a StoredMessage> {
    let now = trigger.message.sent_at;
    let is_own = |stored: &&StoredMessage| stored.message.sender.id == trigger.message.sender.id;
    // "Somebody send me a summary" is no sign that its author has read what was said before.
    let is_visit = |stored: &&StoredMessage| is_own(stored) && !asks_others_for_summary(&stored.message.text);
    let seen = last_seen(now, read.iter().rev().filter(is_visit).map(|stored| stored.message.sent_at));
    let away = seen.filter(|seen| (AWAY.0..AWAY.1).contains(&now.since(*seen)));
    let since = away.unwrap_or_else(|| now.minus(NEWS));
    let is_new = |stored: &&StoredMessage| {
        is_of_members(stored) && stored.message.sent_at > since && !(away.is_some() && is_own(stored))
    };
    let found: Vec<&StoredMessage> = read.iter().filter(is_new).collect();
    if found.is_empty() { last_talk(read) } else { found }
}

/// Returns the time of the last message of the member's previous visit. `wrote` are the times of their messages, newest
/// first. The visit during which they asked is skipped. Returns `None` if there was no other.
pub fn last_seen(asked_at: Timestamp, wrote: impl Iterator<Item = Timestamp>) -> Option<Timestamp> {
    let mut present = asked_at;
    for at in wrote {
        if present.since(at) > PRESENT {
            return Some(at);
        }
        present = at;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::testkit::{moment, transcript};

    /// Yesterday's meeting, a short remark, today's talk about pizza, nine tags and the talk that is going on.
    fn chat() -> Vec<StoredMessage> {
        let mut lines = vec!["-2d 9:00 ann#1 meeting at ten?".to_owned()];
        let mut add = |from: i64, head: &str, text: &str| {
            let who = |n| if n % 2 == 0 { "ann" } else { "ben" };
            lines.extend((0..9).map(|n| format!("{head}{n} {}#{} {text} {n}", who(n), from + n)));
        };
        add(10, "-1d 10:0", "in the meeting we settled point");
        add(20, "08:0", "pizza with topping");
        add(30, "12:0", "@bot what was said in the meeting");
        add(40, "12:1", "/recap@bot");
        add(50, "15:0", "and now the roof");
        transcript(&lines.join("\n"))
    }

    fn ids(talk: &[&StoredMessage]) -> (i64, usize) {
        (talk.first().map_or(0, |stored| stored.message.id.0), talk.len())
    }

    #[test]
    fn the_last_talk_has_no_tags_and_commands() {
        let read = chat();
        assert_eq!(ids(&last_talk(&read)), (50, 9));
        let until_noon: Vec<StoredMessage> = read.iter().filter(|it| it.message.id.0 < 50).cloned().collect();
        assert_eq!(ids(&last_talk(&until_noon)), (20, 9));
        assert_eq!(ids(&last_talk(&read[..1])), (1, 1), "a remark, if there is nothing else");
        assert_eq!(ids(&last_talk(&[])), (0, 0));
    }

    #[test]
    fn each_talk_has_its_best_messages_among_the_first() {
        let read = chat();
        let meant: Vec<&StoredMessage> = read.iter().filter(is_of_members).collect();
        let longest_first: Vec<&StoredMessage> = meant.iter().rev().copied().collect();
        let sorted = of_each_talk(&meant, &longest_first);
        assert_eq!(sorted.len(), meant.len());
        let first: Vec<i64> = sorted[..4].iter().map(|stored| stored.message.id.0).collect();
        assert_eq!(first, [58, 28, 18, 1]);
    }

    #[test]
    fn news_is_what_others_wrote_since_the_asker_was_here() {
        let read = chat();
        let mut asked = transcript("16:00 cat#90 @bot what's new?").remove(0);
        assert_eq!(ids(&news(&read, &asked)), (1, 28), "never here: all of the week, without tags and commands");
        asked.message.sender = read[1].message.sender.clone();
        assert_eq!(ids(&news(&read[..28], &asked)), (1, 19), "here a moment ago");
        let today = transcript("day 2\n07:00 ben#79 the roof is done\n08:00 ann#80 hi all");
        asked.message.sent_at = moment("day 2 08:01");
        let greeted = [read.clone(), today].concat();
        assert_eq!(ids(&news(&greeted, &asked)), (79, 1), "a greeting just before the question is the same visit");
        let quiet: Vec<StoredMessage> = read.iter().filter(|it| it.message.id.0 < 20).cloned().collect();
        asked.message.sent_at = moment("day 20 16:00");
        assert_eq!(ids(&news(&quiet, &asked)), (10, 9), "nothing new: the last talk");
    }

    #[test]
    fn what_is_written_in_one_go_with_the_asking_is_not_the_last_visit() {
        let wrote: [Timestamp; 5] = ["12:00", "11:55", "11:46", "09:00", "08:59"].map(moment);
        assert_eq!(last_seen(moment("12:02"), wrote.into_iter()), Some(moment("09:00")));
        assert_eq!(last_seen(moment("12:02"), wrote[..3].iter().copied()), None);
        assert_eq!(last_seen(moment("13:02"), wrote.into_iter()), Some(moment("12:00")));
    }
}
