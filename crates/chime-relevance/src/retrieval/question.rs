//! Parses a question: its words, names and dates, and the kind of answer it asks for.

use crate::retrieval::dates::{TimeSpan, spans_named};
use crate::retrieval::languages::{PhraseTable, Tables};
use crate::retrieval::words::{lower, words};
use chime_core::{Language, Timestamp, UserId, folded, is_unspaced, pieces, search_words, split_words};

/// A member that a question may name.
#[derive(Debug, Clone, Copy)]
pub struct Person<'a> {
    pub id: UserId,
    pub name: &'a str,
    pub username: Option<&'a str>,
}

/// Data about a question that its text does not have: the chat's language and time zone, the time, the asker.
#[derive(Debug, Clone, Copy)]
pub struct QuestionContext<'a> {
    pub language: Language,
    pub now: Timestamp,
    /// Offset of the chat's time zone from UTC, in seconds.
    pub utc_offset: i32,
    pub by: Option<UserId>,
    /// Members who wrote in the chat, so that a question may name them.
    pub people: &'a [Person<'a>],
}

#[derive(Debug, Clone)]
pub struct ParsedQuestion {
    pub tables: Tables,
    pub language: Language,
    /// Content words, each once; names of members last.
    pub words: Vec<String>,
    /// Text without the names of members, for the embedding; the whole text if nothing else is left.
    pub bare: String,
    /// Words of the question that name members, each once; they are also in `words`.
    pub names: Vec<String>,
    /// Members that the question names, and the asker if it asks about their own messages.
    pub named: Vec<UserId>,
    pub spans: Vec<TimeSpan>,
    pub asks_when: bool,
    pub asks_number: bool,
    /// `true` if it asks what a member said, or what was said at a time, and names no other subject.
    pub asks_talk: bool,
    /// `true` if it names the last conversation of a kind ("the last meeting") and no time.
    pub last_talk: bool,
    /// How many messages it asks for in "the last ten messages".
    pub newest: Option<usize>,
    /// `true` if it asks for recent news.
    pub asks_news: bool,
    /// `true` if only forms of the question's words match, not words of similar meaning.
    pub is_literal: bool,
}

/// Returns `true` if a text asks for a number or a time.
pub fn asks_number_or_time(text: &str) -> bool {
    let said = words(text);
    let tables = Tables::of(Language::DEFAULT, text);
    tables.iter().any(|table| table.asks_number.any_in(&said) || table.asks_when.any_in(&said))
}

/// Minimum characters of a name that also matches in inflected forms; shorter names match only exactly.
const MIN_INFLECTED_CHARS: usize = 4;
/// Maximum characters of the inflectional ending of a name.
const MAX_ENDING_CHARS: usize = 3;

impl ParsedQuestion {
    /// Builds a question from search words instead of a text. It matches by word forms only, see `is_literal`.
    pub fn of_words(words: Vec<String>, language: Language) -> Self {
        Self {
            tables: Tables::of(language, ""),
            language,
            bare: String::new(),
            words,
            names: Vec::new(),
            named: Vec::new(),
            spans: Vec::new(),
            asks_when: false,
            asks_number: false,
            asks_talk: false,
            last_talk: false,
            newest: None,
            asks_news: false,
            is_literal: true,
        }
    }

