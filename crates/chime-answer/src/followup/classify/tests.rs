//! Tests that classify a table of questions.

use super::*;

const ASKS: &str = include_str!("../../../../../tests/data/follow_ups/asks.txt");

struct Row<'a> {
    line: &'a str,
    cells: Vec<&'a str>,
}

fn table() -> Vec<Row<'static>> {
    let rows = ASKS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|line| Row { line, cells: line.split(" | ").map(str::trim).collect() }).collect()
}

/// Returns the items that a row has been shown before: none that a question names.
fn shown(row: &Row<'_>) -> Option<&'static [Item]> {
    (row.cells[1] == "+").then_some(&[])
}

fn read(row: &Row<'_>) -> ClassifiedQuestion {
    classify(&ClassifierInput { text: row.cells[2], generic: false, shown: shown(row), language: Some(row.cells[0]) })
}

fn told_signals(reading: &ClassifiedQuestion) -> String {
    let mut rendered = Vec::new();
    let mut flag = |on: bool, name: &str| rendered.extend(on.then(|| name.to_owned()));
    flag(reading.start_over, "over");
    flag(reading.cheaper, "cheaper");
    flag(reading.not_that, "not");
    flag(reading.unknown == 0, "whole");
    rendered.extend(reading.kind.as_ref().map(|kind| format!("kind={kind}")));
    rendered.extend(reading.budget.as_ref().map(|price| format!("max={}", price.amount)));
    rendered.extend(reading.budget.as_ref().and_then(|price| price.currency.clone()));
    or_dash(rendered)
}

fn told_references(mentions: &Mentions) -> String {
    let places = mentions.places.iter().map(|(_, place)| match place {
        ItemPosition::Nth(nth) => format!("nth:{nth}"),
        ItemPosition::Last => "last".to_owned(),
    });
    let mut rendered: Vec<String> = places.collect();
    if rendered.is_empty() {
        rendered.extend(mentions.person.as_ref().map(|_| "person".to_owned()));
    }
    if rendered.is_empty() {
        rendered.extend(mentions.item.as_ref().map(|_| "item".to_owned()));
    }
    or_dash(rendered)
}

fn or_dash(rendered: Vec<String>) -> String {
    if rendered.is_empty() { "-".to_owned() } else { rendered.join(" ") }
}

#[test]
fn every_ask_of_the_table_is_read_as_it_says() {
    let rows = table();
    assert!(rows.len() >= 120, "{} asks", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let reading = read(row);
        let rendered = [reading.intent.as_str().to_owned(), told_signals(&reading), told_references(&reading.mentions)];
        if rendered != row.cells[3..] {
            wrong.push(format!("{}\n    -> {} ({:?})", row.line, rendered.join(" | "), reading.language));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn the_language_need_not_be_known() {
    let unknown = table()
        .iter()
        .filter(|row| {
            let ask = ClassifierInput { text: row.cells[2], generic: false, shown: shown(row), language: None };
            classify(&ask).intent.as_str() != row.cells[3]
        })
        .map(|row| row.line)
        .collect::<Vec<_>>();
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

#[test]
fn an_ask_that_only_points_is_plain() {
    let read = |text, shown| classify(&ClassifierInput { text, generic: true, shown, language: None }).intent;
    for text in ["", "^", "?", "thoughts?", "this?", "please", "see above"] {
        assert_eq!(read(text, Some(&[])), Intent::Ask, "{text:?}");
    }
    assert_eq!((read("more", Some(&[])), read("more", None)), (Intent::More, Intent::Ask));
    assert_eq!(read("is that one any good?", Some(&[])), Intent::ItemQuestion);
}

#[test]
fn a_wall_of_text_is_read_in_no_time_and_never_panics() {
    let wall = "more 30€ by Ünï „x“ the second no no no ".repeat(3000);
    let reading = classify(&ClassifierInput { text: &wall, generic: false, shown: Some(&[]), language: None });
    assert!(reading.unknown > 0);
}
