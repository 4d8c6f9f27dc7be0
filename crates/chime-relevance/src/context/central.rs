//! Ranks the messages of a time span by how well they represent everything that was written in it. Recaps and summaries
//! without a model use the same ranking.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::context::candidate_features::CandidateFeatures;
use crate::context::features::lexical::stems;
use crate::context::features::message::without_bots;
use crate::context::features::token::Token;
use crate::context::program_output::{is_output, share_of_code};
use crate::retrieval::{cues, names_time};
use chime_core::trigger::{Languages, is_for_bot, is_small_talk};
use chime_core::{StoredMessage, dot};

/// Weights of the signals that are added up, set by hand on public archives and on hand-written group chats.
mod weight {
    /// Cosine with the mean vector of all messages.
    pub const CENTRAL: f64 = 1.0;
    /// Weights of a decision, of a task that somebody took on (`TAKEN`), and of a plan (`PLANNED`).
    pub const SETTLED: f64 = 0.6;
    pub const TAKEN: f64 = 0.4;
    pub const PLANNED: f64 = 0.3;
    /// A number in the text, such as a date or a version.
    pub const NUMBER: f64 = 0.25;
    /// Number of content words, as a share of [`super::LONG`] and at most 1.
    pub const WORDS: f64 = 1.0;
    pub const QUESTION: f64 = -0.2;
    /// The text begins with a word that refers to what was said before, such as "and" or "it", so that it cannot be
    /// understood alone.
    pub const LOOKS_BACK: f64 = -0.3;
    /// The text addresses one member, or is about the moment.
    pub const FOR_ONE: f64 = -0.4;
    pub const PASSING: f64 = -0.3;
    /// Share of the words that look like code, in a text that must stay useful for long.
    pub const CODE: f64 = -1.0;
    /// Weight of each reply to the message. Only two replies count.
    pub const REPLY: f64 = 0.2;
}

const LONG: f64 = 16.0;
/// Minimum score of a text that stays useful for long: the score of three content words.
const LASTING: f64 = 3.0 / LONG;
/// Maximum length of the number of an item in a list, such as "12.".
const NUMBERED: usize = 3;
/// Similarity to a better message from which on a message counts as its repetition and is left out.
const SAME: f64 = 0.85;
/// Minimum number of content words of a message besides its links: of a question, a decision, a plan or a number, of
/// any other, and of one that refers to what was said before.
const NEWS_WORDS: usize = 2;
const TALK_WORDS: usize = 3;
const LOOKING_BACK_WORDS: usize = 5;

/// Message of a talk, prepared for ranking.
#[derive(Debug, Clone)]
pub struct TalkLine<'a> {
    pub text: Cow<'a, str>,
    /// Embedding of the text, of unit length; empty if unknown.
    pub vector: Cow<'a, [f32]>,
    /// Number of replies to it.
    pub replies: usize,
}

/// Returns at most `most` messages, the most representative first. Small talk, questions to a bot and repetitions are
/// left out.
pub fn central<'a>(
    messages: &[&'a StoredMessage],
    most: usize,
    evidence: &CandidateFeatures,
) -> Vec<&'a StoredMessage> {
    let is_talk = |stored: &&&StoredMessage| !is_for_bot(&stored.message) && !is_small_talk(&stored.message.rendered());
    let messages: Vec<&StoredMessage> = messages.iter().filter(is_talk).copied().collect();
    let mut replies: HashMap<i64, usize> = HashMap::new();
    for parent in messages.iter().filter_map(|stored| stored.message.reply_to) {
        *replies.entry(parent.0).or_default() += 1;
    }
    let line = |stored: &&'a StoredMessage| {
        let text = without_bots(&stored.message.text);
        let vector = Cow::Owned(evidence.embed(&text).unwrap_or_default());
        TalkLine { text, vector, replies: replies.get(&stored.message.id.0).copied().unwrap_or_default() }
    };
    let lines: Vec<TalkLine<'_>> = messages.iter().map(line).collect();
    ranked(&lines, most).into_iter().map(|place| messages[place]).collect()
}

/// Returns the places of at most `most` lines, the most representative first, without those that repeat a better one.
pub fn ranked(lines: &[TalkLine<'_>], most: usize) -> Vec<usize> {
    let mean = mean(lines);
    let score = |line: &TalkLine<'_>| {
        let central = weight::CENTRAL * cosine(&line.vector, &mean);
        worth(&line.text) + central + weight::REPLY * line.replies.min(2) as f64
    };
    let mut by_score: Vec<(f64, usize)> = lines.iter().map(score).zip(0..).collect();
    by_score.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(b.cmp(a)));
    let stems: Vec<Vec<Token>> = lines.iter().map(|line| stems(&line.text)).collect();
    let alike = |a: usize, b: usize| {
        let (one, other) = (&lines[a].vector, &lines[b].vector);
        if !one.is_empty() && one.len() == other.len() {
            return f64::from(dot(one, other));
        }
        let common = stems[a].iter().filter(|stem| stems[b].binary_search(stem).is_ok()).count();
        2.0 * common as f64 / (stems[a].len() + stems[b].len()).max(1) as f64
    };
    let mut best: Vec<usize> = Vec::new();
    for (_, place) in by_score {
        if best.len() == most {
            break;
        }
        if best.iter().all(|other| alike(place, *other) < SAME) {
            best.push(place);
        }
    }
    best
}

