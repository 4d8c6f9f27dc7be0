//! Fits the weights of the selector on labelled chats and measures them on unseen chats.
//!
//! Chats are assigned to folds. For every fold, and for all of them together, the weights are fitted on the other
//! chats, one part after the other: first the reply links; then the links between segments of one subject; then the
//! anchors of a trigger, the messages that belong to them at the first and at each further pass, and the test for a new
//! subject. A chat is always read with links and bridges that have not seen it, also while fitting. Each fold is then
//! scored with weights that did not see it, written and read back as they would ship.
//!
//! Separate fits, with all other weights as shipped: `--beyond` for messages from before the window, `--recall` for
//! recall, `--similarity` for the least similarity between a text and a question about it, and `--support` for the
//! messages that support a sentence of an answer.
//!
//! `cargo bench --bench fit -- --help`

#![expect(clippy::print_stdout, reason = "it prints what it found")]

mod beyond;
mod chats;
mod learn;
mod link_examples;
mod recall;
mod report;
mod rows;
mod similarity;
mod sparse;
mod support;
mod truth;
mod written;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chime_core::embed::Embedder;
use chime_relevance::context::training::{
    FOCUS_NAMES, FocusWeights, NOVELTY_NAMES, OF_BARE_TAG, PAIR_NAMES, REFINE_NAMES, SEGMENT_NAMES,
};
use chime_relevance::context::{ReplyModel, Scorers};
use clap::Parser;

use crate::chats::{Chat, PackName, Question};
use crate::learn::{Examples, Fitted, Restraint};
use crate::report::Report;
use crate::rows::OfTags;
use crate::sparse::{Dropped, Elimination};
use crate::written::{Part, Written};

/// Fits the weights of the selector on labelled chats.
///
/// A pack is named with the kind of its chats: english=FOLDER, others=FOLDER (groups with triggers), dense=FOLDER,
/// calm=FOLDER, slow=FOLDER.
#[derive(Debug, Parser)]
struct Arguments {
    /// Packs to fit on, in addition to the labelled chats of the repository
    #[arg(value_name = "KIND=PACK")]
    packs: Vec<PackName>,
    /// Labelled chats to fit on
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/data/chats"), value_name = "FOLDER")]
    chats: PathBuf,
    /// Packs for testing only, scored with the weights of all others
    #[arg(long = "test", value_name = "KIND=PACK")]
    tests: Vec<PackName>,
    /// Number of folds; each is scored with weights that have not seen it
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..))]
    folds: u16,
    /// Leave out a kind of chat at a time (English, other languages, IRC, slow) instead of a fold
    #[arg(long, conflicts_with = "folds", requires = "packs")]
    by_kind: bool,
    /// Fit the table of links too; needs the packs of public archives
    #[arg(long, requires = "packs")]
    links: bool,
    /// Score one of this many queries in chats without triggers
    #[arg(long, default_value_t = 10, value_name = "N")]
    every: usize,
    /// Folder for the weights of all chats: `links.json`, `subjects.json`
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Questions for the test for new subjects
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/data/questions/fit.txt"), value_name = "FILE")]
    questions: PathBuf,
    /// Fit only the test for new subjects, with all other weights as shipped
    #[arg(long)]
    novelty: bool,
    /// Fit only the choice of messages from before the window: `beyond.json`
    #[arg(long, conflicts_with = "by_kind")]
    beyond: bool,
    /// Fit only the weights of recall: `recall.json`
    #[arg(long, conflicts_with_all = ["beyond", "by_kind", "packs"])]
    recall: bool,
    /// Fit only the least similarity of strict chats and notes
    #[arg(long, conflicts_with_all = ["beyond", "by_kind", "packs", "recall"])]
    similarity: bool,
    /// Fit only the weights by which a message supports a sentence of an answer
    #[arg(long, conflicts_with_all = ["beyond", "by_kind", "packs", "recall", "similarity"])]
    support: bool,
    /// Static model to fit the similarity for, instead of the shipped one
    #[arg(long, requires = "similarity", value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Packs with questions for testing the weights of recall
    #[arg(long = "judge", requires = "recall", value_name = "PACK")]
    judged: Vec<PathBuf>,
    /// Also score other thresholds of the test for new subjects
    #[arg(long)]
    thresholds: bool,
    /// Features to leave out of the fit: `focus.length`, `pair.reply`, `segment.mention`, `novelty.names_day`
    #[arg(long, value_delimiter = ',', value_name = "FEATURE")]
    without: Vec<String>,
    /// Print the loss on left-out chats without each of these groups of features: `pair.reply,pair.mention`
    #[arg(long = "try", value_name = "FEATURES")]
    groups: Vec<String>,
    /// Remove features while the loss of `cov` and F1 on left-out chats stays below this
    #[arg(long, value_name = "LOSS")]
    sparse: Option<f64>,
    /// Passed by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// Result of a fit or the reason for ending it early.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    if arguments.recall {
        let folds = usize::from(arguments.folds);
        return recall::run(&arguments.chats, &arguments.judged, folds, arguments.out.as_deref());
    }
    if arguments.support {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/data/answers/support.jsonl");
        return support::run(Path::new(file), usize::from(arguments.folds));
    }
    if arguments.similarity {
        return similarity::run(&arguments.chats, usize::from(arguments.folds), arguments.model.as_deref());
    }
    let mut training = Fitting::begin(&arguments)?;
    if arguments.beyond {
        return training.beyond(arguments.out.as_deref());
    }
    if arguments.links {
        training.links()?;
    }
    if arguments.novelty {
        training.link_as_shipped();
        training.new_subjects()?;
    } else {
        training.bridges()?;
        training.tags()?;
    }
    println!("{}", training.report(arguments.every));
    if arguments.sparse.is_some() || !arguments.groups.is_empty() {
        training.eliminate(&arguments.groups, arguments.sparse)?;
    }
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder)?;
        let all = &training.written[training.folds];
        std::fs::write(folder.join("links.json"), all.links())?;
        std::fs::write(folder.join("subjects.json"), all.subjects())?;
    }
    // The weights are written already; thresholds change only the printed figures.
    if arguments.thresholds {
        training.thresholds();
    }
    Ok(())
}

