//! Fetches what a chat said before about a question: the legs propose, the features of what they propose decide.
//!
//! In reading order: [`Recaller`], `legs` (who proposes), `found` (reading what was proposed), `summaries` (the sessions of
//! what was found), `keeper` (the vectors that one leg searches).

mod found;
mod keeper;
mod legs;
mod summaries;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use keeper::{VectorKeeper, VectorSource};

use crate::domain::{Conversation, Language, LegScores, Seq, StoredMessage, Timestamp, UserId};
use crate::embed::{Embedder, SHIPPED_NAME};
use crate::retrieval::lexicon::WordsRead;
use crate::retrieval::run::found::Found;
use crate::retrieval::run::legs::Candidates;
use crate::retrieval::{
    Asked, Features, Frequencies, Lexicon, Person, Profile, Question, Ranked, Recalled, RecalledMessage, rank,
};
use crate::store::spaces::Space;
use crate::store::{self, Reader, chats, search, spaces, vectors};

/// Messages that are recalled at most.
const RECALLED: usize = 10;
/// A message that says less of the question than this, its surroundings included, is no answer to it. Of the steps compared by
/// `cargo bench --bench fit -- --recall` this one parts right messages from those of a chat without an answer best.
const MIN_COVERAGE: f64 = 0.35;
/// Words of a language that are kept from one question to the next: about 6 MB.
const WORDS_KEPT: usize = 6_000;
/// Languages whose words are kept.
const LANGUAGES_KEPT: usize = 2;

/// What is asked of a chat's past.
#[derive(Debug, Clone, Copy)]
pub struct RecallRequest<'a> {
    pub conversation: Conversation,
    pub text: &'a str,
    pub now: Timestamp,
    /// Seconds that the chat's clock is ahead of UTC.
    pub utc_offset: i32,
    pub by: UserId,
    /// The trigger. Only what came before it is recalled.
    pub before: Seq,
    /// What the prompt shows anyway.
    pub known: &'a HashSet<Seq>,
}

/// Looks into the past of chats.
pub struct Recaller {
    embedder: Option<Arc<Embedder>>,
    /// The model inside the program, where another took its place and its vectors are still searched.
    former: OnceLock<Option<Embedder>>,
    words: Mutex<Vec<(Language, WordsRead)>>,
}

/// A question with what it takes to rank for it.
struct Reading<'a> {
    conn: &'a Reader,
    request: &'a RecallRequest<'a>,
    question: Question,
    language: Language,
    people: Vec<(UserId, String)>,
    space: Option<Space>,
    /// Of the question, packed, in that space; empty where there is none.
    vector: Vec<u8>,
}

impl Recaller {
    /// Without an embedding model the words decide alone.
    pub fn new(embedder: Option<Arc<Embedder>>) -> Self {
        Self { embedder, former: OnceLock::new(), words: Mutex::default() }
    }

    /// The messages and summaries of a chat, of all its threads, that answer a question best: best first. A question
    /// without a word that tells something finds nothing.
    pub fn recall(&self, conn: &Reader, request: &RecallRequest<'_>) -> store::Result<Recalled> {
        let Some(reading) = self.read(conn, request)? else { return Ok(Recalled::default()) };
        let candidates = reading.candidates()?;
        let found = Found::read(&reading, &candidates, self.embedder.as_deref())?;
        let frequencies = reading.frequencies()?;
        self.with_words(reading.language, |lexicon| {
            let passages = found.passages();
            let ranked = rank(&reading.question, &passages, Some(&frequencies), lexicon, Profile::Fitted);
            let sessions = summaries::recalled(&reading, (&found, &ranked), &candidates, &frequencies, lexicon)?;
            let mut messages = best(&reading, &found, ranked, &candidates);
            for one in &mut messages {
                one.topic = reading.other_topic(one.message.conversation())?;
            }
            Ok(Recalled { messages, sessions })
        })
    }

