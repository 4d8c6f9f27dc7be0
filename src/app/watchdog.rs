//! Notices a poll that never comes back.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::app::AppError;
use crate::clock::Clock;
use crate::ingest::run::PollHealth;

const LOOK_EVERY: Duration = Duration::from_secs(5);
/// A poll may take its timeout and the client's grace; twice that is silence.
const GRACE: Duration = Duration::from_secs(15);
/// Silence after which only a new process can help.
const GIVE_UP: Duration = Duration::from_secs(10 * 60);

pub struct Watchdog {
    pub health: PollHealth,
    pub clock: Clock,
    pub poll_timeout: Duration,
}

impl Watchdog {
    pub async fn run(self, stop: CancellationToken) -> Result<(), AppError> {
        let silence_after = (self.poll_timeout + GRACE) * 2;
        let mut warned = false;
        loop {
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.clock.sleep(LOOK_EVERY) => {}
            }
            let silent = self.health.silent_for();
            if silent > silence_after + GIVE_UP {
                return Err(AppError::Task(format!("polling has been silent for {} s", silent.as_secs())));
            }
            if silent > silence_after && !warned {
                tracing::error!(silent_s = silent.as_secs(), "a poll does not come back");
            }
            warned = silent > silence_after;
        }
    }
}
