//! Transcripts: a short notation in which tests write chats.
//!
//! ```text
//! // comments and blank lines are skipped
//! -3d 10:00 ann#1 We should look at the restaurant     three days before the current day
//! 10:04 bob#2>1 which one?                             `>1` replies to message 1
//!     | a second line of the same message
//! 10:05 eve#3 [album x] [photo] the bike               tags come before the text
//! day 2                                                the following lines are on the second day
//! [topic 7]                                            and in this forum topic, until `[topic none]`
//! 09:00:30 chime#9 [assistant] Good morning.
//! ```
//!
//! Tags: `[topic 7]`, `[album x]`, `[quote marked words]`, `[assistant]`, `[snapshot]`, `[forwarded Name]`, and every
//! [`Kind`] with its detail, such as `[voice 0:12]`. Other brackets are text. `@names` become mentions.

use std::time::Duration;

use crate::{
    ChatId, ChatKey, Entity, EntityKind, ForumTopicId, Kind, Message, MessageId, Origin, Role, Sender, Seq,
    StoredMessage, Timestamp, UserId, Zone, utf16_len,
};

pub const CHAT: ChatId = ChatId(-1_001_000_000_001);
/// Internal number of [`CHAT`].
pub const CHAT_KEY: ChatKey = ChatKey(1);
/// Midnight before `day 1`: Monday, 5 January 2026.
pub const DAY_ONE: Timestamp = Timestamp::from_secs(1_767_571_200);

const DAY: Duration = Duration::from_hours(24);

/// Parses a transcript into messages, in the order of its lines. A message's [`Seq`] is its number.
///
/// # Panics
/// Panics on a line that it cannot parse, and names the line.
#[track_caller]
#[expect(clippy::panic, reason = "a transcript is part of a test, and a typo in it fails that test")]
pub fn transcript(chat: &str) -> Vec<StoredMessage> {
    let mut scene = Scene { day: 1, forum_topic: None, messages: Vec::new() };
    for (index, line) in chat.lines().enumerate() {
        if let Err(problem) = scene.read(line.trim()) {
            panic!("line {} of the transcript, `{}`: {problem}", index + 1, line.trim());
        }
    }
    scene.messages
}

/// Returns the time zone of transcripts. Its time is always UTC, but it has another name, so that formatted times do
/// not end in "UTC".
#[expect(clippy::expect_used, reason = "a name that chrono-tz knows")]
pub fn here() -> Zone {
    Zone::parse("Atlantic/Reykjavik").expect("a known zone")
}

/// Parses a moment in the notation of transcripts: `10:04`, `-3d 10:04`, `day 2 10:04`.
///
/// # Panics
/// Panics on invalid input.
#[track_caller]
#[expect(clippy::panic, reason = "a moment is part of a test, and a typo in it fails that test")]
pub fn moment(text: &str) -> Timestamp {
    let (day, rest) = match text.strip_prefix("day ").and_then(|rest| rest.split_once(' ')) {
        Some((day, rest)) => (day.parse().unwrap_or(1), rest),
        None => (1, text),
    };
    match read_moment(day, rest) {
        Ok((moment, "")) => moment,
        Ok((_, rest)) => panic!("`{text}` goes on after the time: `{rest}`"),
        Err(problem) => panic!("`{text}`: {problem}"),
    }
}

/// Returns the user id for `name`, the same in every transcript.
pub fn user(name: &str) -> UserId {
    // FNV-1a is short, stable and has few collisions among a handful of names.
    UserId(i64::from(name.bytes().fold(2_166_136_261_u32, |hash, b| (hash ^ u32::from(b)).wrapping_mul(16_777_619))))
}

struct Scene {
    day: i64,
    forum_topic: Option<ForumTopicId>,
    messages: Vec<StoredMessage>,
}

