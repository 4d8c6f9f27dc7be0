//! Fits the least similarity of a text about a question, for each similarity measure, on the questions of labelled
//! chats. A prompt contains the latest messages and those on the question's subject. A question counts as unanswerable
//! if it starts a new subject or is asked in another chat.

use std::path::Path;

use chime_answer::shared_word_ratio;
use chime_core::config::EmbeddingConfig;
use chime_core::embed::Embedder;
use chime_eval::labelled::{self, LabelledChat};

use crate::Outcome;

/// Approximate number of messages in a prompt.
const SHOWN: usize = 40;
/// Fewest words of a question with content; shorter ones only refer to something.
const WORDS: usize = 3;
/// Thresholds to try, in hundredths.
const TRIED: std::ops::Range<u32> = 5..90;

/// Question with the similarity of the nearest text.
struct Sample {
    similarity: f64,
    is_known: bool,
    fold: usize,
}

/// Prints the results of each threshold, and the best one.
pub fn run(chats: &Path, folds: usize, model: Option<&Path>) -> Outcome<()> {
    let chats = labelled::read(chats)?;
    let embedder = match model {
        Some(folder) => Embedder::load(&EmbeddingConfig::Model2Vec(folder.to_owned()))?.ok_or("no embedding model")?,
        None => Embedder::shipped()?,
    };
    let by_vectors = |question: &str, texts: &[&str]| {
        let vector = embedder.embed(question);
        let cosine =
            |text: &&str| -> f64 { embedder.embed(text).iter().zip(&vector).map(|(a, b)| f64::from(a * b)).sum() };
        texts.iter().map(cosine).fold(f64::MIN, f64::max)
    };
    let by_words = |question: &str, texts: &[&str]| {
        texts.iter().map(|text| shared_word_ratio(question, text)).fold(f64::MIN, f64::max)
    };
    report(embedder.name(), &samples(&chats, folds, by_vectors), folds);
    report("shared words", &samples(&chats, folds, by_words), folds);
    Ok(())
}

fn samples(chats: &[LabelledChat], folds: usize, nearest: impl Fn(&str, &[&str]) -> f64) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (number, chat) in chats.iter().enumerate() {
        let fold = number % folds;
        let elsewhere = chats.iter().cycle().skip(number + 1).find(|other| other.is_english == chat.is_english);
        for query in &chat.queries {
            let Some(place) = chat.messages.iter().position(|it| it.message_id == query.ask.message_id) else {
                continue;
            };
            let question = chat.messages[place].text.replace("@bot", " ");
            if question.split_whitespace().count() < WORDS {
                continue;
            }
            let text_of = |id: &i64| chat.messages.iter().find(|it| it.message_id == *id).map(|it| it.text.as_str());
            let gold: Vec<&str> = query.gold.context.iter().chain(&query.gold.far).filter_map(text_of).collect();
            let add = |samples: &mut Vec<Sample>, texts: &[&str], is_known| {
                if !texts.is_empty() {
                    samples.push(Sample { similarity: nearest(&question, texts), is_known, fold });
                }
            };
            // A prompt contains the latest messages on any subject, and more on the question's subject.
            let before = &chat.messages[place.saturating_sub(SHOWN)..place];
            let shown: Vec<&str> = before.iter().map(|it| it.text.as_str()).chain(gold.iter().copied()).collect();
            add(&mut samples, &shown, !gold.is_empty());
            // With a chat in another language, the language alone would tell them apart.
            if let Some(other) = elsewhere.filter(|_| chat.is_english) {
                let shown: Vec<&str> = other.messages.iter().rev().take(SHOWN).map(|it| it.text.as_str()).collect();
                add(&mut samples, &shown, false);
            }
        }
    }
    samples
}

fn report(name: &str, samples: &[Sample], folds: usize) {
    let known = samples.iter().filter(|sample| sample.is_known).count();
    println!("{name}: {known} questions with messages about them, {} without", samples.len() - known);
    for threshold in (10..75).step_by(5) {
        let (kept, let_in) = shares(samples.iter(), f64::from(threshold) / 100.0);
        println!(
            "  {:.2}  answered {:.0} %, let in {:.0} %",
            f64::from(threshold) / 100.0,
            kept * 100.0,
            let_in * 100.0
        );
    }
    let mut unseen = (0.0, 0.0);
    for fold in 0..folds {
        let threshold = best(samples.iter().filter(|sample| sample.fold != fold));
        let (kept, let_in) = shares(samples.iter().filter(|sample| sample.fold == fold), threshold);
        unseen = (unseen.0 + kept / folds as f64, unseen.1 + let_in / folds as f64);
    }
    println!(
        "  best {:.2}; chats unseen: answered {:.0} %, let in {:.0} %",
        best(samples.iter()),
        unseen.0 * 100.0,
        unseen.1 * 100.0
    );
}

/// Returns the threshold with the largest difference between rightly and wrongly answered questions.
fn best<'a>(samples: impl Iterator<Item = &'a Sample> + Clone) -> f64 {
    let gain = |threshold: f64| {
        let (kept, let_in) = shares(samples.clone(), threshold);
        kept - let_in
    };
    let tried = TRIED.map(|hundredths| f64::from(hundredths) / 100.0);
    tried.max_by(|a, b| gain(*a).total_cmp(&gain(*b))).unwrap_or_default()
}

/// Returns the shares of questions above the threshold: with messages about them, and without.
fn shares<'a>(samples: impl Iterator<Item = &'a Sample>, threshold: f64) -> (f64, f64) {
    let mut counts = [(0_u32, 0_u32); 2];
    for sample in samples {
        let (all, through) = &mut counts[usize::from(!sample.is_known)];
        *all += 1;
        *through += u32::from(sample.similarity >= threshold);
    }
    let share = |(all, through): (u32, u32)| f64::from(through) / f64::from(all.max(1));
    (share(counts[0]), share(counts[1]))
}
