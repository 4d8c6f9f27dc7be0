//! Decides which links and documents of messages a question is about.

use chime_core::lang::{LanguageFile, begins_like};
use chime_core::trigger::Languages;
use chime_core::{Kind, Message, Role, Seq, SourceKind, StoredMessage, lower_words};
use chime_relevance::context::{ContextWindow, Entry};

use crate::extractive_ranking::stem_substring_ratios;
use crate::sanitize::one_line;

/// Maximum number of pages, and of documents, that are read before the model is asked.
const MOST: usize = 2;
/// A question of at most this many words that follows a link or a document is about it: "what does it say?".
const FEW_WORDS: usize = 5;
/// Maximum number of characters shown of an address or a file name.
const NAME_CHARS: usize = 60;
const TELEGRAM: [&str; 4] = ["t.me", "telegram.me", "telegram.dog", "telegram.org"];

/// Page or document in a message, whose text a question may be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedText {
    pub kind: SourceKind,
    /// Message that posted it.
    pub stored: StoredMessage,
    /// Web address, or `file:` and Telegram's unique id of a file.
    pub address: String,
    /// `true` if the question is certainly about it; `false` if it is only in the focus.
    pub is_asked: bool,
}

impl PostedText {
    pub fn page(stored: &StoredMessage, address: &str) -> Self {
        Self { kind: SourceKind::Page, stored: stored.clone(), address: address.to_owned(), is_asked: true }
    }

    pub fn document(stored: &StoredMessage, is_asked: bool) -> Self {
        let file = stored.message.file.as_ref().map_or("", |file| &file.unique_id);
        Self { kind: SourceKind::Document, stored: stored.clone(), address: format!("file:{file}"), is_asked }
    }

    /// Returns its address or file name, as members see it.
    pub fn name(&self) -> String {
        let file_name = self.stored.message.detail.as_deref().unwrap_or("…");
        one_line(if self.kind == SourceKind::Document { file_name } else { &self.address }, NAME_CHARS)
    }
}

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

/// Returns the links that the question `ask` is about: links in the trigger, in the message it replies to, in a link's
/// message that it follows or names, and in the focus if it `reads_focus`. A question for the address of a page is not
/// about what the page says.
pub fn asked_links(trigger: &StoredMessage, ask: &str, window: &ContextWindow, reads_focus: bool) -> Vec<PostedText> {
    let asked = lower_words(ask);
    let is_for_address = Languages::shipped().asks_for_link(ask);
    let follows = last_before(trigger, &asked, window).map(|stored| stored.seq);
    let named = has_word(&asked, |language| &language.links).then(|| best_link(ask, window)).flatten();
    let is_meant = |stored: &&StoredMessage| match named {
        Some(named) => stored.seq == named,
        None => reads_focus || Some(stored.seq) == follows,
    };
    let focus = newest_focus(window).filter(|stored| !is_for_address && is_meant(stored));
    let anchor = window.anchor_entry().map(|entry| &entry.message);
    let mut links: Vec<PostedText> = Vec::new();
    for stored in [Some(trigger), anchor].into_iter().flatten().chain(focus) {
        for address in page_addresses(&stored.message) {
            if links.len() < MOST && links.iter().all(|known| known.address != address) {
                links.push(PostedText::page(stored, address));
            }
        }
    }
    links
}

/// Returns the message of the focus with links that has the most words of a question; the newest of several.
fn best_link(ask: &str, window: &ContextWindow) -> Option<Seq> {
    let linked: Vec<&StoredMessage> =
        window.focus().map(shown).filter(|stored| !page_addresses(&stored.message).is_empty()).collect();
    let texts: Vec<String> = linked.iter().map(|stored| stored.message.rendered()).collect();
    let shares = stem_substring_ratios(ask, &texts);
    let best = (0..linked.len()).max_by(|one, other| shares[*one].total_cmp(&shares[*other]))?;
    Some(linked[best].seq)
}

