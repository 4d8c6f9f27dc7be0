//! Selects from the ranked messages and sessions those that the prompt shows.

use std::collections::HashSet;

use crate::recall::RecallRequest;
use crate::recall::found::Found;
use crate::recall::legs::Candidates;
use crate::recall::summaries::{self, FoundSummary, Summaries};
use chime_core::{Bullet, Conversation, LegScores, Seq, SessionId};
use chime_relevance::retrieval::{Features, Ranked, Recalled, RecalledMessage, RecalledSession};
use chime_store::{Reader, messages, sessions, topic_names};

/// Messages that are recalled at most.
const RECALLED: usize = 10;
/// And of those that are listed, as far as the tokens of the slot go.
const LISTED: usize = 30;
/// Sessions of which something is told, and bullets of each.
const TOLD: usize = 3;
const BULLETS: usize = 4;

/// What a chat said before about a question, ranked.
pub struct Looked {
    conversation: Conversation,
    /// The trigger: nothing from it on is told.
    before: Seq,
    /// Best first.
    messages: Vec<Message>,
    /// What the question names without a word about it, best first.
    listed: Vec<Message>,
    summaries: Summaries,
}

/// A message that may be told.
pub struct Message {
    pub seq: Seq,
    pub score: f64,
    pub features: Features,
    pub legs: LegScores,
}

impl Message {
    pub(super) fn of(ranked: Ranked, found: &Found, candidates: &Candidates) -> Self {
        let seq = found.messages[ranked.index].seq;
        let legs = candidates.messages.get(&seq).copied().unwrap_or_default();
        Self { seq, score: ranked.score, features: ranked.features, legs }
    }
}

impl Looked {
    /// What is given best first.
    pub(super) fn of(request: &RecallRequest<'_>, messages: Vec<Message>, summaries: Summaries) -> Self {
        let RecallRequest { conversation, before, .. } = *request;
        Self { conversation, before, messages, listed: Vec::new(), summaries }
    }

    /// The same with what is listed beside.
    pub(super) fn with_listed(mut self, listed: Vec<Message>, sessions: Vec<FoundSummary>) -> Self {
        self.listed = listed;
        self.summaries.add(sessions);
        self
    }

    /// The best of it, without the messages that are `shown` anyway.
    pub fn best(&self, conn: &Reader, shown: &HashSet<Seq>) -> chime_store::Result<Recalled> {
        Ok(Recalled { messages: self.best_messages(conn, shown)?, sessions: self.best_sessions(conn, shown)? })
    }

    fn best_messages(&self, conn: &Reader, shown: &HashSet<Seq>) -> chime_store::Result<Vec<RecalledMessage>> {
        let mut best = Vec::new();
        for one in self.by_turns(shown) {
            let Some(message) = messages::by_seq(conn, self.conversation.chat, one.seq)? else { continue };
            best.push(RecalledMessage {
                topic: self.other_topic(conn, message.conversation())?,
                message,
                score: one.score,
                features: one.features,
                legs: one.legs,
            });
        }
        Ok(best)
    }

    /// What was found and what was listed by turns, each message once: either may be what was meant. "What did we agree for
    /// saturday?" asks for what was said of that day as well as on it.
    fn by_turns(&self, shown: &HashSet<Seq>) -> Vec<&Message> {
        let is_news = |one: &&Message| one.seq < self.before && !shown.contains(&one.seq);
        let mut found = self.messages.iter().filter(is_news).take(RECALLED);
        let mut listed = self.listed.iter().filter(is_news).take(LISTED);
        let (mut told, mut seen) = (Vec::new(), HashSet::new());
        loop {
            let next = [listed.next(), found.next()];
            if next.iter().all(Option::is_none) {
                return told;
            }
            told.extend(next.into_iter().flatten().filter(|one| seen.insert(one.seq)));
        }
    }

    fn best_sessions(&self, conn: &Reader, shown: &HashSet<Seq>) -> chime_store::Result<Vec<RecalledSession>> {
        let is_known = |seq: &Seq| shown.contains(seq) || self.summaries.said_elsewhere.contains(seq);
        let is_news = |bullet: &Bullet| bullet.sources.is_empty() || !bullet.sources.iter().all(is_known);
        let mut recalled = Vec::new();
        for summary in &self.summaries.best_first {
            let bullets = summary.best_bullets(BULLETS, is_news);
            if bullets.is_empty() {
                continue;
            }
            let SessionId { chat, .. } = summary.id;
            let Some(session) = sessions::find(conn, summary.id)? else { continue };
            recalled.push(RecalledSession {
                id: summary.id,
                started_at: session.first.0,
                topic: self.other_topic(conn, Conversation { chat, thread: session.thread })?,
                grounds: summaries::grounds(conn, chat, &bullets)?,
                bullets,
                score: summary.score,
                legs: summary.legs,
            });
            if recalled.len() == TOLD {
                break;
            }
        }
        Ok(recalled)
    }

    /// What the topic of a conversation is called, where that is another than the question's.
    fn other_topic(&self, conn: &Reader, conversation: Conversation) -> chime_store::Result<Option<String>> {
        if conversation == self.conversation {
            return Ok(None);
        }
        topic_names::find(conn, conversation)
    }
}
