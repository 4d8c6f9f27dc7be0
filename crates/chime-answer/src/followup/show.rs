//! Renders a follow-up: for the prompt, for `/why`, and as a clarifying question.

use crate::followup::resolve::excluded;
use crate::sanitize::{escape_markdown, one_line};
use chime_core::texts::{FollowUpTexts, Texts, filled};
use chime_core::{Evidence, FollowUp, FoundBy, Frame, Intent, Item, Price, Reference, Reset, SuggestedList};

/// Maximum number of characters of one value.
const VALUE_CHARS: usize = 160;
/// Maximum number of items that `/why` names.
const NAMED_ITEMS: usize = 5;

/// Returns the facts about a follow-up for the prompt, one a line: earlier wishes, earlier suggestions, and the meaning
/// of the question. They contain untrusted text of members and of the model. Empty if nothing was suggested before.
pub fn prompt_lines(follow_up: &FollowUp) -> Vec<String> {
    let line = |name: &str, value: &str| format!("{name}: {}", one_line(value, VALUE_CHARS));
    if !follow_up.suggested.is_empty() {
        let lists = follow_up.newest_lists();
        let told = |list: &&SuggestedList| {
            let heading = (lists.len() > 1).then(|| format!("list for {}", one_line(&list.asked_by, VALUE_CHARS)));
            let asked = list.frame.wanted.iter().map(|wish| line("asked for", wish));
            let items = list.items.iter().map(|item| one_line(&described(item), VALUE_CHARS));
            heading.into_iter().chain(asked).chain(items).collect::<Vec<_>>()
        };
        let before = |list: &&SuggestedList| {
            let mut others = excluded(&list.shown, None);
            others.retain(|item| item.id.answer != list.answer);
            others.sort_by_key(|item| std::cmp::Reverse(item.id.answer));
            let asker =
                if lists.len() > 1 { format!(" for {}", one_line(&list.asked_by, VALUE_CHARS)) } else { String::new() };
            let heading = (!others.is_empty()).then(|| format!("listed before{asker}:"));
            let items = others.into_iter().map(|item| one_line(&described(&item), VALUE_CHARS));
            heading.into_iter().chain(items).collect::<Vec<_>>()
        };
        // Last, because a token limit cuts the end.
        return lists.iter().flat_map(told).chain(lists.iter().flat_map(before)).collect();
    }
    if follow_up.follows.is_none() || follow_up.reset == Some(Reset::StartOver) {
        return Vec::new();
    }
    let Frame { kind, people, budget, .. } = &follow_up.frame;
    let mut lines: Vec<String> = follow_up.frame.wanted.iter().map(|wish| line("asked for", wish)).collect();
    lines.extend(kind.as_ref().map(|kind| line("kind", &kind.replace('_', " "))));
    lines.extend(people.iter().map(|name| line("by", name)));
    lines.extend(budget.as_ref().map(|price| line("budget", &format!("at most {}", amount(price)))));
    if follow_up.frame.intent == Intent::Cheaper && budget.is_none() {
        let newest = follow_up.excluded.iter().filter(|item| Some(item.id.answer) == follow_up.follows);
        lines.extend(prices(newest).map(|prices| line("wanted", &format!("cheaper than {prices}"))));
    }
    lines.extend(follow_up.items.iter().map(|item| line("about the item", &described(item))));
    let meaning = |it: &Reference| line("reference", &format!("\"{}\" means {}", it.said, it.means));
    lines.extend(follow_up.references.iter().map(meaning));
    if follow_up.frame.intent.suggests() && !follow_up.excluded.is_empty() {
        lines.push("already suggested, not to be suggested again:".to_owned());
        // Newest first, because a token limit cuts the end.
        let titles = follow_up.excluded.iter().rev().map(|item| format!("- {}", one_line(item.title(), VALUE_CHARS)));
        lines.extend(titles);
    }
    lines
}

/// Returns ` (other than “Azul”, “Catan”)`, with the newest of the titles that must not be suggested again; empty if
/// there are none. Small models overlook the list above the talk.
pub fn other_than(follow_up: &FollowUp) -> String {
    /// More titles would hide the question.
    const TITLES: usize = 10;
    let titles =
        follow_up.excluded.iter().rev().take(TITLES).map(|item| format!("“{}”", one_line(item.title(), VALUE_CHARS)));
    let titles: Vec<String> = titles.collect();
    match follow_up.frame.intent.suggests() && !titles.is_empty() {
        true => format!(" (other than {})", titles.join(", ")),
        false => String::new(),
    }
}

