//! Features that show how well a message and the messages around it answer a question. No feature compares the message
//! with other candidates, so scores of different chats are comparable.

use crate::retrieval::dates::TimeSpan;
use crate::retrieval::lexicon::Lexicon;
use crate::retrieval::passage::{Passage, PassageProperties};
use crate::retrieval::question::ParsedQuestion;
use crate::retrieval::similarity::Similarities;
use chime_core::dot;

use serde::{Deserialize, Serialize};

/// Feature values of a message for a question. The same struct holds the weights of these features.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Features {
    /// Share of the question's words, weighted by idf, that the message or one of two neighbours on either side has.
    /// Each word counts with its best match.
    pub window_coverage: f64,
    /// Share of the question's words, by idf, that the message and all messages within five of it have.
    pub wide_coverage: f64,
    /// Share of the question's words, by idf, that the message, the one it replies to and its replies have.
    pub linked_coverage: f64,
    /// Share of the question's words, by idf, that the message alone has.
    pub own_coverage: f64,
    /// Share of the question's words, by idf, that the message right before has, if that is a question; else 0.
    pub question_before: f64,
    /// Cosine of the question's vector with the sum of the message's vector and half of each neighbour's vector.
    pub window_cosine: f64,
    /// Cosine of the question's vector with the mean vector of the message and all messages within four of it.
    pub wide_cosine: f64,
    /// Highest cosine of the question's vector with the vector of a single sentence of the message.
    pub sentence_cosine: f64,
    /// 1 if the question names the author of the message.
    pub named_author: f64,
    /// 1 if the question names the author of one of two neighbours on either side.
    pub named_beside: f64,
    pub is_question: f64,
    /// 1 if the question asks for a time, and the message has one.
    pub time_answer: f64,
    /// 1 if the question asks for a number, and the message has one.
    pub number_answer: f64,
    /// Closeness of the message to a time that the question names: 1 within that time, towards 0 with growing distance.
    pub date: f64,
    /// 1 if the bot wrote the message.
    pub is_own: f64,
    /// 1 if the message is a member's question or command to a bot.
    pub calls_bot: f64,
    /// Number of content words, scaled: 0 for none, 1 for ten or more.
    pub length: f64,
}

pub const COUNT: usize = 17;

impl Features {
    pub fn values(&self) -> [(&'static str, f64); COUNT] {
        [
            ("window_coverage", self.window_coverage),
            ("wide_coverage", self.wide_coverage),
            ("linked_coverage", self.linked_coverage),
            ("own_coverage", self.own_coverage),
            ("question_before", self.question_before),
            ("window_cosine", self.window_cosine),
            ("wide_cosine", self.wide_cosine),
            ("sentence_cosine", self.sentence_cosine),
            ("named_author", self.named_author),
            ("named_beside", self.named_beside),
            ("is_question", self.is_question),
            ("time_answer", self.time_answer),
            ("number_answer", self.number_answer),
            ("date", self.date),
            ("is_own", self.is_own),
            ("calls_bot", self.calls_bot),
            ("length", self.length),
        ]
    }

    pub fn dot(&self, weights: &Self) -> f64 {
        self.values().iter().zip(weights.values()).map(|((_, value), (_, weight))| value * weight).sum()
    }
}

/// Factor in [`Features::window_coverage`] on the matches of a neighbour two messages away.
const SECOND_NEIGHBOR: f32 = 0.8;
/// Factor in [`Features::window_cosine`] on the vector of a neighbour.
const NEIGHBOR_VECTOR: f32 = 0.5;
/// Number of messages on either side that count for [`Features::wide_coverage`], and for [`Features::wide_cosine`].
const WIDE_COVERAGE: usize = 5;
const WIDE_COSINE: usize = 4;
/// Number of neighbours on either side that count for [`Features::named_beside`].
const NAMED_BESIDE: usize = 2;
/// Minimum share of the question's words that the embedding model must know. Below it, the question gets no vector.
const MIN_KNOWN_WORDS: f64 = 0.5;
/// Number of content words from which on [`Features::length`] is 1.
const LONG: f64 = 10.0;
const DAY_SECS: f64 = 86_400.0;
/// Maximum number of days of a span that counts as an exact date; longer spans are vague times, around which closeness
/// falls more slowly.
const DATE_DAYS: f64 = 3.0;
/// Days after an exact date, and after a vague time, in which the closeness of a message falls to 1/e. Before the time
/// it falls three times as fast, since most messages about a day are sent after it.
const FADES_DAYS: (f64, f64) = (7.0, 14.0);
const FADES_BEFORE: f64 = 3.0;

/// A question with everything that comparing it with passages needs.
pub(super) struct PreparedQuestion<'q> {
    question: &'q ParsedQuestion,
    idf: Vec<f64>,
    total_idf: f64,
    /// Embedding of the question; empty if no vectors are used or the model knows too few of the question's words.
    pub vector: Vec<f32>,
    /// For each passage, the similarity of each question word to the most similar word of the passage.
    hits: Vec<Vec<f32>>,
    /// For each passage, the indices of the passages that reply to it.
    replies: Vec<Vec<usize>>,
}