impl Scene {
    fn read(&mut self, line: &str) -> Result<(), String> {
        if line.is_empty() || line.starts_with("//") {
            return Ok(());
        }
        if let Some(day) = line.strip_prefix("day ") {
            self.day = number(day, "day")?;
            return Ok(());
        }
        if let Some(more) = line.strip_prefix('|') {
            let message = &mut self.messages.last_mut().ok_or("nothing to continue")?.message;
            message.text = format!("{}\n{}", message.text, more.strip_prefix(' ').unwrap_or(more));
            message.entities = mentions(&message.text);
            return Ok(());
        }
        if let Some((("topic", value), "")) = tag(line) {
            self.forum_topic = read_forum_topic(value)?;
            return Ok(());
        }
        let message = self.message(line)?;
        self.messages.push(message);
        Ok(())
    }

    fn message(&self, line: &str) -> Result<StoredMessage, String> {
        let (sent_at, rest) = read_moment(self.day, line)?;
        let (head, mut text) = rest.split_once(' ').unwrap_or((rest, ""));
        let (name, ids) = head.split_once('#').ok_or("expected `name#id` after the time")?;
        let (id, reply_to) = match ids.split_once('>') {
            Some((id, parent)) => (id, Some(MessageId(number(parent, "message replied to")?))),
            None => (ids, None),
        };
        let seq: u32 = number(id, "message id")?;
        let mut message = plain_message(MessageId(seq.into()), name, sent_at);
        message.reply_to = reply_to;
        message.forum_topic = self.forum_topic;
        while let Some(((key, value), rest)) = tag(text) {
            if !apply(&mut message, key, value)? {
                break;
            }
            text = rest;
        }
        message.text = text.to_owned();
        message.entities = mentions(text);
        Ok(StoredMessage { chat: CHAT_KEY, seq: Seq(seq), message })
    }
}

/// Applies the tag `[key value]` to the message. Returns `false` if the tag is unknown, so that the brackets belong to
/// the text.
fn apply(message: &mut Message, key: &str, value: &str) -> Result<bool, String> {
    let some = (!value.is_empty()).then(|| value.to_owned());
    match key {
        "topic" => message.forum_topic = read_forum_topic(value)?,
        "album" => message.album = some,
        "quote" => message.quote = some,
        "forwarded" => message.forward_origin = some,
        "snapshot" => message.origin = Origin::Snapshot,
        "assistant" => {
            message.role = Role::Assistant;
            message.sender.is_bot = true;
        }
        _ => match Kind::parse(key) {
            Some(kind) => {
                message.kind = kind;
                message.detail = some;
            }
            None => return Ok(false),
        },
    }
    Ok(true)
}

fn plain_message(id: MessageId, name: &str, sent_at: Timestamp) -> Message {
    let sender = Sender { username: Some(name.to_owned()), ..Sender::person(user(name), name) };
    Message::new(CHAT, id, sender, sent_at)
}

/// Parses a moment `[-3d] 10:04[:30]`; `-3d` means three days before `day`. Also returns the rest of the line.
fn read_moment(day: i64, line: &str) -> Result<(Timestamp, &str), String> {
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (days_back, time, rest) = match first.strip_prefix('-').and_then(|back| back.strip_suffix('d')) {
        Some(back) => {
            let (time, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            (number(back, "days back")?, time, rest)
        }
        None => (0, first, rest),
    };
    let mut parts = time.split(':').map(|part| number::<u64>(part, "time"));
    let (Some(hour), Some(minute), second, None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err(format!("expected a time such as `10:04`, found `{time}`"));
    };
    let of_day = Duration::from_secs(hour? * 3600 + minute? * 60 + second.transpose()?.unwrap_or(0));
    let day = day - 1 - days_back;
    let midnight = match u32::try_from(day.unsigned_abs()) {
        Ok(days) if day < 0 => DAY_ONE.minus(DAY * days),
        Ok(days) => DAY_ONE.plus(DAY * days),
        Err(_) => return Err("a day too far away".to_owned()),
    };
    Ok((midnight.plus(of_day), rest.trim_start()))
}

/// Splits `[key value] rest` into its parts.
fn tag(text: &str) -> Option<((&str, &str), &str)> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    Some((inside.split_once(' ').unwrap_or((inside, "")), rest.trim_start()))
}

fn read_forum_topic(value: &str) -> Result<Option<ForumTopicId>, String> {
    match value {
        "none" => Ok(None),
        id => Ok(Some(ForumTopicId(number(id, "topic")?))),
    }
}

