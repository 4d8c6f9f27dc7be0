//! Parses the arguments of `/recap`.

use std::time::Duration;

use chrono::{Datelike, Timelike, Weekday};

use crate::recap::RecapTime;
use chime_core::lang::languages;
use chime_core::texts::{RecapWords, texts};
use chime_core::{Language, Timestamp, Zone};
use chime_relevance::retrieval::languages::{PhraseTable, Phrases, Tables};
use chime_relevance::retrieval::reminder_times::Repeat;
use chime_relevance::retrieval::{AskedTime, date_words, spans_alone, time_alone};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// Period of a recap if the command names none.
const USUAL: Duration = Duration::from_secs(DAY);
/// Maximum period of a recap. `/memory` shows older events.
pub const LONGEST: Duration = Duration::from_secs(31 * DAY);
/// Maximum number of words that name when a recap begins.
const MOST_WORDS: usize = 30;

/// Parsed arguments of `/recap`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecapArguments {
    /// Since this time before the command.
    Span(Duration),
    Today,
    /// Since the start of yesterday.
    Yesterday,
    /// Since the start of the last such weekday; if that is today, since a week ago.
    SinceWeekday(Weekday),
    Since(Timestamp),
    /// From the first time to the second, excluded.
    Between(Timestamp, Timestamp),
    /// Since the message that the command replies to.
    SinceReply,
    /// Since the member's last visit to the chat.
    SinceSeen,
    /// Subscribes the chat to a recap at this time of each day or week.
    Subscribe(RecapTime),
    Unsubscribe,
    Unclear,
}

/// Data about a `/recap` that its arguments do not have.
#[derive(Debug, Clone, Copy)]
pub struct RecapQuestion {
    /// Languages of the bot's texts in the chat, and of its messages. Arguments are read in these first, then in the other
    /// languages.
    pub languages: [Language; 2],
    pub asked_at: Timestamp,
    pub zone: Zone,
    /// `true` if the command replies to a message.
    pub is_reply: bool,
}

impl RecapArguments {
    /// Recap of a request that names no time.
    pub const USUAL: Self = Self::Span(USUAL);

    /// Returns `true` if it names when the recap begins.
    pub fn is_period(self) -> bool {
        !matches!(self, Self::Subscribe(_) | Self::Unsubscribe | Self::Unclear)
    }

    /// Parses the arguments of `/recap`, which may be in any language. The chat's languages come first.
    pub fn parse(args: &str, asked: RecapQuestion) -> Self {
        let others = languages().iter().map(|file| [Language::from_code(&file.code); 2]);
        let asked_in = |languages| RecapQuestion { languages, ..asked };
        let mut all = std::iter::once(asked.languages).chain(others).map(asked_in);
        all.find_map(|asked| Self::parse_in(args, asked)).unwrap_or(Self::Unclear)
    }

    /// Parses arguments in the languages of `asked`. Returns `None` if they are not understood.
    fn parse_in(args: &str, asked: RecapQuestion) -> Option<Self> {
        let [texts_language, chat_language] = asked.languages;
        let other = Some(chat_language).filter(|language| *language != texts_language);
        let times = std::iter::once(texts_language).chain(other).map(|language| Self::of_times(args, language, asked));
        let mut readings = std::iter::once(Self::of_phrases(args, asked)).chain(times);
        readings.find(|reading| *reading != Self::Unclear)
    }

