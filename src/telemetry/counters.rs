//! Counts log events, for `/metrics`.

use std::fmt;

use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Maximum number of labels of a metric. Labels are a few fixed words of our own code. If a bug makes more, they are
/// not counted, so that they cannot fill the memory.
const MOST_LABELS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventMetric {
    /// First word of the message of the log events.
    pub event: &'static str,
    pub name: &'static str,
    pub help: &'static str,
    /// Name of the label, whose value is the event's `type`, `error_type`, `reason` or `phase`. Empty for no label.
    pub label: &'static str,
    /// Values of the label that are shown from the start.
    pub labels: &'static [&'static str],
    pub kind: MetricKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Counter,
    /// Number and sum of the values.
    Summary,
}

const fn counter(event: &'static str, name: &'static str, help: &'static str, label: &'static str) -> EventMetric {
    EventMetric { event, name, help, label, labels: from_start(label), kind: MetricKind::Counter }
}

const fn summary(event: &'static str, name: &'static str, help: &'static str, label: &'static str) -> EventMetric {
    EventMetric { event, name, help, label, labels: from_start(label), kind: MetricKind::Summary }
}

/// Returns the label of a metric without labels.
const fn from_start(label: &str) -> &'static [&'static str] {
    if label.is_empty() { &[""] } else { &[] }
}

/// Errors that a member notices, as counted for `chat.error`.
const ERRORS: [&str; 10] = [
    "broke_off",
    "filtered",
    "malformed",
    "refused",
    "throttled",
    "timed_out",
    "unavailable",
    "undeliverable",
    "unreachable",
    "unusable_answer",
];

/// Metric of the log lines at the levels of warning and error, by level.
const LINES: EventMetric =
    counter("", "chime_log_lines_total", "Log lines at the levels of warning and error.", "level");

/// All metrics of log events. Messages that are only stored are not counted by log events, since there may be hundreds
/// of them for each question.
pub const EVENT_METRICS: [EventMetric; 15] = [
    counter(
        "chat.event",
        "chime_events_total",
        "Events while questions are answered, by type; message_received: a question.",
        "type",
    ),
    counter("chat.rate_limit", "chime_refusals_total", "Questions refused by a limit, by type.", "type"),
    EventMetric {
        labels: &ERRORS,
        ..counter("chat.error", "chime_errors_total", "Errors while questions are answered, by type.", "type")
    },
    counter(
        "chat.guard",
        "chime_guards_total",
        "Questions refused because no source was relevant enough, by reason.",
        "reason",
    ),
    counter("chat.feedback", "chime_feedback_total", "Thumbs up and down on answers.", "type"),
    counter("chat.follow_up", "chime_follow_ups_total", "Questions about earlier suggestions, by result.", "type"),
    counter("recall.vectors", "chime_answers_total", "Answers of the model, by their use of vectors.", "vectors"),
    LINES,
    counter("update.parked", "chime_updates_parked_total", "Updates that could not be stored, by kind.", "type"),
    counter(
        "context.cited_outside_focus",
        "chime_context_cited_outside_focus_total",
        "Citations of messages outside the focus.",
        "",
    ),
    counter(
        "answer.unfounded",
        "chime_unfounded_statements_total",
        "Statements in answers with a number or name that is not in the prompt.",
        "",
    ),
    counter(
        "model.prompt_tokens_reused",
        "chime_prompt_tokens_reused_total",
        "Prompt tokens that the model server had in its cache.",
        "",
    ),
    summary(
        "recall.vectors",
        "chime_vector_distance",
        "Cosine distances of messages and summaries found by vectors.",
        "",
    ),
    summary("chat.metrics", "chime_phase_seconds", "Duration of the phases of an answer, by phase.", "phase"),
    summary("job.ended", "chime_job_seconds", "Duration of job runs, by kind.", "kind"),
];

/// Number and sum of the values counted under one label of a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    pub metric: &'static str,
    pub label: String,
    pub count: u64,
    pub sum: f64,
}

/// Counts of the whole process, since its start.
static COUNTED: Mutex<Vec<Counted>> = Mutex::new(Vec::new());

/// Returns what was counted, sorted by label.
pub fn counted() -> Vec<Counted> {
    let mut counted = COUNTED.lock().clone();
    counted.sort_by(|a, b| a.label.cmp(&b.label));
    counted
}

