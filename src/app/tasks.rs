//! Starts the daemon's tasks, which is done nowhere else. Each has a name, and the daemon waits for its end.

use std::future::Future;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::app::error::AppError;

/// Tasks that run as long as the daemon. The first that fails or panics stops all others.
pub struct Tasks {
    stop: CancellationToken,
    running: JoinSet<(&'static str, Result<(), AppError>)>,
}

impl Tasks {
    pub fn new(stop: CancellationToken) -> Self {
        Self { stop, running: JoinSet::new() }
    }

    pub fn spawn<F>(&mut self, name: &'static str, task: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = Result<(), AppError>> + Send + 'static,
    {
        let work = task(self.stop.clone()).instrument(tracing::info_span!("task", task.name = name));
        self.running.spawn(async move { (name, work.await) });
    }

    /// Waits until all tasks have ended. Returns the first failure.
    pub async fn finished(mut self) -> Result<(), AppError> {
        let mut first_failure = None;
        while let Some(ended) = self.running.join_next().await {
            let failure = match ended {
                // Without this task the daemon would be incomplete, so its early end is a failure.
                Ok((name, Ok(()))) if !self.stop.is_cancelled() => {
                    Some(AppError::Task(format!("task `{name}` ended by itself")))
                }
                Ok((_, Ok(()))) => None,
                Ok((name, Err(error))) => {
                    tracing::error!(task.name = name, %error, "task `{name}` failed, stopping");
                    Some(error)
                }
                // What a panic says may quote a message.
                Err(_) => Some(AppError::Task("a task panicked".to_owned())),
            };
            if let Some(failure) = failure {
                self.stop.cancel();
                first_failure.get_or_insert(failure);
            }
        }
        first_failure.map_or(Ok(()), Err)
    }
}