    /// Parses arguments that consist of the phrases in `texts.recap.words`.
    fn of_phrases(args: &str, asked: RecapQuestion) -> Self {
        let is_reply = asked.is_reply;
        let [texts_language, chat_language] = asked.languages.map(Language::code);
        let words = RecapVocabulary([texts_language, chat_language, "eng"].map(|code| &texts(code).recap.words));
        let lower = args.to_lowercase();
        let parts: Vec<&str> = lower.split_whitespace().collect();
        let said = parts.join(" ");
        if said.is_empty() {
            return if is_reply { Self::SinceReply } else { Self::USUAL };
        }
        if words.are(&said, |of| &of.today) {
            return Self::Today;
        }
        if words.are(&said, |of| &of.off) {
            return Self::Unsubscribe;
        }
        for (times, is_weekly) in
            [(words.after(&said, |of| &of.daily), false), (words.after(&said, |of| &of.weekly), true)]
        {
            if let Some(times) = times {
                let times: Vec<&str> = times.split(' ').filter(|part| !part.is_empty()).collect();
                let time = RecapTime::parse(&times, is_weekly, |day| words.weekday(day));
                // "Weekly on monday at 9".
                let is_day = |part: &&str| words.weekday(part).is_some();
                let weekly = || {
                    let AskedTime::Time(time) =
                        time_alone(&times.join(" "), asked.languages[0], asked.asked_at, asked.zone)
                    else {
                        return None;
                    };
                    let local = asked.zone.local(time.at);
                    let minute = u16::try_from(local.hour() * 60 + local.minute()).ok()?;
                    Some(RecapTime { weekday: Some(local.weekday()), minute })
                };
                let time = time.or_else(|| weekly().filter(|_| is_weekly && times.iter().any(is_day)));
                return time.map_or(Self::Unclear, Self::Subscribe);
            }
        }
        if is_reply && words.are(&said, |of| &of.since) {
            return Self::SinceReply;
        }
        if let Some(when) = words.since_when(&said) {
            return Self::since(when, &words);
        }
        if words.after(&said, |of| &of.missed).is_some() {
            return Self::SinceSeen;
        }
        words.stretch(&said).map_or(Self::Unclear, Self::Span)
    }

    /// Parses the times that reminders and questions may name: "every monday at 9", "since last tuesday", "this week".
    fn of_times(args: &str, language: Language, asked: RecapQuestion) -> Self {
        let RecapQuestion { asked_at, zone, .. } = asked;
        if let AskedTime::Time(time) = time_alone(args, language, asked_at, zone)
            && let (Some(repeat), None) = (time.repeat, time.until)
        {
            let local = zone.local(time.at);
            let weekday = match repeat {
                Repeat::Daily => None,
                Repeat::Weekly(day) => Some(day),
            };
            let minute = u16::try_from(local.hour() * 60 + local.minute()).unwrap_or(0);
            return Self::Subscribe(RecapTime { weekday, minute });
        }
        let tables = Tables::of(language, args);
        let said = date_words(args, tables);
        if said.len() > MOST_WORDS {
            return Self::Unclear;
        }
        let has = |phrases: fn(&PhraseTable) -> &Phrases| tables.iter().any(|table| phrases(table).any_in(&said));
        let spans_of = |said: &[String]| spans_alone(said, tables, asked_at, zone);
        let spans = spans_of(&said);
        // "From monday to wednesday" begins on monday, and ends with wednesday.
        let first_of_range = |place: usize| {
            let (first, last) = (spans_of(&said[..place]), spans_of(&said[place..]));
            (!first.is_empty() && !last.is_empty() && [&first[..], &last].concat() == spans).then_some((first, last))
        };
        let range = (1..said.len()).find_map(first_of_range);
        // "Every monday until june" is no time since when something was said.
        if has(|table| &table.every) || has(|table| &table.daily) || range.is_none() && has(|table| &table.until) {
            return Self::Unclear;
        }
        let (spans, ends) = range.unwrap_or((spans, Vec::new()));
        let midnight = zone.midnight(zone.local(asked_at).date_naive());
        // "On friday", said on a friday, is a week ago, as "since friday" is.
        let latest = |before: Timestamp| spans.iter().map(|span| span.from).filter(|from| *from < before).max();
        let Some(from) = latest(midnight).or_else(|| latest(asked_at)) else { return Self::Unclear };
        let end = ends.iter().filter(|span| span.from > from).map(|span| span.to).max();
        let from = from.max(asked_at.minus(LONGEST));
        end.filter(|end| (from..asked_at).contains(end)).map_or(Self::Since(from), |end| Self::Between(from, end))
    }

