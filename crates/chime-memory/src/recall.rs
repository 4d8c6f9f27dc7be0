//! Recall: finds old messages and summaries that help to answer a question. Several retrievers propose candidates; then
//! a ranker scores them.
//!
//! Start with [`Recaller`]. `retrievers` propose candidates, `loaded` has their messages, `summaries` their sessions,
//! `by_time_or_member` handles questions about a member or a day only, `ranked` selects the best, and `indexer`
//! maintains the vector index.

mod by_time_or_member;
mod indexer;
mod loaded;
mod ranked;
mod request;
mod retrievers;
mod summaries;

use std::collections::HashSet;
use std::sync::Arc;

pub use indexer::{VectorIndexer, VectorSource};
pub use ranked::RankedRecall;
pub use request::RecallRequest;
pub use summaries::item_state;

use crate::recall::loaded::LoadedCandidates;
use crate::recall::request::{MIN_COVERAGE, ParsedRequest};
use crate::recall::summaries::Summaries;
use crate::told::ToldLines;
use chime_core::embed::Embedder;
use chime_core::{Conversation, Language, Seq, StoredMessage};
use chime_relevance::retrieval::{
    Archive, Features, FoundMessage, Lexicon, NEAREST, ParsedQuestion, QuestionFacts, Recalled, Sought, Stretch,
    WeightedWord, Weights, by_words, rank, stretches,
};
use chime_store::vector_index::{self, Nearest};
use chime_store::vector_tables::MESSAGES;
use chime_store::vector_tables::Space;
use chime_store::{Reader, StoreError, chats, embedding_spaces, messages, postings, vectors};

/// Searches the past of chats for messages and summaries.
pub struct Recaller {
    embedder: Option<Arc<Embedder>>,
}

impl Recaller {
    /// Creates a recaller. Without an embedding model, it ranks by words only.
    pub fn new(embedder: Option<Arc<Embedder>>) -> Self {
        Self { embedder }
    }

    /// Returns all candidates and their neighbours with their scores, best first. For evaluation: [`Self::recall`]
    /// returns only the best ones.
    pub fn ranked(&self, conn: &Reader, request: &RecallRequest<'_>) -> chime_store::Result<Vec<(Seq, f64)>> {
        let Some(reading) = self.read(conn, request)? else { return Ok(Vec::new()) };
        let candidates = reading.candidates()?;
        let found = LoadedCandidates::read(&reading, &candidates, self.embedder.as_deref())?;
        let (passages, mut lexicon) = (found.passages(), self.lexicon(reading.language));
        let frequencies = Some(&candidates.frequencies);
        let ranked = rank(&reading.question, &passages, frequencies, &mut lexicon, &Weights::shipped().message);
        Ok(ranked.into_iter().map(|one| (found.messages[one.index].seq, one.score)).collect())
    }

    /// Returns the messages and summaries of a chat, from all its forum topics, that best answer a question, best
    /// first. A question without content words finds nothing, unless it asks what a member said or what was said at a
    /// time.
    pub fn recall(&self, conn: &Reader, request: &RecallRequest<'_>) -> chime_store::Result<Recalled> {
        self.look(conn, request)?.best(conn, &HashSet::new(), &ToldLines::default())
    }

    /// Finds and ranks candidates. Messages that the prompt already shows are still included: [`RankedRecall::best`]
    /// leaves them out.
    pub fn look(&self, conn: &Reader, request: &RecallRequest<'_>) -> chime_store::Result<RankedRecall> {
        let Some(reading) = self.read(conn, request)? else {
            return Ok(RankedRecall::of(request, Vec::new(), Summaries::default()));
        };
        let candidates = reading.candidates()?;
        let found = LoadedCandidates::read(&reading, &candidates, self.embedder.as_deref())?;
        let (passages, mut lexicon) = (found.passages(), self.lexicon(reading.language));
        let frequencies = Some(&candidates.frequencies);
        let ranked = rank(&reading.question, &passages, frequencies, &mut lexicon, &Weights::shipped().message);
        let summaries = summaries::found(&reading, &found, &ranked, &candidates, &mut lexicon)?;
        let says_enough = ranked.into_iter().filter(|one| one.score > 0.0 && says_enough(&one.features));
        let messages = says_enough.map(|one| ranked::RankedMessage::of(one, &found, &candidates));
        let looked = RankedRecall::of(request, messages.collect(), summaries);
        if !reading.question.asks_talk {
            return Ok(looked);
        }
        let listed = by_time_or_member::messages(&reading, &mut lexicon)?;
        let names_time = !reading.question.spans.is_empty();
        Ok(looked.with_listed(listed, by_time_or_member::sessions(&reading)?, names_time))
    }

    /// Finds messages of a conversation before a given message by their words only, without vectors.
    pub fn by_words(
        &self,
        conn: &Reader,
        conversation: Conversation,
        words: &[WeightedWord],
        before: Seq,
    ) -> chime_store::Result<Vec<FoundMessage>> {
        let Some(row) = chats::by_key(conn, conversation.chat)? else { return Ok(Vec::new()) };
        let kept = StoredArchive { conn, conversation, language: row.language, space: None };
        by_words(&kept, row.language, words, before, &mut self.lexicon(row.language))
    }

