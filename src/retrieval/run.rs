//! Fetches what a chat said before about a question: candidates from the full-text index, their neighbours, the ranking.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::domain::{Conversation, MessageId, Role, Seq, StoredMessage, Timestamp, UserId};
use crate::embed::Embedder;
use crate::retrieval::{
    Asked, Features, Frequencies, Lexicon, Passage, Person, Profile, Question, RecalledMessage, SESSION_SILENCE, rank,
};
use crate::store::{self, Reader, chats, messages, search};

/// Messages that each look into the index proposes.
const PROPOSED: usize = 100;
/// Of these, the best whose neighbours are read too, and how far on either side.
const WITH_NEIGHBORS: usize = 30;
const AROUND: u32 = 5;
/// Messages that are recalled at most.
const RECALLED: usize = 10;
/// A message that says less of the question than this, its surroundings included, is no answer to it.
const MIN_COVERAGE: f64 = 0.35;

/// What is asked of a chat's past.
#[derive(Debug, Clone, Copy)]
pub struct RecallRequest<'a> {
    pub conversation: Conversation,
    pub text: &'a str,
    pub now: Timestamp,
    pub by: UserId,
    /// Only what came before this is recalled.
    pub before: Seq,
    /// What the prompt shows anyway.
    pub known: &'a HashSet<Seq>,
}

/// The messages of a chat, of all its threads, that answer a question best: best first. A question without a word that
/// tells something finds nothing.
pub fn recall(
    conn: &Reader,
    request: &RecallRequest<'_>,
    embedder: Option<&Embedder>,
) -> store::Result<Vec<RecalledMessage>> {
    let chat = request.conversation.chat;
    let Some(row) = chats::by_key(conn, chat)? else { return Ok(Vec::new()) };
    let members = chats::members(conn, chat)?;
    let people: Vec<Person<'_>> = (members.iter())
        .map(|member| Person { id: member.id, name: &member.name, username: member.username.as_deref() })
        .collect();
    let asked =
        Asked { language: row.language, now: request.now, utc_offset: 0, by: Some(request.by), people: &people };
    let question = Question::read(request.text, &asked);
    if question.words.is_empty() {
        return Ok(Vec::new());
    }
    let words = question.words.join(" ");
    let mut proposals = vec![search::any_word(conn, chat, row.language, &words, PROPOSED)?];
    for named in people.iter().filter(|person| question.named.contains(&person.id)) {
        proposals.push(search::any_word_by(conn, chat, row.language, (&words, named.name), PROPOSED)?);
    }
    let found = read_with_neighbors(conn, request, &proposals)?;
    let candidates: HashSet<Seq> = proposals.into_iter().flatten().collect();
    let counted = search::holding(conn, chat, row.language, &words)?;
    let frequencies = Frequencies { messages: counted.messages, holding: counted.holding };
    let mut recalled = ranked(&question, found, (&frequencies, embedder), |seq| {
        candidates.contains(&seq) && seq < request.before && !request.known.contains(&seq)
    });
    for one in &mut recalled {
        let conversation = one.message.conversation();
        if conversation != request.conversation {
            one.topic = chats::topic_name(conn, conversation)?;
        }
    }
    Ok(recalled)
}

/// The proposed messages with their neighbours, in the order of their numbers.
fn read_with_neighbors(
    conn: &Reader,
    request: &RecallRequest<'_>,
    proposals: &[Vec<Seq>],
) -> store::Result<Vec<StoredMessage>> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for list in proposals {
        for (rank, seq) in list.iter().filter(|seq| **seq < request.before).enumerate() {
            let reach = if rank < WITH_NEIGHBORS { AROUND } else { 0 };
            ranges.push((seq.0.saturating_sub(reach), seq.0.saturating_add(reach)));
        }
    }
    ranges.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for (from, to) in ranges {
        match merged.last_mut() {
            Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    let mut found = Vec::new();
    for (from, to) in merged {
        found.extend(messages::in_range(conn, request.conversation.chat, (Seq(from), Seq(to)))?);
    }
    Ok(found)
}

fn ranked(
    question: &Question,
    found: Vec<StoredMessage>,
    (frequencies, embedder): (&Frequencies, Option<&Embedder>),
    is_wanted: impl Fn(Seq) -> bool,
) -> Vec<RecalledMessage> {
    let vectors: Vec<Vec<f32>> = (found.iter())
        .map(|stored| embedder.map_or_else(Vec::new, |embedder| embedder.embed(&stored.message.text)))
        .collect();
    let passages = passages(&found, &vectors);
    let mut lexicon = Lexicon::new(question.language, embedder);
    let ranked = rank(question, &passages, Some(frequencies), &mut lexicon, Profile::Fitted);
    let says_enough = |features: &Features| features.wide_coverage.max(features.linked_coverage) >= MIN_COVERAGE;
    let best: Vec<_> = (ranked.into_iter())
        .filter(|one| is_wanted(found[one.index].seq) && says_enough(&one.features) && one.score > 0.0)
        .take(RECALLED)
        .collect();
    let mut by_place: HashMap<usize, StoredMessage> = found.into_iter().enumerate().collect();
    best.into_iter()
        .filter_map(|one| {
            let message = by_place.remove(&one.index)?;
            Some(RecalledMessage { message, topic: None, score: one.score, features: one.features })
        })
        .collect()
}

/// Each message beside the one before it and the one after it in its thread, where there is no long silence between.
fn passages<'a>(found: &'a [StoredMessage], vectors: &'a [Vec<f32>]) -> Vec<Passage<'a>> {
    let places: HashMap<MessageId, usize> =
        found.iter().enumerate().map(|(place, stored)| (stored.message.id, place)).collect();
    let mut passages: Vec<Passage<'_>> = (found.iter().zip(vectors))
        .map(|(stored, vector)| Passage {
            author: stored.message.sender.id,
            sent_at: stored.message.sent_at,
            text: &stored.message.text,
            vector,
            is_own: stored.message.role == Role::Assistant,
            before: None,
            after: None,
            replies_to: stored.message.reply_to.and_then(|id| places.get(&id).copied()),
        })
        .collect();
    let mut last_of: BTreeMap<_, usize> = BTreeMap::new();
    for (place, stored) in found.iter().enumerate() {
        let Some(before) = last_of.insert(stored.message.thread, place) else { continue };
        let is_near = stored.seq.0 - found[before].seq.0 <= AROUND;
        if is_near && stored.message.sent_at.since(found[before].message.sent_at) <= SESSION_SILENCE {
            passages[place].before = Some(before);
            passages[before].after = Some(place);
        }
    }
    passages
}

#[cfg(test)]
mod tests;
