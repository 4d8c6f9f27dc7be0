//! Property tests: rules that hold for every text that we format, split or make harmless.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::clip::MAX_ENTITIES;
use super::{Allowed, CUT_NOTICE, MAX_PARTS, MAX_UNITS, defuse, split, to_entities};
use chime_core::{Entity, EntityKind, FormattedText, is_blank, utf16_len, utf16_slice};

/// Telegram's limit for an unparsed text, in bytes.
const MAX_BYTES: usize = 32 * 1024;

/// Random combinations of pieces that break naive formatters.
fn piece() -> impl Strategy<Value = String> {
    const MARKS: &[&str] = &[
        "*",
        "**",
        "_",
        "__",
        "~",
        "~~",
        "`",
        "``",
        "\n```\n",
        "\n```rust\n",
        "||",
        "[",
        "](",
        ")",
        "](https://a.example)",
        "![",
        "<b>",
        "</b>",
        "<div>\n",
        "&amp;",
        "&#1;",
        "\\",
        "|",
        "\n| a | b |\n|---|--:|\n| `c` | [d](https://e.example) |\n",
    ];
    const BLOCKS: &[&str] = &[
        "\n", "\n\n", "\n- ", "\n  - ", "\n1. ", "\n> ", "\n>> ", "\n# ", "\n---\n", "\n    ", "  \n", " ", "\t",
        "\r\n",
    ];
    const LETTERS: &[&str] = &[
        "word",
        "Two words. And",
        "👨‍👩‍👧‍👦",
        "🇩🇪",
        "😀",
        "e\u{301}\u{302}",
        " \u{301}",
        "שלום עולם",
        "مرحبا",
        "日本語。",
        "\u{202E}",
        "\u{200B}",
        "\u{2060}",
        "\0",
        "\u{FEFF}",
        "\u{A0}",
        "snake_case",
        "[x]: y",
        "[1]: https://b.example",
    ];
    const DANGERS: &[&str] = &[
        "@bob",
        "@\u{30A}bob",
        "/\u{333}start",
        "tg\u{33F}://join",
        "&#778;",
        "@Ana",
        "/start",
        "/ban@bot",
        "tg://join",
        "](tg://user?id=1)",
        "](javascript:x)",
        "https://c.example/p",
    ];
    prop_oneof![
        4 => prop::sample::select(MARKS).prop_map(str::to_owned),
        3 => prop::sample::select(BLOCKS).prop_map(str::to_owned),
        4 => prop::sample::select(LETTERS).prop_map(str::to_owned),
        2 => prop::sample::select(DANGERS).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn markdown() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..40).prop_map(|pieces| pieces.concat())
}

fn long_markdown() -> impl Strategy<Value = String> {
    let filler = prop_oneof![
        Just("word ".repeat(300)),
        Just("x".repeat(2500)),
        Just("👨‍👩‍👧‍👦".repeat(150)),
        Just("*a* `b` ".repeat(120)),
        Just("A line of it.\n".repeat(100)),
        Just("e\u{301}".repeat(900)),
        Just(format!("\n\n| name | where | how many |\n|---|:-:|--:|\n{}\n", "| Ana 😀 | שלום | 12 ||\n".repeat(220))),
        Just(format!("\n{}\n", "- a\n  1. b **c\n     - d ||e||\n       > f\n".repeat(60))),
        Just(format!("\n{}\n", "> a quote that is *long*, مرحبا ||hidden|| `x`\n> > in one\n".repeat(40))),
        Just(format!("||{}||", "שלום hidden **bold** \u{202E}back ".repeat(130))),
    ];
    prop::collection::vec(prop_oneof![3 => markdown(), 2 => filler], 0..14).prop_map(|pieces| pieces.concat())
}

/// Entities at random positions, including invalid ones.
fn arbitrary_entities() -> impl Strategy<Value = Vec<Entity>> {
    let kind = prop_oneof![
        Just(EntityKind::Bold),
        Just(EntityKind::Code),
        Just(EntityKind::Pre { language: None }),
        Just(EntityKind::Blockquote),
        Just(EntityKind::TextLink { url: "https://a.example".to_owned() }),
        Just(EntityKind::Mention),
    ];
    let bound = || prop_oneof![4 => 0..200usize, 1 => any::<usize>()];
    let entity = (bound(), bound(), kind).prop_map(|(offset, length, kind)| Entity { offset, length, kind });
    prop::collection::vec(entity, 0..130)
}

