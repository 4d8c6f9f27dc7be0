//! Computes what context selection needs to know about the messages before a trigger: their features, and the probable
//! parents of each. Caches both.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use chime_core::embed::Embedder;
use chime_core::{EntityKind, MessageId, StoredMessage, unless_it_panics};
use chime_relevance::context::candidate_features::{CandidateFeatures, antecedents_by, fingerprints};
use chime_relevance::context::features::message::{MessageAddress, MessageFeatures, address, without_bots};
use chime_relevance::context::features::rhythm::WINDOW;
use chime_relevance::context::replies::antecedents::Antecedents;
use chime_relevance::context::weights::Scorers;
use chime_store::{Reader, vectors};

/// Capacity in bytes, enough for the messages before the triggers of about thirty conversations. A message takes about
/// 1 KiB, mostly its vector.
const CAPACITY: u64 = 13 * 1024 * 1024;
/// Estimated number of cached messages, which sets the initial size of the cache.
const ENTRIES: usize = 13_000;

/// Computes and caches the features of messages. Without an embedding model, features have no vectors.
pub struct FeatureCache {
    embedder: Option<Arc<Embedder>>,
    /// Name of the model whose vectors are read from the store, if a server makes them; `None` if they are computed
    /// here.
    stored_model: Option<String>,
    entries: Cache<MessageAddress, Arc<CachedFeatures>, ByteWeighter>,
}

struct CachedFeatures {
    /// Hash of the message's text and of everything else that the features depend on; a different hash means an edited
    /// message.
    fingerprint: u64,
    features: Arc<MessageFeatures>,
    /// Probabilities of the messages that this one may reply to, and a hash of the earlier messages they were computed
    /// from.
    antecedents: Option<(i64, Arc<Antecedents>)>,
}

#[derive(Clone)]
struct ByteWeighter;

impl Weighter<MessageAddress, Arc<CachedFeatures>> for ByteWeighter {
    fn weight(&self, _: &MessageAddress, entry: &Arc<CachedFeatures>) -> u64 {
        entry.features.bytes() as u64
    }
}

impl FeatureCache {
    pub fn new(embedder: Option<Arc<Embedder>>) -> Self {
        Self { embedder, stored_model: None, entries: Cache::with_weighter(ENTRIES, CAPACITY, ByteWeighter) }
    }

    /// Returns the local embedding model, if there is one.
    pub fn embedder(&self) -> Option<&Embedder> {
        self.embedder.as_deref()
    }

    /// Creates a cache that reads the vectors of this model from the store.
    pub fn with_stored_vectors(model: String) -> Self {
        Self { stored_model: Some(model), ..Self::new(None) }
    }

    /// Returns the features of the trigger and of the `recent` messages before it, oldest first. `ask` is the trigger's
    /// text without the bot's name. `earlier` are up to [`WINDOW`] messages before `recent`: candidates for what the
    /// oldest of these reply to.
    pub fn features(
        &self,
        conn: &Reader,
        trigger: &StoredMessage,
        ask: &str,
        earlier: &[StoredMessage],
        recent: &[StoredMessage],
    ) -> chime_store::Result<CandidateFeatures> {
        let stored_vectors = &match (&self.stored_model, recent.last()) {
            (Some(model), Some(newest)) => {
                let after_newest = (newest.message.sent_at, MessageId(newest.message.id.0 + 1));
                vectors::before(conn, trigger.conversation(), after_newest, model, 2 * WINDOW)?
            }
            _ => HashMap::new(),
        };
        let all: Vec<Arc<CachedFeatures>> =
            earlier.iter().chain(recent).map(|stored| self.entry(stored, stored_vectors)).collect();
        let features: Vec<Arc<MessageFeatures>> = all.iter().map(|entry| Arc::clone(&entry.features)).collect();
        let own: Vec<u64> = all.iter().map(|entry| entry.fingerprint).collect();
        let pasts = fingerprints(&own, earlier.len());
        let mut evidence = CandidateFeatures {
            earlier: earlier.iter().map(|stored| stored.message.id).collect(),
            embedder: self.embedder.clone(),
            ..CandidateFeatures::default()
        };
        // Room for the recent messages and the trigger, which are added below.
        evidence.readings.reserve(recent.len() + 1);
        evidence.antecedents.reserve(recent.len());
        for (place, (stored, past)) in (earlier.len()..).zip(recent.iter().zip(pasts)) {
            let entry = &all[place];
            let antecedents = match &entry.antecedents {
                Some((of, antecedents)) if *of == past => Arc::clone(antecedents),
                _ => {
                    let found = Arc::new(antecedents_by(&Scorers::shipped().links, &features, place));
                    let scored = CachedFeatures {
                        fingerprint: entry.fingerprint,
                        features: Arc::clone(&entry.features),
                        antecedents: Some((past, Arc::clone(&found))),
                    };
                    self.entries.insert(address(stored), Arc::new(scored));
                    found
                }
            };
            evidence.readings.insert(address(stored), Arc::clone(&entry.features));
            evidence.antecedents.insert(address(stored), antecedents);
        }
        evidence.readings.insert(address(trigger), Arc::new(features_of(trigger, ask, self.vector(ask))));
        Ok(evidence)
    }

