//! Retrievers: each proposes messages or sessions by one criterion and reads a limited number of rows. Scoring them
//! against each other is the ranker's work.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::recall::request::ParsedRequest;
use chime_core::dot;
use chime_core::{RetrieverScores, Seq, SessionId, UserId, WordStemmer};
use chime_relevance::retrieval::Frequencies;
use chime_relevance::retrieval::proposals::{Proposal, WordPostings, proposals};
use chime_store::postings::{self, Postings, Range};
use chime_store::vector_index::{self, Nearest};
use chime_store::vector_tables::{MESSAGES, SUMMARIES};
use chime_store::{passages, summaries, tags};

/// Maximum number of messages read for a word.
const OF_A_WORD: u32 = 400;
/// Words with more messages than [`OF_A_WORD`] are also searched in pairs. The limits are: number of such words, the
/// rarest first; number of messages per pair; and approximate number of the rarer word's newest messages in which the
/// other word is searched.
const PAIRED: usize = 3;
const OF_A_PAIR: u32 = 60;
const PASSED_BY: f64 = 4_000.0;
/// Maximum number of words of a question that are searched.
const WORDS: usize = 16;
/// Maximum number of members named in the question whose messages are searched.
const AUTHORS: usize = 3;
/// Maximum number of messages and of sessions proposed by vectors.
const BY_VECTOR: usize = 60;
const SESSIONS_BY_VECTOR: usize = 24;
/// Number of the newest messages without a stored vector that are embedded and compared during the question.
const UNSTORED: u32 = 200;
/// Maximum number of sessions (the newest) that each word of the question proposes as a tag.
const BY_TAG: u32 = 20;
/// Number of the best proposed sessions whose messages are proposed too, and maximum number of messages from each.
const OPENED: usize = 6;
const OF_EACH: u32 = 4;

/// Weights of vector, author and session scores; the share of the question's words in a message has weight 1.
const OF_VECTOR: f64 = 2.0;
const OF_AUTHOR: f64 = 0.6;
const OF_SESSION: f64 = 0.7;

/// Messages and sessions that the retrievers proposed, each with the score that every retriever gave it.
#[derive(Debug, Default)]
pub struct RecallCandidates {
    pub messages: HashMap<Seq, RetrieverScores>,
    /// Best first.
    pub proposals: Vec<Proposal>,
    pub sessions: BTreeMap<SessionId, RetrieverScores>,
    pub frequencies: Frequencies,
    /// Vectors computed during this question, of new messages that have no stored vector yet.
    pub vectors: HashMap<Seq, Vec<f32>>,
}

impl RecallCandidates {
    fn add(&mut self, seq: Seq, scores: RetrieverScores) {
        let known = self.messages.entry(seq).or_default();
        *known = known.merged(scores);
    }

    fn add_session(&mut self, session: SessionId, scores: RetrieverScores) {
        let known = self.sessions.entry(session).or_default();
        *known = known.merged(scores);
    }

    /// Returns the sessions proposed by vectors and tags, best first.
    pub fn best_sessions(&self) -> Vec<(SessionId, RetrieverScores)> {
        let mut sessions: Vec<(SessionId, RetrieverScores)> =
            self.sessions.iter().map(|(id, retrieved)| (*id, *retrieved)).collect();
        sessions.sort_by(|(_, a), (_, b)| (b.summary + b.tags).total_cmp(&(a.summary + a.tags)));
        sessions
    }

    /// Sorts the proposals by the weighted sum of their scores.
    fn settle(&mut self, words: &[WordPostings]) {
        let other = |retrieved: &RetrieverScores| {
            let by_author = if retrieved.author > 0.0 { OF_AUTHOR } else { 0.0 };
            OF_VECTOR * retrieved.vector.max(OF_SESSION * retrieved.summary) + by_author
        };
        let others: HashMap<Seq, f64> = self.messages.iter().map(|(seq, retrieved)| (*seq, other(retrieved))).collect();
        self.proposals = proposals(words, &others);
        for one in &self.proposals {
            if one.own > 0.0 {
                self.messages.entry(one.seq).or_default().words = one.own;
            }
        }
    }
}

