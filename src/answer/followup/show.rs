//! A follow-up in words: for the prompt, for `/why`, and as the question that is asked back.

use crate::answer::followup::tables::Tables;
use crate::answer::plain::{escape_markdown, one_line};
use crate::domain::{Budget, Evidence, FollowUp, FoundBy, Frame, Intent, Item, Reset, Unclear};

/// Characters of one value.
const VALUE_CHARS: usize = 160;
/// Items that `/why` names.
const NAMED_ITEMS: usize = 5;

/// What was worked out, a line each, for the prompt. The words in it are members' or the model's own: material only.
pub fn prompt_lines(follow_up: &FollowUp) -> String {
    let Frame {
        intent,
        subject,
        kind,
        category_hints,
        constraints,
        recipient,
        occasion,
        item_language,
        budget,
        entities,
        popular,
        ..
    } = &follow_up.frame;
    let mut lines = vec![format!("intent: {}", intent.as_str())];
    let mut line = |name: &str, value: Option<String>| {
        lines.extend(
            value.filter(|value| !value.is_empty()).map(|value| format!("{name}: {}", one_line(&value, VALUE_CHARS))),
        );
    };
    line("kind", kind.as_ref().map(|kind| kind.replace('_', " ")));
    line("subject", subject.clone());
    line("categories", Some(category_hints.join(", ")));
    line("popular ones", popular.then(|| "yes".to_owned()));
    line("by or about", Some(entities.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")));
    line("for", recipient.clone());
    line("occasion", occasion.clone());
    line("language of the items", item_language.clone());
    line("budget", budget.as_ref().and_then(limits));
    line("constraints", Some(constraints.join("; ")));
    for item in &follow_up.items {
        line("about the item", Some(described(item)));
    }
    for reference in &follow_up.references {
        line("reference", Some(format!("\"{}\" means {}", reference.said, reference.means)));
    }
    let mut text = lines.join("\n");
    if intent.suggests() && !follow_up.excluded.is_empty() {
        // The newest last in memory, and first here: a cap cuts the oldest.
        let titles = follow_up.excluded.iter().rev().map(|item| format!("\n- {}", one_line(item.title(), VALUE_CHARS)));
        text.push_str("\nalready suggested, not to be suggested again:");
        text.extend(titles);
    }
    text
}

fn described(item: &Item) -> String {
    let people = match item.shown.people.as_slice() {
        [] => String::new(),
        people => format!(", {}", people.join(", ")),
    };
    let price = item
        .shown
        .price
        .as_ref()
        .map(|price| format!(", {} {}", price.amount, price.currency.as_deref().unwrap_or_default()));
    format!("{}. {}{people}{}", item.id.position, item.title(), price.unwrap_or_default())
}

/// "at most 30 EUR", "20 to 30".
fn limits(budget: &Budget) -> Option<String> {
    let currency = budget.currency.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
    match (budget.min, budget.max) {
        (None, None) => None,
        (Some(min), None) => Some(format!("at least {min}{currency}")),
        (None, Some(max)) => Some(format!("at most {max}{currency}")),
        (Some(min), Some(max)) => Some(format!("{min} to {max}{currency}")),
    }
}

/// What `/why` says of it: what was resolved, from where, how sure. Markdown; none where nothing was resolved.
pub fn why(follow_up: &FollowUp) -> Option<String> {
    if !follow_up.is_telling() {
        return None;
    }
    let mut told = vec![format!("I took the ask as {}{}.", asked_for(&follow_up.frame), source(follow_up))];
    if !follow_up.inherited.is_empty() {
        told.push(format!(
            "Kept from there: {}.",
            follow_up.inherited.iter().map(|it| it.replace('_', " ")).collect::<Vec<_>>().join(", ")
        ));
    }
    for reference in &follow_up.references {
        let (said, means) = (quoted(&reference.said), quoted(&reference.means));
        let percent = (reference.confidence * 100.0).round();
        told.push(match reference.by {
            Evidence::Named => format!("It names {means} ({percent} % sure)."),
            by => format!("{said} I took to mean {means}: {} ({percent} % sure).", evidence(by)),
        });
    }
    told.extend(left_out(follow_up));
    if let Some(open) = &follow_up.frame.clarification {
        let candidates: Vec<String> = open.candidates.iter().map(|name| quoted(name)).collect();
        told.push(format!("I could not tell which was meant, so I asked: {}.", candidates.join(", ")));
    }
    if follow_up.extracted {
        told.push("The model helped to read the ask.".to_owned());
    }
    Some(told.join(" "))
}

fn asked_for(frame: &Frame) -> String {
    let intent = match frame.intent {
        Intent::Suggest => "a wish for suggestions",
        Intent::More => "a wish for more suggestions",
        Intent::Cheaper => "a wish for something cheaper",
        Intent::Budget => "a new limit of the price",
        Intent::EntitySearch => "a search by name",
        Intent::ItemQuestion => "a question about a suggestion",
        Intent::Compare => "a comparison",
        Intent::Ask | Intent::Summarize | Intent::Recap | Intent::Decide | Intent::Explain | Intent::Smalltalk => {
            "a question"
        }
    };
    let mut details: Vec<String> = Vec::new();
    details.extend(frame.kind.as_ref().map(|kind| escape_markdown(&kind.replace('_', " "))));
    details.extend(frame.subject.as_ref().map(|subject| quoted(subject)));
    details.extend(frame.entities.iter().map(|entity| quoted(&entity.name)));
    details.extend(frame.budget.as_ref().and_then(limits));
    details.extend(frame.constraints.iter().map(|constraint| quoted(constraint)));
    match details.as_slice() {
        [] => intent.to_owned(),
        details => format!("{intent} ({})", details.join(", ")),
    }
}

fn source(follow_up: &FollowUp) -> &'static str {
    match follow_up.found_by {
        None => "",
        Some(FoundBy::Reply) => ", going on with the suggestion it replies to",
        Some(FoundBy::Strand) => ", going on with the newest suggestion of the same talk",
        Some(FoundBy::Member) => ", going on with the last suggestion that I made to the same member",
    }
}

fn evidence(by: Evidence) -> &'static str {
    match by {
        Evidence::Named => "it is named",
        Evidence::Position => "by its place in the list",
        Evidence::Only => "nothing else could be meant",
        Evidence::Primary => "it was named in the first ask",
        Evidence::Last => "it came up last",
        Evidence::Model => "the model chose it",
        Evidence::Member => "the member chose it",
    }
}

