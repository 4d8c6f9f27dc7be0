//! Logging: as text in a terminal, otherwise as JSON. Logs contain ids, counts and durations, but no texts of members,
//! no names and no secrets.
//!
//! Log events are also counted, for the metrics (`counters`).

mod counters;
mod recent_warnings;

use std::io::IsTerminal;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use chime_core::config::{LogConfig, LogFormat};

pub use counters::{Counted, EVENT_METRICS, MetricKind, counted};
pub use recent_warnings::recent_warnings;

/// Starts logging to stderr. A second call changes nothing.
pub fn start(config: &LogConfig) {
    start_with(config.format, config.level);
}

/// Starts logging of errors only, for commands that print output themselves.
pub fn start_quietly(format: LogFormat) {
    start_with(format, LevelFilter::ERROR);
}

/// Logs our own crates at the requested level, but others at most at the level of warnings: below it, they log message
/// bodies, and addresses that contain the bot token.
fn filter(level: LevelFilter) -> Targets {
    let foreign = level.min(LevelFilter::WARN);
    Targets::new().with_default(foreign).with_target("chime", level)
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
    // Counts phases and jobs also if their lines are not logged.
    let counting = counters::EventCounter.with_filter(Targets::new().with_target("chime", LevelFilter::DEBUG));
    let keeping = recent_warnings::WarningKeeper.with_filter(filter(level.min(LevelFilter::WARN)));
    // Fails if a test has started logging already.
    let _ =
        tracing_subscriber::registry().with(lines.with_filter(filter(level))).with(counting).with(keeping).try_init();
    std::panic::set_hook(Box::new(|panic| {
        // Logs only the place: the message of the panic may contain text of a member.
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(panic.place = %place, "panic at {place}");
    }));
}
