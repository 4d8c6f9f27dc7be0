//! Which candidate does a tag point at? The features of each, and a distribution over all of them.
//!
//! A tag without words points at a talk that is under way or was left open; one with words asks about its words.

use crate::context::contributions::Column;
use crate::context::features::corpus::{Corpus, Utterance};
use crate::context::index_set::IndexSet;
use crate::context::linear::Terms;
use crate::context::relatedness::neighborhood::Meanings;
use crate::context::replies::similarity::dot;
use crate::context::strands::Consensus;

pub const FEATURES: usize = 36;
/// In the order of their places. What is read off the tag's words begins at [`WORDS`].
pub const NAMES: [&str; FEATURES] = [
    "reply_log_odds",
    "reply_probability",
    "segment_reply_odds",
    "minutes_since",
    "messages_since",
    "longest_silence",
    "in_newest_segment",
    "in_askers_newest_segment",
    "in_askers_segments",
    "open_question",
    "by_bot",
    "bot_answered_since",
    "distinct_stems",
    "length",
    "after_lull_askers_segment",
    "after_lull_newest_segment",
    "in_time_gap_cluster",
    "is_question",
    "by_asker",
    "asker_named_nearby",
    "word_cosine",
    "rarest_shared_word",
    "segment_coverage",
    "coverage_below_best",
    "meaning_cosine",
    "segment_meaning_cosine",
    "author_named",
    "coverage_within_2",
    "meaning_within_1",
    "coverage_within_5",
    "coverage_with_replies",
    "meaning_within_4",
    "names_same_day",
    "sent_on_named_day",
    "tags_bot",
    "number_asked_for",
];
/// Where the features of a tag's words begin: a bare tag has those before.
pub const WORDS: usize = 17;
const TLEX: usize = 20;
const TMAX: usize = 21;
const TCOV: usize = 22;
const TCOVR: usize = 23;
const TEMB: usize = 24;
const WORDS_NEAR: usize = 27;
const MEANING_NEAR: usize = 28;
const WORDS_WIDE: usize = 29;
const WORDS_LINKED: usize = 30;

/// Seconds of silence before a tag after which nobody is in the middle of anything.
const LULL: f64 = 3600.0;

/// What is known of a tag.
pub struct Tag<'a> {
    pub utterance: Utterance<'a>,
    /// How likely it goes on from each candidate, by stage one.
    pub links: Vec<f64>,
    /// How long the silence before it was for this chat, as [`Corpus::silences`].
    pub silence: f64,
    pub is_reply: bool,
    pub is_tag: bool,
    /// It says too little to go by.
    pub is_bare: bool,
    /// Words of it that are common here were left out beside a rarer one.
    pub is_narrowed: bool,
    /// It asks for a number or a time.
    pub wants_number: bool,
    /// How many of the newest candidates no long silence separates from it.
    pub cluster: usize,
}

/// The candidates and what hangs together among them.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub corpus: &'a Corpus<'a>,
    pub consensus: &'a Consensus,
    pub meanings: &'a Meanings,
    /// The meanings of whole segments.
    pub gathered: &'a Meanings,
}

/// How likely the tag points at each candidate; sums to 1.
pub fn targets(tag: &Tag<'_>, rows: &[Values], terms: &Terms<FEATURES>) -> Vec<f64> {
    if tag.is_reply {
        // Whom it replies to is known, all but surely.
        let sum: f64 = tag.links.iter().sum::<f64>().max(1e-9);
        return tag.links.iter().map(|link| link / sum).collect();
    }
    let scores: Vec<f64> = rows.iter().map(|values| terms.score(values)).collect();
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|score| (score - highest).exp()).sum();
    scores.iter().map(|score| (score - highest).exp() / sum).collect()
}

/// What each feature of a candidate is, and what it adds to the score of the tag's hanging on it.
pub fn focus_columns(rows: &[Values], terms: &Terms<FEATURES>) -> Vec<Column> {
    let parts: Vec<Values> = rows.iter().map(|values| terms.parts(values)).collect();
    let column = |(place, name): (usize, &&str)| Column {
        name: format!("tag.{name}"),
        rows: rows.iter().zip(&parts).map(|(values, parts)| (values[place], parts[place])).collect(),
    };
    NAMES.iter().enumerate().map(column).collect()
}

