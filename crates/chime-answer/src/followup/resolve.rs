//! Resolves a follow-up: which wishes and limits it inherits from the suggestion that it continues, which items are
//! excluded, and which items and people it means.

use crate::followup::classify::{ClassifiedQuestion, ItemPosition, is_generic_kind};
use crate::followup::item_question::mentioned;
use crate::followup::references::{self, PronounTarget, reference};
use crate::followup::words::{FoldedToken, fold, tokens};
use chime_core::{Clarification, Evidence, FollowUp, Frame, Intent, Item, Price, Reference, Reset, SuggestedList};

const NAMED_CONFIDENCE: f64 = 0.95;
/// Maximum number of items that are excluded from new suggestions; the newest count.
const MAX_EXCLUDED: usize = 30;
/// Resolves a follow-up. An ambiguous reference becomes a clarifying question in its frame.
pub fn resolve(ask: &str, reading: &ClassifiedQuestion, stored: Option<&SuggestedList>) -> FollowUp {
    let ClassifiedQuestion { intent, kind, budget, .. } = reading.clone();
    // "Which hotel did we book?" asks for no hotels.
    let kind = kind.filter(|_| intent.suggests() || !reading.has_question_word);
    let frame = Frame { intent, kind, budget, ..Frame::default() };
    let mut follow_up = FollowUp { frame, ..FollowUp::default() };
    if let Some(stored) = stored {
        follow_up.follows = Some(stored.answer);
        follow_up.found_by = Some(stored.found_by);
    }
    let continued = stored.filter(|_| !reading.start_over);
    match continued {
        Some(stored) => {
            inherit(&mut follow_up, reading, stored);
            about_items(&mut follow_up, ask, reading, stored);
            about_people(&mut follow_up, reading, stored);
        }
        None => {
            follow_up.reset = stored.map(|_| Reset::StartOver);
            if intent.needs_suggestion() {
                follow_up.frame.intent = Intent::Ask;
            }
        }
    }
    follow_up
}

/// Returns the index of the candidate that a member's reply to the clarifying question `pending` chooses.
pub fn choose(pending: &Clarification, ask: &str, reading: &ClassifiedQuestion) -> Option<usize> {
    let found = tokens(ask);
    let named = |name: &String| {
        let name = tokens(name);
        let telling = |token: &FoldedToken| token.word.chars().count() > 2;
        name.iter().any(|word| telling(word) && found.iter().any(|said| said.word == word.word))
    };
    let mut hits = pending.candidates.iter().enumerate().filter(|(_, name)| named(name));
    if let (Some((at, _)), None) = (hits.next(), hits.next()) {
        return Some(at);
    }
    let nth = reading.mentions.places.first().map(|(_, place)| match place {
        ItemPosition::Nth(nth) => nth.saturating_sub(1),
        ItemPosition::Last => pending.candidates.len().saturating_sub(1),
    });
    let number = || found.first()?.word.parse::<usize>().ok()?.checked_sub(1);
    nth.or_else(number).filter(|at| *at < pending.candidates.len())
}

/// Returns the follow-up that waited for an answer to a clarifying question, completed with the candidate that the
/// member chose.
pub fn answered(mut follow_up: FollowUp, candidate: usize) -> FollowUp {
    let Some(open) = follow_up.frame.clarification.take() else { return follow_up };
    let Some(name) = open.candidates.get(candidate) else { return follow_up };
    follow_up.references.push(reference(&open.ask, name, Evidence::Member, 1.0));
    follow_up.frame.people = vec![name.clone()];
    follow_up
}

/// Copies from the suggestion what the question leaves open: earlier wishes, kind, price and people.
fn inherit(follow_up: &mut FollowUp, reading: &ClassifiedQuestion, stored: &SuggestedList) {
    let frame = &mut follow_up.frame;
    let is_specific = |kind: &Option<String>| kind.as_deref().is_some_and(|kind| !is_generic_kind(kind));
    if is_specific(&frame.kind) && is_specific(&stored.frame.kind) && frame.kind != stored.frame.kind {
        // "More films" after books asks for something new, and not for films by the authors.
        if matches!(frame.intent, Intent::More | Intent::EntitySearch) {
            frame.intent = Intent::Suggest;
        }
        follow_up.reset = Some(Reset::KindChanged);
    }
    frame.wanted.clone_from(&stored.frame.wanted);
    let keeps_rest = matches!(frame.intent, Intent::More | Intent::Cheaper | Intent::Budget);
    if (keeps_rest || frame.intent == Intent::EntitySearch) && !is_specific(&frame.kind) {
        frame.kind = stored.frame.kind.clone().or(frame.kind.take());
    }
    if keeps_rest {
        frame.people.clone_from(&stored.frame.people);
    }
    follow_up.excluded = excluded(&stored.shown, frame.kind.as_deref());
    frame.budget = match (frame.budget.take(), reading.cheaper) {
        (Some(named), _) => {
            let currency = named.currency.or_else(|| stored.frame.budget.as_ref()?.currency.clone());
            Some(Price { currency, ..named })
        }
        // Without a limit so far, "cheaper" sets none: one cheap thing among those shown would exclude nearly all.
        (None, true) => stored.frame.budget.clone().map(|limit| Price { amount: limit.amount.cheaper(), ..limit }),
        (None, false) => stored.frame.budget.clone(),
    };
    // If only some of what was shown is above a new limit, the rest may be the answer.
    if let (Intent::Budget, Some(limit)) = (frame.intent, &frame.budget) {
        let is_above = |item: &Item| item.shown.price.as_ref().is_some_and(|price| price.amount > limit.amount);
        if follow_up.excluded.iter().any(is_above) {
            follow_up.excluded.retain(is_above);
        }
    }
}

