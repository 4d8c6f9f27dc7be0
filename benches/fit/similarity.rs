//! The least similarity at which a text counts as being about a question, for each way to measure it: from the questions of
//! labelled chats. A prompt shows the latest messages and those of the question's matter. Nothing is known where the question begins
//! a new matter, and where it is put to another chat.

use std::path::Path;

use chime_answer::shared_words;
use chime_core::config::EmbeddingConfig;
use chime_core::embed::Embedder;
use chime_eval::labelled::{self, LabelledChat};

use crate::Outcome;

/// Messages that a prompt shows, about.
const SHOWN: usize = 40;
/// Questions of fewer words only point.
const WORDS: usize = 3;
/// Thresholds that are tried, in hundredths.
const TRIED: std::ops::Range<u32> = 5..90;

/// A question with the similarity of the text that is nearest to it.
struct Sample {
    similarity: f64,
    is_known: bool,
    fold: usize,
}

/// Prints what each threshold lets through, and the best.
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
    let by_words =
        |question: &str, texts: &[&str]| texts.iter().map(|text| shared_words(question, text)).fold(f64::MIN, f64::max);
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
            // A prompt shows the latest talk whatever it is about, and more where it is about the question.
            let before = &chat.messages[place.saturating_sub(SHOWN)..place];
            let shown: Vec<&str> = before.iter().map(|it| it.text.as_str()).chain(gold.iter().copied()).collect();
            add(&mut samples, &shown, !gold.is_empty());
            // A chat of another language would be told apart by its language.
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

/// The threshold with the largest difference between what should be answered and is, and what should not be and is.
fn best<'a>(samples: impl Iterator<Item = &'a Sample> + Clone) -> f64 {
    let gain = |threshold: f64| {
        let (kept, let_in) = shares(samples.clone(), threshold);
        kept - let_in
    };
    let tried = TRIED.map(|hundredths| f64::from(hundredths) / 100.0);
    tried.max_by(|a, b| gain(*a).total_cmp(&gain(*b))).unwrap_or_default()
}

/// Of the questions with messages about them, and of those without, the shares that come through.
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
