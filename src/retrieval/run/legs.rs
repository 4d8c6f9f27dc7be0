//! The legs: each proposes messages and sessions by one way of looking. None of them ranks.

use std::collections::{BTreeMap, HashMap};

use crate::domain::{LegScores, Seq, SessionId, WordStemmer};
use crate::retrieval::run::Reading;
use crate::store::vector_index::{self, MESSAGES, Nearest, SUMMARIES};
use crate::store::{self, search, summaries, tags};

/// Messages that each look into the full-text index proposes.
const BY_WORDS: usize = 60;
/// Messages and sessions that vectors propose.
const BY_VECTOR: usize = 24;
/// Sessions that each word of the question proposes as a tag, the newest.
const BY_TAG: u32 = 20;
/// Of sessions that are proposed, the nearest and surest whose messages are proposed too, and how many of each.
const OPENED: usize = 8;
const OF_EACH: u32 = 4;

/// What was proposed, with what each leg says of it.
#[derive(Debug, Default)]
pub struct Candidates {
    pub messages: HashMap<Seq, LegScores>,
    /// The messages of each leg, its best first.
    pub lists: Vec<Vec<Seq>>,
    pub sessions: BTreeMap<SessionId, LegScores>,
}

impl Candidates {
    fn add(&mut self, found: Vec<(Seq, f64)>, scored: fn(f64) -> LegScores) {
        self.lists.push(found.iter().map(|(seq, _)| *seq).collect());
        for (seq, score) in found {
            let known = self.messages.entry(seq).or_default();
            *known = known.merged(scored(score));
        }
    }

    fn add_session(&mut self, session: SessionId, scores: LegScores) {
        let known = self.sessions.entry(session).or_default();
        *known = known.merged(scores);
    }
}

impl Reading<'_> {
    /// All that any leg proposes.
    pub fn candidates(&self) -> store::Result<Candidates> {
        let mut candidates = Candidates::default();
        self.by_words(&mut candidates)?;
        self.by_vectors(&mut candidates)?;
        self.by_tags(&mut candidates)?;
        self.open_sessions(&mut candidates)?;
        Ok(candidates)
    }

    fn by_words(&self, candidates: &mut Candidates) -> store::Result<()> {
        let (chat, words) = (self.request.conversation.chat, self.question.words.join(" "));
        let found = search::any_word(self.conn, chat, self.language, &words, BY_WORDS)?;
        candidates.add(found, |words| LegScores { words, ..LegScores::default() });
        if !self.language.has_stemmer() {
            let found = search::any_part(self.conn, chat, &self.question.words, BY_WORDS)?;
            candidates.add(found, |trigrams| LegScores { trigrams, ..LegScores::default() });
        }
        for (_, name) in self.people.iter().filter(|(id, _)| self.question.named.contains(id)) {
            let found = search::any_word_by(self.conn, chat, self.language, (&words, name), BY_WORDS)?;
            candidates.add(found, |author| LegScores { author, ..LegScores::default() });
        }
        Ok(())
    }

    fn by_vectors(&self, candidates: &mut Candidates) -> store::Result<()> {
        let Some(space) = self.space.as_ref().filter(|_| !self.vector.is_empty()) else { return Ok(()) };
        let (chat, newest) = (self.request.conversation.chat, self.request.before);
        let wanted = Nearest { chat, newest, vector: &self.vector, limit: BY_VECTOR };
        let near = vector_index::nearest(self.conn, space, MESSAGES, &wanted)?;
        let near = near.into_iter().map(|(seq, cosine)| (seq, f64::from(cosine))).collect();
        candidates.add(near, |vector| LegScores { vector, ..LegScores::default() });
        for (first, cosine) in vector_index::nearest(self.conn, space, SUMMARIES, &wanted)? {
            let scores = LegScores { summary: f64::from(cosine), ..LegScores::default() };
            candidates.add_session(SessionId { chat, first }, scores);
        }
        Ok(())
    }

    fn by_tags(&self, candidates: &mut Candidates) -> store::Result<()> {
        let stemmer = WordStemmer::new(self.language);
        let stems: Vec<String> = self.question.words.iter().map(|word| stemmer.stem(word).into_owned()).collect();
        let chat = self.request.conversation.chat;
        for (session, tags) in tags::sessions_named(self.conn, chat, &stems, BY_TAG)? {
            candidates.add_session(session, LegScores { tags, ..LegScores::default() });
        }
        Ok(())
    }

    /// Proposes the messages that the summaries of the best proposed sessions rest on.
    fn open_sessions(&self, candidates: &mut Candidates) -> store::Result<()> {
        let mut sessions: Vec<(SessionId, LegScores)> =
            candidates.sessions.iter().map(|(id, scores)| (*id, *scores)).collect();
        sessions.sort_by(|(_, a), (_, b)| (b.summary + b.tags).total_cmp(&(a.summary + a.tags)));
        for (session, scores) in sessions.into_iter().take(OPENED) {
            let grounds = summaries::grounds(self.conn, session, OF_EACH)?;
            candidates.lists.push(grounds.clone());
            for seq in grounds {
                let known = candidates.messages.entry(seq).or_default();
                *known = known.merged(scores);
            }
        }
        Ok(())
    }
}
