//! Builds the feature rows and weights of the examples for each part.

use chime_relevance::context::Scorers;
use chime_relevance::context::training::{
    Example, FOCUS_NAMES, OF_BARE_TAG, PAIR_NAMES, PickInput, SeedRule, TagRows, link_rows,
};

use std::time::Duration;

use chime_core::MessageId;

use crate::chats::{Chat, Kind, Question, WINDOW};
use crate::learn::{Examples, Weighed};
use crate::link_examples::link_examples;

/// Examples from triggers, and from other messages treated as triggers.
pub struct OfTags {
    pub focus_bare: Examples,
    pub focus_text: Examples,
    pub pairwise: Examples,
}

impl OfTags {
    pub fn new() -> Self {
        Self {
            focus_bare: Examples::new(OF_BARE_TAG),
            focus_text: Examples::new(FOCUS_NAMES.len()),
            pairwise: Examples::new(PAIR_NAMES.len()),
        }
    }
}

/// Adds the links of a chat: for each message, the earlier messages of its conversation, or none if it starts one.
pub fn links(chat: &Chat, scorers: &Scorers, into: &mut Examples) {
    /// Distance up to which all messages are used; beyond it, in long chats, one of [`FAR_PART`].
    const NEAR: usize = 30;
    const FAR_PART: f64 = 3.0;
    /// Share of messages that are also read without text.
    const BARE_PART: f64 = 0.3;
    // The start of a conversation from before the log is unknown, so the first messages of excerpts are skipped.
    let (begin, part, weight) = match chat.kind {
        Kind::English | Kind::Others | Kind::Long | Kind::Rows => (3, 1.0, 2.5),
        Kind::Dense => (60, 1.0 / 6.0, 1.0),
        Kind::Calm => (60, 1.0, 5.0),
        Kind::Slow => (100, 1.0 / 6.0, 1.0),
    };
    let is_group = chat.kind.has_tags();
    let readings = chat.readings();
    for place in begin..readings.len() {
        if chat.chance(place, 1) >= part {
            continue;
        }
        let is_bare = chat.chance(place, 2) < BARE_PART;
        let modes = if is_group { vec![(false, 1.0 - BARE_PART), (true, BARE_PART)] } else { vec![(is_bare, 1.0)] };
        for (is_bare, share) in modes {
            let same = chat.truth.same(place);
            let is_kept = |distance: usize| {
                is_group || distance <= NEAR || chat.chance(place, 1000 + distance as u64) < 1.0 / FAR_PART
            };
            if !same.is_empty() && !same.iter().any(|other| is_kept(place - other)) {
                continue;
            }
            link_rows(&readings, place, is_bare, &scorers.links, |distance, row| {
                if is_kept(distance) {
                    let is_same = same.binary_search(&(place - distance)).is_ok();
                    let offset = if is_group || distance <= NEAR { 0.0 } else { FAR_PART.ln() };
                    into.row(row, flag(is_same), offset as f32);
                }
            });
            let none = Some(flag(same.is_empty()));
            into.close(Weighed { none, weight: (weight * share) as f32, fold: chat.fold });
        }
    }
}

/// Adds the links between segments of one subject.
pub fn bridges(chat: &Chat, scorers: &Scorers, into: &mut Examples) {
    /// Sampled forests whose segments are used.
    const FORESTS: usize = 6;
    /// Factor on the weight of a segment with an unknown subject; it continues no other segment.
    const UNKNOWN: f32 = 0.4;
    let count = chat.prepared.messages.len();
    let (places, weight): (Vec<usize>, f32) = match chat.kind {
        Kind::English | Kind::Others | Kind::Long | Kind::Rows => {
            ((15..count).step_by(10).chain([count - 1]).collect(), 4.0)
        }
        // Windows are long here, and many contain the same message.
        Kind::Slow => ((WINDOW..count).step_by(300).collect(), 1.0),
        Kind::Dense | Kind::Calm => return,
    };
    for place in places {
        let first = place.saturating_sub(WINDOW);
        let truth: Vec<Option<usize>> = (first..place).map(|other| chat.truth.about(other)).collect();
        let before = chat.before(place);
        let mut examples = Vec::new();
        if let Some(example) = Example::of(chat.asking(place, ""), &before, &chat.prepared.evidence, scorers) {
            example.with_segments(FORESTS, |corpus, segments| examples.extend(link_examples(corpus, segments, &truth)));
        }
        for link_example in examples {
            let best = link_example.shares.iter().copied().fold(0.0, f64::max);
            for (row, share) in link_example.rows.iter().zip(&link_example.shares) {
                into.row(row.map(|value| value as f32), *share as f32, 0.0);
            }
            let weight = if link_example.is_known { weight } else { weight * UNKNOWN };
            into.close(Weighed { none: Some((1.0 - best) as f32), weight, fold: chat.fold });
        }
    }
}

