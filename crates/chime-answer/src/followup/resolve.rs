//! Resolves a follow-up in seven steps: extract, stored, reset, preserve, refine, item question, entities.

use crate::followup::classify::{ClassifiedQuestion, ItemPosition};
use crate::followup::entities::{is_valid_name, named_in_answer, shown_people};
use crate::followup::item_question::mentioned;
use crate::followup::preserve::{excluded, preserve, reset, restore};
use crate::followup::references::{self, PronounTarget, reference};
use crate::followup::signals::{is_generic_kind, refine};
use crate::followup::words::{FoldedToken, tokens};
use chime_core::{
    AnswerId, Clarification, Evidence, FollowUp, FoundBy, Frame, Intent, Item, NamedEntity, Price, Reset, Unclear,
};

/// Confidence in a name if it is the only one found in the text of an answer.
const IN_TEXT_CONFIDENCE: f64 = 0.8;
const NAMED_CONFIDENCE: f64 = 0.95;

/// The suggestion that a question may follow up on.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSuggestion {
    pub answer: AnswerId,
    pub found_by: FoundBy,
    pub frame: Frame,
    /// Items of this answer, in its order.
    pub listed: Vec<Item>,
    /// All items suggested since the exclude list was last reset, oldest first.
    pub shown: Vec<Item>,
    /// The item asked about last.
    pub last_item: Option<Item>,
    /// Text of the answer, searched for names if no item has any.
    pub text: String,
}

#[derive(Debug, Clone, Copy)]
pub struct FollowUpTurn<'a> {
    pub ask: &'a str,
    pub reading: &'a ClassifiedQuestion,
    pub stored: Option<&'a StoredSuggestion>,
}

/// Resolves a follow-up. An ambiguous reference becomes a clarifying question in its frame.
pub fn resolve(turn: &FollowUpTurn<'_>) -> FollowUp {
    let mut steps = Steps::extract(turn);
    steps.stored();
    steps.reset();
    steps.preserve();
    steps.refine();
    steps.item_question();
    steps.entities();
    steps.follow_up
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
    match open.about {
        Unclear::Person => follow_up.frame.entities = vec![NamedEntity::person(name)],
        Unclear::Item => follow_up.items = follow_up.items.get(candidate).cloned().into_iter().collect(),
        Unclear::Suggestion => {}
    }
    follow_up
}

/// The follow-up while it is resolved.
struct Steps<'a> {
    turn: &'a FollowUpTurn<'a>,
    /// `None` once the member starts over.
    stored: Option<&'a StoredSuggestion>,
    follow_up: FollowUp,
}

impl<'a> Steps<'a> {
    /// 1. Fills the frame with what the question itself states.
    fn extract(turn: &'a FollowUpTurn<'a>) -> Self {
        let follow_up = FollowUp { frame: turn.reading.frame(), ..FollowUp::default() };
        Self { turn, stored: turn.stored, follow_up }
    }

    fn frame(&mut self) -> &mut Frame {
        &mut self.follow_up.frame
    }

    /// 2. Links the stored suggestion. Without one, the question is no follow-up.
    fn stored(&mut self) {
        let Some(stored) = self.stored else {
            if self.follow_up.frame.intent.needs_suggestion() && self.follow_up.frame.intent != Intent::Compare {
                self.frame().intent = Intent::Ask;
            }
            return;
        };
        // "More films" after books asks for something new.
        let named = self.turn.reading.signals.kinds.first().filter(|kind| !is_generic_kind(kind));
        let differs = stored.frame.kind.as_ref().is_some_and(|kind| !is_generic_kind(kind) && Some(kind) != named);
        if self.follow_up.frame.intent == Intent::More && named.is_some() && differs {
            self.frame().intent = Intent::Suggest;
        }
        self.follow_up.follows = Some(stored.answer);
        self.follow_up.found_by = Some(stored.found_by);
    }

    /// 3. Decides if the items shown before stay excluded from new suggestions. This must precede inheriting fields.
    fn reset(&mut self) {
        let Some(stored) = self.stored else { return };
        self.follow_up.reset = reset(&self.follow_up.frame, &stored.frame, &self.turn.reading.signals);
        match self.follow_up.reset {
            None => self.follow_up.excluded = excluded(&stored.shown),
            Some(Reset::StartOver) => self.stored = None,
            Some(Reset::KindChanged | Reset::RecipientChanged | Reset::OccasionChanged) => {}
        }
    }

    /// 4. Inherits fields from the stored frame.
    fn preserve(&mut self) {
        let Some(stored) = self.stored else { return };
        let mut taken = restore(&mut self.follow_up.frame, &stored.frame);
        taken.extend(preserve(&mut self.follow_up.frame, &stored.frame));
        self.follow_up.inherited = taken.into_iter().map(str::to_owned).collect();
    }

    /// 5. Applies the changes that the question asks for, such as a budget, "cheaper" or another kind.
    fn refine(&mut self) {
        let cheapest = self.stored.and_then(|stored| cheapest(&stored.shown));
        let forced = self.follow_up.frame.intent == Intent::More && self.follow_up.frame.kind.is_some();
        let mut signals = self.turn.reading.signals.clone();
        if forced {
            // With the intent `More`, the kind is already the inherited one.
            signals.kinds.clear();
        }
        refine(&mut self.follow_up.frame, &signals, cheapest);
    }