pub type Values = [f64; FEATURES];

/// The features of each candidate.
pub fn features(tag: &Tag<'_>, scene: Scene<'_>) -> Vec<Values> {
    let mut rows = pointing(tag, scene);
    if !tag.is_bare {
        asking(tag, scene, &mut rows);
    }
    rows
}

/// How well a tag's words are met where they are met best.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BestMatch {
    /// Cosine with the words of one message.
    pub words: f64,
    /// Rarity of the rarest word in a burst.
    pub rarest: f64,
    /// The share of the words in a message and those beside it, the rare ones heavier.
    pub words_near: f64,
    /// Cosine of the meanings, of one message and of a message with those beside it.
    pub meaning: f64,
    pub meaning_near: f64,
    /// The share of the words in a message and the five on either side.
    pub words_wide: f64,
}

/// The best of what [`features`] says of the tag's words.
pub fn best_match(rows: &[Values]) -> BestMatch {
    let best = |place: usize| rows.iter().map(|values| values[place]).fold(0.0, f64::max);
    BestMatch {
        words: best(TLEX),
        rarest: best(TMAX),
        words_near: best(WORDS_NEAR),
        meaning: best(TEMB),
        meaning_near: best(MEANING_NEAR),
        words_wide: best(WORDS_WIDE),
    }
}

/// Which candidates have none of a tag's words, neither in their segment nor by a reply, where words were left out beside a
/// rarer one: what is only common here does not outweigh that.
pub fn lack_words(tag: &Tag<'_>, rows: &[Values]) -> Vec<bool> {
    let best = rows.iter().map(|values| values[TCOV]).fold(0.0, f64::max);
    let lacks = |values: &Values| values[TCOV] < best / 2.0 && values[WORDS_LINKED] == 0.0;
    rows.iter().map(|values| tag.is_narrowed && !tag.is_bare && !tag.is_reply && lacks(values)).collect()
}

/// What does not depend on the tag's words.
fn pointing(tag: &Tag<'_>, scene: Scene<'_>) -> Vec<Values> {
    let Scene { corpus, consensus, .. } = scene;
    let count = corpus.utterances.len();
    let Some(last) = count.checked_sub(1) else { return Vec::new() };
    let own = |place: &usize| corpus.authors[*place] == corpus.asker;
    let newest_own = (0..count).rfind(own);
    let mass = consensus.gathered(tag.links.iter().copied().enumerate());
    let among = consensus.gathered((0..count).filter(own).map(|place| (place, 1.0)));
    let lull = flag(tag.utterance.at - corpus.utterances[last].at > LULL);
    let row = |place: usize| {
        let utterance = &corpus.utterances[place];
        let (link, with_last, with_own) = (tag.links[place], consensus.share(last, place), among[place].min(1.0));
        let mut values = [0.0; FEATURES];
        values[..WORDS].copy_from_slice(&[
            // How likely the tag goes on from it, by stage one.
            (link + 0.003).ln(),
            link,
            // The same for its whole segment.
            (mass[place] + 0.01).ln(),
            // Minutes and messages since.
            minutes(tag.utterance.at - utterance.at),
            ((count - place) as f64).ln(),
            // The longest silence since, for this chat.
            corpus.silences.between(place + 1, count).max(tag.silence),
            // It is of the burst that was last, of the one that who asks spoke in last, of any that they spoke in.
            with_last,
            newest_own.map_or(0.0, |newest| consensus.share(newest, place)),
            with_own,
            // A question that nobody else has answered.
            open_question(place, scene),
            // The bot said it; the bot has answered in this burst since.
            flag(utterance.is_ours),
            answered(place, scene),
            // How much it says.
            (utterance.stems.len() as f64).ln_1p(),
            (utterance.chars as f64).ln_1p(),
            // After a long silence the last burst and one's own count differently.
            lull * with_own,
            lull * with_last,
            // No long silence lies between it and the tag.
            flag(place + tag.cluster >= count),
        ]);
        values
    };
    (0..count).map(row).collect()
}

