//! What is looked for further back.

use std::sync::Arc;

use crate::context::features::lexical;
use crate::context::features::lexical::{stems, stems_of_name, words_of};
use crate::context::features::message::MessageFeatures;
use crate::context::features::token::{Quick, QuickSet, Token};
use crate::domain::{Seq, StoredMessage, UserId};

/// Words that are searched for. Each costs a look into the index.
const WORDS: usize = 8;
/// A word of the ask itself tells so much more than one of a message that was picked.
const ASKED: f64 = 2.0;

/// What was said and picked before anybody looks further back.
pub struct About<'a> {
    pub trigger: &'a StoredMessage,
    /// The trigger's words without the bot's name.
    pub ask: &'a str,
    /// The candidates, oldest first, and what was read off them.
    pub candidates: &'a [&'a StoredMessage],
    pub readings: &'a [Arc<MessageFeatures>],
    /// Places of those that were picked, and how likely each belongs there, 0 to 1.
    pub picked: &'a [(usize, f64)],
    /// Nothing from here on is further back.
    pub before: Seq,
}

/// A word that is searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct Word {
    pub text: String,
    /// How sure it is that it is of the matter: 1 for one that was said once by a message that surely is.
    pub weight: f64,
}

/// What is looked for in all that is older than the candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct Sought {
    /// To be searched for, the most telling first.
    pub words: Vec<Word>,
    /// Nothing from here on is further back.
    pub before: Seq,
    pub asker: UserId,
    /// Who wrote what was picked, and how likely it belongs there.
    pub authors: Quick<UserId, f64>,
    /// The stems of all that, each as heavy as it is rare among the candidates and often said here.
    stems: Quick<Token, f64>,
    length: f64,
    /// How alike words are here anyway.
    background: f64,
    /// How heavy a stem is that no candidate has.
    unread: f64,
    rarity: Quick<Token, f64>,
}

impl Sought {
    /// None where there is nothing to go by.
    pub fn of(about: &About<'_>) -> Option<Self> {
        let picked =
            || about.picked.iter().map(|(place, share)| (about.candidates[*place], &about.readings[*place], *share));
        let names = names(about);
        let asked: Vec<Token> = stems(about.ask).into_iter().filter(|stem| !names.contains(stem)).collect();
        let mut said: Quick<Token, f64> = asked.iter().map(|stem| (*stem, 1.0)).collect();
        for (_, reading, share) in picked() {
            for stem in reading.stems.iter().filter(|stem| !names.contains(stem)) {
                *said.entry(*stem).or_default() += share;
            }
        }
        let rarity = rarity(about.readings, &said);
        let weight = |stem: &Token, times: f64| rarity[stem] * damped(times);
        let stems: Quick<Token, f64> = said.iter().map(|(stem, times)| (*stem, weight(stem, *times))).collect();
        let weight = |stem: &Token, times: f64| damped(times) * if asked.contains(stem) { ASKED } else { 1.0 };
        let weights: Quick<Token, f64> = said.iter().map(|(stem, times)| (*stem, weight(stem, *times))).collect();
        let of_picked = picked().map(|(stored, reading, _)| (stored.message.text.as_str(), reading.stems.as_slice()));
        let words = most_telling(std::iter::once((about.ask, &asked[..])).chain(of_picked), &weights, &rarity);
        if words.is_empty() {
            return None;
        }
        let mut sought = Self {
            words,
            before: about.before,
            asker: about.trigger.message.sender.id,
            authors: authors(picked().map(|(stored, _, share)| (stored.message.sender.id, share))),
            length: length(stems.values().copied()),
            unread: lexical::rarity(about.readings.len(), 0.0),
            rarity,
            stems,
            background: 0.0,
        };
        sought.background = sought.background(about);
        Some(sought)
    }

    /// How alike the words usually are of a few messages in a row that were not picked.
    fn background(&self, about: &About<'_>) -> f64 {
        /// As many as are read of a span, about.
        const IN_A_ROW: usize = 5;
        /// So many are enough to tell.
        const ROWS: usize = 12;
        let others: Vec<&[Token]> = (about.readings.iter().enumerate())
            .filter(|(place, _)| !about.picked.iter().any(|(picked, _)| picked == place))
            .map(|(_, reading)| reading.stems.as_slice())
            .collect();
        let rows = others.rchunks_exact(IN_A_ROW).take(ROWS);
        let count = rows.len();
        rows.map(|row| self.words_alike(row.iter().copied())).sum::<f64>() / count.max(1) as f64
    }

