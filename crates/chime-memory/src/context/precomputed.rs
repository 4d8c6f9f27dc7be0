//! Features, reply distributions and threads of the two hundred messages before a trigger, from the cache if possible.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::context::cache::{Cache, Known, ROOM, Talk};
use crate::context::newest::{Before, END, Newest};
use chime_core::embed::Embedder;
use chime_core::{Conversation, MessageId, Seq, StoredMessage, Timestamp, unless_it_panics};
use chime_relevance::context::features::message::{MessageAddress, MessageFeatures, address, without_bots};
use chime_relevance::context::features::rhythm::WINDOW;
use chime_relevance::context::features::token::Quick;
use chime_relevance::context::pick::precompute::sample_strands;
use chime_relevance::context::precomputed::{PrecomputedFeatures, antecedents_by, fingerprints};
use chime_relevance::context::replies::antecedents::Antecedents;
use chime_relevance::context::strands::SampledStrands;
use chime_relevance::context::weights::Scorers;
use chime_store::marks::Mark;
use chime_store::{Reader, chats, messages, vectors};

/// Messages before and after the candidates that stay cached, because a trigger may be slightly older than the newest
/// message.
const SCROLLED: usize = 40;

/// Computes and caches the features of messages, with embeddings if there is a model.
pub struct Readings {
    embedder: Option<Arc<Embedder>>,
    /// Model of the embeddings in the store, if a server makes them.
    kept: Option<String>,
    cache: Mutex<Cache>,
}

/// Newest messages of a conversation with their features.
struct Stretch<'a> {
    recent: &'a [StoredMessage],
    marks: Vec<Mark>,
    /// Marks of the messages before them that they are scored against, oldest first.
    earlier: Vec<Mark>,
    /// Fingerprint, for each recent message, of the messages that it is scored against.
    pasts: Vec<i64>,
    /// Embeddings from the store.
    vectors: HashMap<MessageAddress, Vec<f32>>,
    /// Cache entry before this computation.
    before: Arc<Talk>,
    readings: Vec<Arc<MessageFeatures>>,
    antecedents: Vec<Option<Arc<Antecedents>>>,
}

impl Readings {
    pub fn new(embedder: Option<Arc<Embedder>>) -> Self {
        Self { embedder, kept: None, cache: Mutex::default() }
    }

    /// Returns the local embedding model, if there is one.
    pub fn embedder(&self) -> Option<&Embedder> {
        self.embedder.as_deref()
    }

    /// Creates an instance that uses the embeddings by this model in the store.
    pub fn with_kept_vectors(model: String) -> Self {
        Self { kept: Some(model), ..Self::new(None) }
    }

