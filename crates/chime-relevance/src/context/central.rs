//! Ranks the messages of a time span by how well they represent everything that was written in it.

use std::collections::HashMap;

use crate::context::candidate_features::CandidateFeatures;
use crate::context::features::lexical::stems;
use crate::context::features::message::without_bots;
use crate::context::features::token::Token;
use crate::retrieval::{Cues, cues};
use chime_core::trigger::{Languages, calls_bot, is_small_talk};
use chime_core::{StoredMessage, dot};

/// Weights of the signals that are added up, set by hand on public archives and on hand-written group chats.
mod weight {
    /// Cosine with the mean vector of all messages.
    pub const CENTRAL: f64 = 1.0;
    /// A decision (`SETTLED`), a task that somebody took on (`TAKEN`), a plan (`PLANNED`).
    pub const SETTLED: f64 = 0.6;
    pub const TAKEN: f64 = 0.4;
    pub const PLANNED: f64 = 0.3;
    /// A number in the text, such as a date or a version.
    pub const NUMBER: f64 = 0.25;
    /// Number of content words, as a share of [`super::LONG`] and at most 1.
    pub const WORDS: f64 = 1.0;
    pub const QUESTION: f64 = -0.2;
    /// Weight of each reply to the message; only two count.
    pub const REPLY: f64 = 0.2;
}

const LONG: f64 = 16.0;
/// Cosine with a better message from which on a message counts as its repetition and is left out.
const SAME: f32 = 0.85;

/// Returns at most `most` messages, the most representative first. Small talk, questions to a bot and repetitions are
/// left out.
pub fn central<'a>(
    messages: &[&'a StoredMessage],
    most: usize,
    evidence: &CandidateFeatures,
) -> Vec<&'a StoredMessage> {
    let is_talk = |stored: &&&StoredMessage| {
        !calls_bot(&stored.message.text) && !is_small_talk(&stored.message.rendered(), Languages::shipped())
    };
    let messages: Vec<&StoredMessage> = messages.iter().filter(is_talk).copied().collect();
    let read: Vec<Weighed> = messages.iter().map(|stored| Weighed::of(stored, evidence)).collect();
    let mean = mean(&read);
    let mut replies: HashMap<i64, usize> = HashMap::new();
    for parent in messages.iter().filter_map(|stored| stored.message.reply_to) {
        *replies.entry(parent.0).or_default() += 1;
    }
    let score = |(read, stored): (&Weighed, &&StoredMessage)| {
        let replies = replies.get(&stored.message.id.0).copied().unwrap_or_default().min(2) as f64;
        read.worth() + weight::CENTRAL * cosine(&read.vector, &mean) + weight::REPLY * replies
    };
    let mut ranked: Vec<(f64, usize)> = read.iter().zip(&messages).map(score).zip(0..).collect();
    ranked.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(b.cmp(a)));
    let mut best: Vec<usize> = Vec::new();
    for (_, place) in &ranked {
        if best.len() == most {
            break;
        }
        let vector = &read[*place].vector;
        if vector.is_empty() || best.iter().all(|other| dot(vector, &read[*other].vector) < SAME) {
            best.push(*place);
        }
    }
    best.into_iter().map(|place| messages[place]).collect()
}

/// Properties of a message that do not depend on the other messages.
struct Weighed {
    stems: Vec<Token>,
    vector: Vec<f32>,
    cues: Cues,
    has_number: bool,
    is_question: bool,
}

impl Weighed {
    fn of(stored: &StoredMessage, evidence: &CandidateFeatures) -> Self {
        let text = without_bots(&stored.message.text);
        Self {
            stems: stems(&text),
            vector: evidence.embed(&text).unwrap_or_default(),
            cues: cues(&text),
            has_number: text
                .split_whitespace()
                .any(|word| word.chars().any(|c| c.is_ascii_digit()) && !word.contains("://")),
            is_question: Languages::shipped().is_question(&text),
        }
    }

    fn worth(&self) -> f64 {
        let flag = |is: bool, weight: f64| if is { weight } else { 0.0 };
        flag(self.cues.settled && !self.is_question, weight::SETTLED)
            + flag(self.cues.taken && !self.is_question, weight::TAKEN)
            + flag(self.cues.planned, weight::PLANNED)
            + flag(self.has_number, weight::NUMBER)
            + flag(self.is_question, weight::QUESTION)
            + weight::WORDS * (self.stems.len() as f64).min(LONG) / LONG
    }
}

fn mean(read: &[Weighed]) -> Vec<f32> {
    let width = read.iter().map(|read| read.vector.len()).max().unwrap_or_default();
    let mut mean = vec![0.0; width];
    for vector in read.iter().map(|read| &read.vector).filter(|vector| vector.len() == width) {
        mean.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
    }
    let length = mean.iter().map(|value| value * value).sum::<f32>().sqrt();
    mean.iter_mut().for_each(|value| *value /= length.max(f32::MIN_POSITIVE));
    mean
}

fn cosine(vector: &[f32], mean: &[f32]) -> f64 {
    if vector.len() == mean.len() { f64::from(dot(vector, mean)) } else { 0.0 }
}