fn number<N: std::str::FromStr>(text: &str, what: &str) -> Result<N, String> {
    text.trim().parse().map_err(|_| format!("expected a number as {what}, found `{text}`"))
}

fn mentions(text: &str) -> Vec<Entity> {
    let name_length = |rest: &str| rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    text.match_indices('@')
        .filter(|(at, _)| !text[..*at].ends_with(|c: char| c.is_alphanumeric()))
        .map(|(at, _)| (at, name_length(&text[at + 1..])))
        .filter(|(_, length)| *length > 0)
        .map(|(at, length)| Entity { offset: utf16_len(&text[..at]), length: length + 1, kind: EntityKind::Mention })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(chat: &str, expected: Expect) {
        let lines: Vec<String> = transcript(chat).iter().map(|stored| summary(&stored.message)).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    fn summary(message: &Message) -> String {
        let mut line = format!("{} {}#{}", message.sent_at.to_utc().format("%d %T"), message.sender.name, message.id);
        let facts = [
            message.reply_to.map(|id| format!("reply to {id}")),
            message.forum_topic.map(|id| format!("topic {id}")),
            message.album.as_ref().map(|album| format!("album {album}")),
            message.quote.as_ref().map(|quote| format!("quote {quote}")),
            (message.role == Role::Assistant).then(|| "assistant".to_owned()),
            (message.origin == Origin::Snapshot).then(|| "snapshot".to_owned()),
            (!message.entities.is_empty()).then(|| format!("{} mentions", message.entities.len())),
        ];
        for fact in facts.into_iter().flatten() {
            line = format!("{line} ({fact})");
        }
        format!("{line} {:?}", message.rendered())
    }

    #[test]
    fn a_line_is_time_author_number_reply_and_text() {
        check(
            "
            10:00 ann#1 the deploy failed
            // a comment
            10:04:30 bob#2>1 which one, @ann?
                | the second
            ",
            expect![[r#"
                05 10:00:00 ann#1 "the deploy failed"
                05 10:04:30 bob#2 (reply to 1) (1 mentions) "which one, @ann?\nthe second""#]],
        );
    }

    #[test]
    fn days_go_forward_by_line_and_back_by_prefix() {
        check(
            "
            -3d 10:00 ann#1 before
            day 2
            09:00 ann#2 after
            -1d 09:00 ann#3 the day before that
            ",
            expect![[r#"
                02 10:00:00 ann#1 "before"
                06 09:00:00 ann#2 "after"
                05 09:00:00 ann#3 "the day before that""#]],
        );
    }

    #[test]
    fn tags_stand_before_the_text_and_other_brackets_are_text() {
        check(
            "
            10:00 ann#1 [topic 7] [album x] [photo] the door
            [topic 8]
            10:01 chime#2>1 [assistant] [quote door] [unknown] stays
            [topic none]
            10:02 eve#3 [snapshot] [voice 0:12]
            ",
            expect![[r#"
                05 10:00:00 ann#1 (topic 7) (album x) "[photo] the door"
                05 10:01:00 chime#2 (reply to 1) (topic 8) (quote door) (assistant) "[unknown] stays"
                05 10:02:00 eve#3 (snapshot) "[voice 0:12]""#]],
        );
    }

    #[test]
    fn mentions_are_measured_in_utf16_units() {
        let chat = transcript("10:00 ann#1 🦊 @bot a@b");
        assert_eq!(chat[0].message.entities, [Entity { offset: 3, length: 4, kind: EntityKind::Mention }]);
    }

    #[test]
    fn moments_read_like_the_lines_do() {
        assert_eq!(moment("day 2 09:00"), transcript("day 2\n09:00 ann#1 hello")[0].message.sent_at);
        assert_eq!(moment("-1d 09:00"), transcript("-1d 09:00 ann#1 hello")[0].message.sent_at);
    }

    #[test]
    #[should_panic(expected = "line 2 of the transcript, `10:04 bob which one?`: expected `name#id` after the time")]
    fn a_typo_says_where_it_is() {
        transcript("10:00 ann#1 fine\n10:04 bob which one?");
    }
}
