//! Estimates which candidate a trigger refers to (the target): a softmax over linear scores.
//!
//! A trigger without words refers to a conversation that is under way or unfinished. A trigger with words refers to
//! messages about the same thing.

use crate::context::contributions::{self, ByCandidate};
use crate::context::features::corpus::{Corpus, Utterance};
use crate::context::features::lexical::rarity;
use crate::context::linear::Terms;
use crate::context::meanings::Meanings;
use crate::context::threads::{Consensus, Partitions};
use chime_core::UserId;

pub const FEATURES: usize = 18;
/// Names of the features, in their order. Features of the trigger's words begin at [`WORDS`].
pub const NAMES: [&str; FEATURES] = [
    "reply_log_odds",
    "segment_reply_odds",
    "minutes_since",
    "messages_since",
    "in_askers_newest_segment",
    "bot_answered_since",
    "bot_answered_others_since",
    "distinct_stems",
    "length",
    "in_time_gap_cluster",
    "is_question",
    "author_named",
    "rarest_shared_word",
    "meaning_cosine",
    "segment_meaning_cosine",
    "names_same_day",
    "sent_on_named_day",
    "tags_bot",
];
/// Index of the first feature that depends on the trigger's words. A trigger without words uses only the features
/// before it.
pub const WORDS: usize = 10;
const RAREST: usize = 12;

/// Features of a trigger that the scorers need.
pub struct TriggerFeatures<'a> {
    pub utterance: Utterance<'a>,
    pub mentions: Vec<UserId>,
    /// Probability that the trigger continues no conversation of the members: it starts something new, or follows an
    /// exchange of others with the bot. `links` holds the probability that it continues each candidate.
    pub unlinked: f64,
    pub links: Vec<f64>,
    /// Number of the trigger's words that refer to the group: its people, their messages, their days.
    pub ours: usize,
    /// `true` if the trigger has no subject of its own, such as "thoughts?".
    pub is_generic: bool,
    /// `true` if the trigger is in another language than the newest candidates.
    pub is_foreign: bool,
    /// Number of the trigger's words that are numbers.
    pub numbers: usize,
    /// Embedding of the trigger's text by the shipped model, empty if it knows no word of it; `None` without that
    /// model.
    pub meaning: Option<Vec<f32>>,
    /// Indices of the bot's answer that the trigger replies to and of that answer's sources; empty if it replies to no
    /// answer of the bot.
    pub rests_on: Vec<usize>,
    pub is_reply: bool,
    pub is_tag: bool,
    /// `true` if the trigger has at most five words and none of them occurs in a candidate. Such words are not scored.
    pub is_bare: bool,
    /// `true` if the trigger's common words were dropped, because it also has a rarer one.
    pub is_narrowed: bool,
    /// Number of the newest candidates that form one run with the trigger, without a long silence.
    pub cluster: usize,
}

/// Candidates and, for any two of them, how often both are in one segment (part of a thread) of the sampled reply
/// forests: a share from 0 to 1.
pub struct SegmentedCorpus<'a> {
    pub corpus: &'a Corpus<'a>,
    pub consensus: Consensus,
}

impl<'a> SegmentedCorpus<'a> {
    pub fn of(corpus: &'a Corpus<'a>, segments: &Partitions) -> Self {
        Self { corpus, consensus: Consensus::of(segments) }
    }
}

/// Returns the probability that the trigger refers to each candidate; sums to 1.
pub fn targets(tag: &TriggerFeatures<'_>, rows: &[FocusFeatures], terms: &Terms<FEATURES>) -> Vec<f64> {
    if !tag.rests_on.is_empty() {
        // A reply to an answer is about that answer and its sources.
        let share = 1.0 / tag.rests_on.len() as f64;
        return (0..rows.len()).map(|place| if tag.rests_on.contains(&place) { share } else { 0.0 }).collect();
    }
    if tag.is_reply {
        // By the reply model, the reply link already has nearly all of the probability.
        let sum: f64 = tag.links.iter().sum::<f64>().max(1e-9);
        return tag.links.iter().map(|link| link / sum).collect();
    }
    let scores: Vec<f64> = rows.iter().map(|values| terms.score(values)).collect();
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|score| (score - highest).exp()).sum();
    scores.iter().map(|score| (score - highest).exp() / sum).collect()
}

/// Records in `to` how much each feature contributes to each candidate's score as the target.
pub fn explain(rows: &[FocusFeatures], terms: &Terms<FEATURES>, to: &mut ByCandidate) {
    let rows: Vec<(FocusFeatures, FocusFeatures)> = rows.iter().map(|values| (*values, terms.parts(values))).collect();
    contributions::add(to, "tag", &NAMES, &rows);
}

pub type FocusFeatures = [f64; FEATURES];

pub fn features(tag: &TriggerFeatures<'_>, scene: &SegmentedCorpus<'_>) -> Vec<FocusFeatures> {
    let mut rows = pointing(tag, scene);
    if !tag.is_bare {
        asking(tag, scene, &mut rows);
    }
    rows
}

