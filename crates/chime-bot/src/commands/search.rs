//! Parses the words and filters of `/search`, finds what matches, and formats a page of it.

use std::collections::HashSet;

use crate::commands::shown::Shown;
use chime_answer::sanitize::{escape_markdown, one_line, shown_name};
use chime_core::chat_settings::{ChatSettings, NAME};
use chime_core::texts::{Texts, filled};
use chime_core::trigger::{Languages, called_at_start, is_for_bot};
use chime_core::{
    BotIdentity, Button, ChatKey, Conversation, Kind, Language, Member, MessageId, Role, Seq, StoredMessage, Timestamp,
    UserId, WordStemmer, Zone, covered, folded, is_unspaced, message_link, search_words, without_accents,
};
use chime_memory::wording::short_time;
use chime_relevance::retrieval::words::words;
use chime_relevance::retrieval::{Tables, date_words, spans_named};
use chime_store::chats::ChatRow;
use chime_store::notes::Note;
use chime_store::passages::{self, Attachment, Wanted};
use chime_store::postings::{self, Range};
use chime_store::{Reader, chats, messages, notes, topic_names};
use chrono::NaiveDate;

/// Maximum number of messages that a search finds, and number of messages on a page.
const MOST: usize = 50;
const PAGE: usize = 10;
/// Maximum number of words searched for: the first ones.
const WORDS: usize = 64;
/// Maximum number of messages with the same words that are read, newest first.
const READ: u32 = 300;
/// For a search with filters: maximum number of messages with the same words to which the filters are applied.
const FILTERED: u32 = 2000;
const FILTERED_BY_INDEX: u32 = 10_000;
/// Number of first letters by which words are compared in a language without a stemmer.
const KEY_CHARS: usize = 5;
/// Maximum number of notes found.
const NOTES: usize = 5;
/// Number of words shown before the first word searched for, and maximum number of characters shown of a message.
const WORDS_BEFORE: usize = 6;
const SHOWN_CHARS: usize = 140;
const APOSTROPHES: [char; 3] = ['\'', '’', 'ʼ'];
/// Start of the data of each button.
const PREFIX: &str = "search";

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

/// Reason why a text is no search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchMistake {
    /// It has neither words nor filters.
    Empty,
    /// The value of this filter is not understood.
    Filter(&'static str),
}

impl SearchMistake {
    /// Returns the reply to such a search.
    pub fn shown(self, texts: &Texts) -> String {
        match self {
            Self::Empty => texts.search.how.clone(),
            Self::Filter(name) => {
                format!("{} {}", filled(&texts.search.unread_filter, &[("filter", name)]), texts.search.how)
            }
        }
    }
}

impl SearchRequest {
    /// Parses the words and filters of `text`. `now` and `zone` give the day that `on:yesterday` names.
    ///
    /// # Errors
    /// Fails if the text has neither words nor filters, or if a filter has an unknown value.
    pub fn parse(text: &str, language: Language, now: Timestamp, zone: Zone) -> Result<Self, SearchMistake> {
        let mut request = Self::default();
        let day = |value: &str, filter| day(value, language, now, zone).ok_or(SearchMistake::Filter(filter));
        for token in text.split_whitespace() {
            match token.split_once(':') {
                Some((name, value)) if !value.is_empty() => match name.to_lowercase().as_str() {
                    "from" => request.from = Some(value.trim_start_matches('@').to_lowercase()),
                    "on" => {
                        (request.since, request.until) = day(value, "on").map(|(from, to)| (Some(from), Some(to)))?
                    }
                    "since" => request.since = Some(day(value, "since")?.0),
                    "until" => request.until = Some(day(value, "until")?.1),
                    "has" => request.has = Some(attachment(value).ok_or(SearchMistake::Filter("has"))?),
                    "topic" => request.topic = Some(value.to_lowercase()),
                    _ => request.add(token),
                },
                _ => request.add(token),
            }
        }
        if request == Self::default() { Err(SearchMistake::Empty) } else { Ok(request) }
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
        return Some((zone.midnight(day), zone.midnight(day.succ_opt()?)));
    }
    let tables = Tables::of(language, value);
    let spans = spans_named(&date_words(value, tables), tables, now, zone);
    spans.first().map(|span| (span.from, span.to))
}

