//! Logging: for people on a terminal, JSON otherwise. Ids, counts and durations; never text, names or secrets.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::config::LogFormat;

/// Foreign targets that are told to be quiet: async-openai logs whole bodies when it cannot read them.
const FILTER: &str = "info,async_openai=off,hyper=warn,reqwest=warn,h2=warn";
/// Beside a chat in a terminal, only what went wrong.
const QUIET: &str = "error,async_openai=off";

/// Starts logging to stderr. A second call changes nothing.
pub fn start(format: LogFormat) {
    start_with(format, FILTER);
}

/// The same, for commands that talk to people themselves.
pub fn start_quietly(format: LogFormat) {
    start_with(format, QUIET);
}

fn start_with(format: LogFormat, filter: &str) {
    let json = match format {
        LogFormat::Json => true,
        LogFormat::Human => false,
        LogFormat::Auto => !std::io::stderr().is_terminal(),
    };
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_writer(BoxMakeWriter::new(std::io::stderr))
        .with_ansi(std::io::stderr().is_terminal());
    // The error says that logging was started before, by a test.
    let _ = if json { builder.json().flatten_event(true).try_init() } else { builder.try_init() };
    std::panic::set_hook(Box::new(|panic| {
        // The place, and not the message: it may quote what a member wrote.
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(panic.place = %place, "panic at {place}");
    }));
}
