//! Finds the bot's name and commands in a text. Uses Telegram's entities, because Telegram marks no mention inside
//! code, e-mail addresses or longer names.

use std::ops::Range;

use crate::trigger::ask::without;
use crate::trigger::languages::Languages;
use crate::{BotIdentity, Entity, EntityKind, Message, utf16_slice};

/// Mentions of the bot in a text, and the command at its start.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) is_named: bool,
    pub(super) command: Option<Call>,
    /// Byte ranges of the bot's names and the command, which are not part of the question.
    pub(super) cut: Vec<Range<usize>>,
}

/// Command in a text. Its name may be unknown to the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// Byte range of the command in the text.
    pub(super) range: Range<usize>,
    /// Name without the slash and the bot's username.
    pub(super) name: String,
    pub(super) to: Addressee,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Addressee {
    /// A `/command` without the name of a bot.
    Anyone,
    Us,
    AnotherBot,
}

pub(super) fn address(message: &Message, bot: &BotIdentity) -> Address {
    let text = message.text.as_str();
    let code = code_ranges(message);
    let spoken = |entity: &&Entity| {
        let range = byte_range(text, entity);
        !code.iter().any(|code| code.start < range.end && range.start < code.end)
    };
    let mut address = Address::default();
    let mut calls = Vec::new();
    for entity in message.entities.iter().filter(spoken) {
        let range = byte_range(text, entity);
        let shown = text.get(range.clone()).unwrap_or_default();
        match &entity.kind {
            EntityKind::Mention if is_at_name(shown, bot) => address.name(range),
            EntityKind::TextMention { user } if user.id == bot.id => address.name(range),
            EntityKind::TextLink { url } if linked_username(url).is_some_and(|name| bot.is_called(name)) => {
                // "[what do you think](t.me/chimebot)" addresses the bot, and the link text belongs to the question.
                if is_at_name(shown, bot) || bot.is_called(shown) || same(shown, &bot.name) {
                    address.name(range);
                } else {
                    address.is_named = true;
                }
            }
            EntityKind::BotCommand => calls.extend(call(shown, range, bot)),
            _ => {}
        }
    }
    address.take_calls(text, calls);
    address
}

impl Address {
    pub(super) fn name(&mut self, range: Range<usize>) {
        self.is_named = true;
        self.cut.push(range);
    }

    /// Sorts the commands found in the text. One at the start, perhaps after a mention of the bot, becomes `command`. A
    /// later one with the bot's name (`/help@chime_bot`) counts as a mention, and all others are plain words.
    fn take_calls(&mut self, text: &str, mut calls: Vec<Call>) {
        calls.sort_by_key(|call| call.range.start);
        for call in calls {
            let before = text.get(..call.range.start).unwrap_or_default();
            let leads = self.command.is_none() && without(before, &self.cut_within(before.len())).is_empty();
            if leads {
                self.cut.push(call.range.clone());
                self.command = Some(call);
            } else if call.to == Addressee::Us {
                self.name(call.range);
            }
        }
    }

    fn cut_within(&self, end: usize) -> Vec<Range<usize>> {
        self.cut.iter().filter(|range| range.end <= end).cloned().collect()
    }
}

/// Returns the bytes at the start of a text that call the bot by `name`: "Chime, …" or "hey Chime …". The name alone is
/// not enough, since members may speak of it ("Chime is down").
pub fn called_at_start(text: &str, name: &str) -> Option<Range<usize>> {
    const PAUSES: [char; 11] = [',', ':', ';', '!', '?', '.', '…', '–', '—', '\n', '،'];
    let rest = text.trim_start();
    let behind = match after_word(rest, name) {
        Some(behind) if behind.is_empty() || behind.starts_with(PAUSES) => behind,
        _ => {
            let (greeting, rest) = rest.split_once(char::is_whitespace)?;
            after_word(rest.trim_start(), name).filter(|_| Languages::shipped().greets(greeting))?
        }
    };
    let behind = behind.trim_start_matches([',', ':', ';', '!', '.', '…', '–', '—', '،']);
    Some(0..text.len() - behind.len())
}

/// Returns what follows `word` at the start of a text, ignoring case; `None` if the text begins with another word.
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let end = text.char_indices().nth(word.chars().count()).map_or(text.len(), |(end, _)| end);
    let (first, behind) = text.split_at(end);
    (same(first, word) && !behind.starts_with(char::is_alphanumeric)).then_some(behind)
}

fn call(shown: &str, range: Range<usize>, bot: &BotIdentity) -> Option<Call> {
    let command = shown.strip_prefix('/')?;
    let (name, to) = match command.split_once('@') {
        None => (command, Addressee::Anyone),
        Some((name, target)) if bot.is_called(target) => (name, Addressee::Us),
        Some((name, _)) => (name, Addressee::AnotherBot),
    };
    Some(Call { range, name: name.to_owned(), to })
}

fn is_at_name(shown: &str, bot: &BotIdentity) -> bool {
    shown.strip_prefix('@').is_some_and(|name| bot.is_called(name))
}

fn same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Returns `true` if a word is the mention of any bot. Usernames of bots end in "bot".
pub fn names_bot(word: &str) -> bool {
    let name = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '@' && c != '_').to_lowercase();
    name.starts_with('@') && name.ends_with("bot")
}

