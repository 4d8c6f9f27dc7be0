//! Builds health reports and metrics from measurements. Pure.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::app::BackupState;
use crate::telemetry::{Counted, EVENT_METRICS, MetricKind};
use chime_access::gateway::GuardState;
use chime_bot::ingest::intake::{PollTrouble, TroubleKind};
use chime_core::config::rounded_size;
use chime_store::disk::LEAST_FREE;
use chime_store::usage::DayTotal;

/// Telegram may be unreachable for this time before the daemon counts as failing.
const TOLERATED_OUTAGE: Duration = Duration::from_secs(15);
/// Difference from Telegram's clock above which the ages of messages are wrong and certificates may look invalid.
const SKEW_HARMFUL: Duration = Duration::from_secs(300);

/// State of the daemon from which its health and its metrics are reported.
#[derive(Debug, Clone)]
pub struct Vitals {
    pub poll_age: Duration,
    /// Maximum time that a working poll takes.
    pub poll_patience: Duration,
    pub trouble: Option<PollTrouble>,
    /// Seconds by which this machine's clock is ahead of Telegram's.
    pub clock_ahead_s: Option<i64>,
    /// Values from the database, or the reason why it cannot be read.
    pub kept: Result<DatabaseStats, String>,
    pub guard: GuardState,
    /// `None` if no daily backups are made.
    pub backups: Option<BackupState>,
    pub memory_bytes: Option<u64>,
    pub counted: Vec<Counted>,
    /// Kind of job, number of due jobs, and number of parked jobs.
    pub waiting: Vec<(&'static str, u64, u64)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DatabaseStats {
    pub jobs_due: u64,
    pub jobs_parked: u64,
    pub today: DayTotal,
    pub database_bytes: u64,
    /// Bytes that may still be written on the disk of the database; `None` if this is unknown.
    pub free_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Ok,
    /// Members notice a problem, but a restart would not help.
    Degraded,
    /// No updates arrive, or nothing can be stored.
    Failing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub status: Status,
    pub reasons: Vec<String>,
}

impl Health {
    pub fn of(vitals: &Vitals) -> Self {
        let mut failing = Vec::new();
        let mut degraded = Vec::new();
        if vitals.poll_age > vitals.poll_patience {
            failing.push(format!("a poll has not come back for {} s", vitals.poll_age.as_secs()));
        }
        if let Some(trouble) = &vitals.trouble {
            let reasons = if is_failing(trouble) { &mut failing } else { &mut degraded };
            reasons.push(described(trouble));
        }
        match &vitals.kept {
            Err(error) => failing.push(format!("the database cannot be read: {error}")),
            Ok(kept) => {
                if kept.jobs_parked > 0 {
                    degraded.push(format!("{} jobs are parked, see chime check", kept.jobs_parked));
                }
                if let Some(free) = kept.free_bytes.filter(|free| *free < LEAST_FREE) {
                    degraded.push(format!("only {} are free on the disk of the database", rounded_size(free)));
                }
            }
        }
        if let Some(ahead) = vitals.clock_ahead_s.filter(|ahead| ahead.unsigned_abs() > SKEW_HARMFUL.as_secs()) {
            let side = if ahead > 0 { "ahead of" } else { "behind" };
            degraded.push(format!("the clock of this machine is {} s {side} Telegram's", ahead.unsigned_abs()));
        }
        if !vitals.guard.is_closed {
            degraded.push("the model server keeps failing".to_owned());
        } else if vitals.guard.has_failed {
            degraded.push("the last call of the model failed".to_owned());
        }
        if let Some(failure) = vitals.backups.as_ref().and_then(|backups| backups.failure.as_ref()) {
            degraded.push(format!("the daily backup failed: {failure}"));
        }
        if let Some(copy) = vitals.backups.as_ref().and_then(|backups| backups.from_future.as_ref()) {
            degraded.push(format!("the backup {} is dated in the future; delete it", copy.display()));
        }
        let status = match (failing.is_empty(), degraded.is_empty()) {
            (false, _) => Status::Failing,
            (true, false) => Status::Degraded,
            (true, true) => Status::Ok,
        };
        failing.extend(degraded);
        Self { status, reasons: failing }
    }