    /// Computes the features of messages before the window. They are not cached, since they are rarely needed again.
    pub fn further_back(
        &self,
        conn: &Reader,
        messages: &[StoredMessage],
    ) -> chime_store::Result<Vec<Arc<MessageFeatures>>> {
        let compute = |stored: &StoredMessage| {
            let text = without_bots(&stored.message.text);
            let vector = match &self.stored_model {
                Some(model) => vectors::find(conn, stored.chat, stored.seq, model)?.unwrap_or_default(),
                None => self.vector(&text),
            };
            Ok(Arc::new(features_of(stored, &text, vector)))
        };
        messages.iter().map(compute).collect()
    }

    /// Returns the features of a message from the cache. Computes them if they are missing or the message has changed.
    fn entry(&self, stored: &StoredMessage, stored_vectors: &HashMap<MessageAddress, Vec<f32>>) -> Arc<CachedFeatures> {
        let place = address(stored);
        let stored_vector = stored_vectors.get(&place);
        let fingerprint = fingerprint(stored, stored_vector.is_some());
        if let Some(entry) = self.entries.get(&place).filter(|entry| entry.fingerprint == fingerprint) {
            return entry;
        }
        let text = without_bots(&stored.message.text);
        let vector = stored_vector.cloned().unwrap_or_else(|| self.vector(&text));
        let features = Arc::new(features_of(stored, &text, vector));
        let entry = Arc::new(CachedFeatures { fingerprint, features, antecedents: None });
        self.entries.insert(place, Arc::clone(&entry));
        entry
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let embedded = self.embedder.as_ref().and_then(|embedder| unless_it_panics(|| embedder.embed(text)));
        embedded.unwrap_or_default()
    }
}

/// Computes the features of a message from `text`. If that panics, returns the features of an empty message.
fn features_of(stored: &StoredMessage, text: &str, vector: Vec<f32>) -> MessageFeatures {
    let features = unless_it_panics(|| MessageFeatures::of(&stored.message, text, vector));
    features.unwrap_or_else(|| MessageFeatures::of(&stored.message, "", Vec::new()))
}

/// Returns a hash of everything in a message that its features depend on: a changed hash makes the cached ones invalid.
fn fingerprint(stored: &StoredMessage, has_stored_vector: bool) -> u64 {
    let message = &stored.message;
    let mut hasher = DefaultHasher::new();
    (message.id, message.sent_at, message.sender.id, &message.sender.name, &message.sender.username).hash(&mut hasher);
    (&message.text, has_stored_vector).hash(&mut hasher);
    for entity in &message.entities {
        if let EntityKind::TextMention { user } = &entity.kind {
            user.id.hash(&mut hasher);
        }
    }
    hasher.finish()
}
