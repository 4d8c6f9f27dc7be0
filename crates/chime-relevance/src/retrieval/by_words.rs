//! Searches one conversation by words alone: finds the messages that have most of the words, and the messages around
//! these.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::retrieval::archive::Archive;
use crate::retrieval::features::{Features, PreparedQuestion};
use crate::retrieval::lexicon::Lexicon;
use crate::retrieval::passage::{Passage, PassageProperties, put_beside};
use crate::retrieval::proposals::{WordPostings, proposals, ranges};
use crate::retrieval::question::ParsedQuestion;
use chime_core::{Language, MessageId, Role, Seq, StoredMessage};

/// Maximum number of messages that are read; the last range may exceed it.
const READ: u32 = 120;
/// Words of at most this [`worth`] are not searched for, since they occur everywhere.
const TELLING: f64 = 0.1;

#[derive(Debug, Clone, PartialEq)]
pub struct WeightedWord {
    pub text: String,
    /// Weight of the word relative to the other words of the query.
    pub weight: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FoundMessage {
    pub message: StoredMessage,
    pub features: Features,
    /// Number of searched words that occur in the message itself.
    pub words: usize,
}

/// Returns messages before `before` that have some of `words`, and their neighbours, oldest first.
pub fn by_words<A: Archive>(
    archive: &A,
    language: Language,
    words: &[WeightedWord],
    before: Seq,
    lexicon: &mut Lexicon<'_>,
) -> Result<Vec<FoundMessage>, A::Error> {
    let all = archive.count()?;
    let (mut postings, mut worths, mut telling) = (Vec::new(), HashMap::new(), Vec::new());
    for WeightedWord { text, weight } in words {
        let id = lexicon.id(text);
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
    let question = ParsedQuestion::of_words(telling, language);
    let texts: Vec<Cow<'_, str>> = messages.iter().map(|stored| stored.message.searched_text()).collect();
    let passages = passages(&messages, &texts);
    let readings: Vec<PassageProperties> =
        passages.iter().map(|passage| PassageProperties::of(passage, &question, lexicon)).collect();
    let worth_of = |stem: &str| worths.get(stem).copied().unwrap_or_default();
    let prepared = PreparedQuestion::new(&question, &passages, &readings, worth_of, lexicon);
    let read = |place| (prepared.features(&passages, &readings, place), prepared.words_said(place));
    let read: Vec<(Features, usize)> = (0..passages.len()).map(read).collect();
    let met = |(message, (features, words))| FoundMessage { message, features, words };
    Ok(messages.into_iter().zip(read).map(met).collect())
}

/// Returns how informative a word is that `held` of `all` messages have: near 0 if most conversations have it by
/// chance.
fn worth(all: f64, held: f64) -> f64 {
    /// Typical number of messages of a conversation.
    const TALK: f64 = 200.0;
    (all / (TALK * held.max(0.5))).ln_1p()
}

fn passages<'a>(messages: &'a [StoredMessage], texts: &'a [Cow<'a, str>]) -> Vec<Passage<'a>> {
    let places: HashMap<MessageId, usize> =
        messages.iter().enumerate().map(|(place, stored)| (stored.message.id, place)).collect();
    let mut passages: Vec<Passage<'_>> = (messages.iter().zip(texts))
        .map(|(stored, text)| Passage {
            author: stored.message.sender.id,
            sent_at: stored.message.sent_at,
            text,
            vector: &[],
            is_own: stored.message.role == Role::Assistant,
            before: None,
            after: None,
            replies_to: stored.message.reply_to.and_then(|id| places.get(&id).copied()),
        })
        .collect();
    put_beside(&mut passages, messages.iter().map(|stored| (stored.message.forum_topic, stored.seq)));
    passages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::archive::tests::TranscriptArchive;
    use chime_core::embed::Embedder;
    use chime_core::testkit::transcript;

    #[test]
    fn words_are_met_in_any_form_and_no_vector_is_made_for_it() {
        let embedder = Embedder::shipped().unwrap();
        let said =
            TranscriptArchive(transcript("10:00 ann#1 the boats on the lake\n10:01 ben#2 a lake boat\n10:02 ann#3 ok"));
        let words = ["boat", "lake"].map(|text| WeightedWord { text: text.to_owned(), weight: 1.0 });
        let mut lexicon = Lexicon::new(Language::DEFAULT, Some(&embedder));
        let met = by_words(&said, Language::DEFAULT, &words, Seq(100), &mut lexicon).unwrap();
        assert_eq!(met.iter().map(|one| one.words).collect::<Vec<_>>(), [2, 2, 0]);
        assert_eq!(lexicon.embedded(), 0);
    }
}
