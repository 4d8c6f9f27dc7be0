//! `chime-eval answers`: questions about made-up chats, answered by the daemon and by the same model with a plain
//! prompt.

mod case_runner;
mod plain;

pub use case_runner::CaseRunner;

use std::io::Write;

use serde::Serialize;

use crate::answers::{AnswerFigures, Answerer, Case, Judge, Judged, read, table};
use crate::arguments::EvalAnswersOptions;
use crate::commands::answers::plain::Plain;
use crate::commands::create;
use chime::cli::progress::ProgressBar;
use chime::telemetry;
use chime_core::config::LogFormat;
use chime_runtime::clock::Clock;

/// Settings of the run; the environment may set others.
const SETTINGS: [(&str, &str); 2] = [("MEMORY", "off"), ("RATE_LIMIT", "off")];

/// Content of the file for `--json`.
#[derive(Serialize)]
struct Report<'a> {
    answers: &'a [Judged],
    chime: AnswerFigures,
    plain: Option<AnswerFigures>,
}

pub async fn run(options: &EvalAnswersOptions) -> Result<(), Box<dyn std::error::Error>> {
    telemetry::start_quietly(LogFormat::Auto);
    let file = options.json.as_deref().map(create).transpose()?;
    let mut cases = read(&options.cases)?;
    cases.retain(|case| is_wanted(case, &options.only));
    if cases.is_empty() {
        return Err("there are no such cases".into());
    }
    let judge = Judge::of(&cases)?;
    let plain = (!options.no_plain).then(|| Plain::new(options)).transpose()?;
    let mut runner = CaseRunner::set(&options.server, &SETTINGS).await?;
    let played = play(&cases, &judge, &mut runner, plain.as_ref(), options.verbose).await;
    runner.close().await?;
    let judged = played?;
    let of = |answerer| AnswerFigures::of(judged.iter().filter(|one| one.answerer == answerer));
    if let Some(file) = file {
        let plain = plain.is_some().then(|| of(Answerer::Plain));
        let report = Report { answers: &judged, chime: of(Answerer::Chime), plain };
        serde_json::to_writer_pretty(file, &report)?;
    }
    // Fails if the reader closed the pipe, as `head` does, which is not an error.
    let _ = write!(std::io::stdout(), "{}", table(&judged));
    if of(Answerer::Chime).apologies == cases.len() {
        return Err(format!(
            "no question was answered: is a model server at {}, with a model called {}?",
            options.server.url, options.server.model
        )
        .into());
    }
    Ok(())
}

fn is_wanted(case: &Case, only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|wanted| *wanted == case.id || wanted == case.kind.as_str())
}

async fn play(
    cases: &[Case],
    judge: &Judge,
    runner: &mut CaseRunner,
    plain: Option<&Plain>,
    verbose: bool,
) -> Result<Vec<Judged>, Box<dyn std::error::Error>> {
    let clock = Clock::system();
    let mut judged = Vec::new();
    let mut bar = ProgressBar::start();
    for (done, case) in (1..).zip(cases) {
        let mut of_case = Vec::new();
        if let Some(plain) = plain {
            of_case.push((Answerer::Plain, plain.answer(case, &clock).await));
        }
        of_case.push((Answerer::Chime, runner.answer(case).await?));
        let of_case: Vec<Judged> = (of_case.into_iter())
            .map(|(answerer, answer)| {
                let verdict = judge.judge(case, &answer);
                Judged::new(case, answerer, answer, verdict)
            })
            .collect();
        if verbose {
            let _ = writeln!(std::io::stdout(), "{}", shown(case, &of_case));
        }
        judged.extend(of_case);
        bar.show(done, cases.len() as u64, "answers");
    }
    bar.end();
    Ok(judged)
}

/// Formats a question with its answers and their judgements.
fn shown(case: &Case, answers: &[Judged]) -> String {
    let mut text = format!("{} ({}, {}) {}: {}\n", case.id, case.kind.as_str(), case.language, case.asker, case.ask);
    for Judged { answerer, answer, verdict, .. } in answers {
        let source = match (answerer, verdict.is_sourced) {
            (Answerer::Plain, _) | (Answerer::Chime, None) => "",
            (Answerer::Chime, Some(true)) => ", sourced",
            (Answerer::Chime, Some(false)) => ", not sourced",
        };
        let language = if verdict.is_in_language { "" } else { ", other language" };
        let apology = if verdict.is_apology { ", apology" } else { "" };
        let internals =
            if verdict.internals.is_empty() { String::new() } else { format!(", shows {:?}", verdict.internals) };
        text.push_str(&format!(
            "  {} {}{source}{language}{apology}{internals}, {:.1} s, {} + {} tokens\n",
            answerer.name(),
            if verdict.is_right { "RIGHT" } else { "WRONG" },
            answer.seconds,
            answer.prompt_tokens,
            answer.answer_tokens,
        ));
        let lines = answer.text.lines().chain(answer.below.lines()).filter(|line| !line.trim().is_empty());
        lines.for_each(|line| text.push_str(&format!("    | {line}\n")));
    }
    text
}