    /// Parses `text`, from which the caller has removed the bot's own name.
    pub fn read(text: &str, asked: &QuestionContext<'_>) -> Self {
        let tables = Tables::of(asked.language, text);
        let said = words(text);
        let names: Vec<(String, UserId)> = (asked.people.iter())
            .flat_map(|person| {
                let called = name_words(person.name).into_iter().chain(person.username.map(str::to_lowercase));
                called.map(|name| (name, person.id))
            })
            .filter(|(name, _)| !tables.is_stop_word(name))
            .collect();
        let is_name = |word: &str| names.iter().any(|(name, _)| is_form_of(word, name));
        let mut named: Vec<UserId> = Vec::new();
        for (_, id) in names.iter().filter(|(name, _)| said.iter().any(|word| is_form_of(word, name))) {
            if !named.contains(id) {
                named.push(*id);
            }
        }
        let asks = |of: fn(&super::languages::RecallPhrases) -> &super::languages::Phrases| {
            tables.iter().any(|table| of(table).any_in(&said))
        };
        let asks_news = tables.of_question().is_some_and(|table| table.asks_news.any_in(&said));
        // "What did I miss?" is not about what the asker said.
        if !asks_news && asks(|table| &table.asks_oneself) {
            named.extend(asked.by.filter(|by| !named.contains(by)));
        }
        // Where no space separates a name or a time from other words, the name or time is cut out.
        let (mut rest, mut bare, mut called) = (folded(text).into_owned(), text.to_owned(), Vec::<String>::new());
        // In the languages of the bot, times are stop words.
        let of_times = tables.of_question().filter(|table| table.short.is_none()).map(|table| table.times_in(&said));
        let times = || of_times.iter().flatten().filter(|(_, is_time)| *is_time).map(|(words, _)| *words);
        for time in times().filter(|words| words[0].starts_with(is_unspaced)) {
            rest = rest.replace(&time.concat(), " ");
        }
        let is_time = |word: &String| times().any(|words| words.contains(word));
        for (name, id) in names.iter().filter(|(name, _)| name.contains(is_unspaced)) {
            if rest.contains(name.as_str()) {
                rest = rest.replace(name, " ");
                bare = bare.replace(name, " ");
                called.extend(pieces(name).into_iter().filter(|part| is_name_like(part)).map(str::to_owned));
                named.extend(Some(*id).filter(|id| !named.contains(id)));
            }
        }
        let mut telling: Vec<String> = Vec::new();
        for word in
            search_words(&rest).into_iter().map(lower).filter(|word| !tables.is_stop_word(word) && !is_time(word))
        {
            let list = if is_name(&word) { &mut called } else { &mut telling };
            if !list.contains(&word) {
                list.push(word);
            }
        }
        let bare: Vec<&str> =
            bare.split_whitespace().filter(|part| !words(part).first().is_some_and(|word| is_name(word))).collect();
        let spans = spans_named(&said, tables, asked.now, asked.utc_offset);
        let last_talk = spans.is_empty() && names_last_talk(&said, tables);
        let newest = tables.of_question().and_then(|table| newest_named(&said, table));
        let names_any = !named.is_empty() || !spans.is_empty() || last_talk || asks_news;
        Self {
            asks_talk: newest.is_some() || names_any && asks_talk_alone(&said, tables, named.is_empty(), is_name),
            last_talk,
            newest,
            asks_news,
            words: telling.iter().chain(&called).cloned().collect(),
            names: called,
            bare: if bare.is_empty() { text.to_owned() } else { bare.join(" ") },
            named,
            spans,
            asks_when: asks(|table| &table.asks_when),
            asks_number: asks(|table| &table.asks_number),
            tables,
            language: asked.language,
            is_literal: false,
        }
    }
}

/// Returns the words of a member's name; where a script has no spaces between words, the name as it stands.
fn name_words(name: &str) -> Vec<String> {
    let lower = folded(name).to_lowercase();
    if !lower.contains(is_unspaced) {
        return words(name);
    }
    split_words(&lower).filter(|word| is_name_like(word)).map(str::to_owned).collect()
}

/// Returns `true` unless a word is a single character.
fn is_name_like(word: &str) -> bool {
    word.chars().nth(1).is_some()
}

/// Returns `true` if the question names the last conversation of a kind: a word such as "last" is next to one such as
/// "meeting", or up to two words before it.
fn names_last_talk(said: &[String], tables: Tables) -> bool {
    let Some(table) = tables.of_question() else { return false };
    let is_last = |place: usize| table.last.at(said, place).is_some();
    let talks = (0..said.len()).filter(|place| table.talks.at(said, *place).is_some());
    talks
        .into_iter()
        .any(|talk| (talk.saturating_sub(2)..(talk + 2).min(said.len())).any(|at| at != talk && is_last(at)))
}

