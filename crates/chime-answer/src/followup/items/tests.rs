//! Tests that read the items from recorded answers.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct File {
    answer: Vec<Recorded>,
}

#[derive(Deserialize)]
struct Recorded {
    style: String,
    kind: String,
    text: String,
    titles: Vec<String>,
    people: Option<Vec<String>>,
    /// Price of each item, such as `12.99 EUR`; an empty string if it has none.
    prices: Option<Vec<String>>,
}

fn recorded() -> Vec<Recorded> {
    toml::from_str::<File>(include_str!("../../../../../tests/data/follow_ups/answers.toml"))
        .expect("valid data")
        .answer
}

/// Returns the items of a list or, if there is none, those that sentences offer.
fn read(answer: &str, kind: Option<&str>) -> Vec<Suggested> {
    let found = items(answer, kind);
    if found.is_empty() { offered_items(answer, kind) } else { found }
}

fn titles(items: &[Suggested]) -> Vec<&str> {
    items.iter().map(|item| item.title.as_str()).collect()
}

#[test]
fn at_least_95_percent_of_the_titles_are_read_and_next_to_nothing_else() {
    let answers = recorded();
    assert!(answers.len() >= 40);
    for style in ["numbered", "bulleted", "bold", "prose"] {
        assert!(answers.iter().filter(|answer| answer.style == style).count() >= 8, "{style}");
    }
    let (mut known, mut found, mut spare, mut wrong) = (0, 0, 0, Vec::new());
    for answer in &answers {
        let items = read(&answer.text, Some(&answer.kind));
        let hits = answer.titles.iter().filter(|title| items.iter().any(|item| item.title == **title)).count();
        known += answer.titles.len();
        found += hits;
        spare += items.len() - hits;
        if titles(&items) != answer.titles {
            wrong.push(format!("{:?}\n  -> {:?}", answer.titles, titles(&items)));
        }
    }
    assert!(
        found * 100 >= known * 95 && spare * 100 <= known * 5,
        "{found}/{known}, {spare} spare\n{}",
        wrong.join("\n")
    );
}

