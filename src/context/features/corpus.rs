//! The candidates made ready: people and stems as small numbers, so that counting is indexing.

use crate::context::features::lexical::rarity;
use crate::context::features::token::{Quick, Token};
use crate::domain::UserId;

/// A message as this room sees it.
#[derive(Debug, Clone)]
pub struct Utterance<'a> {
    /// Unix seconds.
    pub at: f64,
    pub author: UserId,
    /// Whether the bot itself said it.
    pub is_ours: bool,
    /// Each once.
    pub stems: &'a [Token],
    pub is_question: bool,
    /// Length of its text.
    pub chars: usize,
    /// Of unit length, or empty.
    pub vector: &'a [f32],
    /// Index of the candidate that it replies to.
    pub reply: Option<usize>,
    /// The days that it names, ascending.
    pub days: &'a [i32],
    /// It calls a bot by its name.
    pub calls_bot: bool,
}

/// Everything that does not change from forest to forest.
#[derive(Debug)]
pub struct Corpus<'a> {
    pub utterances: Vec<Utterance<'a>>,
    /// Authors as numbers from 0.
    pub authors: Vec<usize>,
    pub people: usize,
    /// The numbers of the stems.
    pub numbers: Quick<Token, usize>,
    /// Stems of each utterance as numbers from 0.
    pub stems: Vec<Vec<usize>>,
    /// In how many utterances each stem is.
    pub spread: Vec<u16>,
    pub idf: Vec<f64>,
    /// Remarks of each author.
    pub spoken: Vec<f64>,
    /// How often the bot spoke before each utterance.
    pub answers: Vec<usize>,
    /// How long the silence before each utterance was for this chat: `-ln(1.02 - q)`.
    pub silences: Vec<f64>,
    /// 0 in a busy chat, 1 where a quarter of an hour between messages is usual.
    pub slowness: f64,
}

impl<'a> Corpus<'a> {
    /// `utterances` are the candidates, oldest first.
    pub fn new(utterances: Vec<Utterance<'a>>, silences: Vec<f64>, slowness: f64) -> Self {
        let mut people: Quick<UserId, usize> = Quick::default();
        let authors: Vec<usize> = utterances
            .iter()
            .map(|utterance| {
                let next = people.len();
                *people.entry(utterance.author).or_insert(next)
            })
            .collect();
        let (numbers, stems, spread) = numbered(&utterances);
        let idf = spread.iter().map(|holding| rarity(utterances.len(), f64::from(*holding))).collect();
        let mut spoken = vec![0.0; people.len()];
        authors.iter().for_each(|author| spoken[*author] += 1.0);
        let people = people.len();
        let answers = utterances.iter().scan(0, |answers, utterance| {
            let before = *answers;
            *answers += usize::from(utterance.is_ours);
            Some(before)
        });
        let answers = answers.collect();
        Self { answers, utterances, authors, people, numbers, stems, spread, idf, spoken, silences, slowness }
    }
}

/// Stems as numbers from 0, those of each utterance, and in how many utterances each is.
fn numbered(utterances: &[Utterance<'_>]) -> (Quick<Token, usize>, Vec<Vec<usize>>, Vec<u16>) {
    let mut numbers: Quick<Token, usize> = Quick::default();
    let mut spread: Vec<u16> = Vec::new();
    let stems = utterances
        .iter()
        .map(|utterance| {
            let numbered = utterance.stems.iter().map(|stem| {
                let number = *numbers.entry(*stem).or_insert(spread.len());
                match spread.get_mut(number) {
                    Some(count) => *count += 1,
                    None => spread.push(1),
                }
                number
            });
            numbered.collect()
        })
        .collect();
    (numbers, stems, spread)
}