    /// Parses `when`, the text that followed the word “since”.
    fn since(when: &str, words: &RecapVocabulary<'_>) -> Self {
        if when.is_empty() || words.is_of_asker(when) {
            return Self::SinceSeen;
        }
        if words.are(when, |of| &of.today) {
            return Self::Today;
        }
        if words.are(when, |of| &of.yesterday) {
            return Self::Yesterday;
        }
        match words.weekday(when) {
            Some(day) => Self::SinceWeekday(day),
            None => words.stretch(when).map_or(Self::Unclear, Self::Span),
        }
    }
}

/// Words of the languages of the chat and of English.
struct RecapVocabulary<'a>([&'a RecapWords; 3]);

impl<'a> RecapVocabulary<'a> {
    fn all(&self, list: impl Fn(&'a RecapWords) -> &'a Vec<String>) -> impl Iterator<Item = &'a str> {
        self.0.into_iter().flat_map(list).map(String::as_str)
    }

    fn are(&self, said: &str, list: impl Fn(&'a RecapWords) -> &'a Vec<String>) -> bool {
        self.all(list).any(|phrase| phrase == said)
    }

    /// Returns the part of `said` after a phrase from `list`, or `None` if it starts with none of them.
    fn after<'s>(&self, said: &'s str, list: impl Fn(&'a RecapWords) -> &'a Vec<String>) -> Option<&'s str> {
        self.all(list).find_map(|phrase| {
            let rest = said.strip_prefix(phrase)?;
            (rest.is_empty() || rest.starts_with(' ')).then_some(rest)
        })
    }