/// 1 for a question without an answer, less where others spoke after it in its burst, 0 for what is no question.
fn open_question(place: usize, Scene { corpus, consensus, .. }: Scene<'_>) -> f64 {
    if !corpus.utterances[place].is_question {
        return 0.0;
    }
    let others =
        consensus.with(place).filter(|(other, _)| *other > place && corpus.authors[*other] != corpus.authors[place]);
    (1.0 - others.map(|(_, share)| share).sum::<f64>()).max(0.0)
}

/// How surely the bot spoke in the burst of a candidate, there or later.
fn answered(place: usize, Scene { corpus, consensus, .. }: Scene<'_>) -> f64 {
    let ours = consensus.with(place).filter(|(other, _)| *other >= place && corpus.utterances[*other].is_ours);
    ours.map(|(_, share)| share).fold(0.0, f64::max)
}

/// What the tag's words say of each candidate, and who is asked.
fn asking(tag: &Tag<'_>, scene: Scene<'_>, rows: &mut [Values]) {
    let Scene { corpus, consensus, meanings, gathered } = scene;
    let count = corpus.utterances.len();
    let named = |place: &usize| corpus.mentions[*place].contains(&corpus.asker);
    let names_asker = consensus.gathered((0..count).filter(named).map(|place| (place, 1.0)));
    let words = words(tag, scene);
    let meaning = meanings.centred(tag.utterance.vector);
    let length = f64::from(dot(&meaning, &meaning).sqrt());
    let alike = |meanings: &Meanings, place: usize| {
        f64::from(dot(meanings.vector(place), &meaning)) / (length + 1e-9) / meanings.length(place).max(1e-6)
    };
    for (place, values) in rows.iter_mut().enumerate() {
        let Covered { cosine, rarest, share, near, wide, linked } = words[place];
        let utterance = &corpus.utterances[place];
        values[WORDS..].copy_from_slice(&[
            flag(utterance.is_question),
            flag(corpus.authors[place] == corpus.asker),
            // Somebody in its burst speaks to who asks.
            names_asker[place].min(1.0),
            cosine,
            rarest / 5.0,
            share,
            // Set below, when the best of all is known.
            0.0,
            // How much it, and its whole segment, means what the tag means.
            alike(meanings, place),
            alike(gathered, place),
            // Its author is named.
            flag(tag.utterance.mentions.contains(&utterance.author)),
            // How much of the words it and those beside it have, and what they mean together.
            near,
            mean_cosine((&meaning, length), scene, place, (1, 0.5)),
            // The same of all that was said about then, and of what replies link it with.
            wide,
            linked,
            mean_cosine((&meaning, length), scene, place, (4, 1.0)),
            // It names a day that the tag names, or was said on one.
            flag(utterance.days.iter().any(|day| tag.utterance.days.contains(day))),
            flag(tag.utterance.days.contains(&((utterance.at / 86_400.0) as i32))),
            flag(utterance.calls_bot),
            // A number or a time, where the tag asks for one.
            flag(tag.wants_number && corpus.stems[place].iter().any(|stem| corpus.digits[*stem])),
        ]);
    }
    let best = rows.iter().map(|values| values[TCOV]).fold(0.0, f64::max);
    rows.iter_mut().for_each(|values| values[TCOVR] = values[TCOV] - best);
}

/// Cosine of a tag's meaning with that of a candidate and, each at a share, those beside it.
fn mean_cosine(
    (meaning, length): (&[f32], f64),
    Scene { meanings, corpus, .. }: Scene<'_>,
    place: usize,
    (reach, share): (usize, f32),
) -> f64 {
    let mut sum: Vec<f32> = meanings.vector(place).to_vec();
    for other in (1..=reach).flat_map(|distance| beside(place, distance, corpus.utterances.len())) {
        sum.iter_mut().zip(meanings.vector(other)).for_each(|(sum, value)| *sum += share * value);
    }
    f64::from(dot(&sum, meaning)) / (length + 1e-9) / f64::from(dot(&sum, &sum).sqrt()).max(1e-6)
}

