//! Fits the weights by which a message supports a sentence of an answer, on the labelled sentences of `data/answers`.

use std::path::Path;

use chime_answer::support::{SUPPORTS, Support, SupportFeatures, WEIGHTS, probability};
use chime_core::embed::Embedder;
use chime_core::{Citable, SourceId, Timestamp};
use serde::Deserialize;

use crate::Outcome;
use crate::learn::{Examples, Restraint, Score, Weighed, fit};

const RESTRAINT: Restraint = Restraint { ridge: 0.3, is_clamped: false, iterations: 400 };
/// Thresholds to print, in hundredths.
const SHOWN: [u32; 7] = [40, 45, 50, 55, 60, 65, 70];

/// Sentence, and the indices of the messages that support it.
#[derive(Debug, Deserialize)]
struct Labelled {
    sentence: String,
    messages: Vec<String>,
    supports: Vec<usize>,
}

/// Sentence paired with one message.
struct Pair {
    features: SupportFeatures,
    is_right: bool,
    fold: usize,
}

/// Prints the fitted weights and their results on unseen sentences.
pub fn run(file: &Path, folds: usize) -> Outcome<()> {
    let pairs = pairs(file, folds)?;
    let mut examples = Examples::new(SupportFeatures::default().len() - 1);
    for pair in &pairs {
        let target = if pair.is_right { 1.0 } else { 0.0 };
        examples.row(pair.features[1..].iter().map(|value| *value as f32), target, 0.0);
        examples.close(Weighed { none: Some(1.0 - target), weight: 1.0, fold: pair.fold });
    }
    println!("{} pairs, {} of them right", pairs.len(), pairs.iter().filter(|pair| pair.is_right).count());
    let all = weights(&fit(&examples, None, RESTRAINT));
    println!("weights {all:.2?}\nshipped {WEIGHTS:.2?}");
    let by_fold: Vec<SupportFeatures> =
        (0..folds).map(|fold| weights(&fit(&examples, Some(fold), RESTRAINT))).collect();
    println!("threshold   left out: precision recall   shipped: precision recall");
    for threshold in SHOWN {
        let least = f64::from(threshold) / 100.0;
        let (p, r) = judged(&pairs, |pair| probability(&pair.features, &by_fold[pair.fold]) >= least);
        let (all_p, all_r) = judged(&pairs, |pair| probability(&pair.features, &WEIGHTS) >= least);
        let mark = if (least - SUPPORTS).abs() < 0.001 { "  <- in use" } else { "" };
        println!("      .{threshold}              {p:.3}  {r:.3}              {all_p:.3}  {all_r:.3}{mark}");
    }
    Ok(())
}

fn weights(score: &Score) -> SupportFeatures {
    let mut weights = [score.bias; 7];
    for (weight, term) in weights[1..].iter_mut().zip(&score.terms) {
        *weight = term.weight;
    }
    weights
}

/// Returns the precision and recall of the pairs for which `is_taken` is true.
fn judged(pairs: &[Pair], is_taken: impl Fn(&Pair) -> bool) -> (f64, f64) {
    let count = |counts: &dyn Fn(&Pair) -> bool| pairs.iter().filter(|pair| counts(pair)).count() as f64;
    let hits = count(&|pair| is_taken(pair) && pair.is_right);
    (hits / count(&|pair| is_taken(pair)).max(1.0), hits / count(&|pair| pair.is_right).max(1.0))
}

fn pairs(file: &Path, folds: usize) -> Outcome<Vec<Pair>> {
    let embedder = Embedder::shipped()?;
    let embed = |text: &str| embedder.embed(text);
    let text = std::fs::read_to_string(file)?;
    let mut pairs = Vec::new();
    for (number, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
        let labelled: Labelled = serde_json::from_str(line)?;
        let sources: Vec<Citable> = (1..).zip(&labelled.messages).map(|(id, line)| citable(id, line)).collect();
        let features = Support::new(&sources, "", &embed).features(&labelled.sentence);
        for (place, features) in features.into_iter().enumerate() {
            pairs.push(Pair { features, is_right: labelled.supports.contains(&place), fold: number % folds });
        }
    }
    Ok(pairs)
}

fn citable(number: u32, line: &str) -> Citable {
    let (name, text) = line.split_once(": ").unwrap_or(("", line));
    Citable {
        id: SourceId::message(number),
        name: name.to_owned(),
        is_own: name == "Chime",
        sent_at: Timestamp::default(),
        text: text.to_owned(),
        link: None,
        rests_on: Vec::new(),
    }
}
