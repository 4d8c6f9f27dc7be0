//! Loads a pack into a store, in which the daemon's own retriever can search.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::context::to_stored;
use crate::pack::{Pack, PackMessage, QuestionAsk};
use chime_core::embed::Embedder;
use chime_core::{Chat, ChatId, ChatKey, ChatKind, Conversation, Seq, Timestamp, UserId, Zone};
use chime_memory::recall::{RecallRequest, Recaller, VectorIndexer, VectorSource};
use chime_runtime::clock::Clock;
use chime_store::messages::TakenIn;
use chime_store::search::Merging;
use chime_store::{Language, Priority, Store, Writer, chats, messages};

/// Number of messages from which a chat's language is detected.
const JUDGED: usize = 200;
/// Id of the first chat; the others count down from it.
const FIRST_CHAT: i64 = -1_007_000_000_000;

/// Store with a pack's messages and their vectors.
pub struct RememberedPack {
    store: Store,
    recaller: Arc<Recaller>,
    chats: BTreeMap<String, RememberedChat>,
    _folder: tempfile::TempDir,
}

struct RememberedChat {
    key: ChatKey,
    /// Number that the store gave each message, in the pack's order.
    seqs: Vec<Seq>,
}

impl RememberedPack {
    pub async fn new(pack: &Pack, embedder: &Arc<Embedder>, clock: &Clock) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let (store, _) = Store::open(&folder.path().join("chime.db"), clock.now())?;
        let mut chats = BTreeMap::new();
        let named: BTreeMap<&String, &Vec<PackMessage>> = pack.chats.iter().collect();
        for (id, (name, said)) in (0..).map(|place| ChatId(FIRST_CHAT - place)).zip(named) {
            let taken = said.clone();
            let remembered = store.write(Priority::Background, move |tx| take_in(tx, id, &taken)).await?;
            chats.insert(name.clone(), remembered);
        }
        let indexer = VectorIndexer::new(store.clone(), clock.clone(), VectorSource::Local(Arc::clone(embedder)));
        while !indexer.run_once().await? {}
        store.merge_index(Merging::All).await?;
        let recaller = Arc::new(Recaller::new(Some(Arc::clone(embedder))));
        Ok(Self { store, recaller, chats, _folder: folder })
    }

    /// Returns the daemon's ranking for a question, best first: each message's index in its chat, and its score.
    pub async fn ranked(&self, ask: &QuestionAsk) -> chime_store::Result<Vec<(usize, f64)>> {
        let Some(chat) = self.chats.get(&ask.chat_id) else { return Ok(Vec::new()) };
        let (recaller, text, now) = (Arc::clone(&self.recaller), ask.question.clone(), Timestamp::from_secs(ask.date));
        let conversation = Conversation { chat: chat.key, forum_topic: None };
        let before = Seq(chat.seqs.iter().map(|seq| seq.0).max().unwrap_or(0).saturating_add(1));
        let look = move |conn: &chime_store::Reader| {
            let request = RecallRequest { conversation, text: &text, now, zone: Zone::UTC, by: UserId(0), before };
            recaller.ranked(conn, &request)
        };
        let ranked = self.store.read(look).await?;
        let places: HashMap<Seq, usize> = chat.seqs.iter().enumerate().map(|(place, seq)| (*seq, place)).collect();
        Ok(ranked.into_iter().filter_map(|(seq, score)| Some((*places.get(&seq)?, score))).collect())
    }
}

/// Stores a chat's messages. The language is set before, since the daemon would know it too.
fn take_in(tx: &Writer<'_>, id: ChatId, said: &[PackMessage]) -> chime_store::Result<RememberedChat> {
    let chat = Chat { id, kind: ChatKind::Supergroup, title: None, username: None };
    let newest = said[said.len().saturating_sub(JUDGED)..].iter();
    let texts: Vec<String> = newest.map(|message| message.text.clone()).collect();
    let key = chats::upsert(tx, &chat)?.key;
    chats::set_language(tx, key, Language::judge(&texts).unwrap_or(Language::DEFAULT))?;
    let row = chats::upsert(tx, &chat)?;
    let mut seqs = Vec::with_capacity(said.len());
    for message in said {
        let mut stored = to_stored(message, 0).message;
        stored.chat = id;
        match messages::take_in(tx, &row, &stored)? {
            TakenIn::New(kept) | TakenIn::Replaced(kept) | TakenIn::Known(kept) => seqs.push(kept.seq),
        }
        if !message.is_bot {
            chats::upsert_member(tx, key, &stored.sender)?;
        }
    }
    Ok(RememberedChat { key, seqs })
}
