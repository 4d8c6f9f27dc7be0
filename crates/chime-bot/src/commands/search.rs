//! Parses the words and filters of `/search`, finds what matches, and formats a page of it.

use std::collections::HashSet;

use chime_answer::plain::{escape_markdown, one_line};
use chime_core::chat_settings::{ChatSettings, NAME};
use chime_core::texts::{Texts, filled};
use chime_core::trigger::{Languages, called_at_start, is_for_bot};
use chime_core::{
    BotIdentity, Button, ChatKey, EntityKind, Kind, Language, MessageId, Role, Seq, StoredMessage, Timestamp, UserId,
    Zone, message_link, stems,
};
use chime_memory::recall::{RecallRequest, Recaller};
use chime_memory::wording::short_time;
use chime_relevance::retrieval::words::words;
use chime_relevance::retrieval::{Tables, spans_named};
use chime_store::chats::{ChatRow, Member};
use chime_store::notes::Note;
use chime_store::passages::{self, Wanted};
use chime_store::{Reader, chats, messages, notes, topic_names};
use chrono::{NaiveDate, NaiveTime};

/// Maximum number of messages that a search finds, and number on a page.
const MOST: usize = 50;
const PAGE: usize = 10;
/// Number of messages of the ranking that are compared with the words.
const RANKED: usize = 300;
/// Number of letters that words share in a language without a stemmer.
const KEY_CHARS: usize = 5;
/// Number of messages read, the newest, for a search with filters.
const READ: u32 = 2000;
/// Maximum number of notes found.
const NOTES: usize = 5;
/// Words shown of a message before the first one that was searched for, and maximum number of characters shown.
const WORDS_BEFORE: usize = 6;
const SHOWN_CHARS: usize = 140;
/// Start of the data of each button.
const PREFIX: &str = "search";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attachment {
    Link,
    File,
    Photo,
}

/// Words and filters of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchRequest {
    pub words: String,
    /// Name or username of the author.
    pub from: Option<String>,
    /// Times of the messages: start included, end excluded.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub has: Option<Attachment>,
    /// Name of a forum topic, or `here`.
    pub topic: Option<String>,
}

impl SearchRequest {
    /// Returns `None` if `text` has neither words nor filters, or a filter with an unknown value. `now` and `zone`
    /// give the day that `on:yesterday` names.
    pub fn parse(text: &str, language: Language, now: Timestamp, zone: Zone) -> Option<Self> {
        let mut request = Self::default();
        let day = |value: &str| day(value, language, now, zone);
        for token in text.split_whitespace() {
            match token.split_once(':') {
                Some((name, value)) if !value.is_empty() => match name.to_lowercase().as_str() {
                    "from" => request.from = Some(value.trim_start_matches('@').to_lowercase()),
                    "on" => (request.since, request.until) = day(value).map(|(from, to)| (Some(from), Some(to)))?,
                    "since" => request.since = Some(day(value)?.0),
                    "until" => request.until = Some(day(value)?.1),
                    "has" => request.has = Some(attachment(value)?),
                    "topic" => request.topic = Some(value.to_lowercase()),
                    _ => request.add(token),
                },
                _ => request.add(token),
            }
        }
        (request != Self::default()).then_some(request)
    }

    fn add(&mut self, word: &str) {
        if !self.words.is_empty() {
            self.words.push(' ');
        }
        self.words.push_str(word);
    }

    fn has_filters(&self) -> bool {
        *self != Self { words: self.words.clone(), ..Self::default() }
    }
}

fn attachment(value: &str) -> Option<Attachment> {
    match value.to_lowercase().as_str() {
        "link" | "links" => Some(Attachment::Link),
        "file" | "files" => Some(Attachment::File),
        "photo" | "photos" => Some(Attachment::Photo),
        _ => None,
    }
}

/// Returns the start and the exclusive end of a day like `2026-05-01`, or of a time that is named in words.
pub fn day(value: &str, language: Language, now: Timestamp, zone: Zone) -> Option<(Timestamp, Timestamp)> {
    if let Some(day) = value.split_whitespace().find_map(|word| word.parse::<NaiveDate>().ok()) {
        let midnight = |day: NaiveDate| zone.moment(day.and_time(NaiveTime::MIN));
        return Some((midnight(day), midnight(day.succ_opt()?)));
    }
    let spans = spans_named(&words(value), Tables::of(language, value), now, zone.ahead_secs(now));
    spans.first().map(|span| (span.from, span.to))
}