/// Adds the anchors of a chat's triggers and their related messages, and the same for other messages treated as
/// triggers.
pub fn tags(chat: &Chat, scorers: &Scorers, into: &mut OfTags) {
    /// First message treated as a trigger, and the share of later ones.
    const BEGIN: usize = 8;
    const PART: f64 = 0.5;
    /// Weights of a real trigger, and of a message treated as one.
    const REAL: f32 = 4.0;
    const AS_IF: f32 = 0.09;
    if !chat.kind.has_tags() {
        return;
    }
    let tagged = tagged(chat);
    for place in BEGIN..chat.prepared.messages.len() {
        let stored = &chat.prepared.messages[place];
        let is_taken = chat.truth.is_known(place) && !stored.message.sender.is_bot && chat.chance(place, 3) < PART;
        if tagged.contains(&place) || !is_taken {
            continue;
        }
        let first = place.saturating_sub(WINDOW);
        let right: Vec<bool> = (first..place).map(|other| chat.truth.are_kin(place, other)).collect();
        for text in ["", stored.message.text.as_str()] {
            let mut message = stored.clone();
            message.message.reply_to = None;
            let asking = PickInput { message: &message, text, is_tag: true, seed: SeedRule::default(), sources: None };
            let before = chat.before(place);
            let rows = Example::of(asking, &before, &chat.prepared.evidence, scorers).map(|it| it.tag_rows(&[]));
            if let Some(rows) = rows.filter(|rows| rows.is_bare == text.is_empty()) {
                anchors(&rows, &right, AS_IF, chat.fold, into);
            }
        }
    }
    for query in &chat.queries {
        let history = chat.prepared.history(&query.ask);
        let asking = PickInput { is_tag: true, ..PickInput::of(&history, SeedRule::default()) };
        let recent: Vec<&_> = history.recent.iter().collect();
        let Some(example) = Example::of(asking, &recent, &history.evidence, scorers) else { continue };
        let rows = example.tag_rows(&[]);
        let right: Vec<bool> = recent.iter().map(|stored| query.gold.context.contains(&stored.message.id.0)).collect();
        if !rows.is_reply {
            anchors(&rows, &right, REAL, chat.fold, into);
        }
    }
    kin(chat, scorers, &mut into.pairwise);
}

/// Adds the examples of the test for a new subject: the triggers of a chat, the questions about it, which are not new,
/// and `others`, each asked at a random message.
pub fn new_subjects(chat: &Chat, others: &[&Question], scorers: &Scorers, into: &mut Examples) {
    /// Weights of a real trigger and of a question about the chat, compared with one of the others.
    const REAL: f32 = 3.0;
    const LATER: f32 = 0.4;
    /// First message before which one of the others is asked.
    const BEGIN: usize = 8;
    /// Time from a message to a question after it.
    const AFTER: Duration = Duration::from_mins(1);
    let messages = &chat.prepared.messages;
    for query in &chat.queries {
        let history = chat.prepared.history(&query.ask);
        let asking = PickInput { is_tag: true, ..PickInput::of(&history, SeedRule::default()) };
        let recent: Vec<&_> = history.recent.iter().collect();
        let example = Example::of(asking, &recent, &history.evidence, scorers);
        add_novelty(example, query.gold.context.is_empty(), REAL, chat.fold, into);
    }
    let later = chat.questions.iter().map(|question| (question.as_str(), messages.len(), false, LATER));
    let place =
        |number: usize| BEGIN + (chat.chance(number, 4) * (messages.len().saturating_sub(BEGIN)) as f64) as usize;
    let others =
        (0..).zip(others).map(|(number, question)| (question.text.as_str(), place(number), question.is_new, 1.0));
    for (text, place, is_new, weight) in later.chain(others) {
        let Some(last) = place.checked_sub(1).and_then(|last| messages.get(last)) else { continue };
        let mut message = last.clone();
        // An id of its own, so that no features are known yet.
        message.message.id = MessageId(i64::MAX);
        message.message.sent_at = message.message.sent_at.plus(AFTER);
        (message.message.reply_to, message.message.text) = (None, text.to_owned());
        let asking = PickInput { message: &message, text, is_tag: true, seed: SeedRule::default(), sources: None };
        let before = chat.before(place);
        add_novelty(Example::of(asking, &before, &chat.prepared.evidence, scorers), is_new, weight, chat.fold, into);
    }
}

