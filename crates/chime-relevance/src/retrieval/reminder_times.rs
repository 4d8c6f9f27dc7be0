//! Parses the time of a reminder: "on friday at nine", "in 20 minutes", "every monday 9:00 until 1 June".

use std::time::Duration;

use crate::retrieval::dates::{DateReader, digit_date, spans_named, without_joined_unit};
use crate::retrieval::languages::{PhraseTable, Tables, shipped};
use crate::retrieval::words::words;
use chime_core::trigger::Languages;
use chime_core::{Language, Timestamp, Zone, folded, is_right_to_left, is_unspaced};
use moment::DAY_SECS;
pub use moment::{AskedTime, ReminderTime, Repeat};
use reader::MomentReader;

mod clock;
mod days;
mod moment;
mod reader;
mod spans;

/// Word that stands for a colon behind a word, where the words of the task begin.
const COLON: &str = ":";
/// Number of words read at the beginning of a text, and at its end. The time of a reminder is in one of them.
const FIRST_WORDS: usize = 64;
const LAST_WORDS: usize = 16;
/// Word that stands for the words between them.
const OMITTED: &str = "…";
/// Word that stands for the name of a time zone.
const ZONE: &str = "(zone)";
/// Short names of time zones in upper case.
const ZONES: [&str; 22] = [
    "UTC", "GMT", "CET", "CEST", "EET", "EEST", "BST", "MSK", "МСК", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST",
    "PDT", "JST", "AEST", "AEDT", "MEZ", "MESZ",
];

/// Returns `true` if a text names a time near its own, such as "at five", "tomorrow" or "next month".
pub fn names_time(text: &str) -> bool {
    const NOW: Timestamp = Timestamp::from_secs(1_770_000_000);
    const WEEK: Duration = Duration::from_secs(7 * DAY_SECS);
    let (said, tables) = (words(text), Tables::of(Language::DEFAULT, text));
    let is_phrase = |place| tables.iter().any(|table| table.time.at(&said, place).is_some_and(|length| length > 1));
    spans_named(&said, tables, NOW, Zone::UTC).iter().any(|span| span.to.since(span.from) <= WEEK)
        || (0..said.len()).any(is_phrase)
        || matches!(
            ReminderRequest::new(text, Language::DEFAULT, NOW, Zone::UTC).usual_reading().asked,
            AskedTime::Time(_)
        )
}

/// Returns the end of the day that a text of `said_at` names, such as "in 20 minutes", "tonight" or "by 5 October". `None`
/// if it names no time, or one that repeats.
pub fn end_of_named_day(text: &str, said_at: Timestamp, zone: Zone) -> Option<Timestamp> {
    let at = match ReminderRequest::new(text, Language::DEFAULT, said_at, zone).usual_reading().asked {
        AskedTime::Time(time) if time.repeat.is_none() => time.at,
        AskedTime::Past => said_at,
        AskedTime::Time(_) | AskedTime::Unsupported | AskedTime::Unreadable | AskedTime::None => return None,
    };
    Some(zone.moment(zone.local(at).date_naive().succ_opt()?.into()))
}

/// Reads the time of the reminder for which `ask` asks, in plain words or after `/remind`. `zone` and `language`
/// belong to the chat; the text may be in another language.
///
/// A time right after the words that ask counts; if it is only a day, an hour at the end of the text is added. If there
/// is none, the last date and the last time of day in the text count.
pub fn reminder_time(ask: &str, language: Language, now: Timestamp, zone: Zone) -> AskedTime {
    ReminderRequest::strict(ask, language, now, zone).best_reading().asked
}

