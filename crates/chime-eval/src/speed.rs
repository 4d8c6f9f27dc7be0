//! Measures the speed of the store and of context selection in made-up chats of any size, with the functions that the
//! daemon calls.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use serde::Serialize;

use crate::synthetic::{self, CHATS};
use chime_core::embed::Embedder;
use chime_core::{ChatId, Conversation, MessageId, Seq, StoredMessage, Timestamp, Zone, estimate_tokens};
use chime_memory::context::{FeatureCache, TriggerInput, gather, window};
use chime_memory::recall::{RecallRequest, Recaller};
use chime_relevance::context::Params;
use chime_runtime::clock::{Clock, Stopwatch};
use chime_store::postings::{self, Range};
use chime_store::search::Merging;
use chime_store::{Language, Priority, Store, StoreError, chats, messages, sessions, stems};

/// Updates per batch, as Telegram delivers them.
const BATCH: u32 = 100;
/// Batch size for filling the database, which is not measured.
const LARGE_BATCH: u32 = 2_000;
/// Messages whose storing is measured.
const INGESTED: u32 = 10_000;
/// Triggers measured, round-robin over more chats than the feature cache holds.
const TRIGGERS: u32 = 300;
/// Triggers before measuring, to fill caches.
const WARM_UP: u32 = 100;
/// Telegram's id of the largest chat; the others count down from it.
const FIRST_CHAT: ChatId = ChatId(-1_009_000_000_000);

/// Figures of one size. The field names are part of the output format.
#[derive(Debug, Clone, Serialize)]
pub struct SpeedFigures {
    pub messages: u32,
    pub window_p50_ms: f64,
    pub window_p95_ms: f64,
    /// Recall for a question, over all messages of the chat.
    pub recall_p95_ms: f64,
    pub fts_p95_ms: f64,
    /// Selection where nothing of the chat is cached. Not part of the output format.
    #[serde(skip)]
    pub cold_window_p95_ms: f64,
    pub ingest_per_s: f64,
    pub fsync_ms: f64,
    pub rss_mb: f64,
    pub db_mb: f64,
}

