//! What a trigger may be about: it points at one of the candidates, and what is about the same comes with that one.

use std::sync::Arc;

use crate::context::contributions::Column;
use crate::context::features::corpus::Corpus;
use crate::context::focus::{
    Scene, Tag, Values as FocusValues, features as focus_features, focus_columns, lack_words, targets,
};
use crate::context::history::Sources;
use crate::context::meanings::Meanings;
use crate::context::novelty::waste;
use crate::context::pick::{Candidates, Matching, Picked, utterance};
use crate::context::relatedness::pairwise::Pairwise;
use crate::context::relatedness::refine::Refinement;
use crate::context::select::ambiguity;
use crate::context::select::expected_f1::{Guess, best_set, marginals};
use crate::context::strands::{Consensus, Partitioned};
use crate::context::weights::Weights;
use crate::domain::StoredMessage;

/// Messages that the tag may point at, the likeliest ones.
const TARGETS: usize = 12;
/// A target that is less likely than this part of the likeliest is none.
const FAINT: f64 = 0.01;
/// What is left of the weight of an earlier tag without words: where there is nothing else, it is better than nothing.
const EARLIER_TAG: f64 = 1e-6;
/// What is left of the weight of a candidate that has common words of the tag alone, where rarer ones are met elsewhere.
const COMMON_ALONE: f64 = 0.02;
/// A message that does not tag starts something new where that is at least so likely by its links.
const UNLINKED: f64 = 0.86;

impl Candidates<'_> {
    /// The candidates that the trigger is about, at most `most`. `seen` takes what each feature was worth.
    pub(super) fn pick(&self, matching: &Matching<'_>, most: usize, seen: Option<&mut Vec<Column>>) -> Picked {
        let model = &matching.weights.novelty;
        if self.messages.is_empty() {
            return Picked::default();
        }
        let (guesses, marginals) = self.guesses(matching, seen);
        // What replies takes something up, whatever its words are.
        let summary = Some(matching.summary()).filter(|_| !matching.is_reply);
        let novelty = summary.map_or(0.0, |summary| match matching.asking.is_tag {
            true => model.novelty(&summary),
            false => summary.unlinked,
        });
        // A message that does not tag is given nothing only where its links say so.
        let (threshold, price) = if matching.asking.is_tag { (model.threshold, model.price) } else { (UNLINKED, 0.0) };
        if novelty >= threshold {
            return Picked { marginals, ..Picked::default() };
        }
        let costs = waste(novelty, price, self.readings.iter().map(|reading| reading.speech.chars));
        let taken = best_set(&guesses, most, &costs);
        // A tag that is given nothing starts something new: there is nothing else that it may mean.
        let rivals = ambiguity::of_guesses(&guesses, most).filter(|_| !taken.is_empty());
        Picked { taken, marginals, rivals }
    }

    /// The matters that the trigger may be about, one for each candidate that it may point at, and how likely each candidate
    /// belongs to any of them.
    fn guesses(&self, matching: &Matching<'_>, seen: Option<&mut Vec<Column>>) -> (Vec<Guess>, Vec<f32>) {
        let corpus = self.corpus(Some(matching.asking.message));
        let sampled = match &self.sampled {
            Some(sampled) => Arc::clone(sampled),
            None => Arc::new(self.foreseen_in(&self.drawn(), matching.weights)),
        };
        let agreement = Agreement::of(&corpus, &sampled.partitioned);
        let tag = self.tag(matching);
        let rows = focus_features(&tag, agreement.scene());
        guesses(&agreement, (&tag, &rows), matching.weights, seen)
    }

    /// An answer of the bot and what it rests on, as far as they are candidates.
    fn rested_on(&self, sources: Option<&Sources>) -> Vec<usize> {
        let is_of = |stored: &StoredMessage, sources: &Sources| {
            stored.message.id == sources.of || sources.used.iter().any(|(seq, _)| *seq == stored.seq)
        };
        let places = sources
            .into_iter()
            .flat_map(|sources| (0..self.messages.len()).filter(move |place| is_of(self.messages[*place], sources)));
        places.collect()
    }

    pub(super) fn tag<'a>(&self, matching: &'a Matching<'_>) -> Tag<'a> {
        let asking = matching.asking;
        Tag {
            utterance: utterance(asking.message, matching.trigger, None),
            mentions: &matching.mentions,
            links: self.linked(&matching.links),
            rests_on: self.rested_on(asking.sources),
            is_reply: matching.is_reply,
            is_tag: matching.asking.is_tag,
            is_bare: matching.bare,
            is_narrowed: matching.is_narrowed,
            cluster: asking.seed.cluster(self.messages.iter().rev().copied(), asking.message.message.sent_at).count(),
        }
    }
}

