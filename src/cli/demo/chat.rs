//! Reads chat files. They have a message per line: `ID | 2026-03-02 18:40:00 | Ana | REPLIED-TO ID or - | text`.

use std::collections::HashSet;
use std::time::Duration;

use chrono::NaiveDateTime;

use chime_core::{Timestamp, Zone};

/// Silence, such as a night. What was said since the last one is moved in time separately from the messages before it, so
/// that its shorter pauses stay as they are.
const QUIET: Duration = Duration::from_hours(8);
const DAY_SECS: i64 = 24 * 60 * 60;

/// Chat from a file, with which the demo starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatFile {
    pub title: String,
    pub messages: Vec<ChatFileMessage>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatFileMessage {
    /// Id of the message in the file.
    pub id: i64,
    pub sent_at: Timestamp,
    pub name: String,
    pub reply_to: Option<i64>,
    pub text: String,
}

/// Error in a chat file, with the number of its line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ChatFileError {
    #[error("line {line}: expected `ID | 2026-03-02 18:40:00 | Ana | REPLIED-TO ID or - | text`")]
    Form { line: usize },
    #[error("line {line}: `{found}` is no time; write it as 2026-03-02 18:40:00")]
    Time { line: usize, found: String },
    #[error("line {line}: message {id} replies to {reply_to}, which does not stand above it")]
    Reply { line: usize, id: i64, reply_to: i64 },
    #[error("line {line}: message {id} is older than the one above it, or has its number")]
    Order { line: usize, id: i64 },
    #[error("there is no message in it")]
    Empty,
}

impl ChatFile {
    pub fn parse(text: &str) -> Result<Self, ChatFileError> {
        let mut title = "Demo".to_owned();
        let mut messages: Vec<ChatFileMessage> = Vec::new();
        let mut ids = HashSet::new();
        for (line, raw) in (1..).zip(text.lines()) {
            let raw = raw.trim();
            if let Some(named) = raw.strip_prefix("# chat ") {
                title = named.trim().to_owned();
            }
            if raw.is_empty() || raw.starts_with('#') {
                continue;
            }
            let message = parse_line(line, raw)?;
            let id = message.id;
            if let Some(reply_to) = message.reply_to.filter(|reply_to| !ids.contains(reply_to)) {
                return Err(ChatFileError::Reply { line, id, reply_to });
            }
            let is_older = messages.last().is_some_and(|last| last.sent_at > message.sent_at);
            if is_older || !ids.insert(id) {
                return Err(ChatFileError::Order { line, id });
            }
            messages.push(message);
        }
        if messages.is_empty() { Err(ChatFileError::Empty) } else { Ok(Self { title, messages }) }
    }

    /// Moves the chat in time so that its last message was sent at `last`. Messages before the last long silence
    /// are moved by whole days, so that they keep their time of day in `zone`.
    #[must_use]
    pub fn moved_to(mut self, last: Timestamp, zone: Zone) -> Self {
        let Some(newest) = self.messages.last().map(|message| message.sent_at) else { return self };
        let pauses = self.messages.windows(2).rposition(|pair| pair[1].sent_at.since(pair[0].sent_at) > QUIET);
        let (earlier, talk) = self.messages.split_at_mut(pauses.map_or(0, |before| before + 1));
        for message in talk.iter_mut() {
            message.sent_at = last.minus(newest.since(message.sent_at));
        }
        if let (Some(ends), Some(begins)) = (earlier.last().map(|message| message.sent_at), talk.first()) {
            let room = begins.sent_at.minus(QUIET);
            let room_here = room.secs() + i64::from(zone.ahead_secs(room));
            // Moves the earlier messages as near to that talk as whole days allow, after a silence that still counts.
            let days = (room_here - ends.secs()).div_euclid(DAY_SECS);
            for message in earlier {
                let here = Timestamp::from_secs(message.sent_at.secs() + days * DAY_SECS);
                message.sent_at = zone.moment(here.to_utc().naive_utc());
            }
        }
        self
    }
}

