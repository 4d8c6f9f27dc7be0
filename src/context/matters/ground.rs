//! The candidates made ready: people and stems as small numbers, so that counting is indexing.

use crate::context::matters::tables::{Logarithms, Maxima};
use crate::context::matters::words::has_digit;
use crate::context::token::{Quick, Token};
use crate::domain::UserId;

/// A message as this room sees it.
#[derive(Debug, Clone)]
pub struct Remark<'a> {
    /// Unix seconds.
    pub at: f64,
    pub author: UserId,
    /// Whether the bot itself said it.
    pub is_ours: bool,
    /// Whom it speaks to by name.
    pub mentions: &'a [UserId],
    /// Each once.
    pub stems: &'a [Token],
    pub is_question: bool,
    pub is_greeting: bool,
    /// Length of its text.
    pub chars: usize,
    /// Of unit length, or empty.
    pub vector: &'a [f32],
    /// Place of the candidate that it replies to.
    pub reply: Option<usize>,
}

/// Everything that does not change from world to world.
#[derive(Debug)]
pub struct Ground<'a> {
    pub remarks: Vec<Remark<'a>>,
    /// Authors as numbers from 0.
    pub authors: Vec<usize>,
    pub people: usize,
    /// The number of who asks.
    pub asker: usize,
    /// The numbers of the stems.
    pub numbers: Quick<Token, usize>,
    /// Stems of each remark as numbers from 0.
    pub stems: Vec<Vec<usize>>,
    /// In how many remarks each stem is.
    pub spread: Vec<u16>,
    pub idf: Vec<f64>,
    /// Whether the word of each stem has a digit.
    pub digits: Vec<bool>,
    /// Remarks of each author.
    pub spoken: Vec<f64>,
    /// Who is mentioned by each remark, of those who have spoken and who asks.
    pub mentions: Vec<Vec<usize>>,
    /// How long the silence before each remark was for this chat: `-ln(1.02 - q)`.
    pub silences: Maxima,
    pub logarithms: Logarithms,
    /// 0 in a busy chat, 1 where a quarter of an hour between messages is usual.
    pub slowness: f64,
}

impl<'a> Ground<'a> {
    /// `remarks` are the candidates, oldest first; the trigger follows them when its own words count. `asked_by` is always
    /// counted among the people.
    pub fn new(remarks: Vec<Remark<'a>>, silences: &[f64], asked_by: UserId, slowness: f64) -> Self {
        let mut people: Quick<UserId, usize> = Quick::default();
        let authors: Vec<usize> = remarks
            .iter()
            .map(|remark| {
                let next = people.len();
                *people.entry(remark.author).or_insert(next)
            })
            .collect();
        let next = people.len();
        let asker = *people.entry(asked_by).or_insert(next);
        let mentions = remarks
            .iter()
            .map(|remark| remark.mentions.iter().filter_map(|id| people.get(id).copied()).collect())
            .collect();
        let (numbers, stems, spread) = numbered(&remarks);
        let mut digits = vec![false; spread.len()];
        numbers.iter().for_each(|(stem, number)| digits[*number] = has_digit(*stem));
        let count = remarks.len() as f64;
        let idf = spread.iter().map(|in_remarks| ((count + 20.0) / (f64::from(*in_remarks) + 0.5)).ln()).collect();
        let mut spoken = vec![0.0; people.len()];
        authors.iter().for_each(|author| spoken[*author] += 1.0);
        let (silences, logarithms) = (Maxima::of(silences), Logarithms::up_to(remarks.len() + 1));
        let people = people.len();
        Self {
            remarks,
            authors,
            people,
            asker,
            numbers,
            stems,
            spread,
            idf,
            digits,
            spoken,
            mentions,
            silences,
            logarithms,
            slowness,
        }
    }
}

/// Stems as numbers from 0, those of each remark, and in how many remarks each is.
fn numbered(remarks: &[Remark<'_>]) -> (Quick<Token, usize>, Vec<Vec<usize>>, Vec<u16>) {
    let mut numbers: Quick<Token, usize> = Quick::default();
    let mut spread: Vec<u16> = Vec::new();
    let stems = remarks
        .iter()
        .map(|remark| {
            let numbered = remark.stems.iter().map(|stem| {
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

/// How slow a chat is, from the moments of its messages: 0 at two minutes a message, 1 at a quarter of an hour.
pub fn slowness(moments: impl Iterator<Item = f64> + Clone) -> f64 {
    /// A night counts no more than this, in seconds.
    const GAP_CAP: f64 = 21_600.0;
    let gaps = moments.clone().zip(moments.skip(1)).map(|(earlier, later)| (later - earlier).clamp(0.0, GAP_CAP));
    let (sum, count) = gaps.fold((0.0, 0.0), |(sum, count), gap| (sum + gap, count + 1.0));
    let usual: f64 = (sum + 600.0) / (count + 10.0);
    ((usual.ln() - 120_f64.ln()) / (900_f64.ln() - 120_f64.ln())).clamp(0.0, 1.0)
}