impl<'q> PreparedQuestion<'q> {
    pub fn new(
        question: &'q ParsedQuestion,
        passages: &[Passage<'_>],
        readings: &[PassageProperties],
        idf: impl Fn(&str) -> f64,
        lexicon: &mut Lexicon<'_>,
    ) -> Self {
        let ids: Vec<_> = question.words.iter().map(|word| lexicon.id(word)).collect();
        let idf: Vec<f64> = ids.iter().map(|id| idf(&lexicon.word(*id).stem)).collect();
        let is_known = || {
            let known = ids.iter().filter(|id| !lexicon.vector(**id).is_empty()).count();
            ids.is_empty() || known as f64 >= MIN_KNOWN_WORDS * ids.len() as f64
        };
        // A literal question matches by word forms only, so it needs no vector.
        let embedder = lexicon.embedder().filter(|_| !question.is_literal && is_known());
        let embedded = embedder.map(|embedder| embedder.embed(&question.bare));
        let mut similar = Similarities::new(ids, !question.is_literal);
        let hits = readings.iter().map(|reading| similar.best(&reading.words, lexicon)).collect();
        let mut replies = vec![Vec::new(); passages.len()];
        for (place, passage) in passages.iter().enumerate() {
            if let Some(replies) = passage.replies_to.and_then(|parent| replies.get_mut(parent)) {
                replies.push(place);
            }
        }
        let total_idf = idf.iter().sum::<f64>().max(1e-6);
        Self { question, total_idf, idf, vector: embedded.unwrap_or_default(), hits, replies }
    }

    /// Returns the number of question words that occur in a passage itself, in any form.
    pub fn words_said(&self, place: usize) -> usize {
        self.hits[place].iter().filter(|hit| **hit >= 1.0).count()
    }

    fn coverage(&self, hits: impl Iterator<Item = f32>) -> f64 {
        hits.zip(&self.idf).map(|(hit, idf)| f64::from(hit) * idf).sum::<f64>() / self.total_idf
    }

    /// Computes all features of the passage at `place` except [`Features::sentence_cosine`], which takes longer.
    pub fn features(&self, passages: &[Passage<'_>], readings: &[PassageProperties], place: usize) -> Features {
        let (passage, reading, question) = (&passages[place], &readings[place], self.question);
        Features {
            window_coverage: self.window_coverage(passages, place),
            wide_coverage: self.coverage_of(beside(passages, place, WIDE_COVERAGE).chain([place])),
            linked_coverage: self
                .coverage_of(self.replies[place].iter().copied().chain(passages[place].replies_to).chain([place])),
            own_coverage: self.coverage_of([place].into_iter()),
            question_before: (passage.before.filter(|before| readings[*before].is_question))
                .map_or(0.0, |before| self.coverage_of([before].into_iter())),
            window_cosine: self.mean_cosine(passages, place, 1, NEIGHBOR_VECTOR),
            wide_cosine: self.mean_cosine(passages, place, WIDE_COSINE, 1.0),
            sentence_cosine: 0.0,
            named_author: f64::from(question.named.contains(&passage.author)),
            named_beside: f64::from(
                beside(passages, place, NAMED_BESIDE).any(|other| question.named.contains(&passages[other].author)),
            ),
            is_question: f64::from(reading.is_question),
            time_answer: f64::from(question.asks_when && reading.tells_when),
            number_answer: f64::from(question.asks_number && reading.names_number),
            date: question.spans.iter().map(|span| closeness(span, passage)).fold(0.0, f64::max),
            is_own: f64::from(passage.is_own),
            calls_bot: f64::from(reading.calls_bot),
            length: (reading.words.len() as f64 / LONG).min(1.0),
        }
    }

    fn window_coverage(&self, passages: &[Passage<'_>], place: usize) -> f64 {
        let mut best = self.hits[place].clone();
        let mut take = |other: Option<usize>, gain: f32| {
            let hits = other.and_then(|other| self.hits.get(other)).into_iter().flatten();
            best.iter_mut().zip(hits).for_each(|(best, hit)| *best = best.max(gain * hit));
        };
        let (before, after) = (passages[place].before, passages[place].after);
        take(before, 1.0);
        take(after, 1.0);
        take(before.and_then(|before| passages[before].before), SECOND_NEIGHBOR);
        take(after.and_then(|after| passages[after].after), SECOND_NEIGHBOR);
        self.coverage(best.into_iter())
    }

    /// Returns the share of the question, by idf, that the passages at `places` cover together. Each word counts with
    /// its best match in any of them.
    fn coverage_of(&self, places: impl Iterator<Item = usize>) -> f64 {
        let mut best = vec![0.0_f32; self.idf.len()];
        for hits in places.filter_map(|place| self.hits.get(place)) {
            best.iter_mut().zip(hits).for_each(|(best, hit)| *best = best.max(*hit));
        }
        self.coverage(best.into_iter())
    }

    /// Returns the cosine of the question's vector with a sum of vectors: the passage's own and, times `share`, the
    /// vectors of up to `reach` neighbours on either side; 0 if the question has no vector.
    fn mean_cosine(&self, passages: &[Passage<'_>], place: usize, reach: usize, share: f32) -> f64 {
        if self.vector.is_empty() {
            return 0.0;
        }
        let mut sum = vec![0.0_f32; self.vector.len()];
        let mut add = |vector: &[f32], share: f32| {
            sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += share * value);
        };
        add(passages[place].vector, 1.0);
        beside(passages, place, reach).for_each(|other| add(passages[other].vector, share));
        let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length > f32::EPSILON { f64::from(dot(&sum, &self.vector) / length) } else { 0.0 }
    }

    pub fn sentence_cosine(&self, passage: &Passage<'_>, lexicon: &Lexicon<'_>) -> f64 {
        if self.vector.is_empty() {
            return 0.0;
        }
        let sentences = sentences(passage.text);
        let best = match (sentences.as_slice(), lexicon.embedder()) {
            ([] | [_], _) | (_, None) => dot(passage.vector, &self.vector),
            (several, Some(embedder)) => {
                several.iter().map(|one| dot(&embedder.embed(one), &self.vector)).fold(0.0, f32::max)
            }
        };
        f64::from(best.max(0.0))
    }
}

/// Returns the indices of up to `reach` neighbours of a passage on either side.
fn beside<'a>(passages: &'a [Passage<'_>], place: usize, reach: usize) -> impl Iterator<Item = usize> + 'a {
    let before = std::iter::successors(passages[place].before, |at| passages.get(*at)?.before).take(reach);
    let after = std::iter::successors(passages[place].after, |at| passages.get(*at)?.after).take(reach);
    before.chain(after)
}

/// Splits a text into sentences. A sentence ends with a punctuation mark followed by white space; Chinese and Japanese
/// ones need none.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.char_indices().zip(rest.chars().skip(1)).find_map(|((at, c), next)| {
        let ends = matches!(c, '.' | '!' | '?' | '…' | '؟' | '۔' | '।') && next.is_whitespace();
        (ends || matches!(c, '。' | '！' | '？')).then_some(at + c.len_utf8())
    }) {
        found.push(rest[..end].trim());
        rest = &rest[end..];
    }
    found.push(rest.trim());
    found.retain(|sentence| sentence.len() > 1);
    found
}

/// Returns 1 for a passage sent within the span, and otherwise a number that falls exponentially with the days between
/// both.
fn closeness(span: &TimeSpan, passage: &Passage<'_>) -> f64 {
    let days = |millis: i64| millis as f64 / 1000.0 / DAY_SECS;
    let (from, to, at) = (span.from.millis(), span.to.millis(), passage.sent_at.millis());
    let fades = if days(to - from) <= DATE_DAYS { FADES_DAYS.0 } else { FADES_DAYS.1 };
    if at < from { (-FADES_BEFORE * days(from - at) / fades).exp() } else { (-days((at - to).max(0)) / fades).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_into_its_sentences() {
        assert_eq!(sentences("We go! At 7.30. ok"), ["We go!", "At 7.30.", "ok"]);
        assert_eq!(sentences("Hm… вот. "), ["Hm…", "вот."]);
        assert_eq!(sentences("好的。几点？七点"), ["好的。", "几点？", "七点"]);
    }
}
