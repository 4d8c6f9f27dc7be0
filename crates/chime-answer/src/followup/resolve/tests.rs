//! Tests of follow-ups, from the text of the question to the resolved frame.

use super::*;
use crate::followup::classify::{ClassifierInput, classify};
use chime_core::{Amount, AnswerId, FoundBy, ItemId, Suggested};

const NOW: AnswerId = AnswerId(ulid::Ulid(9));

fn item(answer: AnswerId, position: u32, title: &str, person: &str, cents: u64) -> Item {
    let price = (cents > 0).then(|| Price { amount: Amount(cents), currency: Some("EUR".to_owned()) });
    let people = if person.is_empty() { Vec::new() } else { vec![person.to_owned()] };
    let shown =
        Suggested { title: title.to_owned(), kind: Some("book".to_owned()), people, price, ..Suggested::default() };
    Item { id: ItemId { answer, position }, shown }
}

fn stored(ask: &str, items: &[(&str, &str, u64)]) -> SuggestedList {
    let reading = classify(&ClassifierInput { text: ask, generic: false, shown: None, language: None });
    let frame = Frame { wanted: vec![ask.to_owned()], ..resolve(ask, &reading, None).frame };
    let listed: Vec<Item> =
        (1..).zip(items).map(|(position, (title, person, cents))| item(NOW, position, title, person, *cents)).collect();
    let shown = listed.clone();
    let asked_by = "Ann".to_owned();
    SuggestedList { answer: NOW, found_by: FoundBy::Thread, asked_by, frame, items: listed, shown, last_item: None }
}

fn follow(ask: &str, stored: &SuggestedList) -> FollowUp {
    let shown = Some(stored.shown.as_slice());
    let reading = classify(&ClassifierInput { text: ask, generic: false, shown, language: None });
    resolve(ask, &reading, Some(stored))
}

fn titles(items: &[Item]) -> Vec<&str> {
    items.iter().map(Item::title).collect()
}

fn max(frame: &Frame) -> Option<String> {
    Some(frame.budget.as_ref()?.amount.to_string())
}

fn names(frame: &Frame) -> Vec<&str> {
    frame.people.iter().map(String::as_str).collect()
}

#[test]
fn more_keeps_kind_and_words_and_shows_nothing_twice() {
    let before = stored("näita populaarseid raamatuid", &[("Kevade", "Oskar Luts", 890), ("Rehepapp", "", 0)]);
    let found = follow("näita rohkem", &before);
    assert_eq!(found.frame.intent, Intent::More);
    assert_eq!(found.frame.kind.as_deref(), Some("book"));
    assert_eq!(found.frame.wanted, ["näita populaarseid raamatuid"]);
    assert_eq!(titles(&found.excluded), ["Kevade", "Rehepapp"]);
}

#[test]
fn cheaper_keeps_the_kind_and_lowers_the_budget() {
    let before = stored("raamatud alla 20 euro", &[("Kevade", "", 890)]);
    let found = follow("odavamaid", &before).frame;
    assert_eq!(
        (found.intent, found.kind.as_deref(), max(&found).as_deref()),
        (Intent::Cheaper, Some("book"), Some("14"))
    );
}

#[test]
fn cheaper_without_a_budget_sets_none() {
    let before = stored("suggest books", &[("A Tale", "", 1250), ("B Tale", "", 990)]);
    assert_eq!(max(&follow("cheaper", &before).frame), None);
}

#[test]
fn another_kind_starts_the_exclude_list_anew_and_a_generic_one_does_not() {
    let books = stored("näita raamatuid", &[("Kevade", "", 0)]);
    let cards = follow("näita kinkekaarte", &books);
    assert_eq!((cards.frame.kind.as_deref(), cards.reset), (Some("gift_card"), Some(Reset::KindChanged)));
    assert!(cards.excluded.is_empty());
    let gifts = stored("näita kingitusi", &[("Pann", "", 0)]);
    let after_gifts = follow("näita raamatuid", &gifts);
    assert_eq!((after_gifts.reset, titles(&after_gifts.excluded)), (None, vec!["Pann"]));
}

