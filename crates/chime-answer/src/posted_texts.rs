//! Decides which links and documents of messages a question is about.

use std::cmp::Reverse;

use chime_core::lang::{LanguageFile, begins_like};
use chime_core::trigger::Languages;
use chime_core::{Kind, Language, Member, Message, Role, SourceKind, StoredMessage, Zone, lower_words};
use chime_relevance::context::{ContextWindow, Entry, read_question};
use chime_relevance::retrieval::{ParsedQuestion, RecalledMessage};

use crate::extractive_ranking::{shared_word_count, stem_substring_ratios};
use crate::sanitize::one_line;

/// Maximum number of pages, and of documents, that are read before the model is asked.
const MOST: usize = 2;
/// A question of at most this many words that follows a link or a document is about it: "what does it say?".
const FEW_WORDS: usize = 5;
/// Maximum number of characters shown of an address or a file name.
const NAME_CHARS: usize = 60;
/// A document among this many messages before the question is just above it.
const JUST_ABOVE: usize = 3;
/// Endings of the names of spreadsheets.
const SHEETS: [&str; 5] = ["csv", "tsv", "xlsx", "xls", "ods"];
/// Beginning of the address of a file.
const FILE: &str = "file:";
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
        Self { kind: SourceKind::Document, stored: stored.clone(), address: format!("{FILE}{file}"), is_asked }
    }

    /// Returns a text that was read for an earlier answer.
    pub fn kept(stored: StoredMessage, address: String) -> Self {
        let kind = if address.starts_with(FILE) { SourceKind::Document } else { SourceKind::Page };
        Self { kind, stored, address, is_asked: false }
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

/// A question with the messages that have the links or documents that it may be about.
#[derive(Debug, Clone, Copy)]
pub struct PostedQuestion<'w> {
    pub trigger: &'w StoredMessage,
    pub ask: &'w str,
    pub language: Language,
    pub zone: Zone,
    pub window: &'w ContextWindow,
    /// Older messages that were found for the question.
    pub recalled: &'w [RecalledMessage],
    /// Newest messages of the chat with a link, or with a document; newest first.
    pub posted: &'w [StoredMessage],
}

impl<'w> PostedQuestion<'w> {
    fn words(&self) -> Vec<String> {
        lower_words(self.ask)
    }

    /// Returns those of the messages whose author and day the question names: both if there are such, else the author,
    /// and the day alone only if it names no author. `None` if no message fits.
    fn meant<'m>(&self, among: &[&'m StoredMessage]) -> Option<Vec<&'m StoredMessage>> {
        let people: Vec<Member> = among.iter().map(|stored| Member::of(&stored.message.sender)).collect();
        let ParsedQuestion { named, spans, .. } =
            read_question(self.trigger, self.ask, self.language, self.zone, &people);
        let is_by = |stored: &&&StoredMessage| named.contains(&stored.message.sender.id);
        let is_then =
            |stored: &&&StoredMessage| spans.iter().any(|span| (span.from..span.to).contains(&stored.message.sent_at));
        let by: Vec<&StoredMessage> =
            among.iter().filter(|stored| named.is_empty() || is_by(stored)).copied().collect();
        let then: Vec<&StoredMessage> = by.iter().filter(is_then).copied().collect();
        let found = if then.is_empty() && !named.is_empty() { by } else { then };
        (!found.is_empty()).then_some(found)
    }
}

/// Returns the links that the question is about: links in the trigger, in the message it replies to, in a link's
/// message that it follows or names, and in the focus if it `reads_focus`. A question for the address of a page is not
/// about what the page says.
pub fn asked_links(question: &PostedQuestion<'_>, reads_focus: bool) -> Vec<PostedText> {
    let PostedQuestion { trigger, ask, window, .. } = *question;
    let asked = question.words();
    let is_for_address = Languages::shipped().asks_for_link(ask);
    let follows = last_before(trigger, &asked, window).map(|stored| stored.seq);
    let named = names_link(ask).then(|| best_link(question)).flatten();
    let is_meant = |stored: &&StoredMessage| reads_focus || Some(stored.seq) == follows;
    let near: Vec<&StoredMessage> = match named {
        _ if is_for_address => Vec::new(),
        Some(named) => vec![named],
        None => newest_focus(window).filter(is_meant).collect(),
    };
    let anchor = window.anchor_entry().map(|entry| &entry.message);
    let mut links: Vec<PostedText> = Vec::new();
    for stored in [Some(trigger), anchor].into_iter().flatten().chain(near) {
        for address in page_addresses(&stored.message) {
            if links.len() < MOST && links.iter().all(|known| known.address != address) {
                links.push(PostedText::page(stored, address));
            }
        }
    }
    links
}

/// Returns `true` if a question has a word for a link or its page.
pub fn names_link(ask: &str) -> bool {
    has_word(&lower_words(ask), |language| &language.links)
}

/// Returns the message with links that has the most words of a question, the newest of several: of those by the member
/// and of the day that it names, or else of the focus.
fn best_link<'w>(question: &PostedQuestion<'w>) -> Option<&'w StoredMessage> {
    let has_link = |stored: &&StoredMessage| !page_addresses(&stored.message).is_empty();
    let shown = question.window.entries.iter().map(shown).filter(|stored| stored.message.role == Role::User);
    let mut all: Vec<&StoredMessage> = question.posted.iter().chain(shown).filter(has_link).collect();
    all.sort_by_key(|stored| stored.seq);
    let linked =
        question.meant(&all).unwrap_or_else(|| question.window.focus().map(self::shown).filter(has_link).collect());
    let texts: Vec<String> = linked.iter().map(|stored| stored.message.rendered()).collect();
    let shares = stem_substring_ratios(question.ask, &texts);
    let best = (0..linked.len()).max_by(|one, other| shares[*one].total_cmp(&shares[*other]))?;
    Some(linked[best])
}

