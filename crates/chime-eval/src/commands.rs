//! Subcommands of `chime-eval`.

mod answers;
mod day;
mod recall;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::arguments::{EvalCommand, EvalContextOptions, EvalOutput, EvalSpeedOptions};
use crate::context::{Evaluated, evaluate};
use crate::pack::Pack;
use crate::pack_file::read_pack;
use crate::recall_speed;
use crate::score::Prediction;
use crate::speed::measure;
use crate::{SelectorLimits, growth};
use chime::cli::exit::{Exit, report};
use chime::cli::progress::ProgressBar;
use chime_core::embed::Embedder;
use chime_runtime::clock::Clock;

pub async fn run(command: EvalCommand) -> Exit {
    let done = match command {
        EvalCommand::Context(options) => context(&options).await,
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
        if options.plot {
            let _ = writeln!(out, "{}", growth::plot(&all));
        }
        if !recalling.is_empty() {
            let _ = write!(out, "{}", recall_speed::table(&recalling));
        }
    }
    for figures in &all {
        let _ = writeln!(out, "{}", serde_json::to_string(figures)?);
    }
    Ok(())
}

async fn context(options: &EvalContextOptions) -> Result<(), Box<dyn std::error::Error>> {
    let embedder = Arc::new(Embedder::shipped()?);
    let limits = SelectorLimits { k: options.k, tokens: options.tokens };
    let select = async |pack: &Pack, bar: &mut ProgressBar| {
        let (mut done, total) = (0, pack.queries.len() as u64);
        Ok(evaluate(pack, options.selector, Some(&embedder), limits, || {
            done += 1;
            bar.show(done, total, &pack.name);
        }))
    };
    each_pack(&options.output, select, table).await
}

/// Reads and evaluates each pack, then writes the figures and the predictions.
async fn each_pack(
    output: &EvalOutput,
    evaluate: impl AsyncFn(&Pack, &mut ProgressBar) -> anyhow::Result<Evaluated>,
    table: fn(&FiguresByPack) -> String,
) -> Result<(), Box<dyn std::error::Error>> {
    let file = output.predictions.as_deref().map(create).transpose()?;
    let (mut predictions, mut all) = (Vec::new(), BTreeMap::new());
    for folder in &output.packs {
        let pack = read_pack(folder)?;
        let mut bar = ProgressBar::start();
        let Evaluated { figures, predictions: of_pack } = evaluate(&pack, &mut bar).await?;
        bar.end();
        predictions.extend(of_pack);
        all.insert(pack.name, figures);
    }
    if let Some(file) = file {
        write_predictions(file, &predictions)?;
    }
    let text = if output.json { serde_json::to_string(&all)? } else { table(&all) };
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

/// Creates a result file. Called before the work begins, whose result would be lost if it could not be written.
fn create(path: &Path) -> Result<File, NotWritable> {
    File::create(path).map_err(|source| NotWritable { path: path.to_owned(), source })
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
