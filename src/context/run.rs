//! Fetches what the pure part needs: one read of the store, no network, no model.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::context::strands::{complete, fingerprints};
use crate::context::{Antecedents, Evidence, History, Link, Params, Picker, SCORER_VERSION};
use crate::domain::{ChatKey, MessageId, Seq, StoredMessage};
use crate::embed::Embedder;
use crate::store::links::CachedLinks;
use crate::store::{self, Priority, Reader, Store, links, messages};

/// Messages before the trigger that are fetched: the candidates, and what those are scored against.
const RECENT: usize = 400;
/// Replies to one message that are looked at.
const REPLIES: usize = 20;

/// A trigger, and how it is to be read.
#[derive(Debug, Clone)]
pub struct Asked {
    pub trigger: StoredMessage,
    /// Its words without the bot's name.
    pub ask: String,
    /// Whether it tags the bot, rather than going on with the talk.
    pub is_tag: bool,
}

/// Link scores that had to be worked out, to be kept for the next trigger.
#[derive(Debug, Clone, Default)]
pub struct FreshLinks(Vec<(ChatKey, Seq, CachedLinks)>);

impl FreshLinks {
    /// Keeps them. Nobody waits for this, and failing costs only time.
    pub async fn keep(self, store: &Store) {
        if self.0.is_empty() {
            return;
        }
        let kept = store.write(Priority::Background, move |tx| {
            for (chat, seq, cached) in self.0 {
                links::keep(tx, chat, SCORER_VERSION, &[(seq, cached)])?;
            }
            Ok(())
        });
        if let Err(error) = kept.await {
            tracing::warn!(%error, "link scores were not kept");
        }
    }
}

/// Fetches the trigger's recent messages and everything that reply links lead to, with the link scores of all of them.
pub fn gather(
    conn: &Reader,
    asked: Asked,
    params: &Params,
    embedder: Option<&Embedder>,
) -> store::Result<(History, FreshLinks)> {
    let Asked { mut trigger, ask, is_tag } = asked;
    let anchor_withheld = match trigger.message.reply_to {
        Some(parent) => messages::is_withheld(conn, trigger.message.chat, parent)?,
        None => false,
    };
    if anchor_withheld {
        // A part of words that are not kept is not kept either.
        trigger.message.quote = None;
    }
    let moment = (trigger.message.sent_at, trigger.message.id);
    let recent = messages::before(conn, trigger.conversation(), moment, RECENT)?;
    let mut found = Links::new(&trigger, &recent);
    found.follow_up(conn, &trigger, params.chain_depth)?;
    let anchor = found.found.first().cloned();
    if let Some(anchor) = &anchor {
        found.add_neighbours(conn, anchor, params.lookback_limit)?;
        found.add_all(messages::replies_to(conn, anchor.message.chat, anchor.message.id, REPLIES)?);
    }
    // Only what can be in the window can pull its ancestors in.
    for member in recent.iter().rev().take(params.lookback_limit) {
        found.follow_up(conn, member, params.chain_depth)?;
    }
    found.complete_albums(conn, &recent, params.lookback_limit)?;
    let (evidence, fresh) = match params.picker {
        Picker::Strands => evidence(conn, &trigger, &ask, &recent, embedder)?,
        Picker::Clusters => Default::default(),
    };
    let linked = found.found;
    let evidence = Arc::new(evidence);
    let history = History { trigger, anchor_withheld, recent, linked, ask, is_tag, evidence };
    Ok((history, fresh))
}

