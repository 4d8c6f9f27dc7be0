//! Text of a reply that quotes members.

use chime_core::{Button, ChatKey, Seq};

/// Markdown reply that quotes members.
#[derive(Debug)]
pub struct Shown {
    pub markdown: String,
    /// Links in the text that stay active; they lead to messages.
    pub links: Vec<String>,
    pub chat: ChatKey,
    /// Messages that the text comes from. It is deleted when one of them is forgotten.
    pub rests_on: Vec<Seq>,
    pub buttons: Vec<Vec<Button>>,
}

impl Shown {
    pub fn of_chat(chat: ChatKey) -> Self {
        Self { markdown: String::new(), links: Vec::new(), chat, rests_on: Vec::new(), buttons: Vec::new() }
    }

    pub fn urls(&self) -> Vec<&str> {
        self.links.iter().map(String::as_str).collect()
    }
}
