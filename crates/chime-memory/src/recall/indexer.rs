//! Makes the missing vectors of old messages and maintains their index, in the background. Each batch is one
//! transaction, so that a killed process loses at most one batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::context::VectorError;
use chime_core::embed::Embedder;
use chime_jobs::{JobOutcome, JobResult};
use chime_llm::Embeddings;
use chime_runtime::clock::Clock;
use chime_store::embedding_spaces::{self, NEAR};
use chime_store::vector_index;
use chime_store::vector_tables::TABLES;
use chime_store::vector_tables::{Space, SpaceState};
use chime_store::{Priority, Store, vectors};

/// Number of messages per batch. Writing them keeps the database's only writer busy for well under 5 ms.
const AT_ONCE: u32 = 100;
/// Maximum number of batches per run, so that a shutdown never waits long for the end of a run.
const BATCHES: usize = 50;
/// Maximum number of texts in a request to the embedding server.
const OF_A_REQUEST: u32 = 64;
/// Number of index rows written per transaction.
const INDEXED_AT_ONCE: u32 = 200;
/// Number of vectors deleted per transaction after a change of the model.
const DELETED_AT_ONCE: u32 = 200;
/// Delay between two runs while work remains.
const GOES_ON_AFTER: Duration = Duration::from_millis(500);

pub enum VectorSource {
    Off,
    Local(Arc<Embedder>),
    /// Model server. Requests cost money, so only texts that have a vector of the previous model are embedded.
    Server(Arc<Embeddings>),
}

/// Worker that makes missing vectors, rebuilds a damaged index, and replaces all vectors after a change of the model.
pub struct VectorIndexer {
    store: Store,
    clock: Clock,
    source: VectorSource,
    /// `true` once the index was checked in this process.
    is_checked: AtomicBool,
}

/// Result of a part of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepProgress {
    Done,
    More,
}

impl VectorIndexer {
    pub fn new(store: Store, clock: Clock, source: VectorSource) -> Self {
        Self { store, clock, source, is_checked: AtomicBool::new(false) }
    }

    /// Runs the periodic `vectors` job.
    pub async fn run(&self) -> JobResult {
        Ok(match self.work().await {
            Ok(StepProgress::Done) => JobOutcome::UntilNextRun,
            Ok(StepProgress::More) => JobOutcome::WaitUntil(self.clock.now().plus(GOES_ON_AFTER)),
            Err(VectorError::Store(error)) => return Err(error.into()),
            Err(VectorError::Server(error)) => {
                tracing::warn!(%error, "EMBEDDING_MISS: no vectors for now");
                JobOutcome::UntilNextRun
            }
        })
    }

    /// Does one run of the job. Returns `true` if no work is left.
    pub async fn run_once(&self) -> chime_store::Result<bool> {
        match self.work().await {
            Ok(progress) => Ok(progress == StepProgress::Done),
            Err(VectorError::Store(error)) => Err(error),
            Err(VectorError::Server(_)) => Ok(true),
        }
    }

    async fn work(&self) -> Result<StepProgress, VectorError> {
        let Some(target) = self.target().await? else { return Ok(StepProgress::Done) };
        if !self.is_checked.swap(true, Ordering::Relaxed) {
            self.check_index(&target).await?;
        }
        let made = match &self.source {
            VectorSource::Off => StepProgress::Done,
            VectorSource::Local(embedder) => self.make(&target, embedder).await?,
            VectorSource::Server(embeddings) => self.carry_over(&target, embeddings).await?,
        };
        if made == StepProgress::More {
            return Ok(made);
        }
        if self.change_to(&target).await? == StepProgress::More {
            return Ok(StepProgress::More);
        }
        self.delete_left().await
    }

    /// Returns the space of the current model (the set of vectors made by it), and creates it for a local model.
    /// Returns `None` without a model, or before the server's first vector.
    async fn target(&self) -> chime_store::Result<Option<Space>> {
        match &self.source {
            VectorSource::Off => Ok(None),
            VectorSource::Local(embedder) => {
                let (name, dimension) = (embedder.name().to_owned(), embedder.dimensions());
                let known = name.clone();
                let found = self.store.read(move |conn| embedding_spaces::of_model(conn, &known)).await?;
                match found.filter(|space| space.dimension == dimension && space.state != SpaceState::Left) {
                    Some(space) => Ok(Some(space)),
                    None => {
                        let ensure = move |tx: &chime_store::Writer<'_>| embedding_spaces::ensure(tx, &name, dimension);
                        self.store.write(Priority::Background, ensure).await.map(Some)
                    }
                }
            }
            VectorSource::Server(embeddings) => {
                let name = embeddings.model().to_owned();
                self.store.read(move |conn| embedding_spaces::of_model(conn, &name)).await
            }
        }
    }

    /// Rebuilds the index of the active and the target space if it is incomplete.
    async fn check_index(&self, target: &Space) -> chime_store::Result<()> {
        let active = self.store.read(embedding_spaces::active).await?;
        for space in active.into_iter().chain([target.clone()]) {
            let looked_at = space.clone();
            let is_whole = self.store.read(move |conn| vector_index::is_whole(conn, &looked_at)).await?;
            if !is_whole {
                self.rebuild(&space).await?;
            }
        }
        Ok(())
    }

