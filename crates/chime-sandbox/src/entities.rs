//! Entities that Telegram finds in a text, and checks of entities sent by bots.
//!
//! Sufficient for group chats: mentions, commands, addresses and hashtags. Offsets count UTF-16 units.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use chime_core::{Entity, EntityKind, FormattedText, pattern, utf16_len};

/// Matches what Telegram marks in a text. The real server knows all top-level domains.
static ENTITY: LazyLock<Regex> = LazyLock::new(|| {
    const HOST: &str = r"[A-Za-z0-9][A-Za-z0-9.-]*\.(?i:com|org|net|io|dev|me|app|eu|ee|de|fr|es)\b";
    pattern(&format!(
        r"(?x) \B (?<mention> @[A-Za-z0-9_]{{3,32}}\b)
        | \B (?<command> /[A-Za-z0-9_]{{1,64}}\b (?:@[A-Za-z0-9_]{{3,32}}\b)?)
        | \B (?<hashtag> \#\d*[^\W\d]\w*)
        | \b (?<email> [A-Za-z0-9_.+%-]+@{HOST})
        | \b (?<url> (?i:https?://)\w\S* | {HOST}(?:[/?\#:]\S*)?)"
    ))
});
/// Characters that do not stand directly before or after a command.
const BESIDE_NO_COMMAND: [char; 3] = ['/', '<', '>'];
/// Punctuation that ends a sentence or a bracket and does not belong to an address.
const PUNCTUATION: [char; 13] = ['.', ',', ';', ':', '!', '?', ')', ']', '}', '\'', '"', '>', '-'];

/// Adds the entities that Telegram finds in `text` to the `given` ones, sorted by position. Omits found ones that
/// conflict with a given one.
pub(super) fn complete(text: &str, given: Vec<Entity>) -> Vec<Entity> {
    let mut found = find(text);
    found.retain(|new| !given.iter().any(|old| overlap(old, new) && (is_whole(&old.kind) || cross(old, new))));
    let mut all = given;
    all.append(&mut found);
    sort(&mut all);
    all
}

/// Checks entities on `text`. The error is Telegram's own message where one is known.
///
/// The real server repairs entities that overlap or nest incorrectly. They are refused here, because a bot that relies
/// on the repair does not control what it sends.
pub(super) fn check(text: &str, entities: &[Entity]) -> Result<(), String> {
    let end = utf16_len(text);
    let mut boundaries: Vec<usize> = Vec::with_capacity(end + 1);
    boundaries.push(0);
    for c in text.chars() {
        boundaries.push(boundaries.last().map_or(0, |last| last + c.len_utf16()));
    }
    for Entity { offset, length, .. } in entities {
        let stop = offset.saturating_add(*length);
        if *offset > end {
            return Err(format!("entity begins after the end of the text at UTF-16 offset {offset}"));
        }
        if stop > end {
            return Err(format!(
                "entity beginning at UTF-16 offset {offset} ends after the end of the text at UTF-16 offset {stop}"
            ));
        }
        if boundaries.binary_search(offset).is_err() || boundaries.binary_search(&stop).is_err() {
            return Err(format!("entity beginning at UTF-16 offset {offset} ends in a middle of a UTF-16 symbol"));
        }
    }
    check_nesting(entities)
}

/// Trims `text` as the real server does, and adjusts the entities.
pub(super) fn trimmed(text: &str, entities: Vec<Entity>) -> FormattedText {
    let kept = text.trim();
    let skipped = utf16_len(text) - utf16_len(text.trim_start());
    let length = utf16_len(kept);
    let moved = entities.into_iter().filter_map(|entity| {
        let start = entity.offset.saturating_sub(skipped).min(length);
        let stop = (entity.offset + entity.length).saturating_sub(skipped).min(length);
        (stop > start).then(|| Entity { offset: start, length: stop - start, kind: entity.kind })
    });
    let mut entities: Vec<Entity> = moved.collect();
    sort(&mut entities);
    FormattedText { text: kept.to_owned(), entities }
}

fn check_nesting(entities: &[Entity]) -> Result<(), String> {
    for (index, one) in entities.iter().enumerate() {
        for other in entities.iter().skip(index + 1) {
            if !overlap(one, other) {
                continue;
            }
            let both_quotes = is_quote(&one.kind) && is_quote(&other.kind);
            if cross(one, other) || is_code(&one.kind) || is_code(&other.kind) || both_quotes {
                return Err(format!(
                    "entity beginning at UTF-16 offset {} overlaps the one at UTF-16 offset {}",
                    other.offset, one.offset
                ));
            }
        }
    }
    Ok(())
}

fn sort(entities: &mut [Entity]) {
    entities.sort_by_key(|entity| (entity.offset, std::cmp::Reverse(entity.length)));
}

fn overlap(one: &Entity, other: &Entity) -> bool {
    one.offset < other.offset + other.length && other.offset < one.offset + one.length
}

/// Returns `true` if two entities overlap and neither contains the other.
fn cross(one: &Entity, other: &Entity) -> bool {
    let holds = |outer: &Entity, inner: &Entity| {
        outer.offset <= inner.offset && inner.offset + inner.length <= outer.offset + outer.length
    };
    overlap(one, other) && !holds(one, other) && !holds(other, one)
}

fn is_code(kind: &EntityKind) -> bool {
    matches!(kind, EntityKind::Code | EntityKind::Pre { .. })
}

fn is_quote(kind: &EntityKind) -> bool {
    matches!(kind, EntityKind::Blockquote | EntityKind::ExpandableBlockquote)
}

/// Returns `true` if Telegram finds no other entities inside an entity of this kind.
fn is_whole(kind: &EntityKind) -> bool {
    let is_style = matches!(
        kind,
        EntityKind::Bold
            | EntityKind::Italic
            | EntityKind::Underline
            | EntityKind::Strikethrough
            | EntityKind::Spoiler
            | EntityKind::Blockquote
            | EntityKind::ExpandableBlockquote
    );
    !is_style
}

/// Finds mentions, commands, addresses and hashtags.
fn find(text: &str) -> Vec<Entity> {
    let kinds = [
        ("mention", EntityKind::Mention),
        ("command", EntityKind::BotCommand),
        ("hashtag", EntityKind::Hashtag),
        ("email", EntityKind::Email),
        ("url", EntityKind::Url),
    ];
    let of_match = |found: Captures<'_>| {
        let (part, kind) = kinds.iter().find_map(|(name, kind)| Some((found.name(name)?, kind)))?;
        let (before, rest) = text.split_at(part.start());
        let (part, after) = rest.split_at(part.len());
        if *kind == EntityKind::BotCommand
            && (before.ends_with(BESIDE_NO_COMMAND) || after.starts_with(BESIDE_NO_COMMAND))
        {
            return None;
        }
        let part = if *kind == EntityKind::Url { part.trim_end_matches(PUNCTUATION) } else { part };
        Some(Entity { offset: utf16_len(before), length: utf16_len(part), kind: kind.clone() })
    };
    ENTITY.captures_iter(text).filter_map(of_match).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::entities::{check, complete, trimmed};
    use chime_core::{Entity, EntityKind, FormattedText, utf16_slice};

    #[track_caller]
    fn finds(text: &str, expected: Expect) {
        finds_beside(text, Vec::new(), expected);
    }

    #[track_caller]
    fn finds_beside(text: &str, given: Vec<Entity>, expected: Expect) {
        let all = complete(text, given);
        let shown =
            all.iter().map(|entity| format!("{:?} `{}`", entity.kind, utf16_slice(text, entity.offset, entity.length)));
        expected.assert_eq(&shown.collect::<Vec<_>>().join(", "));
    }

    fn bold(offset: usize, length: usize) -> Entity {
        Entity { offset, length, kind: EntityKind::Bold }
    }

    fn code(offset: usize, length: usize) -> Entity {
        Entity { offset, length, kind: EntityKind::Code }
    }

    #[test]
    fn a_mention_is_a_whole_name() {
        finds("@bot, @bot_extra or @bot.", expect!["Mention `@bot`, Mention `@bot_extra`, Mention `@bot`"]);
    }

    #[test]
    fn what_only_looks_like_a_mention_is_none() {
        finds("a@bot @ab @ @botä 1@bot @@", expect![""]);
    }

    #[test]
    fn a_name_inside_code_is_code() {
        finds_beside("@bot and @bot", vec![code(0, 4)], expect!["Code `@bot`, Mention `@bot`"]);
    }

    #[test]
    fn an_e_mail_address_is_no_mention() {
        finds("write to ann.lee@bot.com", expect!["Email `ann.lee@bot.com`"]);
    }

    #[test]
    fn a_command_stands_at_the_beginning_of_a_word() {
        finds(
            "/why /ask@bot 1/2 a/b /x/y https://a.org/why",
            expect!["BotCommand `/why`, BotCommand `/ask@bot`, Url `https://a.org/why`"],
        );
    }

    #[test]
    fn an_address_ends_before_the_punctuation() {
        finds(
            "see (https://a.org/x?y=1), t.me/c/1/2 or example.com. Not e.g. or 1.5",
            expect!["Url `https://a.org/x?y=1`, Url `t.me/c/1/2`, Url `example.com`"],
        );
    }

    #[test]
    fn a_tag_has_a_letter() {
        finds("#release #2024 #v2", expect!["Hashtag `#release`, Hashtag `#v2`"]);
    }

    #[test]
    fn offsets_count_utf_16_units() {
        finds("👩‍👩‍👧 🎉 @bot 🎉 /why", expect!["Mention `@bot`, BotCommand `/why`"]);
    }

    #[test]
    fn marks_beyond_the_text_are_refused() {
        expect![[r#"
            Err(
                "entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 6",
            )
        "#]]
        .assert_debug_eq(&check("hello", &[bold(0, 6)]));
        assert!(check("hello", &[bold(9, 1)]).is_err());
        assert_eq!(check("hello", &[bold(0, 5)]), Ok(()));
    }

    #[test]
    fn a_mark_through_an_emoji_is_refused() {
        assert!(check("🎉", &[bold(0, 1)]).is_err());
        assert!(check("🎉", &[bold(1, 1)]).is_err());
        assert_eq!(check("🎉", &[bold(0, 2)]), Ok(()));
    }

    #[test]
    fn marks_may_nest_but_neither_cross_nor_enter_code() {
        assert_eq!(check("hello world", &[bold(0, 11), bold(0, 5)]), Ok(()));
        assert!(check("hello world", &[bold(0, 6), bold(3, 8)]).is_err());
        assert!(check("hello world", &[code(0, 11), bold(0, 5)]).is_err());
    }

    #[test]
    fn trimming_moves_the_marks() {
        let tidy = trimmed("  \n hi there \n", vec![bold(4, 2), code(10, 4)]);
        assert_eq!(tidy, FormattedText { text: "hi there".to_owned(), entities: vec![bold(0, 2), code(6, 2)] });
    }
}
