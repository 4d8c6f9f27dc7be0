//! Messages as input of the ranking, and the properties that it derives from them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::retrieval::languages::Tables;
use crate::retrieval::lexicon::{Lexicon, WordId};
use crate::retrieval::proposals::AROUND;
use crate::retrieval::question::ParsedQuestion;
use crate::retrieval::words::words;
use chime_core::trigger::{QUESTION_MARKS, calls_bot, ends_like_question};
use chime_core::{ForumTopicId, Seq, Timestamp, UserId};

/// A message that may answer a question, or a neighbour of one.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'a> {
    pub author: UserId,
    pub sent_at: Timestamp,
    pub text: &'a str,
    /// Embedding of the text, of unit length; empty if there is none.
    pub vector: &'a [f32],
    /// `true` if the bot wrote it.
    pub is_own: bool,
    /// Index of the message before it in its session or thread. `after` is the index of the message that follows it.
    pub before: Option<usize>,
    pub after: Option<usize>,
    /// Index of the message that it replies to; `None` if that is not among the passages.
    pub replies_to: Option<usize>,
}

/// Sets `before` and `after` of each of `passages`, which are ordered oldest first. `places` holds their forum topics
/// and message numbers. Two successive messages of a topic are neighbours if at most [`AROUND`] numbers and no long
/// silence lie between them.
pub fn put_beside(passages: &mut [Passage<'_>], places: impl Iterator<Item = (Option<ForumTopicId>, Seq)>) {
    let mut last_of: BTreeMap<Option<ForumTopicId>, (usize, Seq)> = BTreeMap::new();
    for (place, (forum_topic, seq)) in places.enumerate() {
        let Some((before, known)) = last_of.insert(forum_topic, (place, seq)) else { continue };
        let silence = passages[place].sent_at.since(passages[before].sent_at);
        if seq.0 - known.0 <= AROUND && silence <= SESSION_SILENCE {
            passages[place].before = Some(before);
            passages[before].after = Some(place);
        }
    }
}

/// Silence that ends a session if sessions are derived from the times of messages.
pub const SESSION_SILENCE: Duration = Duration::from_hours(1);

/// Splits messages into sessions by their times, oldest first, and returns the session number of each message, from 0.
/// A silence longer than `silence` begins a new session.
pub fn in_sessions(times: &[Timestamp], silence: Duration) -> Vec<usize> {
    let mut session = 0;
    let mut last = times.first().copied();
    (times.iter())
        .map(|at| {
            session += usize::from(last.is_some_and(|last| at.since(last) > silence));
            last = Some(*at);
            session
        })
        .collect()
}

/// Properties derived from the text of a passage.
#[derive(Debug)]
pub(super) struct PassageProperties {
    /// Content words, each once.
    pub words: Vec<WordId>,
    pub is_question: bool,
    /// `true` if it is a question or a command to a bot.
    pub calls_bot: bool,
    pub tells_when: bool,
    pub names_number: bool,
}

impl PassageProperties {
    /// Derives the properties of a passage. `tells_when` and `names_number` are computed only if the question asks for
    /// a time or a number.
    pub fn of(passage: &Passage<'_>, question: &ParsedQuestion, lexicon: &mut Lexicon<'_>) -> Self {
        let mut ids = lexicon.telling(passage.text);
        ids.sort_unstable();
        ids.dedup();
        let said = if question.asks_when || question.asks_number { words(passage.text) } else { Vec::new() };
        Self {
            words: ids,
            is_question: is_question(passage.text),
            calls_bot: calls_bot(passage.text),
            tells_when: question.asks_when && tells_when(&said, passage.text, question.tables),
            names_number: question.asks_number && names_number(&said, question.tables),
        }
    }
}

fn is_question(text: &str) -> bool {
    let said = text.split("[photo").next().unwrap_or(text);
    let is_mark = |c: char| QUESTION_MARKS.contains(&c) || c == ';';
    ends_like_question(said.trim_end_matches(|c: char| !c.is_alphanumeric() && !is_mark(c)))
}

fn tells_when(said: &[String], text: &str, tables: Tables) -> bool {
    let is_unit = |place: usize| {
        tables.iter().any(|table| {
            [&table.day, &table.week, &table.month, &table.year].iter().any(|unit| unit.at(said, place).is_some())
        })
    };
    let named = tables.iter().any(|table| {
        table.time.any_in(said)
            || table.weekdays.iter().any(|day| day.any_in(said))
            || table.months.iter().any(|month| {
                (0..said.len()).any(|at| month.at(said, at).is_some() && table.ambiguous.at(said, at).is_none())
            })
    });
    let counted = |(place, word): (usize, &String)| {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let is_year = digits == 4 && word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
        // A number with a dot is a clock time or a date ("7.30", "12.05."); an ordinal ("3rd") is a date.
        let is_clock = digits >= 2 && digits < word.len() && word.contains('.') && word.len() <= 8;
        let is_ordinal = digits > 0 && ["st", "nd", "rd", "th"].iter().any(|end| word.ends_with(end));
        let is_span = (digits > 0 || tables.iter().any(|table| table.counts.contains_key(word))) && is_unit(place + 1);
        is_year || is_clock || is_ordinal || is_span
    };
    named || said.iter().enumerate().any(counted) || has_clock_time(text)
}

/// Returns `true` if the text has a clock time such as "18:30".
fn has_clock_time(text: &str) -> bool {
    text.as_bytes()
        .windows(4)
        .any(|of| of[0].is_ascii_digit() && of[1] == b':' && of[2].is_ascii_digit() && of[3].is_ascii_digit())
}

fn names_number(said: &[String], tables: Tables) -> bool {
    said.iter().any(|word| word.contains(|c: char| c.is_ascii_digit()))
        || tables.iter().any(|table| table.numbers.any_in(said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::question::QuestionFacts;
    use chime_core::{Language, Zone};

    #[track_caller]
    fn read(code: &str, text: &str) -> (bool, bool, bool, bool) {
        let language = Language::from_code(code);
        let passage = Passage {
            author: UserId(1),
            sent_at: Timestamp::from_secs(0),
            text,
            vector: &[],
            is_own: false,
            before: None,
            after: None,
            replies_to: None,
        };
        let asked = QuestionFacts { language, now: Timestamp::from_secs(0), zone: Zone::UTC, by: None, people: &[] };
        let question = ParsedQuestion { asks_when: true, asks_number: true, ..ParsedQuestion::read("", &asked) };
        let reading = PassageProperties::of(&passage, &question, &mut Lexicon::new(language, None));
        (reading.is_question, reading.tells_when, reading.names_number, reading.calls_bot)
    }

    #[test]
    fn what_a_text_holds_is_read_in_its_language() {
        assert_eq!(read("eng", "shall we go on friday?"), (true, true, false, false));
        assert_eq!(read("rus", "в субботу в 18:30"), (false, true, true, false));
        assert_eq!(read("deu", "das kostet zwanzig, drei davon sind weg :)"), (false, false, true, false));
        assert_eq!(read("eng", "@chime_bot what was it? 🙂"), (true, false, false, true));
        assert_eq!(read("eng", "we may march on"), (false, false, false, false));
        assert_eq!(read("ell", "πότε έρχεται;"), (true, false, false, false));
        assert_eq!(read("jpn", "月曜日は開いていますか。"), (true, true, false, false));
    }

    #[test]
    fn sessions_end_with_a_silence() {
        let times = [0, 10, 20, 4_000, 4_001].map(Timestamp::from_secs);
        assert_eq!(in_sessions(&times, SESSION_SILENCE), [0, 0, 0, 1, 1]);
        assert_eq!(in_sessions(&[], SESSION_SILENCE), [] as [usize; 0]);
    }
}
