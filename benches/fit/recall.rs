//! Fits the weights of recall on the questions of labelled chats, with the features of `retrieval`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chime_core::embed::Embedder;
use chime_eval::pack_file::read_pack;
use chime_eval::recall::{QuestionChat, QuestionRows, rows};
use chime_relevance::retrieval::{Features, Weights};

use crate::Outcome;
use crate::learn::{Examples, Restraint, Weighed, fit};

/// Step of the written weights; the optimum is flat.
const STEP: f64 = 0.05;
/// Least coverages to compare.
const LEAST: [f64; 9] = [0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6];
/// Most messages that recall returns.
const RECALLED: usize = 10;

/// Fits on `chats`, prints the results on unseen chats and on the packs of `judged`, and writes `recall.json`.
pub fn run(chats: &Path, judged: &[PathBuf], folds: usize, out: Option<&Path>) -> Outcome<()> {
    let embedder = Embedder::shipped()?;
    let questions = rows(&read_pack(chats)?, &embedder, QuestionChat::OwnChat);
    println!("{} questions", questions.len());
    let dealt = deal(&questions, folds);
    let mut examples = Examples::new(names().len());
    for (question, fold) in questions.iter().zip(&dealt) {
        for (features, is_right) in &question.rows {
            examples.row(features.values().map(|(_, value)| value as f32), f32::from(u8::from(*is_right)), 0.0);
        }
        examples.close(Weighed { none: None, weight: 1.0, fold: *fold });
    }
    let mut unseen = Tally::default();
    for fold in 0..folds {
        let weights = fitted(&examples, Some(fold))?;
        let of_fold = questions.iter().zip(&dealt).filter(|(_, dealt)| **dealt == fold);
        of_fold.for_each(|(question, _)| unseen.add(question, &weights));
    }
    let shipped = Weights::shipped().message;
    let weights = fitted(&examples, None)?;
    println!("fitted, chats unseen   {unseen}");
    println!("fitted, all            {}", Tally::of(&questions, &weights));
    println!("shipped                {}", Tally::of(&questions, &shipped));
    for pack in judged {
        let questions = rows(&read_pack(pack)?, &embedder, QuestionChat::OwnChat);
        println!(
            "{}: fitted {}, shipped {}",
            pack.display(),
            Tally::of(&questions, &weights),
            Tally::of(&questions, &shipped)
        );
    }
    println!("{}", coverages(&questions, &rows(&read_pack(chats)?, &embedder, QuestionChat::OtherChat), &shipped));
    let written = serde_json::to_string_pretty(&weights)?;
    println!("{written}");
    if let Some(folder) = out {
        std::fs::create_dir_all(folder)?;
        std::fs::write(folder.join("recall.json"), written)?;
    }
    Ok(())
}

fn names() -> Vec<&'static str> {
    Features::default().values().into_iter().map(|(name, _)| name).collect()
}

/// Returns the fold of each question; all questions of a chat are in one fold.
fn deal(questions: &[QuestionRows], folds: usize) -> Vec<usize> {
    let mut places: BTreeMap<&str, usize> = questions.iter().map(|it| (it.chat.as_str(), 0)).collect();
    (0..).zip(places.values_mut()).for_each(|(place, fold)| *fold = place % folds);
    questions.iter().map(|it| places[it.chat.as_str()]).collect()
}

/// Returns the weights fitted on all folds but one, scaled so that wide coverage weighs 1.
fn fitted(examples: &Examples, left_out: Option<usize>) -> Outcome<Features> {
    let score = fit(examples, left_out, Restraint { ridge: 2.0, is_clamped: false, iterations: 200 });
    let by_name: BTreeMap<&str, f64> = names().into_iter().zip(score.terms.iter().map(|term| term.weight)).collect();
    let unit = by_name["wide_coverage"].abs().max(1e-6);
    let rounded: BTreeMap<&str, f64> = (by_name.into_iter())
        .map(|(name, weight)| (name, (weight / unit / STEP).round() * STEP))
        .map(|(name, weight)| (name, (weight * 100.0).round() / 100.0))
        .collect();
    Ok(serde_json::from_value(serde_json::to_value(rounded)?)?)
}

/// Sums over the right messages found.
#[derive(Debug, Default)]
struct Tally {
    questions: f64,
    at_five: f64,
    at_twenty: f64,
}

impl Tally {
    fn of(questions: &[QuestionRows], weights: &Features) -> Self {
        let mut tally = Self::default();
        questions.iter().for_each(|question| tally.add(question, weights));
        tally
    }

    fn add(&mut self, question: &QuestionRows, weights: &Features) {
        let ranked = ranked(question, weights);
        let right = ranked.iter().filter(|(_, is_right)| *is_right).count().max(1) as f64;
        let found = |depth: usize| ranked.iter().take(depth).filter(|(_, is_right)| *is_right).count() as f64 / right;
        self.questions += 1.0;
        self.at_five += found(5);
        self.at_twenty += found(20);
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.questions.max(1.0);
        write!(f, "turn@5 {:.3}  turn@20 {:.3}", self.at_five / count, self.at_twenty / count)
    }
}

fn ranked(question: &QuestionRows, weights: &Features) -> Vec<(Features, bool)> {
    let mut rows = question.rows.clone();
    rows.sort_by(|(a, _), (b, _)| b.dot(weights).total_cmp(&a.dot(weights)));
    rows
}

/// Returns the shares that remain above a least coverage: of the right messages that recall would return, and of all
/// messages that it would return for the same questions in another chat, where nothing answers them.
fn coverages(own: &[QuestionRows], elsewhere: &[QuestionRows], weights: &Features) -> String {
    let given = |questions: &[QuestionRows]| -> Vec<(Features, bool)> {
        questions.iter().flat_map(|question| ranked(question, weights).into_iter().take(RECALLED)).collect()
    };
    let coverage = |features: &Features| features.wide_coverage.max(features.linked_coverage);
    let (own, elsewhere) = (given(own), given(elsewhere));
    let right: Vec<&Features> = own.iter().filter(|(_, is_right)| *is_right).map(|(features, _)| features).collect();
    let share = |of: usize, all: usize| of as f64 / all.max(1) as f64;
    let line = |least: f64| {
        let kept = right.iter().filter(|features| coverage(features) >= least).count();
        let wrong = elsewhere.iter().filter(|(features, _)| coverage(features) >= least).count();
        format!("{least:>8.2}  {:>13.3}  {:>18.3}", share(kept, right.len()), share(wrong, elsewhere.len()))
    };
    let lines: Vec<String> = LEAST.into_iter().map(line).collect();
    format!("coverage  right kept     kept elsewhere\n{}", lines.join("\n"))
}