fn parse_line(line: usize, raw: &str) -> Result<ChatFileMessage, ChatFileError> {
    let form = ChatFileError::Form { line };
    let fields: Vec<&str> = raw.splitn(5, '|').map(str::trim).collect();
    let [id, time, name, reply_to, text] = fields[..] else { return Err(form) };
    let (Ok(id), false) = (id.parse(), name.is_empty()) else { return Err(form) };
    let sent_at = NaiveDateTime::parse_from_str(time, "%Y-%m-%d %H:%M:%S")
        .map_err(|_| ChatFileError::Time { line, found: time.to_owned() })?;
    let reply_to = match reply_to {
        "-" | "" => None,
        number => Some(number.parse().map_err(|_| form)?),
    };
    let sent_at = Timestamp::from_secs(sent_at.and_utc().timestamp());
    Ok(ChatFileMessage { id, sent_at, name: name.to_owned(), reply_to, text: text.replace("\\n", "\n") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_chat_opens_the_demo() {
        let chat = ChatFile::parse(include_str!("friday.txt")).unwrap();
        assert_eq!(chat.title, "Friday table");
        assert_eq!(chat.messages.len(), 30);
        let span = chat.messages[29].sent_at.since(chat.messages[0].sent_at);
        assert!(span.as_secs() > 2 * 24 * 3600, "it spans days");
        let texts: Vec<&str> = chat.messages.iter().map(|message| message.text.as_str()).collect();
        for seed in
            ["We should look at the restaurant for the gathering", "Any thoughts?", "The thai restaurant on 10th Ave?"]
        {
            assert!(texts.contains(&seed), "{seed}");
        }
    }

    #[test]
    fn earlier_days_keep_their_hours_whenever_the_demo_runs() {
        for hour in 0..24 {
            let last = Timestamp::from_secs(1_780_000_000 / DAY_SECS * DAY_SECS + hour * 3600);
            let chat = ChatFile::parse(include_str!("friday.txt")).unwrap();
            let hours = |chat: &ChatFile| -> Vec<i64> {
                chat.messages[..20].iter().map(|message| message.sent_at.secs().rem_euclid(DAY_SECS)).collect()
            };
            let moved = chat.clone().moved_to(last, Zone::UTC);
            assert_eq!(hours(&moved), hours(&chat), "at {hour}");
            assert!(moved.messages.is_sorted_by_key(|message| message.sent_at), "at {hour}");
            assert_eq!(moved.messages[29].sent_at, last);
        }
    }

    #[test]
    fn a_chat_is_moved_with_its_silences() {
        let text = "1 | 2026-03-02 18:00:00 | Ana | - | a\n2 | 2026-03-02 19:00:00 | Bob | 1 | b | c";
        let moved = ChatFile::parse(text).unwrap().moved_to(Timestamp::from_secs(10_000), Zone::UTC);
        let times: Vec<i64> = moved.messages.iter().map(|message| message.sent_at.secs()).collect();
        assert_eq!(times, [6_400, 10_000]);
        assert_eq!(moved.messages[1].text, "b | c");
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(ChatFile::parse(text).unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        check("# nothing\n", "there is no message in it");
        check("\nhello", "line 2: expected `ID | 2026-03-02 18:40:00 | Ana | REPLIED-TO ID or - | text`");
        check("1 | today | Ana | - | a", "line 1: `today` is no time; write it as 2026-03-02 18:40:00");
        check("1 | 2026-03-02 18:00:00 | Ana | 7 | a", "line 1: message 1 replies to 7, which does not stand above it");
        let twice = "1 | 2026-03-02 18:00:00 | Ana | - | a\n1 | 2026-03-02 18:00:00 | Ana | - | a";
        check(twice, "line 2: message 1 is older than the one above it, or has its number");
    }
}