/// Fills a temporary database with `count` messages and measures in it. A million messages take a few minutes.
pub async fn measure(count: u32, clock: &Clock) -> anyhow::Result<SpeedFigures> {
    if count < INGESTED {
        bail!("made-up chats hold at least {INGESTED} messages");
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("chime.db");
    let (store, _) = Store::open(&path, clock.now())?;
    let extra = WARM_UP + TRIGGERS;
    let start = synthetic::start(count + extra, clock.now());
    let embedder = embedder()?;
    let bench = SpeedBench {
        store,
        clock: clock.clone(),
        start,
        features: Arc::new(FeatureCache::new(Some(Arc::clone(&embedder)))),
        recaller: Arc::new(Recaller::new(Some(embedder))),
    };
    bench.take_in(0, count - INGESTED, LARGE_BATCH).await?;
    let watch = clock.stopwatch();
    bench.take_in(count - INGESTED, count, BATCH).await?;
    let ingest_per_s = f64::from(INGESTED) / watch.elapsed().as_secs_f64();
    let cold = Sorted::of(bench.first_windows().await?.into_iter());
    let (mut windows, mut searches, mut recalls) = (Vec::new(), Vec::new(), Vec::new());
    for number in count..count + extra {
        bench.take_in(number, number + 1, 1).await?;
        let trigger = bench.find(number).await?;
        windows.push(bench.window(trigger.clone()).await?);
        searches.push(bench.search(trigger.clone()).await?);
        recalls.push(bench.recall(trigger).await?);
    }
    let warm = |values: Vec<f64>| Sorted::of(values.into_iter().skip(WARM_UP as usize));
    let windows = warm(windows);
    Ok(SpeedFigures {
        messages: count,
        window_p50_ms: windows.at(0.5),
        window_p95_ms: windows.at(0.95),
        recall_p95_ms: warm(recalls).at(0.95),
        fts_p95_ms: warm(searches).at(0.95),
        cold_window_p95_ms: cold.at(0.95),
        ingest_per_s,
        fsync_ms: fsync(folder.path(), clock)?,
        rss_mb: resident_mb()?,
        db_mb: megabytes(std::fs::metadata(&path)?.len()),
    })
}

fn embedder() -> anyhow::Result<Arc<Embedder>> {
    Ok(Arc::new(Embedder::shipped()?))
}

struct SpeedBench {
    store: Store,
    clock: Clock,
    start: Timestamp,
    features: Arc<FeatureCache>,
    recaller: Arc<Recaller>,
}

impl SpeedBench {
    /// Stores the messages with these numbers.
    async fn take_in(&self, from: u32, to: u32, batch: u32) -> Result<(), StoreError> {
        let start = self.start;
        for begin in (from..to).step_by(batch as usize) {
            let numbers = begin..to.min(begin + batch);
            let stored = self.store.write(Priority::Answering, move |tx| {
                let mut noted = HashSet::new();
                for number in numbers {
                    let chat = synthetic::chat_of(FIRST_CHAT, number);
                    let row = chats::upsert(tx, &chat)?;
                    let message = synthetic::message(chat.id, number, start);
                    messages::take_in(tx, &row, &message)?;
                    chats::upsert_member(tx, row.key, &message.sender)?;
                    let hour = message.sent_at.secs() / sessions::NOTE_SPAN.as_secs().cast_signed();
                    // Sessions are found by the hours in which messages were sent, so each hour is noted once.
                    if noted.insert((row.key, message.forum_topic, hour)) {
                        let conversation = Conversation { chat: row.key, forum_topic: message.forum_topic };
                        sessions::note(tx, conversation, message.sent_at)?;
                    }
                }
                Ok(())
            });
            stored.await?;
        }
        Ok(())
    }

    /// Measures the first selection in each chat, in milliseconds.
    async fn first_windows(&self) -> anyhow::Result<Vec<f64>> {
        let (mut seen, mut windows) = (HashSet::new(), Vec::new());
        // Enough numbers to cover every chat.
        for number in 0..CHATS * 2 {
            let trigger = self.find(number).await?;
            let end = (Timestamp::END, MessageId(i64::MAX));
            let newest = self.store.read(move |conn| messages::before(conn, trigger.conversation(), end, 1)).await?;
            if let Some(newest) = newest.into_iter().next().filter(|newest| seen.insert(newest.chat)) {
                windows.push(self.window(newest).await?);
            }
        }
        // The daemon merges the index at night.
        self.store.merge_index(Merging::All).await?;
        Ok(windows)
    }

    async fn find(&self, number: u32) -> anyhow::Result<StoredMessage> {
        let chat = synthetic::chat_of(FIRST_CHAT, number).id;
        let id = synthetic::message(chat, number, self.start).id;
        let found = self.store.read(move |conn| messages::find(conn, chat, id)).await?;
        found.ok_or_else(|| anyhow!("made-up chats hold at least {number} messages"))
    }

    /// Measures context selection, in milliseconds. Every other trigger has no words.
    async fn window(&self, trigger: StoredMessage) -> Result<f64, StoreError> {
        let (features, recaller) = (Arc::clone(&self.features), Arc::clone(&self.recaller));
        let watch = self.clock.stopwatch();
        let ask = if trigger.seq.0.is_multiple_of(2) { String::new() } else { trigger.message.text.clone() };
        let pick = move |conn: &_| {
            let params = Params::new(estimate_tokens);
            let asked = TriggerInput { trigger, ask, is_tag: true, language: Language::DEFAULT, zone: Zone::UTC };
            let history = gather(conn, asked, &params, &features)?;
            let window = window(conn, &history, &params, &recaller);
            Ok((history, window))
        };
        // The daemon keeps both values in memory until the answer is sent, so they are not dropped before.
        let _question = self.store.read(pick).await?;
        Ok(milliseconds(watch))
    }

    /// Measures a full-text search for the words of a message, in milliseconds.
    async fn search(&self, said: StoredMessage) -> Result<f64, StoreError> {
        const FOUND: u32 = 40;
        let watch = self.clock.stopwatch();
        let find = move |conn: &_| {
            let range = Range { chat: said.chat, from: Seq(0), before: said.seq, limit: FOUND };
            let words = stems(&said.message.text, Language::DEFAULT).into_iter();
            words.map(|word| postings::of_stem(conn, &range, &word)).collect::<Result<Vec<_>, _>>()
        };
        self.store.read(find).await?;
        Ok(milliseconds(watch))
    }

    /// Measures recall for the first words of a message, in milliseconds.
    async fn recall(&self, said: StoredMessage) -> Result<f64, StoreError> {
        /// Words of a typical question.
        const WORDS: usize = 6;
        let recaller = Arc::clone(&self.recaller);
        let text = said.message.text.split(' ').take(WORDS).collect::<Vec<_>>().join(" ");
        let watch = self.clock.stopwatch();
        let find = move |conn: &_| {
            let request = RecallRequest {
                conversation: said.conversation(),
                text: &text,
                now: said.message.sent_at,
                zone: Zone::UTC,
                by: said.message.sender.id,
                before: said.seq,
            };
            recaller.recall(conn, &request)
        };
        self.store.read(find).await?;
        Ok(milliseconds(watch))
    }
}

pub(super) struct Sorted(Vec<f64>);

impl Sorted {
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    pub fn at(&self, share: f64) -> f64 {
        self.0.get((self.0.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN)
    }
}

/// Returns the median time to make 8 KiB durable, as a commit does, in milliseconds.
fn fsync(folder: &Path, clock: &Clock) -> std::io::Result<f64> {
    let mut file = File::create(folder.join("sync.tmp"))?;
    let mut taken = Vec::new();
    for _ in 0..100 {
        let watch = clock.stopwatch();
        file.write_all(&[7; 8192])?;
        file.sync_data()?;
        taken.push(milliseconds(watch));
    }
    Ok(Sorted::of(taken.into_iter()).at(0.5))
}

/// Returns the resident memory of this process from Linux's `/proc`; NaN on other systems.
pub(super) fn resident_mb() -> std::io::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status").or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(String::new()),
        _ => Err(error),
    })?;
    let kib =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().split(' ').next()?.parse::<f64>().ok());
    Ok(kib.map_or(f64::NAN, |kib| kib / 1024.0))
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1024.0 / 1024.0
}

pub(super) fn milliseconds(watch: Stopwatch) -> f64 {
    watch.elapsed().as_secs_f64() * 1000.0
}
