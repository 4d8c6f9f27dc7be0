//! Counts log events, for `/metrics`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Maximum number of labels of a metric. Labels are a few fixed words of our own code; if a bug makes more, they are
/// not counted, so that they cannot fill the memory.
const MOST_LABELS: usize = 64;

/// Counters of the whole process.
static COUNTERS: Counters = Counters(Mutex::new(CounterValues::new()));

pub fn counters() -> &'static Counters {
    &COUNTERS
}

/// Counters of log events since the start of the process.
#[derive(Debug)]
pub struct Counters(Mutex<CounterValues>);

#[derive(Debug)]
struct CounterValues {
    /// Counts by metric and label.
    counts: BTreeMap<CountedMetric, BTreeMap<String, u64>>,
    /// Number of calls and total milliseconds of each phase.
    phases: Times,
    /// Number of attempts and total milliseconds of each kind of job.
    jobs: Times,
    /// Number of sources found by vectors, and the sum of their cosine distances.
    vector_distances: (u64, f64),
}

/// Number and total milliseconds of each label.
type Times = BTreeMap<String, (u64, u64)>;

/// Log event that is counted, with the field that is its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CountedMetric {
    /// `chat.event`, by `type`.
    Events,
    /// `chat.rate_limit`, by `type`.
    Refusals,
    /// `chat.error`, by `error_type`.
    Errors,
    /// `chat.guard`, by `reason`.
    Guards,
    /// `chat.feedback`, by `type`.
    Feedback,
    /// `chat.follow_up`, by `type`.
    FollowUps,
    /// `recall.vectors`, by `type`.
    Vectors,
    /// Lines at the levels of warning and error, by level.
    Lines,
    /// Sum of the field `count` of `chat.total`, by `type`.
    Totals,
}

impl Counters {
    /// Returns each metric with its labels and counts.
    pub fn counts(&self) -> Vec<(CountedMetric, String, u64)> {
        let tally = self.tally();
        let all = tally.counts.iter();
        all.flat_map(|(count, labels)| labels.iter().map(|(label, n)| (*count, label.clone(), *n))).collect()
    }

    /// Returns each phase with its number of calls and total milliseconds. The events are `chat.metrics`.
    pub fn phases(&self) -> Vec<(String, u64, u64)> {
        listed(&self.tally().phases)
    }

    /// Returns each kind of job with its number of attempts and total milliseconds. The events are `job.ended`.
    pub fn jobs(&self) -> Vec<(String, u64, u64)> {
        listed(&self.tally().jobs)
    }

    /// Returns the number of sources found by vectors, and the sum of their cosine distances. The events are
    /// `recall.vectors`.
    pub fn vector_distances(&self) -> (u64, f64) {
        self.tally().vector_distances
    }

    fn tally(&self) -> MutexGuard<'_, CounterValues> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CounterValues {
    const fn new() -> Self {
        Self { counts: BTreeMap::new(), phases: BTreeMap::new(), jobs: BTreeMap::new(), vector_distances: (0, 0.0) }
    }

    fn count(&mut self, count: CountedMetric, label: &str) {
        self.add(count, label, 1);
    }

    fn add(&mut self, count: CountedMetric, label: &str, times: u64) {
        let labels = self.counts.entry(count).or_default();
        if labels.len() < MOST_LABELS || labels.contains_key(label) {
            *labels.entry(label.to_owned()).or_default() += times;
        }
    }
}

fn listed(times: &Times) -> Vec<(String, u64, u64)> {
    times.iter().map(|(label, (count, ms))| (label.clone(), *count, *ms)).collect()
}

fn time(times: &mut Times, label: String, ms: u64) {
    if times.len() < MOST_LABELS || times.contains_key(&label) {
        let (count, total) = times.entry(label).or_default();
        *count += 1;
        *total += ms;
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
        let mut tally = COUNTERS.tally();
        if level <= tracing::Level::WARN {
            tally.count(CountedMetric::Lines, if level == tracing::Level::ERROR { "error" } else { "warn" });
        }
        let kind = seen.kind.unwrap_or_default();
        match seen.message.split(':').next().unwrap_or_default() {
            "chat.event" => tally.count(CountedMetric::Events, &kind),
            "chat.rate_limit" => tally.count(CountedMetric::Refusals, &kind),
            "chat.follow_up" => tally.count(CountedMetric::FollowUps, &kind),
            "chat.feedback" => tally.count(CountedMetric::Feedback, &kind),
            "chat.guard" => tally.count(CountedMetric::Guards, &kind),
            "chat.error" => tally.count(CountedMetric::Errors, &kind),
            "chat.metrics" => time(&mut tally.phases, seen.phase.unwrap_or_default(), seen.ms.unwrap_or_default()),
            "job.ended" => time(&mut tally.jobs, kind, seen.ms.unwrap_or_default()),
            "recall.vectors" => {
                tally.count(CountedMetric::Vectors, &kind);
                tally.vector_distances.0 += seen.count.unwrap_or_default();
                tally.vector_distances.1 += seen.distance.unwrap_or_default();
            }
            "chat.total" => tally.add(CountedMetric::Totals, &kind, seen.count.unwrap_or_default()),
            _ => {}
        }
    }
}

/// Fields of a log event that counting needs.
#[derive(Default)]
struct EventFields {
    message: String,
    kind: Option<String>,
    phase: Option<String>,
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
        match field.name() {
            "type" | "error_type" | "reason" => self.kind = Some(value.to_owned()),
            "phase" => self.phase = Some(value.to_owned()),
            _ => {}
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
            tracing::info!(r#type = "added_up", count = 3_u64, "chat.total");
            tracing::debug!(r#type = "used", count = 2_u64, distance = 0.5, "recall.vectors");
        });
        assert!(counters().counts().contains(&(CountedMetric::Totals, "added_up".to_owned(), 3)));
        assert!(counters().counts().contains(&(CountedMetric::Vectors, "used".to_owned(), 1)));
        assert_eq!(counters().vector_distances(), (2, 0.5));
        let counted: Vec<(CountedMetric, u64)> = counters()
            .counts()
            .into_iter()
            .filter(|(_, label, _)| label == "counted_here")
            .map(|(count, _, n)| (count, n))
            .collect();
        assert_eq!(counted, [(CountedMetric::Refusals, 1), (CountedMetric::Errors, 1)]);
        assert_eq!(counters().jobs(), [("counted_here".to_owned(), 1, 7)]);
        assert!(counters().phases().contains(&("counted_here".to_owned(), 2, 42)));
    }
}
