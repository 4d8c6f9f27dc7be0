//! Looks for the beginning of a matter in all that is older than the candidates: a few looks into the full-text index, a few
//! dozen rows.

use std::sync::Arc;

use crate::context::beyond::{
    BESIDE, Bridged, Found, Judged, MOST_OF_A_WORD, ReadSpan, Said, Sought, Span, Weights, around, beside, judged,
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

/// What answers `sought` further back. It only enriches: where the index cannot be read, there is nothing.
pub fn look_further_back(conn: &Reader, about: (&History, &Params), sought: &Sought, readings: &Readings) -> Found {
    find(conn, about, sought, readings).unwrap_or_else(|error| {
        tracing::warn!(%error, "nothing older than the last messages is looked at");
        Found::default()
    })
}

fn find(
    conn: &Reader,
    (history, params): (&History, &Params),
    sought: &Sought,
    readings: &Readings,
) -> store::Result<Found> {
    let Some(weights) = Weights::shipped() else { return Ok(Found::default()) };
    let trigger = &history.trigger;
    let language = chats::find(conn, trigger.message.chat)?.map_or(Language::DEFAULT, |row| row.language);
    let mut said = Vec::with_capacity(sought.words.len());
    for word in &sought.words {
        let newest = search::newest_with(conn, trigger.chat, (language, &word.text), sought.before, MOST_OF_A_WORD)?;
        said.push(Said { newest, weight: word.weight });
    }
    let mut read = Vec::new();
    for span in spans(&said, sought.before) {
        read.extend(read_span(conn, (trigger, sought.before), span)?);
    }
    let judged = judged(sought, &read, weights);
    let mut bridged: Vec<Bridged> = Vec::new();
    for one in judged.iter().filter(|one| one.is_accepted) {
        bridged.extend(talk_around(conn, (trigger, sought.before), one, readings, &params.scorers.links)?);
    }
    Ok(Found { bridged, judged })
}

/// Reads the hits of a span; none where nobody may read them, or they are of another thread.
fn read_span(conn: &Reader, (trigger, before): (&StoredMessage, Seq), span: Span) -> store::Result<Option<ReadSpan>> {
    let (Some(first), Some(last)) = (span.hits.first(), span.hits.last()) else { return Ok(None) };
    let range = (Seq(first.0.saturating_sub(BESIDE)), Seq((last.0 + BESIDE).min(before.0 - 1)));
    let messages = beside(messages::between(conn, trigger.conversation(), range)?, &span.hits);
    if messages.is_empty() {
        return Ok(None);
    }
    let stems = messages.iter().map(|stored| stems(&without_bots(&stored.message.text))).collect();
    Ok(Some(ReadSpan { span, messages, stems }))
}

/// What was accepted, with the talk around it.
fn talk_around(
    conn: &Reader,
    (trigger, before): (&StoredMessage, Seq),
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
    // Of the candidates what belongs was picked.
    talk.retain(|stored| stored.seq < before);
    let readings: Vec<Arc<Reading>> = readings.further_back(conn, &talk)?;
    let places = around(&talk, &readings, &hits, links);
    let bridged = |place: usize| Bridged { message: talk[place].clone(), probability: accepted.probability };
    Ok(places.into_iter().map(bridged).collect())
}

#[cfg(test)]
mod tests;
