//! Looking for what is sought in all that is older than the candidates.

use std::sync::Arc;

use crate::context::features::lexical::stems;
use crate::context::features::message::{MessageFeatures, without_bots};
use crate::context::replies::model::ReplyModel;
use crate::context::retrieval::expand::around;
use crate::context::retrieval::found::{Bridged, Found};
use crate::context::retrieval::passages::spans;
use crate::context::retrieval::passages::{Said, Span};
use crate::context::retrieval::query::{Sought, Word};
use crate::context::retrieval::rerank::Weights;
use crate::context::retrieval::rerank::{BESIDE, Judged, ReadSpan, beside, judged};
use crate::domain::{Seq, StoredMessage};

/// Messages on either side of the hits that may belong with them.
const AROUND: usize = 8;
/// Of a place that is not sure enough to be taken, messages on either side of the hits that may be shown.
const SHOWN_AROUND: usize = 8;

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
    let Some(weights) = Weights::shipped() else { return Ok(Found::default()) };
    let mut said = Vec::with_capacity(sought.words.len());
    for word in &sought.words {
        said.push(Said { newest: archive.newest(word, sought.before)?, weight: word.weight });
    }
    let mut read = Vec::new();
    for span in spans(&said, sought.before) {
        read.extend(read_span(archive, sought.before, span)?);
    }
    let judged = judged(sought, &read, weights);
    let (mut bridged, mut nearby) = (Vec::new(), Vec::new());
    for one in &judged {
        let bridge = |message: StoredMessage| Bridged { message, probability: one.probability };
        if one.is_accepted {
            bridged.extend(talk_around(archive, sought.before, one, links)?.into_iter().map(bridge));
        } else {
            nearby.extend(stretch(archive, sought.before, one, SHOWN_AROUND)?.into_iter().map(bridge));
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

/// What was accepted, with the talk around it.
fn talk_around<A: Archive>(
    archive: &A,
    before: Seq,
    accepted: &Judged,
    links: &ReplyModel,
) -> Result<Vec<StoredMessage>, A::Error> {
    let talk = stretch(archive, before, accepted, AROUND)?;
    let hits: Vec<Seq> = accepted.hits.iter().map(|(seq, _)| *seq).collect();
    let readings = archive.readings(&talk)?;
    let places = around(&talk, &readings, &hits, links);
    let is_of_it = |(place, _): &(usize, StoredMessage)| places.binary_search(place).is_ok();
    Ok(talk.into_iter().enumerate().filter(is_of_it).map(|(_, stored)| stored).collect())
}

/// The hits of a place with so many messages on either side. Of the candidates what belongs was picked.
fn stretch<A: Archive>(
    archive: &A,
    before: Seq,
    place: &Judged,
    beside: usize,
) -> Result<Vec<StoredMessage>, A::Error> {
    let (Some((first, _)), Some((last, _))) = (place.hits.first(), place.hits.last()) else { return Ok(Vec::new()) };
    let mut talk = archive.around(*first, (beside, beside + (last.0 - first.0) as usize))?;
    talk.retain(|stored| stored.seq < before);
    Ok(talk)
}
