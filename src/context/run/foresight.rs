//! Messages are read and scored soon after they came in, when nobody waits: then a trigger finds it done.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::context::SCORER_VERSION;
use crate::context::links::WINDOW;
use crate::context::run::readings::Readings;
use crate::domain::Conversation;
use crate::store::{Priority, Store, StoreError, links};

/// What comes in within this time is prepared together.
const SETTLES: Duration = Duration::from_secs(1);
/// Rows that are worked out in one read: about 2 ms, since there are two who can read.
pub const AT_ONCE: usize = 16;
/// Rows are kept when this many have come together: fewer are soon worked out again, and before there are many more of
/// them, memory may have given them up.
pub const ENOUGH: usize = 8;
/// Rows that are written in one transaction: about 2 ms.
pub const WRITTEN_AT_ONCE: usize = 256;

/// Conversations that wait to be prepared. More are not noted: then a trigger does what was left undone.
pub const NOTED: usize = 256;

/// Prepares conversations that something was said in.
pub struct Foresight {
    pub store: Store,
    pub clock: Clock,
    pub readings: Arc<Readings>,
    pub news: mpsc::Receiver<Conversation>,
    /// Who fetches vectors, where a server makes them.
    pub vectors: Option<mpsc::Sender<Conversation>>,
}

impl Foresight {
    /// Works until `stop`. What fails is left to the trigger, which fails in its own way where it must.
    pub async fn run(mut self, stop: CancellationToken) {
        while let Some(first) = tokio::select! {
            () = stop.cancelled() => return,
            next = self.news.recv() => next,
        } {
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.clock.sleep(SETTLES) => {}
            }
            let mut due = HashSet::from([first]);
            while let Ok(next) = self.news.try_recv() {
                due.insert(next);
            }
            for conversation in due {
                if let Some(vectors) = &self.vectors {
                    // What finds no room is noted with the next message there.
                    let _ = vectors.try_send(conversation);
                }
                if let Err(error) = self.prepare(conversation, &stop).await {
                    tracing::debug!(%error, "a conversation was not prepared");
                }
                if let Err(error) = self.keep().await {
                    tracing::warn!(%error, "link scores were not kept");
                }
            }
        }
        // Nobody is left to tell anything; the end is for others to say.
        stop.cancelled().await;
    }

    async fn prepare(&self, conversation: Conversation, stop: &CancellationToken) -> Result<(), StoreError> {
        // Not until all is done: where messages come in faster than they are scored, that would never be.
        for _ in 0..=WINDOW / AT_ONCE {
            let readings = Arc::clone(&self.readings);
            let prepared = self.store.read(move |conn| readings.prepare(conn, conversation, AT_ONCE)).await?;
            if prepared || stop.is_cancelled() {
                break;
            }
        }
        Ok(())
    }

    async fn keep(&self) -> Result<(), StoreError> {
        let rows = self.readings.take_unkept(ENOUGH, WRITTEN_AT_ONCE);
        if rows.is_empty() {
            return Ok(());
        }
        self.store.write(Priority::Background, move |tx| links::keep(tx, SCORER_VERSION, &rows)).await
    }
}