#[test]
fn more_of_another_kind_is_a_new_suggestion() {
    let found = follow("more films", &stored("suggest books", &[("Dune", "", 0)]));
    assert_eq!((found.frame.intent, found.frame.kind.as_deref()), (Intent::Suggest, Some("film")));
    assert_eq!(found.reset, Some(Reset::KindChanged));
}

#[test]
fn one_author_is_taken_at_once() {
    let books = [("The Hobbit", "J.R.R. Tolkien", 0), ("Roverandom", "J.R.R. Tolkien", 0)];
    let found = follow("näita veel tema raamatuid", &stored("näita raamatuid", &books));
    assert_eq!(found.frame.clarification, None);
    assert_eq!((found.frame.intent, names(&found.frame)), (Intent::EntitySearch, vec!["J.R.R. Tolkien"]));
    assert_eq!(found.frame.kind.as_deref(), Some("book"));
    assert_eq!(found.references[0].confidence, 0.95);
}

#[test]
fn of_several_authors_the_one_of_the_original_ask_is_taken() {
    let books = [("The Hobbit", "J.R.R. Tolkien", 0), ("Narnia", "C.S. Lewis", 0)];
    let before = stored("Näita raamatuid Tolkienilt ja Lewiselt", &books);
    let found = follow("näita veel tema raamatuid", &before);
    assert_eq!((names(&found.frame), found.references[0].by), (vec!["J.R.R. Tolkien"], Evidence::Primary));
}

#[test]
fn of_several_authors_of_one_answer_none_is_guessed() {
    let books = [("The Hobbit", "J.R.R. Tolkien", 0), ("Narnia", "C.S. Lewis", 0)];
    let found = follow("more of his books", &stored("suggest fantasy books", &books));
    let open = found.frame.clarification.clone().expect("a question");
    assert_eq!(open.candidates, ["J.R.R. Tolkien", "C.S. Lewis"]);
    let reading = classify(&ClassifierInput { text: "Lewis", generic: false, shown: Some(&[]), language: None });
    let choice = choose(&open, "Lewis", &reading).expect("a choice");
    let settled = answered(found, choice);
    assert_eq!((names(&settled.frame), settled.frame.intent), (vec!["C.S. Lewis"], Intent::EntitySearch));
    assert_eq!(settled.frame.clarification, None);
}

#[test]
fn without_a_known_maker_nothing_is_searched_by_name() {
    let films = stored("suggest films", &[("Heat", "", 0), ("Collateral", "", 0)]);
    let found = follow("more by him", &films);
    assert_eq!((found.frame.intent, found.needs_prompt_slot()), (Intent::Ask, false), "the model reads the list");
}

#[test]
fn a_question_that_names_a_shown_title_is_about_it() {
    let before = stored("näita raamatuid", &[("Hobbit", "J.R.R. Tolkien", 0), ("Kevade", "", 0)]);
    let found = follow("Kas Hobbit sobib lapsele?", &before);
    assert_eq!((found.frame.intent, titles(&found.items)), (Intent::ItemQuestion, vec!["Hobbit"]));
    let searching = follow("kas Hobbit on kallis, näita veel?", &before);
    assert_ne!(searching.frame.intent, Intent::ItemQuestion);
}