/// Returns the words after the time with which `ask`, the words after `/remind`, begins: "tea" in "in 20 minutes
/// tea". Returns all of it if it begins otherwise, or if no words follow.
pub fn reminder_task(ask: &str, language: Language, now: Timestamp, zone: Zone) -> &str {
    let request = ReminderRequest::strict(ask, language, now, zone);
    let last = request.best_reading().end.checked_sub(1).filter(|_| request.asking.is_none());
    let Some(last) = last else { return ask };
    let task = ask[request.token_ends[last]..]
        .trim_start_matches(|c: char| c.is_whitespace() || [':', ',', '-', '–', '—'].contains(&c));
    if task.is_empty() { ask } else { task }
}

/// Reads a text that consists of a time, such as "every monday at 9". Returns [`AskedTime::None`] if it has other
/// words.
pub fn time_alone(text: &str, language: Language, now: Timestamp, zone: Zone) -> AskedTime {
    let request = ReminderRequest::strict(text, language, now, zone);
    let reading = request.best_reading();
    if reading.end == request.words.len() { reading.asked } else { AskedTime::None }
}

/// Request for a reminder, split into words.
struct ReminderRequest<'a> {
    ask: &'a str,
    words: Vec<String>,
    /// Place after the token of `ask` that each word is part of, in bytes.
    token_ends: Vec<usize>,
    /// Number of words that ask; `None` after `/remind`.
    asking: Option<usize>,
    /// Place of the first word after those that ask.
    begin: usize,
    tables: Tables,
    now: Timestamp,
    zone: Zone,
    /// `true` if the text asks for a reminder, and not only names a time.
    is_strict: bool,
}

/// What a request says about its time, read in one language.
#[derive(Clone, Copy)]
struct ReminderReading {
    asked: AskedTime,
    /// Place after the time that begins right after the words that ask; 0 if none does.
    end: usize,
}

impl ReminderReading {
    const NOTHING: Self = Self { asked: AskedTime::None, end: 0 };

    /// The language of a few words is uncertain, and the wrong one may know a part of their time only, such as the day
    /// but not the hour or the repetition.
    fn rank(&self) -> (u8, usize) {
        let rank = match self.asked {
            AskedTime::Unsupported => 3,
            AskedTime::Time(time) if time.repeat.is_some() => 2,
            AskedTime::Time(_) | AskedTime::Past | AskedTime::Unreadable => 1,
            AskedTime::None => 0,
        };
        (rank, self.end)
    }
}

impl<'a> ReminderRequest<'a> {
    fn new(ask: &'a str, language: Language, now: Timestamp, zone: Zone) -> Self {
        let tables = Tables::of(language, ask);
        let (mut words, mut token_ends) = moment_words(ask, tables);
        if words.len() > FIRST_WORDS + LAST_WORDS {
            let omitted = FIRST_WORDS..words.len() - LAST_WORDS;
            token_ends.drain(FIRST_WORDS + 1..omitted.end);
            words.splice(omitted, [OMITTED.to_owned()]);
        }
        let asking = Languages::shipped().reminder_prefix_len(ask);
        let behind = (0..words.len()).filter(|place| words[*place] != COLON).nth(asking.unwrap_or(0));
        let begin = behind.unwrap_or(words.len());
        Self { ask, words, token_ends, asking, begin, tables, now, zone, is_strict: false }
    }

    fn strict(ask: &'a str, language: Language, now: Timestamp, zone: Zone) -> Self {
        Self { is_strict: true, ..Self::new(ask, language, now, zone) }
    }

    fn read(&self, table: &'static PhraseTable) -> ReminderReading {
        let reading = self.read_in(table, self.zone);
        if reading.end == 0 || self.words.get(reading.end).is_none_or(|word| word != ZONE) {
            return reading;
        }
        let name = self.ask[..self.token_ends[reading.end]].split_whitespace().next_back().unwrap_or_default();
        let other = named_zone(name).map(|zone| self.read_in(table, zone).asked);
        // A repetition is kept in the time of the chat.
        let is_once = |asked: &AskedTime| !matches!(asked, AskedTime::Time(time) if time.repeat.is_some());
        let asked = other.filter(is_once).unwrap_or(AskedTime::Unreadable);
        ReminderReading { asked, end: reading.end + 1 }
    }

