//! Formats messages as quotes, and says which ones are worth quoting.

use crate::sanitize::{escape_markdown, gist, shown_name};
use chime_core::texts::Texts;
use chime_core::trigger::{Languages, QUESTION_MARKS, is_command, is_generic, is_small_talk};
use chime_core::{BotIdentity, EntityKind, Role, utf16_slice, without_sent_citations};
use chime_relevance::context::Entry;

/// Maximum number of characters of each quoted message.
const QUOTE_CHARS: usize = 200;

/// Formats a bullet for each entry: author, text and citation.
pub fn bullets(entries: &[&Entry], texts: &Texts) -> String {
    entries.iter().map(|entry| bullet(entry, texts)).collect::<Vec<_>>().join("\n")
}

fn bullet(entry: &Entry, texts: &Texts) -> String {
    let message = &entry.message.message;
    let text = match message.role {
        Role::Assistant => without_sent_citations(&message.marked_text()),
        Role::User | Role::System | Role::SystemSummary => message.rendered(),
    };
    let name = shown_name(&message.sender.name);
    let quote = texts.quoted(&escape_markdown(&gist(&text, QUOTE_CHARS)));
    format!("- **{name}**: {quote} [source: m{}]", entry.message.seq)
}

/// Returns `true` for a member's message that is neither empty nor a greeting. A reply such as "yes" says something.
pub fn says_something(entry: &Entry) -> bool {
    let message = &entry.message.message;
    let is_greeting = message.reply_to.is_none()
        && !message.text.trim().is_empty()
        && is_small_talk(&message.text, Languages::shipped());
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
    let may_correct = message.reply_to.is_some()
        && !message.text.contains(QUESTION_MARKS)
        && !is_generic(&message.text, Languages::shipped());
    names_us || is_command(&message.text) || message.is_trigger && !may_correct
}
