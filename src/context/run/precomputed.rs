//! Messages read once: what a trigger needs to know of the two hundred before it, from memory where it was needed before.
//!
//! All of it can be lost at any moment, the table too; then it takes longer.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::context::evidence::{Evidence, antecedents_at, fingerprints};
use crate::context::features::message::{Address, MessageFeatures, address, without_bots};
use crate::context::features::rhythm::WINDOW;
use crate::context::pick::precompute::sample_strands;
use crate::context::replies::antecedents::Antecedents;
use crate::context::replies::model::SCORER_VERSION;
use crate::context::run::cache::{Cache, ROOM, Row, from_cached};
use crate::context::scorers::Scorers;
use crate::domain::{ChatKey, Conversation, MessageId, Seq, StoredMessage, Timestamp, unless_it_panics};
use crate::embed::Embedder;
use crate::store::links::{CachedLinks, Mark};
use crate::store::{self, Reader, links, messages, vectors};

/// Readings that a conversation may hold once all its candidates are scored: a window, and some more, so that not every
/// message clears up behind it. Until then it holds those, too, that the oldest candidate is scored against.
const SCROLLED: usize = WINDOW + 40;

/// Reads messages, with the embedding model where there is one, and remembers.
pub struct Readings {
    embedder: Option<Arc<Embedder>>,
    /// The model whose vectors the store keeps, where they are made elsewhere.
    kept: Option<String>,
    cache: Mutex<Cache>,
}