    /// Calls `work` with the newest messages `before` a position. Caches them, so that the next call reads only new
    /// ones.
    pub fn with_newest<T>(
        &self,
        conn: &Reader,
        conversation: Conversation,
        before: (Timestamp, MessageId),
        work: impl FnOnce(Before<'_>) -> chime_store::Result<T>,
    ) -> chime_store::Result<T> {
        let known = self.cache().take_newest(conversation);
        let newest = Newest::read(conn, conversation, known)?;
        let outcome = match newest.before(before) {
            Some(messages) => work(messages),
            None => work(Newest::read_before(conn, conversation, before)?.before(before).unwrap_or_default()),
        };
        self.cache().put_newest(conversation, newest);
        outcome
    }

    /// Returns the cached features of a conversation's newest messages, ascending by number. Empty without a local
    /// model, or if a message of the chat has changed.
    pub fn known(
        &self,
        conn: &Reader,
        conversation: Conversation,
    ) -> chime_store::Result<Vec<(Seq, Arc<MessageFeatures>)>> {
        let now = match &self.embedder {
            Some(_) => chats::revision(conn, conversation.chat)?,
            None => None,
        };
        Ok(now.map_or_else(Vec::new, |now| self.cache().known(conversation, now)))
    }

    /// Computes the features of the messages `before` a trigger and of the trigger itself, whose text without the bot's
    /// name is `ask`.
    pub fn evidence(
        &self,
        conn: &Reader,
        (trigger, ask): (&StoredMessage, &str),
        before: Before<'_>,
    ) -> chime_store::Result<PrecomputedFeatures> {
        let stretch = self.stretch(conn, trigger.conversation(), before, usize::MAX)?;
        let sampled = stretch.sampled();
        let mut evidence = PrecomputedFeatures { sampled, embedder: self.embedder.clone(), ..stretch.evidence() };
        let asked = read_words(trigger, ask, self.vector(ask));
        evidence.readings.insert(address(trigger), Arc::new(asked));
        Ok(evidence)
    }

    /// Computes the features of messages older than any window. Not cached, since they are rarely needed again.
    pub fn further_back(
        &self,
        conn: &Reader,
        messages: &[StoredMessage],
    ) -> chime_store::Result<Vec<Arc<MessageFeatures>>> {
        let read = |stored: &StoredMessage| {
            let text = without_bots(&stored.message.text);
            let vector = match &self.kept {
                Some(model) => vectors::find(conn, stored.chat, stored.seq, model)?.unwrap_or_default(),
                None => self.vector(&text),
            };
            Ok(Arc::new(read_words(stored, &text, vector)))
        };
        messages.iter().map(read).collect()
    }

    /// Computes at most `most` missing reply distributions for the next trigger. Returns `true` if none is missing.
    pub fn prepare(&self, conn: &Reader, conversation: Conversation, most: usize) -> chime_store::Result<bool> {
        self.with_newest(conn, conversation, END, |newest| {
            let stretch = self.stretch(conn, conversation, newest, most)?;
            let is_complete = stretch.antecedents.iter().all(Option::is_some);
            if is_complete && stretch.sampled().is_none() {
                let (fingerprint, messages) = (stretch.fingerprint(), newest.messages.iter().collect::<Vec<_>>());
                let strands = sample_strands(&messages, &stretch.evidence(), &Scorers::shipped());
                self.cache().put_strands(conversation, fingerprint, strands);
            }
            Ok(is_complete)
        })
    }

    /// Returns the messages with their features and reply distributions. Computes the features and at most `most`
    /// distributions that are not cached.
    fn stretch<'a>(
        &self,
        conn: &Reader,
        conversation: Conversation,
        newest: Before<'a>,
        most: usize,
    ) -> chime_store::Result<Stretch<'a>> {
        let mut stretch = self.marked(conn, newest, self.cache().talk(conversation))?;
        for (stored, (mark, past)) in newest.messages.iter().zip(stretch.marks.iter().zip(&stretch.pasts)) {
            let row = stretch.known(mark).and_then(|known| known.row.as_ref()).filter(|(of, _)| of == past);
            stretch.antecedents.push(row.map(|(_, row)| Arc::clone(row)));
            stretch.readings.push(self.reading(&stretch, stored, mark));
        }
        let mut known = stretch.scrolled();
        self.work_out(conn, &mut stretch, most, &mut known)?;
        stretch.remember(&mut known);
        let talk = Talk { known, sampled: stretch.before.sampled.clone() };
        self.cache().put(conversation, Arc::new(talk), ROOM);
        Ok(stretch)
    }

    /// Returns the messages with the marks of themselves and of those before them.
    fn marked<'a>(&self, conn: &Reader, newest: Before<'a>, before: Arc<Talk>) -> chime_store::Result<Stretch<'a>> {
        let recent = newest.messages;
        let (mut earlier, mut marks, mut vectors) = (newest.earlier.to_vec(), newest.marks.to_vec(), HashMap::new());
        if let (Some(model), Some(newest)) = (&self.kept, recent.last()) {
            let behind_it = (newest.message.sent_at, MessageId(newest.message.id.0 + 1));
            vectors = vectors::before(conn, newest.conversation(), behind_it, model, 2 * WINDOW)?;
            // The mark includes the embedding, since the features change with it.
            let marks = earlier.iter_mut().chain(&mut marks);
            marks.for_each(|it| it.mark = read_with(it.mark, model, vectors.contains_key(&(it.chat, it.id))));
        }
        let of_all: Vec<u64> = earlier.iter().chain(&marks).map(|mark| mark.mark).collect();
        let pasts = fingerprints(&of_all, earlier.len());
        let (readings, antecedents) = (Vec::with_capacity(recent.len()), Vec::with_capacity(recent.len()));
        Ok(Stretch { recent, marks, earlier, pasts, vectors, before, readings, antecedents })
    }

    /// Scores the newest `most` messages without a reply distribution. Adds the features computed on the way to
    /// `now_known`.
    fn work_out(
        &self,
        conn: &Reader,
        stretch: &mut Stretch<'_>,
        most: usize,
        now_known: &mut Quick<MessageAddress, Known>,
    ) -> chime_store::Result<()> {
        let unscored = stretch.antecedents.iter().enumerate().filter(|(_, row)| row.is_none());
        let mut missing: Vec<usize> = unscored.map(|(place, _)| place).collect();
        missing.drain(..missing.len().saturating_sub(most));
        let (Some(oldest), Some(first)) = (missing.first(), stretch.recent.first()) else { return Ok(()) };
        // The oldest of them is scored against the whole window before it, which begins before the recent messages.
        let reach = stretch.earlier.len().min(WINDOW - oldest);
        let marks = &stretch.earlier[stretch.earlier.len() - reach..];
        let is_known = marks.iter().all(|mark| stretch.known(mark).is_some());
        if !is_known {
            let moment = (first.message.sent_at, first.message.id);
            for (stored, mark) in messages::before(conn, first.conversation(), moment, reach)?.iter().zip(marks) {
                let known = Known { mark: mark.mark, reading: self.reading(stretch, stored, mark), row: None };
                now_known.entry((mark.chat, mark.id)).or_insert(known);
            }
        }
        let known = |mark: &Mark| now_known.get(&(mark.chat, mark.id)).or_else(|| stretch.known(mark));
        let of_earlier = marks.iter().filter_map(|mark| Some(Arc::clone(&known(mark)?.reading)));
        let readings: Vec<Arc<MessageFeatures>> = of_earlier.chain(stretch.readings.iter().cloned()).collect();
        let reach = readings.len() - stretch.readings.len();
        for place in missing {
            stretch.antecedents[place] =
                Some(Arc::new(antecedents_by(&Scorers::shipped().links, &readings, reach + place)));
        }
        Ok(())
    }

    /// Returns the features of a message from the cache, or computes them.
    fn reading(&self, stretch: &Stretch<'_>, stored: &StoredMessage, mark: &Mark) -> Arc<MessageFeatures> {
        if let Some(known) = stretch.known(mark) {
            return Arc::clone(&known.reading);
        }
        let text = without_bots(&stored.message.text);
        let vector = stretch.vectors.get(&address(stored)).cloned().unwrap_or_else(|| self.vector(&text));
        Arc::new(read_words(stored, &text, vector))
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let embedded = self.embedder.as_ref().and_then(|embedder| unless_it_panics(|| embedder.embed(text)));
        embedded.unwrap_or_default()
    }

    /// Locks the cache. It is consistent after every step, so a poisoned lock is safe to use.
    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Computes the features of `text`, a message's text. If that panics, the message counts as empty.