/// Returns the number in "the last ten messages" or "les 10 derniers messages".
fn newest_named(said: &[String], table: &PhraseTable) -> Option<usize> {
    let number = |word: &String| word.parse().ok().or_else(|| table.counts.get(word).map(|count| *count as usize));
    let is_last = |place: usize| table.last.at(said, place) == Some(1);
    (2..said.len()).filter(|place| table.messages.at(said, *place).is_some()).find_map(|place| {
        let of = |last: usize, count: usize| if is_last(last) { number(&said[count]) } else { None };
        of(place - 2, place - 1).or_else(|| of(place - 1, place - 2)).filter(|count| *count > 0)
    })
}

/// Returns `true` if `said`, the words of a question, has a word for talking and otherwise only names, times, function
/// words and, if `may_name_talk`, kinds of conversation ("meeting").
fn asks_talk_alone(said: &[String], tables: Tables, may_name_talk: bool, is_name: impl Fn(&str) -> bool) -> bool {
    let Some(table) = tables.of_question() else { return false };
    if table.short.is_none() {
        return asks_day_alone(said, table, is_name);
    }
    // "When was the meeting on Monday?" asks for one fact.
    if table.asks_when.any_in(said) || table.asks_number.any_in(said) {
        return false;
    }
    // In "qu'est" and "cos'ha" only the part after the apostrophe counts; the part before it is a function word.
    let behind = |word: &String| word.rsplit(['\'', '’']).next().unwrap_or(word).to_owned();
    let said: Vec<String> =
        said.iter().map(|word| if tables.is_stop_word(word) { word.clone() } else { behind(word) }).collect();
    let is_letter = |word: &str| word.chars().count() == 1;
    let (mut place, mut asks) = (0, false);
    while let Some(word) = said.get(place) {
        let talk = table.asks_news.at(&said, place).or_else(|| table.asks_talk.at(&said, place));
        asks |= talk.is_some();
        // "What did Ann say about the game?" asks about the game, but "what happened in the game on friday?" asks for
        // all of it.
        let talks = Some(&table.talks).filter(|_| may_name_talk);
        let when = || {
            [Some(&table.last), Some(&table.since), talks].into_iter().flatten().find_map(|one| one.at(&said, place))
        };
        place += match talk.or_else(|| table.time_at(&said, place)).or_else(when) {
            Some(length) => length,
            None if is_name(word) || tables.is_stop_word(word) || is_letter(word) => 1,
            None => return false,
        };
    }
    asks
}

/// Returns `true` if a question in a language whose words for talking are not known names a time, and so few other
/// words that they name no subject: "what happened yesterday?".
fn asks_day_alone(said: &[String], table: &PhraseTable, is_name: impl Fn(&str) -> bool) -> bool {
    /// Maximum number of letters of the other words.
    const LETTERS: usize = 14;
    /// Letters that a character stands for in scripts with one character for a syllable or a word.
    const OF_CHARACTER: usize = 3;
    let parts = table.times_in(said);
    let others = parts.iter().filter(|(_, is_time)| !is_time).flat_map(|(words, _)| *words);
    let letters = others.filter(|word| !is_name(word)).flat_map(|word| word.chars());
    parts.iter().any(|(_, is_time)| *is_time)
        && letters.map(|c| if is_unspaced(c) { OF_CHARACTER } else { 1 }).sum::<usize>() <= LETTERS
}