fn end(entity: &Entity) -> usize {
    entity.offset + entity.length
}

/// Checks Telegram's rules for any text.
fn check_shape(text: &FormattedText) -> Result<(), TestCaseError> {
    let all = text.text.as_str();
    prop_assert_eq!(all.trim_end(), all);
    prop_assert!(all.is_empty() || !is_blank(all));
    prop_assert!(text.entities.len() <= MAX_ENTITIES);
    prop_assert!(text.entities.is_sorted_by_key(|entity| entity.offset));
    let units: Vec<u16> = all.encode_utf16().collect();
    for entity in &text.entities {
        let words = units.get(entity.offset..end(entity)).map(String::from_utf16);
        let Some(Ok(words)) = words else { return Err(TestCaseError::fail(format!("{entity:?} out of bounds"))) };
        prop_assert!(!is_blank(&words));
        prop_assert_eq!(words.trim_end(), words.as_str());
        prop_assert!(is_block(&entity.kind) || words.trim_start() == words);
        prop_assert!(!words.starts_with('\n'));
    }
    Ok(())
}

fn is_block(kind: &EntityKind) -> bool {
    matches!(kind, EntityKind::Pre { .. }) || is_quote(kind)
}

fn is_quote(kind: &EntityKind) -> bool {
    matches!(kind, EntityKind::Blockquote | EntityKind::ExpandableBlockquote)
}

fn is_code(kind: &EntityKind) -> bool {
    matches!(kind, EntityKind::Code | EntityKind::Pre { .. })
}

/// Checks Telegram's rules for entities that share characters.
fn check_nesting(text: &FormattedText) -> Result<(), TestCaseError> {
    for (index, a) in text.entities.iter().enumerate() {
        for b in text.entities[index + 1..].iter().take_while(|b| b.offset < end(a)) {
            prop_assert!(end(b) <= end(a), "{a:?} and {b:?} overlap in {:?}", text.text);
            let a_quote_around = is_quote(&a.kind) || (is_quote(&b.kind) && a.offset == b.offset && end(a) == end(b));
            let same = a.kind == b.kind || (is_quote(&a.kind) && is_quote(&b.kind));
            let links = [a, b].iter().all(|e| matches!(e.kind, EntityKind::TextLink { .. }));
            prop_assert!(!same && !links, "{a:?} in {b:?}");
            prop_assert!(
                a_quote_around || !(is_code(&a.kind) || is_code(&b.kind)),
                "{a:?} and {b:?} in {:?}",
                text.text
            );
        }
    }
    Ok(())
}

/// Returns the visible graphemes, without white space.
fn graphemes(text: &str) -> Vec<&str> {
    text.graphemes(true).map(str::trim).filter(|grapheme| !is_blank(grapheme)).collect()
}

fn check_parts(text: &FormattedText) -> Result<(), TestCaseError> {
    let parts = split(text);
    prop_assert!(parts.len() <= MAX_PARTS);
    for part in &parts {
        prop_assert!(!part.text.is_empty());
        prop_assert!(utf16_len(&part.text) <= MAX_UNITS && part.text.len() <= MAX_BYTES);
        check_shape(part)?;
    }
    let shown: Vec<&str> = parts.iter().flat_map(|part| graphemes(&part.text)).collect();
    let meant = graphemes(&text.text);
    if parts.last().is_some_and(|part| part.text.ends_with(CUT_NOTICE)) {
        let kept = shown.len() - graphemes(CUT_NOTICE).len();
        prop_assert!(parts.len() == MAX_PARTS && kept < meant.len());
        prop_assert_eq!(&shown[..kept], &meant[..kept]);
    } else {
        prop_assert_eq!(shown, meant);
    }
    Ok(())
}

