use std::collections::HashSet;
use std::path::Path;

use super::*;
use crate::recall::{RecallRequest, Recaller};
use chime_core::config::EmbeddingConfig;
use chime_core::testkit::{CHAT, transcript};
use chime_core::{Chat, ChatKey, ChatKind, Conversation, MessageId, Seq, Timestamp, Zone};
use chime_relevance::retrieval::RecalledMessage;
use chime_store::embedding_spaces::VectorCoverage;
use chime_store::testkit::new_store;
use chime_store::vector_index::{Near, Nearest};
use chime_store::vector_tables::{MESSAGES, Space};
use chime_store::{chats, forget, messages, passages};

const KEY: ChatKey = ChatKey(1);
/// Greatest difference between a cosine of packed and one of unpacked vectors.
const ROUNDED: f32 = 1e-5;

struct Bench {
    store: Store,
    clock: Clock,
    folder: tempfile::TempDir,
}

/// Returns all different messages of the labelled chats, and the questions about them.
fn labelled() -> (Vec<String>, Vec<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/chats");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let (mut texts, mut questions, mut met) = (Vec::new(), Vec::new(), HashSet::new());
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "txt")) {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let fields: Vec<&str> = line.splitn(6, " | ").collect();
            match fields.as_slice() {
                ["R", question, _] => questions.push((*question).to_owned()),
                [_, _, _, _, _, text] if met.insert((*text).to_owned()) => texts.push((*text).to_owned()),
                _ => {}
            }
        }
    }
    (texts, questions)
}

impl Bench {
    /// Creates a chat of 420 messages; the third contains the code of the front door.
    async fn new() -> Self {
        let (mut texts, _) = labelled();
        texts.truncate(420);
        "the code of the front door is 4711".clone_into(&mut texts[2]);
        Self::of(texts).await
    }

    /// Creates a chat with these messages.
    async fn of(texts: Vec<String>) -> Self {
        let (folder, store) = new_store().await;
        let lines: Vec<String> = (1..=texts.len()).map(|number| format!("10:00 ben#{number} said")).collect();
        let mut said = transcript(&lines.join("\n"));
        for (stored, text) in said.iter_mut().zip(texts) {
            stored.message.text = text;
        }
        store
            .write(Priority::Answering, move |tx| {
                let row =
                    chats::upsert(tx, &Chat { id: CHAT, kind: ChatKind::Supergroup, title: None, username: None })?;
                for stored in &said {
                    messages::take_in(tx, &row, &stored.message)?;
                }
                Ok(())
            })
            .await
            .unwrap();
        Self { store, clock: Clock::system(), folder }
    }

    /// Closes and opens the database, as a restart does.
    async fn opened_again(self) -> Self {
        self.store.close().await;
        let (store, _) = Store::open(&self.folder.path().join("chime.db"), Timestamp::from_secs(2)).unwrap();
        Self { store, ..self }
    }

    fn indexer(&self, embedder: &Arc<Embedder>) -> VectorIndexer {
        VectorIndexer::new(self.store.clone(), self.clock.clone(), VectorSource::Local(Arc::clone(embedder)))
    }

    async fn keep(&self, embedder: &Arc<Embedder>) {
        let indexer = self.indexer(embedder);
        while indexer.work().await.unwrap() == Progress::More {}
    }

    async fn recalled(&self, embedder: &Arc<Embedder>) -> RecalledMessage {
        let recaller = Recaller::new(Some(Arc::clone(embedder)));
        let find = move |conn: &chime_store::Reader| {
            let request = RecallRequest {
                conversation: Conversation { chat: KEY, forum_topic: None },
                text: "what is the code of the front door?",
                now: Timestamp::from_secs(1_900_000_000),
                zone: Zone::UTC,
                by: chime_core::testkit::user("ben"),
                before: Seq(420),
            };
            recaller.recall(conn, &request)
        };
        self.store.read(find).await.unwrap().messages.into_iter().next().expect("something is recalled")
    }

    async fn space(&self) -> Space {
        self.store.read(embedding_spaces::current).await.unwrap().expect("a space")
    }

