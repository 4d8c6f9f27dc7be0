//! Measures the speed of recall in chats with many sessions that have summaries, tags and vectors.

use std::sync::Arc;
use std::time::Duration;

use crate::speed::{Sorted, milliseconds, resident_mb};
use crate::synthetic_session::{AUTHOR, SyntheticSession};
use chime_core::embed::Embedder;
use chime_core::{
    Bullet, ChatId, ChatKey, CloseReason, Conversation, Seq, Session, SessionId, Summary, SummaryMethod, Timestamp,
    Zone, pack,
};
use chime_memory::recall::{RecallRequest, Recaller, VectorIndexer, VectorSource};
use chime_runtime::clock::Clock;
use chime_store::postings::{self, Range};
use chime_store::search::Merging;
use chime_store::tags::NewTag;
use chime_store::vector_index::{self, Nearest};
use chime_store::vector_tables::{MESSAGES, SUMMARIES};
use chime_store::{
    Priority, Store, Writer, chats, embedding_spaces, messages, sessions, stems, summaries, summary_vectors, tags,
};

/// Messages per session.
pub const OF_A_SESSION: u32 = 10;
/// Time from one session to the next.
const APART: Duration = Duration::from_secs(9_200);
/// Sessions stored per transaction.
const AT_ONCE: u32 = 100;
/// Questions measured, round-robin over the chats, after the warm-up questions.
const QUESTIONS: u32 = 200;
const WARM_UP: u32 = 50;
/// Telegram's id of the first measured chat; the others count down from it.
const FIRST_CHAT: ChatId = ChatId(-1_008_000_000_000);

/// Times of the whole recall and of single retrievers.
#[derive(Debug, Clone)]
pub struct RecallFigures {
    pub sessions: u32,
    pub chats: u32,
    pub recall_p50_ms: f64,
    pub recall_p95_ms: f64,
    /// Nearest summaries and messages by the vec0 index.
    pub index_p95_ms: f64,
    /// Nearest summaries by comparing all vectors.
    pub scan_p95_ms: f64,
    /// Share of the ten truly nearest vectors that the index finds.
    pub index_finds: f64,
    pub words_p95_ms: f64,
    pub rss_mb: f64,
    pub db_mb: f64,
}

/// Fills a temporary database with `sessions` sessions in `chats` chats, and measures recall in it.
pub async fn measure(sessions: u32, chats: u32, clock: &Clock) -> anyhow::Result<RecallFigures> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("chime.db");
    let (store, _) = Store::open(&path, clock.now())?;
    let embedder = Arc::new(Embedder::shipped()?);
    let chats = chats.clamp(1, sessions.max(1));
    let bench =
        RecallBench { store, clock: clock.clone(), embedder: Arc::clone(&embedder), chats, of_each: sessions / chats };
    bench.fill().await?;
    bench.keep_vectors().await?;
    bench.store.merge_index(Merging::All).await?;
    let recaller = Arc::new(Recaller::new(Some(embedder)));
    let (mut all, mut index, mut scan, mut words, mut finds) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for number in 0..WARM_UP + QUESTIONS {
        let question = bench.question(number);
        all.push(bench.recall(&recaller, question.clone()).await?);
        words.push(bench.search(question.clone()).await?);
        let (by_index, by_scan, found) = bench.nearest(question).await?;
        index.push(by_index);
        scan.push(by_scan);
        finds.push(found);
    }
    let warm = |values: Vec<f64>| Sorted::of(values.into_iter().skip(WARM_UP as usize));
    let recalled = warm(all);
    Ok(RecallFigures {
        sessions,
        chats,
        recall_p50_ms: recalled.at(0.5),
        recall_p95_ms: recalled.at(0.95),
        index_p95_ms: warm(index).at(0.95),
        scan_p95_ms: warm(scan).at(0.95),
        index_finds: finds.iter().sum::<f64>() / finds.len() as f64,
        words_p95_ms: warm(words).at(0.95),
        rss_mb: resident_mb()?,
        db_mb: std::fs::metadata(&path)?.len() as f64 / 1024.0 / 1024.0,
    })
}