/// Returns `true` if a text says something besides greetings and links, in sentences: pasted output, entries of feeds,
/// lists of names and announcements of what follows ("look:") do not.
pub fn is_talk(text: &str) -> bool {
    let said = without_links(text);
    let found = cues(&said);
    let is_question = Languages::shipped().is_question(&said);
    let has_cue = found.settled || found.taken || found.planned || found.done;
    let is_news = is_question || has_cue || said.contains(|c: char| c.is_numeric());
    let least = match (is_news, Languages::shipped().looks_back(&said)) {
        (true, _) => NEWS_WORDS,
        (false, false) => TALK_WORDS,
        (false, true) => LOOKING_BACK_WORDS,
    };
    !is_small_talk(text) && !is_output(&said) && stems(&said).len() >= least
}

/// Scores a text by itself: decisions, tasks, plans, numbers and content words raise the score; questions, words that
/// refer to what was said before, addressing one member, and telling of the moment lower it.
pub fn worth(text: &str) -> f64 {
    let text = without_links(text);
    let (found, is_question) = (cues(&text), Languages::shipped().is_question(&text));
    let is_settled = (found.settled || found.done) && !is_question;
    words_in(&text)
        + flag(is_settled, weight::SETTLED)
        + flag(is_question, weight::QUESTION)
        + flag(is_for_one(&text), weight::FOR_ONE)
        + flag(found.passing && !is_settled, weight::PASSING)
        + flag(Languages::shipped().looks_back(&text), weight::LOOKS_BACK)
        + flag(found.taken && !is_question, weight::TAKEN)
        + flag(found.planned, weight::PLANNED)
        + flag(text.contains(|c: char| c.is_ascii_digit()), weight::NUMBER)
}

/// Scores a text that must be understood alone and stay useful for weeks, such as a decision, a rule or how something
/// works: content words raise the score, words as in code lower it. Returns `None` for a text that does not last: a
/// question, one to or about one member, about the moment or what was said before, with a time such as "tomorrow", or a
/// fragment.
pub fn lasting_worth(text: &str) -> Option<f64> {
    let text = without_links(text);
    let (found, languages) = (cues(&text), Languages::shipped());
    let is_of_moment = found.passing || found.momentary || names_time(&text) || calls_one(&text);
    // "Then we decided …" can be understood alone.
    let depends = languages.is_question(&text) || languages.looks_back(&text) && !found.settled;
    let score = words_in(&text) + flag(found.settled, weight::SETTLED) + weight::CODE * share_of_code(&text);
    let is_whole = !is_fragment(&text) && !is_output(&text);
    (!is_of_moment && !depends && is_whole && score >= LASTING).then_some(score)
}

/// Returns `true` for an item of a list, a quote, a shout, a text that begins with an aside ("well, …"), and one that
/// goes on in the next message.
fn is_fragment(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let number = first.trim_end_matches(['.', ')']);
    let is_number = number.chars().count() == 1 || number.chars().all(|c| c.is_ascii_digit());
    let is_numbered = number.len() < first.len() && number.chars().count() < NUMBERED && is_number;
    let count = |is: fn(char) -> bool| text.chars().filter(|c| is(*c)).count();
    is_numbered
        || text.starts_with(['-', '*', '•', '–', '(', '"', '“', '„', '«', '\''])
        || first.ends_with(',')
        || text.ends_with([',', ';', '…', '('])
        || text.ends_with("..")
        || count(char::is_uppercase) > count(char::is_lowercase)
}

/// Returns `true` if a text begins or ends with the name of a member: "@ann …", "Ann: …", "Ann - …", "…, @ann?".
fn is_for_one(text: &str) -> bool {
    let (first, second) = (text.split_whitespace().next().unwrap_or_default(), text.split_whitespace().nth(1));
    first.ends_with(':') || second == Some("-") || calls_one(text)
}

/// Returns `true` if a text begins or ends with a marked name. "Wifi: …" may be a label.
fn calls_one(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_called_last = text.trim_end_matches(['.', '!', '?', ' ']).ends_with(", @");
    first.starts_with('@') || first.ends_with('>') || is_called_last
}

fn words_in(text: &str) -> f64 {
    weight::WORDS * (stems(text).len() as f64).min(LONG) / LONG
}

fn flag(is: bool, weight: f64) -> f64 {
    if is { weight } else { 0.0 }
}

fn without_links(text: &str) -> String {
    let is_link = |word: &&str| word.contains("://") || word.starts_with("www.");
    text.split_whitespace().filter(|word| !is_link(word)).collect::<Vec<_>>().join(" ")
}

fn mean(lines: &[TalkLine<'_>]) -> Vec<f32> {
    let width = lines.iter().map(|line| line.vector.len()).max().unwrap_or_default();
    let mut mean = vec![0.0; width];
    for vector in lines.iter().map(|line| &line.vector).filter(|vector| vector.len() == width) {
        mean.iter_mut().zip(vector.iter()).for_each(|(sum, value)| *sum += value);
    }
    let length = mean.iter().map(|value| value * value).sum::<f32>().sqrt();
    mean.iter_mut().for_each(|value| *value /= length.max(f32::MIN_POSITIVE));
    mean
}

fn cosine(vector: &[f32], mean: &[f32]) -> f64 {
    if vector.len() == mean.len() { f64::from(dot(vector, mean)) } else { 0.0 }
}