/// Returns `true` if a text mentions any bot. Such a text is usually a question to that bot, not part of the members'
/// conversation.
pub fn calls_bot(text: &str) -> bool {
    text.contains('@') && text.split_whitespace().any(names_bot)
}

/// Returns `true` if a message is for a bot: a trigger, a command, or the mention of any bot. Recaps, summaries and
/// searches leave such messages out.
pub fn is_for_bot(message: &Message) -> bool {
    message.is_trigger || is_command(&message.text) || calls_bot(&message.text)
}

/// Returns `true` if a text begins like a command, in any script ("/решения"). Telegram marks only those in Latin
/// letters. A path is none ("/srv/data is full").
pub fn is_command(text: &str) -> bool {
    let first = text.trim_start().strip_prefix('/').and_then(|rest| rest.split(char::is_whitespace).next());
    first.is_some_and(|word| word.starts_with(char::is_alphabetic) && !word.contains('/'))
}

/// Returns the username in a link: `https://t.me/name`, `https://name.t.me`, `tg://resolve?domain=name`. Returns `None`
/// for links to messages and invitations.
fn linked_username(url: &str) -> Option<&str> {
    const HOSTS: [&str; 3] = ["t.me", "telegram.me", "telegram.dog"];
    if let Some(query) = url.strip_prefix("tg://resolve?") {
        let domain = query.split('&').find_map(|pair| pair.strip_prefix("domain="));
        return domain.filter(|_| !query.contains("post="));
    }
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let place = rest.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let (host, path) = place.split_once('/').unwrap_or((place, ""));
    let host = host.strip_prefix("www.").unwrap_or(host);
    let is_telegram = |host: &str| HOSTS.iter().any(|own| own.eq_ignore_ascii_case(host));
    match host.split_once('.') {
        _ if is_telegram(host) => Some(path).filter(|path| !path.is_empty() && !path.contains('/')),
        Some((name, parent)) if is_telegram(parent) && path.is_empty() => Some(name),
        _ => None,
    }
}

fn code_ranges(message: &Message) -> Vec<Range<usize>> {
    message
        .entities
        .iter()
        .filter(|entity| matches!(entity.kind, EntityKind::Code | EntityKind::Pre { .. }))
        .map(|entity| byte_range(&message.text, entity))
        .collect()
}

/// Converts an entity's UTF-16 range to bytes. Invalid ranges are clamped to the text.
fn byte_range(text: &str, entity: &Entity) -> Range<usize> {
    let start = text.len() - utf16_slice(text, entity.offset, usize::MAX).len();
    start..start + utf16_slice(text, entity.offset, entity.length).len()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_name_calls_at_the_start_only_and_with_a_pause_or_a_greeting() {
        let texts = [
            "Chime, what is up?",
            "chime: what is up",
            "Chime?",
            "Hey Chime what is up",
            "Hallo, CHIME! Was meinst du?",
            "Chime is down",
            "Chimes, what is up?",
            "ask Chime, please",
            "so hey Chime",
        ];
        let lines: Vec<String> = texts
            .iter()
            .map(|text| {
                let cut = called_at_start(text, "Chime");
                format!("{text} -> {:?}", cut.map(|cut| text[cut.end..].trim()))
            })
            .collect();
        expect![[r#"
            Chime, what is up? -> Some("what is up?")
            chime: what is up -> Some("what is up")
            Chime? -> Some("?")
            Hey Chime what is up -> Some("what is up")
            Hallo, CHIME! Was meinst du? -> Some("Was meinst du?")
            Chime is down -> None
            Chimes, what is up? -> None
            ask Chime, please -> None
            so hey Chime -> None"#]]
        .assert_eq(&lines.join("\n"));
    }

    #[test]
    fn only_a_link_to_the_account_itself_names_it() {
        let urls = [
            "https://t.me/chimebot",
            "http://www.t.me/chimebot/",
            "t.me/chimebot?start=x",
            "https://telegram.me/chimebot#top",
            "https://chimebot.t.me",
            "tg://resolve?domain=chimebot",
            "https://t.me/chimebot/17",
            "tg://resolve?domain=chimebot&post=17",
            "https://t.me/",
            "https://example.org/chimebot",
            "https://not-t.me/chimebot",
            "",
        ];
        let lines: Vec<String> = urls.iter().map(|url| format!("{url} -> {:?}", linked_username(url))).collect();
        expect![[r#"
            https://t.me/chimebot -> Some("chimebot")
            http://www.t.me/chimebot/ -> Some("chimebot")
            t.me/chimebot?start=x -> Some("chimebot")
            https://telegram.me/chimebot#top -> Some("chimebot")
            https://chimebot.t.me -> Some("chimebot")
            tg://resolve?domain=chimebot -> Some("chimebot")
            https://t.me/chimebot/17 -> None
            tg://resolve?domain=chimebot&post=17 -> None
            https://t.me/ -> None
            https://example.org/chimebot -> None
            https://not-t.me/chimebot -> None
             -> None"#]]
        .assert_eq(&lines.join("\n"));
    }
}
