//! Ranks sessions by their best messages and by their summaries.

use crate::retrieval::features::sentences;
use crate::retrieval::frequencies::Frequencies;
use crate::retrieval::lexicon::{Lexicon, WordId};
use crate::retrieval::question::ParsedQuestion;
use crate::retrieval::rank::Ranked;
use crate::retrieval::similarity::Similarities;
use crate::retrieval::weights::Weights;
use chime_core::dot;

#[derive(Debug, Clone, Copy)]
pub struct SessionText<'a> {
    /// Text of the session's summary; empty if there is none.
    pub summary: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SessionScore {
    /// Index of the session in the list given to [`rank_sessions`].
    pub index: usize,
    pub score: f64,
    /// Share of the question's words, by idf, that the session's summary has.
    pub summary_coverage: f64,
    /// Highest cosine between the question and a sentence of the summary.
    pub summary_cosine: f64,
}

/// Number of a session's best messages that count for its score.
const BEST: usize = 3;

/// Ranks sessions, best first. `ranked` are the messages, best first, and `session_of` returns the index of a message's
/// session; `None` if it is in none.
pub fn rank_sessions(
    question: &ParsedQuestion,
    ranked: &[Ranked],
    session_of: impl Fn(usize) -> Option<usize>,
    sessions: &[SessionText<'_>],
    frequencies: &Frequencies,
    lexicon: &mut Lexicon<'_>,
) -> Vec<SessionScore> {
    let weights = Weights::shipped().session;
    // If a session has fewer ranked messages than count, each missing one gets the lowest score of any message.
    let least = ranked.last().map_or(0.0, |one| one.score);
    let mut best = vec![[least; BEST]; sessions.len()];
    let mut count = vec![0; sessions.len()];
    for one in ranked {
        if let Some(session) =
            session_of(one.index).filter(|session| *session < sessions.len() && count[*session] < BEST)
        {
            best[session][count[session]] = one.score;
            count[session] += 1;
        }
    }
    let mut reader = SummaryReader::new(question, frequencies, lexicon);
    let mut scored: Vec<SessionScore> = (sessions.iter().enumerate())
        .map(|(index, session)| {
            let (summary_coverage, summary_cosine) = reader.read(session.summary, lexicon);
            let score = weights.best * best[index][0]
                + weights.mean_of_three * best[index].iter().sum::<f64>() / BEST as f64
                + weights.summary_coverage * summary_coverage
                + weights.summary_cosine * summary_cosine;
            SessionScore { index, score, summary_coverage, summary_cosine }
        })
        .collect();
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
    scored
}

/// Comparison of a question with summaries or with single lines of them.
pub struct SummaryReader {
    similar: Similarities,
    idf: Vec<f64>,
    total_idf: f64,
    vector: Vec<f32>,
}

impl SummaryReader {
    pub fn new(question: &ParsedQuestion, frequencies: &Frequencies, lexicon: &mut Lexicon<'_>) -> Self {
        let ids: Vec<WordId> = question.words.iter().map(|word| lexicon.id(word)).collect();
        let idf: Vec<f64> = ids.iter().map(|id| frequencies.idf(&lexicon.word(*id).stem)).collect();
        let vector = lexicon.embedder().map_or_else(Vec::new, |embedder| embedder.embed(&question.bare));
        let similar = Similarities::new(ids, true);
        Self { similar, total_idf: idf.iter().sum::<f64>().max(1e-6), idf, vector }
    }

    /// Returns the share of the question's words, by idf, that `summary` has, and the highest cosine between the
    /// question and one of its sentences.
    pub fn read(&mut self, summary: &str, lexicon: &mut Lexicon<'_>) -> (f64, f64) {
        let said = lexicon.telling(summary);
        let hits = self.similar.best(&said, lexicon);
        let coverage =
            hits.into_iter().zip(&self.idf).map(|(hit, idf)| f64::from(hit) * idf).sum::<f64>() / self.total_idf;
        let cosine = lexicon.embedder().filter(|_| !self.vector.is_empty()).map_or(0.0, |embedder| {
            let of = |sentence: &&str| dot(&embedder.embed(sentence), &self.vector);
            sentences(summary).iter().map(of).fold(0.0, f32::max)
        });
        (coverage, f64::from(cosine))
    }
}