/// Returns the text of a message to the bot without its names and the command.
pub fn own_words(text: &str, bot: &BotIdentity, settings: &ChatSettings) -> String {
    let called = settings.get(NAME).and_then(|name| called_at_start(text, &name.0, Languages::shipped()));
    let text = called.map_or(text, |cut| &text[cut.end..]);
    let is_name = |word: &str| {
        let name = word.strip_prefix('@').map(|name| name.trim_end_matches([',', ':', '.', '!']));
        name.is_some_and(|name| bot.usernames.iter().any(|known| known.eq_ignore_ascii_case(name)))
    };
    let said = text.split_whitespace().filter(|word| !is_name(word));
    said.enumerate()
        .filter(|(place, word)| *place > 0 || !word.starts_with('/'))
        .map(|(_, word)| word)
        .collect::<Vec<_>>()
        .join(" ")
}

/// A page of a search. Its button data names the command, so that the search is repeated for each page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchPage {
    pub command: MessageId,
    pub chat: ChatKey,
    /// Counted from 0.
    pub number: usize,
}

impl SearchPage {
    pub fn data(self) -> String {
        format!("{PREFIX}:{}:{}:{}", self.command, self.chat, self.number)
    }

    pub fn parse(data: &str) -> Option<Self> {
        let mut parts = data.strip_prefix(PREFIX)?.strip_prefix(':')?.split(':');
        let mut next = || parts.next()?.parse::<i64>().ok();
        let (command, chat, number) = (next()?, next()?, next()?);
        let number = usize::try_from(number).ok().filter(|number| *number < MOST)?;
        Some(Self { command: MessageId(command), chat: ChatKey(u32::try_from(chat).ok()?), number })
    }

    fn buttons(self, found: usize) -> Vec<Vec<Button>> {
        let to = |number: usize| {
            let range = format!("{}–{}", number * PAGE + 1, ((number + 1) * PAGE).min(found));
            let label = if number < self.number { format!("← {range}") } else { format!("{range} →") };
            Button { label, data: Self { number, ..self }.data() }
        };
        let next = ((self.number + 1) * PAGE < found).then(|| to(self.number + 1));
        let row: Vec<Button> = self.number.checked_sub(1).map(to).into_iter().chain(next).collect();
        if row.is_empty() { Vec::new() } else { vec![row] }
    }
}

/// Notes and messages that a search found, best first.
pub struct SearchResult {
    pub notes: Vec<Note>,
    pub messages: Vec<StoredMessage>,
}

/// Search in one chat.
pub struct ChatSearch<'a> {
    pub conn: &'a Reader,
    pub recaller: &'a Recaller,
    pub chat: &'a ChatRow,
    pub zone: Zone,
    pub request: &'a SearchRequest,
    /// The command, which may be in another chat.
    pub command: &'a StoredMessage,
}

