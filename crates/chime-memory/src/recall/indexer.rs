//! Makes the vectors of messages and maintains their index, in the background. Each batch is one transaction, so that a
//! killed process loses at most one batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chime_core::embed::Embedder;
use chime_jobs::{JobError, JobOutcome, JobResult};
use chime_llm::{Embeddings, LlmError, Recovery};
use chime_relevance::context::features::message::without_bots;
use chime_runtime::clock::Clock;
use chime_store::deletions::Progress;
use chime_store::embedding_spaces::{self, DueVector};
use chime_store::vector_index;
use chime_store::vector_tables::TABLES;
use chime_store::{Priority, Store, StoreError, vectors};

/// Number of messages per batch: of a request to an embedding server, and of a transaction. Writing them keeps the
/// database's only writer busy for well under 5 ms.
const AT_ONCE: u32 = 64;
/// Maximum number of batches per run, so that a shutdown never waits long for the end of a run.
const BATCHES: usize = 50;
/// Number of index rows written per transaction.
const INDEXED_AT_ONCE: u32 = 200;
/// Number of vectors deleted per transaction after a change of the model.
const DELETED_AT_ONCE: u32 = 200;
/// Delay between two runs while work remains.
const GOES_ON_AFTER: Duration = Duration::from_millis(500);
/// Minimum delay before a server that failed is asked again.
const ASKED_AGAIN_AFTER: Duration = Duration::from_secs(30);

/// Source of the vectors of messages and summaries.
#[derive(Clone)]
pub enum VectorSource {
    Off,
    Local(Arc<Embedder>),
    Server(Arc<Embeddings>),
}

impl VectorSource {
    /// Returns the model under whose name the vectors are stored.
    pub fn model(&self) -> Option<&str> {
        match self {
            Self::Off => None,
            Self::Local(embedder) => Some(embedder.name()),
            Self::Server(embeddings) => Some(embeddings.model()),
        }
    }
}

/// Worker that makes missing vectors, rebuilds a damaged index, and replaces all vectors after a change of the model.
pub struct VectorIndexer {
    store: Store,
    clock: Clock,
    source: VectorSource,
    /// `true` once the index was checked in this process.
    is_checked: AtomicBool,
}

/// Failed attempt to make vectors.
#[derive(Debug, thiserror::Error)]
enum VectorError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Server(#[from] LlmError),
}

impl VectorIndexer {
    pub fn new(store: Store, clock: Clock, source: VectorSource) -> Self {
        Self { store, clock, source, is_checked: AtomicBool::new(false) }
    }

    /// Runs the periodic `vectors` job.
    pub async fn run(&self) -> JobResult {
        match self.work().await {
            Ok(Progress::Done) => Ok(JobOutcome::UntilNextRun),
            Ok(Progress::More) => Ok(JobOutcome::WaitUntil(self.clock.now().plus(GOES_ON_AFTER))),
            Err(VectorError::Store(error)) => Err(error.into()),
            Err(VectorError::Server(error)) => {
                let asked = match error.recovery() {
                    Recovery::RetryLater(asked) => asked.unwrap_or_default(),
                    Recovery::ShrinkPrompt | Recovery::GiveUp => Duration::ZERO,
                };
                Err(JobError::RetryAt(
                    self.clock.now().plus(asked.max(ASKED_AGAIN_AFTER)),
                    format!("EMBEDDING_MISS: {error}"),
                ))
            }
        }
    }

    /// Does one run of the job, for measurements and tests. Returns `true` if no work is left, or if the server failed.
    pub async fn run_once(&self) -> chime_store::Result<bool> {
        match self.work().await {
            Ok(progress) => Ok(progress == Progress::Done),
            Err(VectorError::Store(error)) => Err(error),
            Err(VectorError::Server(_)) => Ok(true),
        }
    }

