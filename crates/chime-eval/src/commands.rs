//! Subcommands of `chime-eval`.

mod answers;
mod day;
mod recall;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::arguments::{EvalCommand, EvalContextOptions, EvalSpeedOptions};
use crate::context::{Evaluated, evaluate};
use crate::pack_file::read_pack;
use crate::recall_speed;
use crate::score::Prediction;
use crate::speed::measure;
use crate::{SelectorLimits, growth};
use chime::cli::exit::{Exit, report};
use chime_core::embed::Embedder;
use chime_runtime::clock::Clock;

pub async fn run(command: EvalCommand) -> Exit {
    let done = match command {
        EvalCommand::Context(options) => context(&options),
        EvalCommand::Recall(options) => recall::recall(&options).await,
        EvalCommand::Answers(options) => answers::run(&options).await,
        EvalCommand::Day(options) => day::run(&options).await,
        EvalCommand::Speed(options) => speed(&options).await,
    };
    match done {
        Ok(()) => Exit::Done,
        Err(error) => report(error.as_ref(), Exit::Failed),
    }
}

async fn speed(options: &EvalSpeedOptions) -> Result<(), Box<dyn std::error::Error>> {
    let mut all = Vec::new();
    options.plot.as_deref().map_or(Ok(()), try_out)?;
    for count in &options.messages {
        all.push(measure(*count, &Clock::system()).await?);
    }
    let mut recalling = Vec::new();
    if let Some(sessions) = options.sessions {
        let figures = recall_speed::measure(sessions, options.chats, &Clock::system()).await?;
        all.iter_mut().for_each(|of_size| of_size.recall_p95_ms = figures.recall_p95_ms);
        recalling.push(figures);
    }
    let mut out = std::io::stdout();
    // Fails if the reader closed the pipe, as `head` does, which is not an error.
    if !options.json {
        let _ = write!(out, "{}", growth::table(&all));
        if !recalling.is_empty() {
            let _ = write!(out, "{}", recall_speed::table(&recalling));
        }
    }
    for figures in &all {
        let _ = writeln!(out, "{}", serde_json::to_string(figures)?);
    }
    if let Some(path) = &options.plot {
        create(path)?.write_all(growth::plot(&all).as_bytes())?;
    }
    Ok(())
}

fn context(options: &EvalContextOptions) -> Result<(), Box<dyn std::error::Error>> {
    let embedder = Arc::new(Embedder::shipped()?);
    options.predictions.as_deref().map_or(Ok(()), try_out)?;
    let limits = SelectorLimits { k: options.k, tokens: options.tokens };
    let mut predictions = Vec::new();
    let mut all = BTreeMap::new();
    for folder in &options.packs {
        let pack = read_pack(folder)?;
        let mut bar = ProgressBar::new(&pack.name, pack.queries.len());
        let Evaluated { figures, predictions: of_pack } =
            evaluate(&pack, options.selector, Some(&embedder), limits, || bar.step());
        bar.end();
        predictions.extend(of_pack);
        all.insert(pack.name, figures);
    }
    if let Some(path) = &options.predictions {
        write_predictions(create(path)?, &predictions)?;
    }
    let text = if options.json { serde_json::to_string(&all)? } else { table(&all) };
    // Fails if the reader closed the pipe, as `head` does, which is not an error.
    let _ = writeln!(std::io::stdout(), "{text}");
    Ok(())
}

/// Error for a file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", .path.display())]
struct NotWritable {
    path: PathBuf,
    source: std::io::Error,
}

/// Checks before the work begins that the result file can be written. Its content stays until then.
fn try_out(path: &Path) -> Result<(), NotWritable> {
    open(path, File::options().append(true).create(true)).map(drop)
}

fn create(path: &Path) -> Result<File, NotWritable> {
    open(path, File::options().write(true).create(true).truncate(true))
}

fn open(path: &Path, options: &OpenOptions) -> Result<File, NotWritable> {
    options.open(path).map_err(|source| NotWritable { path: path.to_owned(), source })
}

fn write_predictions(file: File, predictions: &[Prediction]) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(file);
    for prediction in predictions {
        serde_json::to_writer(&mut file, prediction)?;
        file.write_all(b"\n")?;
    }
    file.flush()
}

/// Figures by pack, then by variant or slice, then by name.
type FiguresByPack = BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>>;

fn table(all: &FiguresByPack) -> String {
    let mut lines = Vec::new();
    for (pack, headings) in all {
        lines.push(pack.clone());
        for (heading, figures) in headings {
            let figure = |name: &str| figures.get(name).map_or("     -".to_owned(), |value| format!("{value:6.3}"));
            let counted = |name: &str| figures.get(name).map_or(0.0, |value| *value);
            lines.push(format!(
                "  {heading:<58} n {:>5.0}  cov {}  P {}  R {}  F1 {}  hitN {}  nsel {:5.2}  tok {:6.1}  gtok {:6.1}",
                counted("n"),
                figure("cov"),
                figure("P"),
                figure("R"),
                figure("F1"),
                figure("hitN"),
                counted("nsel"),
                counted("tok"),
                counted("gtok"),
            ));
        }
    }
    lines.join("\n")
}

/// Progress bar, shown on a terminal only.
struct ProgressBar<'a> {
    name: &'a str,
    total: usize,
    done: usize,
    is_shown: bool,
}

impl<'a> ProgressBar<'a> {
    fn new(name: &'a str, total: usize) -> Self {
        Self { name, total, done: 0, is_shown: std::io::stderr().is_terminal() }
    }

    fn step(&mut self) {
        self.done += 1;
        if self.is_shown && (self.done.is_multiple_of(20) || self.done == self.total) {
            let filled = 30 * self.done / self.total.max(1);
            let _ = write!(
                std::io::stderr(),
                "\r{:<16} [{}{}] {}/{}",
                self.name,
                "=".repeat(filled),
                " ".repeat(30 - filled),
                self.done,
                self.total
            );
        }
    }

    fn end(&self) {
        if self.is_shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