    async fn coverage(&self, embedder: &Embedder) -> VectorCoverage {
        let name = embedder.name().to_owned();
        self.store.read(move |conn| embedding_spaces::coverage(conn, &name)).await.unwrap()
    }
}

fn shipped() -> Arc<Embedder> {
    Arc::new(Embedder::shipped().unwrap())
}

/// Loads the built-in model under another name, so that it counts as a different model.
fn other() -> Arc<Embedder> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../embedding/chat-static-ml-160-int8");
    Arc::new(Embedder::load(&EmbeddingConfig::Model2Vec(folder)).unwrap().unwrap())
}

/// Returns the texts nearest to `text` with their cosines, found by the index and by comparing all vectors.
async fn nearest(bench: &Bench, embedder: &Embedder, text: &str, limit: usize) -> (Vec<Near>, Vec<Near>) {
    let space = bench.space().await;
    let vector = chime_core::pack(&embedder.embed(text)).unwrap();
    let find = move |conn: &chime_store::Reader| {
        let newest = Seq(chime_store::postings::messages(conn, KEY)? as u32);
        let wanted = Nearest { chat: KEY, newest, vector: &vector, limit };
        let index = vector_index::nearest(conn, &space, MESSAGES, &wanted)?;
        let asked = chime_core::unpack(&vector);
        let all = passages::in_range(conn, true, KEY, Seq(0), newest)?;
        let mut scan: Vec<Near> = (all.iter().filter(|one| !one.vector.is_empty()))
            .map(|one| (one.seq, chime_core::dot(&one.vector, &asked)))
            .collect();
        scan.sort_by(|a, b| b.1.total_cmp(&a.1));
        scan.truncate(limit);
        Ok((index, scan))
    };
    bench.store.read(find).await.unwrap()
}

/// Returns the five messages nearest to `text`, found by the index and by comparing all vectors.
async fn both(bench: &Bench, embedder: &Embedder, text: &str) -> (Vec<Seq>, Vec<Seq>) {
    let (index, scan) = nearest(bench, embedder, text, 5).await;
    assert_eq!(index.len(), scan.len());
    assert!(index[0].1 >= scan[0].1 - ROUNDED, "the nearest has the greatest cosine");
    assert!(share_found(&index, &scan) >= 0.8, "{index:?} {scan:?}");
    let seqs = |of: Vec<Near>| of.into_iter().map(|(seq, _)| seq).collect();
    (seqs(index), seqs(scan))
}

/// Returns the share of the nearest texts that the index found. A text with the same cosine as the last of them counts
/// too.
fn share_found(index: &[Near], scan: &[Near]) -> f64 {
    let least = scan.last().map_or(1.0, |(_, cosine)| *cosine);
    index.iter().filter(|(_, cosine)| *cosine >= least - ROUNDED).count() as f64 / scan.len() as f64
}

/// The index proposes by another distance than the cosine, so it misses some texts with nearly equal cosines. The
/// bounds hold for exactly these texts.
#[tokio::test]
async fn of_thousands_the_index_finds_nearly_all_of_the_ten_nearest() {
    let (mut texts, questions) = labelled();
    texts.truncate(4_600);
    let (bench, embedder) = (Bench::of(texts).await, shipped());
    bench.keep(&embedder).await;
    let (mut shares, mut firsts) = (Vec::new(), 0.0);
    for question in questions.iter().step_by(questions.len() / 100) {
        let (index, scan) = nearest(&bench, &embedder, question, 10).await;
        firsts += f64::from(u8::from(index[0].1 >= scan[0].1 - ROUNDED));
        shares.push(share_found(&index, &scan));
    }
    let mean = |sum: f64| sum / shares.len() as f64;
    let worst = shares.iter().copied().fold(1.0, f64::min);
    let (of_ten, first) = (mean(shares.iter().sum()), mean(firsts));
    assert!(
        of_ten >= 0.9 && first >= 0.99 && worst >= 0.5,
        "{of_ten} of the ten, at least {worst}; {first} of the nearest"
    );
}