    /// Reads the request by the clock of `zone`.
    fn read_in(&self, table: &'static PhraseTable, zone: Zone) -> ReminderReading {
        let today = zone.local(self.now).date_naive();
        let dates =
            DateReader { words: &self.words, table, today, is_ahead: true, spans: Vec::new(), names_last_night: false };
        let bare_span = (self.is_strict && self.asking.is_none()).then_some(self.begin);
        let breaks_at = |place: usize| {
            let (before, behind) = self.ask.split_at(place.checked_sub(1).map_or(0, |last| self.token_ends[last]));
            before.ends_with([',', ';']) || behind.trim_start().starts_with(['-', '–', '—'])
        };
        let is_strict = self.is_strict;
        let mut reader = MomentReader { dates, is_first: true, bare_span, breaks_at: &breaks_at, is_strict };
        // Where the verb comes last, words such as "kannst du mich" may come first.
        let skips = |word: &str| self.asking == Some(0) && self.tables.is_stop_word(word);
        let (moment, end) = reader.read(self.begin, skips);
        let asked = match moment.asked_time(end.is_some(), self.now, zone) {
            // A past day in the words of a question is no time: "remind me of the wood we ordered yesterday".
            AskedTime::Past if self.asking.is_some() && (end.is_none() || ends_in_question(self.ask)) => {
                AskedTime::None
            }
            asked => asked,
        };
        ReminderReading { asked, end: end.unwrap_or(0) }
    }

    /// Reads the request in the languages of the chat and of the request.
    fn usual_reading(&self) -> ReminderReading {
        // The table of the question comes last, and of equal readings the last one counts.
        let read = self.tables.iter().map(|table| (self.read(table), table.short.is_none()));
        // Two languages without a file may share the script, and only one of them may know a word of the time.
        let is_doubt = |reading: &ReminderReading, is_other| is_other && reading.asked == AskedTime::Unreadable;
        let best = read.max_by_key(|(reading, is_other)| (reading.rank(), is_doubt(reading, *is_other)));
        best.map_or(ReminderReading::NOTHING, |(reading, _)| reading)
    }

    /// Reads the request. If another language knows more words of the time at its beginning, that one counts.
    fn best_reading(&self) -> ReminderReading {
        let usual = self.usual_reading();
        if usual.rank().0 > 1 {
            return usual;
        }
        // One word, such as a day, may be any word in another language, unless a time is expected: after `/remind`, or
        // because another language has one there too.
        let expects_time = self.asking.is_none() || usual.end > 0;
        let is_more = |other: &ReminderReading| match other.asked {
            AskedTime::Time(_) => other.end > usual.end.max(self.begin + 1),
            AskedTime::Unreadable => expects_time && other.end >= usual.end.max(1),
            AskedTime::Unsupported | AskedTime::Past | AskedTime::None => false,
        };
        let others = shipped().map(|table| self.read(table)).filter(is_more);
        others.max_by_key(|other| other.end).unwrap_or(usual)
    }
}

/// Returns `true` if a question follows another part of the text: "remind me, yesterday we met: where was it?".
fn ends_in_question(ask: &str) -> bool {
    let mut tokens = ask.split_whitespace();
    tokens.next_back().is_some_and(|last| last.ends_with('?')) && tokens.any(|token| token.ends_with([',', ':', ';']))
}

/// Returns `true` for the name of a time zone, such as "EST", "UTC+3" and "Europe/Berlin", or "London" before "time".
fn is_zone_name(token: &str, next: Option<&&str>) -> bool {
    let short = token.trim_end_matches(|c: char| c.is_ascii_digit() || ['+', '-', ':'].contains(&c));
    let is_city = token.contains('/') && token.starts_with(char::is_alphabetic) && Zone::parse(token).is_some();
    let is_before_time = next.is_some_and(|next| next.trim_end_matches(|c: char| !c.is_alphabetic()) == "time");
    ZONES.contains(&short)
        || ["utc", "gmt"].contains(&short)
        || is_city
        || is_before_time && token.starts_with(char::is_uppercase)
}