pub fn table(all: &[RecallFigures]) -> String {
    let mut lines = vec![
        "sessions  chats  recall p50 / p95 ms  vectors: vec0 / scan p95 ms  found by vec0  words p95 ms  rss MB  db MB"
            .to_owned(),
    ];
    lines.extend(all.iter().map(|it| {
        format!(
            "{:>8}  {:>5}  {:>10.2} / {:>6.2}  {:>17.2} / {:>6.2}  {:>13.2}  {:>12.2}  {:>6.0}  {:>5.0}",
            it.sessions,
            it.chats,
            it.recall_p50_ms,
            it.recall_p95_ms,
            it.index_p95_ms,
            it.scan_p95_ms,
            it.index_finds,
            it.words_p95_ms,
            it.rss_mb,
            it.db_mb
        )
    }));
    lines.join("\n") + "\n"
}

struct RecallBench {
    store: Store,
    clock: Clock,
    embedder: Arc<Embedder>,
    chats: u32,
    of_each: u32,
}

/// Question about one of a chat's sessions.
#[derive(Debug, Clone)]
struct SessionQuestion {
    chat: ChatKey,
    text: String,
    /// After the last message.
    before: Seq,
    now: Timestamp,
}

impl RecallBench {
    fn talk(&self, chat: u32, session: u32) -> SyntheticSession {
        SyntheticSession::new(FIRST_CHAT, chat, session, OF_A_SESSION, self.clock.now().minus(APART * self.of_each))
    }

    async fn fill(&self) -> anyhow::Result<()> {
        for chat in 0..self.chats {
            for begin in (0..self.of_each).step_by(AT_ONCE as usize) {
                let talks: Vec<SyntheticSession> =
                    (begin..self.of_each.min(begin + AT_ONCE)).map(|session| self.talk(chat, session)).collect();
                let embedder = Arc::clone(&self.embedder);
                let write = move |tx: &Writer<'_>| talks.iter().try_for_each(|talk| remember(tx, talk, &embedder));
                self.store.write(Priority::Background, write).await?;
            }
        }
        Ok(())
    }

    async fn keep_vectors(&self) -> anyhow::Result<()> {
        let source = VectorSource::Local(Arc::clone(&self.embedder));
        let indexer = VectorIndexer::new(self.store.clone(), self.clock.clone(), source);
        while !indexer.run_once().await? {}
        Ok(())
    }

    fn question(&self, number: u32) -> SessionQuestion {
        let chat = number % self.chats;
        let talk = self.talk(chat, (number * 7919) % self.of_each);
        SessionQuestion {
            chat: ChatKey(chat + 1),
            text: talk.question(),
            before: Seq(self.of_each * OF_A_SESSION + 1),
            now: self.clock.now(),
        }
    }

    async fn recall(&self, recaller: &Arc<Recaller>, asked: SessionQuestion) -> anyhow::Result<f64> {
        let (recaller, watch) = (Arc::clone(recaller), self.clock.stopwatch());
        let find = move |conn: &chime_store::Reader| {
            let request = RecallRequest {
                conversation: Conversation { chat: asked.chat, forum_topic: None },
                text: &asked.text,
                now: asked.now,
                zone: Zone::UTC,
                by: AUTHOR,
                before: asked.before,
            };
            recaller.recall(conn, &request)
        };
        self.store.read(find).await?;
        Ok(milliseconds(watch))
    }

    async fn search(&self, asked: SessionQuestion) -> anyhow::Result<f64> {
        let watch = self.clock.stopwatch();
        let find = move |conn: &chime_store::Reader| {
            let range = Range { chat: asked.chat, from: Seq(0), before: asked.before, limit: 100 };
            let words = stems(&asked.text, chime_store::Language::DEFAULT).into_iter();
            words.map(|word| postings::of_stem(conn, &range, &word)).collect::<Result<Vec<_>, _>>()
        };
        self.store.read(find).await?;
        Ok(milliseconds(watch))
    }

