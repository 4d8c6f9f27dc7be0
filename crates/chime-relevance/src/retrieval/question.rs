//! Parses a question: its words, names and dates, and the kind of answer it asks for.

use crate::retrieval::dates::{TimeSpan, date_words, spans_named};
use crate::retrieval::languages::{PhraseTable, Tables};
use crate::retrieval::words::{lower, words};
use chime_core::trigger::asks_for_summary;
use chime_core::{Language, Member, Timestamp, UserId, Zone, folded, is_unspaced, pieces, search_words, split_words};

/// Data about a question that its text does not have: the chat's language and time zone, the time, the asker.
#[derive(Debug, Clone, Copy)]
pub struct QuestionFacts<'a> {
    pub language: Language,
    pub now: Timestamp,
    /// Time zone of the conversation.
    pub zone: Zone,
    pub by: Option<UserId>,
    /// Members who wrote in the chat, so that a question may name them.
    pub people: &'a [Member],
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
    pub fn read(text: &str, asked: &QuestionFacts<'_>) -> Self {
        let tables = Tables::of(asked.language, text);
        let said = tables.without_elisions(words(text));
        let names: Vec<(String, UserId)> = (asked.people.iter())
            .flat_map(|person| {
                let called =
                    name_words(&person.name).into_iter().chain(person.username.iter().map(|name| name.to_lowercase()));
                called.map(|name| (name, person.id))
            })
            .filter(|(name, _)| tables.may_be_name(name))
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
        let asks_news = asks(|table| &table.asks_news);
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
        let unnamed = tables.without_elisions(words(&bare));
        let mut telling: Vec<String> = Vec::new();
        let is_telling = |word: &String| (is_name(word) || !tables.is_stop_word(word)) && !is_time(word);
        for word in search_words(&rest).into_iter().map(lower).filter(is_telling) {
            let list = if is_name(&word) { &mut called } else { &mut telling };
            if !list.contains(&word) {
                list.push(word);
            }
        }
        let bare: Vec<&str> =
            bare.split_whitespace().filter(|part| !words(part).first().is_some_and(|word| is_name(word))).collect();
        let dated = tables.without_elisions(date_words(text, tables));
        let spans = spans_named(&without_named_months(&dated, tables, &names), tables, asked.now, asked.zone);
        let last_talk = spans.is_empty() && names_last_talk(&said, tables);
        let newest = tables.of_question().and_then(|table| newest_named(&said, table));
        let names_any = !named.is_empty() || !spans.is_empty() || last_talk || asks_news;
        Self {
            asks_talk: newest.is_some() || names_any && asks_talk_alone(&unnamed, tables, named.is_empty(), is_name),
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

/// Returns the words of a question, with an empty one in place of each month's name that means a member: "what did
/// April say?", but not "what was said in April?" or "on 5 April".
fn without_named_months(said: &[String], tables: Tables, names: &[(String, UserId)]) -> Vec<String> {
    let is_mark = |at: usize| tables.iter().any(|table| table.month_marks.at(said, at).is_some());
    let is_month = |at: usize| tables.iter().any(|table| table.months.iter().any(|month| month.at(said, at).is_some()));
    let is_number = |word: &String| word.starts_with(|c: char| c.is_ascii_digit());
    let names_member = |(place, word): (usize, &String)| {
        let near = said.get(place.saturating_sub(2)..(place + 2).min(said.len())).unwrap_or_default();
        let is_date = near.iter().any(is_number) || place.checked_sub(1).is_some_and(is_mark);
        is_month(place) && !is_date && names.iter().any(|(name, _)| name == word)
    };
    said.iter()
        .enumerate()
        .map(|(place, word)| if names_member((place, word)) { String::new() } else { word.clone() })
        .collect()
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
    let names_it = |table: &PhraseTable, talk: usize| {
        let Some(length) = table.talks.at(said, talk) else { return false };
        let is_before = |at: usize| table.last.at(said, at).is_some_and(|length| at + length + 1 >= talk);
        (0..talk).any(is_before) || table.last.at(said, talk + length).is_some()
    };
    tables.iter().any(|table| (0..said.len()).any(|talk| names_it(table, talk)))
}

/// Returns the number in "the last ten messages" or "les 10 derniers messages", and in "a summary of the 200 messages".
fn newest_named(said: &[String], table: &PhraseTable) -> Option<usize> {
    let number = |word: &String| word.parse().ok().or_else(|| table.counts.get(word).map(|count| *count as usize));
    let is_last = |place: usize| table.last.at(said, place) == Some(1);
    (2..said.len()).filter(|place| table.messages.at(said, *place).is_some()).find_map(|place| {
        let of = |last: usize, count: usize| if is_last(last) { number(&said[count]) } else { None };
        // "Who wrote the 50 posts about the boiler?" means certain ones.
        let asks_for_summary = |end: usize| asks_for_summary(&said[..end].join(" "));
        let summarized = || number(&said[place - 1]).filter(|_| (1..place).any(asks_for_summary));
        of(place - 2, place - 1).or_else(|| of(place - 1, place - 2)).or_else(summarized).filter(|count| *count > 0)
    })
}

/// Returns `true` if `said`, the words of a question, has a word for talking and otherwise only names, times, function
/// words and, if `may_name_talk`, kinds of conversation ("meeting").
fn asks_talk_alone(said: &[String], tables: Tables, may_name_talk: bool, is_name: impl Fn(&str) -> bool) -> bool {
    let Some(table) = tables.of_question() else { return false };
    if table.short.is_none() {
        // The language of a few words is uncertain.
        return tables.iter().any(|table| table.short.is_none() && asks_day_alone(said, table, &is_name));
    }
    // "When was the meeting on Monday?" asks for one fact.
    if table.asks_when.any_in(said) || table.asks_number.any_in(said) {
        return false;
    }
    // In "qu'est" and "cos'ha" only the part after the apostrophe counts; the part before it is a function word.
    let behind = |word: &String| word.rsplit(['\'', '’']).next().unwrap_or(word).to_owned();
    // "П'ятниця" is one word.
    let is_whole = |word: &String| tables.is_stop_word(word) || table.time_at(std::slice::from_ref(word), 0).is_some();
    let said: Vec<String> = said.iter().map(|word| if is_whole(word) { word.clone() } else { behind(word) }).collect();
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

/// Returns `true` if a question in a language without a file names a time or a conversation, and besides words for
/// talking so few others that they name no subject: "what happened yesterday?".
fn asks_day_alone(said: &[String], table: &PhraseTable, is_name: impl Fn(&str) -> bool) -> bool {
    /// Maximum number of letters of the other words.
    const LETTERS: usize = 14;
    /// Letters that a character stands for in scripts with one character for a syllable or a word: two of them may be a
    /// subject. Hiragana mostly writes endings, and counts as letters.
    const OF_CHARACTER: usize = 8;
    let is_syllable = |c: char| is_unspaced(c) && !matches!(c, '\u{3041}'..='\u{309f}');
    let known = [&table.asks_talk, &table.asks_news, &table.talks, &table.last, &table.since];
    let known_at = |place: usize| known.iter().filter_map(|phrases| phrases.at(said, place)).max();
    let (mut place, mut known_until, mut letters, mut names_any) = (0, 0, 0, table.asks_news.any_in(said));
    for (words, is_time) in table.times_in(said) {
        names_any |= is_time || table.last.at(said, place).is_some();
        known_until = known_until.max(place + known_at(place).unwrap_or(0));
        if !is_time && place >= known_until && !is_name(&words[0]) {
            letters += words[0].chars().map(|c| if is_syllable(c) { OF_CHARACTER } else { 1 }).sum::<usize>();
        }
        place += words.len();
    }
    names_any && letters <= LETTERS
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
        let member = |(id, name, username): (i64, &str, Option<&str>)| Member {
            id: UserId(id),
            name: name.to_owned(),
            username: username.map(str::to_owned),
        };
        let people =
            [(1, "Caroline", Some("caro")), (2, "Катя", None), (3, "Will B.", None), (4, "Anna", None)].map(member);
        ParsedQuestion::read(
            text,
            &QuestionFacts {
                language: Language::from_code(code),
                now: Timestamp::from_secs(1_715_774_400),
                zone: Zone::UTC,
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
        assert_eq!(read("eng", "what did Anna say?").named, [UserId(4)], "a stop word in Estonian");
        assert_eq!(read("est", "anna mulle teada").named, []);
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
        assert_eq!(read("eng", "send me a summary of the 200+ messages pls").newest, Some(200));
        for text in [
            "the last 10 days",
            "what about the last 2 suggestions?",
            "are there 10 messages?",
            "last 0 messages",
            "who wrote the 50 posts about the boiler?",
        ] {
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

    /// Returns `true` if a question asks for all that was said at a time, in the last conversation of a kind, or
    /// lately.
    fn asks_all(code: &str, text: &str) -> bool {
        let question = read(code, text);
        question.asks_talk && (!question.spans.is_empty() || question.last_talk || question.asks_news)
    }

    #[test]
    fn usual_questions_about_a_time_ask_for_all_that_was_said() {
        for (code, text) in [
            ("eng", "what was decided in Monday's meeting?"),
            ("eng", "recap of Monday’s call"),
            ("eng", "what was said in yesterday's stream?"),
            ("eng", "what was in this week's session?"),
            ("eng", "summarize last week's meeting"),
            ("eng", "what was last night's call about?"),
            ("eng", "what did we do in the last class?"),
            ("eng", "what have we done this week?"),
            ("eng", "what changed since last week?"),
            ("eng", "what did we cover in the last lesson?"),
            ("eng", "how did the last call go?"),
            ("eng", "what's the news?"),
            ("fra", "résumé d'hier"),
            ("fra", "résumé de la réunion d'aujourd'hui"),
            ("fra", "qu'est-ce qui s'est dit à l'appel d’hier ?"),
            ("fra", "que s'est-il dit à la réunion d'avril ?"),
            ("fra", "que s'est-il passé l'année dernière ?"),
            ("fra", "qu'est-ce qu'on a fait au dernier cours ?"),
            ("fra", "que s'est-il passé au dernier match ?"),
            ("ita", "cosa abbiamo deciso nell'ultima riunione?"),
            ("ita", "cosa si è deciso all’ultima riunione?"),
            ("ita", "cosa abbiamo fatto nell'ultima lezione?"),
            ("ita", "novità?"),
            ("deu", "Was war in der letzten Session?"),
            ("deu", "Was haben wir im letzten Unterricht gemacht?"),
            ("deu", "Neuigkeiten?"),
            ("spa", "¿qué hicimos ayer?"),
            ("spa", "¿qué vimos en el último directo?"),
            ("spa", "¿novedades?"),
            ("nld", "wat is er in de laatste call besproken?"),
            ("nld", "wat hebben we in de laatste les gedaan?"),
            ("pol", "co ustalono na ostatnim callu?"),
            ("pol", "co robiliśmy na ostatniej lekcji?"),
            ("pol", "co się działo w ostatniej grze?"),
            ("pol", "podsumowanie zeszłego tygodnia"),
            ("por", "o que se disse na última call?"),
            ("por", "o que rolou ontem?"),
            ("por", "novidades?"),
            ("rus", "что новенького?"),
            ("rus", "что проходили на последнем занятии?"),
            ("rus", "что было на последнем стендапе?"),
            ("rus", "что решили на вчерашней встрече?"),
            ("ukr", "що було в п'ятницю?"),
            ("ukr", "що вирішили у п’ятницю?"),
            ("ukr", "що було на останньому уроці?"),
            ("ukr", "що було на вчорашній зустрічі?"),
            ("tur", "pazartesi günkü toplantıda ne konuşuldu?"),
            ("tur", "son derste ne yaptık?"),
            ("tur", "son oyunda ne oldu?"),
            ("tur", "dünkü toplantıda ne konuşuldu?"),
            ("tur", "ağustos ayında ne oldu?"),
            ("est", "mida viimases tunnis tehti?"),
            ("est", "mida viimases tšätis räägiti?"),
            ("est", "kokkuvõte eilsest"),
        ] {
            assert!(asks_all(code, text), "{text}: {:?}", read(code, text));
        }
    }

    #[test]
    fn usual_questions_without_spaces_between_words_ask_for_all_that_was_said() {
        for (code, text) in [
            ("cmn", "昨天发生了什么？"),
            ("cmn", "昨天聊了什么？"),
            ("cmn", "昨天大家都说了些什么？"),
            ("cmn", "周一的会议决定了什么？"),
            ("cmn", "上周讨论了哪些事情？"),
            ("cmn", "总结一下这周的内容"),
            ("cmn", "上次会议说了什么？"),
            ("cmn", "8月发生了什么？"),
            ("cmn", "有什么新消息吗？"),
            ("jpn", "昨日何があった？"),
            ("jpn", "昨日何を話しましたか？"),
            ("jpn", "昨日の会議で何が決まりましたか？"),
            ("jpn", "先週は何がありましたか？"),
            ("jpn", "月曜日のミーティングで何を話した？"),
            ("jpn", "今週の話をまとめて"),
            ("jpn", "前回の会議で何が決まった？"),
            ("jpn", "八月に何があった？"),
            ("kor", "어제 무슨 일이 있었어?"),
            ("kor", "어제 무슨 얘기 했어?"),
            ("kor", "어제 회의에서 뭐라고 했어?"),
            ("kor", "월요일에 뭐 결정했어?"),
            ("kor", "지난주에 무슨 이야기를 했나요?"),
            ("kor", "이번 주 대화 요약해줘"),
            ("kor", "지난번 회의에서 뭐가 결정됐어?"),
            ("kor", "8월에 무슨 일이 있었어?"),
            ("tha", "เมื่อวานเกิดอะไรขึ้น"),
            ("ara", "ماذا قررنا في اجتماع الاثنين؟"),
            ("hin", "पिछले हफ्ते की बैठक में क्या तय हुआ?"),
            ("ell", "τι αποφασίσαμε στη συνάντηση της Δευτέρας;"),
            ("ces", "co jsme probírali na schůzce v pondělí?"),
            ("pes", "جلسه دوشنبه چه تصمیمی گرفته شد؟"),
        ] {
            assert!(asks_all(code, text), "{text}: {:?}", read(code, text));
        }
        for (code, text) in [
            ("cmn", "昨天服务器为什么挂了？"),
            ("cmn", "昨天什么时候开会？"),
            ("cmn", "明天会下雨吗？"),
            ("jpn", "昨日サーバーはなぜ落ちた？"),
            ("jpn", "会議は何時？"),
            ("kor", "어제 서버 왜 죽었어?"),
            ("kor", "어제 몇 시에 만났어?"),
        ] {
            assert!(!asks_all(code, text), "{text}: {:?}", read(code, text));
        }
    }

    #[test]
    fn an_ordinary_question_names_no_time() {
        for (code, text) in [
            ("eng", "what may we set up in the sun?"),
            ("eng", "what's the plan of Ann's brother?"),
            ("eng", "is it the bot's march or the wed cake?"),
            ("deu", "was hat Annas Freund gesagt?"),
            ("fra", "qu'est-ce qui a été décidé par l'équipe ?"),
            ("ita", "cos'ha detto l'altro?"),
        ] {
            assert!(read(code, text).spans.is_empty(), "{text}");
            assert!(!asks_all(code, text), "{text}");
        }
        for (code, text) in [
            ("eng", "what did Caroline say about Monday's menu?"),
            ("eng", "did you see the boat on Monday?"),
            ("eng", "what's the news about the boat?"),
            ("por", "o que foi decidido na segunda parte?"),
            ("rus", "что нового про лодку?"),
        ] {
            assert!(!asks_all(code, text), "{text}");
        }
        assert_eq!(
            read("fra", "yesterday's soup and the cook's hat").tables.of_question().map(|it| it.short),
            Some(Some("en"))
        );
    }

    #[test]
    fn a_member_may_be_called_like_a_month() {
        let spans = |code: &str, text: &str, name: &str| {
            let people = [Member { id: UserId(1), name: name.to_owned(), username: None }];
            let now = Timestamp::from_secs(1_715_774_400);
            let language = Language::from_code(code);
            ParsedQuestion::read(text, &QuestionFacts { language, now, zone: Zone::UTC, by: None, people: &people })
                .spans
        };
        for (code, text, name) in [
            ("eng", "what did April say?", "April"),
            ("eng", "what does June's mother think?", "June"),
            ("deu", "was hat August gesagt?", "August"),
        ] {
            assert_eq!(spans(code, text, name), [], "{text}");
            assert_ne!(spans(code, text, "Ann"), [], "{text}");
        }
        for (code, text, name) in [("eng", "what happened in April?", "April"), ("deu", "was war im August?", "August")]
        {
            assert_ne!(spans(code, text, name), [], "{text}");
        }
    }

    #[test]
    fn the_last_conversation_is_named_by_its_kind() {
        let names_it = |code: &str, text: &str| read(code, text).last_talk;
        assert!(names_it("eng", "what was decided at the last meeting?"));
        assert!(names_it("ita", "cosa si è detto nell'ultimo stand-up?"));
        assert!(names_it("rus", "о чём был последний разговор?"));
        assert!(!names_it("eng", "what was decided at the meeting?"));
    }

    #[test]
    fn it_is_told_what_kind_of_answer_is_wanted() {
        assert!(read("eng", "How many chairs did we order?").asks_number);
        assert!(read("deu", "Wann fährt der Zug?").asks_when);
        assert!(read("rus", "Сколько человек придёт?").asks_number);
        assert!(!read("tur", "Kim geliyor?").asks_when);
    }
}