    pub fn http_status(&self) -> u16 {
        match self.status {
            Status::Ok | Status::Degraded => 200,
            Status::Failing => 503,
        }
    }

    pub fn as_json(&self, vitals: &Vitals) -> Value {
        let kept = vitals.kept.as_ref().ok();
        json!({
            "status": match self.status {
                Status::Ok => "ok",
                Status::Degraded => "degraded",
                Status::Failing => "failing",
            },
            "reasons": self.reasons,
            "last_poll_age_s": vitals.poll_age.as_millis() as f64 / 1000.0,
            "clock_skew_s": vitals.clock_ahead_s,
            "jobs_due": kept.map(|kept| kept.jobs_due),
            "jobs_parked": kept.map(|kept| kept.jobs_parked),
            "backup_age_s": vitals.backups.as_ref().and_then(|backups| backups.age).map(|age| age.as_secs()),
            "breaker": if vitals.guard.is_closed { "closed" } else { "open" },
        })
    }
}

/// Returns `true` if the daemon counts as failing because of the problem.
fn is_failing(trouble: &PollTrouble) -> bool {
    trouble.kind != TroubleKind::Polling || trouble.lasting >= TOLERATED_OUTAGE
}

fn described(trouble: &PollTrouble) -> String {
    let PollTrouble { kind, what, lasting } = trouble;
    match kind {
        TroubleKind::Storing => format!("updates cannot be stored: {what}"),
        TroubleKind::Conflict => format!("another instance polls with this token: {what}"),
        TroubleKind::Polling => format!("polling has failed for {} s: {what}", lasting.as_secs()),
    }
}

/// Formats the metrics in Prometheus's text format.
pub fn metrics(vitals: &Vitals) -> String {
    let mut text = Exposition::default();
    text.gauge("chime_up", "1 unless the health check fails.", f64::from(Health::of(vitals).status != Status::Failing));
    text.gauge("chime_last_poll_age_seconds", "Seconds since the last poll returned.", vitals.poll_age.as_secs_f64());
    text.gauge(
        "chime_breaker_open",
        "1 while no calls are made because the model server keeps failing.",
        f64::from(!vitals.guard.is_closed),
    );
    let has_failed = f64::from(vitals.guard.has_failed);
    text.gauge("chime_model_failed", "1 if the last call of the answering model failed.", has_failed);
    let failing = vitals.guard.open_conversations as f64;
    text.gauge("chime_conversations_failing", "Conversations in which calls of the model keep failing.", failing);
    if let Ok(kept) = &vitals.kept {
        text.gauge("chime_jobs_due", "Jobs that wait to run.", kept.jobs_due as f64);
        text.gauge(
            "chime_jobs_parked",
            "Jobs that failed and are not tried again by themselves.",
            kept.jobs_parked as f64,
        );
        text.gauge("chime_database_bytes", "Size of the database.", kept.database_bytes as f64);
        if let Some(free) = kept.free_bytes {
            text.gauge("chime_disk_free_bytes", "Free space on the disk of the database.", free as f64);
        }
        text.gauge("chime_model_calls_today", "Calls of the model since 00:00 UTC.", kept.today.calls as f64);
        text.gauge("chime_prompt_tokens_today", "Prompt tokens since 00:00 UTC.", kept.today.tokens.prompt as f64);
        let written = kept.today.tokens.completion as f64;
        text.gauge("chime_completion_tokens_today", "Tokens that the model wrote since 00:00 UTC.", written);
        text.gauge("chime_cost_today", "Cost of the model since 00:00 UTC.", kept.today.cost_micros as f64 / 1e6);
    }
    if let Some(BackupState { age, failure, .. }) = &vitals.backups {
        let age = age.map_or(f64::INFINITY, |age| age.as_secs_f64());
        text.gauge("chime_backup_age_seconds", "Age of the newest daily backup; inf if there is none.", age);
        text.gauge("chime_backup_failed", "1 if the last daily backup failed.", f64::from(failure.is_some()));
    }
    if let Some(bytes) = vitals.memory_bytes {
        text.gauge("chime_resident_memory_bytes", "Resident memory.", bytes as f64);
    }
    let waiting = || vitals.waiting.iter();
    text.head("chime_job_kind_due", "Jobs that wait to run, by kind; periodic jobs always do.", "gauge");
    text.samples("chime_job_kind_due", "kind", waiting().map(|(kind, due, _)| (*kind, *due as f64)));
    text.head("chime_job_kind_parked", "Jobs that failed and are not tried again by themselves, by kind.", "gauge");
    text.samples("chime_job_kind_parked", "kind", waiting().map(|(kind, _, parked)| (*kind, *parked as f64)));
    for metric in EVENT_METRICS {
        let mut counted: Vec<Counted> =
            vitals.counted.iter().filter(|one| one.metric == metric.name).cloned().collect();
        // Prometheus sees no increase in a counter whose first value is 1.
        for label in metric.labels {
            if counted.iter().all(|one| one.label != *label) {
                counted.push(Counted { metric: metric.name, label: (*label).to_owned(), count: 0, sum: 0.0 });
            }
        }
        let counts = || counted.iter().map(|one| (one.label.as_str(), one.count as f64));
        match metric.kind {
            MetricKind::Counter => {
                text.head(metric.name, metric.help, "counter");
                text.samples(metric.name, metric.label, counts());
            }
            MetricKind::Summary => {
                text.head(metric.name, metric.help, "summary");
                text.samples(&format!("{}_count", metric.name), metric.label, counts());
                let sums = counted.iter().map(|one| (one.label.as_str(), one.sum));
                text.samples(&format!("{}_sum", metric.name), metric.label, sums);
            }
        }
    }
    text.text
}

/// Text of the metrics while it is built.
#[derive(Debug, Default)]
struct Exposition {
    text: String,
}

impl Exposition {
    fn head(&mut self, name: &str, what: &str, kind: &str) {
        let _ = writeln!(self.text, "# HELP {name} {what}\n# TYPE {name} {kind}");
    }