    /// 6. Finds the shown items that a question is about, by title, position or pronoun.
    fn item_question(&mut self) {
        let Some(stored) = self.stored else { return };
        let reading = self.turn.reading;
        let refuses = reading.signals.not_that;
        let places = references::at_places(&reading.mentions.places, &stored.listed);
        let mut found: Vec<(Item, chime_core::Reference)> = mentioned(self.turn.ask, &stored.shown)
            .into_iter()
            .map(|item| (item.clone(), reference(item.title(), item.title(), Evidence::Named, NAMED_CONFIDENCE)))
            .collect();
        if found.is_empty() {
            found = places;
        }
        let intent = self.follow_up.frame.intent;
        let asks = reading.is_question || intent == Intent::ItemQuestion;
        let is_about =
            asks && !reading.searches && !matches!(intent, Intent::Suggest | Intent::EntitySearch | Intent::Budget);
        if found.is_empty() && is_about && !refuses {
            return self.pronoun_of_item(stored);
        }
        let titles: Vec<String> = found.iter().map(|(item, _)| item.title().to_owned()).collect();
        if refuses {
            let refused = titles.iter().map(|title| format!("not \"{title}\""));
            self.follow_up.frame.constraints.extend(refused);
        } else if intent == Intent::Compare || is_about {
            if intent != Intent::Compare && !found.is_empty() {
                self.frame().intent = Intent::ItemQuestion;
            }
            self.follow_up.items = found.iter().map(|(item, _)| item.clone()).collect();
        } else {
            return;
        }
        self.follow_up.references.extend(found.into_iter().map(|(_, reference)| reference));
    }

    /// Resolves the pronoun in "Is that one open on Mondays?"
    fn pronoun_of_item(&mut self, stored: &StoredSuggestion) {
        let mentions = &self.turn.reading.mentions;
        let Some(said) = mentions.item.as_deref() else { return self.without_item() };
        match references::item(&stored.listed, stored.last_item.as_ref()) {
            PronounTarget::Resolved(item, by, confidence) => {
                self.follow_up.references.push(reference(said, item.title(), by, confidence));
                self.follow_up.items = vec![item];
                self.frame().intent = Intent::ItemQuestion;
            }
            // "It" alone may mean anything in the conversation.
            PronounTarget::Undecided(items) if mentions.item_is_plain => {
                let candidates = items.iter().map(|item| item.title().to_owned()).collect();
                self.frame().intent = Intent::ItemQuestion;
                self.follow_up.items = items;
                self.ask_back(Unclear::Item, said, candidates);
            }
            PronounTarget::Undecided(_) | PronounTarget::Nothing => self.without_item(),
        }
    }

    fn ask_back(&mut self, about: Unclear, said: &str, candidates: Vec<String>) {
        self.frame().clarification =
            Some(Clarification { about, candidates, answers: Vec::new(), ask: said.to_owned() });
    }

    fn without_item(&mut self) {
        if self.follow_up.frame.intent == Intent::ItemQuestion {
            self.frame().intent = Intent::Ask;
        }
    }

    /// 7. Finds the people that are searched for: by names in the question, names of shown items, or pronouns.
    fn entities(&mut self) {
        self.follow_up.frame.entities.retain(|entity| is_valid_name(&entity.name));
        let intent = self.follow_up.frame.intent;
        if !intent.suggests() {
            return;
        }
        if !self.turn.reading.mentions.names.is_empty() {
            self.name_fully();
            self.frame().intent = Intent::EntitySearch;
            return;
        }
        let Some(stored) = self.stored else { return };
        let shown = shown_people(&tokens(self.turn.ask), &stored.shown);
        if !shown.is_empty() {
            for (name, span) in &shown {
                let said = span.written(self.turn.ask, &tokens(self.turn.ask));
                self.follow_up.references.push(reference(&said, name, Evidence::Named, NAMED_CONFIDENCE));
            }
            self.follow_up.frame.entities = shown.into_iter().map(|(name, _)| NamedEntity::person(name)).collect();
            self.search_by_entity(stored);
        } else if let Some(said) = self.turn.reading.mentions.person.clone() {
            self.pronoun_of_person(stored, &said);
        }
    }

    /// Completes partial names in the question from the items.
    fn name_fully(&mut self) {
        let Some(stored) = self.stored else { return };
        for entity in &mut self.follow_up.frame.entities {
            let known = shown_people(&tokens(&entity.name), &stored.shown);
            if let Some((name, _)) = known.first().filter(|(name, _)| *name != entity.name) {
                entity.name.clone_from(name);
            }
        }
    }

    fn pronoun_of_person(&mut self, stored: &StoredSuggestion, said: &str) {
        let mut known = references::person(&stored.frame, &stored.shown, stored.last_item.as_ref());
        if known == PronounTarget::Nothing {
            known = match named_in_answer(&stored.text).as_slice() {
                [] => PronounTarget::Nothing,
                [only] => PronounTarget::Resolved(only.clone(), Evidence::Only, IN_TEXT_CONFIDENCE),
                several => PronounTarget::Undecided(several.to_vec()),
            };
        }
        match known {
            PronounTarget::Nothing => return,
            PronounTarget::Resolved(name, by, confidence) => {
                self.follow_up.references.push(reference(said, &name, by, confidence));
                self.follow_up.frame.entities = vec![NamedEntity::person(name)];
            }
            PronounTarget::Undecided(candidates) => {
                self.follow_up.frame.entities.clear();
                self.ask_back(Unclear::Person, said, candidates);
            }
        }
        self.search_by_entity(stored);
    }

    fn search_by_entity(&mut self, stored: &StoredSuggestion) {
        self.frame().intent = Intent::EntitySearch;
        if self.follow_up.frame.kind.as_deref().is_none_or(is_generic_kind) {
            self.follow_up.frame.kind.clone_from(&stored.frame.kind);
        }
    }
}

fn cheapest(shown: &[Item]) -> Option<&Price> {
    shown.iter().filter_map(|item| item.shown.price.as_ref()).min_by_key(|price| price.amount)
}

#[cfg(test)]
mod tests;