fn left_out(follow_up: &FollowUp) -> Option<String> {
    if let Some(reset) = follow_up.reset {
        let why = match reset {
            Reset::KindChanged => "another kind of thing was asked for",
            Reset::RecipientChanged => "it is for somebody else",
            Reset::OccasionChanged => "it is for another occasion",
            Reset::StartOver => "that was asked for",
        };
        return Some(format!("The list of what I had suggested began anew, because {why}."));
    }
    if follow_up.excluded.is_empty() || !follow_up.frame.intent.suggests() {
        return None;
    }
    let count = follow_up.excluded.len();
    let named: Vec<String> =
        follow_up.excluded.iter().rev().take(NAMED_ITEMS).map(|item| quoted(item.title())).collect();
    let others = count.saturating_sub(NAMED_ITEMS);
    let others = if others > 0 { format!(" and {others} more") } else { String::new() };
    Some(format!("Suggested before, so not again: {}{others}.", named.join(", ")))
}

fn quoted(text: &str) -> String {
    format!("“{}”", escape_markdown(&one_line(text, VALUE_CHARS)))
}

/// The question that is asked back, with the candidates below it. `ask` is the sentence for what is unclear.
pub fn question(ask: &str, candidates: &[String]) -> String {
    let lines: Vec<String> = (1..)
        .zip(candidates)
        .map(|(place, name)| format!("{place}. {}", escape_markdown(&one_line(name, VALUE_CHARS))))
        .collect();
    format!("{ask}\n\n{}", lines.join("\n"))
}

/// A suggestion as a candidate to choose among: "books, fantasy (The Hobbit, Dune, …)".
pub fn suggestion_name(frame: &Frame, titles: &[&str]) -> String {
    const TITLES: usize = 2;
    let kind = frame.kind.as_deref().map(|kind| kind.replace('_', " "));
    let head: Vec<String> = kind.into_iter().chain(frame.subject.clone()).collect();
    let shown = titles.iter().take(TITLES).copied().collect::<Vec<_>>().join(", ");
    let more = if titles.len() > TITLES { ", …" } else { "" };
    match head.as_slice() {
        [] => format!("{shown}{more}"),
        head => format!("{} ({shown}{more})", head.join(", ")),
    }
}