    /// Returns the stretches (runs of neighbouring messages) of a conversation that match the words in `sought`.
    pub fn stretches(
        &self,
        conn: &Reader,
        conversation: Conversation,
        sought: &Sought<'_>,
    ) -> chime_store::Result<Vec<Stretch>> {
        let Some(row) = chats::by_key(conn, conversation.chat)? else { return Ok(Vec::new()) };
        let at_hand = self.embedder.as_deref();
        let space = embedding_spaces::current(conn)?.filter(|space| at_hand.is_some_and(|it| it.name() == space.model));
        let kept = StoredArchive { conn, conversation, language: row.language, space };
        stretches(&kept, sought, &mut self.lexicon(row.language))
    }

    fn read<'a>(
        &'a self,
        conn: &'a Reader,
        request: &'a RecallRequest<'a>,
    ) -> chime_store::Result<Option<ParsedRequest<'a>>> {
        let chat = request.conversation.chat;
        let Some(row) = chats::by_key(conn, chat)? else { return Ok(None) };
        let members = chats::members(conn, chat)?;
        let asked = QuestionFacts {
            language: row.language,
            now: request.now,
            zone: request.zone,
            by: Some(request.by),
            people: &members,
        };
        let question = ParsedQuestion::read(request.text, &asked);
        if question.words.is_empty() && !question.asks_talk {
            return Ok(None);
        }
        let space = embedding_spaces::current(conn)?;
        let vector = match &space {
            Some(space) => self.vector_in(conn, space, &question, request)?,
            None => Vec::new(),
        };
        // Vectors of different models must not be compared.
        let embedder =
            self.embedder.as_deref().filter(|at_hand| space.as_ref().is_none_or(|it| it.model == at_hand.name()));
        let people = members.iter().map(|member| (member.id, member.name.clone())).collect();
        let language = row.language;
        Ok(Some(ParsedRequest { conn, request, question, language, people, space, vector, embedder }))
    }

    /// Returns the vector of a question in `space`: computed by the local model or, if a server makes the vectors, the
    /// stored one of the trigger. Empty if another model made the stored vectors, since such vectors cannot be
    /// compared.
    fn vector_in(
        &self,
        conn: &Reader,
        space: &Space,
        question: &ParsedQuestion,
        request: &RecallRequest<'_>,
    ) -> chime_store::Result<Vec<u8>> {
        let made = match self.embedder.as_deref() {
            Some(embedder) if embedder.name() == space.model => Some(embedder.embed(&question.bare)),
            Some(_) => None,
            None => vectors::find(conn, request.conversation.chat, request.before, &space.model)?,
        };
        Ok(made.as_deref().and_then(chime_core::pack).unwrap_or_default())
    }

    fn lexicon(&self, language: Language) -> Lexicon<'_> {
        Lexicon::new(language, self.embedder.as_deref())
    }
}

/// Conversation in the store, as the searched archive.
struct StoredArchive<'a> {
    conn: &'a Reader,
    conversation: Conversation,
    language: Language,
    /// Set of vectors by one model that may be searched.
    space: Option<Space>,
}

impl StoredArchive<'_> {
    fn range(&self, before: Seq) -> postings::Range {
        /// Maximum number of messages read from a word's posting list.
        const OF_A_WORD: u32 = 300;
        postings::Range { chat: self.conversation.chat, from: Seq(0), before, limit: OF_A_WORD }
    }
}

impl Archive for StoredArchive<'_> {
    type Error = StoreError;

    fn count(&self) -> chime_store::Result<f64> {
        postings::messages(self.conn, self.conversation.chat)
    }

    fn holding(&self, stem: &str, before: Seq) -> chime_store::Result<(Vec<Seq>, f64)> {
        let found = postings::of_word(self.conn, &self.range(before), stem, self.language)?;
        Ok((found.seqs, found.held))
    }

    fn naming(&self, stem: &str, before: Seq) -> chime_store::Result<(Vec<Seq>, f64)> {
        let found = postings::of_name(self.conn, &self.range(before), stem)?;
        Ok((found.seqs, found.held))
    }

    fn nearest(&self, sought: &Sought<'_>, vector: &[f32]) -> chime_store::Result<Vec<Seq>> {
        let Some((space, packed)) = self.space.as_ref().zip(chime_core::pack(vector)) else { return Ok(Vec::new()) };
        let wanted = Nearest { chat: self.conversation.chat, newest: sought.before, vector: &packed, limit: NEAREST };
        let found = vector_index::nearest(self.conn, space, MESSAGES, &wanted)?;
        Ok(found.into_iter().map(|(seq, _)| seq).filter(|seq| *seq < sought.before).collect())
    }

    fn between(&self, range: (Seq, Seq)) -> chime_store::Result<Vec<StoredMessage>> {
        messages::between(self.conn, self.conversation, range.0, range.1)
    }
}

fn says_enough(features: &Features) -> bool {
    features.wide_coverage.max(features.linked_coverage) >= MIN_COVERAGE
}

#[cfg(test)]
mod tests;
