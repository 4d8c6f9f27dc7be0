//! Scores how likely a segment continues an earlier subject.

use serde::Deserialize;

use crate::context::features::corpus::Corpus;
use crate::context::features::lexical::damped;
use crate::context::focus::log_minutes;
use crate::context::linear::Terms;
use crate::context::subjects::segment::Segment;
use crate::context::subjects::subject::LinkedSubject;
use chime_core::dot;

pub const FEATURES: usize = 18;
/// Names of the features, in their order. The last four compare the subject with all other earlier subjects.
pub const NAMES: [&str; FEATURES] = [
    "minutes_between",
    "answer_between",
    "minutes_over_answer",
    "people_likelihood",
    "people_cosine",
    "starter_spoke_there",
    "word_cosine",
    "rarest_shared_word",
    "meaning_cosine",
    "subject_size",
    "segment_size",
    "begins_with_question",
    "segment_stems",
    "subject_stems",
    "subjects_so_far",
    "meaning_above_mean",
    "words_above_mean",
    "people_above_mean",
];
/// Index of the first feature that depends on all subjects. `ABOVE_MEAN` holds the features from which the last three
/// are computed, by subtracting the mean over all subjects.
const COMPARED: usize = 14;
const ABOVE_MEAN: [usize; 3] = [8, 6, 3];
pub type LinkFeatures = [f64; FEATURES];

/// Linear model of how likely a segment continues an earlier subject.
#[derive(Debug, Clone, Deserialize)]
pub struct SegmentLink {
    /// Weight of the chat's slowness, which raises every score: slow chats resume subjects more often.
    pub slow: f64,
    #[serde(flatten)]
    pub terms: Terms<FEATURES>,
}

/// Features of a segment and a subject that depend on no other subject. They are the same in every forest that has
/// both, so they are cached. The features from `COMPARED` on are 0.
#[derive(Debug, Clone, Copy)]
pub struct SegmentPair(LinkFeatures);

/// Score of a segment with one earlier subject, before the other subjects are known: the part that does not depend on
/// them, and three similarities from which the mean over all earlier subjects is subtracted later.
#[derive(Debug, Clone, Copy)]
pub struct Scored {
    /// Weighted sum of the features that depend on no other subject: those before `COMPARED`.
    alone: f64,
    /// Similarity of meaning, words and people: the features listed in `ABOVE_MEAN`.
    compared: Compared,
}

type Compared = [f64; ABOVE_MEAN.len()];

impl SegmentPair {
    fn compared(&self) -> Compared {
        ABOVE_MEAN.map(|feature| self.0[feature])
    }
}

impl SegmentLink {
    pub fn scored(&self, segment_pair: &SegmentPair) -> Scored {
        let alone =
            self.terms.terms.iter().zip(&segment_pair.0).take(COMPARED).map(|(term, value)| term.weigh(*value)).sum();
        Scored { alone, compared: segment_pair.compared() }
    }

    /// Returns the score of a segment with each earlier subject. Each of `bonds` comes with the number of messages of
    /// its subject.
    pub fn scores(&self, bonds: &[(Scored, usize)], slowness: f64) -> Vec<f64> {
        let means = means(bonds.iter().map(|(segment_pair, count)| (segment_pair.compared, *count)));
        let (so_far, compared) = (self.terms.terms[COMPARED], &self.terms.terms[COMPARED + 1..]);
        let so_far = so_far.weigh((bonds.len() as f64).ln_1p());
        let score = |(segment_pair, _): &(Scored, usize)| {
            let above = segment_pair.compared.iter().zip(means).zip(compared);
            let parts = above.map(|((value, mean), term)| term.weigh(value - mean));
            self.terms.bias + parts.fold(segment_pair.alone + so_far, |sum, part| sum + part) + self.slow * slowness
        };
        bonds.iter().map(score).collect()
    }
}