fn add_novelty(example: Option<Example<'_>>, is_new: bool, weight: f32, fold: usize, into: &mut Examples) {
    // A reply continues a subject, so the test for a new one is not applied.
    let rows = example.map(|example| example.tag_rows(&[]));
    let Some(rows) = rows.filter(|rows| !rows.is_reply && !rows.novelty.is_empty()) else { return };
    let unknown = vec![0.0; into.width() - rows.novelty.len() - rows.meaning.len()];
    let features = rows.novelty.iter().map(|value| *value as f32);
    into.row(features.chain(rows.meaning).chain(unknown), flag(is_new), 0.0);
    into.close(Weighed { none: Some(1.0 - flag(is_new)), weight, fold });
}

fn anchors(rows: &TagRows, right: &[bool], weight: f32, fold: usize, into: &mut OfTags) {
    if !right.contains(&true) {
        return;
    }
    let (examples, width) = match rows.is_bare {
        true => (&mut into.focus_bare, OF_BARE_TAG),
        false => (&mut into.focus_text, FOCUS_NAMES.len()),
    };
    for (row, right) in rows.targets.iter().zip(right) {
        examples.row(row[..width].iter().map(|value| *value as f32), flag(*right), 0.0);
    }
    examples.close(Weighed { none: None, weight, fold });
}

/// Adds pairs of messages on one subject, for the first pass.
fn kin(chat: &Chat, scorers: &Scorers, into: &mut Examples) {
    for (place, first, known) in asked_about(chat) {
        let anchors: Vec<usize> = known.iter().map(|anchor| anchor - first).collect();
        let before = chat.before(place);
        let example = Example::of(chat.asking(place, ""), &before, &chat.prepared.evidence, scorers);
        let Some(rows) = example.map(|example| example.tag_rows(&anchors)) else { continue };
        for (anchor, of_anchor) in known.iter().zip(&rows.pairs) {
            let others = (first..).zip(of_anchor).filter(|(other, _)| other != anchor);
            others.for_each(|(other, row)| add_kin(chat, (*anchor, other), row, place - first, into));
        }
    }
}

/// Adds such pairs for a later pass, after `looks` others, among the remaining candidates.
pub fn again(chat: &Chat, scorers: &Scorers, looks: usize, into: &mut Examples) {
    if !chat.kind.has_tags() {
        return;
    }
    for (place, first, known) in asked_about(chat) {
        let anchors: Vec<usize> = known.iter().map(|anchor| anchor - first).collect();
        let (asking, before, evidence) = (chat.asking(place, ""), chat.before(place), &chat.prepared.evidence);
        let example = Example::of(asking, &before, evidence, scorers);
        let rows = example.map_or_else(Vec::new, |example| example.refine_rows(&anchors, looks));
        for (anchor, of_anchor) in known.iter().zip(&rows) {
            of_anchor.iter().for_each(|(other, row)| add_kin(chat, (*anchor, first + other), row, place - first, into));
        }
    }
}

fn add_kin(chat: &Chat, (anchor, other): (usize, usize), row: &[f64], candidates: usize, into: &mut Examples) {
    let is_kin = flag(chat.truth.are_kin(anchor, other));
    into.row(row.iter().map(|value| *value as f32), is_kin, 0.0);
    // A long window must not weigh more than a short one.
    let weight = 30.0 / candidates.max(20) as f32;
    into.close(Weighed { none: Some(1.0 - is_kin), weight, fold: chat.fold });
}

/// Returns places with the start of their window and up to five of the last eight messages before them. Places are all
/// triggers and every fourteenth message.
fn asked_about(chat: &Chat) -> Vec<(usize, usize, Vec<usize>)> {
    const BEGIN: usize = 20;
    const STEP: usize = 14;
    const LAST: usize = 8;
    const TAKEN: usize = 5;
    let mut places: Vec<usize> = (BEGIN..chat.prepared.messages.len()).step_by(STEP).chain(tagged(chat)).collect();
    places.sort_unstable();
    places.dedup();
    let anchors = |place: usize| {
        let first = place.saturating_sub(WINDOW);
        let mut known: Vec<usize> =
            (place.saturating_sub(LAST).max(first)..place).filter(|other| chat.truth.is_known(*other)).collect();
        known.sort_by(|a, b| chat.chance(*a, place as u64).total_cmp(&chat.chance(*b, place as u64)));
        known.truncate(TAKEN);
        (place, first, known)
    };
    places.into_iter().map(anchors).collect()
}

/// Returns the places of a chat's triggers.
fn tagged(chat: &Chat) -> Vec<usize> {
    chat.queries.iter().map(|query| chat.place_of(query.ask.message_id)).collect()
}

fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}
