//! Guesses the subject of a trigger: one guess for each candidate that the trigger may refer to (its target), with the
//! probability of each other candidate to belong to the same subject.

use crate::context::contributions::ByCandidate;
use crate::context::expected_f1::{Guess, best_set, marginals};
use crate::context::features::corpus::Corpus;
use crate::context::focus::{self, SegmentedCorpus, TriggerFeatures, lack_words, targets};
use crate::context::linear::Terms;
use crate::context::pick::{Candidates, Selection};
use crate::context::relatedness::pairwise::Pairwise;
use crate::context::relatedness::refine::{self, Refinement};
use crate::context::threads::Partitioned;
use crate::context::weights::FocusWeights;

/// Maximum number of candidates that are considered as the trigger's target.
const TARGETS: usize = 12;
/// Minimum probability of a target, relative to the likeliest one's.
const FAINT: f64 = 0.01;
/// Factor on the weight of an earlier trigger without words. It is so small that such a message is the target only if
/// there is no other.
const EARLIER_TAG: f64 = 1e-6;
/// Factor on the weight of a candidate that shares only common words with the trigger, if others share a rarer one.
const COMMON_ALONE: f64 = 0.02;
/// Probability, by the reply model, that a trigger starts something new. From this value on, a trigger that does not
/// tag the bot gets no focus.
const UNLINKED: f64 = 0.86;

/// Weights of one refining pass.
type RefineTerms = Terms<{ refine::FEATURES }>;

impl Candidates<'_> {
    /// Picks at most `most` candidates for the focus. If `seen` is given, adds to it how much each feature contributed.
    pub(super) fn pick(
        &self,
        tag: &TriggerFeatures<'_>,
        weights: &FocusWeights,
        most: usize,
        seen: Option<&mut ByCandidate>,
    ) -> Selection {
        if self.messages.is_empty() {
            return Selection::default();
        }
        let (guesses, marginals) = self.guesses(tag, weights, seen);
        let model = &weights.novelty;
        // A reply never starts a new subject. For a trigger that does not tag the bot, the reply model alone decides.
        let (novelty, threshold) = match (tag.is_reply, tag.is_tag) {
            (true, _) => (0.0, model.threshold),
            (false, true) => (model.novelty(tag, &self.features), model.threshold),
            (false, false) => (tag.unlinked, UNLINKED),
        };
        if novelty >= threshold {
            return Selection { marginals, is_new: true, ..Selection::default() };
        }
        Selection { taken: best_set(&guesses, most), marginals, is_new: false }
    }

    /// Returns the guesses, and for each candidate the probability that it belongs to the trigger's subject, over all
    /// guesses.
    fn guesses(
        &self,
        tag: &TriggerFeatures<'_>,
        weights: &FocusWeights,
        seen: Option<&mut ByCandidate>,
    ) -> (Vec<Guess>, Vec<f32>) {
        let corpus = self.corpus(Some(tag.utterance.at));
        let partitioned = self.threads_in(&self.forests(), weights);
        guesses(&corpus, &partitioned, tag, weights, seen)
    }
}

fn guesses(
    corpus: &Corpus<'_>,
    partitioned: &Partitioned,
    tag: &TriggerFeatures<'_>,
    weights: &FocusWeights,
    seen: Option<&mut ByCandidate>,
) -> (Vec<Guess>, Vec<f32>) {
    let Some((last, before)) = weights.refine.split_last() else { return Default::default() };
    let slowness = corpus.slowness;
    // In a busy chat, a trigger that tags the bot uses threads alone, unless it is a reply. A trigger that does not tag
    // the bot uses both, weighted by the chat's slowness.
    let by_relatedness = if tag.is_tag && (slowness > 0.0 || tag.is_reply) { 1.0 } else { slowness };
    let (mut guesses, mut left) = (Vec::new(), Vec::new());
    // If these guesses have no weight, they are computed only for an explanation.
    if by_relatedness > 0.0 || seen.is_some() {
        let found = by_target(corpus, partitioned, tag, weights, before, last, seen);
        for WeightedTarget { weight, members, share } in found.into_iter().filter(|_| by_relatedness > 0.0) {
            guesses.push(Guess { weight: (by_relatedness * weight) as f32, members });
            left.push(share as f32);
        }
    }
    if by_relatedness < 1.0 {
        let threads = partitioned.threads.led_to(&tag.links).into_iter();
        guesses
            .extend(threads.map(|(weight, members)| Guess { weight: (1.0 - by_relatedness) as f32 * weight, members }));
    }
    let marginals = with_common_words(&guesses, left.into_iter());
    (guesses, marginals)
}