pub fn segment_pair(corpus: &Corpus<'_>, segment: &Segment, subject: &LinkedSubject) -> SegmentPair {
    let start = segment.start();
    let near = subject.members.last_before(start).unwrap_or(subject.first);
    let seconds = (corpus.utterances[start].at - corpus.utterances[near].at).abs();
    let is_answered = corpus.answers[start] > corpus.answers[near];
    let (people_likelihood, people_cosine) = people(corpus, segment, subject);
    let (word_cosine, rarest) = words(corpus, segment, subject);
    let mut row = [0.0; FEATURES];
    row[..COMPARED].copy_from_slice(&[
        log_minutes(seconds),
        f64::from(is_answered),
        f64::from(is_answered) * log_minutes(seconds),
        people_likelihood,
        people_cosine,
        f64::from(subject.authors[corpus.authors[start]] > 0.0),
        word_cosine,
        rarest / 5.0,
        meaning(segment, subject),
        (subject.count as f64).ln(),
        (segment.count() as f64).ln(),
        f64::from(corpus.utterances[start].features.is_question),
        segment.wordiness,
        subject.stem_count.ln_1p(),
    ]);
    SegmentPair(row)
}

/// Returns all features of a segment with each earlier subject, to fit the weights. Each of `bonds` comes with the
/// number of messages of its subject.
pub fn rows(bonds: &[(SegmentPair, usize)]) -> impl Iterator<Item = LinkFeatures> {
    let means = means(bonds.iter().map(|(segment_pair, count)| (segment_pair.compared(), *count)));
    bonds.iter().map(move |(segment_pair, _)| {
        let mut row = segment_pair.0;
        row[COMPARED] = (bonds.len() as f64).ln_1p();
        for (place, (value, mean)) in (COMPARED + 1..).zip(segment_pair.compared().iter().zip(means)) {
            row[place] = value - mean;
        }
        row
    })
}

/// Returns the mean of each similarity over all subjects, weighted by their numbers of messages.
fn means(subjects: impl Iterator<Item = (Compared, usize)>) -> Compared {
    let (mut sums, mut total) = (Compared::default(), 0.0);
    for (compared, count) in subjects {
        sums.iter_mut().zip(compared).for_each(|(sum, value)| *sum += value * count as f64);
        total += count as f64;
    }
    sums.map(|sum| if total > 0.0 { sum / total } else { 0.0 })
}

/// Returns two numbers: how much likelier the segment's authors are among the subject's authors than elsewhere in the
/// chat (log likelihood ratio), and the cosine of both author counts.
fn people(corpus: &Corpus<'_>, segment: &Segment, subject: &LinkedSubject) -> (f64, f64) {
    let (own, count, all) = (segment.count() as f64, subject.count as f64, corpus.utterances.len() as f64);
    let (mut likelihood, mut product) = (0.0, 0.0);
    for (author, times) in &segment.authors {
        let there = subject.authors[*author];
        product += times * there;
        let elsewhere = (f64::from(corpus.spoken[*author]) - times - there + 1.0)
            / (all - own - count + corpus.spoken.len() as f64);
        likelihood += times * ((there + 3.0 * elsewhere) / (count + 3.0) / elsewhere).ln();
    }
    let lengths = segment.authors_length * subject.authors_length();
    (likelihood / own.sqrt(), product / lengths.max(1e-6))
}

/// Returns the cosine of the stems of the segment and the subject, weighted by idf, and the idf of the rarest shared
/// stem.
fn words(corpus: &Corpus<'_>, segment: &Segment, subject: &LinkedSubject) -> (f64, f64) {
    let (mut product, mut rarest) = (0.0, 0.0_f64);
    let shared = segment.stems.iter().map(|used| (used, subject.stems[used.stem as usize]));
    for (used, there) in shared.filter(|(_, there)| *there > 0) {
        let idf = corpus.idf[used.stem as usize];
        product += used.weight(corpus) * damped(f64::from(there)) * idf;
        rarest = rarest.max(idf);
    }
    (product / (segment.lexical_length * subject.lexical_length()).max(1e-6), rarest)
}

fn meaning(segment: &Segment, subject: &LinkedSubject) -> f64 {
    let lengths = segment.vector_length * subject.vector_length;
    if lengths <= 0.0 { 0.0 } else { f64::from(dot(&segment.vector, &subject.vector) / lengths.max(1e-6)) }
}
