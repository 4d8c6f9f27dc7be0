//! Evidence for a trigger: features, reply distributions and strands of the two hundred messages before it, from the cache where
//! they are there, else computed.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::context::cache::{Cache, Known, ROOM, Talk};
use crate::context::newest::{Before, END, Newest};
use chime_core::embed::Embedder;
use chime_core::{Conversation, MessageId, Seq, StoredMessage, Timestamp, unless_it_panics};
use chime_relevance::context::evidence::{Evidence, antecedents_by, fingerprints};
use chime_relevance::context::features::message::{Address, MessageFeatures, address, without_bots};
use chime_relevance::context::features::rhythm::WINDOW;
use chime_relevance::context::features::token::Quick;
use chime_relevance::context::pick::precompute::sample_strands;
use chime_relevance::context::replies::antecedents::Antecedents;
use chime_relevance::context::strands::SampledStrands;
use chime_relevance::context::weights::Scorers;
use chime_store::marks::Mark;
use chime_store::{Reader, chats, messages, vectors};

/// Messages before and after the candidates that stay known: a trigger may be a little older than what was prepared.
const SCROLLED: usize = 40;

/// Reads messages, with the embedding model where there is one, and remembers.
pub struct Readings {
    embedder: Option<Arc<Embedder>>,
    /// The model whose vectors the store keeps, where they are made elsewhere.
    kept: Option<String>,
    cache: Mutex<Cache>,
}

/// The newest messages of a conversation with everything that is known of them.
struct Stretch<'a> {
    recent: &'a [StoredMessage],
    marks: Vec<Mark>,
    /// Of the messages before them that these are scored against, oldest first.
    earlier: Vec<Mark>,
    /// Fingerprints of what each of the recent ones is scored against.
    pasts: Vec<i64>,
    /// Vectors that were made elsewhere.
    vectors: HashMap<Address, Vec<f32>>,
    /// What was known before.
    before: Arc<Talk>,
    readings: Vec<Arc<MessageFeatures>>,
    antecedents: Vec<Option<Arc<Antecedents>>>,
}

impl Readings {
    pub fn new(embedder: Option<Arc<Embedder>>) -> Self {
        Self { embedder, kept: None, cache: Mutex::default() }
    }

    /// The model that messages are read with, where it is at hand.
    pub fn embedder(&self) -> Option<&Embedder> {
        self.embedder.as_deref()
    }

    /// With the vectors that the store keeps of this model, as far as there are any.
    pub fn with_kept_vectors(model: String) -> Self {
        Self { kept: Some(model), ..Self::new(None) }
    }

    /// Reads the newest messages of a conversation `before` a moment, for `work`. They are kept: the next time only what came
    /// since is read.
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

    /// What is known already of the newest messages of a conversation, ascending by number; nothing where the model is not at
    /// hand, or a message of the chat has changed since.
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

    /// What is known of the newest messages `before` a trigger, and of the trigger, whose words without the bot's name are
    /// `ask`.
    pub fn evidence(
        &self,
        conn: &Reader,
        (trigger, ask): (&StoredMessage, &str),
        before: Before<'_>,
    ) -> chime_store::Result<Evidence> {
        let stretch = self.stretch(conn, trigger.conversation(), before, usize::MAX)?;
        let sampled = stretch.sampled();
        let mut evidence = Evidence { sampled, embedder: self.embedder.clone(), ..stretch.evidence() };
        let asked = read_words(trigger, ask, self.vector(ask));
        evidence.readings.insert(address(trigger), Arc::new(asked));
        Ok(evidence)
    }

    /// What is read off `messages` from further back than any window. Nothing of it is remembered: hardly any is asked for
    /// again.
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

    /// Works out what the next trigger in a conversation will need, at most `most` rows of it. True when all is there.
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

    /// What is known of messages: from memory what is there, read and scored what is not, at most `most` rows of it.
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