/// Returns the documents that the question is about. Documents of the trigger and of the message it replies to, with
/// their albums, come first, then the one that a short question follows, and the newest of those that it names. If it
/// names none, it means the newest of the format that it has a word for, else the newest shown if it has a word for a
/// document. Those of the focus come last. `albums` are the messages of these albums in their order.
pub fn asked_documents(question: &PostedQuestion<'_>, albums: &[StoredMessage]) -> Vec<PostedText> {
    let PostedQuestion { trigger, window, .. } = *question;
    let asked = question.words();
    let anchor = window.anchor_entry().map(shown);
    let follows = last_before(trigger, &asked, window);
    let mut certain: Vec<&StoredMessage> = [Some(trigger), anchor].into_iter().flatten().chain(albums).collect();
    certain.extend(follows);
    certain.extend(named_documents(question, &asked));
    if !certain.iter().any(|stored| is_document(stored)) {
        certain.extend(of_format(question, &asked));
    }
    if !certain.iter().any(|stored| is_document(stored)) && has_word(&asked, |language| &language.documents) {
        certain.extend(window.entries.iter().map(shown).rfind(|stored| is_document(stored)));
    }
    let certain = certain.into_iter().map(|stored| (stored, true));
    let mut documents: Vec<PostedText> = Vec::new();
    for (stored, is_asked) in certain.chain(newest_focus(window).map(|stored| (stored, false))) {
        let is_new = documents.iter().all(|known| known.stored.seq != stored.seq);
        if is_document(stored) && is_new && documents.len() < MOST {
            documents.push(PostedText::document(stored, is_asked));
        }
    }
    documents
}

/// Returns the newest document that the question names, and other versions of it. If it names none, but a kind of
/// document, such as a list, it means the newest one near it.
fn named_documents<'w>(question: &PostedQuestion<'w>, asked: &[String]) -> Vec<&'w StoredMessage> {
    let PostedQuestion { ask, window, posted, recalled, .. } = *question;
    let names_document = has_word(asked, |language| &language.documents);
    let names_paper = has_word(asked, |language| &language.papers);
    // A document just above the question needs less to be meant than an older one.
    let just_above = window.entries.iter().rev().take(JUST_ABOVE).map(shown);
    let near: Vec<&StoredMessage> = just_above.chain(window.focus().map(shown)).collect();
    let is_near = |stored: &StoredMessage| near.iter().any(|one| one.seq == stored.seq);
    let is_shown_as = |stored: &StoredMessage| {
        let shared = shared_words(ask, &stored.message);
        shared > 1 || shared > 0 && is_near(stored) || has_stem(&stored.message, asked)
    };
    let of_window = window.entries.iter().map(shown).chain(recalled.iter().map(|one| &one.message));
    let of_chat = posted.iter().filter(|stored| is_named(&stored.message, ask, asked, names_document));
    let named = of_window.filter(|stored| is_shown_as(stored)).chain(of_chat);
    let mut named: Vec<&StoredMessage> = named.filter(|stored| is_document(stored)).collect();
    if named.is_empty() && names_paper {
        named = near.into_iter().filter(|stored| is_document(stored)).collect();
    }
    named.sort_by_key(|stored| Reverse(stored.seq));
    named.dedup_by_key(|stored| stored.seq);
    let named = question.meant(&named).unwrap_or(named);
    let stem = named.first().map(|newest| name_stem(&newest.message)).unwrap_or_default();
    named.iter().copied().filter(|stored| name_stem(&stored.message) == stem).collect()
}

/// Returns the newest document of the format that the question has a word for: its ending, such as "csv", or a word for
/// a spreadsheet.
fn of_format<'w>(question: &PostedQuestion<'w>, asked: &[String]) -> Option<&'w StoredMessage> {
    let names_sheet = has_word(asked, |language| &language.sheets);
    let has_format = |stored: &&StoredMessage| {
        let name = stored.message.detail.as_deref().unwrap_or_default().to_lowercase();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        !ending.is_empty() && asked.iter().any(|word| word == ending) || names_sheet && SHEETS.contains(&ending)
    };
    let found: Vec<&StoredMessage> = question.posted.iter().filter(has_format).collect();
    question.meant(&found).unwrap_or(found).first().copied()
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
    ask.to_lowercase().contains(&name.to_lowercase()) || names_document && has_stem(message, asked)
}

/// Returns `true` if the question has all words of the file's name, without its ending and version.
fn has_stem(message: &Message, asked: &[String]) -> bool {
    let stem = name_stem(message);
    !stem.is_empty() && stem.iter().all(|word| asked.contains(word))
}

/// Returns the words of a file's name without its ending, and without numbers, which tell versions apart.
fn name_stem(message: &Message) -> Vec<String> {
    let name = message.detail.as_deref().unwrap_or_default();
    let words = lower_words(&name.rsplit_once('.').map_or(name, |(stem, _)| stem).replace('_', " "));
    let is_word = |word: &&String| !word.contains(|c: char| c.is_ascii_digit());
    let telling: Vec<String> = words.iter().filter(is_word).cloned().collect();
    if telling.is_empty() { words } else { telling }
}

/// Counts the content words that a question shares with the name and the caption of a file.
fn shared_words(ask: &str, message: &Message) -> usize {
    let described = format!("{} {}", name_stem(message).join(" "), message.text);
    shared_word_count(ask, &described)
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
            let language = Language::DEFAULT;
            let question = PostedQuestion {
                trigger: &trigger,
                ask,
                language,
                zone: Zone::UTC,
                window: &window,
                recalled: &[],
                posted: &[],
            };
            let found = asked_links(&question, reads_focus);
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