impl ChatSearch<'_> {
    pub fn find(&self) -> chime_store::Result<SearchResult> {
        let sought = self.sought();
        let notes = if self.request.has_filters() { Vec::new() } else { self.notes(&sought)? };
        let Some(authors) = self.authors()? else { return Ok(SearchResult { notes, messages: Vec::new() }) };
        let ranked = self.ranked()?.into_iter().take(RANKED).map(|(seq, _)| seq);
        let (mut seen, mut whole, mut partly) = (HashSet::new(), Vec::new(), Vec::new());
        for seq in ranked.chain(self.newest(&authors)?) {
            if whole.len() == MOST {
                break;
            }
            let Some(stored) = self.wanted(seq, &authors, &mut seen)? else { continue };
            let said = keys(&stored.message.rendered(), self.chat.language);
            if sought.is_subset(&said) {
                whole.push(stored);
            } else if !sought.is_disjoint(&said) {
                partly.push(stored);
            }
        }
        // Messages with all words come first.
        whole.extend(partly);
        whole.truncate(MOST);
        Ok(SearchResult { notes, messages: whole })
    }

    /// Returns the keys of the words searched for, without stop words unless there are no others.
    fn sought(&self) -> HashSet<String> {
        let words = &self.request.words;
        let is_stop_word = |word: &&str| Languages::shipped().is_stop_word_in(&word.to_lowercase(), words);
        let telling: Vec<&str> = words.split_whitespace().filter(|word| !is_stop_word(word)).collect();
        let said = if telling.is_empty() { words.clone() } else { telling.join(" ") };
        keys(&said, self.chat.language)
    }

    fn ranked(&self) -> chime_store::Result<Vec<(Seq, f64)>> {
        let conversation = self.command.conversation();
        let is_here = conversation.chat == self.chat.key;
        let now = self.command.message.sent_at;
        self.recaller.ranked(
            self.conn,
            &RecallRequest {
                conversation: if is_here {
                    conversation
                } else {
                    chime_core::Conversation { chat: self.chat.key, thread: None }
                },
                text: &self.request.words,
                now,
                utc_offset: self.zone.ahead_secs(now),
                by: self.command.message.sender.id,
                before: self.before(),
            },
        )
    }

    /// Returns the newest messages within the filters that the database knows; none for a search by words only.
    fn newest(&self, authors: &[UserId]) -> chime_store::Result<Vec<Seq>> {
        if !self.request.has_filters() {
            return Ok(Vec::new());
        }
        let within =
            Some((self.request.since.unwrap_or(Timestamp::from_secs(0)), self.request.until.unwrap_or(Timestamp::END)));
        let (chat, before) = (self.chat.key, self.before());
        let mut newest = Vec::new();
        let each: Vec<Option<UserId>> =
            if authors.is_empty() { vec![None] } else { authors.iter().copied().map(Some).collect() };
        for by in each {
            newest.extend(passages::newest(self.conn, &Wanted { chat, conversation: None, before, within, by }, READ)?);
        }
        newest.sort_by_key(|passage| std::cmp::Reverse((passage.sent_at, passage.seq)));
        Ok(newest.into_iter().map(|passage| passage.seq).collect())
    }

    fn before(&self) -> Seq {
        if self.command.chat == self.chat.key { self.command.seq } else { Seq(u32::MAX) }
    }

    /// Returns the members whose name has the word `from:`, or nobody for a search without it; `None` if nobody has
    /// such a name.
    fn authors(&self) -> chime_store::Result<Option<Vec<UserId>>> {
        let Some(from) = &self.request.from else { return Ok(Some(Vec::new())) };
        let wanted = words(from);
        let is_named = |member: &Member| {
            words(&member.name).windows(wanted.len().max(1)).any(|part| part == wanted)
                || member.username.as_ref().is_some_and(|it| it.eq_ignore_ascii_case(from))
        };
        let named: Vec<UserId> = chats::members(self.conn, self.chat.key)?
            .iter()
            .filter(|member| is_named(member))
            .map(|it| it.id)
            .collect();
        Ok(Some(named).filter(|named| !named.is_empty()))
    }

    fn wanted(
        &self,
        seq: Seq,
        authors: &[UserId],
        seen: &mut HashSet<Seq>,
    ) -> chime_store::Result<Option<StoredMessage>> {
        if seq >= self.before() || !seen.insert(seq) {
            return Ok(None);
        }
        let Some(stored) = messages::by_seq(self.conn, self.chat.key, seq)? else { return Ok(None) };
        let (message, request) = (&stored.message, self.request);
        let is_talk = message.role == Role::User && message.kind != Kind::Service && !is_for_bot(message);
        let is_in_time = request.since.is_none_or(|since| since <= message.sent_at)
            && request.until.is_none_or(|until| message.sent_at < until);
        let is_by = authors.is_empty() || authors.contains(&message.sender.id);
        let has = request.has.is_none_or(|attachment| has(&stored, attachment));
        let is_wanted = is_talk && is_in_time && is_by && has && self.is_in_topic(&stored)?;
        Ok(is_wanted.then_some(stored))
    }

    fn is_in_topic(&self, stored: &StoredMessage) -> chime_store::Result<bool> {
        let Some(topic) = &self.request.topic else { return Ok(true) };
        if topic == "here" {
            return Ok(stored.conversation() == self.command.conversation());
        }
        let name = topic_names::find(self.conn, stored.conversation())?;
        Ok(name.is_some_and(|name| name.to_lowercase().contains(topic.as_str())))
    }

    fn notes(&self, sought: &HashSet<String>) -> chime_store::Result<Vec<Note>> {
        if sought.is_empty() {
            return Ok(Vec::new());
        }
        let pieces = notes::pieces(self.conn, self.chat.key)?;
        let mut found = notes::of_chat(self.conn, self.chat.key)?;
        found.retain(|note| {
            let of_note = pieces.iter().filter(|piece| piece.number == note.number).map(|piece| piece.text.as_str());
            let said = of_note.chain([note.title.as_str()]).collect::<Vec<_>>().join(" ");
            sought.is_subset(&keys(&said, self.chat.language))
        });
        found.truncate(NOTES);
        Ok(found)
    }
}

/// Returns the stems by which words of a text are compared: their first letters if the language has no stemmer.
fn keys(text: &str, language: Language) -> HashSet<String> {
    let key = |stem: String| if language.has_stemmer() { stem } else { stem.chars().take(KEY_CHARS).collect() };
    stems(text, language).into_iter().map(key).collect()
}

fn has(stored: &StoredMessage, attachment: Attachment) -> bool {
    let message = &stored.message;
    match attachment {
        Attachment::Link => {
            let is_link = |kind: &EntityKind| matches!(kind, EntityKind::TextLink { .. });
            ["://", "www."].iter().any(|mark| message.text.contains(mark))
                || message.entities.iter().any(|entity| is_link(&entity.kind))
        }
        Attachment::File => matches!(message.kind, Kind::Document | Kind::Audio | Kind::Video),
        Attachment::Photo => message.kind == Kind::Photo,
    }
}