/// Returns the text of a message to the bot without its names and the command.
pub fn own_words(text: &str, bot: &BotIdentity, settings: &ChatSettings) -> String {
    let called = settings.get(NAME).and_then(|name| called_at_start(text, &name.0));
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
        let (mut seen, mut whole, mut in_compounds, mut partly) = (HashSet::new(), Vec::new(), Vec::new(), Vec::new());
        for seq in self.candidates()? {
            // With a stemmer, the messages with all words come first in the lists of candidates.
            let others = if self.chat.language.has_stemmer() { in_compounds.len() + partly.len() } else { 0 };
            if whole.len() + others >= MOST {
                break;
            }
            let Some(stored) = self.talk(seq, &mut seen)? else { continue };
            let said = SaidWords::of(&stored.message.searched_text(), self.chat.language);
            if sought.iter().all(|stem| said.has_itself(stem)) {
                whole.push(stored);
            } else if sought.iter().all(|stem| said.has(stem)) {
                in_compounds.push(stored);
            } else if sought.iter().any(|stem| said.has(stem)) {
                partly.push(stored);
            }
        }
        whole.extend(in_compounds);
        whole.extend(partly);
        self.leave_parts_out(&mut whole);
        whole.truncate(MOST);
        Ok(SearchResult { notes, messages: whole })
    }

    /// In scripts without spaces, a word is searched as pairs of characters. If a message has the whole word, leaves those
    /// out that only have some of its characters.
    fn leave_parts_out(&self, found: &mut Vec<StoredMessage>) {
        let run = folded(&self.request.words).to_lowercase();
        let has_run = |stored: &StoredMessage| folded(&stored.message.rendered()).to_lowercase().contains(&run);
        if run.chars().all(is_unspaced) && found.iter().any(has_run) {
            found.retain(has_run);
        }
    }

    /// Returns the words searched for, without stop words unless there are no others.
    fn telling(&self) -> String {
        let words = &self.request.words;
        let is_stop_word = |word: &&str| Languages::shipped().is_stop_word_in(&word.to_lowercase(), words);
        let first = || words.split_whitespace().take(WORDS);
        let telling: Vec<&str> = first().filter(|word| !is_stop_word(word)).collect();
        if telling.is_empty() { first().collect::<Vec<_>>().join(" ") } else { telling.join(" ") }
    }

    /// Returns the stems of the words searched for. Of a word such as "l’école" only the longest part counts.
    fn sought(&self) -> Vec<String> {
        let stemmer = WordStemmer::new(self.chat.language);
        self.longest_parts().iter().map(|part| stemmer.stem(part).into_owned()).collect()
    }

    /// Returns the words searched for in lower case. Of a word with an apostrophe, this is the longest part: the others
    /// are articles and endings.
    fn longest_parts(&self) -> Vec<String> {
        let telling = folded(&self.telling()).to_lowercase();
        let longest = |word: &str| word.split(APOSTROPHES).max_by_key(|part| part.chars().count()).map(str::to_owned);
        search_words(&telling).into_iter().filter_map(longest).take(WORDS).collect()
    }

    /// Returns the forms in which the index may have a word. A stemmer reads an article before an apostrophe as a part of
    /// the word, and may shorten the rest in another way. It does not shorten a word before one.
    fn forms(&self, word: &str) -> Vec<String> {
        let stemmer = WordStemmer::new(self.chat.language);
        let behind_article = |article: &str| {
            let stem = stemmer.stem(&format!("{article}{word}")).into_owned();
            stem.rsplit(APOSTROPHES).next().unwrap_or_default().to_owned()
        };
        let mut forms =
            vec![stemmer.stem(word).into_owned(), word.to_owned(), behind_article("l'"), behind_article("l’")];
        forms.dedup();
        forms
    }

    /// Returns the messages that may be found: first those with all words, then those with all of them in compounds,
    /// then those with the two rarest words, then those with one word, the rarest word first, then those with one word
    /// in a compound. For the same words, the newest come first.
    fn candidates(&self) -> chime_store::Result<Vec<Seq>> {
        let (Some(authors), Some(topics)) = (self.authors()?, self.topics()?) else { return Ok(Vec::new()) };
        if !self.request.has_filters() {
            return Ok(self.saying(READ)?.concat());
        }
        if self.request.words.is_empty() {
            return self.within_filters(&authors, &topics, None);
        }
        // With an index for the filter, more messages with the words can be compared with it.
        let is_indexed = !authors.is_empty() || !topics.is_empty();
        let lists = self.saying(if is_indexed { FILTERED_BY_INDEX } else { FILTERED })?;
        let within = lists.iter().map(|seqs| self.within_filters(&authors, &topics, Some(seqs)));
        Ok(within.collect::<chime_store::Result<Vec<_>>>()?.concat())
    }

    /// Returns lists of messages that contain the same words searched for, at most `limit` in each, the newest first.
    fn saying(&self, limit: u32) -> chime_store::Result<Vec<Vec<Seq>>> {
        let mut range = Range { chat: self.chat.key, from: Seq(0), before: self.before(), limit };
        if self.request.since.or(self.request.until).is_some() {
            let (from, until) = self.within();
            let ends = passages::numbers_between(self.conn, self.chat.key, from, until)?;
            let Some((first, last)) = ends else { return Ok(Vec::new()) };
            range = Range { from: first, before: range.before.min(Seq(last.0 + 1)), ..range };
        }
        let (telling, stems, parts) = (self.telling(), self.sought(), self.longest_parts());
        let mut words = Vec::new();
        for (stem, part) in stems.iter().zip(&parts) {
            words.push((stem.as_str(), postings::of_any(self.conn, &range, &self.forms(part))?));
        }
        if !self.chat.language.has_stemmer() {
            // Without a stemmer, other forms of a word are found by parts of words.
            for word in telling.split_whitespace() {
                words.push((word, postings::of_part(self.conn, &range, word)?));
            }
        }
        words.sort_by(|(_, one), (_, other)| one.held.total_cmp(&other.held));
        let mut all: Vec<&str> = stems.iter().map(String::as_str).collect();
        let mut rarest: Vec<&str> = words.iter().map(|(word, _)| *word).take(2).collect();
        all.sort_unstable();
        rarest.sort_unstable();
        let in_compounds = Some(self.chat.language).filter(|language| language.writes_compounds());
        let mut together = vec![(&all, None), (&all, in_compounds), (&rarest, in_compounds)];
        together.dedup();
        let mut lists = Vec::new();
        for (words, compounds) in together.into_iter().filter(|(words, _)| words.len() > 1) {
            lists.push(postings::of_all(self.conn, &range, words, compounds)?.seqs);
        }
        let stems: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        lists.extend(words.into_iter().map(|(_, found)| found.seqs));
        for stem in stems.into_iter().filter(|_| in_compounds.is_some()) {
            lists.push(postings::of_word(self.conn, &range, stem, self.chat.language)?.seqs);
        }
        Ok(lists)
    }

    /// Returns the newest of the messages `among` that the filters allow, of all messages if it is `None`.
    fn within_filters(
        &self,
        authors: &[UserId],
        topics: &[Conversation],
        among: Option<&[Seq]>,
    ) -> chime_store::Result<Vec<Seq>> {
        let (chat, before, within) = (self.chat.key, self.before(), Some(self.within()));
        let mut newest = Vec::new();
        for by in all_or_each(authors) {
            for conversation in all_or_each(topics) {
                let wanted = Wanted { chat, conversation, before, within, by };
                newest.extend(passages::matching(self.conn, &wanted, self.request.has, among, FILTERED)?);
            }
        }
        newest.sort_by(|one, other| other.cmp(one));
        Ok(newest.into_iter().map(|(_, seq)| seq).collect())
    }

    fn within(&self) -> (Timestamp, Timestamp) {
        (self.request.since.unwrap_or(Timestamp::from_secs(0)), self.request.until.unwrap_or(Timestamp::END))
    }

    fn before(&self) -> Seq {
        if self.command.chat == self.chat.key { self.command.seq } else { Seq(u32::MAX) }
    }

    /// Returns the members whose name contains the word after `from:`; empty if the search has no such filter, and
    /// `None` if nobody has such a name.
    fn authors(&self) -> chime_store::Result<Option<Vec<UserId>>> {
        let Some(from) = &self.request.from else { return Ok(Some(Vec::new())) };
        let wanted = words(&without_accents(from));
        let is_named = |member: &Member| {
            words(&without_accents(&member.name)).windows(wanted.len().max(1)).any(|part| part == wanted)
                || member.username.as_ref().is_some_and(|it| it.eq_ignore_ascii_case(from))
        };
        let named: Vec<UserId> = chats::members(self.conn, self.chat.key)?
            .iter()
            .filter(|member| is_named(member))
            .map(|it| it.id)
            .collect();
        Ok(Some(named).filter(|named| !named.is_empty()))
    }

    /// Returns the conversations that `topic:` names; empty if the search has no such filter, and `None` if no forum
    /// topic has such a name.
    fn topics(&self) -> chime_store::Result<Option<Vec<Conversation>>> {
        let Some(wanted) = &self.request.topic else { return Ok(Some(Vec::new())) };
        if wanted == "here" {
            return Ok(Some(vec![self.command.conversation()]));
        }
        let mut found = topic_names::of_chat(self.conn, self.chat.key)?;
        found.retain(|(_, name)| name.to_lowercase().contains(wanted.as_str()));
        let conversation = |(forum_topic, _)| Conversation { chat: self.chat.key, forum_topic: Some(forum_topic) };
        let found: Vec<_> = found.into_iter().map(conversation).collect();
        Ok(Some(found).filter(|found| !found.is_empty()))
    }

    /// Returns a message that a member wrote to the others, unless it was returned before.
    fn talk(&self, seq: Seq, seen: &mut HashSet<Seq>) -> chime_store::Result<Option<StoredMessage>> {
        if seq >= self.before() || !seen.insert(seq) {
            return Ok(None);
        }
        let stored = messages::by_seq(self.conn, self.chat.key, seq)?;
        Ok(stored.filter(|StoredMessage { message, .. }| {
            message.role == Role::User && message.kind != Kind::Service && !is_for_bot(message)
        }))
    }

    fn notes(&self, sought: &[String]) -> chime_store::Result<Vec<Note>> {
        if sought.is_empty() {
            return Ok(Vec::new());
        }
        let pieces = notes::pieces(self.conn, self.chat.key)?;
        let mut found = notes::of_chat(self.conn, self.chat.key)?;
        found.retain(|note| {
            let of_note = pieces.iter().filter(|piece| piece.number == note.number).map(|piece| piece.text.as_str());
            let said = of_note.chain([note.title.as_str()]).collect::<Vec<_>>().join(" ");
            let said = SaidWords::of(&said, self.chat.language);
            sought.iter().all(|stem| said.has(stem))
        });
        found.truncate(NOTES);
        Ok(found)
    }
}