    /// Rebuilds the index of a space. Until it is complete, searches may miss messages.
    async fn rebuild(&self, space: &Space) -> chime_store::Result<()> {
        let fresh = space.clone();
        let begin = move |tx: &chime_store::Writer<'_>| {
            vector_index::remove(tx, &fresh)?;
            vector_index::create(tx, &fresh)
        };
        self.store.write(Priority::Background, begin).await?;
        for table in TABLES {
            let mut after = Some(i64::MIN);
            while let Some(from) = after {
                let space = space.clone();
                let fill =
                    move |tx: &chime_store::Writer<'_>| vector_index::fill(tx, &space, table, from, INDEXED_AT_ONCE);
                after = self.store.write(Priority::Background, fill).await?;
            }
        }
        tracing::info!(space = space.id, "the index of vectors was made anew");
        Ok(())
    }

    async fn make(&self, target: &Space, embedder: &Arc<Embedder>) -> Result<StepProgress, VectorError> {
        for _ in 0..BATCHES {
            if self.make_batch(target, embedder).await? == StepProgress::Done {
                return Ok(StepProgress::Done);
            }
        }
        Ok(StepProgress::More)
    }

    async fn make_batch(&self, target: &Space, embedder: &Arc<Embedder>) -> chime_store::Result<StepProgress> {
        let (space, embedder) = (target.clone(), Arc::clone(embedder));
        let read = move |conn: &chime_store::Reader| {
            let Some(batch) = embedding_spaces::next_batch(conn, &space, NEAR, AT_ONCE)? else { return Ok(None) };
            let made: Vec<Vec<f32>> = batch.texts.iter().map(|(_, text)| embedder.embed(text)).collect();
            Ok(Some((batch, made)))
        };
        let Some((batch, made)) = self.store.read(read).await? else { return Ok(StepProgress::Done) };
        let id = target.id;
        let keep = move |tx: &chime_store::Writer<'_>| {
            for ((message, text), vector) in batch.texts.iter().zip(&made) {
                vectors::keep_in(tx, id, *message, text, vector)?;
            }
            embedding_spaces::settle(tx, id, &batch)
        };
        self.store.write(Priority::Background, keep).await?;
        Ok(StepProgress::More)
    }

    /// Embeds texts that have a vector of the previous model with the server's current model.
    async fn carry_over(&self, target: &Space, embeddings: &Embeddings) -> Result<StepProgress, VectorError> {
        let Some(active) = self.store.read(embedding_spaces::active).await?.filter(|active| active.id != target.id)
        else {
            return Ok(StepProgress::Done);
        };
        for _ in 0..BATCHES {
            let (old, new) = (active.id, target.id);
            let texts =
                self.store.read(move |conn| embedding_spaces::to_carry_over(conn, old, new, OF_A_REQUEST)).await?;
            if texts.is_empty() {
                return Ok(StepProgress::Done);
            }
            let sent: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
            let made = embeddings.embed(&sent, &self.clock).await?;
            let id = target.id;
            let keep = move |tx: &chime_store::Writer<'_>| {
                (texts.iter().zip(&made))
                    .try_for_each(|((message, text), vector)| vectors::keep_in(tx, id, *message, text, vector))
            };
            self.store.write(Priority::Background, keep).await?;
        }
        Ok(StepProgress::More)
    }

    /// Makes `target` the space that is searched, once all summaries have vectors in it. Summary vectors are made by
    /// memory jobs.
    async fn change_to(&self, target: &Space) -> chime_store::Result<StepProgress> {
        let id = target.id;
        let change = move |tx: &chime_store::Writer<'_>| {
            let Some(active) = embedding_spaces::active(tx)? else {
                embedding_spaces::activate(tx, id)?;
                return Ok((false, false));
            };
            let is_another = active.id != id;
            let is_due = is_another && !embedding_spaces::lacks_summaries(tx, active.id, id)?;
            if is_due {
                embedding_spaces::activate(tx, id)?;
            }
            Ok((is_another, is_due))
        };
        let (is_another, is_due) = self.store.write(Priority::Background, change).await?;
        if is_due {
            tracing::info!(model = target.model, "recall searches the vectors of another model now");
        }
        // A server needs longer than the short delay before the next run, so the next periodic run continues.
        let is_local = matches!(self.source, VectorSource::Local(_));
        Ok(if is_another && !is_due && is_local { StepProgress::More } else { StepProgress::Done })
    }

    async fn delete_left(&self) -> Result<StepProgress, VectorError> {
        for _ in 0..BATCHES {
            let Some(space) = self.store.read(embedding_spaces::left).await? else { return Ok(StepProgress::Done) };
            let delete = move |tx: &chime_store::Writer<'_>| embedding_spaces::delete_some(tx, &space, DELETED_AT_ONCE);
            self.store.write(Priority::Background, delete).await?;
        }
        Ok(StepProgress::More)
    }
}

#[cfg(test)]
mod tests;