/// Returns the newest shown items that could be suggested again as `kind`, at most 30, oldest first,
/// without repeated titles.
pub fn excluded(shown: &[Item], kind: Option<&str>) -> Vec<Item> {
    let is_other = |item: &Item| matches!((kind, item.shown.kind.as_deref()), (Some(kind), Some(old)) if kind != old && ![kind, old].into_iter().any(is_generic_kind));
    let mut kept: Vec<Item> = Vec::new();
    for item in shown.iter().rev().filter(|item| !is_other(item)) {
        let title = fold(item.title());
        if !kept.iter().any(|other| fold(other.title()) == title) {
            kept.push(item.clone());
        }
    }
    kept.truncate(MAX_EXCLUDED);
    kept.reverse();
    kept
}

/// Finds the shown items that a question is about, by title, position or pronoun.
fn about_items(follow_up: &mut FollowUp, ask: &str, reading: &ClassifiedQuestion, stored: &SuggestedList) {
    let mut found: Vec<(Item, Reference)> = mentioned(ask, &stored.shown)
        .into_iter()
        .map(|item| (item.clone(), reference(item.title(), item.title(), Evidence::Named, NAMED_CONFIDENCE)))
        .collect();
    if found.is_empty() {
        found = references::at_places(&reading.mentions.places, &stored.items);
    }
    let intent = follow_up.frame.intent;
    let asks = reading.is_question || intent == Intent::ItemQuestion;
    let is_about =
        asks && !reading.searches && !matches!(intent, Intent::Suggest | Intent::EntitySearch | Intent::Budget);
    if is_about && !reading.not_that {
        if found.is_empty() {
            return item_of_pronoun(follow_up, reading, stored);
        }
        follow_up.frame.intent = Intent::ItemQuestion;
        follow_up.items = found.iter().map(|(item, _)| item.clone()).collect();
    }
    if follow_up.frame.intent != Intent::Ask {
        follow_up.references.extend(found.into_iter().map(|(_, reference)| reference));
    }
}

/// Resolves the pronoun in "Is that one open on Mondays?" Without a clear target, the model reads the list.
fn item_of_pronoun(follow_up: &mut FollowUp, reading: &ClassifiedQuestion, stored: &SuggestedList) {
    let said = reading.mentions.item.as_deref();
    match said.zip(references::item(&stored.items, stored.last_item.as_ref())) {
        Some((said, (item, by, confidence))) => {
            follow_up.frame.intent = Intent::ItemQuestion;
            follow_up.references.push(reference(said, item.title(), by, confidence));
            follow_up.items = vec![item];
        }
        None if follow_up.frame.intent == Intent::ItemQuestion => follow_up.frame.intent = Intent::Ask,
        None => {}
    }
}

/// Finds the makers whose items are wanted: those of shown items that the question names, else the one that a pronoun
/// means.
fn about_people(follow_up: &mut FollowUp, reading: &ClassifiedQuestion, stored: &SuggestedList) {
    let frame = &mut follow_up.frame;
    if !frame.intent.suggests() {
        return;
    }
    if !reading.mentions.people.is_empty() {
        let named = |(name, said): &(String, String)| reference(said, name, Evidence::Named, NAMED_CONFIDENCE);
        follow_up.references.extend(reading.mentions.people.iter().map(named));
        frame.people = reading.mentions.people.iter().map(|(name, _)| name.clone()).collect();
    } else if let Some(said) = reading.mentions.person.as_deref().filter(|_| follow_up.reset.is_none()) {
        // "More by the author of the second"
        let placed = references::at_places(&reading.mentions.places, &stored.items);
        let target = match placed.iter().find_map(|(item, _)| references::only_person(item)) {
            Some(name) => PronounTarget::Resolved(name, Evidence::Position, NAMED_CONFIDENCE),
            None => references::person(&stored.frame, &stored.shown, stored.last_item.as_ref()),
        };
        match target {
            // No maker is known: the model reads the list.
            PronounTarget::Nothing => {
                if frame.intent == Intent::EntitySearch {
                    frame.intent = Intent::Ask;
                }
                return;
            }
            PronounTarget::Resolved(name, by, confidence) => {
                follow_up.references.push(reference(said, &name, by, confidence));
                frame.people = vec![name];
            }
            PronounTarget::Undecided(candidates) => {
                frame.people.clear();
                frame.clarification = Some(Clarification { candidates, ask: said.to_owned() });
            }
        }
    } else {
        return;
    }
    frame.intent = Intent::EntitySearch;
    if frame.kind.as_deref().is_none_or(is_generic_kind) {
        frame.kind.clone_from(&stored.frame.kind);
    }
}

#[cfg(test)]
mod tests;