/// Lists items as Markdown, with their numbers, people and prices.
pub fn item_list(items: &[&Item]) -> String {
    let line = |item: &&Item| escape_markdown(&one_line(&described(item), VALUE_CHARS));
    items.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn described(item: &Item) -> String {
    let people = match item.shown.people.as_slice() {
        [] => String::new(),
        people => format!(", {}", people.join(", ")),
    };
    let price = item.shown.price.as_ref().map(|price| format!(", {}", amount(price))).unwrap_or_default();
    format!("{}. {}{people}{price}", item.id.position, item.title())
}

/// Returns the prices of items: `5 to 45 GBP`; `None` if no item has one, or if they differ in their currency.
fn prices<'a>(items: impl Iterator<Item = &'a Item> + Clone) -> Option<String> {
    let known = || items.clone().filter_map(|item| item.shown.price.as_ref());
    let (least, most) = (known().min_by_key(|it| it.amount)?, known().max_by_key(|it| it.amount)?);
    let is_range = least.amount != most.amount;
    let range = if is_range { format!("{} to {}", least.amount, amount(most)) } else { amount(most) };
    known().all(|it| it.currency == most.currency).then_some(range)
}

fn amount(price: &Price) -> String {
    format!("{} {}", price.amount, price.currency.as_deref().unwrap_or_default()).trim_end().to_owned()
}

/// Returns the part of `/why` about a follow-up, as Markdown: how the question was understood, why, and the items left
/// out. `None` if nothing was resolved.
pub fn why(follow_up: &FollowUp, texts: &Texts) -> Option<String> {
    if !follow_up.needs_prompt_slot() {
        return None;
    }
    let (all, texts) = (texts, &texts.follow_up);
    let mut rendered = Vec::new();
    // "Start over" alone asks for nothing.
    if follow_up.reset != Some(Reset::StartOver) || follow_up.frame.intent != Intent::Ask {
        let (what, going_on) = (asked_for(&follow_up.frame, all), source(follow_up, texts));
        rendered.push(filled(&texts.taken, &[("what", &what), ("going_on", going_on)]));
    }
    if !follow_up.frame.wanted.is_empty() {
        rendered.push(filled(&texts.kept, &[("list", &quoted(&follow_up.frame.wanted, all))]));
    }
    rendered.extend(follow_up.references.iter().map(|reference| meant(reference, all)));
    rendered.extend(left_out(follow_up, all));
    if let Some(open) = &follow_up.frame.clarification {
        rendered.push(filled(&texts.unclear, &[("list", &quoted(&open.candidates, all))]));
    }
    Some(rendered.join(" "))
}

fn meant(reference: &Reference, all: &Texts) -> String {
    let texts = &all.follow_up;
    let why = match reference.by {
        Evidence::Named => "",
        Evidence::Position => &texts.by_position,
        Evidence::Only => &texts.by_only,
        Evidence::Primary => &texts.by_primary,
        Evidence::Last => &texts.by_last,
        Evidence::Member => &texts.by_choice,
    };
    let (said, means) = (quoted([&reference.said], all), quoted([&reference.means], all));
    let percent = (reference.confidence * 100.0).round().to_string();
    let sentence = if reference.by == Evidence::Named { &texts.named } else { &texts.meant };
    filled(sentence, &[("why", why), ("percent", &percent), ("said", &said), ("means", &means)])
}

fn asked_for(frame: &Frame, all: &Texts) -> String {
    let texts = &all.follow_up;
    let intent = match frame.intent {
        Intent::Suggest => &texts.suggest,
        Intent::More => &texts.more,
        Intent::Cheaper => &texts.cheaper,
        Intent::Budget => &texts.budget,
        Intent::EntitySearch => &texts.entity_search,
        Intent::ItemQuestion => &texts.item_question,
        Intent::Ask => &texts.ask,
    };
    // The limits of the list say nothing about one of its items.
    if frame.intent == Intent::ItemQuestion {
        return intent.clone();
    }
    let mut details: Vec<String> = Vec::new();
    details.extend(frame.kind.as_ref().and_then(|kind| texts.kinds.get(kind)).cloned());
    details.extend(frame.people.iter().map(|name| quoted([name], all)));
    details.extend(frame.budget.as_ref().map(|price| filled(&texts.at_most, &[("max", &amount(price))])));
    match details.as_slice() {
        [] => intent.clone(),
        details => format!("{intent} ({})", details.join(", ")),
    }
}

fn source<'t>(follow_up: &FollowUp, texts: &'t FollowUpTexts) -> &'t str {
    match follow_up.found_by {
        None => "",
        Some(FoundBy::Reply) => &texts.by_reply,
        Some(FoundBy::Thread) => &texts.by_thread,
    }
}

fn left_out(follow_up: &FollowUp, all: &Texts) -> Option<String> {
    let texts = &all.follow_up;
    if let Some(reset) = follow_up.reset {
        let why = match reset {
            Reset::KindChanged => &texts.kind_changed,
            Reset::StartOver => &texts.start_over,
        };
        return Some(filled(&texts.anew, &[("why", why)]));
    }
    if follow_up.excluded.is_empty() || !follow_up.frame.intent.suggests() {
        return None;
    }
    let named = quoted(follow_up.excluded.iter().rev().take(NAMED_ITEMS).map(Item::title), all);
    let list = match follow_up.excluded.len().saturating_sub(NAMED_ITEMS) {
        0 => named,
        others => filled(&texts.and_more, &[("n", &others.to_string()), ("list", &named)]),
    };
    Some(filled(&texts.excluded, &[("list", &list)]))
}