    fn gauge(&mut self, name: &str, what: &str, value: f64) {
        self.head(name, what, "gauge");
        let _ = writeln!(self.text, "{name} {value}");
    }

    fn samples<'a>(&mut self, name: &str, label: &str, values: impl Iterator<Item = (&'a str, f64)>) {
        for (value, n) in values {
            if label.is_empty() {
                let _ = writeln!(self.text, "{name} {n}");
                continue;
            }
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = writeln!(self.text, "{name}{{{label}=\"{escaped}\"}} {n}");
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use chime_core::TokenUse;

    fn well() -> Vitals {
        Vitals {
            poll_age: Duration::from_millis(1500),
            poll_patience: Duration::from_secs(80),
            trouble: None,
            clock_ahead_s: Some(0),
            kept: Ok(DatabaseStats { jobs_due: 2, ..DatabaseStats::default() }),
            guard: GuardState { is_closed: true, has_failed: false, open_conversations: 0 },
            backups: None,
            memory_bytes: None,
            counted: Vec::new(),
            waiting: Vec::new(),
        }
    }

    fn trouble(kind: TroubleKind, lasting_s: u64) -> Option<PollTrouble> {
        Some(PollTrouble { kind, what: "why".to_owned(), lasting: Duration::from_secs(lasting_s) })
    }

    #[track_caller]
    fn check(vitals: &Vitals, expected: Expect) {
        let health = Health::of(vitals);
        expected.assert_eq(&format!("{} {}", health.http_status(), health.as_json(vitals)));
    }

    #[test]
    fn a_daemon_that_is_well_says_so() {
        check(
            &well(),
            expect![[
                r#"200 {"backup_age_s":null,"breaker":"closed","clock_skew_s":0,"jobs_due":2,"jobs_parked":0,"last_poll_age_s":1.5,"reasons":[],"status":"ok"}"#
            ]],
        );
    }

    #[test]
    fn what_keeps_updates_out_is_red() {
        check(
            &Vitals { trouble: trouble(TroubleKind::Storing, 0), ..well() },
            expect![[
                r#"503 {"backup_age_s":null,"breaker":"closed","clock_skew_s":0,"jobs_due":2,"jobs_parked":0,"last_poll_age_s":1.5,"reasons":["updates cannot be stored: why"],"status":"failing"}"#
            ]],
        );
        check(
            &Vitals { trouble: trouble(TroubleKind::Conflict, 0), ..well() },
            expect![[
                r#"503 {"backup_age_s":null,"breaker":"closed","clock_skew_s":0,"jobs_due":2,"jobs_parked":0,"last_poll_age_s":1.5,"reasons":["another instance polls with this token: why"],"status":"failing"}"#
            ]],
        );
        check(
            &Vitals { trouble: trouble(TroubleKind::Polling, 15), ..well() },
            expect![[
                r#"503 {"backup_age_s":null,"breaker":"closed","clock_skew_s":0,"jobs_due":2,"jobs_parked":0,"last_poll_age_s":1.5,"reasons":["polling has failed for 15 s: why"],"status":"failing"}"#
            ]],
        );
        check(
            &Vitals { poll_age: Duration::from_secs(81), ..well() },
            expect![[
                r#"503 {"backup_age_s":null,"breaker":"closed","clock_skew_s":0,"jobs_due":2,"jobs_parked":0,"last_poll_age_s":81.0,"reasons":["a poll has not come back for 81 s"],"status":"failing"}"#
            ]],
        );
        check(
            &Vitals { kept: Err("damaged".to_owned()), ..well() },
            expect![[
                r#"503 {"backup_age_s":null,"breaker":"closed","clock_skew_s":0,"jobs_due":null,"jobs_parked":null,"last_poll_age_s":1.5,"reasons":["the database cannot be read: damaged"],"status":"failing"}"#
            ]],
        );
    }

    #[test]
    fn what_passes_or_needs_a_person_is_told_and_not_red() {
        check(
            &Vitals { trouble: trouble(TroubleKind::Polling, 3), ..well() },
            expect![[
                r#"200 {"backup_age_s":null,"breaker":"closed","clock_skew_s":0,"jobs_due":2,"jobs_parked":0,"last_poll_age_s":1.5,"reasons":["polling has failed for 3 s: why"],"status":"degraded"}"#
            ]],
        );
        let full = DatabaseStats { jobs_due: 2, free_bytes: Some(LEAST_FREE - 1), ..DatabaseStats::default() };
        check(
            &Vitals { kept: Ok(full), ..well() },
            expect![[
                r#"200 {"backup_age_s":null,"breaker":"closed","clock_skew_s":0,"jobs_due":2,"jobs_parked":0,"last_poll_age_s":1.5,"reasons":["only 63 MiB are free on the disk of the database"],"status":"degraded"}"#
            ]],
        );
        let failure = Some("there is too little space".to_owned());
        check(
            &Vitals {
                backups: Some(BackupState { age: Some(Duration::from_secs(7)), from_future: None, failure }),
                ..well()
            },
            expect![[
                r#"200 {"backup_age_s":7,"breaker":"closed","clock_skew_s":0,"jobs_due":2,"jobs_parked":0,"last_poll_age_s":1.5,"reasons":["the daily backup failed: there is too little space"],"status":"degraded"}"#
            ]],
        );
        let from_future = Some("chime.db.daily-20280104-084334".into());
        check(
            &Vitals { backups: Some(BackupState { age: None, from_future, failure: None }), ..well() },
            expect![[
                r#"200 {"backup_age_s":null,"breaker":"closed","clock_skew_s":0,"jobs_due":2,"jobs_parked":0,"last_poll_age_s":1.5,"reasons":["the backup chime.db.daily-20280104-084334 is dated in the future; delete it"],"status":"degraded"}"#
            ]],
        );
        let guard = GuardState { is_closed: true, has_failed: true, open_conversations: 0 };
        check(
            &Vitals { guard, ..well() },
            expect![[
                r#"200 {"backup_age_s":null,"breaker":"closed","clock_skew_s":0,"jobs_due":2,"jobs_parked":0,"last_poll_age_s":1.5,"reasons":["the last call of the model failed"],"status":"degraded"}"#
            ]],
        );
        let guard = GuardState { is_closed: false, has_failed: true, open_conversations: 1 };
        let kept = Ok(DatabaseStats { jobs_parked: 1, ..DatabaseStats::default() });
        check(
            &Vitals { guard, kept, ..well() },
            expect![[
                r#"200 {"backup_age_s":null,"breaker":"open","clock_skew_s":0,"jobs_due":0,"jobs_parked":1,"last_poll_age_s":1.5,"reasons":["1 jobs are parked, see chime check","the model server keeps failing"],"status":"degraded"}"#
            ]],
        );
    }

    fn counted(metric: &'static str, label: &str, count: u64, sum: f64) -> Counted {
        Counted { metric, label: label.to_owned(), count, sum }
    }

    #[test]
    fn metrics_are_prometheus_text() {
        let today = DayTotal { calls: 3, tokens: TokenUse { prompt: 900, completion: 80 }, cost_micros: 469_000 };
        let vitals = Vitals {
            kept: Ok(DatabaseStats { jobs_due: 2, jobs_parked: 0, today, database_bytes: 4096, free_bytes: None }),
            backups: Some(BackupState { age: None, from_future: None, failure: None }),
            memory_bytes: Some(1 << 20),
            counted: vec![
                counted("chime_events_total", "reply_sent", 3, 0.0),
                counted("chime_log_lines_total", "w\"n", 1, 0.0),
                counted("chime_phase_seconds", "model", 3, 4.2),
                counted("chime_job_seconds", "summary", 5, 12.3),
            ],
            waiting: vec![("summary", 2, 1)],
            ..well()
        };
        expect![[r##"
            # HELP chime_up 1 unless the health check fails.
            # TYPE chime_up gauge
            chime_up 1
            # HELP chime_last_poll_age_seconds Seconds since the last poll returned.
            # TYPE chime_last_poll_age_seconds gauge
            chime_last_poll_age_seconds 1.5
            # HELP chime_breaker_open 1 while no calls are made because the model server keeps failing.
            # TYPE chime_breaker_open gauge
            chime_breaker_open 0
            # HELP chime_model_failed 1 if the last call of the answering model failed.
            # TYPE chime_model_failed gauge
            chime_model_failed 0
            # HELP chime_conversations_failing Conversations in which calls of the model keep failing.
            # TYPE chime_conversations_failing gauge
            chime_conversations_failing 0
            # HELP chime_jobs_due Jobs that wait to run.
            # TYPE chime_jobs_due gauge
            chime_jobs_due 2
            # HELP chime_jobs_parked Jobs that failed and are not tried again by themselves.
            # TYPE chime_jobs_parked gauge
            chime_jobs_parked 0
            # HELP chime_database_bytes Size of the database.
            # TYPE chime_database_bytes gauge
            chime_database_bytes 4096
            # HELP chime_model_calls_today Calls of the model since 00:00 UTC.
            # TYPE chime_model_calls_today gauge
            chime_model_calls_today 3
            # HELP chime_prompt_tokens_today Prompt tokens since 00:00 UTC.
            # TYPE chime_prompt_tokens_today gauge
            chime_prompt_tokens_today 900
            # HELP chime_completion_tokens_today Tokens that the model wrote since 00:00 UTC.
            # TYPE chime_completion_tokens_today gauge
            chime_completion_tokens_today 80
            # HELP chime_cost_today Cost of the model since 00:00 UTC.
            # TYPE chime_cost_today gauge
            chime_cost_today 0.469
            # HELP chime_backup_age_seconds Age of the newest daily backup; inf if there is none.
            # TYPE chime_backup_age_seconds gauge
            chime_backup_age_seconds inf
            # HELP chime_backup_failed 1 if the last daily backup failed.
            # TYPE chime_backup_failed gauge
            chime_backup_failed 0
            # HELP chime_resident_memory_bytes Resident memory.
            # TYPE chime_resident_memory_bytes gauge
            chime_resident_memory_bytes 1048576
            # HELP chime_job_kind_due Jobs that wait to run, by kind; periodic jobs always do.
            # TYPE chime_job_kind_due gauge
            chime_job_kind_due{kind="summary"} 2
            # HELP chime_job_kind_parked Jobs that failed and are not tried again by themselves, by kind.
            # TYPE chime_job_kind_parked gauge
            chime_job_kind_parked{kind="summary"} 1
            # HELP chime_events_total Events while questions are answered, by type; message_received: a question.
            # TYPE chime_events_total counter
            chime_events_total{type="reply_sent"} 3
            # HELP chime_refusals_total Questions refused by a limit, by type.
            # TYPE chime_refusals_total counter
            # HELP chime_errors_total Errors while questions are answered, by type.
            # TYPE chime_errors_total counter
            chime_errors_total{type="broke_off"} 0
            chime_errors_total{type="filtered"} 0
            chime_errors_total{type="malformed"} 0
            chime_errors_total{type="refused"} 0
            chime_errors_total{type="throttled"} 0
            chime_errors_total{type="timed_out"} 0
            chime_errors_total{type="unavailable"} 0
            chime_errors_total{type="undeliverable"} 0
            chime_errors_total{type="unreachable"} 0
            chime_errors_total{type="unusable_answer"} 0
            # HELP chime_guards_total Questions refused because no source was relevant enough, by reason.
            # TYPE chime_guards_total counter
            # HELP chime_feedback_total Thumbs up and down on answers.
            # TYPE chime_feedback_total counter
            # HELP chime_follow_ups_total Questions about earlier suggestions, by result.
            # TYPE chime_follow_ups_total counter
            # HELP chime_answers_total Answers of the model, by their use of vectors.
            # TYPE chime_answers_total counter
            # HELP chime_log_lines_total Log lines at the levels of warning and error.
            # TYPE chime_log_lines_total counter
            chime_log_lines_total{level="w\"n"} 1
            # HELP chime_updates_parked_total Updates that could not be stored, by kind.
            # TYPE chime_updates_parked_total counter
            # HELP chime_context_cited_outside_focus_total Citations of messages outside the focus.
            # TYPE chime_context_cited_outside_focus_total counter
            chime_context_cited_outside_focus_total 0
            # HELP chime_unfounded_statements_total Statements in answers with a number or name that is not in the prompt.
            # TYPE chime_unfounded_statements_total counter
            chime_unfounded_statements_total 0
            # HELP chime_prompt_tokens_reused_total Prompt tokens that the model server had in its cache.
            # TYPE chime_prompt_tokens_reused_total counter
            chime_prompt_tokens_reused_total 0
            # HELP chime_vector_distance Cosine distances of messages and summaries found by vectors.
            # TYPE chime_vector_distance summary
            chime_vector_distance_count 0
            chime_vector_distance_sum 0
            # HELP chime_phase_seconds Duration of the phases of an answer, by phase.
            # TYPE chime_phase_seconds summary
            chime_phase_seconds_count{phase="model"} 3
            chime_phase_seconds_sum{phase="model"} 4.2
            # HELP chime_job_seconds Duration of job runs, by kind.
            # TYPE chime_job_seconds summary
            chime_job_seconds_count{kind="summary"} 5
            chime_job_seconds_sum{kind="summary"} 12.3
        "##]]
        .assert_eq(&metrics(&vitals));
    }
}