impl ParsedRequest<'_> {
    /// Runs all retrievers and collects their proposals.
    pub fn candidates(&self) -> chime_store::Result<RecallCandidates> {
        let mut candidates = RecallCandidates::default();
        let stems = self.stems();
        let words = self.by_words(&stems, &mut candidates)?;
        self.by_vectors(&mut candidates)?;
        self.by_tags(&stems, &mut candidates)?;
        self.open_sessions(&mut candidates)?;
        candidates.settle(&words);
        Ok(candidates)
    }

    /// Returns each distinct stem of the question with its word.
    fn stems(&self) -> Vec<(String, &str)> {
        let stemmer = WordStemmer::new(self.language);
        let mut met = HashSet::new();
        (self.question.words.iter())
            .map(|word| (stemmer.stem(word).into_owned(), word.as_str()))
            .filter(|(stem, _)| met.insert(stem.clone()))
            .take(WORDS)
            .collect()
    }

    fn range(&self, limit: u32) -> Range {
        Range { chat: self.request.conversation.chat, from: Seq(0), before: self.request.before, limit }
    }

    fn by_words(
        &self,
        stems: &[(String, &str)],
        candidates: &mut RecallCandidates,
    ) -> chime_store::Result<Vec<WordPostings>> {
        let messages = postings::messages(self.conn, self.request.conversation.chat)?;
        let mut frequencies = Frequencies { messages, holding: HashMap::new() };
        let mut lists: Vec<Postings> = Vec::new();
        for (stem, word) in stems {
            let list = postings::of_word(self.conn, &self.range(OF_A_WORD), stem, self.language)?;
            frequencies.holding.insert(stem.clone(), list.held);
            lists.push(list);
            self.by_parts(word, &mut lists, candidates)?;
        }
        self.by_pairs(stems, &mut lists)?;
        self.by_authors(stems, candidates)?;
        let words = (stems.iter().zip(lists))
            .map(|((stem, _), list)| WordPostings { idf: frequencies.idf(stem), seqs: list.seqs })
            .collect();
        candidates.frequencies = frequencies;
        Ok(words)
    }

    /// Proposes messages in which a word begins with `word`, and adds them to the last list. Only for languages without
    /// a stemmer, where other forms of a word are not found by its stem.
    fn by_parts(
        &self,
        word: &str,
        lists: &mut [Postings],
        candidates: &mut RecallCandidates,
    ) -> chime_store::Result<()> {
        let Some(list) = lists.last_mut().filter(|_| !self.language.has_stemmer()) else { return Ok(()) };
        for seq in postings::of_part(self.conn, &self.range(OF_A_WORD), word)?.seqs {
            candidates.add(seq, RetrieverScores { trigrams: 1.0, ..RetrieverScores::default() });
            list.seqs.push(seq);
        }
        Ok(())
    }

    /// Adds messages that contain two frequent words together. Frequent words have more messages than were read, so
    /// older messages would be missed.
    fn by_pairs(&self, stems: &[(String, &str)], lists: &mut [Postings]) -> chime_store::Result<()> {
        let mut common: Vec<usize> = (0..lists.len()).filter(|place| !lists[*place].is_complete).collect();
        common.sort_by(|a, b| lists[*a].held.total_cmp(&lists[*b].held));
        common.truncate(PAIRED);
        for (place, rarer) in common.iter().enumerate() {
            let before = f64::from(self.request.before.0);
            let reach = (before * PASSED_BY / lists[*rarer].held.max(1.0)).min(before) as u32;
            let from = Seq(self.request.before.0.saturating_sub(reach));
            for other in &common[place + 1..] {
                let range = Range { from, ..self.range(OF_A_PAIR) };
                let both = [&*stems[*rarer].0, &*stems[*other].0];
                let found = postings::of_all(self.conn, &range, &both, Some(self.language))?;
                lists[*rarer].seqs.extend(&found.seqs);
                lists[*other].seqs.extend(&found.seqs);
            }
        }
        Ok(())
    }

    /// Returns the members that the question names, except those who opted out.
    pub(super) fn named(&self) -> impl Iterator<Item = &(UserId, String)> {
        self.people.iter().filter(|(id, _)| self.question.named.contains(id)).take(AUTHORS)
    }

    fn by_authors(&self, stems: &[(String, &str)], candidates: &mut RecallCandidates) -> chime_store::Result<()> {
        for (_, name) in self.named() {
            for (stem, _) in stems {
                let list = postings::of_stem_by(self.conn, &self.range(OF_A_WORD), stem, name, self.language)?;
                for seq in list.seqs {
                    candidates.add(seq, RetrieverScores { author: 1.0, ..RetrieverScores::default() });
                }
            }
        }
        Ok(())
    }

    fn by_vectors(&self, candidates: &mut RecallCandidates) -> chime_store::Result<()> {
        self.by_new_vectors(candidates)?;
        let Some(space) = self.space.as_ref().filter(|_| !self.vector.is_empty()) else { return Ok(()) };
        let (chat, newest) = (self.request.conversation.chat, self.request.before);
        let wanted = Nearest { chat, newest, vector: &self.vector, limit: BY_VECTOR };
        for (seq, cosine) in vector_index::nearest(self.conn, space, MESSAGES, &wanted)? {
            candidates.add(seq, RetrieverScores { vector: f64::from(cosine), ..RetrieverScores::default() });
        }
        let wanted = Nearest { limit: SESSIONS_BY_VECTOR, ..wanted };
        for (first, cosine) in vector_index::nearest(self.conn, space, SUMMARIES, &wanted)? {
            let scores = RetrieverScores { summary: f64::from(cosine), ..RetrieverScores::default() };
            candidates.add_session(SessionId { chat, first }, scores);
        }
        Ok(())
    }

    /// Embeds the newest messages now and compares them with the question, because their vectors are not stored yet.
    fn by_new_vectors(&self, candidates: &mut RecallCandidates) -> chime_store::Result<()> {
        let Some(embedder) = self.embedder else { return Ok(()) };
        let (chat, before) = (self.request.conversation.chat, self.request.before);
        let from = Seq(before.0.saturating_sub(UNSTORED));
        let asked = embedder.embed(&self.question.bare);
        if asked.is_empty() || from >= before {
            return Ok(());
        }
        let mut near: Vec<(f64, Seq)> = Vec::new();
        let recent = passages::in_range(self.conn, self.space.is_some(), chat, from, Seq(before.0 - 1))?;
        for one in recent.into_iter().filter(|one| one.vector.is_empty()) {
            let vector = candidates.vectors.entry(one.seq).or_insert_with(|| embedder.embed(&one.text));
            near.push((f64::from(dot(vector, &asked)), one.seq));
        }
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (vector, seq) in near.into_iter().take(BY_VECTOR).filter(|(cosine, _)| *cosine > 0.0) {
            candidates.add(seq, RetrieverScores { vector, ..RetrieverScores::default() });
        }
        Ok(())
    }

    fn by_tags(&self, stems: &[(String, &str)], candidates: &mut RecallCandidates) -> chime_store::Result<()> {
        let stems: Vec<String> = stems.iter().map(|(stem, _)| stem.clone()).collect();
        let chat = self.request.conversation.chat;
        for (session, tags) in tags::sessions_named(self.conn, chat, &stems, BY_TAG)? {
            candidates.add_session(session, RetrieverScores { tags, ..RetrieverScores::default() });
        }
        Ok(())
    }

    /// Proposes the source messages of the summaries of the best sessions.
    fn open_sessions(&self, candidates: &mut RecallCandidates) -> chime_store::Result<()> {
        for (session, scores) in candidates.best_sessions().into_iter().take(OPENED) {
            for seq in summaries::grounds(self.conn, session, OF_EACH)? {
                candidates.add(seq, scores);
            }
        }
        Ok(())
    }
}