/// Candidate that the trigger may refer to.
struct WeightedTarget {
    weight: f64,
    /// Probability that each candidate belongs to the target's subject.
    members: Vec<f32>,
    /// Factor that `weight` already includes: [`COMMON_ALONE`] if the candidate lacks the trigger's rarer words, else
    /// 1.
    share: f64,
}

/// Returns the likeliest targets with the probability of each candidate to belong to their subjects. The refining
/// passes `before` run first, then the `last` one.
fn by_target(
    corpus: &Corpus<'_>,
    partitioned: &Partitioned,
    tag: &TriggerFeatures<'_>,
    weights: &FocusWeights,
    before: &[RefineTerms],
    last: &RefineTerms,
    seen: Option<&mut ByCandidate>,
) -> Vec<WeightedTarget> {
    let scene = SegmentedCorpus::of(corpus, &partitioned.segments);
    let (rows, slowness) = (&focus::features(tag, &scene), corpus.slowness);
    let terms = if tag.is_bare { &weights.focus_bare } else { &weights.focus_text };
    // The target of a trigger that does not tag the bot is decided by the reply model, whatever the trigger's words
    // are.
    let by_tag = match (tag.rests_on.is_empty(), tag.is_tag) {
        (false, _) => 1.0,
        (true, true) => slowness,
        (true, false) => 0.0,
    };
    let mut pointed = blended(&targets(tag, rows, terms), &tag.links, by_tag);
    for (weight, earlier) in pointed.iter_mut().zip(&corpus.utterances) {
        // An earlier trigger without words refers to other messages. These are the target, not that trigger.
        if earlier.features.calls_bot && earlier.features.stems.is_empty() && !tag.is_reply {
            *weight *= EARLIER_TAG;
        }
    }
    let lacks = lack_words(tag, rows);
    let share = |place: usize| if lacks[place] { COMMON_ALONE } else { 1.0 };
    pointed.iter_mut().enumerate().for_each(|(place, weight)| *weight *= share(place));
    let targets = likeliest(&pointed);
    let pairwise = Pairwise::new(corpus, &scene.consensus, partitioned);
    let places: Vec<usize> = targets.iter().map(|(place, _)| *place).collect();
    let mut refinement = Refinement::around(&pairwise, &places, &weights.pairwise);
    before.iter().for_each(|look| refinement.look(look));
    if let Some(seen) = seen {
        focus::explain(rows, terms, seen);
        refinement.explain(&weights.pairwise, last, seen);
    }
    let found = targets.iter().zip(refinement.of_targets(last));
    found.map(|((place, weight), members)| WeightedTarget { weight: *weight, members, share: share(*place) }).collect()
}

/// Returns the probability that each candidate belongs to the trigger's subject, over all guesses. First divides the
/// weights of the first guesses by `left`, the factors such as [`COMMON_ALONE`] that they include, because the result
/// also ranks the surroundings, which may share only common words.
fn with_common_words(guesses: &[Guess], left: impl Iterator<Item = f32>) -> Vec<f32> {
    let mut whole = guesses.to_vec();
    whole.iter_mut().zip(left).for_each(|(guess, left)| guess.weight /= left);
    let sum: f32 = whole.iter().map(|guess| guess.weight).sum();
    whole.iter_mut().for_each(|guess| guess.weight /= sum.max(f32::MIN_POSITIVE));
    marginals(&whole)
}

/// Returns the mean of both distributions, with `slowness` as the weight of `targets`: in a busy chat only the links
/// count.
fn blended(targets: &[f64], links: &[f64], slowness: f64) -> Vec<f64> {
    let sum: f64 = links.iter().sum::<f64>().max(1e-9);
    targets.iter().zip(links).map(|(target, link)| slowness * target + (1.0 - slowness) * link / sum).collect()
}

