//! Resolves references to people and items shown before: "he", "the same author", "that one", "the second".

use crate::followup::classify::ItemPosition;
use crate::followup::names::{is_same_name, shown_people};
use crate::followup::words::tokens;
use chime_core::{Evidence, Frame, Item, Reference};

const SURE: f64 = 0.95;
/// Confidence in the newest of several candidates.
const LIKELY: f64 = 0.7;

#[derive(Debug, Clone, PartialEq)]
pub enum PronounTarget<T> {
    Nothing,
    Resolved(T, Evidence, f64),
    /// Several candidates are equally likely.
    Undecided(Vec<T>),
}

/// Resolves a pronoun for a person: the only person known, else the one whose items are wanted or whom the members'
/// words name first, else the maker of the item asked about last, else the only person in the newest answer that names
/// any.
pub fn person(stored: &Frame, shown: &[Item], last: Option<&Item>) -> PronounTarget<String> {
    let candidates = people(stored, shown);
    let named = || stored.wanted.iter().flat_map(|words| shown_people(&tokens(words), shown)).next();
    let primary = || stored.people.first().cloned().or_else(|| named().map(|(name, _)| name));
    match candidates.as_slice() {
        [] => PronounTarget::Nothing,
        [only] => PronounTarget::Resolved(only.clone(), Evidence::Only, SURE),
        _ => match (primary(), last.and_then(only_person).or_else(|| newest_person(shown))) {
            (Some(primary), _) => PronounTarget::Resolved(primary, Evidence::Primary, SURE),
            (None, Some(newest)) => PronounTarget::Resolved(newest, Evidence::Last, LIKELY),
            (None, None) => PronounTarget::Undecided(candidates),
        },
    }
}

/// Returns the people of the frame and of all shown items, in the order of their first appearance.
fn people(stored: &Frame, shown: &[Item]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in stored.people.iter().chain(shown.iter().flat_map(|item| &item.shown.people)) {
        if !found.iter().any(|other| is_same_name(other, name)) {
            found.push(name.clone());
        }
    }
    found
}

pub fn only_person(item: &Item) -> Option<String> {
    let [person] = item.shown.people.as_slice() else { return None };
    Some(person.clone())
}

/// Returns the person of the newest answer that names any; `None` if that answer names several.
fn newest_person(shown: &[Item]) -> Option<String> {
    let newest = shown.iter().rev().find(|item| !item.shown.people.is_empty())?.id.answer;
    let of_newest: Vec<&String> =
        shown.iter().filter(|item| item.id.answer == newest).flat_map(|item| &item.shown.people).collect();
    let (first, rest) = of_newest.split_first()?;
    rest.iter().all(|other| is_same_name(first, other)).then(|| (*first).clone())
}

/// Returns the items at the positions that the question names, such as "the second". Positions that the list does not
/// have are ignored, and all if the list has sections that are counted each.
pub fn at_places(places: &[(String, ItemPosition)], listed: &[Item]) -> Vec<(Item, Reference)> {
    if !listed.is_sorted_by(|one, next| one.id.position < next.id.position) {
        return Vec::new();
    }
    let found = places.iter().filter_map(|(said, place)| {
        let item = match place {
            ItemPosition::Nth(nth) => listed.iter().find(|item| usize::try_from(item.id.position) == Ok(*nth))?,
            ItemPosition::Last => listed.last()?,
        };
        Some((item.clone(), reference(said, item.title(), Evidence::Position, SURE)))
    });
    found.collect()
}

/// Resolves "it" or "that one": the item asked about last, else the only item of the list.
pub fn item(listed: &[Item], last: Option<&Item>) -> Option<(Item, Evidence, f64)> {
    let only = || if let [only] = listed { Some((only.clone(), Evidence::Only, SURE)) } else { None };
    last.map(|last| (last.clone(), Evidence::Last, LIKELY)).or_else(only)
}

pub fn reference(said: &str, means: &str, by: Evidence, confidence: f64) -> Reference {
    Reference { said: said.to_owned(), means: means.to_owned(), by, confidence }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::{AnswerId, ItemId, Suggested};

    fn shown(answers: &[&[(&str, &str)]]) -> Vec<Item> {
        let item = |answer: u128, position: u32, (title, person): (&str, &str)| Item {
            id: ItemId { answer: AnswerId(ulid::Ulid(answer)), position },
            shown: Suggested {
                title: title.to_owned(),
                people: if person.is_empty() { vec![] } else { vec![person.to_owned()] },
                ..Suggested::default()
            },
        };
        let of_answer = |(answer, items): (u128, &&[(&str, &str)])| {
            (1..).zip(*items).map(|(position, it)| item(answer, position, *it)).collect::<Vec<_>>()
        };
        (1..).zip(answers).flat_map(of_answer).collect()
    }

    #[test]
    fn one_author_is_meant_at_once() {
        let books = shown(&[&[("The Hobbit", "J.R.R. Tolkien"), ("Roverandom", "j.r.r. tolkien")]]);
        let found = person(&Frame::default(), &books, None);
        assert_eq!(found, PronounTarget::Resolved("J.R.R. Tolkien".to_owned(), Evidence::Only, 0.95));
    }

    #[test]
    fn the_one_that_the_original_ask_names_goes_first() {
        let books = shown(&[&[("Narnia", "C.S. Lewis"), ("The Hobbit", "J.R.R. Tolkien")]]);
        let stored = Frame { wanted: vec!["näita raamatuid Tolkienilt ja Lewiselt".to_owned()], ..Frame::default() };
        let found = person(&stored, &books, None);
        assert_eq!(found, PronounTarget::Resolved("J.R.R. Tolkien".to_owned(), Evidence::Primary, 0.95));
    }

    #[test]
    fn the_last_is_taken_only_where_it_is_newer_than_the_others() {
        let one_by_one = shown(&[&[("The Hobbit", "Tolkien")], &[("Narnia", "Lewis")]]);
        assert_eq!(
            person(&Frame::default(), &one_by_one, None),
            PronounTarget::Resolved("Lewis".to_owned(), Evidence::Last, 0.7)
        );
        let at_once = shown(&[&[("The Hobbit", "Tolkien"), ("Narnia", "Lewis")]]);
        let both = vec!["Tolkien".to_owned(), "Lewis".to_owned()];
        assert_eq!(person(&Frame::default(), &at_once, None), PronounTarget::Undecided(both));
        assert_eq!(person(&Frame::default(), &[], None), PronounTarget::Nothing);
    }

    #[test]
    fn a_place_that_the_list_does_not_have_means_nothing() {
        let books = shown(&[&[("A", ""), ("B", "")]]);
        let places = [("the second".to_owned(), ItemPosition::Nth(2)), ("the fifth".to_owned(), ItemPosition::Nth(5))];
        let found: Vec<String> = at_places(&places, &books).into_iter().map(|(_, it)| it.means).collect();
        assert_eq!(found, ["B"]);
        let last = [("the last one".to_owned(), ItemPosition::Last)];
        assert_eq!(at_places(&last, &books)[0].1.means, "B");
    }

    #[test]
    fn that_one_is_the_one_just_asked_about_or_the_only_one() {
        let books = shown(&[&[("A", ""), ("B", "")]]);
        let title = |found: Option<(Item, Evidence, f64)>| found.map(|(it, by, _)| (it.title().to_owned(), by));
        assert_eq!(title(item(&books, books.last())), Some(("B".to_owned(), Evidence::Last)));
        assert_eq!(title(item(&books[..1], None)), Some(("A".to_owned(), Evidence::Only)));
        assert_eq!(item(&books, None), None);
    }
}
