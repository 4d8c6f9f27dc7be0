//! Formats messages as quotes, and says which ones are worth quoting.

use crate::extractive_ranking::words::shared_word_count;
use crate::sanitize::{escape_markdown, gist, one_line, shown_name};
use chime_core::texts::Texts;
use chime_core::trigger::{QUESTION_MARKS, is_command, is_generic, is_small_talk};
use chime_core::{BotIdentity, EntityKind, Role, has_spoiler, sentences, utf16_slice, without_sent_citations};
use chime_relevance::context::Entry;

/// Maximum number of characters of each quoted message.
const QUOTE_CHARS: usize = 200;

/// Formats a bullet for each entry: author, text and citation. A long message is quoted from its part that shares most
/// words with `ask`.
pub fn bullets(entries: &[&Entry], ask: &str, texts: &Texts) -> String {
    entries.iter().map(|entry| bullet(entry, ask, texts)).collect::<Vec<_>>().join("\n")
}

fn bullet(entry: &Entry, ask: &str, texts: &Texts) -> String {
    let message = &entry.message.message;
    let text = match message.role {
        Role::Assistant => without_sent_citations(&message.marked_text()),
        Role::User | Role::System | Role::SystemSummary => message.rendered(),
    };
    let name = shown_name(&message.sender.name);
    let quote = texts.quoted(&escape_markdown(&quoted_part(&text, ask)));
    format!("- **{name}**: {quote} [source: m{}]", entry.message.seq)
}

fn quoted_part(text: &str, ask: &str) -> String {
    let whole = one_line(text, usize::MAX);
    // Text that ends within a spoiler would show it.
    if whole.chars().count() <= QUOTE_CHARS || has_spoiler(text) {
        return gist(text, QUOTE_CHARS);
    }
    let sentences: Vec<&str> = text.lines().flat_map(sentences).collect();
    let shared: Vec<usize> = sentences.iter().map(|sentence| shared_word_count(ask, sentence)).collect();
    let most = shared.iter().max().copied().unwrap_or_default();
    let best = shared.iter().position(|count| *count == most && most > 0).unwrap_or_default();
    let before: usize = sentences[..=best].iter().map(|sentence| sentence.chars().count() + 1).sum();
    match best == 0 || before <= QUOTE_CHARS {
        true => gist(text, QUOTE_CHARS),
        false => format!("… {}", gist(&sentences[best..].join(" "), QUOTE_CHARS)),
    }
}

/// Returns `true` for a member's message that is neither empty nor a greeting. A reply such as "yes" says something.
pub fn says_something(entry: &Entry) -> bool {
    let message = &entry.message.message;
    let is_greeting = message.reply_to.is_none() && !message.text.trim().is_empty() && is_small_talk(&message.text);
    message.role == Role::User && !message.rendered().trim().is_empty() && !is_greeting
}

/// Returns `true` if a message is a command, names the bot, or asks it in a reply: none of these answers anybody.
/// Another reply to the bot may correct it.
pub fn is_tag(entry: &Entry, bot: &BotIdentity) -> bool {
    let message = &entry.message.message;
    let names_us = message.entities.iter().any(|entity| match &entity.kind {
        EntityKind::Mention => {
            let shown = utf16_slice(&message.text, entity.offset, entity.length);
            bot.is_called(shown.trim_start_matches('@'))
        }
        EntityKind::TextMention { user } => user.id == bot.id,
        _ => false,
    });
    let may_correct =
        message.reply_to.is_some() && !message.text.contains(QUESTION_MARKS) && !is_generic(&message.text);
    names_us || is_command(&message.text) || message.is_trigger && !may_correct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_is_quoted_from_where_it_answers() {
        let filler = "No experience is needed, and we bring all that you could want. ".repeat(4);
        let text = format!("{filler}Meet at 10 in the lobby, with boots. Bring a cup.");
        for (ask, begins) in
            [("when do we meet?", "… Meet at 10 in the lobby"), ("who has experience?", "No experience"), ("?", "No")]
        {
            let quoted = quoted_part(&text, ask);
            assert!(quoted.starts_with(begins), "{ask}: {quoted}");
        }
        let list =
            "firewood, candles, matches and whatever burns well in the stove\n".repeat(4) + "cups: Ben brings six";
        assert!(quoted_part(&list, "who brings cups?").starts_with("… cups: Ben"), "{list}");
        let unbroken = "wood and candles and ".repeat(20);
        assert!(quoted_part(&unbroken, "where are the candles?").starts_with("wood"), "{unbroken}");
        let covered = format!("{filler}||Meet at 10||");
        assert!(quoted_part(&covered, "when do we meet?").starts_with("No experience"));
    }
}
