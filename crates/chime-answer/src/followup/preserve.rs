//! Decides which fields a follow-up inherits from the frame of the earlier question, and if items shown before may be
//! suggested again.

use crate::followup::signals::{RefinementSignals, is_generic_kind};
use crate::followup::words::fold;
use chime_core::{Frame, Intent, Item, Reset};

/// Maximum number of items that are excluded from new suggestions; the newest count.
pub const MAX_EXCLUDED: usize = 30;
/// Fields that can be inherited, by their stored names.
pub const FIELDS: [&str; 8] =
    ["kind", "popular", "budget", "recipient", "occasion", "entities", "subject", "item_language"];

/// Returns the reason why items shown before may be suggested again; `None` if they stay excluded. `asked` must not
/// have inherited any field yet.
pub fn reset(asked: &Frame, stored: &Frame, signals: &RefinementSignals) -> Option<Reset> {
    if signals.start_over {
        return Some(Reset::StartOver);
    }
    if matches!(asked.intent, Intent::More | Intent::Budget) {
        return None;
    }
    let is_switch = |new: &Option<String>, old: &Option<String>| matches!((new, old), (Some(new), Some(old)) if !is_generic_kind(new) && !is_generic_kind(old) && new != old);
    let differs = |new: &Option<String>, old: &Option<String>| matches!((new, old), (Some(new), old) if Some(new) != old.as_ref());
    if is_switch(&asked.kind, &stored.kind) {
        return Some(Reset::KindChanged);
    }
    if differs(&asked.recipient, &stored.recipient) {
        return Some(Reset::RecipientChanged);
    }
    differs(&asked.occasion, &stored.occasion).then_some(Reset::OccasionChanged)
}

/// Returns the newest items of `shown`, at most [`MAX_EXCLUDED`], oldest first, without repeated titles.
pub fn excluded(shown: &[Item]) -> Vec<Item> {
    let mut kept: Vec<Item> = Vec::new();
    for item in shown.iter().rev() {
        let title = fold(item.title());
        if !kept.iter().any(|other| fold(other.title()) == title) {
            kept.push(item.clone());
        }
    }
    kept.truncate(MAX_EXCLUDED);
    kept.reverse();
    kept
}

/// Copies budget, recipient and occasion from the earlier frame if the question does not name them. These stay for
/// every kind of question. Returns the names of the copied fields.
pub fn restore(frame: &mut Frame, stored: &Frame) -> Vec<&'static str> {
    let mut taken = Vec::new();
    if frame.budget.as_ref().is_none_or(chime_core::Budget::is_open) && stored.budget.is_some() {
        frame.budget.clone_from(&stored.budget);
        taken.push("budget");
    }
    fill(&mut frame.recipient, &stored.recipient, "recipient", &mut taken);
    fill(&mut frame.occasion, &stored.occasion, "occasion", &mut taken);
    taken
}

/// Copies the other fields from the earlier frame, depending on the intent of the question. Returns the names of the
/// copied fields.
pub fn preserve(frame: &mut Frame, stored: &Frame) -> Vec<&'static str> {
    let mut taken = Vec::new();
    let inherits = frame.intent.inherits();
    let forced = frame.intent == Intent::More;
    let keeps_kind = inherits || matches!(frame.intent, Intent::EntitySearch);
    let is_open = frame.kind.as_deref().is_none_or(is_generic_kind);
    if keeps_kind && stored.kind.is_some() && (forced || is_open) && frame.kind != stored.kind {
        frame.kind.clone_from(&stored.kind);
        taken.push("kind");
    }
    if !inherits {
        return taken;
    }
    if !frame.popular && stored.popular {
        frame.popular = true;
        taken.push("popular");
    }
    if !stored.entities.is_empty() && frame.entities.is_empty() {
        frame.entities.clone_from(&stored.entities);
        taken.push("entities");
    }
    if stored.subject.is_some() && (forced || frame.subject.is_none()) && frame.subject != stored.subject {
        frame.subject = joined(stored.subject.as_deref(), frame.subject.as_deref().filter(|_| forced));
        taken.push("subject");
    }
    fill(&mut frame.item_language, &stored.item_language, "item_language", &mut taken);
    let missing: Vec<String> =
        stored.constraints.iter().filter(|said| !frame.constraints.contains(said)).cloned().collect();
    if !missing.is_empty() {
        frame.constraints.splice(0..0, missing);
        taken.push("constraints");
    }
    taken
}

/// Joins the earlier subject and the addition in the new question: "fantasy", then "with dragons".
fn joined(stored: Option<&str>, added: Option<&str>) -> Option<String> {
    match (stored, added) {
        (Some(stored), Some(added)) if !stored.contains(added) => Some(format!("{stored}; {added}")),
        (stored, added) => stored.or(added).map(str::to_owned),
    }
}

