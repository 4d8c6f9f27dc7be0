//! Logging: for people on a terminal, JSON otherwise. Ids, counts and durations; never text, names or secrets.
//!
//! What is logged is also counted (`counters`), so that one event is a line and a number.

mod counters;

use std::io::IsTerminal;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use chime_core::config::{LogConfig, LogFormat};

pub use counters::{Count, Counters, counters};

/// Starts logging to stderr. A second call changes nothing.
pub fn start(config: &LogConfig) {
    start_with(config.format, config.level);
}

/// The same, for commands that talk to people themselves: beside them, only what went wrong.
pub fn start_quietly(format: LogFormat) {
    start_with(format, LevelFilter::ERROR);
}

/// Ours at the level asked for. Of foreign crates only trouble, whatever the level: at finer ones they write down
/// addresses with the token in them, and bodies.
fn filter(level: LevelFilter) -> Targets {
    let foreign = level.min(LevelFilter::WARN);
    // It logs whole bodies that it cannot read, as errors.
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
    // Phases and jobs are counted also where nobody reads of them.
    let counting = counters::Counting.with_filter(Targets::new().with_target("chime", LevelFilter::DEBUG));
    // The error says that logging was started before, by a test.
    let _ = tracing_subscriber::registry().with(lines.with_filter(filter(level))).with(counting).try_init();
    std::panic::set_hook(Box::new(|panic| {
        // The place, and not the message: it may quote what a member wrote.
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(panic.place = %place, "panic at {place}");
    }));
}
