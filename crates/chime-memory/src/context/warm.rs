//! Messages are read and scored soon after they came in, when nobody waits: then a trigger finds it done.

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

/// Work that is done without a rest: a tag may follow on the heels of two messages.
const BURST: Duration = Duration::from_millis(100);
/// Beyond that, a rest is as long as this many times the work: it takes half of one processor at most.
const RESTS: u32 = 1;
/// The same in a flood: what comes in meanwhile is prepared together.
const RESTS_IN_FLOOD: u32 = 8;
/// No rest is longer.
const SETTLES: Duration = Duration::from_secs(1);
/// Rows that are worked out in one read: about 2 ms, since there are two who can read.
pub const AT_ONCE: usize = 16;
/// Conversations that wait to be prepared. More are not noted: then a trigger does what was left undone.
pub const NOTED: usize = 256;

/// Work that may be done without a rest.
struct Quota {
    left: Duration,
}

impl Quota {
    fn earn(&mut self, idle: Duration) {
        self.left = (self.left + idle / RESTS).min(BURST);
    }

    /// How long to rest after so much work.
    fn spend(&mut self, worked: Duration) -> Duration {
        let owed = worked.saturating_sub(self.left);
        self.left = self.left.saturating_sub(worked);
        owed * RESTS
    }
}

/// Prepares conversations that something was said in.
pub struct Warmer {
    pub store: Store,
    pub clock: Clock,
    pub readings: Arc<Readings>,
    pub news: mpsc::Receiver<Heard>,
    /// Who fetches vectors, where a server makes them.
    pub vectors: Option<mpsc::Sender<Conversation>>,
}

impl Warmer {
    /// Works until `stop`: at once, since a tag may follow on the heels of what it is about. What fails is left to the
    /// trigger, which fails in its own way where it must.
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
                        // What finds no room is noted with the next message there.
                        let _ = vectors.try_send(conversation);
                    }
                    // An answer works out what is missing, and nobody else does the same beside it.
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
        // Where nobody is left to tell anything, the end is for others to say.
        tokio::join!(stop.run_until_cancelled(work), stop.cancelled());
    }

    /// Tells whether there was more to do than what a few messages bring along.
    async fn prepare(&self, conversation: Conversation) -> bool {
        // Not until all is done: where messages come in faster than they are scored, that would never be.
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
