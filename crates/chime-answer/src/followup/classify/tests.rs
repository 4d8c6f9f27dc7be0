//! Tests that classify a table of questions.

use super::*;
use chime_core::Amount;

const ASKS: &str = include_str!("../../../../../tests/data/follow_ups/asks.txt");

struct Row<'a> {
    line: &'a str,
    cells: Vec<&'a str>,
}

fn table() -> Vec<Row<'static>> {
    let rows = ASKS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|line| Row { line, cells: line.split(" | ").map(str::trim).collect() }).collect()
}

fn read(row: &Row<'_>) -> ClassifiedQuestion {
    classify(&ClassifierInput {
        text: row.cells[2],
        generic: false,
        in_play: row.cells[1] == "+",
        language: Some(row.cells[0]),
    })
}

fn told_signals(signals: &RefinementSignals) -> String {
    let mut told = Vec::new();
    let mut flag = |on: bool, name: &str| told.extend(on.then(|| name.to_owned()));
    flag(signals.start_over, "over");
    flag(signals.cheaper, "cheaper");
    flag(signals.not_that, "not");
    told.extend(signals.kinds.first().map(|kind| format!("kind={kind}")));
    if let Some(budget) = &signals.budget {
        let limit = |name: &str, amount: Option<Amount>| amount.map(|amount| format!("{name}={amount}"));
        told.extend(limit("min", budget.min));
        told.extend(limit("max", budget.max));
        told.extend(budget.currency.clone());
    }
    told.extend(signals.popular.then(|| "popular".to_owned()));
    told.extend(signals.item_language.as_ref().map(|it| format!("lang={it}")));
    told.extend(signals.recipient.as_ref().map(|it| format!("recipient={it}")));
    told.extend(signals.occasion.as_ref().map(|it| format!("occasion={it}")));
    told.extend(signals.constraints.iter().map(|it| format!("no:\"{it}\"")));
    or_dash(told)
}

fn told_references(mentions: &Mentions) -> String {
    let places = mentions.places.iter().map(|(_, place)| match place {
        ItemPosition::Nth(nth) => format!("nth:{nth}"),
        ItemPosition::Last => "last".to_owned(),
    });
    let mut told: Vec<String> = places.collect();
    told.extend(mentions.names.iter().map(|name| format!("name:{name}")));
    if told.is_empty() {
        told.extend(mentions.person.as_ref().map(|_| "person".to_owned()));
    }
    if told.is_empty() {
        told.extend(mentions.item.as_ref().map(|_| "item".to_owned()));
    }
    or_dash(told)
}

fn or_dash(told: Vec<String>) -> String {
    if told.is_empty() { "-".to_owned() } else { told.join(" ") }
}

#[test]
fn every_ask_of_the_table_is_read_as_it_says() {
    let rows = table();
    assert!(rows.len() >= 120, "{} asks", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let reading = read(row);
        let unsure = if reading.is_decided() { "" } else { "?" };
        let told = [
            format!("{}{unsure}", reading.intent.as_str()),
            told_signals(&reading.signals),
            told_references(&reading.mentions),
        ];
        if told != row.cells[3..] {
            wrong.push(format!(
                "{}\n    -> {} ({:.2}, {:?})",
                row.line,
                told.join(" | "),
                reading.confidence,
                reading.language
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn at_least_four_in_five_asks_are_decided_without_the_model() {
    let rows = table();
    let decided = rows.iter().filter(|row| read(row).is_decided()).count();
    assert!(decided * 5 >= rows.len() * 4, "{decided} of {}", rows.len());
    let languages: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.cells[0]).collect();
    assert!(languages.len() >= 6, "{languages:?}");
}

#[test]
fn the_language_need_not_be_known() {
    let unknown = table()
        .iter()
        .filter(|row| {
            let ask =
                ClassifierInput { text: row.cells[2], generic: false, in_play: row.cells[1] == "+", language: None };
            classify(&ask).intent.as_str() != row.cells[3].trim_end_matches('?')
        })
        .map(|row| row.line)
        .collect::<Vec<_>>();
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

#[test]
fn an_ask_that_only_points_is_plain_and_sure() {
    let read = |text, in_play| classify(&ClassifierInput { text, generic: true, in_play, language: None });
    for text in ["", "^", "?", "thoughts?", "this?", "please", "see above"] {
        assert_eq!((read(text, true).intent, read(text, true).is_decided()), (Intent::Ask, true), "{text:?}");
    }
    assert_eq!((read("more", true).intent, read("more", false).intent), (Intent::More, Intent::Ask));
    assert_eq!(read("is that one any good?", true).intent, Intent::ItemQuestion);
}

#[test]
fn a_wall_of_text_is_read_in_no_time_and_never_panics() {
    let wall = "more 30€ by Ünï „x“ the second no no no ".repeat(3000);
    let reading = classify(&ClassifierInput { text: &wall, generic: false, in_play: true, language: None });
    assert!(reading.confidence <= 1.0);
}
