//! Makes text written by a model harmless: no hidden addresses, mentions or commands.

use std::ops::{Range, RangeInclusive};

use super::clip::clip;
use chime_core::{Entity, EntityKind, FormattedText, is_removed, utf16_len, utf16_slice};

/// Invisible character that ends a name or command for Telegram.
const WORD_JOINER: &str = "\u{2060}";

/// Link schemes of Telegram apps, which open chats, join groups and start bots.
const APP_SCHEMES: [&str; 3] = ["tg", "ton", "tonsite"];

/// Telegram's limits on the length of a command.
const COMMAND_LENGTH: RangeInclusive<usize> = 1..=64;

/// Maximum length of a label of a host name.
const MOST_LABEL: usize = 63;

/// Shortest name that Telegram treats as a mention.
const MIN_NAME: usize = 2;

/// Maximum number of names that one text mentions. Others stay plain text.
const MOST_MENTIONED: usize = 5;

/// Addresses and names that an answer may contain because its sources contain them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Allowed<'a> {
    /// Addresses that links with other text may have.
    pub urls: &'a [&'a str],
    /// Names that may be mentioned, without `@`, case-insensitive.
    pub names: &'a [&'a str],
}

/// Removes everything harmful from `text`.
///
/// - A link to an address that is not allowed becomes its text followed by the address in brackets. Only `http` and
///   `https` links qualify; of others only the text remains.
/// - An invisible character breaks up `@names` that are not allowed, `/commands` and app links, except inside code,
///   which Telegram does not scan for them.
/// - Entities that mention a member or run something are dropped.
pub fn defuse(text: FormattedText, allowed: &Allowed<'_>) -> FormattedText {
    let shown = reveal_addresses(text, allowed);
    // The second step must also check the addresses that the first one adds to the text.
    let harmless = join_words(shown, allowed);
    let end = harmless.text.len();
    clip(&harmless, 0..end)
}

fn reveal_addresses(text: FormattedText, allowed: &Allowed<'_>) -> FormattedText {
    let mut insertions = Vec::new();
    let mut entities = Vec::with_capacity(text.entities.len());
    for entity in text.entities {
        match entity_action(&text.text, &entity, allowed) {
            EntityAction::Keep => entities.push(entity),
            EntityAction::Drop => {}
            EntityAction::Reveal(address) => {
                insertions.push(Insertion { at: entity.offset.saturating_add(entity.length), text: address });
            }
        }
    }
    insertions.sort_by_key(|insertion| insertion.at);
    insert(FormattedText { text: text.text, entities }, &insertions)
}

enum EntityAction {
    Keep,
    Drop,
    /// Drops the entity and inserts this text after the text that the entity covered.
    Reveal(String),
}

fn entity_action(text: &str, entity: &Entity, allowed: &Allowed<'_>) -> EntityAction {
    match &entity.kind {
        EntityKind::TextLink { url } if !is_web(url) => EntityAction::Drop,
        EntityKind::TextLink { url } if allowed.urls.contains(&url.as_str()) => EntityAction::Keep,
        EntityKind::TextLink { url } => {
            let words = utf16_slice(text, entity.offset, entity.length);
            if words.trim().is_empty() || address_of(words) == address_of(url) {
                return EntityAction::Drop;
            }
            let printable: String = url.chars().filter(|c| !c.is_control() && !is_removed(*c)).collect();
            EntityAction::Reveal(format!(" ({printable})"))
        }
        EntityKind::TextMention { .. } | EntityKind::Mention | EntityKind::BotCommand | EntityKind::Other => {
            EntityAction::Drop
        }
        EntityKind::Bold
        | EntityKind::Italic
        | EntityKind::Underline
        | EntityKind::Strikethrough
        | EntityKind::Spoiler
        | EntityKind::Code
        | EntityKind::Pre { .. }
        | EntityKind::Blockquote
        | EntityKind::ExpandableBlockquote
        | EntityKind::Url
        | EntityKind::Email
        | EntityKind::Hashtag => EntityAction::Keep,
    }
}

fn is_web(url: &str) -> bool {
    without_scheme(url).is_some_and(|rest| !rest.is_empty())
}

/// Returns a web address without its scheme, or `None` for another scheme. Ignores the scheme's case.
fn without_scheme(url: &str) -> Option<&str> {
    ["https://", "http://"].into_iter().find_map(|scheme| {
        let (start, rest) = url.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    })
}

/// Returns an address without scheme and trailing slashes, to compare it with the visible text of a link.
fn address_of(text: &str) -> &str {
    let text = text.trim();
    without_scheme(text).unwrap_or(text).trim_end_matches('/')
}

/// Text to insert before the UTF-16 unit `at`.
struct Insertion {
    at: usize,
    text: String,
}