/// Returns the documents that the question `ask` is about. Documents of the trigger and of the message it replies to,
/// with their albums, come first, then the one that a short question follows, the ones that it names among `posted`,
/// the newest shown if it has a word for a document, and the focus. `albums` are the messages of these albums in their
/// order, `posted` the newest documents of the chat, newest first.
pub fn asked_documents<'w>(
    trigger: &'w StoredMessage,
    ask: &str,
    window: &'w ContextWindow,
    albums: &'w [StoredMessage],
    posted: &'w [StoredMessage],
) -> Vec<PostedText> {
    let asked = lower_words(ask);
    let names_document = has_word(&asked, |language| &language.documents);
    let newest = window.entries.iter().map(shown).rfind(|stored| names_document && is_document(stored));
    let named = posted.iter().filter(|stored| is_named(&stored.message, ask, &asked, names_document));
    let anchor = window.anchor_entry().map(shown);
    let follows = last_before(trigger, &asked, window);
    let certain = [Some(trigger), anchor].into_iter().flatten().chain(albums).chain(follows).chain(named).chain(newest);
    let certain = certain.map(|stored| (stored, true));
    let mut documents: Vec<PostedText> = Vec::new();
    for (stored, is_asked) in certain.chain(newest_focus(window).map(|stored| (stored, false))) {
        let is_new = documents.iter().all(|known| known.stored.seq != stored.seq);
        if is_document(stored) && is_new && documents.len() < MOST {
            documents.push(PostedText::document(stored, is_asked));
        }
    }
    documents
}

/// Returns `true` if a member posted a document with the message.
pub fn is_document(stored: &StoredMessage) -> bool {
    stored.message.kind == Kind::Document && stored.message.role == Role::User
}

/// Returns the last message of the window if a question of few words follows it.
fn last_before<'w>(trigger: &StoredMessage, asked: &[String], window: &'w ContextWindow) -> Option<&'w StoredMessage> {
    let follows = asked.len() <= FEW_WORDS && trigger.message.reply_to.is_none();
    window.entries.last().map(shown).filter(|_| follows)
}

fn newest_focus(window: &ContextWindow) -> impl Iterator<Item = &StoredMessage> {
    window.focus().map(shown).collect::<Vec<_>>().into_iter().rev()
}

fn shown(entry: &Entry) -> &StoredMessage {
    &entry.message
}

/// Returns `true` if the question contains the file's name. Without its ending, the name counts only in a question that
/// also has a word for a document, since it may be any word.
fn is_named(message: &Message, ask: &str, asked: &[String], names_document: bool) -> bool {
    let Some(name) = message.detail.as_deref() else { return false };
    let stem = lower_words(name.rsplit_once('.').map_or(name, |(stem, _)| stem));
    let has_stem = !stem.is_empty() && stem.iter().all(|word| asked.contains(word));
    ask.to_lowercase().contains(&name.to_lowercase()) || names_document && has_stem
}

/// Returns `true` if a word begins like one of those that `list` returns for any language.
fn has_word(words: &[String], list: impl Fn(&LanguageFile) -> &[String]) -> bool {
    words.iter().any(|word| begins_like(word, &list))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::testkit::transcript;
    use chime_core::{ChatId, Entity, EntityKind, MessageId, Reason, Sender, Timestamp, UserId, utf16_len};
    use chime_relevance::context::{History, Params, get_smart_context};

    #[test]
    fn only_the_link_that_a_question_is_about_is_read() {
        let talk = "
            10:00 ann#1 the minutes of March: https://wiki.example/march
            10:01 bob#2 the call is at https://meet.example/abc
            10:02 cat#3 the repairs are at https://git.example/7
            10:03 dan#4 I have no time for the repairs
            10:04 eve#5 @bot ";
        let read = |ask: &str, reads_focus: bool| {
            let mut recent = transcript(&format!("{talk}{ask}"));
            for stored in &mut recent {
                let (text, start) = (&stored.message.text, stored.message.text.find("https"));
                let link = |start: usize| Entity {
                    offset: utf16_len(&text[..start]),
                    length: utf16_len(&text[start..]),
                    kind: EntityKind::Url,
                };
                stored.message.entities.extend(start.map(link));
            }
            let trigger = recent.pop().expect("a trigger");
            let history = History::new(trigger.clone(), recent, Vec::new());
            let mut window = get_smart_context(&history, &Params::new(str::len));
            window.entries.iter_mut().for_each(|entry| entry.reason = Reason::Thread);
            let found = asked_links(&trigger, ask, &window, reads_focus);
            found.iter().map(|posted| posted.address.trim_start_matches("https://").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(read("what does the page of the minutes say about money?", false), ["wiki.example/march"]);
        assert_eq!(read("and what does the linked article say about that?", false), ["git.example/7"]);
        assert_eq!(read("what was decided about the wall last month in the end?", true).len(), MOST);
        for ask in ["what's the link to the call?", "send me the link of the minutes", "link?"] {
            assert_eq!(read(ask, false), [""; 0], "{ask}");
        }
    }

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
            let asked = lower_words(ask);
            let names_document = has_word(&asked, |language| &language.documents);
            assert_eq!(is_named(&message, ask, &asked, names_document), expected, "{ask}");
        }
    }
}