/// Chats and the weights so far.
struct Fitting {
    chats: Vec<Chat>,
    questions: Vec<Question>,
    folds: usize,
    /// Weights by left-out fold; the last ones are fitted on all chats.
    written: Vec<Written>,
    /// Features that are not fitted.
    dropped: Dropped,
    /// Fitted parts, if fits are to be repeated without features.
    elimination: Option<Elimination>,
}

impl Fitting {
    fn begin(arguments: &Arguments) -> Outcome<Self> {
        /// Number of groups of kinds that are left out one at a time.
        const FAMILIES: usize = 4;
        let folds = if arguments.by_kind { FAMILIES } else { usize::from(arguments.folds) };
        let embedder = Arc::new(Embedder::shipped()?);
        let mut chats = chats::read_labelled(&arguments.chats, &embedder, folds)?;
        for (names, is_test) in [(&arguments.packs, false), (&arguments.tests, true)] {
            for name in names {
                chats.extend(chats::read(name, &embedder, folds, is_test)?);
            }
        }
        if arguments.by_kind {
            chats.iter_mut().filter(|chat| !chat.is_test).for_each(|chat| chat.fold = chat.kind.family());
        }
        let shipped = Written::read(ReplyModel::WRITTEN, FocusWeights::WRITTEN)?;
        let is_again = arguments.sparse.is_some() || !arguments.groups.is_empty();
        Ok(Self {
            chats,
            questions: chats::read_questions(&arguments.questions)?,
            folds,
            written: vec![shipped; folds + 1],
            dropped: Dropped::named(&arguments.without)?,
            elimination: is_again.then(Elimination::default),
        })
    }

    /// Fits the choice of messages from before the window, with all other weights as shipped.
    fn beyond(mut self, out: Option<&Path>) -> Outcome<()> {
        self.chats.retain(|chat| chat.kind.has_tags());
        self.link_as_shipped();
        let weights = beyond::weights(&self.chats, self.folds)?;
        if let Some(folder) = out {
            std::fs::create_dir_all(folder)?;
            std::fs::write(folder.join("beyond.json"), weights)?;
        }
        Ok(())
    }

    /// Reads all chats with the links between messages as shipped.
    fn link_as_shipped(&mut self) {
        let shipped = Scorers::shipped();
        self.chats = std::mem::take(&mut self.chats).into_iter().map(|chat| chat.linked(&shipped)).collect();
    }

    fn scorers(&self) -> serde_json::Result<Vec<Arc<Scorers>>> {
        let read = |written: &Written| Ok(Arc::new(Scorers::read(&written.links(), &written.subjects())?));
        self.written.iter().map(read).collect()
    }

    fn links(&mut self) -> Outcome<()> {
        let shipped = Scorers::shipped();
        let width = self.written[0].link_count();
        let mut examples = Examples::new(width);
        self.chats.iter().filter(|chat| !chat.is_test).for_each(|chat| rows::links(chat, &shipped, &mut examples));
        let restraint = Restraint { ridge: 20.0, is_clamped: true, iterations: 80 };
        self.learn(Part::Links, &examples, &[], restraint);
        Ok(())
    }

    fn bridges(&mut self) -> Outcome<()> {
        let scorers = self.scorers()?;
        self.chats = std::mem::take(&mut self.chats)
            .into_iter()
            .map(|chat| {
                let fold = chat.fold;
                chat.linked(&scorers[fold])
            })
            .collect();
        let mut examples = Examples::new(SEGMENT_NAMES.len());
        for chat in self.chats.iter().filter(|chat| !chat.is_test) {
            rows::bridges(chat, &scorers[chat.fold], &mut examples);
        }
        let restraint = Restraint { ridge: 10.0, is_clamped: true, iterations: 150 };
        self.learn(Part::SegmentLink, &examples, &SEGMENT_NAMES, restraint);
        Ok(())
    }