fn join_words(text: FormattedText, allowed: &Allowed<'_>) -> FormattedText {
    let code: Vec<Range<usize>> = text
        .entities
        .iter()
        .filter(|entity| matches!(entity.kind, EntityKind::Code | EntityKind::Pre { .. }))
        .map(|entity| entity.offset..entity.offset.saturating_add(entity.length))
        .collect();
    let mut units = 0;
    let mut counted = 0;
    let mut insertions = Vec::new();
    for at in joiner_positions(&text.text, allowed.names) {
        units += utf16_len(&text.text[counted..at]);
        counted = at;
        // Skips positions directly after a character in code: an `@` in code is harmless, even if the name after it is
        // not in code.
        if !code.iter().any(|range| range.start < units && units <= range.end) {
            insertions.push(Insertion { at: units, text: WORD_JOINER.to_owned() });
        }
    }
    insert(text, &insertions)
}

/// Returns the byte positions in `text` where a word joiner prevents a mention, a command or an app link. If it is
/// uncertain whether one is needed, it is added, because an extra invisible character is harmless.
fn joiner_positions(text: &str, names: &[&str]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut mentioned: Vec<&str> = Vec::new();
    let mut previous = None;
    let mut web_until = 0;
    for (at, c) in text.char_indices() {
        let after = &text[at + c.len_utf8()..];
        match c {
            // Telegram reads a web address as one word, and a joiner inside would break it.
            _ if at < web_until => {}
            'h' | 'H' if !ends_word(previous) => web_until = at + web_address_len(&text[at..]),
            '@' if !ends_word(previous) && is_ping(after, names, &mut mentioned) => found.push(at + 1),
            '/' if !ends_word(previous) && !matches!(previous, Some('/' | '<')) && is_command(after) => {
                found.push(at + 1)
            }
            ':' if after.starts_with("//") && is_app_scheme(&text[..at]) => found.push(at),
            _ => {}
        }
        previous = Some(c);
    }
    found
}

fn ends_word(previous: Option<char>) -> bool {
    previous.is_some_and(is_name_char)
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the letters, digits and underscores at the start of `text`, and the character after them.
fn name(text: &str) -> (&str, Option<char>) {
    let end = text.find(|c| !is_name_char(c)).unwrap_or(text.len());
    (&text[..end], text[end..].chars().next())
}

/// Returns `true` if `after` begins with a name that must not be mentioned. Adds an allowed one to `mentioned`.
fn is_ping<'n>(after: &str, names: &[&'n str], mentioned: &mut Vec<&'n str>) -> bool {
    let (name, _) = name(after);
    let Some(allowed) = names.iter().find(|allowed| allowed.eq_ignore_ascii_case(name)) else {
        return name.len() >= MIN_NAME;
    };
    if !mentioned.contains(allowed) {
        mentioned.push(allowed);
    }
    mentioned.iter().position(|known| known == allowed) >= Some(MOST_MENTIONED)
}

/// Returns `true` if a slash starts a command. In `/usr/bin` it does not: a command must be a whole word.
fn is_command(after: &str) -> bool {
    let (name, next) = name(after);
    COMMAND_LENGTH.contains(&name.len()) && next != Some('/')
}

fn is_app_scheme(before: &str) -> bool {
    let ends_with = |scheme: &str| {
        let word = before.len().checked_sub(scheme.len()).and_then(|at| before.get(at..));
        word.is_some_and(|word| word.eq_ignore_ascii_case(scheme))
    };
    APP_SCHEMES.into_iter().any(ends_with)
}

/// Returns the length in bytes of a web address at the start of `text`; 0 if Telegram might delimit it differently.
fn web_address_len(text: &str) -> usize {
    let Some(rest) = without_scheme(text) else { return 0 };
    let host_end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '-')).unwrap_or(rest.len());
    let (host, path) = rest.split_at(host_end);
    let is_top_level = |label: &str| label.len() >= 2 && label.bytes().all(|b| b.is_ascii_alphabetic());
    let is_label =
        |label: &str| (1..=MOST_LABEL).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-');
    let known = host.rsplit_once('.').is_some_and(|(_, label)| is_top_level(label))
        && host.split('.').all(is_label)
        && path.starts_with(['/', '?', '#']);
    if !known {
        return 0;
    }
    let is_path = |c: char| c.is_ascii_alphanumeric() || "-._~/?#@!$&*+,;=%:".contains(c);
    text.len() - path.trim_start_matches(is_path).len()
}

/// Inserts `insertions`, which must be sorted.
fn insert(text: FormattedText, insertions: &[Insertion]) -> FormattedText {
    let mut out = String::with_capacity(text.text.len());
    let mut pending = insertions.iter().peekable();
    let mut units = 0;
    for c in text.text.chars() {
        while let Some(insertion) = pending.next_if(|insertion| insertion.at <= units) {
            out.push_str(&insertion.text);
        }
        out.push(c);
        units += c.len_utf16();
    }
    out.extend(pending.map(|insertion| insertion.text.as_str()));
    let mut entities = text.entities;
    for entity in &mut entities {
        shift(entity, insertions);
    }
    FormattedText { text: out, entities }
}

