//! The talk around what was accepted: the small cluster that comes with it.

use std::sync::Arc;

use crate::context::features::mentions::Turn;
use crate::context::features::message::MessageFeatures;
use crate::context::replies::antecedents::Past;
use crate::context::replies::model::ReplyModel;
use crate::domain::{Seq, StoredMessage};

/// One message goes on from another at least so likely, to belong with it.
const LINKED: f32 = 0.5;

/// Places of the messages of a short `talk` (oldest first, with what was read off each) that belong with its `hits`: whatever
/// replies, albums or most likely links lead to, in either direction.
pub fn around(
    talk: &[StoredMessage],
    readings: &[Arc<MessageFeatures>],
    hits: &[Seq],
    links: &ReplyModel,
) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..talk.len()).collect();
    for place in 0..talk.len() {
        if let Some(from) = goes_on_from(talk, readings, place, links) {
            let (joined, other) = (groups[from], groups[place]);
            groups.iter_mut().filter(|group| **group == other).for_each(|group| *group = joined);
        }
    }
    let of_hits: Vec<usize> =
        talk.iter().zip(&groups).filter(|(stored, _)| hits.contains(&stored.seq)).map(|(_, group)| *group).collect();
    (0..talk.len()).filter(|place| of_hits.contains(&groups[*place])).collect()
}

fn goes_on_from(
    talk: &[StoredMessage],
    readings: &[Arc<MessageFeatures>],
    place: usize,
    links: &ReplyModel,
) -> Option<usize> {
    if let Some(parent) = talk[place].message.reply_to {
        // What replies to something further away belongs there.
        return talk[..place].iter().position(|stored| stored.message.id == parent);
    }
    if let Some(album) = &talk[place].message.album {
        let mate = talk[..place].iter().position(|stored| stored.message.album.as_ref() == Some(album));
        if mate.is_some() {
            return mate;
        }
    }
    let past: Vec<Turn<'_>> = readings[..place].iter().map(|reading| reading.turn()).collect();
    let antecedents = Past::of(&past, readings[place].turn()).antecedents(links, false);
    let likeliest = antecedents.0.first().filter(|link| link.probability >= LINKED)?;
    place.checked_sub(likeliest.distance)
}