#[test]
fn people_and_prices_come_with_the_titles() {
    let mut wrong = Vec::new();
    for answer in recorded() {
        let items = read(&answer.text, Some(&answer.kind));
        if let Some(expected) = answer.people {
            let people: Vec<String> = items.iter().flat_map(|item| item.people.clone()).collect();
            if !expected.iter().all(|name| people.contains(name)) || people.len() > expected.len() + 1 {
                wrong.push(format!("{expected:?}\n  -> {people:?}"));
            }
        }
        if let Some(expected) = answer.prices {
            let rendered =
                |price: &chime_core::Price| format!("{} {}", price.amount, price.currency.as_deref().unwrap_or("?"));
            let prices: Vec<String> =
                items.iter().map(|item| item.price.as_ref().map(rendered).unwrap_or_default()).collect();
            if prices != expected {
                wrong.push(format!("{expected:?}\n  -> {prices:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn addresses_are_kept_and_citations_are_not() {
    let items = items("1. [Kumu](https://kumu.example/) – art [source: m3]\n2. Noa [source: m4, m5]", None);
    assert_eq!(titles(&items), ["Kumu", "Noa"]);
    assert_eq!(items[0].url.as_deref(), Some("https://kumu.example/"));
    let cited =
        "1. **Kumu** – art [\\[1\\]](https://t.me/c/1/4)\n2. **Noa**\n\nSources: [\\[1\\]](https://t.me/c/1/4) Ana";
    assert_eq!(super::items(cited, None)[0].url, None);
    assert!(!is_of_messages(cited, 2), "the line of the sources does not count");
}

#[test]
fn a_short_list_of_names_in_bold_is_a_choice() {
    assert!(offers_choice(
        "箱根か熱海です。\n1. **箱根湯本** – 1時間半\n2. **熱海** – 1時間 [\\[1\\]](https://t.me/c/1/4)"
    ));
    let packed: Vec<String> = (1..8).map(|n| format!("{n}. **Thing {n}**")).collect();
    for text in [
        "1. Peel the apples.\n2. Mix flour and butter.",
        "- **Kumu**\n- **Noa**",
        "1. **Kumu**",
        "1. **Tent** – Ana [1]\n2. **Stove** – Ben [2]",
        &packed.join("\n"),
    ] {
        assert!(!offers_choice(text), "{text}");
    }
}

#[test]
fn an_offer_in_a_sentence_may_name_the_maker() {
    let found = offered_items(
        "Try Norwegian Wood by Haruki Murakami; or Pachinko by Min Jin Lee would work too.",
        Some("book"),
    );
    assert_eq!(titles(&found), ["Norwegian Wood", "Pachinko"]);
    assert_eq!([&found[0].people[..], &found[1].people[..]].concat(), ["Haruki Murakami", "Min Jin Lee"]);
}

#[test]
fn only_a_name_in_one_line_is_an_item() {
    let title = |text: &str| only_item(text, None).map(|item| item.title);
    assert_eq!(title("Concordia: five players, no dice.").as_deref(), Some("Concordia"));
    assert_eq!(title("Bosch EasyDrill 18V – light, 70 €").as_deref(), Some("Bosch EasyDrill 18V"));
    assert_eq!(title("Azul.").as_deref(), Some("Azul"));
    for text in ["Nothing.", "Yes, I think so.", "Nobody said: ask Ben.", "It depends: how many are you?", "A\nB"] {
        assert_eq!(title(text), None, "{text}");
    }
}

#[test]
fn plain_talk_suggests_nothing() {
    for text in ["Ana brings the tent on Friday.", "", "Yes.", "I do not know. Ask Ben, he was there.", "1. \n- \n**"] {
        assert_eq!(items(text, None), [], "{text:?}");
    }
}

#[test]
fn a_title_is_the_same_without_case_and_diacritics() {
    let item = Suggested { title: "Café Noir".to_owned(), ..Suggested::default() };
    assert!(repeats_title(&item, ["cafe noir"].iter()));
    assert!(!repeats_title(&item, ["Café Blanc"].iter()));
}

#[test]
fn a_quoted_word_inside_a_title_keeps_its_marks() {
    let found = items("1. **Windlicht mit Gravur „70“** – 25 €\n2. “The Hobbit”, 12 €", None);
    assert_eq!(titles(&found), ["Windlicht mit Gravur „70“", "The Hobbit"]);
}

#[test]
fn a_comma_ends_a_title_only_behind_a_name_or_before_a_price() {
    let list = "1. garlic, ginger\n2. 2 Möhren, klein geschnitten\n3. Melk, a day out\n4. fillet knife, about 35 €";
    assert_eq!(titles(&items(list, None)), ["garlic, ginger", "2 Möhren, klein geschnitten", "Melk", "fillet knife"]);
}

#[test]
fn numbers_are_those_of_the_answer_and_a_long_title_is_shortened() {
    let long = "Walk along the river to the old mill and ".repeat(4);
    let found = items(&format!("2. {long}\n5. **Bowling**\n\nFor two:\n1. **Minigolf**"), None);
    assert_eq!(found.iter().map(|item| item.number).collect::<Vec<_>>(), [Some(2), Some(5), Some(1)]);
    assert!(found[0].title.ends_with('…') && found[0].title.chars().count() == 100, "{found:?}");
}

#[test]
fn a_day_in_bold_is_no_item() {
    assert_eq!(items("**Thu:** arrive 22:40\n**Fri:** Oceanário", None), []);
}

#[test]
fn letters_before_a_dollar_change_its_currency() {
    let currency = |text: &str| line::price(text).and_then(|price| price.currency);
    for (text, code) in [("R$ 38 o quilo", "BRL"), ("A$20", "AUD"), ("MX$ 90", "MXN"), ("$ 5", "USD")] {
        assert_eq!(currency(text).as_deref(), Some(code), "{text}");
    }
}

#[test]
fn a_maker_is_no_kind_of_thing_and_may_follow_a_title_of_any_kind() {
    let people = |text: &str| items(text, None).into_iter().next().map(|item| (item.title, item.people));
    let of = |title: &str, maker: &str| Some((title.to_owned(), vec![maker.to_owned()]));
    assert_eq!(
        people("- Libro «El libro del té» de Kakuzo Okakura, 9 €\n- Otro"),
        of("El libro del té", "Kakuzo Okakura")
    );
    assert_eq!(people("1. **Emma** – Jane Austen\n2. Other"), of("Emma", "Jane Austen"));
    assert_eq!(people("1. **Lido** – Old and quiet\n2. Other"), Some(("Lido".to_owned(), Vec::new())));
}

#[test]
fn a_remark_in_brackets_leaves_a_title_and_a_part_of_its_name_stays() {
    assert_eq!(
        titles(&items("1. Nothing Phone (2a)\n2. The Hobbit (1937)\n3. Falafel Corner (9€)\n4. Nopi (new)", None)),
        ["Nothing Phone (2a)", "The Hobbit", "Falafel Corner", "Nopi"]
    );
}

#[test]
fn a_unit_is_no_item_of_a_sentence() {
    let offered = offered_items("Wie wäre es mit Ivanhoe, 8 Euro, oder Emma für 28 Euro?", None);
    assert_eq!(titles(&offered), ["Ivanhoe", "Emma"]);
    assert!(offered.iter().all(|item| item.price.is_some()), "{offered:?}");
}