/// Adjusts the range of `entity` to `insertions`.
///
/// Text inserted at an edge stays outside, except at the end of a quote, which is a block.
fn shift(entity: &mut Entity, insertions: &[Insertion]) {
    let is_quote = matches!(entity.kind, EntityKind::Blockquote | EntityKind::ExpandableBlockquote);
    let old_end = entity.offset.saturating_add(entity.length);
    let growth = |before: &dyn Fn(usize) -> bool| -> usize {
        insertions.iter().take_while(|insertion| before(insertion.at)).map(|insertion| utf16_len(&insertion.text)).sum()
    };
    let start = entity.offset.saturating_add(growth(&|at| at <= entity.offset));
    let end = old_end.saturating_add(growth(&|at| at < old_end || (is_quote && at == old_end)));
    entity.offset = start;
    entity.length = end.saturating_sub(start);
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::to_entities;

    /// Shows word joiners as `·` and entities as `kind[words]`.
    #[track_caller]
    fn check(markdown: &str, expected: Expect) {
        let allowed = Allowed { urls: &["https://t.me/c/1/5", "https://ok.example/"], names: &["Ana_1"] };
        let safe = defuse(to_entities(markdown), &allowed);
        let mut shown = safe.text.clone();
        for entity in &safe.entities {
            let words = utf16_slice(&safe.text, entity.offset, entity.length);
            let kind = match &entity.kind {
                EntityKind::TextLink { url } => format!("link {url}"),
                kind => format!("{kind:?}"),
            };
            shown += &format!("\n{kind}[{words}]");
        }
        expected.assert_eq(&shown.replace(WORD_JOINER, "·"));
    }

    #[test]
    fn links_to_given_sources_stay() {
        check(
            "see [1](https://t.me/c/1/5)",
            expect![[r#"
            see 1
            link https://t.me/c/1/5[1]"#]],
        );
    }

    #[test]
    fn other_links_show_their_address() {
        check(
            "**[our bank](https://evil.example/a_b)!** ok",
            expect![[r#"
            our bank (https://evil.example/a_b)! ok
            Bold[our bank (https://evil.example/a_b)!]"#]],
        );
        check("[https://bank.example](https://evil.example)", expect!["https://bank.example (https://evil.example)"]);
        check(
            "> 😀 [a](https://b.example)",
            expect![[r#"
            😀 a (https://b.example)
            Blockquote[😀 a (https://b.example)]"#]],
        );
    }

    #[test]
    fn words_that_are_the_address_are_not_doubled() {
        check("[evil.example](https://evil.example/)", expect!["evil.example"]);
        check("<https://evil.example>", expect!["https://evil.example"]);
    }

    #[test]
    fn only_the_web_can_be_linked_to() {
        check("[a](javascript:alert) [b](tg://user?id=1) [c](mailto:x@y.z) [d](/etc)", expect!["a b c d"]);
        check("open tg://resolve?domain=x", expect!["open tg·://resolve?domain=x"]);
    }

    #[test]
    fn only_given_names_are_mentioned() {
        check("@bob, @ana_1 and (@Eve) at a@b.example", expect!["@·bob, @ana_1 and (@·Eve) at a@b.example"]);
        check(
            "@**bob** at 5 @ 3",
            expect![[r#"
            @·bob at 5 @ 3
            Bold[bob]"#]],
        );
    }

    #[test]
    fn a_text_mentions_a_few_names_at_most() {
        let names: Vec<String> = (1..=7).map(|number| format!("name_{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = FormattedText::plain(names.iter().map(|name| format!("@{name} ")).collect::<String>() + "@Name_1");
        let safe = defuse(text, &Allowed { urls: &[], names: &names }).text.replace(WORD_JOINER, "·");
        assert_eq!(safe, "@name_1 @name_2 @name_3 @name_4 @name_5 @·name_6 @·name_7 @Name_1");
    }

    #[test]
    fn commands_do_not_run() {
        check("/ban@bot or (/start) or and/or 1/2 /usr/bin", expect!["/·ban@bot or (/·start) or and/or 1/2 /usr/bin"]);
        check("[x](https://b.example)/ban", expect!["x (https://b.example)/·ban"]);
    }

    #[test]
    fn code_is_left_alone() {
        check(
            "`/ban @bob` @bob",
            expect![[r#"
            /ban @bob @·bob
            Code[/ban @bob]"#]],
        );
    }

    #[test]
    fn web_addresses_are_not_broken_but_cover_no_mention() {
        check("https://blog.example/@bob/post?a=/b", expect!["https://blog.example/@bob/post?a=/b"]);
        check(
            "https://@bob https://x/@bob http://a.example/)@bob",
            expect!["https://@·bob https://x/@·bob http://a.example/)@·bob"],
        );
        check("[x](https://@bob)", expect!["x (https://@·bob)"]);
        check(
            "https://a..com/@bob https://a-.com/@bob https://a-b.example/@bob",
            expect!["https://a..com/@·bob https://a-.com/@·bob https://a-b.example/@bob"],
        );
    }

    #[test]
    fn entities_that_ping_are_dropped() {
        let text = FormattedText {
            text: "Bob".to_owned(),
            entities: vec![Entity {
                offset: 0,
                length: 3,
                kind: EntityKind::TextMention { user: chime_core::UserRef { id: chime_core::UserId(7) } },
            }],
        };
        assert_eq!(defuse(text, &Allowed::default()), FormattedText::plain("Bob"));
    }
}
