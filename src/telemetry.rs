//! Logging: text on a terminal, JSON otherwise. Logs contain ids, counts and durations, but no text, names or secrets.
//!
//! Logged events are also counted for metrics (`counters`).

mod counters;

use std::io::IsTerminal;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use chime_core::config::{LogConfig, LogFormat};

pub use counters::{CountedMetric, Counters, counters};

/// Starts logging to stderr. A second call changes nothing.
pub fn start(config: &LogConfig) {
    start_with(config.format, config.level);
}

/// Starts logging of errors only, for commands with output of their own.
pub fn start_quietly(format: LogFormat) {
    start_with(format, LevelFilter::ERROR);
}

/// Logs our crates at the requested level and others at warnings at most: at finer levels they log URLs with the token,
/// and bodies.
fn filter(level: LevelFilter) -> Targets {
    let foreign = level.min(LevelFilter::WARN);
    // async_openai logs whole bodies that it cannot parse, as errors.
    Targets::new().with_default(foreign).with_target("async_openai", LevelFilter::OFF).with_target("chime", level)
}

fn start_with(format: LogFormat, level: LevelFilter) {
    let json = match format {
        LogFormat::Json => true,
        LogFormat::Human => false,
        LogFormat::Auto => !std::io::stderr().is_terminal(),
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(BoxMakeWriter::new(std::io::stderr))
        .with_ansi(std::io::stderr().is_terminal());
    let lines = if json { lines.json().flatten_event(true).boxed() } else { lines.boxed() };
    // Phases and jobs are counted even if their lines are not logged.
    let counting = counters::EventCounter.with_filter(Targets::new().with_target("chime", LevelFilter::DEBUG));
    // Fails if a test has started logging before.
    let _ = tracing_subscriber::registry().with(lines.with_filter(filter(level))).with(counting).try_init();
    std::panic::set_hook(Box::new(|panic| {
        // Logs the location without the message, which may quote a member.
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(panic.place = %place, "panic at {place}");
    }));
}
