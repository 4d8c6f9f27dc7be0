//! Messages are read and scored soon after they came in, when nobody waits: then a trigger finds it done.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::context::features::rhythm::WINDOW;
use crate::context::run::precomputed::Readings;
use crate::domain::{Conversation, Heard};
use crate::store::Store;

/// After a flood, what comes in within this time is prepared together.
const SETTLES: Duration = Duration::from_secs(1);
/// Otherwise a rest as long as this many times the work: then it takes a third of one processor at most.
const RESTS: u32 = 2;
/// Rows that are worked out in one read: about 2 ms, since there are two who can read.
pub const AT_ONCE: usize = 16;
/// Conversations that wait to be prepared. More are not noted: then a trigger does what was left undone.
pub const NOTED: usize = 256;

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
            while let Some(first) = self.news.recv().await {
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
                self.clock.sleep(if is_flood { SETTLES } else { SETTLES.min(watch.elapsed() * RESTS) }).await;
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