/// The places at a distance of a candidate.
fn beside(place: usize, distance: usize, count: usize) -> impl Iterator<Item = usize> {
    [place.checked_sub(distance), Some(place + distance)].into_iter().flatten().filter(move |other| *other < count)
}

/// The tag's words at a candidate.
#[derive(Clone, Copy, Default)]
struct Covered {
    /// With the candidate's own words.
    cosine: f64,
    /// Rarity of the rarest word that its segment has.
    rarest: f64,
    /// The share of the words that its segment has, the rare ones heavier.
    share: f64,
    /// The same share, of the candidate and the two messages on either side.
    near: f64,
    /// Of the candidate and five on either side.
    wide: f64,
    /// Of the candidate, what it replies to, and what replies to it.
    linked: f64,
}

/// What a word counts that is said two messages away.
const FURTHER: f64 = 0.8;
/// Messages on either side that are about as old as a candidate.
const WIDE: usize = 5;

fn words(tag: &Tag<'_>, scene: Scene<'_>) -> Vec<Covered> {
    let Scene { corpus, consensus, .. } = scene;
    let count = corpus.utterances.len();
    let mut covered = vec![Covered::default(); count];
    let (mut sum, mut square) = (1e-9, 1e-9_f64);
    for stem in tag.utterance.stems {
        let number = corpus.numbers.get(stem).copied();
        let spread = number.map_or(0.0, |number| f64::from(corpus.spread[number]));
        let rarity = ((count as f64 + 21.0) / (spread + 1.5)).ln();
        sum += rarity;
        square += rarity * rarity;
        let Some(number) = number else { continue };
        let holders = IndexSet::of((0..count).filter(|place| corpus.stems[*place].contains(&number)));
        holders.places().for_each(|place| covered[place].cosine += rarity * rarity);
        let near = |place: usize| -> f64 {
            let at = |distance: usize| beside(place, distance, count).any(|other| holders.contains(other));
            if holders.contains(place) || at(1) {
                1.0
            } else if at(2) {
                FURTHER
            } else {
                0.0
            }
        };
        let wide = IndexSet::of(holders.places().flat_map(|at| at.saturating_sub(WIDE)..(at + WIDE + 1).min(count)));
        let replies = corpus.utterances.iter().enumerate().filter_map(|(at, utterance)| Some((at, utterance.reply?)));
        let linked = IndexSet::of(holders.places().chain(replies.flat_map(|(at, parent)| {
            [(at, parent), (parent, at)].into_iter().filter(|(from, _)| holders.contains(*from)).map(|(_, to)| to)
        })));
        for (place, covered) in covered.iter_mut().enumerate() {
            covered.near += near(place) * rarity;
            covered.wide += flag(wide.contains(place)) * rarity;
            covered.linked += flag(linked.contains(place)) * rarity;
        }
        let present = consensus.gathered(holders.places().map(|place| (place, 1.0)));
        for (covered, present) in covered.iter_mut().zip(present) {
            let present = present.min(1.0);
            covered.rarest = covered.rarest.max(present * rarity);
            covered.share += present * rarity;
        }
    }
    for (covered, stems) in covered.iter_mut().zip(&corpus.stems) {
        let length = stems.iter().map(|stem| corpus.idf[*stem].powi(2)).sum::<f64>().sqrt();
        covered.cosine /= length.max(1e-6) * square.sqrt();
        covered.share /= sum;
        covered.near /= sum;
        covered.wide /= sum;
        covered.linked /= sum;
    }
    covered
}

/// ln(1 + minutes), up to what was seen in training.
pub fn minutes(seconds: f64) -> f64 {
    /// Where the logarithm comes to what is the most: most pairs of a slow chat are further apart.
    const FURTHEST: f64 = 65_738.0;
    if seconds > FURTHEST { 7.0 } else { (seconds / 60.0).ln_1p().min(7.0) }
}

pub fn flag(is: bool) -> f64 {
    if is { 1.0 } else { 0.0 }
}