    async fn work(&self) -> Result<Progress, VectorError> {
        let Some(model) = self.source.model() else { return Ok(Progress::Done) };
        if !self.is_checked.swap(true, Ordering::Relaxed) {
            self.check_index().await?;
        }
        for _ in 0..BATCHES {
            if self.step(model).await? == Progress::Done {
                return Ok(Progress::Done);
            }
        }
        Ok(Progress::More)
    }

    /// Deletes a batch of vectors of a former model, or makes a batch of new ones.
    async fn step(&self, model: &str) -> Result<Progress, VectorError> {
        let name = model.to_owned();
        let read = move |conn: &chime_store::Reader| {
            let is_outdated = embedding_spaces::is_outdated(conn, &name)?;
            Ok(if is_outdated { None } else { Some(embedding_spaces::due(conn, AT_ONCE)?) })
        };
        let Some(due) = self.store.read(read).await? else { return self.clear().await };
        if due.is_empty() {
            return Ok(Progress::Done);
        }
        let made = self.vectors_of(due).await?;
        let name = model.to_owned();
        let keep = move |tx: &chime_store::Writer<'_>| vectors::keep(tx, &name, &made);
        match self.store.write(Priority::Background, keep).await? {
            true => Ok(Progress::More),
            // The model has another dimension than before.
            false => self.clear().await,
        }
    }

    async fn clear(&self) -> Result<Progress, VectorError> {
        let clear = |tx: &chime_store::Writer<'_>| embedding_spaces::clear_some(tx, DELETED_AT_ONCE);
        self.store.write(Priority::Background, clear).await?;
        Ok(Progress::More)
    }

    /// Returns each message with its vector. The vector is empty if the message needs none.
    async fn vectors_of(&self, due: Vec<DueVector>) -> Result<Vec<(DueVector, Vec<f32>)>, VectorError> {
        let texts: Vec<String> = due.iter().filter_map(|one| one.text.clone()).collect();
        let made = match &self.source {
            VectorSource::Off => Vec::new(),
            VectorSource::Local(embedder) => {
                let embedder = Arc::clone(embedder);
                self.store.read(move |_| Ok(texts.iter().map(|text| embedder.embed(text)).collect())).await?
            }
            VectorSource::Server(_) if texts.is_empty() => Vec::new(),
            VectorSource::Server(embeddings) => {
                let sent: Vec<_> = texts.iter().map(|text| without_bots(text)).collect();
                let sent: Vec<&str> = sent.iter().map(|text| &**text).collect();
                embeddings.embed(&sent, &self.clock).await?
            }
        };
        let mut made = made.into_iter();
        let vector = |one: &DueVector| one.text.as_ref().and_then(|_| made.next()).unwrap_or_default();
        let vectors: Vec<Vec<f32>> = due.iter().map(vector).collect();
        Ok(due.into_iter().zip(vectors).collect())
    }

    /// Rebuilds the index if it is incomplete. Until it is complete, searches may miss messages.
    async fn check_index(&self) -> chime_store::Result<()> {
        let is_whole = |conn: &chime_store::Reader| match embedding_spaces::current(conn)? {
            Some(space) => vector_index::is_whole(conn, &space),
            None => Ok(true),
        };
        if self.store.read(is_whole).await? {
            return Ok(());
        }
        let begin = |tx: &chime_store::Writer<'_>| {
            vector_index::remove(tx)?;
            embedding_spaces::current(tx)?.map_or(Ok(()), |space| vector_index::create(tx, space.dimension))
        };
        self.store.write(Priority::Background, begin).await?;
        for table in TABLES {
            let mut after = Some(i64::MIN);
            while let Some(from) = after {
                let fill = move |tx: &chime_store::Writer<'_>| vector_index::fill(tx, table, from, INDEXED_AT_ONCE);
                after = self.store.write(Priority::Background, fill).await?;
            }
        }
        tracing::info!("the index of vectors was made anew");
        Ok(())
    }
}

#[cfg(test)]
mod tests;
