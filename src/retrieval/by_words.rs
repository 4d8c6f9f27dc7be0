//! Search in one conversation by words alone: the messages that hold most of them, and the messages around these.

use std::collections::HashMap;

use crate::domain::{Language, MessageId, Role, Seq, StoredMessage};
use crate::retrieval::features::{Features, Prepared};
use crate::retrieval::lexicon::Lexicon;
use crate::retrieval::passage::{Passage, Reading, put_beside};
use crate::retrieval::proposals::{WordPostings, proposals, ranges};
use crate::retrieval::question::Question;

/// Messages that are read at most.
const READ: u32 = 120;
/// What is worth less is said all the time.
const TELLING: f64 = 0.1;

/// A word that is looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Word {
    pub text: String,
    /// What it counts against the others.
    pub weight: f64,
}

/// A message that words led to.
#[derive(Debug, Clone, PartialEq)]
pub struct Met {
    pub message: StoredMessage,
    pub features: Features,
    /// How many of the words it says itself.
    pub words: usize,
}

/// A conversation that is looked through.
pub trait Archive {
    type Error;

    /// How many messages it has.
    fn count(&self) -> Result<f64, Self::Error>;
    /// The newest messages before one that hold a stem, and how many hold it at any time.
    fn holding(&self, stem: &str, before: Seq) -> Result<(Vec<Seq>, f64), Self::Error>;
    /// Messages by their numbers, both ends included, oldest first.
    fn between(&self, range: (Seq, Seq)) -> Result<Vec<StoredMessage>, Self::Error>;
}

/// Messages from before one, oldest first, that say some of `words` or stand beside one that does.
pub fn by_words<A: Archive>(
    archive: &A,
    (language, words): (Language, &[Word]),
    before: Seq,
    lexicon: &mut Lexicon<'_>,
) -> Result<Vec<Met>, A::Error> {
    let all = archive.count()?;
    let (mut postings, mut worths, mut telling) = (Vec::new(), HashMap::new(), Vec::new());
    for Word { text, weight } in words {
        let id = lexicon.id(text.clone());
        let stem = lexicon.word(id).stem.clone();
        let (seqs, held) = archive.holding(&stem, before)?;
        let worth = worth(all, held);
        if worth > TELLING {
            postings.push(WordPostings { idf: weight * worth, seqs });
            worths.insert(stem, weight * worth);
            telling.push(text.clone());
        }
    }
    let mut messages = Vec::new();
    let proposed = proposals(&postings, &HashMap::new());
    for range in ranges(proposed.iter().map(|one| one.seq), before, READ) {
        messages.extend(archive.between(range)?);
    }
    let question = Question::of_words(telling, language);
    let passages = passages(&messages);
    let readings: Vec<Reading> = passages.iter().map(|passage| Reading::of(passage, &question, lexicon)).collect();
    let worth_of = |stem: &str| worths.get(stem).copied().unwrap_or_default();
    let prepared = Prepared::new(&question, (&passages, &readings), worth_of, lexicon);
    let read = |place| (prepared.features(&passages, &readings, place), prepared.words_said(place));
    let read: Vec<(Features, usize)> = (0..passages.len()).map(read).collect();
    let met = |(message, (features, words))| Met { message, features, words };
    Ok(messages.into_iter().zip(read).map(met).collect())
}

/// How much it tells that a word was said which so many of all messages hold: it is met by accident as often as a talk is long.
fn worth(all: f64, held: f64) -> f64 {
    /// Messages of a talk.
    const TALK: f64 = 200.0;
    (all / (TALK * held.max(0.5))).ln_1p()
}

fn passages(messages: &[StoredMessage]) -> Vec<Passage<'_>> {
    let places: HashMap<MessageId, usize> =
        messages.iter().enumerate().map(|(place, stored)| (stored.message.id, place)).collect();
    let mut passages: Vec<Passage<'_>> = (messages.iter())
        .map(|stored| Passage {
            author: stored.message.sender.id,
            sent_at: stored.message.sent_at,
            text: &stored.message.text,
            vector: &[],
            is_own: stored.message.role == Role::Assistant,
            before: None,
            after: None,
            replies_to: stored.message.reply_to.and_then(|id| places.get(&id).copied()),
        })
        .collect();
    put_beside(&mut passages, messages.iter().map(|stored| (stored.message.thread, stored.seq)));
    passages
}