fn guesses(
    agreement: &Agreement<'_>,
    (tag, rows): (&Tag<'_>, &[FocusValues]),
    weights: &Weights,
    seen: Option<&mut Vec<Column>>,
) -> (Vec<Guess>, Vec<f32>) {
    let slowness = agreement.corpus.slowness;
    let terms = if tag.is_bare { &weights.focus_bare } else { &weights.focus_text };
    // A message that does not tag goes on from what it is linked to.
    let by_tag = match (tag.rests_on.is_empty(), tag.is_tag) {
        (false, _) => 1.0,
        (true, true) => slowness,
        (true, false) => 0.0,
    };
    let mut pointed = blended(&targets(tag, rows, terms), &tag.links, by_tag);
    for (weight, earlier) in pointed.iter_mut().zip(&agreement.corpus.utterances) {
        // An earlier tag without words is about something itself: what it was about is pointed at, and not the tag.
        if earlier.calls_bot && earlier.stems.is_empty() && !tag.is_reply {
            *weight *= EARLIER_TAG;
        }
    }
    let lacks = lack_words(tag, rows);
    let left = |place: usize| if lacks[place] { COMMON_ALONE } else { 1.0 };
    pointed.iter_mut().enumerate().for_each(|(place, weight)| *weight *= left(place));
    let targets = likeliest(&pointed);
    let pairwise = agreement.pairwise();
    let places: Vec<usize> = targets.iter().map(|(place, _)| *place).collect();
    let mut refinement = Refinement::around(&pairwise, &places, &weights.pairwise);
    let Some((last, before)) = weights.refine.split_last() else { return Default::default() };
    before.iter().for_each(|look| refinement.look(look));
    if let Some(seen) = seen {
        seen.extend(focus_columns(rows, terms));
        seen.extend(refinement.columns(&weights.pairwise, last));
    }
    // A tag in a busy chat goes by strands alone, unless it replies; a message that does not tag in part.
    let by_kin = if tag.is_tag && (slowness > 0.0 || tag.is_reply) { 1.0 } else { slowness };
    let guess = |((_, weight), members): (&(usize, f64), Vec<f32>)| Guess { weight: (by_kin * weight) as f32, members };
    let mut guesses: Vec<Guess> = match by_kin > 0.0 {
        true => targets.iter().zip(refinement.of_targets(last)).map(guess).collect(),
        false => Vec::new(),
    };
    if by_kin < 1.0 {
        let strands = agreement.partitioned.strands.led_to(&tag.links).into_iter();
        guesses.extend(strands.map(|(weight, members)| Guess { weight: (1.0 - by_kin) as f32 * weight, members }));
    }
    // What surrounds the focus may have the common words alone.
    let mut whole = guesses.clone();
    let of_targets = whole.iter_mut().zip(&targets).filter(|_| by_kin > 0.0);
    of_targets.for_each(|(guess, (place, _))| guess.weight /= left(*place) as f32);
    let sum: f32 = whole.iter().map(|guess| guess.weight).sum();
    whole.iter_mut().for_each(|guess| guess.weight /= sum.max(f32::MIN_POSITIVE));
    (guesses, marginals(&whole))
}

/// What hangs together among the candidates, over all forests.
pub(super) struct Agreement<'a> {
    corpus: &'a Corpus<'a>,
    partitioned: &'a Partitioned,
    consensus: Consensus,
    meanings: Meanings,
    /// The meanings of whole segments.
    of_segments: Meanings,
}

impl<'a> Agreement<'a> {
    pub(super) fn of(corpus: &'a Corpus<'a>, partitioned: &'a Partitioned) -> Self {
        let consensus = Consensus::of(&partitioned.segments);
        let meanings = Meanings::of(corpus);
        Self { corpus, partitioned, of_segments: meanings.of_segments(&consensus), meanings, consensus }
    }

    pub(super) fn scene(&self) -> Scene<'_> {
        let Self { corpus, consensus, meanings, of_segments, .. } = self;
        Scene { corpus, consensus, meanings, of_segments }
    }

    pub(super) fn pairwise(&self) -> Pairwise<'_> {
        let Partitioned { strands, matters, .. } = self.partitioned;
        Pairwise::new(self.corpus, &self.consensus, (strands, matters))
    }
}

/// Between a slow chat and a busy one, where the links alone decide.
fn blended(targets: &[f64], links: &[f64], slowness: f64) -> Vec<f64> {
    let sum: f64 = links.iter().sum::<f64>().max(1e-9);
    targets.iter().zip(links).map(|(target, link)| slowness * target + (1.0 - slowness) * link / sum).collect()
}

