//! Selects the messages and sessions for the prompt from the ranked ones.

use std::collections::HashSet;

use crate::extract::is_stale;
use crate::recall::loaded::LoadedCandidates;
use crate::recall::request::RecallRequest;
use crate::recall::retrievers::RecallCandidates;
use crate::recall::summaries::{self, FoundSummary, Summaries};
use crate::told::ToldLines;
use chime_core::{Bullet, Conversation, RetrieverScores, Seq, SessionId, Timestamp, Zone};
use chime_relevance::retrieval::{Features, Ranked, Recalled, RecalledBullet, RecalledMessage, RecalledSession};
use chime_store::{Reader, item_marks, messages, sessions, topic_names};

/// Maximum number of messages selected because their content matches the question.
const RECALLED: usize = 10;
/// Maximum number of messages selected because of their author or time. The token limit may allow fewer.
const LISTED: usize = 30;
/// Maximum number of sessions selected, and of bullets of each.
const TOLD: usize = 3;
const BULLETS: usize = 4;

/// Messages and sessions found for a question, ranked but not selected yet.
pub struct RankedRecall {
    conversation: Conversation,
    now: Timestamp,
    zone: Zone,
    /// Number of the trigger: only messages with a lower one are recalled.
    before: Seq,
    /// Best first.
    messages: Vec<RankedMessage>,
    /// Messages by the member or from the time that the question names, best first.
    listed: Vec<RankedMessage>,
    summaries: Summaries,
}

/// Message that may be selected for the prompt, with its score.
pub struct RankedMessage {
    pub seq: Seq,
    pub score: f64,
    pub features: Features,
    pub retrieved: RetrieverScores,
}

impl RankedMessage {
    pub(super) fn of(ranked: Ranked, found: &LoadedCandidates, candidates: &RecallCandidates) -> Self {
        let seq = found.messages[ranked.index].seq;
        let retrieved = candidates.messages.get(&seq).copied().unwrap_or_default();
        Self { seq, score: ranked.score, features: ranked.features, retrieved }
    }
}

impl RankedRecall {
    /// Creates the results from `messages` and `summaries`, both best first.
    pub(super) fn of(request: &RecallRequest<'_>, messages: Vec<RankedMessage>, summaries: Summaries) -> Self {
        let RecallRequest { conversation, now, zone, before, .. } = *request;
        Self { conversation, now, zone, before, messages, listed: Vec::new(), summaries }
    }

    /// Adds messages and sessions of the member or the time that the question names. For a time, no other session is
    /// about it.
    pub(super) fn with_listed(
        mut self,
        listed: Vec<RankedMessage>,
        sessions: Vec<FoundSummary>,
        names_time: bool,
    ) -> Self {
        self.listed = listed;
        if names_time {
            self.summaries.best_first.clear();
        }
        self.summaries.add(sessions);
        self
    }

    /// Returns the messages whose content matches the question, best first.
    pub fn matching(&self) -> impl Iterator<Item = Seq> {
        self.messages.iter().map(|one| one.seq)
    }

    /// Returns the best messages and sessions for the prompt. Leaves out what the prompt contains already: the messages
    /// in `shown`, and the lines in `told`.
    pub fn best(&self, conn: &Reader, shown: &HashSet<Seq>, told: &ToldLines) -> chime_store::Result<Recalled> {
        Ok(Recalled { messages: self.best_messages(conn, shown)?, sessions: self.best_sessions(conn, shown, told)? })
    }

    fn best_messages(&self, conn: &Reader, shown: &HashSet<Seq>) -> chime_store::Result<Vec<RecalledMessage>> {
        let mut best = Vec::new();
        for one in self.by_turns(shown) {
            let Some(message) = messages::by_seq(conn, self.conversation.chat, one.seq)? else { continue };
            best.push(RecalledMessage {
                topic: topic_names::find_other(conn, message.conversation(), self.conversation)?,
                message,
                score: one.score,
                features: one.features,
                retrieved: one.retrieved,
            });
        }
        Ok(best)
    }

    /// Alternates messages selected by their author or time with messages selected by content, each once. Either may be
    /// meant: “What did we agree for Saturday?” asks for messages about that day or for messages sent on it.
    fn by_turns(&self, shown: &HashSet<Seq>) -> Vec<&RankedMessage> {
        let is_news = |one: &&RankedMessage| one.seq < self.before && !shown.contains(&one.seq);
        let mut found = self.messages.iter().filter(is_news).take(RECALLED);
        let mut listed = self.listed.iter().filter(is_news).take(LISTED);
        let (mut lines, mut seen) = (Vec::new(), HashSet::new());
        loop {
            let next = [listed.next(), found.next()];
            if next.iter().all(Option::is_none) {
                return lines;
            }
            lines.extend(next.into_iter().flatten().filter(|one| seen.insert(one.seq)));
        }
    }

    fn best_sessions(
        &self,
        conn: &Reader,
        shown: &HashSet<Seq>,
        told: &ToldLines,
    ) -> chime_store::Result<Vec<RecalledSession>> {
        let is_news = |bullet: &Bullet| {
            let hidden = || bullet.sources.iter().filter(|seq| !shown.contains(seq));
            bullet.sources.is_empty() || hidden().next().is_some() && !told.tell(&bullet.text, hidden())
        };
        let done = item_marks::done(conn, self.conversation.chat, None)?;
        let mut recalled = Vec::new();
        for summary in &self.summaries.best_first {
            let bullets = summary.best_bullets(BULLETS, is_news);
            if bullets.is_empty() {
                continue;
            }
            let SessionId { chat, .. } = summary.id;
            let Some(session) = sessions::find(conn, summary.id)? else { continue };
            let of = Conversation { chat, forum_topic: session.forum_topic };
            let grounds = summaries::grounds(conn, chat, &bullets)?;
            let stated = |bullet: Bullet| {
                let is_old = is_stale(&bullet, session.last.0, self.now, self.zone);
                let state = summary.state(&bullet, &done, is_old);
                RecalledBullet { bullet, state }
            };
            recalled.push(RecalledSession {
                id: summary.id,
                started_at: session.first.0,
                ended_at: session.last.0,
                topic: topic_names::find_other(conn, of, self.conversation)?,
                grounds,
                bullets: bullets.into_iter().map(stated).collect(),
                score: summary.score,
                retrieved: summary.retrieved,
            });
            if recalled.len() == TOLD {
                break;
            }
        }
        Ok(recalled)
    }
}