    /// How much more alike the words are of what was said there than those of what was not picked usually are.
    pub fn words_shared<'a>(&self, there: impl Iterator<Item = &'a [Token]>) -> f64 {
        self.words_alike(there) - self.background
    }

    /// How alike the words are, each with how many of these messages say it: a cosine.
    fn words_alike<'a>(&self, there: impl Iterator<Item = &'a [Token]>) -> f64 {
        let mut said: Vec<Token> = there.flatten().copied().collect();
        said.sort_unstable();
        let weight = |stem, times: usize| self.rarity.get(stem).unwrap_or(&self.unread) * damped(times as f64);
        let (mut product, mut square) = (0.0, 0.0);
        for times in said.chunk_by(PartialEq::eq) {
            let weight = weight(&times[0], times.len());
            product += self.stems.get(&times[0]).unwrap_or(&0.0) * weight;
            square += weight * weight;
        }
        product / (self.length * square.sqrt()).max(1e-6)
    }
}

fn authors(of: impl Iterator<Item = (UserId, f64)>) -> Quick<UserId, f64> {
    let mut authors: Quick<UserId, f64> = Quick::default();
    for (author, share) in of {
        let known = authors.entry(author).or_default();
        *known = known.max(share);
    }
    authors
}

/// What a word counts that was said so often, or so likely.
fn damped(times: f64) -> f64 {
    if times < 1.0 { times } else { 1.0 + times.ln() }
}

/// What the people here are called: a name is no matter.
fn names(about: &About<'_>) -> QuickSet<Token> {
    let people = about.candidates.iter().copied().chain([about.trigger]).map(|stored| &stored.message.sender);
    let mut seen = QuickSet::default();
    let new = people.filter(|sender| seen.insert(sender.id));
    let called = new.flat_map(|sender| [Some(sender.name.as_str()), sender.username.as_deref()]).flatten();
    called.flat_map(stems_of_name).collect()
}

/// How rare each stem is among the candidates.
fn rarity(readings: &[Arc<MessageFeatures>], of: &Quick<Token, f64>) -> Quick<Token, f64> {
    let mut holding: Quick<Token, f64> = of.keys().map(|stem| (*stem, 0.0)).collect();
    for stem in readings.iter().flat_map(|reading| &reading.stems) {
        if let Some(count) = holding.get_mut(stem) {
            *count += 1.0;
        }
    }
    holding.into_iter().map(|(stem, count)| (stem, lexical::rarity(readings.len(), count))).collect()
}

/// The words of `texts`, each with its stems, that tell most, each stem once.
fn most_telling<'a>(
    texts: impl Iterator<Item = (&'a str, &'a [Token])>,
    weights: &Quick<Token, f64>,
    rarity: &Quick<Token, f64>,
) -> Vec<Word> {
    let telling = |stem: &Token| weights[stem] * rarity[stem];
    let mut most: Vec<f64> = weights.keys().map(telling).collect();
    most.sort_by(|a, b| b.total_cmp(a));
    let least = most.get(WORDS - 1).copied().unwrap_or(f64::NEG_INFINITY);
    // Only these are looked up in the texts: reading words takes longer than all the rest.
    let mut wanted: QuickSet<Token> = weights.keys().copied().filter(|stem| telling(stem) >= least).collect();
    let mut words: Vec<(f64, Word)> = Vec::new();
    for (text, stems) in texts {
        if stems.iter().any(|stem| wanted.contains(stem)) {
            let found = words_of(text).into_iter().filter(|(stem, _)| wanted.remove(stem));
            words.extend(found.map(|(stem, text)| (telling(&stem), Word { text, weight: weights[&stem] })));
        }
    }
    words.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.text.cmp(&b.1.text)));
    words.into_iter().take(WORDS).map(|(_, word)| word).collect()
}

fn length(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}