/// ISO 639-3 code of the language of an ask, by its two-letter code.
pub fn three_letters(code: &str) -> Option<&'static str> {
    Tables::shipped().get(code)?;
    let pairs = [
        ("en", "eng"),
        ("et", "est"),
        ("de", "deu"),
        ("es", "spa"),
        ("fr", "fra"),
        ("pt", "por"),
        ("ru", "rus"),
        ("uk", "ukr"),
    ];
    pairs.into_iter().find(|(two, _)| *two == code).map(|(_, three)| three)
}

/// What has to be asked back decides the sentence.
pub fn sentence<'n>(about: Unclear, person: &'n str, item: &'n str, suggestion: &'n str) -> &'n str {
    match about {
        Unclear::Person => person,
        Unclear::Item => item,
        Unclear::Suggestion => suggestion,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::domain::{Amount, AnswerId, Clarification, ItemId, NamedEntity, Price, Reference, Suggested};

    fn item(position: u32, title: &str) -> Item {
        let price = Some(Price { amount: Amount(1299), currency: Some("EUR".to_owned()) });
        let shown =
            Suggested { title: title.to_owned(), people: vec!["Jane [Doe]".to_owned()], price, ..Suggested::default() };
        Item { id: ItemId { answer: AnswerId(ulid::Ulid(1)), position }, shown }
    }

    fn follow_up() -> FollowUp {
        let budget = Budget { max: Some(Amount::units(35)), currency: Some("EUR".to_owned()), ..Budget::default() };
        FollowUp {
            frame: Frame {
                intent: Intent::Cheaper,
                kind: Some("gift_card".to_owned()),
                subject: Some("for\nreaders".to_owned()),
                budget: Some(budget),
                entities: vec![NamedEntity::person("Tolkien")],
                constraints: vec!["no *horror*".to_owned()],
                ..Frame::default()
            },
            follows: Some(AnswerId(ulid::Ulid(1))),
            found_by: Some(FoundBy::Strand),
            inherited: vec!["kind".to_owned(), "category_hints".to_owned()],
            excluded: vec![item(1, "A Tale"), item(2, "B Tale")],
            references: vec![Reference {
                said: "his".to_owned(),
                means: "Tolkien".to_owned(),
                by: Evidence::Primary,
                confidence: 0.95,
            }],
            ..FollowUp::default()
        }
    }

    #[test]
    fn the_prompt_has_a_line_for_each_thing_worked_out() {
        expect![[r#"
            intent: cheaper
            kind: gift card
            subject: for readers
            by or about: Tolkien
            budget: at most 35 EUR
            constraints: no *horror*
            reference: "his" means Tolkien
            already suggested, not to be suggested again:
            - B Tale
            - A Tale"#]]
        .assert_eq(&prompt_lines(&follow_up()));
    }

    #[test]
    fn why_says_what_was_resolved_from_where_and_how_sure() {
        expect![[r#"I took the ask as a wish for something cheaper (gift card, “for readers”, “Tolkien”, at most 35 EUR, “no \*horror\*”), going on with the newest suggestion of the same talk. Kept from there: kind, category hints. “his” I took to mean “Tolkien”: it was named in the first ask (95 % sure). Suggested before, so not again: “B Tale”, “A Tale”."#]].assert_eq(&why(&follow_up()).expect("told"));
        assert_eq!(why(&FollowUp::default()), None);
    }

    #[test]
    fn an_item_and_an_open_question_are_told() {
        let asked = FollowUp {
            frame: Frame {
                intent: Intent::ItemQuestion,
                clarification: Some(Clarification {
                    about: Unclear::Item,
                    candidates: vec!["A Tale".to_owned(), "B Tale".to_owned()],
                    answers: vec![],
                    ask: "that one".to_owned(),
                }),
                ..Frame::default()
            },
            items: vec![item(2, "B Tale")],
            ..FollowUp::default()
        };
        expect![[r#"
            intent: item_question
            about the item: 2. B Tale, Jane [Doe], 12.99 EUR"#]]
        .assert_eq(&prompt_lines(&asked));
        expect!["I took the ask as a question about a suggestion. I could not tell which was meant, so I asked: “A Tale”, “B Tale”."].assert_eq(&why(&asked).expect("told"));
        expect![[r#"
            Which one do you mean?

            1. A \*Tale\*
            2. B Tale"#]]
        .assert_eq(&question("Which one do you mean?", &["A *Tale*".to_owned(), "B Tale".to_owned()]));
    }
}