    fn read<'a>(&self, conn: &'a Reader, request: &'a RecallRequest<'a>) -> store::Result<Option<Reading<'a>>> {
        let chat = request.conversation.chat;
        let Some(row) = chats::by_key(conn, chat)? else { return Ok(None) };
        let members = chats::members(conn, chat)?;
        let people: Vec<Person<'_>> = (members.iter())
            .map(|member| Person { id: member.id, name: &member.name, username: member.username.as_deref() })
            .collect();
        let asked = Asked {
            language: row.language,
            now: request.now,
            utc_offset: request.utc_offset,
            by: Some(request.by),
            people: &people,
        };
        let question = Question::read(request.text, &asked);
        if question.words.is_empty() {
            return Ok(None);
        }
        let space = spaces::active(conn)?;
        let vector = match &space {
            Some(space) => self.vector_in(conn, space, &question, request)?,
            None => Vec::new(),
        };
        let people = members.iter().map(|member| (member.id, member.name.clone())).collect();
        Ok(Some(Reading { conn, request, question, language: row.language, people, space, vector }))
    }

    /// The vector of a question in a space: by the model at hand that made the space; where a server did, the vector that it
    /// made of the trigger.
    fn vector_in(
        &self,
        conn: &Reader,
        space: &Space,
        question: &Question,
        request: &RecallRequest<'_>,
    ) -> store::Result<Vec<u8>> {
        let at_hand = self.embedder.as_deref().filter(|embedder| embedder.name() == space.model);
        let former = || {
            let shipped = self.former.get_or_init(|| Embedder::shipped().ok()).as_ref();
            shipped.filter(|_| space.model == SHIPPED_NAME)
        };
        let made = match at_hand.or_else(former) {
            Some(embedder) => Some(embedder.embed(&question.bare)),
            None => vectors::find(conn, request.conversation.chat, request.before, &space.model)?,
        };
        Ok(made.as_deref().and_then(crate::domain::pack).unwrap_or_default())
    }

    /// Words that were read for one question are not read again for the next.
    fn with_words<T>(&self, language: Language, work: impl FnOnce(&mut Lexicon<'_>) -> T) -> T {
        let kept = {
            let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
            let place = words.iter().position(|(known, _)| *known == language);
            place.map(|place| words.swap_remove(place).1)
        };
        let mut lexicon = Lexicon::resume(language, self.embedder.as_deref(), kept.unwrap_or_default());
        let outcome = work(&mut lexicon);
        if lexicon.count() <= WORDS_KEPT {
            let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
            words.retain(|(known, _)| *known != language);
            words.insert(0, (language, lexicon.into_read()));
            words.truncate(LANGUAGES_KEPT);
        }
        outcome
    }
}

impl Reading<'_> {
    fn frequencies(&self) -> store::Result<Frequencies> {
        let (chat, words) = (self.request.conversation.chat, self.question.words.join(" "));
        let counted = search::holding(self.conn, chat, self.language, &words)?;
        Ok(Frequencies { messages: counted.messages, holding: counted.holding })
    }

    /// Whether a message was proposed, came before the trigger, and is not shown anyway.
    fn may_show(&self, stored: &StoredMessage, candidates: &Candidates) -> bool {
        candidates.messages.contains_key(&stored.seq)
            && stored.seq < self.request.before
            && !self.request.known.contains(&stored.seq)
    }

    /// What the topic of a conversation is called, where that is another than the question's.
    fn other_topic(&self, conversation: Conversation) -> store::Result<Option<String>> {
        if conversation == self.request.conversation {
            return Ok(None);
        }
        chats::topic_name(self.conn, conversation)
    }
}

fn best(reading: &Reading<'_>, found: &Found, ranked: Vec<Ranked>, candidates: &Candidates) -> Vec<RecalledMessage> {
    let says_enough = |features: &Features| features.wide_coverage.max(features.linked_coverage) >= MIN_COVERAGE;
    (ranked.into_iter())
        .filter(|one| {
            one.score > 0.0 && says_enough(&one.features) && reading.may_show(&found.messages[one.index], candidates)
        })
        .take(RECALLED)
        .map(|one| recalled(found, one, candidates))
        .collect()
}

fn recalled(found: &Found, one: Ranked, candidates: &Candidates) -> RecalledMessage {
    let message = found.messages[one.index].clone();
    let legs: LegScores = candidates.messages.get(&message.seq).copied().unwrap_or_default();
    RecalledMessage { message, topic: None, score: one.score, features: one.features, legs }
}

#[cfg(test)]
mod tests;
