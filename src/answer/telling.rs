//! The most telling messages of a window, for when no model can say what they amount to.

use std::cmp::Reverse;

use crate::answer::citations::without_marks;
use crate::answer::plain::{clean_name, escape_markdown, gist};
use crate::context::{ContextWindow, Entry};
use crate::domain::{MessageId, Part, Role};

/// Characters of each quoted message.
const QUOTE_CHARS: usize = 200;

/// The `most` entries that tell the most, in order of time.
pub fn most_telling(window: &ContextWindow, most: usize) -> Vec<&Entry> {
    let newest = window.entries.iter().rposition(|entry| entry.part() == Part::Focus).unwrap_or_default();
    let mut ranked: Vec<(usize, u32)> = window
        .entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| entry.part() == Part::Focus)
        .filter(|(_, entry)| entry.reason.is_anchor() || says_something(entry))
        .map(|(place, entry)| (place, weight(window, entry, place == newest)))
        .collect();
    ranked.sort_by_key(|(place, weight)| (Reverse(*weight), Reverse(*place)));
    ranked.truncate(most);
    ranked.sort_unstable();
    ranked.into_iter().filter_map(|(place, _)| window.entries.get(place)).collect()
}

/// A bullet for each entry: who, what, and the citation.
pub fn bullets(entries: &[&Entry]) -> String {
    entries.iter().map(|entry| bullet(entry)).collect::<Vec<_>>().join("\n")
}

fn bullet(entry: &Entry) -> String {
    let message = &entry.message.message;
    let (name, text) = match message.role {
        Role::Assistant => ("I".to_owned(), without_marks(&message.text)),
        Role::User | Role::System | Role::SystemSummary => (clean_name(&message.sender.name), message.rendered()),
    };
    let quote = gist(&text, QUOTE_CHARS);
    format!("- **{}**: “{}” [source: m{}]", escape_markdown(&name), escape_markdown(&quote), entry.message.seq)
}

/// What makes a message worth one of few places: being pointed at, asking, being answered, being new, saying much.
fn weight(window: &ContextWindow, entry: &Entry, newest: bool) -> u32 {
    /// Above everything else together.
    const ANCHOR: u32 = 1000;
    const NEWEST: u32 = 60;
    const QUESTION: u32 = 50;
    const PER_REPLY: u32 = 25;
    const REPLIES_COUNTED: usize = 4;
    /// A point for every so many characters, up to so many points.
    const CHARS_PER_POINT: usize = 8;
    const LENGTH_POINTS: usize = 40;

    let text = entry.message.message.text.as_str();
    let length = (text.chars().count() / CHARS_PER_POINT).min(LENGTH_POINTS);
    let replies = replies_to(window, entry.message.message.id).min(REPLIES_COUNTED);
    let counted = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let anchor = if entry.reason.is_anchor() { ANCHOR } else { 0 };
    let newest = if newest { NEWEST } else { 0 };
    let question = if text.contains(['?', '？', '؟']) { QUESTION } else { 0 };
    anchor + newest + question + PER_REPLY * counted(replies) + counted(length)
}

fn replies_to(window: &ContextWindow, id: MessageId) -> usize {
    window.entries.iter().filter(|entry| entry.message.message.reply_to == Some(id)).count()
}

/// Not the bot's own words, and not empty.
fn says_something(entry: &Entry) -> bool {
    entry.message.message.role == Role::User && !entry.message.message.rendered().trim().is_empty()
}
