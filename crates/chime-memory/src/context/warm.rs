//! Computes features soon after messages arrive, so that a trigger need not.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::context::precomputed::Readings;
use chime_core::{Conversation, Heard};
use chime_relevance::context::features::rhythm::WINDOW;
use chime_runtime::clock::Clock;
use chime_store::Store;

/// Work done without a pause, since a trigger may follow two messages at once.
const BURST: Duration = Duration::from_millis(100);
/// Pause after that, as a multiple of the work: uses at most half of one processor.
const RESTS: u32 = 1;
/// The same in a flood, so that messages arriving meanwhile are processed together.
const RESTS_IN_FLOOD: u32 = 8;
/// Longest pause.
const SETTLES: Duration = Duration::from_secs(1);
/// Rows computed in one database read, about 2 ms: there are only two readers.
pub const AT_ONCE: usize = 16;
/// Capacity of the queue. Conversations beyond it are left to the trigger.
pub const NOTED: usize = 256;

/// Budget of work without a pause.
struct Quota {
    left: Duration,
}

impl Quota {
    fn earn(&mut self, idle: Duration) {
        self.left = (self.left + idle / RESTS).min(BURST);
    }

    /// Returns the pause after `worked`.
    fn spend(&mut self, worked: Duration) -> Duration {
        let owed = worked.saturating_sub(self.left);
        self.left = self.left.saturating_sub(worked);
        owed * RESTS
    }
}

/// Worker that prepares conversations with new messages.
pub struct Warmer {
    pub store: Store,
    pub clock: Clock,
    pub readings: Arc<Readings>,
    pub news: mpsc::Receiver<Heard>,
    /// Queue of the worker that fetches embeddings, if a server makes them.
    pub vectors: Option<mpsc::Sender<Conversation>>,
}

impl Warmer {
    /// Runs until `stop`. Errors are only logged, since the trigger computes what is missing.
    pub async fn run(mut self, stop: CancellationToken) {
        let work = async {
            let (mut quota, mut idle) = (Quota { left: BURST }, self.clock.stopwatch());
            while let Some(first) = self.news.recv().await {
                quota.earn(idle.elapsed());
                let mut due = HashMap::from([(first.conversation, first.is_asked)]);
                while let Ok(next) = self.news.try_recv() {
                    due.insert(next.conversation, next.is_asked);
                }
                let watch = self.clock.stopwatch();
                let mut is_flood = false;
                for (conversation, is_asked) in due {
                    if let Some(vectors) = &self.vectors {
                        // If the queue is full, the next message there tries again.
                        let _ = vectors.try_send(conversation);
                    }
                    // An answer in progress computes what is missing itself.
                    if !is_asked {
                        is_flood |= self.prepare(conversation).await;
                    }
                }
                let worked = watch.elapsed();
                let rest = if is_flood { worked * RESTS_IN_FLOOD } else { quota.spend(worked) };
                self.clock.sleep(SETTLES.min(rest)).await;
                idle = self.clock.stopwatch();
            }
        };
        // Waits for `stop` even if the channel closes, so that the worker does not seem to have crashed.
        tokio::join!(stop.run_until_cancelled(work), stop.cancelled());
    }

    /// Prepares a conversation. Returns `true` if there was more to do than a few messages cause.
    async fn prepare(&self, conversation: Conversation) -> bool {
        // Bounded: messages may arrive faster than they are scored.
        for round in 0..=WINDOW / AT_ONCE {
            let readings = Arc::clone(&self.readings);
            let prepared = self.store.read(move |conn| readings.prepare(conn, conversation, AT_ONCE)).await;
            if let Err(error) = &prepared {
                tracing::debug!(%error, "a conversation was not prepared");
            }
            if prepared.unwrap_or(true) {
                return round > 0;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn two_messages_are_prepared_without_a_rest_and_a_stream_with_half_of_the_time_at_rest() {
        let mut quota = Quota { left: BURST };
        assert_eq!([quota.spend(BURST / 2), quota.spend(BURST / 2)], [Duration::ZERO; 2]);
        assert_eq!(quota.spend(BURST / 2), BURST / 2 * RESTS, "what was left is spent");
        quota.earn(BURST / 5 * RESTS);
        assert_eq!(quota.left, BURST / 5, "time without work earns some");
        quota.earn(60 * SECOND);
        assert_eq!(quota.left, BURST, "and never more than a burst");
    }
}
