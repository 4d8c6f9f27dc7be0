//! Looks for the beginning of a matter in all that is older than the candidates: a few looks into the full-text index, a few
//! dozen rows.

use std::sync::Arc;

use crate::context::beyond::{
    Answer, BESIDE, Bridged, Heard, Judged, MOST_OF_A_WORD, Question, Said, Span, Weights, around, beside, judged,
    spans,
};
use crate::context::matters::stems;
use crate::context::reading::{Reading, without_bots};
use crate::context::run::Readings;
use crate::context::{History, LinkModel, Params};
use crate::domain::{Seq, StoredMessage};
use crate::store::{self, Language, Reader, chats, messages, search};

/// Messages on either side of the hits that may belong with them.
const AROUND: usize = 8;

/// What answers `question` further back.
pub fn look_further_back(
    conn: &Reader,
    (history, params): (&History, &Params),
    question: &Question,
    readings: &Readings,
) -> store::Result<Answer> {
    let Some(weights) = Weights::shipped() else { return Ok(Answer::default()) };
    let trigger = &history.trigger;
    let language = chats::find(conn, trigger.message.chat)?.map_or(Language::DEFAULT, |row| row.language);
    let mut said = Vec::with_capacity(question.words.len());
    for word in &question.words {
        let newest = search::newest_with(conn, trigger.chat, (language, &word.text), question.before, MOST_OF_A_WORD)?;
        said.push(Said { newest, weight: word.weight });
    }
    let mut heard = Vec::new();
    for span in spans(&said, question.before) {
        heard.extend(hear(conn, (trigger, question.before), span)?);
    }
    let judged = judged(question, &heard, weights);
    let mut bridged: Vec<Bridged> = Vec::new();
    for one in judged.iter().filter(|one| one.is_accepted) {
        bridged.extend(talk_around(conn, trigger, one, readings, &params.scorers.links)?);
    }
    Ok(Answer { bridged, judged })
}

/// Reads the hits of a span; none where nobody may read them, or they are of another thread.
fn hear(conn: &Reader, (trigger, before): (&StoredMessage, Seq), span: Span) -> store::Result<Option<Heard>> {
    let (Some(first), Some(last)) = (span.hits.first(), span.hits.last()) else { return Ok(None) };
    let range = (Seq(first.0.saturating_sub(BESIDE)), Seq((last.0 + BESIDE).min(before.0 - 1)));
    let messages = beside(messages::between(conn, trigger.conversation(), range)?, &span.hits);
    if messages.is_empty() {
        return Ok(None);
    }
    let stems = messages.iter().map(|stored| stems(&without_bots(&stored.message.text))).collect();
    Ok(Some(Heard { span, messages, stems }))
}

/// What was accepted, with the talk around it.
fn talk_around(
    conn: &Reader,
    trigger: &StoredMessage,
    accepted: &Judged,
    readings: &Readings,
    links: &LinkModel,
) -> store::Result<Vec<Bridged>> {
    let hits: Vec<Seq> = accepted.hits.iter().map(|(seq, _)| *seq).collect();
    let (Some(first), Some(last)) = (hits.first(), hits.last()) else { return Ok(Vec::new()) };
    let Some(hit) = messages::by_seq(conn, trigger.chat, *first)? else { return Ok(Vec::new()) };
    let moment = (hit.message.sent_at, hit.message.id);
    let mut talk = messages::before(conn, trigger.conversation(), moment, AROUND)?;
    talk.push(hit);
    let between = (last.0 - first.0) as usize;
    talk.extend(messages::after(conn, trigger.conversation(), moment, AROUND + between)?);
    let readings: Vec<Arc<Reading>> = readings.further_back(conn, &talk)?;
    let places = around(&talk, &readings, &hits, links);
    let bridged = |place: usize| Bridged { message: talk[place].clone(), probability: accepted.probability };
    Ok(places.into_iter().map(bridged).collect())
}

#[cfg(test)]
mod tests;