fn read_words(stored: &StoredMessage, text: &str, vector: Vec<f32>) -> MessageFeatures {
    let read = unless_it_panics(|| MessageFeatures::of(&stored.message, text, vector));
    read.unwrap_or_else(|| MessageFeatures::of(&stored.message, "", Vec::new()))
}

/// Returns the mark of a message including its embedding by `model`.
fn read_with(mark: u64, model: &str, has_vector: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    (mark, model, has_vector).hash(&mut hasher);
    hasher.finish()
}

impl Stretch<'_> {
    fn known(&self, mark: &Mark) -> Option<&Known> {
        self.before.known.get(&(mark.chat, mark.id)).filter(|known| known.mark == mark.mark)
    }

    /// Returns cached entries just before and after the recent messages, which stay cached: several triggers of a
    /// conversation may wait for answers.
    fn scrolled(&self) -> Quick<MessageAddress, Known> {
        let mut scrolled = Quick::with_capacity_and_hasher(self.recent.len() + SCROLLED, Default::default());
        let marks = self.earlier.iter().rev().take(SCROLLED);
        scrolled.extend(marks.filter_map(|mark| Some(((mark.chat, mark.id), self.known(mark)?.clone()))));
        if let Some((chat, newest)) = self.recent.last().map(address) {
            let later = self.before.known.iter().filter(|((of, id), _)| *of == chat && *id > newest);
            scrolled.extend(later.take(SCROLLED).map(|(address, known)| (*address, known.clone())));
        }
        scrolled
    }

    /// Adds the entries of the recent messages to `now_known`.
    fn remember(&self, now_known: &mut Quick<MessageAddress, Known>) {
        let worked_out = self.readings.iter().zip(self.antecedents.iter().zip(&self.pasts));
        for (mark, (reading, (row, past))) in self.marks.iter().zip(worked_out) {
            let row = row.as_ref().map(|row| (*past, Arc::clone(row)));
            now_known.insert((mark.chat, mark.id), Known { mark: mark.mark, reading: Arc::clone(reading), row });
        }
    }

    /// Returns a hash of everything that the threads of these messages depend on.
    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.earlier.iter().chain(&self.marks).for_each(|mark| (mark.id, mark.mark).hash(&mut hasher));
        self.recent.iter().for_each(|stored| stored.message.reply_to.hash(&mut hasher));
        hasher.finish()
    }

    /// Returns the cached threads, if they belong to exactly these messages.
    fn sampled(&self) -> Option<Arc<SampledStrands>> {
        let (of, sampled) = self.before.sampled.as_ref()?;
        (*of == self.fingerprint()).then(|| Arc::clone(sampled))
    }

    fn evidence(self) -> PrecomputedFeatures {
        let earlier = self.earlier.iter().map(|mark| mark.id).collect();
        let mut evidence = PrecomputedFeatures { earlier, ..PrecomputedFeatures::default() };
        // One more for the trigger.
        evidence.readings.reserve(self.recent.len() + 1);
        evidence.antecedents.reserve(self.recent.len());
        for ((stored, reading), antecedents) in self.recent.iter().zip(self.readings).zip(self.antecedents) {
            evidence.readings.insert(address(stored), reading);
            evidence.antecedents.extend(antecedents.map(|known| (address(stored), known)));
        }
        evidence
    }
}
