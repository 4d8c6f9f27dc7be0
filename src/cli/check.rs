//! `chime check`: prints a finding for each thing that Chime needs.

use std::io::{IsTerminal, Write};

use crate::checkup::Severity;
use crate::checkup::probes::Checkup;
use crate::cli::arguments::CheckOptions;
use crate::cli::database;
use crate::cli::exit::{CommandResult, Exit};
use crate::telemetry;
use chime_core::config::LogFormat;
use chime_runtime::clock::Clock;

pub async fn run(options: CheckOptions) -> CommandResult {
    telemetry::start_quietly(LogFormat::Auto);
    let environment = database::environment()?;
    let checkup = Checkup { environment: &environment, clock: Clock::system(), offline: options.offline };
    let worst = checkup
        .run(|finding| {
            let mut out = std::io::stdout();
            let line = match (options.json, out.is_terminal()) {
                (true, _) => finding.as_json().to_string(),
                (false, true) => finding.for_terminal(),
                (false, false) => finding.to_string(),
            };
            // Fails if the reader closed the pipe, as `head` does, which is not an error.
            let _ = writeln!(out, "{line}");
        })
        .await;
    Ok(match worst {
        Severity::Ok | Severity::Warn => Exit::Done,
        Severity::Fail => Exit::CheckFailed,
    })
}
