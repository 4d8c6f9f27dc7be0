//! Notices if a poll of Telegram never returns, and ends the daemon, so that the service manager restarts it.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::app::error::AppError;
use crate::app::service;
use chime_bot::ingest::intake::PollHealth;
use chime_runtime::clock::Clock;

const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Time that a poll may take in addition to its timeout. Twice the sum counts as silence.
const GRACE: Duration = Duration::from_secs(15);
/// Time from the warning to the end of the daemon. After that time only a new process helps.
const GIVE_UP: Duration = Duration::from_mins(10);

/// Returns the maximum time that a working poll takes.
pub fn patience(poll_timeout: Duration) -> Duration {
    (poll_timeout + GRACE) * 2
}

pub async fn run(
    health: PollHealth,
    clock: Clock,
    poll_timeout: Duration,
    stop: CancellationToken,
) -> Result<(), AppError> {
    let silence_after = patience(poll_timeout);
    let mut warned = false;
    loop {
        let silent = health.silent_for();
        if silent > silence_after + GIVE_UP {
            return Err(AppError::Task(format!("polling has been silent for {} s", silent.as_secs())));
        }
        if silent > silence_after && !warned {
            tracing::error!(silent_s = silent.as_secs(), "getUpdates has not returned for too long");
        }
        warned = silent > silence_after;
        // During a silence, nothing is reported to the service manager, which then restarts the process after its
        // own timeout.
        if !warned {
            service::alive();
        }
        tokio::select! {
            () = stop.cancelled() => {
                service::stopping();
                return Ok(());
            }
            () = clock.sleep(LOOK_EVERY) => {}
        }
    }
}
