//! `chime check`: prints a finding for each thing that Chime needs.

use std::io::Write;

use crate::checkup::Severity;
use crate::checkup::probes::Checkup;
use crate::cli::arguments::CheckOptions;
use crate::cli::exit::{Exit, report};
use crate::telemetry;
use chime_core::config::{Environment, LogFormat};
use chime_runtime::clock::Clock;

pub async fn run(options: CheckOptions) -> Exit {
    telemetry::start_quietly(LogFormat::Auto);
    let environment = match std::env::current_dir() {
        Ok(folder) => Environment::read(&folder),
        Err(error) => return report(&error, Exit::Failed),
    };
    let checkup = Checkup { environment: &environment, clock: Clock::system(), offline: options.offline };
    let worst = checkup
        .run(|finding| {
            let line = if options.json { finding.as_json().to_string() } else { finding.to_string() };
            // Fails if the reader closed the pipe, as `head` does, which is not an error.
            let _ = writeln!(std::io::stdout(), "{line}");
        })
        .await;
    match worst {
        Severity::Ok | Severity::Warn => Exit::Done,
        Severity::Fail => Exit::CheckFailed,
    }
}