#[tokio::test]
async fn far_messages_get_vectors_and_the_index_finds_what_a_scan_finds() {
    let (bench, embedder) = (Bench::new().await, shipped());
    bench.keep(&embedder).await;
    // Nine have no words that the model knows.
    assert_eq!(bench.coverage(&embedder).await.messages, (411, 411));
    let (index, scan) = both(&bench, &embedder, "the door's code").await;
    assert_eq!((index[0], scan[0]), (Seq(3), Seq(3)));
    let found = bench.recalled(&embedder).await;
    assert!(
        found.message.seq == Seq(3) && found.retrieved.vector > 0.4 && found.retrieved.words > 0.0,
        "{:?}",
        found.retrieved
    );
}

#[tokio::test]
async fn what_is_forgotten_is_in_no_index_and_an_edit_is_read_again() {
    let (bench, embedder) = (Bench::new().await, shipped());
    bench.keep(&embedder).await;
    let change = |tx: &chime_store::Writer<'_>| {
        let row = chats::find(tx, CHAT)?.expect("the chat");
        let first = messages::find(tx, CHAT, MessageId(1))?.expect("the first message").message;
        let later = Some(Timestamp::from_secs(1_950_000_000));
        let edited = chime_core::Message { text: "my bicycle was stolen".to_owned(), edited_at: later, ..first };
        messages::take_in(tx, &row, &edited)?;
        let options = forget::ForgetOptions {
            cause: chime_store::family::Cause::Forgotten,
            replacement: forget::Replacement::Stub,
            repeats: |_, _| false,
        };
        forget::messages(tx, &[(KEY, Seq(3))], options)?;
        Ok(())
    };
    bench.store.write(Priority::Answering, change).await.unwrap();
    assert!(!both(&bench, &embedder, "the door's code").await.0.contains(&Seq(3)));
    bench.keep(&embedder).await;
    assert_eq!(both(&bench, &embedder, "somebody took his bike").await.0[0], Seq(1));
    let space = bench.space().await;
    assert!(bench.store.read(move |conn| vector_index::is_whole(conn, &space)).await.unwrap());
}

#[tokio::test]
async fn an_index_that_is_not_whole_is_made_anew_and_recall_does_without_it_meanwhile() {
    let (bench, embedder) = (Bench::new().await, shipped());
    bench.keep(&embedder).await;
    let space = bench.space().await;
    bench.store.write(Priority::Answering, vector_index::remove).await.unwrap();
    let by_words = bench.recalled(&embedder).await;
    assert!(by_words.message.seq == Seq(3) && by_words.retrieved.vector == 0.0, "{:?}", by_words.retrieved);
    bench.keep(&embedder).await;
    assert!(bench.store.read(move |conn| vector_index::is_whole(conn, &space)).await.unwrap());
    assert_eq!(both(&bench, &embedder, "the door's code").await.0[0], Seq(3));
}

#[tokio::test]
async fn another_model_replaces_all_vectors_and_recall_goes_by_words_meanwhile() {
    let (bench, before, after) = (Bench::new().await, shipped(), other());
    bench.keep(&before).await;
    // The process is stopped while the old vectors are deleted, and again while the new ones are made.
    let steps = async |bench: &Bench, count: usize| {
        let indexer = bench.indexer(&after);
        for _ in 0..count {
            assert_eq!(indexer.step(after.name()).await.unwrap(), Progress::More);
        }
    };
    assert_eq!(bench.coverage(&after).await.messages, (0, 411));
    steps(&bench, 2).await;
    let bench = bench.opened_again().await;
    assert_eq!(bench.store.read(embedding_spaces::current).await.unwrap(), None);
    assert_eq!(bench.coverage(&after).await.messages, (0, 411));
    let by_words = bench.recalled(&after).await;
    assert!(by_words.message.seq == Seq(3) && by_words.retrieved.vector == 0.0, "{:?}", by_words.retrieved);
    steps(&bench, 3).await;
    let bench = bench.opened_again().await;
    assert_eq!((bench.space().await.model.as_str(), bench.coverage(&after).await.messages), (after.name(), (64, 411)));
    let by_words = bench.recalled(&after).await;
    assert!(by_words.message.seq == Seq(3) && by_words.retrieved.vector == 0.0, "the newest messages come first");
    bench.keep(&after).await;
    assert_eq!(bench.coverage(&after).await.messages, (411, 411));
    assert!(bench.recalled(&after).await.retrieved.vector > 0.4);
}
