//! What the weights are fitted on: the features as the selector sees them, a row each. The daemon does not ask for them.

use std::sync::Arc;

use crate::context::links::{LinkModel, Past, Turn, WINDOW};
use crate::context::matters::{Circle, Lesson, anchor_features, best_match, fragments, gate_features, lessons};
use crate::context::reading::{Evidence, Reading};
use crate::context::scorers::Scorers;
use crate::context::strands::drawn::World;
use crate::context::strands::tag::Agreement;
use crate::context::strands::{Asking, Candidates, Matching, read};
use crate::domain::StoredMessage;

/// A tag, and what the selector sees of it. Places count from the oldest candidate.
#[derive(Debug, Clone)]
pub struct TagRows {
    pub is_bare: bool,
    pub is_reply: bool,
    pub gate: Vec<f64>,
    /// How likely it goes on from each candidate, by the links.
    pub links: Vec<f64>,
    /// The features of each candidate as what the tag hangs on.
    pub anchors: Vec<Vec<f64>>,
    /// For each of the candidates that were asked about, the features of all candidates as its kin.
    pub kin: Vec<Vec<Vec<f64>>>,
}

/// The rows of a tag, its candidates the last of `conversation` (oldest first); `kin_of` are places of candidates. None
/// where there are no candidates or no weights.
pub fn tag_rows(
    asking: Asking<'_>,
    conversation: &[&StoredMessage],
    evidence: &Evidence,
    scorers: &Scorers,
    kin_of: &[usize],
) -> Option<TagRows> {
    with_matching(asking, conversation, evidence, scorers, |candidates, matching, worlds| {
        let ground = matching.ground(candidates.remarks(matching.mentions));
        let foreseen = candidates.foreseen_in(worlds, matching.weights);
        let agreement = Agreement::of(&ground, &foreseen.groups);
        let tag = candidates.tag(matching);
        let kinship = agreement.kinship();
        let kin = |anchor: &usize| kinship.rows(*anchor).iter().map(|row| row.to_vec()).collect();
        let anchors = anchor_features(&tag, agreement.scene());
        TagRows {
            is_bare: matching.bare,
            is_reply: matching.reply.is_some(),
            gate: gate_features(&matching.opening(0.0, best_match(&anchors))).to_vec(),
            anchors: anchors.iter().map(|row| row.to_vec()).collect(),
            links: tag.links,
            kin: kin_of.iter().map(kin).collect(),
        }
    })
}

/// What a later look is fitted on, with `looks` of them before it: for each of `kin_of`, the places of the candidates that
/// come into question and their features as its kin.
pub fn again_rows(
    asking: Asking<'_>,
    conversation: &[&StoredMessage],
    evidence: &Evidence,
    scorers: &Scorers,
    (kin_of, looks): (&[usize], usize),
) -> Vec<Vec<(usize, Vec<f64>)>> {
    let of_all = with_matching(asking, conversation, evidence, scorers, |candidates, matching, worlds| {
        let ground = matching.ground(candidates.remarks(matching.mentions));
        let foreseen = candidates.foreseen_in(worlds, matching.weights);
        let agreement = Agreement::of(&ground, &foreseen.groups);
        let kinship = agreement.kinship();
        let mut circle = Circle::around(&kinship, kin_of, &matching.weights.tag);
        matching.weights.tag.again.iter().take(looks).for_each(|weights| circle.look(weights));
        let rows = |rows: Vec<(usize, [f64; _])>| rows.into_iter().map(|(place, row)| (place, row.to_vec())).collect();
        circle.rows().into_iter().map(rows).collect()
    });
    of_all.unwrap_or_default()
}

/// What a bridge is fitted on: how the fragments of the last of `conversation` take up matters in the first `count` worlds.
/// `truth` is what each candidate is about.
pub fn bridge_lessons(
    asking: Asking<'_>,
    conversation: &[&StoredMessage],
    evidence: &Evidence,
    scorers: &Scorers,
    (truth, count): (&[Option<usize>], usize),
) -> Vec<Lesson> {
    let of_all = with_matching(asking, conversation, evidence, scorers, |candidates, matching, worlds| {
        let talk = candidates.talk();
        let ground = candidates.ground(&talk);
        let fragments =
            worlds.iter().take(count).map(|world| fragments(&ground, &world.antecedents, matching.weights.far));
        fragments.flat_map(|fragments| lessons(&ground, &fragments, truth)).collect()
    });
    of_all.unwrap_or_default()
}

fn with_matching<R>(
    asking: Asking<'_>,
    conversation: &[&StoredMessage],
    evidence: &Evidence,
    scorers: &Scorers,
    then: impl FnOnce(&Candidates<'_>, &Matching<'_>, &[World]) -> R,
) -> Option<R> {
    let weights = scorers.matters.as_ref().filter(|_| !conversation.is_empty())?;
    let readings: Vec<Arc<Reading>> = conversation.iter().map(|stored| evidence.reading(stored)).collect();
    let candidates = Candidates::of((conversation, asking.older), &readings, evidence, &scorers.links);
    let trigger = read(asking, evidence);
    let heard = candidates.heard(asking, &trigger, &scorers.links);
    Some(
        candidates
            .matched((asking, &trigger), &heard, weights, |matching| then(&candidates, matching, &candidates.drawn())),
    )
}

/// What the weights of the links are applied to, of each message before the one at `place`, newest first: the distance and
/// the row. With `is_bare`, as if the message said nothing.
pub fn link_rows(
    readings: &[Arc<Reading>],
    place: usize,
    is_bare: bool,
    model: &LinkModel,
    each: impl FnMut(usize, Vec<f32>),
) {
    let past: Vec<Turn<'_>> =
        readings[place.saturating_sub(WINDOW)..place].iter().map(|reading| reading.turn()).collect();
    Past::of(&past, readings[place].turn()).rows(model, is_bare, each);
}