    /// Returns milliseconds by the index and by a scan, and the share of the ten nearest that the index finds.
    async fn nearest(&self, asked: SessionQuestion) -> anyhow::Result<(f64, f64, f64)> {
        const TOLD: usize = 10;
        let vector = pack(&self.embedder.embed(&asked.text)).unwrap_or_default();
        let clock = self.clock.clone();
        let find = move |conn: &chime_store::Reader| {
            let Some(space) = embedding_spaces::current(conn)? else { return Ok((0.0, 0.0, 0.0)) };
            let wanted = Nearest { chat: asked.chat, newest: asked.before, vector: &vector, limit: 40 };
            let watch = clock.stopwatch();
            let mut index = vector_index::nearest(conn, &space, SUMMARIES, &wanted)?;
            vector_index::nearest(conn, &space, MESSAGES, &wanted)?;
            let by_index = milliseconds(watch);
            let watch = clock.stopwatch();
            let asked_for = chime_core::unpack(&vector);
            let all = summary_vectors::of_chat(conn, asked.chat, &space.model)?;
            let mut scan: Vec<f32> = all.iter().map(|(_, vector)| chime_core::dot(vector, &asked_for)).collect();
            scan.sort_by(|a, b| b.total_cmp(a));
            let by_scan = milliseconds(watch);
            index.truncate(TOLD);
            scan.truncate(TOLD);
            // Vectors of equal similarity are interchangeable; the cosines of packed and unpacked ones differ a little.
            let least = scan.last().map_or(0.0, |cosine| cosine - 1e-5);
            let found = index.iter().filter(|(_, cosine)| *cosine >= least).count();
            Ok((by_index, by_scan, found as f64 / scan.len().max(1) as f64))
        };
        Ok(self.store.read(find).await?)
    }
}

/// Stores the messages of a session, with its summary and tags.
fn remember(tx: &Writer<'_>, talk: &SyntheticSession, embedder: &Embedder) -> chime_store::Result<()> {
    let row = chats::upsert(tx, &talk.chat())?;
    let mut seqs = Vec::new();
    for message in talk.messages() {
        if let messages::TakenIn::New(stored) = messages::take_in(tx, &row, &message)? {
            seqs.push(stored.seq);
        }
        if talk.is_first() {
            chats::upsert_member(tx, row.key, &message.sender)?;
        }
    }
    let (Some(first), said) = (seqs.first().copied(), talk.messages()) else { return Ok(()) };
    let (Some(begin), Some(end)) = (said.first(), said.last()) else { return Ok(()) };
    let session = Session {
        id: SessionId { chat: row.key, first },
        forum_topic: None,
        first: (begin.sent_at, begin.id),
        last: (end.sent_at, end.id),
        messages: OF_A_SESSION,
        reason: CloseReason::Silence,
        closed_at: end.sent_at.plus(Duration::from_secs(3_600)),
        fingerprint: i64::from(first.0),
        is_folded: true,
    };
    sessions::save(tx, &session)?;
    let bullets: Vec<Bullet> = (said.iter().zip(&seqs).step_by(2))
        .map(|(message, seq)| Bullet::fact(message.text.clone(), vec![*seq]))
        .collect();
    let text = bullets.iter().map(|bullet| bullet.text.as_str()).collect::<Vec<_>>().join("\n");
    let summary = Summary {
        bullets,
        tokens: 100,
        method: SummaryMethod::Extract,
        model: String::new(),
        built_at: session.closed_at,
    };
    summaries::save_mini(tx, &session, &summary)?;
    summary_vectors::save(tx, session.id, summary.built_at, embedder.name(), &embedder.embed(&text))?;
    let named = talk.tags().into_iter().map(|name| NewTag { key: name.clone(), name, confidence: 0.8 });
    tags::save(tx, session.id, &named.collect::<Vec<_>>())
}