#[test]
fn places_and_pronouns_point_at_items() {
    let mut before = stored("suggest books", &[("Dune", "", 0), ("Hyperion", "", 0), ("Solaris", "", 0)]);
    let second = follow("what about the second one?", &before);
    assert_eq!((second.frame.intent, titles(&second.items)), (Intent::ItemQuestion, vec!["Hyperion"]));
    let both = follow("compare the first and the third", &before);
    assert_eq!((both.frame.intent, titles(&both.items)), (Intent::ItemQuestion, vec!["Dune", "Solaris"]));
    let open = follow("is that one any good?", &before);
    assert_eq!((open.frame.intent, open.items.len()), (Intent::Ask, 0), "the model reads the list");
    let other = follow("something like the second but cheaper", &before);
    assert_eq!((other.frame.intent, other.references[0].means.as_str()), (Intent::Cheaper, "Hyperion"));
    before.last_item = before.items.get(1).cloned();
    let last = follow("is that one any good?", &before);
    assert_eq!(titles(&last.items), ["Hyperion"]);
}

#[test]
fn the_author_of_what_was_asked_about_last_is_meant() {
    let mut before = stored("suggest books", &[("Dune", "Frank Herbert", 0), ("Solaris", "Stanisław Lem", 0)]);
    assert!(follow("something by the same author", &before).frame.clarification.is_some());
    before.last_item = before.items.get(1).cloned();
    let found = follow("something by the same author", &before);
    assert_eq!((names(&found.frame), found.references[0].by), (vec!["Stanisław Lem"], Evidence::Last));
}

#[test]
fn a_refused_item_is_named() {
    let before = stored("suggest books", &[("Dune", "", 0), ("Hyperion", "", 0)]);
    let found = follow("not the second one", &before);
    assert_eq!((found.frame.intent, found.references[0].means.as_str()), (Intent::More, "Hyperion"));
    assert!(found.items.is_empty());
}

#[test]
fn starting_over_keeps_nothing() {
    let before = stored("suggest books for my mother under 20 euros", &[("Dune", "", 0)]);
    let found = follow("start over: suggest films", &before);
    assert_eq!((found.reset, found.frame.kind.as_deref()), (Some(Reset::StartOver), Some("film")));
    assert_eq!((found.frame.budget, found.frame.wanted.len(), found.excluded.len()), (None, 0, 0));
}

#[test]
fn a_shown_person_is_found_without_diacritics_and_by_the_last_name() {
    let before = stored("näita raamatuid", &[("Rehepapp", "Andrus Kivirähk", 0), ("Kevade", "Oskar Luts", 0)]);
    let found = follow("more kivirahk", &before);
    assert_eq!((found.frame.intent, names(&found.frame)), (Intent::EntitySearch, vec!["Andrus Kivirähk"]));
    let ending = follow("veel raamatuid Kivirähkilt", &before);
    assert_eq!(names(&ending.frame), ["Andrus Kivirähk"]);
}

#[test]
fn without_a_suggestion_nothing_is_gone_on_with() {
    let reading = classify(&ClassifierInput { text: "more", generic: false, shown: None, language: None });
    let found = resolve("more", &reading, None);
    assert_eq!(found.frame.intent, Intent::Ask);
    assert!(!found.needs_prompt_slot());
}

#[test]
fn words_and_price_are_kept_by_every_question() {
    let before = stored("suggest gifts for my mother, under 50 euros", &[("A pan", "", 0)]);
    let found = follow("what about flowers?", &before);
    assert_eq!(found.frame.wanted, ["suggest gifts for my mother, under 50 euros"]);
    let price = Price { amount: Amount::units(50), currency: Some("EUR".to_owned()) };
    assert_eq!(found.frame.budget, Some(price.clone()));
    let lower = follow("under 40", &before).frame.budget;
    assert_eq!(lower, Some(Price { amount: Amount::units(40), ..price }), "the currency stays");
}

#[test]
fn the_newest_thirty_items_are_excluded_each_once() {
    let shown: Vec<Item> = (0..80).map(|n| item(NOW, n, &format!("Book {}", n % 70), "", 0)).collect();
    let kept = excluded(&shown, Some("book"));
    assert_eq!(kept.len(), MAX_EXCLUDED);
    assert_eq!((kept[0].title(), kept[29].title()), ("Book 50", "Book 9"));
    assert!(excluded(&shown, Some("gift_card")).is_empty());
}