/// Vectors of all texts, and link scores: those kept from before, and the others worked out now.
fn evidence(
    conn: &Reader,
    trigger: &StoredMessage,
    ask: &str,
    recent: &[StoredMessage],
    embedder: Option<&Embedder>,
) -> store::Result<(Evidence, FreshLinks)> {
    let mut evidence = Evidence::default();
    let texts = recent.iter().map(|stored| (stored, stored.message.text.as_str())).chain([(trigger, ask)]);
    if let Some(embedder) = embedder {
        evidence.vectors =
            texts.map(|(stored, text)| ((stored.message.chat, stored.message.id), embedder.embed(text))).collect();
    }
    let conversation: Vec<&StoredMessage> = recent.iter().collect();
    let marks = fingerprints(&conversation);
    let candidates = &conversation[conversation.len() - marks.len()..];
    let cached = cached_rows(conn, candidates)?;
    for (stored, mark) in candidates.iter().zip(&marks) {
        if let Some(known) = cached.get(&stored.seq).filter(|known| known.past == *mark) {
            evidence.antecedents.insert((stored.message.chat, stored.message.id), antecedents(known));
        }
    }
    let fresh: HashSet<_> = complete(&conversation, &mut evidence).into_iter().collect();
    let fresh = candidates.iter().zip(marks).filter_map(|(stored, past)| {
        let address = (stored.message.chat, stored.message.id);
        let row = evidence.antecedents.get(&address).filter(|_| fresh.contains(&address))?;
        Some((
            stored.chat,
            stored.seq,
            CachedLinks { past, links: row.0.iter().map(|link| (link.distance, link.probability)).collect() },
        ))
    });
    let fresh = FreshLinks(fresh.collect());
    Ok((evidence, fresh))
}

fn cached_rows(conn: &Reader, candidates: &[&StoredMessage]) -> store::Result<HashMap<Seq, CachedLinks>> {
    let seqs = candidates.iter().map(|stored| stored.seq);
    match (seqs.clone().min(), seqs.max(), candidates.first()) {
        (Some(from), Some(to), Some(any)) => links::between(conn, any.chat, (from, to), SCORER_VERSION),
        _ => Ok(HashMap::new()),
    }
}

fn antecedents(cached: &CachedLinks) -> Antecedents {
    Antecedents(
        cached
            .links
            .iter()
            .map(|(distance, probability)| Link { distance: *distance, probability: *probability })
            .collect(),
    )
}

/// What links led to, each message once and never one that is recent anyway, unless it is the anchor.
struct Links {
    seen: HashSet<MessageId>,
    found: Vec<StoredMessage>,
}

impl Links {
    fn new(trigger: &StoredMessage, recent: &[StoredMessage]) -> Self {
        let mut seen: HashSet<_> = recent.iter().map(|stored| stored.message.id).collect();
        seen.insert(trigger.message.id);
        Self { seen, found: Vec::new() }
    }

    fn add(&mut self, stored: StoredMessage) {
        if self.seen.insert(stored.message.id) {
            self.found.push(stored);
        }
    }

    fn add_all(&mut self, stored: Vec<StoredMessage>) {
        stored.into_iter().for_each(|one| self.add(one));
    }

    /// Adds the ancestors of `from` by reply links.
    fn follow_up(&mut self, conn: &Reader, from: &StoredMessage, depth: usize) -> store::Result<()> {
        let mut parent = from.message.reply_to;
        for _ in 0..depth {
            let Some(id) = parent else { break };
            let Some(stored) = messages::find(conn, from.message.chat, id)? else { break };
            parent = stored.message.reply_to;
            self.add(stored);
        }
        Ok(())
    }

    /// Adds what was said around an old anchor.
    fn add_neighbours(&mut self, conn: &Reader, anchor: &StoredMessage, limit: usize) -> store::Result<()> {
        let moment = (anchor.message.sent_at, anchor.message.id);
        self.add_all(messages::before(conn, anchor.conversation(), moment, limit)?);
        self.add_all(messages::after(conn, anchor.conversation(), moment, limit)?);
        Ok(())
    }

    fn complete_albums(&mut self, conn: &Reader, recent: &[StoredMessage], limit: usize) -> store::Result<()> {
        let near = recent.iter().rev().take(limit).chain(&self.found);
        let albums: HashSet<_> =
            near.filter_map(|stored| Some((stored.message.chat, stored.message.album.clone()?))).collect();
        for (chat, album) in albums {
            self.add_all(messages::album(conn, chat, &album)?);
        }
        Ok(())
    }
}
