//! Decides which documents of a chat a question is about.

use chime_core::lang::begins_like;
use chime_core::{Kind, Message, Role, StoredMessage};
use chime_relevance::context::{ContextWindow, Entry};

/// Maximum number of documents that are read for an answer.
const MOST_DOCUMENTS: usize = 2;
/// A question of at most this many words that follows a document is about it: "what does it say?".
const FEW_WORDS: usize = 5;

/// Document that a question may be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedDocument {
    /// Message that posted it.
    pub stored: StoredMessage,
    /// `true` if the question is certainly about it; `false` if it is only in the focus.
    pub is_asked: bool,
}

/// Returns the documents that the question `ask` is about. Documents of the trigger and of the message it replies to come
/// first, then the one that a short question follows, the ones that it names among `posted`, the newest shown if it has a
/// word for a document, and the focus. `posted` are the newest documents of the chat, newest first.
pub fn asked_documents<'w>(
    trigger: &'w StoredMessage,
    ask: &str,
    window: &'w ContextWindow,
    posted: &'w [StoredMessage],
) -> Vec<PostedDocument> {
    let asked = words(ask);
    let names_document = asked.iter().any(|word| begins_like(word, |language| &language.documents));
    let shown = |entry: &'w Entry| &entry.message;
    let is_document =
        |stored: &StoredMessage| stored.message.kind == Kind::Document && stored.message.role == Role::User;
    let follows = asked.len() <= FEW_WORDS && trigger.message.reply_to.is_none();
    let last = window.entries.last().map(shown).filter(|_| follows);
    let newest = window.entries.iter().map(shown).rfind(|stored| names_document && is_document(stored));
    let named = posted.iter().filter(|stored| is_named(&stored.message, ask, &asked, names_document));
    let anchor = window.anchor_entry().map(shown);
    let certain = [Some(trigger), anchor, last].into_iter().flatten().chain(named).chain(newest);
    let focus = window.focus().map(shown).collect::<Vec<_>>().into_iter().rev();
    let mut documents: Vec<PostedDocument> = Vec::new();
    for (stored, is_asked) in certain.map(|stored| (stored, true)).chain(focus.map(|stored| (stored, false))) {
        let is_new = documents.iter().all(|known| known.stored.seq != stored.seq);
        if is_document(stored) && is_new && documents.len() < MOST_DOCUMENTS {
            documents.push(PostedDocument { stored: stored.clone(), is_asked });
        }
    }
    documents
}

/// Returns `true` if the question contains the file's name. Without its ending, the name counts only in a question that
/// also has a word for a document, since it may be any word.
fn is_named(message: &Message, ask: &str, asked: &[String], names_document: bool) -> bool {
    let Some(name) = message.detail.as_deref() else { return false };
    let stem = words(name.rsplit_once('.').map_or(name, |(stem, _)| stem));
    let has_stem = !stem.is_empty() && stem.iter().all(|word| asked.contains(word));
    ask.to_lowercase().contains(&name.to_lowercase()) || names_document && has_stem
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::{ChatId, MessageId, Sender, Timestamp, UserId};

    #[test]
    fn a_file_is_named_with_its_ending_or_as_a_document() {
        let sender = Sender::person(UserId(1), "Ann");
        let mut message = Message::new(ChatId(-1), MessageId(1), sender, Timestamp::from_secs(0));
        message.detail = Some("Annual_Minutes.pdf".to_owned());
        for (ask, expected) in [
            ("what does annual_minutes.pdf say?", true),
            ("what does the pdf of the annual minutes say?", true),
            ("what was in the file Annual Minutes?", true),
            ("how many minutes is the annual run?", false),
            ("what does the pdf say?", false),
        ] {
            let asked = words(ask);
            let names_document = asked.iter().any(|word| begins_like(word, |language| &language.documents));
            assert_eq!(is_named(&message, ask, &asked, names_document), expected, "{ask}");
        }
    }
}
