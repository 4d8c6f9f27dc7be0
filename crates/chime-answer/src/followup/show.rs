//! Renders a follow-up: for the prompt, for `/why`, and as a clarifying question.

use crate::followup::preserve::FIELDS;
use crate::plain::{escape_markdown, one_line};
use chime_core::texts::{FollowUpTexts, filled};
use chime_core::{Amount, Budget, Evidence, FollowUp, FoundBy, Frame, Intent, Item, Reference, Reset};

/// Maximum number of characters of one value.
const VALUE_CHARS: usize = 160;
/// Maximum number of items that `/why` names.
const NAMED_ITEMS: usize = 5;

// Templates for price limits in a prompt, which is English.
const AT_LEAST: &str = "at least {min}";
const AT_MOST: &str = "at most {max}";
const BETWEEN: &str = "{min} to {max}";

/// Returns the lines about a follow-up for the prompt. They contain untrusted text of members and of the model.
pub fn prompt_lines(follow_up: &FollowUp) -> String {
    if !follow_up.suggested.is_empty() {
        return follow_up
            .suggested
            .iter()
            .map(|item| one_line(&described(item), VALUE_CHARS))
            .collect::<Vec<_>>()
            .join("\n");
    }
    let Frame {
        intent, subject, kind, constraints, recipient, occasion, item_language, budget, entities, popular, ..
    } = &follow_up.frame;
    let mut lines = vec![format!("intent: {}", intent.as_str())];
    let mut line = |name: &str, value: Option<String>| {
        lines.extend(
            value.filter(|value| !value.is_empty()).map(|value| format!("{name}: {}", one_line(&value, VALUE_CHARS))),
        );
    };
    line("kind", kind.as_ref().map(|kind| kind.replace('_', " ")));
    line("subject", subject.clone());
    line("popular ones", popular.then(|| "yes".to_owned()));
    line("by or about", Some(entities.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")));
    line("for", recipient.clone());
    line("occasion", occasion.clone());
    line("language of the items", item_language.clone());
    line("budget", budget.as_ref().and_then(|budget| limits(budget, AT_LEAST, AT_MOST, BETWEEN)));
    line("constraints", Some(constraints.join("; ")));
    for item in &follow_up.items {
        line("about the item", Some(described(item)));
    }
    for reference in &follow_up.references {
        line("reference", Some(format!("\"{}\" means {}", reference.said, reference.means)));
    }
    let mut text = lines.join("\n");
    if intent.suggests() && !follow_up.excluded.is_empty() {
        // Newest first, so that a cap cuts the oldest.
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

/// Fills in the template that applies to the limits of `budget`: with only a maximum, `at_most` with "30 EUR" for
/// `{max}`. `None` if there are no limits.
fn limits(budget: &Budget, at_least: &str, at_most: &str, between: &str) -> Option<String> {
    let currency = budget.currency.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
    let amount = |amount: Amount| format!("{amount}{currency}");
    match (budget.min, budget.max) {
        (None, None) => None,
        (Some(min), None) => Some(filled(at_least, &[("min", &amount(min))])),
        (None, Some(max)) => Some(filled(at_most, &[("max", &amount(max))])),
        (Some(min), Some(max)) => Some(filled(between, &[("min", &min.to_string()), ("max", &amount(max))])),
    }
}

/// Returns the part of `/why` about a follow-up, as Markdown: what it was taken to mean, why, and the items left out.
/// `None` if nothing was resolved.
pub fn why(follow_up: &FollowUp, texts: &FollowUpTexts) -> Option<String> {
    if !follow_up.is_telling() {
        return None;
    }
    let (what, going_on) = (asked_for(&follow_up.frame, texts), source(follow_up, texts));
    let mut told = vec![filled(&texts.taken, &[("what", &what), ("going_on", going_on)])];
    if !follow_up.inherited.is_empty() {
        let name = |name: &String| {
            let place = FIELDS.iter().position(|field| field == name);
            place.and_then(|place| texts.fields.get(place)).unwrap_or(name).clone()
        };
        let kept: Vec<String> = follow_up.inherited.iter().map(name).collect();
        told.push(filled(&texts.kept, &[("list", &kept.join(", "))]));
    }
    told.extend(follow_up.references.iter().map(|reference| meant(reference, texts)));
    told.extend(left_out(follow_up, texts));
    if let Some(open) = &follow_up.frame.clarification {
        let candidates: Vec<String> = open.candidates.iter().map(|name| quoted(name)).collect();
        told.push(filled(&texts.unclear, &[("list", &candidates.join(", "))]));
    }
    Some(told.join(" "))
}

fn meant(reference: &Reference, texts: &FollowUpTexts) -> String {
    let why = match reference.by {
        Evidence::Named => "",
        Evidence::Position => &texts.by_position,
        Evidence::Only => &texts.by_only,
        Evidence::Primary => &texts.by_primary,
        Evidence::Last => &texts.by_last,
        Evidence::Member => &texts.by_choice,
    };
    let (said, means) = (quoted(&reference.said), quoted(&reference.means));
    let percent = (reference.confidence * 100.0).round().to_string();
    let sentence = if reference.by == Evidence::Named { &texts.named } else { &texts.meant };
    filled(sentence, &[("why", why), ("percent", &percent), ("said", &said), ("means", &means)])
}

fn asked_for(frame: &Frame, texts: &FollowUpTexts) -> String {
    let intent = match frame.intent {
        Intent::Suggest => &texts.suggest,
        Intent::More => &texts.more,
        Intent::Cheaper => &texts.cheaper,
        Intent::Budget => &texts.budget,
        Intent::EntitySearch => &texts.entity_search,
        Intent::ItemQuestion => &texts.item_question,
        Intent::Compare => &texts.compare,
        Intent::Ask | Intent::Summarize | Intent::Recap | Intent::Decide | Intent::Explain | Intent::Smalltalk => {
            &texts.ask
        }
    };
    let limits = |budget| limits(budget, &texts.at_least, &texts.at_most, &texts.between);
    let mut details: Vec<String> = Vec::new();
    details.extend(frame.kind.as_ref().map(|kind| escape_markdown(&kind.replace('_', " "))));
    details.extend(frame.subject.as_ref().map(|subject| quoted(subject)));
    details.extend(frame.entities.iter().map(|entity| quoted(&entity.name)));
    details.extend(frame.budget.as_ref().and_then(limits));
    details.extend(frame.constraints.iter().map(|constraint| quoted(constraint)));
    match details.as_slice() {
        [] => intent.clone(),
        details => format!("{intent} ({})", details.join(", ")),
    }
}

fn source<'t>(follow_up: &FollowUp, texts: &'t FollowUpTexts) -> &'t str {
    match follow_up.found_by {
        None => "",
        Some(FoundBy::Reply) => &texts.by_reply,
        Some(FoundBy::Strand) => &texts.by_strand,
        Some(FoundBy::Member) => &texts.by_member,
    }
}

fn left_out(follow_up: &FollowUp, texts: &FollowUpTexts) -> Option<String> {
    if let Some(reset) = follow_up.reset {
        let why = match reset {
            Reset::KindChanged => &texts.kind_changed,
            Reset::RecipientChanged => &texts.recipient_changed,
            Reset::OccasionChanged => &texts.occasion_changed,
            Reset::StartOver => &texts.start_over,
        };
        return Some(filled(&texts.anew, &[("why", why)]));
    }
    if follow_up.excluded.is_empty() || !follow_up.frame.intent.suggests() {
        return None;
    }
    let named: Vec<String> =
        follow_up.excluded.iter().rev().take(NAMED_ITEMS).map(|item| quoted(item.title())).collect();
    let named = named.join(", ");
    let list = match follow_up.excluded.len().saturating_sub(NAMED_ITEMS) {
        0 => named,
        others => filled(&texts.and_more, &[("n", &others.to_string()), ("list", &named)]),
    };
    Some(filled(&texts.excluded, &[("list", &list)]))
}

fn quoted(text: &str) -> String {
    format!("“{}”", escape_markdown(&one_line(text, VALUE_CHARS)))
}

/// Returns the clarifying question: the sentence `ask`, and below it the numbered candidates.
pub fn question(ask: &str, candidates: &[String]) -> String {
    let lines: Vec<String> = (1..)
        .zip(candidates)
        .map(|(place, name)| format!("{place}. {}", escape_markdown(&one_line(name, VALUE_CHARS))))
        .collect();
    format!("{ask}\n\n{}", lines.join("\n"))
}

/// Returns a suggestion's name in a list of candidates: "books, fantasy (The Hobbit, Dune, …)".
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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use chime_core::texts::texts;
    use chime_core::{AnswerId, Clarification, ItemId, NamedEntity, Price, Suggested, Unclear};

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
            inherited: vec!["kind".to_owned(), "subject".to_owned()],
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
        expect![[r#"I understood the question as a request for something cheaper (gift card, “for readers”, “Tolkien”, at most 35 EUR, “no \*horror\*”), about the newest suggestion in this conversation. Still valid from there: kind, subject. I think “his” means “Tolkien”: it was named in the first question (95% sure). Already suggested, so not again: “B Tale”, “A Tale”."#]].assert_eq(&why(&follow_up(), &texts("eng").follow_up).expect("told"));
        assert_eq!(why(&FollowUp::default(), &texts("eng").follow_up), None);
    }

    #[test]
    fn it_is_told_in_the_language_of_the_chat() {
        expect![[r#"So habe ich die Frage verstanden: Bitte um etwas Günstigeres (gift card, “for readers”, “Tolkien”, höchstens 35 EUR, “no \*horror\*”), zum neuesten Vorschlag in diesem Gespräch. Von dort gilt weiter: Art, Thema. Mit “his” ist wohl “Tolkien” gemeint: es kam in der ersten Frage vor (zu 95 % sicher). Schon vorgeschlagen, also nicht noch einmal: “B Tale”, “A Tale”."#]].assert_eq(&why(&follow_up(), &texts("deu").follow_up).expect("told"));
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
        expect!["I understood the question as a question about a suggestion. I was not sure which one was meant, so I asked: “A Tale”, “B Tale”."].assert_eq(&why(&asked, &texts("eng").follow_up).expect("told"));
        expect![[r#"
            Which one do you mean?

            1. A \*Tale\*
            2. B Tale"#]]
        .assert_eq(&question("Which one do you mean?", &["A *Tale*".to_owned(), "B Tale".to_owned()]));
    }
}
