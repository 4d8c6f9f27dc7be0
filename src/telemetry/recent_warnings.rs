//! Keeps the last warnings and errors of the log, for the owners' page.

use std::collections::VecDeque;
use std::fmt::{self, Write};

use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use chime_console::LoggedWarning;
use chime_runtime::clock::Clock;

/// Number of warnings that are kept, and maximum characters of each.
const MOST: usize = 50;
const LONGEST: usize = 500;

static RECENT: Mutex<VecDeque<LoggedWarning>> = Mutex::new(VecDeque::new());

/// Returns the last warnings and errors, newest first.
pub fn recent_warnings() -> Vec<LoggedWarning> {
    RECENT.lock().iter().rev().cloned().collect()
}

/// Layer of the tracing subscriber that keeps warnings and errors.
#[derive(Debug)]
pub struct WarningKeeper;

impl<S: Subscriber> Layer<S> for WarningKeeper {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let level = if *event.metadata().level() == Level::ERROR { "error" } else { "warn" };
        let mut line = LogLine::default();
        event.record(&mut line);
        let text = chime_core::clip(&format!("{}{}", line.message, line.fields), LONGEST).into_owned();
        let warning = LoggedWarning { at: Clock::system().now(), level, text };
        let mut recent = RECENT.lock();
        if recent.len() == MOST {
            recent.pop_front();
        }
        recent.push_back(warning);
    }
}

/// Message of a log line, and its other fields as ` name=value`.
#[derive(Default)]
struct LogLine {
    message: String,
    fields: String,
}

impl Visit for LogLine {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let written = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
        // Writing to a `String` does not fail.
        let _ = written;
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn warnings_are_kept_with_their_fields_newest_first() {
        let subscriber = tracing_subscriber::registry().with(WarningKeeper);
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(tries = 2, "kept here");
            tracing::error!(error = %"the moon was full", "also kept here");
            for n in 0..MOST - 2 {
                tracing::warn!("number {n}");
            }
        });
        let kept = recent_warnings();
        assert_eq!((kept.len(), kept[0].text.as_str()), (MOST, "number 47"));
        let last: Vec<(&str, &str)> = kept[MOST - 2..].iter().map(|kept| (kept.level, kept.text.as_str())).collect();
        assert_eq!(last, [("error", "also kept here error=the moon was full"), ("warn", "kept here tries=2")]);
    }
}