/// Returns `true` if `word` is `name` or one of its inflected forms: "Annas", "Катей".
fn is_form_of(word: &str, name: &str) -> bool {
    if word == name {
        return true;
    }
    let word = word.strip_suffix("'s").unwrap_or(word);
    let (word_chars, name_chars) = (word.chars().count(), name.chars().count());
    if word == name || name_chars < MIN_INFLECTED_CHARS || word_chars < MIN_INFLECTED_CHARS {
        return word == name;
    }
    // An ending may replace the last letter of the name: "Катя", "Катей".
    let shared = word.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    shared + 1 >= name_chars && word_chars <= shared + MAX_ENDING_CHARS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(code: &str, text: &str) -> ParsedQuestion {
        let people = [
            Person { id: UserId(1), name: "Caroline", username: Some("caro") },
            Person { id: UserId(2), name: "Катя", username: None },
            Person { id: UserId(3), name: "Will B.", username: None },
        ];
        ParsedQuestion::read(
            text,
            &QuestionContext {
                language: Language::from_code(code),
                now: Timestamp::from_secs(1_715_774_400),
                utc_offset: 0,
                by: Some(UserId(9)),
                people: &people,
            },
        )
    }

    #[test]
    fn function_words_leave_the_question_and_names_come_last() {
        let question = read("eng", "When did Caroline's dog eat the cake, and the cake tin?");
        assert_eq!(question.words, ["dog", "eat", "cake", "tin", "caroline's"], "names last");
        assert_eq!(
            (question.named.as_slice(), question.bare.as_str()),
            (&[UserId(1)][..], "When did dog eat the cake, and the cake tin?")
        );
        assert!(question.asks_when && !question.asks_number);
    }

    #[test]
    fn names_are_met_in_their_forms_and_a_function_word_is_no_name() {
        assert_eq!(read("rus", "Сколько Кате заплатили?").named, [UserId(2)]);
        assert_eq!(read("eng", "will it rain?").named, []);
        assert_eq!(read("eng", "what did i promise?").named, [UserId(9)]);
    }

    #[test]
    fn what_the_asker_missed_is_not_what_they_said() {
        for (code, text) in
            [("eng", "what did I miss today?"), ("rus", "что я пропустил?"), ("deu", "was habe ich verpasst?")]
        {
            let question = read(code, text);
            assert!(question.asks_talk && question.named.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_name_or_a_day_alone_asks_for_all_that_was_said() {
        let asks = |code: &str, text: &str| read(code, text).asks_talk;
        assert!(asks("eng", "what did Caroline say?") && asks("eng", "what was said yesterday"));
        assert!(asks("eng", "what did I write last week?") && asks("eng", "what happened on 3 May?"));
        assert!(asks("deu", "Was hat Caroline gestern geschrieben?") && asks("rus", "что сказала Катя вчера?"));
        assert!(asks("tur", "Dün ne konuştuk?") && asks("est", "millest eile räägiti?"));
        assert!(asks("fra", "Qu'est-ce que Caroline a dit hier ?") && asks("ita", "Cos'ha detto Caroline?"));
        assert!(asks("rus", "что обсуждали на этой неделе?") && asks("pol", "co ustaliliśmy w tym tygodniu?"));
        assert!(!asks("eng", "what did Caroline say about the boat?"), "the boat is what it is about");
        assert!(
            !asks("eng", "shall we meet on friday?") && !asks("eng", "is friday ok?") && !asks("eng", "what was said?")
        );
    }

    #[test]
    fn a_number_of_the_newest_messages_may_be_named() {
        for (code, text) in [
            ("eng", "summarize the last 10 messages as a table"),
            ("eng", "what were the last ten messages about?"),
            ("deu", "fasse die letzten 10 Nachrichten zusammen"),
            ("rus", "перескажи последние 10 сообщений"),
        ] {
            let question = read(code, text);
            assert!(question.asks_talk && question.newest == Some(10), "{text}: {:?}", question.newest);
        }
        for text in
            ["the last 10 days", "what about the last 2 suggestions?", "are there 10 messages?", "last 0 messages"]
        {
            assert_eq!(read("eng", text).newest, None, "{text}");
        }
    }

    #[test]
    fn a_talk_may_be_named_by_its_kind() {
        let asks = |code: &str, text: &str| read(code, text).asks_talk;
        assert!(
            asks("eng", "what was decided at the last meeting?") && asks("eng", "what happened in the April meeting?")
        );
        assert!(
            asks("deu", "Was wurde beim letzten Treffen beschlossen?")
                && asks("rus", "что решили на последней встрече?")
        );
        assert!(asks("eng", "what's new?") && asks("eng", "what's been happening this week?"));
        assert!(!asks("eng", "what did Caroline say about the game?"), "the game is what it is about");
        assert!(!asks("eng", "when was the last meeting?") && !asks("eng", "is there a meeting on friday?"));
        assert!(!asks("eng", "what did Caroline say about the results?"));
    }

    #[test]
    fn it_is_told_what_kind_of_answer_is_wanted() {
        assert!(read("eng", "How many chairs did we order?").asks_number);
        assert!(read("deu", "Wann fährt der Zug?").asks_when);
        assert!(read("rus", "Сколько человек придёт?").asks_number);
        assert!(!read("tur", "Kim geliyor?").asks_when);
    }
}