    /// The messages with the marks of themselves and of those before them.
    fn marked<'a>(&self, conn: &Reader, newest: Before<'a>, before: Arc<Talk>) -> chime_store::Result<Stretch<'a>> {
        let recent = newest.messages;
        let (mut earlier, mut marks, mut vectors) = (newest.earlier.to_vec(), newest.marks.to_vec(), HashMap::new());
        if let (Some(model), Some(newest)) = (&self.kept, recent.last()) {
            let behind_it = (newest.message.sent_at, MessageId(newest.message.id.0 + 1));
            vectors = vectors::before(conn, newest.conversation(), behind_it, model, 2 * WINDOW)?;
            // A message reads otherwise once its vector is there.
            let marks = earlier.iter_mut().chain(&mut marks);
            marks.for_each(|it| it.mark = read_with(it.mark, model, vectors.contains_key(&(it.chat, it.id))));
        }
        let of_all: Vec<u64> = earlier.iter().chain(&marks).map(|mark| mark.mark).collect();
        let pasts = fingerprints(&of_all, earlier.len());
        let (readings, antecedents) = (Vec::with_capacity(recent.len()), Vec::with_capacity(recent.len()));
        Ok(Stretch { recent, marks, earlier, pasts, vectors, before, readings, antecedents })
    }

    /// Scores messages that no row is known of, the newest `most`. What is read for that is noted in `now_known`.
    fn work_out(
        &self,
        conn: &Reader,
        stretch: &mut Stretch<'_>,
        most: usize,
        now_known: &mut Quick<Address, Known>,
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

    /// What was read off a message before, or is now.
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

    /// Whole at every step, so a panic elsewhere does not spoil it.
    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads `text`, the words of `stored`. One that cannot be read says nothing, and costs no other message.
fn read_words(stored: &StoredMessage, text: &str, vector: Vec<f32>) -> MessageFeatures {
    let read = unless_it_panics(|| MessageFeatures::of(&stored.message, text, vector));
    read.unwrap_or_else(|| MessageFeatures::of(&stored.message, "", Vec::new()))
}

/// The mark of a message whose vector comes from `model`, if it has one yet.
fn read_with(mark: u64, model: &str, has_vector: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    (mark, model, has_vector).hash(&mut hasher);
    hasher.finish()
}

impl Stretch<'_> {
    fn known(&self, mark: &Mark) -> Option<&Known> {
        self.before.known.get(&(mark.chat, mark.id)).filter(|known| known.mark == mark.mark)
    }

    /// What stays known of the messages right before the recent ones, and of those after them: several triggers of a
    /// conversation may wait for their answers.
    fn scrolled(&self) -> Quick<Address, Known> {
        let mut scrolled = Quick::with_capacity_and_hasher(self.recent.len() + SCROLLED, Default::default());
        let marks = self.earlier.iter().rev().take(SCROLLED);
        scrolled.extend(marks.filter_map(|mark| Some(((mark.chat, mark.id), self.known(mark)?.clone()))));
        if let Some((chat, newest)) = self.recent.last().map(address) {
            let later = self.before.known.iter().filter(|((of, id), _)| *of == chat && *id > newest);
            scrolled.extend(later.take(SCROLLED).map(|(address, known)| (*address, known.clone())));
        }
        scrolled
    }

    /// Notes what is known of the recent messages.
    fn remember(&self, now_known: &mut Quick<Address, Known>) {
        let worked_out = self.readings.iter().zip(self.antecedents.iter().zip(&self.pasts));
        for (mark, (reading, (row, past))) in self.marks.iter().zip(worked_out) {
            let row = row.as_ref().map(|row| (*past, Arc::clone(row)));
            now_known.insert((mark.chat, mark.id), Known { mark: mark.mark, reading: Arc::clone(reading), row });
        }
    }

    /// A hash of everything that picking among these messages depends on.
    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.earlier.iter().chain(&self.marks).for_each(|mark| (mark.id, mark.mark).hash(&mut hasher));
        self.recent.iter().for_each(|stored| stored.message.reply_to.hash(&mut hasher));
        hasher.finish()
    }

    /// The strands of these messages, if the cache has those of just them.
    fn sampled(&self) -> Option<Arc<SampledStrands>> {
        let (of, sampled) = self.before.sampled.as_ref()?;
        (*of == self.fingerprint()).then(|| Arc::clone(sampled))
    }

    fn evidence(self) -> Evidence {
        let earlier = self.earlier.iter().map(|mark| mark.id).collect();
        let mut evidence = Evidence { earlier, ..Evidence::default() };
        // And room for the trigger.
        evidence.readings.reserve(self.recent.len() + 1);
        evidence.antecedents.reserve(self.recent.len());
        for ((stored, reading), antecedents) in self.recent.iter().zip(self.readings).zip(self.antecedents) {
            evidence.readings.insert(address(stored), reading);
            evidence.antecedents.extend(antecedents.map(|known| (address(stored), known)));
        }
        evidence
    }
}
