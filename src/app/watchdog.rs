//! Detects a poll that never returns.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::app::error::AppError;
use crate::app::service;
use chime_bot::ingest::intake::PollHealth;
use chime_runtime::clock::Clock;

const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Extra time of the HTTP client above the poll timeout. Twice the sum counts as silence.
const GRACE: Duration = Duration::from_secs(15);
/// Silence after the warning, after which only a new process helps.
const GIVE_UP: Duration = Duration::from_secs(10 * 60);

/// Returns the longest normal duration of a poll.
pub fn patience(poll_timeout: Duration) -> Duration {
    (poll_timeout + GRACE) * 2
}

pub struct Watchdog {
    pub health: PollHealth,
    pub clock: Clock,
    pub poll_timeout: Duration,
}

impl Watchdog {
    pub async fn run(self, stop: CancellationToken) -> Result<(), AppError> {
        let silence_after = patience(self.poll_timeout);
        let mut warned = false;
        loop {
            let silent = self.health.silent_for();
            if silent > silence_after + GIVE_UP {
                return Err(AppError::Task(format!("polling has been silent for {} s", silent.as_secs())));
            }
            if silent > silence_after && !warned {
                tracing::error!(silent_s = silent.as_secs(), "a poll does not come back");
            }
            warned = silent > silence_after;
            // Without the signal, the service manager restarts the process after a while.
            if !warned {
                service::alive();
            }
            tokio::select! {
                () = stop.cancelled() => {
                    service::stopping();
                    return Ok(());
                }
                () = self.clock.sleep(LOOK_EVERY) => {}
            }
        }
    }
}
