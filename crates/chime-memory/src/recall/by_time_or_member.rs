//! Lists messages and sessions for questions that name only a member or a time, such as "what did Ann say yesterday?"

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::recall::ranked::RankedMessage;
use crate::recall::request::{ParsedRequest, RecallRequest};
use crate::recall::summaries::FoundSummary;
use chime_core::{RetrieverScores, Timestamp, UserId};
use chime_relevance::retrieval::{Features, Lexicon};
use chime_store::passages::{self, StoredPassage, Wanted};
use chime_store::summaries;

/// Maximum number of messages, the newest, read for each combination of a member and a time in the question.
const READ: u32 = 200;
/// Maximum number of times (such as days) per question.
const TIMES: usize = 3;
/// Messages with this many content words or more get the full score.
const LONG: usize = 10;
/// Maximum number of sessions listed, and maximum number read for each time.
const SESSIONS: usize = 6;
const SESSIONS_READ: u32 = 40;

/// Returns the messages by the members and at the times in the question, those from its own conversation first. For a
/// question that names a time, the longest come first, else the newest.
pub fn messages(reading: &ParsedRequest<'_>, lexicon: &mut Lexicon<'_>) -> chime_store::Result<Vec<RankedMessage>> {
    let mut seen = HashSet::new();
    let mut listed: Vec<(StoredPassage, usize)> = Vec::new();
    for found in reading.said()? {
        let telling = lexicon.telling(&found.text).len().min(LONG);
        if telling > 0 && seen.insert(found.seq) {
            listed.push((found, telling));
        }
    }
    let is_elsewhere = |one: &StoredPassage| one.forum_topic != reading.request.conversation.forum_topic;
    let names_time = !reading.question.spans.is_empty();
    listed.sort_by(|(a, a_tells), (b, b_tells)| {
        // If the question names a time, the longest messages come first, else the newest.
        let by_length = if names_time { b_tells.cmp(a_tells) } else { Ordering::Equal };
        is_elsewhere(a).cmp(&is_elsewhere(b)).then(by_length).then((b.sent_at, b.seq).cmp(&(a.sent_at, a.seq)))
    });
    Ok(listed.into_iter().map(|(found, telling)| reading.listed(&found, telling)).collect())
}

/// Returns the summaries of the longest sessions that ended at the times in the question. Returns none if the question
/// names a member, since a summary covers several members.
pub fn sessions(reading: &ParsedRequest<'_>) -> chime_store::Result<Vec<FoundSummary>> {
    if !reading.question.named.is_empty() {
        return Ok(Vec::new());
    }
    let chat = reading.request.conversation.chat;
    let names = summaries::member_names(reading.conn, chat)?;
    let mut ended = Vec::new();
    for (from, until) in reading.times() {
        ended.extend(summaries::minis_between(reading.conn, chat, from, until, SESSIONS_READ)?);
    }
    ended.retain(|(session, _)| session.id.first < reading.request.before);
    ended.sort_by(|(a, _), (b, _)| b.messages.cmp(&a.messages).then(b.id.cmp(&a.id)));
    ended.dedup_by_key(|(session, _)| session.id);
    let retrieved = RetrieverScores { date: 1.0, ..RetrieverScores::default() };
    Ok(ended
        .into_iter()
        .take(SESSIONS)
        .map(|(session, mini)| FoundSummary::whole(session.id, &mini, &names, retrieved))
        .collect())
}

impl ParsedRequest<'_> {
    /// Returns the times in the question. Each is a pair of its start and its end, which is excluded.
    fn times(&self) -> Vec<(Timestamp, Timestamp)> {
        self.question.spans.iter().take(TIMES).map(|span| (span.from, span.to)).collect()
    }

    /// Returns the messages by the members in the question at its times. If it names no member, by everybody; if it
    /// names no time, of any time.
    fn said(&self) -> chime_store::Result<Vec<StoredPassage>> {
        let RecallRequest { conversation, before, .. } = *self.request;
        let all = Wanted { chat: conversation.chat, conversation: None, before, within: None, by: None };
        let members: Vec<UserId> = self.named().map(|(id, _)| *id).collect();
        if members.is_empty() && !self.question.named.is_empty() {
            // The question names only members who opted out.
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for within in each_or_any(self.times()) {
            for by in each_or_any(members.clone()) {
                let wanted = Wanted { within, by, ..all };
                let newest = passages::newest(self.conn, &wanted, READ)?;
                if by.is_none() && newest.len() == READ as usize {
                    // The limit may be reached by messages from other forum topics, so the topic of the question is
                    // read separately too.
                    let here = Wanted { conversation: Some(conversation), ..wanted };
                    found.extend(passages::newest(self.conn, &here, READ)?);
                }
                found.extend(newest);
            }
        }
        Ok(found)
    }

    fn listed(&self, found: &StoredPassage, telling: usize) -> RankedMessage {
        let (author, date) = (f64::from(!self.question.named.is_empty()), f64::from(!self.question.spans.is_empty()));
        let length = telling as f64 / LONG as f64;
        RankedMessage {
            seq: found.seq,
            score: length,
            features: Features { named_author: author, date, length, ..Features::default() },
            retrieved: RetrieverScores { author, date, ..RetrieverScores::default() },
        }
    }
}

/// Wraps each item in `Some`. If there are none, returns a single `None`, which means "any".
fn each_or_any<T>(named: Vec<T>) -> Vec<Option<T>> {
    if named.is_empty() { vec![None] } else { named.into_iter().map(Some).collect() }
}
