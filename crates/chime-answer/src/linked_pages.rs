//! Decides which links of messages a question is about.

use std::sync::Arc;

use chime_core::embed::Embedder;
use chime_core::lang::begins_like;
use chime_core::{LinkReading, Message, StoredMessage};
use chime_links::Fetcher;
use chime_relevance::context::ContextWindow;

/// Maximum number of pages that are read before the model is asked.
const MOST_PAGES: usize = 2;
/// A question of at most this many words that follows a link is about the link: "what does it say?".
const FEW_WORDS: usize = 5;
const TELEGRAM: [&str; 4] = ["t.me", "telegram.me", "telegram.dog", "telegram.org"];

/// Returns the addresses of web pages in a message, in order, without links within Telegram.
pub fn page_addresses(message: &Message) -> Vec<&str> {
    let mut addresses: Vec<&str> = Vec::new();
    for address in message.addresses() {
        let lower = address.to_lowercase();
        let (scheme, rest) = lower.split_once("://").unwrap_or(("http", &lower));
        let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default();
        let host = host.strip_prefix("www.").unwrap_or(host);
        let is_telegram = TELEGRAM.iter().any(|own| host == *own || host.ends_with(&format!(".{own}")));
        if matches!(scheme, "http" | "https") && !is_telegram && !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    addresses
}

/// Reads linked pages for answers.
pub struct PageReader {
    pub fetcher: Fetcher,
    pub embedder: Option<Arc<Embedder>>,
    /// The operator's setting.
    pub reading: LinkReading,
}

/// Returns the links that the question `ask` is about, each with the message that posted it: links in the trigger,
/// in the message it replies to, and in the focus if the question points at a link there or `reads_focus`.
pub fn asked_links(
    trigger: &StoredMessage,
    ask: &str,
    window: &ContextWindow,
    reads_focus: bool,
) -> Vec<(StoredMessage, String)> {
    let anchor = window.anchor_entry().map(|entry| &entry.message);
    let words: Vec<String> = ask.split_whitespace().map(str::to_lowercase).collect();
    let names_link = words.iter().any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        begins_like(word, |language| &language.links)
    });
    let last = window.entries.last().map(|entry| entry.message.seq);
    let is_pointed_at = |stored: &StoredMessage| {
        let follows = Some(stored.seq) == last && words.len() <= FEW_WORDS && trigger.message.reply_to.is_none();
        reads_focus || names_link || follows
    };
    let focus = window.focus().map(|entry| &entry.message).collect::<Vec<_>>();
    let focus = focus.into_iter().rev().filter(|stored| is_pointed_at(stored));
    let mut links: Vec<(StoredMessage, String)> = Vec::new();
    for stored in [Some(trigger), anchor].into_iter().flatten().chain(focus) {
        for address in page_addresses(&stored.message) {
            if links.len() < MOST_PAGES && links.iter().all(|(_, known)| known != address) {
                links.push((stored.clone(), address.to_owned()));
            }
        }
    }
    links
}
