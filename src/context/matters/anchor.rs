//! Which candidate does a tag hang on? The features of each, and a distribution over all of them.
//!
//! A tag without words points at a talk that is under way or was left open; one with words asks about its words.

use crate::context::explain::Column;
use crate::context::links::dot;
use crate::context::matters::bursts::Meanings;
use crate::context::matters::ground::{Ground, Remark};
use crate::context::matters::together::Together;
use crate::context::matters::weights::TagWeights;
use crate::context::places::PlaceSet;

pub const FEATURES: usize = 28;
/// In the order of their places. What is read off the tag's words begins at `WORDS`.
pub const NAMES: [&str; FEATURES] = [
    "logL",
    "L1",
    "mass",
    "ldt",
    "ld",
    "mq",
    "lastburst",
    "lastown",
    "ain",
    "qopen",
    "bot",
    "botlast",
    "nst",
    "len",
    "lull*ain",
    "lull*last",
    "isq",
    "sameauth",
    "menM",
    "tlex",
    "tmax",
    "tcov",
    "tcovr",
    "temb",
    "tembs",
    "named",
    "words_near",
    "meaning_near",
];
const WORDS: usize = 16;
const TLEX: usize = 19;
const TMAX: usize = 20;
const TCOV: usize = 21;
const TCOVR: usize = 22;
const TEMB: usize = 23;
const WORDS_NEAR: usize = 26;
const MEANING_NEAR: usize = 27;

/// Seconds of silence before a tag after which nobody is in the middle of anything.
const LULL: f64 = 3600.0;

/// What is known of a tag.
pub struct Tag<'a> {
    pub remark: Remark<'a>,
    /// How likely it goes on from each candidate, by stage one.
    pub links: Vec<f64>,
    /// How long the silence before it was for this chat, as [`Ground::silences`].
    pub silence: f64,
    pub is_reply: bool,
    /// It says too little to go by.
    pub is_bare: bool,
}

/// The candidates and what hangs together among them.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub ground: &'a Ground<'a>,
    pub together: &'a Together,
    pub meanings: &'a Meanings,
    /// The meanings of whole fragments.
    pub gathered: &'a Meanings,
}

/// How likely the tag hangs on each candidate; sums to 1.
pub fn anchors(tag: &Tag<'_>, rows: &[Values], weights: &TagWeights) -> Vec<f64> {
    if tag.is_reply {
        // Whom it replies to is known, all but surely.
        let sum: f64 = tag.links.iter().sum::<f64>().max(1e-9);
        return tag.links.iter().map(|link| link / sum).collect();
    }
    let terms = if tag.is_bare { &weights.anchor_bare } else { &weights.anchor_text };
    let scores: Vec<f64> = rows.iter().map(|values| terms.score(values)).collect();
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|score| (score - highest).exp()).sum();
    scores.iter().map(|score| (score - highest).exp() / sum).collect()
}

/// What each feature of a candidate is, and what it adds to the score of the tag's hanging on it.
pub fn anchor_columns(tag: &Tag<'_>, rows: &[Values], weights: &TagWeights) -> Vec<Column> {
    let terms = if tag.is_bare { &weights.anchor_bare } else { &weights.anchor_text };
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
    }
}

/// What does not depend on the tag's words.
fn pointing(tag: &Tag<'_>, scene: Scene<'_>) -> Vec<Values> {
    let Scene { ground, together, .. } = scene;
    let count = ground.remarks.len();
    let Some(last) = count.checked_sub(1) else { return Vec::new() };
    let own = |place: &usize| ground.authors[*place] == ground.asker;
    let newest_own = (0..count).rfind(own);
    let mass = together.gathered(tag.links.iter().copied().enumerate());
    let among = together.gathered((0..count).filter(own).map(|place| (place, 1.0)));
    let lull = flag(tag.remark.at - ground.remarks[last].at > LULL);
    let row = |place: usize| {
        let remark = &ground.remarks[place];
        let (link, with_last, with_own) = (tag.links[place], together.share(last, place), among[place].min(1.0));
        let mut values = [0.0; FEATURES];
        values[..WORDS].copy_from_slice(&[
            // How likely the tag goes on from it, by stage one.
            (link + 0.003).ln(),
            link,
            // The same for its whole fragment.
            (mass[place] + 0.01).ln(),
            // Minutes and messages since.
            minutes(tag.remark.at - remark.at),
            ((count - place) as f64).ln(),
            // The longest silence since, for this chat.
            ground.silences.between(place + 1, count).max(tag.silence),
            // It is of the burst that was last, of the one that who asks spoke in last, of any that they spoke in.
            with_last,
            newest_own.map_or(0.0, |newest| together.share(newest, place)),
            with_own,
            // A question that nobody else has answered.
            open_question(place, scene),
            // The bot said it; the bot has answered in this burst since.
            flag(remark.is_ours),
            answered(place, scene),
            // How much it says.
            (remark.stems.len() as f64).ln_1p(),
            (remark.chars as f64).ln_1p(),
            // After a long silence the last burst and one's own count differently.
            lull * with_own,
            lull * with_last,
        ]);
        values
    };
    (0..count).map(row).collect()
}