    /// Returns the text without the word for “since”, which some languages put last. Returns `None` if that word is
    /// missing.
    fn since_when<'s>(&self, said: &'s str) -> Option<&'s str> {
        let before = |phrase: &str| said.strip_suffix(phrase).filter(|rest| rest.ends_with(' '));
        let when = self.after(said, |of| &of.since).or_else(|| self.all(|of| &of.since).find_map(before));
        when.map(str::trim)
    }

    /// Returns `true` if `when` means the asking member's last visit, such as "I was here", and not a time.
    fn is_of_asker(&self, when: &str) -> bool {
        let is_mine = |word: &str| self.are(word, |of| &of.mine);
        !when.contains(|c: char| c.is_ascii_digit()) && when.split(' ').any(is_mine)
    }

    /// Parses a period such as `2h`, `2 hours` or `week`.
    fn stretch(&self, said: &str) -> Option<Duration> {
        let is_word = |unit: &str| unit.chars().count() > 1 && unit.starts_with(char::is_alphabetic);
        match said.split(' ').collect::<Vec<_>>().as_slice() {
            [unit] if is_word(unit) => self.span(&format!("1{unit}")),
            [span] => self.span(span),
            [number, unit] => self.span(&format!("{number}{unit}")),
            _ => None,
        }
    }

    fn weekday(&self, day: &str) -> Option<Weekday> {
        let day = day.trim_end_matches('.');
        let place =
            self.0.into_iter().find_map(|of| of.weekdays.iter().position(|names| names.iter().any(|name| name == day)));
        Weekday::try_from(u8::try_from(place?).ok()?).ok()
    }

    /// Parses a period without a space, such as `2h`, `90m`, `3d`, `1w` or `2hours`.
    fn span(&self, text: &str) -> Option<Duration> {
        let digits = text.find(|c: char| !c.is_ascii_digit())?;
        let (number, unit) = text.split_at(digits);
        let is_of = |list: fn(&RecapWords) -> &Vec<String>| self.are(unit, list);
        let secs = match () {
            () if is_of(|of| &of.minutes) => MINUTE,
            () if is_of(|of| &of.hours) => HOUR,
            () if is_of(|of| &of.days) => DAY,
            () if is_of(|of| &of.weeks) => 7 * DAY,
            () => return None,
        };
        let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
        Some(Duration::from_secs(number.saturating_mul(secs)).min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn read(code: &str, args: &str) -> RecapArguments {
        RecapArguments::parse(args, asked_in(code))
    }

    /// A Wednesday, 10:00 UTC.
    fn asked_in(code: &str) -> RecapQuestion {
        let asked_at = Timestamp::from_secs(1_715_767_200);
        RecapQuestion { languages: [Language::from_code(code); 2], asked_at, zone: Zone::UTC, is_reply: false }
    }

    #[track_caller]
    fn check(args: &[&str], expected: Expect) {
        let reply: Vec<String> = args.iter().map(|args| format!("{args}: {:?}", read("eng", args))).collect();
        expected.assert_eq(&reply.join("\n"));
    }

    #[test]
    fn every_form_of_the_command_is_read() {
        check(
            &[
                "",
                "2h",
                "2 hours",
                "90m",
                "1w",
                "week",
                "999d",
                "0h",
                "2x",
                "today",
                "since",
                "since I was here",
                "since 2h",
                "since 2 hours",
                "since today",
                "since yesterday",
                "since Monday",
                "since I was here at 9",
                "since Bob was here",
                "What did I miss?",
                "daily 18:00",
                "weekly mon 9:00",
                "weekly 9:00",
                "daily 25:00",
                "off",
                "the tent",
            ],
            expect![[r#"
                : Span(86400s)
                2h: Span(7200s)
                2 hours: Span(7200s)
                90m: Span(5400s)
                1w: Span(604800s)
                week: Span(604800s)
                999d: Span(2678400s)
                0h: Unclear
                2x: Unclear
                today: Today
                since: SinceSeen
                since I was here: SinceSeen
                since 2h: Span(7200s)
                since 2 hours: Span(7200s)
                since today: Today
                since yesterday: Yesterday
                since Monday: SinceWeekday(Mon)
                since I was here at 9: Unclear
                since Bob was here: Unclear
                What did I miss?: SinceSeen
                daily 18:00: Subscribe(RecapTime { weekday: None, minute: 1080 })
                weekly mon 9:00: Subscribe(RecapTime { weekday: Some(Mon), minute: 540 })
                weekly 9:00: Unclear
                daily 25:00: Unclear
                off: Unsubscribe
                the tent: Unclear"#]],
        );
        let in_reply = |args| RecapArguments::parse(args, RecapQuestion { is_reply: true, ..asked_in("eng") });
        assert_eq!(in_reply(""), RecapArguments::SinceReply);
        assert_eq!(in_reply("since"), RecapArguments::SinceReply);
        assert_eq!(in_reply("2h"), RecapArguments::Span(Duration::from_secs(2 * HOUR)));
    }

    #[test]
    fn a_day_in_digits_and_the_first_of_several_days_begin_a_recap_and_the_last_ends_it() {
        let monday = RecapArguments::Since(Timestamp::from_secs(1_715_558_400));
        for args in ["from monday to wednesday", "since 2024-05-13", "13 May - 15 May", "since 13/05/2024"] {
            assert_eq!(RecapArguments::parse(args, asked_in("eng")), monday, "{args}");
        }
        let (monday, end) = (Timestamp::from_secs(1_715_558_400), Timestamp::from_secs(1_715_731_200));
        for args in [
            "from monday to tuesday",
            "monday until tuesday",
            "13 May - 14 May",
            "von montag bis dienstag",
            "desde el lunes hasta el martes",
            "de lundi à mardi",
            "du lundi au mardi",
            "da lunedì a martedì",
            "van maandag tot dinsdag",
            "od poniedziałku do wtorku",
            "de segunda a terça",
            "с понедельника до вторника",
            "з понеділка до вівторка",
        ] {
            assert_eq!(RecapArguments::parse(args, asked_in("eng")), RecapArguments::Between(monday, end), "{args}");
        }
        let weekly = RecapArguments::Subscribe(RecapTime { weekday: Some(Weekday::Mon), minute: 540 });
        assert_eq!(RecapArguments::parse("weekly on monday at 9", asked_in("eng")), weekly);
    }

    #[test]
    fn a_period_is_understood_in_any_language_and_the_chats_comes_first() {
        let week = RecapArguments::Span(Duration::from_secs(7 * DAY));
        for word in ["semana", "woche", "week", "settimana", "tydzień", "неделя", "hafta"] {
            for code in ["eng", "deu", "rus"] {
                assert_eq!(read(code, word), week, "{word} in {code}");
            }
        }
        // "g" is short for hours in Polish, and for days in Italian.
        let spans = ["pol", "ita"].map(|code| read(code, "2g"));
        assert_eq!(spans, [2 * HOUR, 2 * DAY].map(|secs| RecapArguments::Span(Duration::from_secs(secs))));
        assert_eq!(read("deu", "what is this"), RecapArguments::Unclear);
    }

    /// Checks one form of each phrase in every language.
    #[test]
    fn every_language_has_words_for_what_is_asked() {
        let said = [
            ("deu", "heute", "seit ich hier war", "täglich 18:00", "wöchentlich mo 9:00", "aus", "2 stunden"),
            ("spa", "hoy", "desde que estuve aquí", "cada día 18:00", "semanal lunes 9:00", "apagar", "2 horas"),
            ("fra", "aujourd'hui", "depuis ma visite", "chaque jour 18h", "chaque semaine lun 9h", "arrêt", "2 heures"),
            ("rus", "сегодня", "с моего визита", "ежедневно 18:00", "еженедельно пн 9:00", "выкл", "2 часа"),
            ("est", "täna", "viimasest käigust saadik", "iga päev 18.00", "iga nädal e 9.00", "välja", "2 tundi"),
            ("por", "hoje", "desde que estive aqui", "diariamente 18:00", "semanal seg 9:00", "desligar", "2 horas"),
            ("ukr", "сьогодні", "відколи я був", "щодня 18:00", "щотижня пн 9:00", "вимк", "2 години"),
            ("tur", "bugün", "son geldiğimden beri", "her gün 18:00", "her hafta pzt 9:00", "kapat", "2 saat"),
            ("ita", "oggi", "da quando c'ero", "ogni giorno 18:00", "ogni settimana lun 9:00", "spento", "2 ore"),
            ("nld", "vandaag", "sinds ik hier was", "dagelijks 18:00", "wekelijks ma 9:00", "uit", "2 uur"),
            ("pol", "dzisiaj", "odkąd tu byłem", "codziennie 18:00", "co tydzień pon 9:00", "wyłącz", "2 godziny"),
        ];
        for (code, today, since, daily, weekly, off, hours) in said {
            let read = |args| read(code, args);
            assert_eq!(read(today), RecapArguments::Today, "{code}");
            assert_eq!(read(since), RecapArguments::SinceSeen, "{code}");
            assert_eq!(read(daily), RecapArguments::Subscribe(RecapTime { weekday: None, minute: 1080 }), "{code}");
            let monday = RecapTime { weekday: Some(Weekday::Mon), minute: 540 };
            assert_eq!(read(weekly), RecapArguments::Subscribe(monday), "{code}");
            assert_eq!(read(off), RecapArguments::Unsubscribe, "{code}");
            assert_eq!(read(hours), RecapArguments::Span(Duration::from_secs(2 * HOUR)), "{code}");
            let week = texts(code).recap.words.weeks.iter().find(|week| week.chars().count() > 1).expect("a word");
            assert_eq!(read(week), RecapArguments::Span(Duration::from_secs(7 * DAY)), "{code}");
            assert_eq!(
                read("weekly mon 9:00"),
                RecapArguments::Subscribe(monday),
                "English is read everywhere: {code}"
            );
        }
    }

    #[test]
    fn a_day_that_since_names_is_read_in_every_language() {
        let said = [
            ("deu", "seit gestern", "seit montag"),
            ("spa", "desde ayer", "desde lunes"),
            ("fra", "depuis hier", "depuis lundi"),
            ("rus", "со вчерашнего дня", "с понедельника"),
            ("est", "eilsest saadik", "esmaspäevast saadik"),
            ("por", "desde ontem", "desde segunda"),
            ("ukr", "з вчорашнього дня", "з понеділка"),
            ("tur", "dünden beri", "pazartesiden beri"),
            ("ita", "da ieri", "da lunedì"),
            ("nld", "sinds gisteren", "sinds maandag"),
            ("pol", "od wczoraj", "od poniedziałku"),
        ];
        for (code, yesterday, monday) in said {
            let read = |args| read(code, args);
            assert_eq!(read(yesterday), RecapArguments::Yesterday, "{code}");
            assert_eq!(read(monday), RecapArguments::SinceWeekday(Weekday::Mon), "{code}");
        }
    }

    #[test]
    fn everyday_forms_of_a_time_are_read_in_every_language() {
        const DAY_SECS: i64 = 86_400;
        let midnight = 1_715_731_200;
        let (yesterday, tuesday, week) = (midnight - DAY_SECS, midnight - DAY_SECS, midnight - 2 * DAY_SECS);
        let said = [
            ("eng", "yesterday", "since last tuesday", "this week", "every monday at 9", "every day at 18:00"),
            ("deu", "gestern", "seit dem Dienstag", "diese Woche", "jeden Montag 9 Uhr", "jeden Tag um 18 Uhr"),
            ("spa", "ayer", "desde el martes", "esta semana", "cada lunes a las 9", "todos los días a las 18:00"),
            ("fra", "hier", "depuis mardi dernier", "cette semaine", "chaque lundi 9h", "tous les jours à 18h"),
            ("ita", "ieri", "da martedì", "questa settimana", "ogni lunedì 9:00", "ogni giorno alle 18"),
            ("por", "ontem", "desde terça-feira", "esta semana", "toda segunda 9h", "todo dia às 18h"),
            ("nld", "gisteren", "sinds afgelopen dinsdag", "deze week", "elke maandag om 9:00", "elke dag om 18:00"),
            ("pol", "wczoraj", "od wtorku", "w tym tygodniu", "w każdy poniedziałek o 9:00", "codziennie o 18:00"),
            (
                "rus",
                "вчера",
                "с прошлого вторника",
                "на этой неделе",
                "каждый понедельник в 9:00",
                "каждый день в 18:00",
            ),
            ("ukr", "вчора", "з вівторка", "цього тижня", "кожного понеділка о 9:00", "кожного дня о 18:00"),
            ("tur", "dün", "salıdan beri", "bu hafta", "her pazartesi saat 9:00", "her gün saat 18:00"),
            ("est", "eile", "teisipäevast saadik", "sel nädalal", "igal esmaspäeval kell 9:00", "iga päev kell 18:00"),
        ];
        let mut wrong = Vec::new();
        for (code, on_yesterday, since_tuesday, this_week, weekly, daily) in said {
            for (args, expected) in [(on_yesterday, yesterday), (since_tuesday, tuesday), (this_week, week)] {
                let is_right = match read(code, args) {
                    RecapArguments::Since(from) => from.secs() == expected,
                    RecapArguments::Yesterday => expected == yesterday,
                    RecapArguments::SinceWeekday(day) => day == Weekday::Tue,
                    _ => false,
                };
                wrong.extend((!is_right).then(|| format!("{code} {args}: {:?}", read(code, args))));
            }
            for (args, weekday, minute) in [(weekly, Some(Weekday::Mon), 540), (daily, None, 1080)] {
                let expected = RecapArguments::Subscribe(RecapTime { weekday, minute });
                wrong.extend((read(code, args) != expected).then(|| format!("{code} {args}: {:?}", read(code, args))));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
        let asked = RecapQuestion { languages: ["eng", "deu"].map(Language::from_code), ..asked_in("eng") };
        assert_eq!(RecapArguments::parse("heute", asked), RecapArguments::Today);
        assert!(matches!(RecapArguments::parse("gestern", asked), RecapArguments::Since(_)));
        for args in ["what is this", "the boat every monday", "every monday until june", "tomorrow", "every hour"] {
            assert_eq!(read("eng", args), RecapArguments::Unclear, "{args}");
        }
    }
}