/// Returns mentions, commands and app links that Telegram would make active: outside of code and web addresses.
fn active_parts(text: &FormattedText) -> Vec<String> {
    let all = text.text.as_str();
    let address = regex::Regex::new(r"(?i)https://[a-z]\.example[/?#][-a-z0-9_.~/?#@!$&*+,;=%:]*").unwrap();
    let active = regex::Regex::new(
        r"(?i)(?:^|[^a-z0-9_])(@bob|@ana)|(?:^|[^a-z0-9_/<])(/start|/ban)[a-z0-9_]*(?:[^a-z0-9_/]|$)|(tg://)",
    )
    .unwrap();
    let found = active.captures_iter(all).flat_map(|found| found.iter().skip(1).flatten().collect::<Vec<_>>());
    let is_inert = |at: usize| {
        let units = utf16_len(&all[..at]);
        let in_code = text.entities.iter().any(|e| is_code(&e.kind) && (e.offset..end(e)).contains(&units));
        in_code || address.find_iter(all).any(|address| address.range().contains(&at))
    };
    found.filter(|word| !is_inert(word.start())).map(|word| word.as_str().to_lowercase()).collect()
}

/// Configures tests that write no failure files. `part` divides the number of cases, for slow tests.
fn without_files(part: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases / part, failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(without_files(1))]

    #[test]
    fn formatted_text_is_what_telegram_takes(markdown in markdown()) {
        let formatted = to_entities(&markdown);
        check_shape(&formatted)?;
        check_nesting(&formatted)?;
        prop_assert!(!formatted.text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
        prop_assert_eq!(formatted.text.is_empty(), is_blank(&markdown));
        prop_assert_eq!(&to_entities(&markdown), &formatted);
    }

    #[test]
    fn any_text_can_be_formatted(text in any::<String>()) {
        check_shape(&to_entities(&text))?;
    }

    #[test]
    fn harmless_text_is_what_telegram_takes(markdown in markdown()) {
        let allowed = Allowed { urls: &["https://a.example"], names: &["ana"] };
        let safe = defuse(to_entities(&markdown), &allowed);
        check_shape(&safe)?;
        check_nesting(&safe)?;
        for entity in &safe.entities {
            if let EntityKind::TextLink { url } = &entity.kind {
                prop_assert_eq!(url, "https://a.example");
            }
        }
        for part in active_parts(&safe) {
            prop_assert_eq!(part, "@ana");
        }
        prop_assert_eq!(&defuse(safe.clone(), &allowed), &safe);
    }

    #[test]
    fn harmless_text_shows_the_same_words(markdown in markdown()) {
        let formatted = to_entities(&markdown);
        let urls: Vec<&str> = formatted.entities.iter().filter_map(|entity| match &entity.kind {
            EntityKind::TextLink { url } => Some(url.as_str()),
            _ => None,
        }).collect();
        let safe = defuse(formatted.clone(), &Allowed { urls: &urls, names: &[] });
        prop_assert_eq!(safe.text.replace('\u{2060}', ""), formatted.text.replace('\u{2060}', ""));
        for (before, after) in formatted.entities.iter().filter(|e| !matches!(e.kind, EntityKind::TextLink { .. })).zip(
            safe.entities.iter().filter(|e| !matches!(e.kind, EntityKind::TextLink { .. })),
        ) {
            let words = |text: &FormattedText, e: &Entity| utf16_slice(&text.text, e.offset, e.length).replace('\u{2060}', "");
            prop_assert_eq!(words(&formatted, before), words(&safe, after));
        }
    }

    #[test]
    fn any_text_with_any_entities_can_be_made_harmless(text in markdown(), entities in arbitrary_entities()) {
        check_shape(&defuse(FormattedText { text, entities }, &Allowed::default()))?;
    }
}

proptest! {
    #![proptest_config(without_files(4))]

    #[test]
    fn parts_are_within_limits_and_lose_nothing(markdown in long_markdown()) {
        let formatted = to_entities(&markdown);
        check_parts(&formatted)?;
        for part in split(&formatted) {
            check_nesting(&part)?;
        }
    }

    #[test]
    fn any_text_with_any_entities_can_be_cut(text in long_markdown(), entities in arbitrary_entities()) {
        check_parts(&FormattedText { text, entities })?;
    }
}
