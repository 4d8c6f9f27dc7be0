//! Candidates with authors and stems replaced by small numbers, so that counts are arrays.

use std::hash::Hash;

use crate::context::features::lexical::rarity;
use crate::context::features::message::MessageFeatures;
use crate::context::features::token::{Quick, Token};

/// Number of a stem in a [`Corpus`], in four bytes, since segments store very many.
pub type StemId = u32;

#[derive(Debug, Clone)]
pub struct Utterance<'a> {
    /// Time of sending, in Unix seconds.
    pub at: f64,
    /// `true` if the bot wrote it.
    pub is_ours: bool,
    /// Index of the candidate that it replies to by a reply link.
    pub reply: Option<usize>,
    pub features: &'a MessageFeatures,
}

/// Candidates, oldest first, with statistics over all of them.
#[derive(Debug)]
pub struct Corpus<'a> {
    pub utterances: Vec<Utterance<'a>>,
    /// The author of each utterance, as a number from 0.
    pub authors: Vec<usize>,
    /// Number of each stem, from 0 in the order of first occurrence.
    pub numbers: Quick<Token, StemId>,
    /// Stems of each utterance, by their numbers.
    pub stems: Vec<Vec<StemId>>,
    /// Number of utterances that have each stem.
    pub spread: Vec<u16>,
    pub idf: Vec<f64>,
    /// Number of utterances of each author.
    pub spoken: Vec<u16>,
    /// Number of the bot's utterances before each utterance. If it differs between two utterances, the bot has answered
    /// in between.
    pub answers: Vec<usize>,
    /// Slowness of the chat: 0 if two minutes or less lie between messages on average, 1 from a quarter of an hour on.
    pub slowness: f64,
}

impl<'a> Corpus<'a> {
    pub fn new(utterances: Vec<Utterance<'a>>, slowness: f64) -> Self {
        let (mut people, mut numbers) = (Quick::default(), Quick::default());
        let (mut spoken, mut spread) = (Vec::new(), Vec::new());
        let (mut authors, mut stems, mut answers, mut answered) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for Utterance { features, is_ours, .. } in &utterances {
            authors.push(counted(&mut people, features.author, &mut spoken) as usize);
            stems.push(features.stems.iter().map(|stem| counted(&mut numbers, *stem, &mut spread)).collect());
            answers.push(answered);
            answered += usize::from(*is_ours);
        }
        let idf = spread.iter().map(|holding| rarity(utterances.len(), f64::from(*holding))).collect();
        Self { utterances, authors, numbers, stems, spread, idf, spoken, answers, slowness }
    }
}

/// Returns the number of `met`, and adds 1 to its count in `counts`. Numbers are given from 0 in the order of first
/// occurrence.
fn counted<K: Eq + Hash>(numbers: &mut Quick<K, u32>, met: K, counts: &mut Vec<u16>) -> u32 {
    let number = *numbers.entry(met).or_insert(counts.len() as u32);
    if number as usize == counts.len() {
        counts.push(0);
    }
    counts[number as usize] += 1;
    number
}