/// Returns `true` for each candidate whose segment has no rare word of the trigger, if the trigger's common words were
/// dropped: a match of common words must not outweigh a rare one.
pub fn lack_words(tag: &TriggerFeatures<'_>, rows: &[FocusFeatures]) -> Vec<bool> {
    let best = rows.iter().map(|values| values[RAREST]).fold(0.0, f64::max);
    let is_asked = tag.is_narrowed && !tag.is_bare && !tag.is_reply;
    rows.iter().map(|values| is_asked && values[RAREST] < best / 2.0).collect()
}

/// Computes the features that do not depend on the trigger's words.
fn pointing(tag: &TriggerFeatures<'_>, scene: &SegmentedCorpus<'_>) -> Vec<FocusFeatures> {
    let SegmentedCorpus { corpus, consensus, .. } = scene;
    let count = corpus.utterances.len();
    let newest_own =
        corpus.utterances.iter().rposition(|utterance| utterance.features.author == tag.utterance.features.author);
    let mass = consensus.gathered(tag.links.iter().copied().enumerate());
    let row = |place: usize| {
        let utterance = &corpus.utterances[place];
        let mut values = [0.0; FEATURES];
        values[..WORDS].copy_from_slice(&[
            // Logarithm of the probability, by the reply model, that the trigger replies to the candidate, and to its
            // segment.
            (tag.links[place] + 0.003).ln(),
            (mass[place] + 0.01).ln(),
            log_minutes(tag.utterance.at - utterance.at),
            ((count - place) as f64).ln(),
            newest_own.map_or(0.0, |newest| consensus.share(newest, place)),
            answered(place, scene, |_| true),
            answered(place, scene, |asker| asker != Some(tag.utterance.features.author)),
            (utterance.features.stems.len() as f64).ln_1p(),
            (utterance.features.chars as f64).ln_1p(),
            f64::from(place + tag.cluster >= count),
        ]);
        values
    };
    (0..count).map(row).collect()
}

/// Returns how certain it is that the bot has already answered in a candidate's segment: the largest share of the
/// forests that put the candidate in one segment with an answer of the bot (the candidate itself or a later message).
/// Only answers to an asker that `whom` accepts count.
fn answered(
    place: usize,
    SegmentedCorpus { corpus, consensus, .. }: &SegmentedCorpus<'_>,
    whom: impl Fn(Option<UserId>) -> bool,
) -> f64 {
    let asker = |answer: &Utterance<'_>| answer.reply.map(|asked| corpus.utterances[asked].features.author);
    let is_such = |answer: &Utterance<'_>| answer.is_ours && whom(asker(answer));
    let such = consensus.with(place).filter(|(other, _)| *other >= place && is_such(&corpus.utterances[*other]));
    such.map(|(_, share)| share).fold(0.0, f64::max)
}

/// Computes the features that depend on the trigger's words.
fn asking(tag: &TriggerFeatures<'_>, scene: &SegmentedCorpus<'_>, rows: &mut [FocusFeatures]) {
    let SegmentedCorpus { corpus, consensus } = scene;
    let meanings = Meanings::of(corpus);
    let of_segments = meanings.of_segments(consensus);
    let rarest = rarest_words(tag, scene);
    let meaning = meanings.centred(&tag.utterance.features.vector);
    let (alike, segment_alike) = (meanings.cosines(&meaning), of_segments.cosines(&meaning));
    for (place, values) in rows.iter_mut().enumerate() {
        let utterance = &corpus.utterances[place];
        values[WORDS..].copy_from_slice(&[
            f64::from(utterance.features.is_question),
            f64::from(tag.mentions.contains(&utterance.features.author)),
            rarest[place] / 5.0,
            alike[place],
            segment_alike[place],
            f64::from(utterance.features.days.iter().any(|day| tag.utterance.features.days.contains(day))),
            f64::from(tag.utterance.features.days.contains(&((utterance.at / 86_400.0) as i32))),
            f64::from(utterance.features.calls_bot),
        ]);
    }
}

/// Returns, for each candidate, the idf of the trigger's rarest word in its segment, times the probability (by the
/// forests) that the word is in that segment.
fn rarest_words(
    tag: &TriggerFeatures<'_>,
    SegmentedCorpus { corpus, consensus, .. }: &SegmentedCorpus<'_>,
) -> Vec<f64> {
    let count = corpus.utterances.len();
    let mut rarest = vec![0.0_f64; count];
    for number in tag.utterance.features.stems.iter().filter_map(|stem| corpus.numbers.get(stem)) {
        let rarity = rarity(count + 1, f64::from(corpus.spread[*number as usize]) + 1.0);
        let holders = (0..count).filter(|place| corpus.stems[*place].contains(number));
        let present = consensus.gathered(holders.map(|place| (place, 1.0)));
        rarest.iter_mut().zip(present).for_each(|(most, present)| *most = most.max(present.min(1.0) * rarity));
    }
    rarest
}

/// Returns `ln(1 + minutes)` for a time in seconds, at most 7.
pub fn log_minutes(seconds: f64) -> f64 {
    /// Number of seconds above which the result is 7. This saves the logarithm for most pairs of a slow chat.
    const FURTHEST: f64 = 65_738.0;
    if seconds > FURTHEST { 7.0 } else { (seconds / 60.0).ln_1p().min(7.0) }
}