/// Returns at most [`TARGETS`] likeliest targets with weights that sum to 1: the likeliest first, and of equal ones the
/// newest.
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
    use crate::context::features::message::MessageFeatures;
    use crate::context::features::token::Token;
    use crate::context::replies::sample::Forest;
    use chime_core::{ChatId, Message, MessageId, Sender, Timestamp, UserId};

    /// Hand-made chats as numbers, with the results that an independent implementation computed for them.
    const CASES: &str = include_str!("../../../../../tests/data/tag/cases.json");

    /// Weights with which these results were computed.
    const WEIGHTS: &str = include_str!("../../../../../tests/data/tag/weights.json");

    #[derive(Deserialize)]
    struct Case {
        name: String,
        slowness: f64,
        bare: bool,
        messages: Vec<Line>,
        tag: Line,
        links: Vec<f64>,
        /// Antecedents of all messages, one list for each forest.
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
    }

    #[derive(Deserialize)]
    struct Expected {
        /// Messages that the trigger may refer to, with their weights.
        #[serde(rename = "anchors")]
        targets: Vec<(usize, f32)>,
        /// Probability that each message belongs to the subject of the likeliest target.
        #[serde(rename = "kin")]
        related: Vec<f32>,
        marginals: Vec<f32>,
        selected: Vec<usize>,
    }

    fn read(line: &Line) -> MessageFeatures {
        let sender = Sender::person(UserId(line.author), String::new());
        let message = Message::new(ChatId(1), MessageId(1), sender, Timestamp::default());
        MessageFeatures {
            stems: line.stems.clone(),
            is_question: line.question,
            chars: line.chars,
            ..MessageFeatures::of(&message, "", line.vector.clone())
        }
    }

    fn utterance<'a>((line, features): (&Line, &'a MessageFeatures)) -> Utterance<'a> {
        Utterance { at: line.at, is_ours: line.ours, reply: line.reply, features }
    }

    fn guesses_of(case: &Case, seen: Option<&mut ByCandidate>) -> Vec<Guess> {
        let readings: Vec<MessageFeatures> = case.messages.iter().map(read).collect();
        let utterances = case.messages.iter().zip(&readings).map(utterance).collect();
        let of_tag = read(&case.tag);
        let corpus = Corpus::new(utterances, case.slowness);
        let forests: Vec<Forest> = (case.antecedents.iter().cloned().zip(case.chances.iter().cloned()))
            .map(|(antecedents, chances)| Forest { antecedents, chances })
            .collect();
        let tag = TriggerFeatures {
            utterance: utterance((&case.tag, &of_tag)),
            mentions: Vec::new(),
            unlinked: 0.0,
            links: case.links.clone(),
            ours: 0,
            is_generic: false,
            is_foreign: false,
            numbers: 0,
            meaning: None,
            rests_on: Vec::new(),
            is_reply: case.tag.reply.is_some(),
            is_tag: true,
            is_bare: case.bare,
            is_narrowed: false,
            cluster: 0,
        };
        let weights = &serde_json::from_str::<FocusWeights>(WEIGHTS).expect("the file is of the right form");
        let partitioned = Partitioned::of(&corpus, &forests, weights);
        guesses(&corpus, &partitioned, &tag, weights, seen).0
    }

    #[track_caller]
    fn assert_close(case: &str, what: &str, found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len(), "{case}: {what}");
        let furthest = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(furthest < 1e-4, "{case}: {what} differ by {furthest}");
    }

    #[test]
    fn targets_members_and_selection_are_those_of_an_independent_implementation() {
        let cases: Vec<Case> = serde_json::from_str(CASES).expect("cases");
        assert_eq!(cases.len(), 4);
        for case in &cases {
            let guesses = guesses_of(case, None);
            let weights: Vec<f32> = guesses.iter().map(|guess| guess.weight).collect();
            let expected: Vec<f32> = case.expected.targets.iter().map(|(_, weight)| *weight).collect();
            assert_close(&case.name, "targets", &weights, &expected);
            for (guess, (target, _)) in guesses.iter().zip(&case.expected.targets) {
                assert_eq!(guess.members[*target], 1.0, "{}: a target belongs to its own matter", case.name);
            }
            assert_close(&case.name, "members", &guesses[0].members, &case.expected.related);
            assert_close(&case.name, "marginals", &marginals(&guesses), &case.expected.marginals);
            let selected: Vec<usize> = best_set(&guesses, 20).into_iter().map(|taken| taken.place).collect();
            assert_eq!(selected, case.expected.selected, "{}", case.name);
        }
    }
    #[test]
    fn in_a_busy_chat_strands_alone_count_also_where_all_is_explained() {
        let cases: Vec<Case> = serde_json::from_str(CASES).expect("cases");
        for mut case in cases {
            (case.slowness, case.tag.reply) = (0.0, None);
            let mut seen = ByCandidate::new();
            let guesses = guesses_of(&case, None);
            assert_eq!(guesses, guesses_of(&case, Some(&mut seen)), "{}", case.name);
            assert!((guesses.iter().map(|guess| guess.weight).sum::<f32>() - 1.0).abs() < 1e-4, "{}", case.name);
            assert_eq!(seen.len(), case.messages.len(), "{}: all is explained", case.name);
        }
    }
}