/// Returns the values in quotation marks, with commas between.
fn quoted(values: impl IntoIterator<Item = impl AsRef<str>>, texts: &Texts) -> String {
    let quote = |value: &str| texts.quoted(&escape_markdown(&one_line(value, VALUE_CHARS)));
    values.into_iter().map(|value| quote(value.as_ref())).collect::<Vec<_>>().join(", ")
}

/// Returns the clarifying question: the sentence `ask`, and below it the numbered candidates.
pub fn question(ask: &str, candidates: &[String]) -> String {
    let lines: Vec<String> = (1..)
        .zip(candidates)
        .map(|(place, name)| format!("{place}. {}", escape_markdown(&one_line(name, VALUE_CHARS))))
        .collect();
    format!("{ask}\n\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use chime_core::texts::texts;
    use chime_core::{Amount, AnswerId, Clarification, ItemId, Suggested};

    fn item(position: u32, title: &str) -> Item {
        let price = Some(Price { amount: Amount(1299), currency: Some("EUR".to_owned()) });
        let shown =
            Suggested { title: title.to_owned(), people: vec!["Jane [Doe]".to_owned()], price, ..Suggested::default() };
        Item { id: ItemId { answer: AnswerId(ulid::Ulid(1)), position }, shown }
    }

    fn follow_up() -> FollowUp {
        FollowUp {
            frame: Frame {
                intent: Intent::Cheaper,
                kind: Some("gift_card".to_owned()),
                wanted: vec!["for\nreaders, no *horror*".to_owned()],
                budget: Some(Price { amount: Amount::units(35), currency: Some("EUR".to_owned()) }),
                people: vec!["Tolkien".to_owned()],
                ..Frame::default()
            },
            follows: Some(AnswerId(ulid::Ulid(1))),
            found_by: Some(FoundBy::Thread),
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
    fn a_small_model_reads_beside_a_wish_what_not_to_repeat() {
        assert_eq!(other_than(&follow_up()), " (other than “B Tale”, “A Tale”)");
        assert_eq!(other_than(&FollowUp { excluded: Vec::new(), ..follow_up() }), "");
        let mut about_the_list = follow_up();
        about_the_list.frame.intent = Intent::ItemQuestion;
        assert_eq!(other_than(&about_the_list), "");
    }

    #[test]
    fn the_prompt_has_a_line_for_each_thing_worked_out() {
        expect![[r#"
            asked for: for readers, no *horror*
            kind: gift card
            by: Tolkien
            budget: at most 35 EUR
            reference: "his" means Tolkien
            already suggested, not to be suggested again:
            - B Tale
            - A Tale"#]]
        .assert_eq(&prompt_lines(&follow_up()).join("\n"));
    }

    #[test]
    fn why_says_what_was_resolved_from_where_and_how_sure() {
        expect![[r#"I understood this as a request for something cheaper (gift card, “Tolkien”, at most 35 EUR), going on with the newest list in this conversation. Still valid from there: “for readers, no \*horror\*”. I think “his” means “Tolkien”: it was named in the first question (95% sure). Already suggested, so not again: “B Tale”, “A Tale”."#]].assert_eq(&why(&follow_up(), texts("eng")).expect("told"));
        assert_eq!(why(&FollowUp::default(), texts("eng")), None);
    }

    #[test]
    fn it_is_told_in_the_language_of_the_chat() {
        expect![[r#"So habe ich die Frage verstanden: Bitte um etwas Günstigeres (Gutschein, „Tolkien“, höchstens 35 EUR), als Fortsetzung der neuesten Liste in diesem Gespräch. Von den Wünschen davor gilt weiter: „for readers, no \*horror\*“. Mit „his“ ist wohl „Tolkien“ gemeint (es kam in der ersten Frage vor, zu 95 % sicher). Schon vorgeschlagen, also nicht noch einmal: „B Tale“, „A Tale“."#]].assert_eq(&why(&follow_up(), texts("deu")).expect("told"));
    }

    #[test]
    fn an_item_and_an_open_question_are_told() {
        let asked = FollowUp {
            frame: Frame {
                intent: Intent::ItemQuestion,
                clarification: Some(Clarification {
                    candidates: vec!["A Tale".to_owned(), "B Tale".to_owned()],
                    ask: "that one".to_owned(),
                }),
                ..Frame::default()
            },
            follows: Some(AnswerId(ulid::Ulid(1))),
            items: vec![item(2, "B Tale")],
            ..FollowUp::default()
        };
        expect![[r#"
            about the item: 2. B Tale, Jane [Doe], 12.99 EUR"#]]
        .assert_eq(&prompt_lines(&asked).join("\n"));
        expect!["I understood this as a question about a suggestion. I was not sure which one was meant, so I asked: “A Tale”, “B Tale”."].assert_eq(&why(&asked, texts("eng")).expect("told"));
        expect![[r#"
            Which one do you mean?

            1. A \*Tale\*
            2. B Tale"#]]
        .assert_eq(&question("Which one do you mean?", &["A *Tale*".to_owned(), "B Tale".to_owned()]));
    }
}
