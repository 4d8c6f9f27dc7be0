//! Parses words that name a day: "saturday", "tomorrow", "gestern". So a message with "tomorrow" matches a question
//! with "on friday" some days later.

use std::sync::LazyLock;

use crate::retrieval::languages::{PhraseTable, all};
use crate::retrieval::words::words;
use chime_core::{PhraseIndex, PhraseWord, Timestamp};

const DAY_SECS: i64 = 86_400;
/// Weekday of 1 January 1970: Thursday, which is 3 if Monday is 0.
const EPOCH_WEEKDAY: i64 = 3;

/// A day named by a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Weekday(i64),
    /// Day relative to the day of the message: 1 is the day after, -1 the day before.
    Relative(i64),
}

/// Words for days in all languages.
static WORDS: LazyLock<PhraseIndex<Named>> = LazyLock::new(|| {
    let (mut open, whole): (Vec<_>, Vec<_>) = all().flat_map(day_words).partition(|(words, _)| words[0].is_open);
    // Of equally long phrases, the last one in the index counts, so the order is reversed.
    open.reverse();
    open.into_iter().chain(whole).collect()
});

fn day_words(table: &'static PhraseTable) -> impl Iterator<Item = (Vec<PhraseWord>, Named)> {
    /// Minimum number of Latin letters of a word in a language without a file. Shorter words mean other things in other
    /// languages.
    const LETTERS: usize = 5;
    let weekdays = (0..).zip(&table.weekdays).map(|(day, phrases)| (phrases, Named::Weekday(day)));
    let relative = [(&table.yesterday, -1), (&table.today, 0), (&table.tomorrow, 1)];
    let relative = relative.into_iter().map(|(phrases, days)| (phrases, Named::Relative(days)));
    let words = weekdays.chain(relative).flat_map(|(phrases, named)| phrases.all().map(move |words| (words, named)));
    let is_clear = |words: &[PhraseWord]| match table.short {
        Some(_) => words.len() == 1,
        None => words.iter().map(|word| word.text.len()).sum::<usize>() >= LETTERS,
    };
    let copied = |word: &PhraseWord| PhraseWord { text: word.text.clone(), is_open: word.is_open };
    words
        .filter(move |(words, _)| is_clear(words))
        .map(move |(words, named)| (words.iter().map(copied).collect(), named))
}

/// Returns the days that `text` names, as days since 1970, ascending. A weekday gives two: the next one (today
/// included) and the one a week before it.
pub fn days_named(text: &str, said_at: Timestamp) -> Vec<i32> {
    let today = said_at.secs().div_euclid(DAY_SECS);
    let weekday = (today + EPOCH_WEEKDAY).rem_euclid(7);
    let mut days: Vec<i64> = Vec::new();
    let said = words(text);
    let mut rest = said.as_slice();
    while !rest.is_empty() {
        let found = WORDS.longest(rest);
        match found {
            Some((_, Named::Relative(from_today))) => days.push(today + from_today),
            Some((_, Named::Weekday(day))) => {
                let ahead = (day - weekday).rem_euclid(7);
                days.extend([today + ahead, today + ahead - 7]);
            }
            None => {}
        }
        rest = &rest[found.map_or(1, |(length, _)| length)..];
    }
    days.sort_unstable();
    days.dedup();
    days.into_iter().filter_map(|day| i32::try_from(day).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the days that a text of Wednesday, 15 May 2024, 12:00 UTC, names, as days relative to that day.
    #[track_caller]
    fn check(text: &str, expected: &[i32]) {
        let now = Timestamp::from_secs(1_715_774_400);
        let today = i32::try_from(now.secs() / DAY_SECS).expect("a day");
        let days: Vec<i32> = days_named(text, now).into_iter().map(|day| day - today).collect();
        assert_eq!(days, expected, "{text}");
    }

    #[test]
    fn weekdays_are_the_last_and_the_next_one() {
        check("where are we eating on Saturday?", &[-4, 3]);
        check("was machen wir samstags", &[-4, 3]);
        check("кто идёт в субботу", &[-4, 3]);
        check("wednesday then", &[-7, 0]);
        check("周六去爬山吧", &[-4, 3]);
        check("금요일에 보자", &[-5, 2]);
        check("يوم الأحد", &[-3, 4]);
    }

    #[test]
    fn days_are_counted_from_the_one_on_which_it_is_said() {
        check("see you tomorrow", &[1]);
        check("mis eile juhtus", &[-1]);
        check("明天见", &[1]);
        check("nothing at all", &[]);
    }
}