/// Returns the zone "Europe/Berlin", "UTC" or "GMT+3", but not "EST", which has other hours in summer.
fn named_zone(name: &str) -> Option<Zone> {
    let name = name.trim_matches(|c: char| !c.is_alphanumeric());
    let utc = ["UTC", "GMT", "utc", "gmt"].into_iter().find_map(|utc| name.strip_prefix(utc));
    let Some(hours) = utc else { return Zone::parse(name).filter(|_| name.contains('/')) };
    match hours.split_at_checked(1) {
        None => Some(Zone::UTC),
        // The names of such zones have the opposite sign.
        Some(("+", hours)) => Zone::parse(&format!("Etc/GMT-{hours}")),
        Some(("-", hours)) => Zone::parse(&format!("Etc/GMT+{hours}")),
        Some(_) => None,
    }
}

/// Splits a text into words. A clock time ("9:30"), a date ("2026-05-01", "20/5"), a colon and the name of a time zone are
/// words of their own. Returns also, for each word, the place in `text` after the token that it is part of, in bytes.
fn moment_words(text: &str, tables: Tables) -> (Vec<String>, Vec<usize>) {
    let (mut found, mut ends, mut end) = (Vec::new(), Vec::new(), 0);
    let mut tokens = text.split_whitespace().peekable();
    while let Some(token) = tokens.next() {
        end = text[end..].find(token).map_or(text.len(), |at| end + at + token.len());
        let token = folded(token);
        // Thai tone marks are not alphanumeric.
        let token = token.trim_matches(|c: char| !c.is_alphanumeric() && !is_unspaced(c) && c != ':');
        let bare = token.trim_end_matches(':');
        if let Some(day) = digit_date(bare, tables) {
            found.push(day);
        } else if !found.is_empty() && is_zone_name(bare, tokens.peek()) {
            found.push(ZONE.to_owned());
        } else {
            found.extend(digit_runs(bare).into_iter().flat_map(|run| run_words(run, tables)));
        }
        if bare.len() < token.len() {
            found.push(COLON.to_owned());
        }
        ends.resize(found.len(), end);
    }
    (found, ends)
}

/// Splits a token before and behind its digits where no space is written between words, as in "25日18:00に" and "ב-18:00".
fn digit_runs(token: &str) -> Vec<&str> {
    let is_hangul = |c: char| matches!(c, '\u{ac00}'..='\u{d7a3}');
    let parts = |c: char| is_unspaced(c) && !is_hangul(c) || c.is_alphabetic() && is_right_to_left(c);
    let (mut runs, mut begin, mut before) = (Vec::new(), 0, ' ');
    for (at, c) in token.char_indices() {
        if parts(before) && (c.is_ascii_digit() || c == '-') || before.is_ascii_digit() && parts(c) {
            runs.push(&token[begin..at]);
            begin = at;
        }
        before = c;
    }
    runs.push(&token[begin..]);
    runs
}

fn run_words(run: &str, tables: Tables) -> Vec<String> {
    let run = run.trim_start_matches('-');
    // In "18:00-19:00" the first time counts. In Turkish a suffix follows: "18:30'da".
    let first = run.split(['-', '–', '\'', '’']).next().unwrap_or(run);
    let is_time = first.starts_with(|c: char| c.is_ascii_digit()) && first.contains([':', '/']);
    if is_time && first.chars().all(|c| c.is_alphanumeric() || [':', '/', '.'].contains(&c)) {
        return vec![first.to_lowercase()];
    }
    words(run).into_iter().flat_map(|word| without_joined_unit(word, tables)).collect()
}

#[cfg(test)]
mod tests;
