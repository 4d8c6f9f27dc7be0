//! Looking for what is sought in all that is older than the candidates.

use std::sync::Arc;

use crate::context::features::lexical::stems;
use crate::context::features::message::{MessageFeatures, without_bots};
use crate::context::replies::model::ReplyModel;
use crate::context::retrieval::expand::around;
use crate::context::retrieval::found::{Bridged, Found};
use crate::context::retrieval::passages::{Said, Span, spans};
use crate::context::retrieval::query::{Sought, Word};
use crate::context::retrieval::rerank::{BESIDE, Judged, ReadSpan, Weights, beside, judged};
use crate::domain::{Seq, StoredMessage};

/// Messages on either side of the hits that may belong with them, or be shown.
const AROUND: usize = 8;
/// What the likelihood of a span falls to with every message away from its hits.
const FADES: f64 = 0.9;
/// What a message from further back counts against a candidate that is as likely: without it fewer of those are shown.
const FAR: f64 = 1.4;

/// All messages of a conversation that are older than the candidates.
pub trait Archive {
    type Error;

    /// The newest messages before one that have a word, the newest first.
    fn newest(&self, word: &Word, before: Seq) -> Result<Vec<Seq>, Self::Error>;
    /// Messages by their numbers, both ends included, oldest first.
    fn between(&self, range: (Seq, Seq)) -> Result<Vec<StoredMessage>, Self::Error>;
    /// A message with so many before and after it, oldest first.
    fn around(&self, hit: Seq, beside: (usize, usize)) -> Result<Vec<StoredMessage>, Self::Error>;
    fn readings(&self, messages: &[StoredMessage]) -> Result<Vec<Arc<MessageFeatures>>, Self::Error>;
}

/// What answers `sought` in the archive.
pub fn find<A: Archive>(archive: &A, sought: &Sought, links: &ReplyModel) -> Result<Found, A::Error> {
    let mut said = Vec::with_capacity(sought.words.len());
    for word in &sought.words {
        said.push(Said { newest: archive.newest(word, sought.before)?, weight: word.weight });
    }
    let mut read = Vec::new();
    for span in spans(&said, sought.before) {
        read.extend(read_span(archive, sought.before, span)?);
    }
    let judged = judged(sought, &read, Weights::shipped());
    let (mut bridged, mut nearby) = (Vec::new(), Vec::new());
    for one in &judged {
        let talk = stretch(archive, sought.before, one)?;
        let of_it = if one.is_accepted { of_hits(archive, &talk, one, links)? } else { Vec::new() };
        for (place, message) in talk.into_iter().enumerate() {
            if of_it.binary_search(&place).is_ok() {
                bridged.push(Bridged { message, probability: one.probability });
            } else {
                let apart = one.hits.iter().map(|(hit, _)| hit.0.abs_diff(message.seq.0)).min().unwrap_or_default();
                let probability = (FAR * one.probability * FADES.powi(apart.cast_signed())).min(1.0);
                nearby.push(Bridged { message, probability });
            }
        }
    }
    Ok(Found { bridged, nearby, judged })
}

/// Reads the hits of a span; none where nobody may read them, or they are of another thread.
fn read_span<A: Archive>(archive: &A, before: Seq, span: Span) -> Result<Option<ReadSpan>, A::Error> {
    let (Some(first), Some(last)) = (span.hits.first(), span.hits.last()) else { return Ok(None) };
    let range = (Seq(first.0.saturating_sub(BESIDE)), Seq((last.0 + BESIDE).min(before.0 - 1)));
    let messages = beside(archive.between(range)?, &span.hits);
    if messages.is_empty() {
        return Ok(None);
    }
    let stems = messages.iter().map(|stored| stems(&without_bots(&stored.message.text))).collect();
    Ok(Some(ReadSpan { span, messages, stems }))
}

/// The places in a `talk` of what belongs with the hits of a span.
fn of_hits<A: Archive>(
    archive: &A,
    talk: &[StoredMessage],
    accepted: &Judged,
    links: &ReplyModel,
) -> Result<Vec<usize>, A::Error> {
    let hits: Vec<Seq> = accepted.hits.iter().map(|(seq, _)| *seq).collect();
    Ok(around(talk, &archive.readings(talk)?, &hits, links))
}

/// The hits of a span with the messages on either side. Of the candidates what belongs was picked.
fn stretch<A: Archive>(archive: &A, before: Seq, span: &Judged) -> Result<Vec<StoredMessage>, A::Error> {
    let (Some((first, _)), Some((last, _))) = (span.hits.first(), span.hits.last()) else { return Ok(Vec::new()) };
    let mut talk = archive.around(*first, (AROUND, AROUND + (last.0 - first.0) as usize))?;
    talk.retain(|stored| stored.seq < before);
    Ok(talk)
}
