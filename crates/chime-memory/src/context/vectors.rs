//! Fetches embeddings from a server in the background, so that no message or answer waits for them.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use chime_core::Conversation;
use chime_llm::{Embeddings, LlmError, Recovery};
use chime_relevance::context::features::message::without_bots;
use chime_relevance::context::features::rhythm::WINDOW;
use chime_runtime::clock::Clock;
use chime_runtime::resilience::{Backoff, random};
use chime_store::{Priority, Store, StoreError, vectors};

const AT_ONCE: usize = 64;
/// Delay before a request, so that several new messages share one.
const SETTLES: Duration = Duration::from_secs(1);

/// Worker that fetches missing vectors of messages from the embedding server.
pub struct Vectors {
    pub store: Store,
    pub clock: Clock,
    pub embeddings: Arc<Embeddings>,
    /// Receives the conversations that have new messages.
    pub news: mpsc::Receiver<Conversation>,
}

/// Failed attempt to make vectors.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Server(#[from] LlmError),
}

impl Vectors {
    /// Runs until `stop`. Tries again after an error; until it succeeds, messages are compared without vectors.
    pub async fn run(mut self, stop: CancellationToken) {
        let work = async {
            let (mut backoff, mut due) = (Backoff::default(), HashSet::new());
            while let Some(next) = self.news.recv().await {
                due.insert(next);
                while let Err(error) = self.work(&mut due).await {
                    tracing::warn!(%error, "no vectors for now: messages are compared without them");
                    self.clock.sleep(pause_after(&error, &mut backoff)).await;
                }
                backoff.succeeded();
            }
        };
        // If the channel closes, the worker still waits for `stop`: a task that ends earlier counts as crashed.
        tokio::join!(stop.run_until_cancelled(work), stop.cancelled());
    }

    /// Fetches the vectors of all conversations in `due` and of those announced meanwhile. A conversation is removed
    /// from `due` when it is done, so that an error keeps the others.
    async fn work(&mut self, due: &mut HashSet<Conversation>) -> Result<(), VectorError> {
        self.clock.sleep(SETTLES).await;
        while let Ok(next) = self.news.try_recv() {
            due.insert(next);
        }
        while let Some(conversation) = due.iter().next().copied() {
            while self.fetch(conversation).await? == AT_ONCE {}
            due.remove(&conversation);
        }
        Ok(())
    }

    /// Fetches the vectors of one batch of messages. Returns the size of the batch; 0 means that none is missing.
    async fn fetch(&self, conversation: Conversation) -> Result<usize, VectorError> {
        let model = self.embeddings.model().to_owned();
        let reading = model.clone();
        let unread = self.store.read(move |conn| vectors::unread(conn, conversation, &reading, 2 * WINDOW, AT_ONCE));
        let unread = unread.await?;
        if unread.is_empty() {
            return Ok(0);
        }
        let texts: Vec<String> = unread.iter().map(|it| without_bots(&it.text).into_owned()).collect();
        let sent: Vec<&str> = texts.iter().map(String::as_str).collect();
        let made = self.embeddings.embed(&sent, &self.clock).await?;
        let count = unread.len();
        let keep = move |tx: &chime_store::Writer<'_>| {
            unread.iter().zip(&made).try_for_each(|(one, vector)| vectors::keep(tx, one, &model, vector))
        };
        self.store.write(Priority::Background, keep).await?;
        Ok(count)
    }
}

fn pause_after(error: &VectorError, backoff: &mut Backoff) -> Duration {
    let pause = backoff.failed(random());
    match error {
        VectorError::Server(error) => match error.recovery() {
            Recovery::RetryLater(Some(retry_after)) => pause.max(retry_after),
            Recovery::RetryLater(None) | Recovery::ShrinkPrompt | Recovery::GiveUp => pause,
        },
        VectorError::Store(_) => pause,
    }
}