/// Words of a text, as a search compares them.
struct SaidWords {
    language: Language,
    /// Stems of the words, divided at apostrophes, without accents.
    stems: Vec<String>,
}

impl SaidWords {
    fn of(text: &str, language: Language) -> Self {
        let (stemmer, text) = (WordStemmer::new(language), folded(text).to_lowercase());
        let parts = search_words(&text).into_iter().flat_map(|word| word.split(APOSTROPHES));
        Self { language, stems: parts.map(|part| without_accents(&stemmer.stem(part))).collect() }
    }

    /// Returns `true` if the text has the word with this stem, alone or in a compound.
    fn has(&self, stem: &str) -> bool {
        self.has_itself(stem)
            || self.stems.iter().any(|said| self.language.is_compound_with(&without_accents(stem), said))
    }

    /// Returns `true` if the text has the word with this stem, or without a stemmer, a word with the same first
    /// letters.
    fn has_itself(&self, stem: &str) -> bool {
        let letters = if self.language.has_stemmer() { usize::MAX } else { KEY_CHARS };
        let stem = without_accents(stem);
        self.stems.iter().any(|said| said.chars().take(letters).eq(stem.chars().take(letters)))
    }
}

/// Returns each value to filter by, or a single `None`, which stands for all values.
fn all_or_each<T: Copy>(values: &[T]) -> Vec<Option<T>> {
    if values.is_empty() { vec![None] } else { values.iter().copied().map(Some).collect() }
}