fn fill(field: &mut Option<String>, stored: &Option<String>, name: &'static str, taken: &mut Vec<&'static str>) {
    if field.is_none() && stored.is_some() {
        field.clone_from(stored);
        taken.push(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::{Amount, AnswerId, Budget, ItemId, NamedEntity, Suggested};

    fn frame(intent: Intent, kind: Option<&str>) -> Frame {
        Frame { intent, kind: kind.map(str::to_owned), ..Frame::default() }
    }

    fn books() -> Frame {
        Frame {
            subject: Some("fantasy".to_owned()),
            popular: true,
            budget: Some(Budget { max: Some(Amount::units(20)), ..Budget::default() }),
            entities: vec![NamedEntity::person("Tolkien")],
            recipient: Some("mother".to_owned()),
            constraints: vec!["no horror".to_owned()],
            ..frame(Intent::Suggest, Some("book"))
        }
    }

    #[test]
    fn more_is_forced_to_the_kind_of_the_suggestion() {
        let mut more = frame(Intent::More, Some("film"));
        preserve(&mut more, &books());
        assert_eq!(more.kind.as_deref(), Some("book"));
        assert!(more.popular);
        assert_eq!(more.entities, [NamedEntity::person("Tolkien")]);
    }

    #[test]
    fn a_new_specific_kind_never_inherits_it_and_a_generic_one_does() {
        let mut cheaper = frame(Intent::Cheaper, Some("film"));
        preserve(&mut cheaper, &books());
        assert_eq!(cheaper.kind.as_deref(), Some("film"));
        let mut generic = frame(Intent::Cheaper, Some("gift"));
        preserve(&mut generic, &books());
        assert_eq!(generic.kind.as_deref(), Some("book"));
    }

    #[test]
    fn an_entity_search_keeps_the_kind_and_nothing_else() {
        let mut search = frame(Intent::EntitySearch, None);
        assert_eq!(preserve(&mut search, &books()), ["kind"]);
        assert!(search.constraints.is_empty());
    }

    #[test]
    fn every_ask_keeps_budget_recipient_and_occasion_that_it_does_not_name() {
        let mut plain = frame(Intent::Ask, None);
        assert_eq!(restore(&mut plain, &books()), ["budget", "recipient"]);
        let own = Budget { max: Some(Amount::units(5)), ..Budget::default() };
        let mut named = Frame { budget: Some(own.clone()), ..frame(Intent::Suggest, None) };
        assert_eq!(restore(&mut named, &books()), ["recipient"]);
        assert_eq!(named.budget, Some(own));
    }

    #[test]
    fn the_exclude_list_starts_anew_between_two_specific_kinds_and_for_another_person() {
        let none = RefinementSignals::default();
        let cards = frame(Intent::Suggest, Some("gift_card"));
        assert_eq!(reset(&cards, &books(), &none), Some(Reset::KindChanged));
        assert_eq!(reset(&cards, &frame(Intent::Suggest, Some("gift")), &none), None);
        assert_eq!(reset(&frame(Intent::Suggest, Some("gift")), &books(), &none), None);
        let father = Frame { recipient: Some("father".to_owned()), ..frame(Intent::Suggest, None) };
        assert_eq!(reset(&father, &books(), &none), Some(Reset::RecipientChanged));
        let birthday = Frame { occasion: Some("birthday".to_owned()), ..frame(Intent::Suggest, None) };
        assert_eq!(reset(&birthday, &books(), &none), Some(Reset::OccasionChanged));
    }

    #[test]
    fn more_and_a_budget_alone_never_start_it_anew_and_starting_over_does() {
        let none = RefinementSignals::default();
        for intent in [Intent::More, Intent::Budget] {
            let film = Frame { recipient: Some("father".to_owned()), ..frame(intent, Some("film")) };
            assert_eq!(reset(&film, &books(), &none), None);
        }
        let over = RefinementSignals { start_over: true, ..RefinementSignals::default() };
        assert_eq!(reset(&frame(Intent::More, None), &books(), &over), Some(Reset::StartOver));
    }

    #[test]
    fn the_newest_thirty_items_are_excluded_each_once() {
        let item = |n: u32| Item {
            id: ItemId { answer: AnswerId(ulid::Ulid(1)), position: n },
            shown: Suggested { title: format!("Book {}", n % 70), ..Suggested::default() },
        };
        let shown: Vec<Item> = (0..80).map(item).collect();
        let kept = excluded(&shown);
        assert_eq!(kept.len(), MAX_EXCLUDED);
        assert_eq!(kept.last().map(Item::title), Some("Book 9"));
        assert_eq!(kept.first().map(Item::title), Some("Book 50"));
    }
}