/// The likeliest targets with weights that sum to 1, the likeliest first and the newest of equals.
fn likeliest(targets: &[f64]) -> Vec<(usize, f64)> {
    let highest = targets.iter().copied().fold(0.0, f64::max);
    let mut likeliest: Vec<(usize, f64)> =
        targets.iter().copied().enumerate().filter(|(_, target)| *target >= FAINT * highest).collect();
    likeliest.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    likeliest.truncate(TARGETS);
    let sum: f64 = likeliest.iter().map(|(_, target)| target).sum();
    likeliest.iter().map(|(place, target)| (*place, target / sum)).collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::context::features::corpus::Utterance;
    use crate::context::features::token::Token;
    use crate::context::replies::sample::Forest;
    use crate::domain::UserId;

    /// Cases from hand-made chats as numbers, with what an independent implementation of the same definition makes of them.
    const CASES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tag/cases.json"));

    /// The weights that they were worked out with.
    const WEIGHTS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tag/weights.json"));

    #[derive(Deserialize)]
    struct Case {
        name: String,
        slowness: f64,
        bare: bool,
        messages: Vec<Line>,
        tag: Line,
        links: Vec<f64>,
        /// By forest.
        antecedents: Vec<Vec<Option<usize>>>,
        chances: Vec<Vec<f32>>,
        expected: Expected,
    }

    #[derive(Deserialize)]
    struct Line {
        at: f64,
        author: i64,
        ours: bool,
        stems: Vec<Token>,
        question: bool,
        chars: usize,
        vector: Vec<f32>,
        reply: Option<usize>,
        silence: f64,
    }

    #[derive(Deserialize)]
    struct Expected {
        /// The messages that the tag may point at, with their weights.
        anchors: Vec<(usize, f32)>,
        /// How likely each belongs to the matter of the likeliest target.
        kin: Vec<f32>,
        marginals: Vec<f32>,
        selected: Vec<usize>,
    }

    fn read(line: &Line) -> Utterance<'_> {
        Utterance {
            at: line.at,
            author: UserId(line.author),
            is_ours: line.ours,
            stems: &line.stems,
            is_question: line.question,
            chars: line.chars,
            vector: &line.vector,
            reply: line.reply,
            days: &[],
            calls_bot: false,
        }
    }

    fn guesses_of(case: &Case) -> Vec<Guess> {
        let utterances = case.messages.iter().map(read).collect();
        let silences: Vec<f64> = case.messages.iter().map(|line| line.silence).collect();
        let corpus = Corpus::new(utterances, silences, case.slowness);
        let forests: Vec<Forest> = (case.antecedents.iter().cloned().zip(case.chances.iter().cloned()))
            .map(|(antecedents, chances)| Forest { antecedents, chances })
            .collect();
        let tag = Tag {
            utterance: read(&case.tag),
            mentions: &[],
            links: case.links.clone(),
            rests_on: Vec::new(),
            is_reply: case.tag.reply.is_some(),
            is_tag: true,
            is_bare: case.bare,
            is_narrowed: false,
            cluster: 0,
        };
        let weights = &serde_json::from_str::<Weights>(WEIGHTS).expect("the file is of the right form");
        let partitioned = Partitioned::of(&corpus, &forests, weights);
        let agreement = Agreement::of(&corpus, &partitioned);
        let rows = focus_features(&tag, agreement.scene());
        guesses(&agreement, (&tag, &rows), weights, None).0
    }

    #[track_caller]
    fn assert_close(case: &str, what: &str, found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len(), "{case}: {what}");
        let furthest = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(furthest < 1e-4, "{case}: {what} differ by {furthest}");
    }

    #[test]
    fn anchors_kin_and_choice_are_those_of_an_independent_implementation() {
        let cases: Vec<Case> = serde_json::from_str(CASES).expect("cases");
        assert_eq!(cases.len(), 4);
        for case in &cases {
            let guesses = guesses_of(case);
            let weights: Vec<f32> = guesses.iter().map(|guess| guess.weight).collect();
            let expected: Vec<f32> = case.expected.anchors.iter().map(|(_, weight)| *weight).collect();
            assert_close(&case.name, "targets", &weights, &expected);
            for (guess, (target, _)) in guesses.iter().zip(&case.expected.anchors) {
                assert_eq!(guess.members[*target], 1.0, "{}: an target is of its own matter", case.name);
            }
            assert_close(&case.name, "kin", &guesses[0].members, &case.expected.kin);
            assert_close(&case.name, "marginals", &marginals(&guesses), &case.expected.marginals);
            let selected: Vec<usize> = best_set(&guesses, 20, &[]).into_iter().map(|taken| taken.place).collect();
            assert_eq!(selected, case.expected.selected, "{}", case.name);
        }
    }
}