/// Formats a page: who, when, some words, and the link to the message.
pub fn shown(found: &SearchResult, search: &ChatSearch<'_>, page: SearchPage, texts: &Texts) -> Shown {
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
        let name = shown_name(&stored.message.sender.name);
        let words = escape_markdown(&excerpt(&stored.message.rendered(), &wanted, search.chat.language));
        lines.push(format!("- {time} **{name}**: {words}"));
        links.extend(link);
        rests_on.push(stored.seq);
    }
    if lines.is_empty() {
        let (none, hint) = (&texts.search.none, &texts.search.only_messages);
        let markdown = if search.request.has.is_some() { none.clone() } else { format!("{none} {hint}") };
        return Shown { markdown, ..Shown::of_chat(search.chat.key) };
    }
    let all = found.messages.len() + found.notes.len();
    let count = format!("{all}{}", if found.messages.len() == MOST { "+" } else { "" });
    let head = filled(&texts.search.head, &[("n", &count)]);
    let markdown = format!("{head}\n\n{}", lines.join("\n"));
    Shown { markdown, links, chat: search.chat.key, rests_on, buttons: page.buttons(found.messages.len()) }
}

/// Returns some words of a text, from shortly before the first one with a stem in `wanted`.
fn excerpt(text: &str, wanted: &[String], language: Language) -> String {
    let text = covered(text);
    let said: Vec<&str> = text.split_whitespace().collect();
    let is_wanted = |word: &&str| {
        let said = SaidWords::of(word, language);
        wanted.iter().any(|stem| said.has(stem))
    };
    let begin = said.iter().position(is_wanted).unwrap_or(0).saturating_sub(WORDS_BEFORE);
    let words = one_line(&said.get(begin..).unwrap_or_default().join(" "), SHOWN_CHARS);
    if begin > 0 { format!("…{words}") } else { words }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use chime_core::testkit::{CHAT, moment};
    use chime_core::{Chat, ChatKind, Message, Sender};
    use chime_store::Priority;
    use chime_store::testkit::new_store;

    const MINUTE: Duration = Duration::from_secs(60);

    /// Returns the numbers of the messages that a search finds in a chat with the messages `said`, one a minute.
    async fn found(code: &'static str, mut said: Vec<&'static str>, request: SearchRequest) -> Vec<u32> {
        let (_folder, store) = new_store().await;
        said.push("/search");
        let work = move |tx: &chime_store::Writer<'_>| -> chime_store::Result<Vec<u32>> {
            let chat = Chat { id: CHAT, kind: ChatKind::Supergroup, title: None, username: None };
            let row = ChatRow { language: Language::from_code(code), ..chats::upsert(tx, &chat)? };
            for (number, text) in (1_i64..).zip(&said) {
                let sent_at = moment("10:00").plus(MINUTE * number as u32);
                let sender = Sender::person(UserId(7), "Ann".to_owned());
                let message = Message::new(CHAT, MessageId(number), sender, sent_at);
                messages::take_in(tx, &row, &Message { text: (*text).to_owned(), ..message })?;
            }
            let command = messages::by_seq(tx, row.key, Seq(said.len() as u32))?.expect("the command");
            let search = ChatSearch { conn: tx, chat: &row, zone: Zone::UTC, request: &request, command: &command };
            Ok(search.find()?.messages.into_iter().map(|it| it.seq.0).collect())
        };
        store.write(Priority::Background, work).await.expect("a search")
    }

    fn for_words(words: &str) -> SearchRequest {
        SearchRequest { words: words.to_owned(), ..SearchRequest::default() }
    }

    #[tokio::test]
    async fn words_themselves_come_before_newer_compounds() {
        let mut said = vec!["Der Termin der Schule"];
        said.extend(["Schulsachen und Terminplaner"; 60]);
        let found = found("deu", said, for_words("Schule Termin")).await;
        assert_eq!(found[..3], [1, 61, 60]);
    }

    #[tokio::test]
    async fn without_a_stemmer_a_word_is_not_found_in_another_one() {
        let said = vec!["metallist ring", "Tallinna kaart", "kesktallinnast"];
        assert_eq!(found("est", said, for_words("Tallinn")).await, [2, 3]);
    }

    #[tokio::test]
    async fn accents_apostrophes_and_elisions_do_not_matter() {
        let french = vec!["On se retrouve à l’école pour l’anniversaire d’Anna", "Le résumé de l'été est prêt"];
        for (word, expected) in
            [("école", 1), ("ecole", 1), ("anniversaires", 1), ("anna", 1), ("l’été", 2), ("ete", 2), ("resume", 2)]
        {
            assert_eq!(found("fra", french.clone(), for_words(word)).await, [expected], "{word}");
        }
        let others = [
            ("ita", "l'idrogeno dell'acqua", "acqua"),
            ("ita", "sono all’università", "università"),
            ("ukr", "Ми зустрінемось у п'ятницю біля під'їзду", "п’ятницю"),
            ("tur", "İstanbul'da hava güzel", "istanbul"),
            ("tur", "DİKKAT köpek var", "dikkat"),
            ("tur", "Ankara’da buluşalım", "ankara"),
            ("spa", "La reunión será mañana", "manana"),
        ];
        for (code, said, word) in others {
            assert_eq!(found(code, vec![said], for_words(word)).await, [1], "{word}");
        }
    }

    #[tokio::test]
    async fn the_first_words_of_a_long_search_count() {
        let filler: String = (0..3 * WORDS).map(|number| format!(" w{number}")).collect();
        let said = vec!["the firewood is dry", "a red boat"];
        let request = for_words(&format!("firewood{filler} boat"));
        assert_eq!(found("eng", said, request).await, [1]);
        let characters: String = ('\u{4e00}'..'\u{6e00}').collect();
        let beginning = characters.chars().take(3).collect::<String>();
        let (beginning, end): (&'static str, &'static str) = (beginning.leak(), "淿渀");
        assert_eq!(found("cmn", vec![beginning, end], for_words(&characters)).await, [1]);
    }

    #[tokio::test]
    async fn a_day_long_ago_is_searched_among_all_its_messages() {
        let said = vec!["the firewood is dry"; FILTERED as usize + 2];
        let until = Some(moment("10:00").plus(MINUTE * 2));
        assert_eq!(found("eng", said, SearchRequest { until, ..for_words("firewood") }).await, [1]);
    }

    #[tokio::test]
    async fn many_commands_with_the_words_do_not_hide_a_message() {
        let mut said = vec!["the firewood is dry"];
        said.extend(["/ask firewood"; READ as usize]);
        let since = Some(moment("10:00"));
        assert_eq!(found("eng", said, SearchRequest { since, ..for_words("firewood") }).await, [1]);
    }

    fn parse(text: &str) -> Result<SearchRequest, SearchMistake> {
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
        for text in ["", "  "] {
            assert_eq!(parse(text), Err(SearchMistake::Empty));
        }
        for (text, filter) in
            [("on:someday", "on"), ("has:soul", "has"), ("plant until:x", "until"), ("since:x", "since")]
        {
            assert_eq!(parse(text), Err(SearchMistake::Filter(filter)), "{text}");
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