    fn tags(&mut self) -> Outcome<()> {
        let scorers = self.scorers()?;
        let mut of_tags = OfTags::new();
        for chat in self.chats.iter().filter(|chat| !chat.is_test) {
            rows::tags(chat, &scorers[chat.fold], &mut of_tags);
        }
        let restraint = |ridge| Restraint { ridge, is_clamped: true, iterations: 150 };
        self.learn(Part::FocusBare, &of_tags.focus_bare, &FOCUS_NAMES[..OF_BARE_TAG], restraint(10.0));
        self.learn(Part::FocusText, &of_tags.focus_text, &FOCUS_NAMES, restraint(10.0));
        self.learn(Part::Pairwise, &of_tags.pairwise, &PAIR_NAMES, restraint(20.0));
        for look in 0..2 {
            let scorers = self.scorers()?;
            let mut examples = Examples::new(REFINE_NAMES.len());
            for chat in self.chats.iter().filter(|chat| !chat.is_test) {
                rows::again(chat, &scorers[chat.fold], look, &mut examples);
            }
            self.learn(Part::Refine(look), &examples, &REFINE_NAMES, restraint(20.0));
        }
        self.new_subjects()
    }

    /// Fits the test for a new subject.
    fn new_subjects(&mut self) -> Outcome<()> {
        let (scorers, dimensions) = (self.scorers()?, Embedder::shipped()?.dimensions());
        let mut examples = Examples::new(NOVELTY_NAMES.len() + dimensions);
        for (number, chat) in self.chats.iter().enumerate().filter(|(_, chat)| !chat.is_test && chat.kind.has_tags()) {
            let is_alike = |other: &&Chat| other.language == chat.language;
            let before = self.chats[..number].iter().filter(is_alike).count();
            let alike = self.chats.iter().filter(is_alike).count();
            let own = self.questions.iter().filter(|question| question.language == chat.language);
            let asked: Vec<&Question> = own.skip(before).step_by(alike).collect();
            rows::new_subjects(chat, &asked, &scorers[chat.fold], &mut examples);
        }
        let restraint = Restraint { ridge: 20.0, is_clamped: true, iterations: 150 };
        self.learn(Part::Novelty, &examples, &NOVELTY_NAMES, restraint);
        let means: Vec<f64> = (0..examples.width()).map(|column| examples.mean(column)).collect();
        self.written.iter_mut().for_each(|written| written.set_usual_meaning(&means[NOVELTY_NAMES.len()..]));
        Ok(())
    }

    /// Fits a part for every fold and for all chats.
    fn learn(&mut self, part: Part, examples: &Examples, names: &[&str], restraint: Restraint) {
        println!("{part:?}: {} choices", examples.len());
        let (folds, dropped) = (self.folds, self.dropped.of(part, names));
        let mut fits = Vec::new();
        for (fold, written) in self.written.iter_mut().enumerate() {
            let fitted = Fitted::to(examples, (fold < folds).then_some(fold), restraint, &dropped);
            written.set(part, &fitted.score(), names);
            if fold < folds && self.elimination.is_some() {
                fits.push(fitted);
            }
        }
        if let Some(elimination) = &mut self.elimination {
            elimination.add(part, names, fits);
        }
    }

    /// Measures the value of features and removes those without value.
    fn eliminate(&mut self, groups: &[String], loss: Option<f64>) -> Outcome<()> {
        let Some(elimination) = self.elimination.take() else { return Ok(()) };
        let start = (self.written.clone(), self.dropped.clone());
        for group in groups {
            elimination.try_group(&self.chats, &start, group)?;
        }
        loss.map_or(Ok(()), |loss| elimination.run(&self.chats, start, loss))
    }

    /// Measures the labelled chats with other thresholds.
    fn thresholds(&mut self) {
        for percent in [40, 50, 60, 80] {
            self.written.iter_mut().for_each(|written| written.set_threshold(f64::from(percent) / 100.0));
            println!("threshold {percent} %{}", self.report(usize::MAX));
        }
    }

    fn report(&self, every: usize) -> String {
        let Ok(scorers) = self.scorers() else { return "what was written cannot be read".to_owned() };
        let (mut cross, mut test) = (Report::default(), Report::default());
        for chat in &self.chats {
            let report = if chat.is_test { &mut test } else { &mut cross };
            report.add(chat, &scorers[chat.fold], every);
        }
        let has_tests = self.chats.iter().any(|chat| chat.is_test);
        let split = format!("every chat scored with weights of the {} parts that it is not in", self.folds - 1);
        let tested = if has_tests { format!("\n\nin no training\n{}", test.table()) } else { String::new() };
        format!("\n{split}\n{}{tested}", cross.table())
    }
}