/// 1 for a question without an answer, less where others spoke after it in its burst, 0 for what is no question.
fn open_question(place: usize, Scene { ground, together, .. }: Scene<'_>) -> f64 {
    if !ground.remarks[place].is_question {
        return 0.0;
    }
    let others =
        together.with(place).filter(|(other, _)| *other > place && ground.authors[*other] != ground.authors[place]);
    (1.0 - others.map(|(_, share)| share).sum::<f64>()).max(0.0)
}

/// How surely the bot spoke in the burst of a candidate, there or later.
fn answered(place: usize, Scene { ground, together, .. }: Scene<'_>) -> f64 {
    let ours = together.with(place).filter(|(other, _)| *other >= place && ground.remarks[*other].is_ours);
    ours.map(|(_, share)| share).fold(0.0, f64::max)
}

/// What the tag's words say of each candidate, and who is asked.
fn asking(tag: &Tag<'_>, scene: Scene<'_>, rows: &mut [Values]) {
    let Scene { ground, together, meanings, gathered } = scene;
    let count = ground.remarks.len();
    let named = |place: &usize| ground.mentions[*place].contains(&ground.asker);
    let names_asker = together.gathered((0..count).filter(named).map(|place| (place, 1.0)));
    let words = words(tag, scene);
    let meaning = meanings.centred(tag.remark.vector);
    let length = f64::from(dot(&meaning, &meaning).sqrt());
    let alike = |meanings: &Meanings, place: usize| {
        f64::from(dot(meanings.vector(place), &meaning)) / (length + 1e-9) / meanings.length(place).max(1e-6)
    };
    for (place, values) in rows.iter_mut().enumerate() {
        let Covered { cosine, rarest, share, near } = words[place];
        let remark = &ground.remarks[place];
        values[WORDS..].copy_from_slice(&[
            flag(remark.is_question),
            flag(ground.authors[place] == ground.asker),
            // Somebody in its burst speaks to who asks.
            names_asker[place].min(1.0),
            cosine,
            rarest / 5.0,
            share,
            // Set below, when the best of all is known.
            0.0,
            // How much it, and its whole fragment, means what the tag means.
            alike(meanings, place),
            alike(gathered, place),
            // Its author is named.
            flag(tag.remark.mentions.contains(&remark.author)),
            // How much of the words it and those beside it have, and what they mean together.
            near,
            meaning_near(&meaning, length, scene, place),
        ]);
    }
    let best = rows.iter().map(|values| values[TCOV]).fold(0.0, f64::max);
    rows.iter_mut().for_each(|values| values[TCOVR] = values[TCOV] - best);
}

/// Cosine of a tag's meaning with that of a candidate and half of the two beside it.
fn meaning_near(meaning: &[f32], length: f64, Scene { meanings, ground, .. }: Scene<'_>, place: usize) -> f64 {
    let mut sum: Vec<f32> = meanings.vector(place).to_vec();
    for other in beside(place, 1, ground.remarks.len()) {
        sum.iter_mut().zip(meanings.vector(other)).for_each(|(sum, value)| *sum += 0.5 * value);
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
    /// Rarity of the rarest word that its fragment has.
    rarest: f64,
    /// The share of the words that its fragment has, the rare ones heavier.
    share: f64,
    /// The same share, of the candidate and the two messages on either side.
    near: f64,
}

/// What a word counts that is said two messages away.
const FURTHER: f64 = 0.8;

fn words(tag: &Tag<'_>, scene: Scene<'_>) -> Vec<Covered> {
    let Scene { ground, together, .. } = scene;
    let count = ground.remarks.len();
    let mut covered = vec![Covered::default(); count];
    let (mut sum, mut square) = (1e-9, 1e-9_f64);
    for stem in tag.remark.stems {
        let number = ground.numbers.get(stem).copied();
        let spread = number.map_or(0.0, |number| f64::from(ground.spread[number]));
        let rarity = ((count as f64 + 21.0) / (spread + 1.5)).ln();
        sum += rarity;
        square += rarity * rarity;
        let Some(number) = number else { continue };
        let holders = PlaceSet::of((0..count).filter(|place| ground.stems[*place].contains(&number)));
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
        covered.iter_mut().enumerate().for_each(|(place, covered)| covered.near += near(place) * rarity);
        let present = together.gathered(holders.places().map(|place| (place, 1.0)));
        for (covered, present) in covered.iter_mut().zip(present) {
            let present = present.min(1.0);
            covered.rarest = covered.rarest.max(present * rarity);
            covered.share += present * rarity;
        }
    }
    for (covered, stems) in covered.iter_mut().zip(&ground.stems) {
        let length = stems.iter().map(|stem| ground.idf[*stem].powi(2)).sum::<f64>().sqrt();
        covered.cosine /= length.max(1e-6) * square.sqrt();
        covered.share /= sum;
        covered.near /= sum;
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
