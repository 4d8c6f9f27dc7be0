//! Requests for health and metrics. They are served independently of the daemon's other work.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::Value;

use crate::app::DailyBackups;
use crate::health::report::{DatabaseStats, metrics};
use crate::health::{Health, Vitals};
use crate::telemetry::counted;
use chime_access::gateway::ask::Gateway;
use chime_bot::ingest::intake::PollHealth;
use chime_core::Timestamp;
use chime_runtime::clock::Clock;
use chime_store::disk::{folder_of, free_space};
use chime_store::{Reader, Result, Store, jobs, usage};

/// Parts of the daemon that the responses report on.
#[derive(Clone)]
pub struct MonitoredDaemon {
    pub store: Store,
    pub clock: Clock,
    pub poll: PollHealth,
    /// Maximum time that a working poll takes.
    pub poll_patience: Duration,
    pub gateway: Gateway,
    pub backups: DailyBackups,
}

/// Returns the requests `GET /healthz` and `GET /metrics` and what answers them.
pub fn router(monitored: MonitoredDaemon) -> Router {
    Router::new().route("/healthz", get(healthz)).route("/metrics", get(exposition)).with_state(Arc::new(monitored))
}

async fn healthz(State(monitored): State<Arc<MonitoredDaemon>>) -> Response {
    let vitals = monitored.vitals().await;
    let health = Health::of(&vitals);
    let status = StatusCode::from_u16(health.http_status()).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    (status, Json(health.as_json(&vitals))).into_response()
}

async fn exposition(State(monitored): State<Arc<MonitoredDaemon>>) -> Response {
    let text = metrics(&monitored.vitals().await);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

impl MonitoredDaemon {
    pub async fn report(&self) -> Value {
        let vitals = self.vitals().await;
        Health::of(&vitals).as_json(&vitals)
    }

    async fn vitals(&self) -> Vitals {
        let now = self.clock.now();
        let kept = self.store.read(move |conn| kept(conn, now)).await;
        let waiting = self.store.read(jobs::counts_by_kind).await.unwrap_or_default();
        Vitals {
            poll_age: self.poll.silent_for(),
            poll_patience: self.poll_patience,
            trouble: self.poll.trouble(),
            clock_ahead_s: self.poll.ahead_s(),
            kept: kept.map_err(|error| error.to_string()),
            guard: self.gateway.state(),
            backups: self.backups.state(),
            memory_bytes: resident_bytes(),
            counted: counted(),
            waiting: waiting.into_iter().map(|(kind, due, parked)| (kind.as_str(), due, parked)).collect(),
        }
    }
}

fn kept(conn: &Reader, now: Timestamp) -> Result<DatabaseStats> {
    let (jobs_due, jobs_parked) = jobs::counts(conn)?;
    let database_bytes = chime_store::size(conn)?;
    let free_bytes = conn.path().and_then(|path| free_space(folder_of(Path::new(path))).ok());
    Ok(DatabaseStats { jobs_due, jobs_parked, today: usage::of_day(conn, now)?, database_bytes, free_bytes })
}

/// Returns the memory that this process uses, in bytes. `None` without `/proc`.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}