/// Formatted page of a search.
#[derive(Debug)]
pub struct ShownPage {
    pub markdown: String,
    pub links: Vec<String>,
    pub buttons: Vec<Vec<Button>>,
    pub rests_on: Vec<Seq>,
}

/// Formats a page: who, when, some words, and the link to the message.
pub fn shown(found: &SearchResult, search: &ChatSearch<'_>, page: SearchPage, texts: &Texts) -> ShownPage {
    let (zone, now) = (search.zone, search.command.message.sent_at);
    let of_page = found.messages.iter().skip(page.number * PAGE).take(PAGE);
    let notes = found.notes.iter().filter(|_| page.number == 0);
    let (mut lines, mut links, mut rests_on) = (Vec::new(), Vec::new(), Vec::new());
    for note in notes {
        lines.push(format!("- n{} {}", note.number, escape_markdown(&note.title)));
        rests_on.extend(&note.sources);
    }
    let wanted = search.sought();
    for stored in of_page {
        let time = short_time(stored.message.sent_at, now, zone, texts);
        let link = message_link(&search.chat.chat, &stored.message);
        let time = link.as_ref().map_or_else(|| time.clone(), |link| format!("[{time}]({link})"));
        let name = escape_markdown(&one_line(&stored.message.sender.name, SHOWN_CHARS));
        let words = escape_markdown(&excerpt(&stored.message.rendered(), &wanted, search.chat.language));
        lines.push(format!("- {time} **{name}**: {words}"));
        links.extend(link);
        rests_on.push(stored.seq);
    }
    if lines.is_empty() {
        return ShownPage { markdown: texts.search.none.clone(), links, buttons: Vec::new(), rests_on };
    }
    let all = found.messages.len() + found.notes.len();
    let count = format!("{all}{}", if found.messages.len() == MOST { "+" } else { "" });
    let head = filled(&texts.search.head, &[("n", &count)]);
    let markdown = format!("{head}\n\n{}", lines.join("\n"));
    ShownPage { markdown, links, buttons: page.buttons(found.messages.len()), rests_on }
}

/// Returns some words of a text, from shortly before the first one whose stem is in `wanted`.
fn excerpt(text: &str, wanted: &HashSet<String>, language: Language) -> String {
    let said: Vec<&str> = text.split_whitespace().collect();
    let is_wanted = |word: &&str| !wanted.is_disjoint(&keys(word, language));
    let begin = said.iter().position(is_wanted).unwrap_or(0).saturating_sub(WORDS_BEFORE);
    let words = one_line(&said.get(begin..).unwrap_or_default().join(" "), SHOWN_CHARS);
    if begin > 0 { format!("…{words}") } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::testkit::moment;

    fn parse(text: &str) -> Option<SearchRequest> {
        SearchRequest::parse(text, Language::DEFAULT, moment("10:00"), Zone::UTC)
    }

    #[test]
    fn words_and_filters_are_read() {
        let request = parse("red tent from:@Ana has:link on:2026-01-02").expect("a request");
        assert_eq!((request.words.as_str(), request.from.as_deref()), ("red tent", Some("ana")));
        assert_eq!(request.has, Some(Attachment::Link));
        let days = request.since.zip(request.until).map(|(since, until)| until.since(since).as_secs());
        assert_eq!(days, Some(24 * 60 * 60));
        let yesterday = parse("on:yesterday").expect("a request");
        assert!(yesterday.until.is_some_and(|until| until <= moment("10:00")));
        let open = parse("since:2026-01-02 topic:Here at 9:30").expect("a request");
        assert_eq!((open.words.as_str(), open.topic.as_deref(), open.until), ("at 9:30", Some("here"), None));
    }

    #[test]
    fn an_unknown_value_of_a_filter_is_no_search() {
        for text in ["", "  ", "on:someday", "has:soul", "until:x"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn pages_are_read_from_their_buttons() {
        let page = SearchPage { command: MessageId(7), chat: ChatKey(3), number: 1 };
        assert_eq!(SearchPage::parse(&page.data()), Some(page));
        let labels =
            |page: SearchPage| page.buttons(34).concat().into_iter().map(|button| button.label).collect::<Vec<_>>();
        assert_eq!(labels(page), ["← 1–10", "21–30 →"]);
        assert_eq!(labels(SearchPage { number: 3, ..page }), ["← 21–30"]);
        for data in ["search", "search:1:2", "search:1:2:900", "settings:1:2:3", "search:a:b:c"] {
            assert_eq!(SearchPage::parse(data), None, "{data}");
        }
    }
}