fn add(metric: &EventMetric, label: &str, count: u64, sum: f64) {
    let label = if metric.label.is_empty() { "" } else { label };
    let mut counted = COUNTED.lock();
    let of_metric = counted.iter().filter(|one| one.metric == metric.name).count();
    match counted.iter_mut().find(|one| one.metric == metric.name && one.label == label) {
        Some(one) => (one.count, one.sum) = (one.count + count, one.sum + sum),
        None if of_metric < MOST_LABELS => {
            counted.push(Counted { metric: metric.name, label: label.to_owned(), count, sum });
        }
        None => {}
    }
}

/// Layer of the tracing subscriber that counts events.
#[derive(Debug)]
pub struct EventCounter;

impl<S: Subscriber> Layer<S> for EventCounter {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut seen = EventFields::default();
        event.record(&mut seen);
        let level = *event.metadata().level();
        if level <= tracing::Level::WARN {
            add(&LINES, if level == tracing::Level::ERROR { "error" } else { "warn" }, 1, 0.0);
        }
        let name = seen.message.split(':').next().unwrap_or_default();
        let label = seen.label.unwrap_or_default();
        let seconds = seen.ms.unwrap_or_default() as f64 / 1000.0;
        for metric in EVENT_METRICS.iter().filter(|metric| metric.event == name && !name.is_empty()) {
            match (metric.kind, metric.label) {
                (MetricKind::Counter, "") => add(metric, "", seen.count.unwrap_or_default(), 0.0),
                (MetricKind::Counter, _) => add(metric, &label, 1, 0.0),
                (MetricKind::Summary, "") => {
                    add(metric, "", seen.count.unwrap_or_default(), seen.distance.unwrap_or_default());
                }
                (MetricKind::Summary, _) => add(metric, &label, 1, seconds),
            }
        }
    }
}

#[derive(Default)]
struct EventFields {
    message: String,
    label: Option<String>,
    ms: Option<u64>,
    count: Option<u64>,
    distance: Option<f64>,
}

impl Visit for EventFields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "ms" => self.ms = Some(value),
            "count" => self.count = Some(value),
            _ => {}
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == "distance" {
            self.distance = Some(value);
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if matches!(field.name(), "type" | "error_type" | "reason" | "phase") {
            self.label = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn events_of_the_contract_are_counted_by_their_type() {
        let subscriber = tracing_subscriber::registry().with(EventCounter);
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(r#type = "counted_here", "chat.rate_limit");
            tracing::warn!(error_type = "counted_here", "chat.error: the model did not answer");
            tracing::info!(phase = "counted_here", ms = 40_u64, "chat.metrics");
            tracing::info!(phase = "counted_here", ms = 2_u64, "chat.metrics");
            tracing::info!(r#type = "counted_here", "something else");
            tracing::debug!(r#type = "counted_here", ms = 7_u64, "job.ended");
            tracing::info!(count = 3_u64, "context.cited_outside_focus");
            tracing::debug!(r#type = "used", count = 2_u64, distance = 0.5, "recall.vectors");
        });
        let sums = |label: &str, metric: &str| {
            let counted = counted().into_iter().filter(|one| one.label == label && one.metric == metric);
            counted.map(|one| (one.count, one.sum)).collect::<Vec<_>>()
        };
        assert_eq!(sums("", "chime_context_cited_outside_focus_total"), [(3, 0.0)]);
        assert_eq!(sums("used", "chime_answers_total"), [(1, 0.0)]);
        assert_eq!(sums("", "chime_vector_distance"), [(2, 0.5)]);
        assert_eq!(sums("counted_here", "chime_job_seconds"), [(1, 0.007)]);
        assert_eq!(sums("counted_here", "chime_phase_seconds"), [(2, 0.042)]);
        let labelled: BTreeSet<&str> =
            counted().iter().filter(|one| one.label == "counted_here").map(|one| one.metric).collect();
        let expected = ["chime_errors_total", "chime_job_seconds", "chime_phase_seconds", "chime_refusals_total"];
        assert_eq!(labelled, BTreeSet::from(expected), "an event without a metric is not counted");
    }
}