/// The newest messages of a conversation with everything that was worked out for them.
struct Stretch<'a> {
    recent: &'a [StoredMessage],
    /// Of the recent ones and of those before them that these are scored against, oldest first.
    marks: Vec<Mark>,
    /// Of the recent ones.
    pasts: Vec<i64>,
    readings: Vec<Arc<MessageFeatures>>,
    antecedents: Vec<Option<Arc<Antecedents>>>,
    /// Vectors that were made elsewhere.
    vectors: HashMap<Address, Vec<f32>>,
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

    /// What is known of `recent` (oldest first with their marks, the newest of their conversation before `trigger`) and of
    /// the trigger, whose words without the bot's name are `ask`.
    pub fn evidence(
        &self,
        conn: &Reader,
        (trigger, ask): (&StoredMessage, &str),
        (recent, marks): (&[StoredMessage], Vec<Mark>),
    ) -> store::Result<Evidence> {
        let stretch = self.stretch(conn, (recent, marks), usize::MAX)?;
        let sampled = self.cache().sampled(trigger.conversation(), stretch.fingerprint());
        let mut evidence = Evidence { sampled, embedder: self.embedder.clone(), ..stretch.evidence() };
        let asked = read_words(trigger, ask, self.vector(ask));
        evidence.readings.insert(address(trigger), Arc::new(asked));
        Ok(evidence)
    }

    /// What is read off `messages` from further back than any window. Nothing of it is remembered: hardly any is asked for
    /// again.
    pub fn further_back(&self, conn: &Reader, messages: &[StoredMessage]) -> store::Result<Vec<Arc<MessageFeatures>>> {
        let read = |stored: &StoredMessage| {
            let text = without_bots(&stored.message.text);
            Ok(Arc::new(read_words(stored, &text, self.vector_of(conn, stored, &text)?)))
        };
        messages.iter().map(read).collect()
    }

    fn vector_of(&self, conn: &Reader, stored: &StoredMessage, text: &str) -> store::Result<Vec<f32>> {
        match &self.kept {
            Some(model) => Ok(vectors::find(conn, stored.chat, stored.seq, model)?.unwrap_or_default()),
            None => Ok(self.vector(text)),
        }
    }

    /// Works out what the next trigger in a conversation will need, at most `most` rows of it. True when all is there.
    pub fn prepare(&self, conn: &Reader, conversation: Conversation, most: usize) -> store::Result<bool> {
        let end = (Timestamp::from_secs(i64::MAX), MessageId(i64::MAX));
        let (recent, marks) = messages::before_marked(conn, conversation, end, WINDOW)?;
        let stretch = self.stretch(conn, (&recent, marks), most)?;
        let is_complete = stretch.antecedents.iter().all(Option::is_some);
        if is_complete {
            self.sample(conversation, stretch);
        }
        Ok(is_complete)
    }

    /// Works out what the messages of a conversation are about, unless that is known.
    fn sample(&self, conversation: Conversation, stretch: Stretch<'_>) {
        let fingerprint = stretch.fingerprint();
        if self.cache().sampled(conversation, fingerprint).is_some() {
            return;
        }
        let messages: Vec<&StoredMessage> = stretch.recent.iter().collect();
        let sampled = sample_strands(&messages, &stretch.evidence(), &Scorers::shipped());
        self.cache().put_foreseen(conversation, fingerprint, Arc::new(sampled));
    }

    /// Rows that the store does not keep yet, when there are at least `enough`. Whoever takes them keeps them.
    pub fn take_unkept(&self, enough: usize, most: usize) -> Vec<(ChatKey, Seq, CachedLinks)> {
        let mut cache = self.cache();
        if cache.unkept() >= enough { cache.take_unkept(most) } else { Vec::new() }
    }

    fn stretch<'a>(
        &self,
        conn: &Reader,
        (recent, mut marks): (&'a [StoredMessage], Vec<Mark>),
        most: usize,
    ) -> store::Result<Stretch<'a>> {
        // Before fewer there is nothing.
        if let Some(first) = recent.first().filter(|_| recent.len() == WINDOW) {
            let moment = (first.message.sent_at, first.message.id);
            let mut earlier = messages::marks_before(conn, first.conversation(), moment, WINDOW)?;
            earlier.append(&mut marks);
            marks = earlier;
        }
        let vectors = match (&self.kept, recent.last()) {
            (Some(model), Some(newest)) => {
                let behind_it = (newest.message.sent_at, MessageId(newest.message.id.0 + 1));
                vectors::before(conn, newest.conversation(), behind_it, model, 2 * WINDOW)?
            }
            _ => HashMap::new(),
        };
        if let Some(model) = &self.kept {
            // A message reads otherwise once its vector is there.
            marks.iter_mut().for_each(|it| it.mark = marked(it.mark, model, vectors.contains_key(&(it.chat, it.id))));
        }
        let mut stretch = Stretch {
            pasts: fingerprints(&marks.iter().map(|mark| mark.mark).collect::<Vec<_>>(), marks.len() - recent.len()),
            marks,
            recent,
            readings: Vec::with_capacity(recent.len()),
            antecedents: Vec::with_capacity(recent.len()),
            vectors,
        };
        self.recall(&mut stretch);
        if stretch.antecedents.iter().any(Option::is_none) {
            self.look_up(conn, &mut stretch)?;
            self.work_out(conn, &mut stretch, most)?;
        }
        if let Some(oldest) = recent.first().filter(|_| stretch.antecedents.iter().all(Option::is_some)) {
            self.cache().leave_behind(oldest.conversation(), oldest.message.id, SCROLLED);
        }
        Ok(stretch)
    }

    /// Fills in what is in memory, and reads what is not.
    fn recall(&self, stretch: &mut Stretch<'_>) {
        let Stretch { recent, marks, pasts, readings, antecedents, vectors } = stretch;
        let recent_marks = &marks[marks.len() - recent.len()..];
        let mut cache = self.cache();
        cache.turn();
        for ((stored, mark), past) in recent.iter().zip(recent_marks).zip(pasts.iter()) {
            let (reading, row) = cache.scored(address(stored), (mark.mark, *past)).unwrap_or_else(|| {
                let reading = self.read(stored, vectors);
                cache.put(stored.conversation(), address(stored), mark.mark, Arc::clone(&reading));
                (reading, None)
            });
            readings.push(reading);
            antecedents.push(row);
        }
        cache.make_room(ROOM);
    }

    /// Fills in rows that the store keeps.
    fn look_up(&self, conn: &Reader, stretch: &mut Stretch<'_>) -> store::Result<()> {
        let missing: Vec<usize> = stretch.missing().collect();
        let seqs = || missing.iter().map(|place| stretch.recent[*place].seq);
        let (Some(from), Some(to), Some(any)) = (seqs().min(), seqs().max(), stretch.recent.first()) else {
            return Ok(());
        };
        let kept = links::between(conn, any.chat, (from, to), SCORER_VERSION)?;
        let mut cache = self.cache();
        for place in missing {
            let (stored, past) = (&stretch.recent[place], stretch.pasts[place]);
            if let Some(cached) = kept.get(&stored.seq).filter(|cached| cached.past == past) {
                let antecedents = Arc::new(from_cached(cached));
                cache.put_row(address(stored), Row { past, antecedents: Arc::clone(&antecedents), to_keep: None });
                stretch.antecedents[place] = Some(antecedents);
            }
        }
        Ok(())
    }

    /// Scores messages that no row is known of, the newest first.
    fn work_out(&self, conn: &Reader, stretch: &mut Stretch<'_>, most: usize) -> store::Result<()> {
        let mut missing: Vec<usize> = stretch.missing().collect();
        missing.drain(..missing.len().saturating_sub(most));
        let Some(oldest) = missing.first() else { return Ok(()) };
        // The oldest of them is scored against the whole window before it, which begins before the recent messages.
        let reach = WINDOW.saturating_sub(*oldest).min(stretch.earlier());
        let mut readings = self.readings_before(conn, stretch, reach)?;
        readings.extend(stretch.readings.iter().cloned());
        let rows: Vec<(usize, Arc<Antecedents>)> =
            missing.into_iter().map(|place| (place, Arc::new(antecedents_at(&readings, reach + place)))).collect();
        let mut cache = self.cache();
        for (place, antecedents) in rows {
            let (stored, past) = (&stretch.recent[place], stretch.pasts[place]);
            let row = Row { past, antecedents: Arc::clone(&antecedents), to_keep: Some((stored.chat, stored.seq)) };
            cache.put_row(address(stored), row);
            stretch.antecedents[place] = Some(antecedents);
        }
        Ok(())
    }

    /// Readings of the last `count` messages before the recent ones.
    fn readings_before(
        &self,
        conn: &Reader,
        stretch: &Stretch<'_>,
        count: usize,
    ) -> store::Result<Vec<Arc<MessageFeatures>>> {
        let earlier = &stretch.marks[stretch.earlier() - count..stretch.earlier()];
        let known: Option<Vec<Arc<MessageFeatures>>> = {
            let mut cache = self.cache();
            earlier.iter().map(|mark| cache.reading((mark.chat, mark.id), mark.mark)).collect()
        };
        let (None, Some(first)) = (&known, stretch.recent.first()) else { return Ok(known.unwrap_or_default()) };
        let moment = (first.message.sent_at, first.message.id);
        let fetched = messages::before(conn, first.conversation(), moment, count)?;
        let mut cache = self.cache();
        let readings = fetched.iter().zip(earlier).map(|(stored, mark)| {
            cache.reading(address(stored), mark.mark).unwrap_or_else(|| {
                let reading = self.read(stored, &stretch.vectors);
                cache.put(stored.conversation(), address(stored), mark.mark, Arc::clone(&reading));
                reading
            })
        });
        Ok(readings.collect())
    }

    fn read(&self, stored: &StoredMessage, vectors: &HashMap<Address, Vec<f32>>) -> Arc<MessageFeatures> {
        let text = without_bots(&stored.message.text);
        let vector = vectors.get(&address(stored)).cloned().unwrap_or_else(|| self.vector(&text));
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
fn marked(mark: u64, model: &str, has_vector: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    (mark, model, has_vector).hash(&mut hasher);
    hasher.finish()
}

impl Stretch<'_> {
    /// Of everything that choosing among these messages goes by.
    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.marks.iter().for_each(|mark| (mark.id, mark.mark).hash(&mut hasher));
        self.recent.iter().for_each(|stored| stored.message.reply_to.hash(&mut hasher));
        hasher.finish()
    }

    fn evidence(self) -> Evidence {
        let earlier = self.marks[..self.earlier()].iter().map(|mark| mark.id).collect();
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

    /// How many messages before the recent ones are marked.
    fn earlier(&self) -> usize {
        self.marks.len() - self.recent.len()
    }

    /// Places of the recent messages of which no row is known.
    fn missing(&self) -> impl Iterator<Item = usize> {
        self.antecedents.iter().enumerate().filter(|(_, row)| row.is_none()).map(|(place, _)| place)
    }
}
