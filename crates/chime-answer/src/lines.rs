//! Formats messages for the prompt: `[4] Ana (14:02): text`, one message per line, numbered from 1 in each prompt.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::sanitize::{clean_name, clean_text, skeleton, without_fence};
use chime_core::{
    ChatId, Kind, Message, MessageId, Part, Role, Seq, SourceId, StoredMessage, Timestamp, UserId, Zone, clip,
    span_in_words, without_sent_citations,
};
use chime_relevance::context::{ContextWindow, Entry};

/// Minimum silence that gets a note between two lines. Shorter ones are visible from the times.
const NOTED_SILENCE: Duration = Duration::from_hours(6);
/// Time since the last shown time of day after which a line shows it again.
const TIME_SHOWN_AFTER: Duration = Duration::from_mins(10);
/// Maximum number of characters shown of an earlier answer of the bot. A model that sees its own words in full repeats
/// them.
const OWN_CHARS: usize = 160;
/// Maximum number of characters shown of an answer in the focus, which the question may be about. Large models get all of
/// the newest one: "translate that".
const OWN_FOCUS_CHARS: usize = 600;
/// Indent of a message's further lines, so that none of them looks like the start of a message.
const INDENT: &str = "    ";

/// Speaker of the question in a plain prompt. No member has this name there.
pub const QUESTION_SPEAKER: &str = "Question";

/// Form of a prompt: the full one, or a simpler one for small models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Messages have numbers, and the answer has to cite them.
    Numbered,
    /// Messages have no numbers: small models answer worse when asked for anything but the answer.
    Plain,
}

impl Style {
    /// Returns the style for a model that is small or not.
    pub fn for_model(is_small: bool) -> Self {
        if is_small { Self::Plain } else { Self::Numbered }
    }
}

/// Numbers and names that one prompt gives to messages and members.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// The messages with their authors' names, in the order of their numbers.
    messages: Vec<(Seq, String)>,
    /// The same messages by their ids in Telegram. When a group becomes a supergroup, ids start again from 1, so an id
    /// is unique only together with its chat.
    by_id: BTreeMap<(ChatId, MessageId), Seq>,
    names: BTreeMap<UserId, String>,
    /// Names that members have now. Messages have the names of their time.
    present: BTreeMap<UserId, String>,
}

impl Labels {
    /// Returns the labels of a prompt in which these members have these names.
    pub fn with_names(present: impl Iterator<Item = (UserId, String)>) -> Self {
        Self { present: present.collect(), ..Self::default() }
    }

    /// Returns the message that has `number` in the prompt.
    pub fn source(&self, number: usize) -> Option<SourceId> {
        self.messages.get(number.checked_sub(1)?).map(|(seq, _)| SourceId::message(seq.0))
    }

    /// Returns the number of a message, if the prompt shows it.
    pub fn number_of(&self, seq: Seq) -> Option<usize> {
        self.messages.iter().position(|(known, _)| *known == seq).map(|place| place + 1)
    }

    /// Returns the name of the author of message `number`; `None` if the prompt does not show it.
    pub fn author(&self, number: usize) -> Option<&str> {
        self.messages.get(number.checked_sub(1)?).map(|(_, author)| author.as_str())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.values().map(String::as_str)
    }

    pub fn has_name(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    fn author_of(&self, seq: Seq) -> Option<&str> {
        self.messages.iter().find(|(known, _)| *known == seq).map(|(_, name)| name.as_str())
    }

    /// Returns the number of a message, and assigns the next one if it has none.
    pub fn assign(&mut self, seq: Seq, author: String) -> usize {
        self.number_of(seq).unwrap_or_else(|| {
            self.messages.push((seq, author));
            self.messages.len()
        })
    }

    /// Returns the name of a member in the prompt. A number distinguishes members whose names look the same, or like one
    /// that is `reserved`.
    fn name(&mut self, id: UserId, name: &str, reserved: &[&str]) -> String {
        if let Some(known) = self.names.get(&id) {
            return known.clone();
        }
        let name = clean_name(self.present.get(&id).map_or(name, String::as_str));
        let looks_like = |name: &str, other: &str| skeleton(name).to_lowercase() == skeleton(other).to_lowercase();
        let is_free = |name: &String| {
            !reserved.iter().any(|other| looks_like(name, other))
                && !self.names.values().any(|known| skeleton(known) == skeleton(name))
        };
        let name = std::iter::once(name.clone())
            .chain((2..=99).map(|number| format!("{name} ({number})")))
            .find(is_free)
            .unwrap_or(name);
        self.names.insert(id, name.clone());
        name
    }
}

/// Writer of the message lines of one prompt.
pub struct PromptTranscript<'a> {
    bot_name: String,
    fence: &'a str,
    zone: Zone,
    style: Style,
    labels: Labels,
    shown_at: Option<Timestamp>,
}

impl<'a> PromptTranscript<'a> {
    pub fn new(bot_name: &str, fence: &'a str, zone: Zone, style: Style) -> Self {
        Self { bot_name: clean_name(bot_name), fence, zone, style, labels: Labels::default(), shown_at: None }
    }

    /// Continues a prompt: messages and members keep their numbers and names.
    pub fn resume(bot_name: &str, fence: &'a str, zone: Zone, style: Style, labels: Labels) -> Self {
        Self { labels, ..Self::new(bot_name, fence, zone, style) }
    }

    /// Returns `true` if lines show days and times.
    pub fn has_times(&self) -> bool {
        self.style == Style::Numbered
    }

    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    pub fn into_labels(self) -> Labels {
        self.labels
    }

    /// Formats the entries of `window`, with notes about days, silences and hidden messages. For a trigger without a
    /// question (`is_bare`), a plain prompt leaves out earlier answers of the bot, which a small model would repeat,
    /// unless the trigger replies to one or follows it directly.
    pub fn window(&mut self, window: &ContextWindow, is_bare: bool) -> String {
        let last = window.entries.last().map(|entry| entry.message.seq);
        let hides_own = is_bare && self.style == Style::Plain;
        let is_own = |entry: &&Entry| entry.message.message.role == Role::Assistant;
        let is_shown = |entry: &&Entry| {
            !(hides_own && is_own(entry)) || entry.reason.is_anchor() || Some(entry.message.seq) == last
        };
        let is_large = self.style == Style::Numbered;
        let newest_own = window.entries.iter().rfind(is_own).map(|entry| entry.message.seq).filter(|_| is_large);
        let mut lines = Vec::new();
        let mut previous: Option<&StoredMessage> = None;
        for entry in window.entries.iter().filter(is_shown) {
            if is_large {
                lines.extend(notes_between(previous, &entry.message, window, self.zone));
            }
            let message = &entry.message.message;
            let is_whole = entry.reason.is_anchor() || Some(entry.message.seq) == newest_own;
            let limit = if entry.part() == Part::Focus { OWN_FOCUS_CHARS } else { OWN_CHARS };
            let text = match message.role {
                Role::Assistant if is_whole => Cow::Borrowed(entry.shown.as_str()),
                Role::Assistant => Cow::Owned(clip(&without_sent_citations(&entry.shown), limit).into_owned()),
                Role::User | Role::System | Role::SystemSummary => Cow::Borrowed(entry.shown.as_str()),
            };
            lines.push(self.line(&entry.message, &text));
            previous = Some(&entry.message);
        }
        if let Some(previous) = previous.filter(|_| is_large) {
            lines.extend(hidden_note(window.left_out.range(previous.seq..).count(), ""));
        }
        lines.join("\n")
    }

    /// Formats one message.
    pub fn line(&mut self, stored: &StoredMessage, text: &str) -> String {
        let target = self.target(&stored.message);
        self.line_to(stored, target, text)
    }

    /// Formats a message again, next to the question: without what it replies to.
    pub fn repeated(&mut self, stored: &StoredMessage, text: &str) -> String {
        self.line_to(stored, None, text)
    }

    fn line_to(&mut self, stored: &StoredMessage, target: Option<String>, text: &str) -> String {
        let author = self.author(stored);
        let number = self.labels.assign(stored.seq, author);
        self.labels.by_id.insert((stored.message.chat, stored.message.id), stored.seq);
        let said = self.said_to(stored, target, text);
        match self.style {
            Style::Numbered => format!("[{number}] {said}"),
            Style::Plain => said,
        }
    }

    /// Formats a message without a number: one that cannot be cited, such as the question itself.
    pub fn said(&mut self, stored: &StoredMessage, text: &str) -> String {
        self.said_to(stored, None, text)
    }

    fn said_to(&mut self, stored: &StoredMessage, target: Option<String>, text: &str) -> String {
        let is_own = self.is_own(&stored.message);
        let text = if is_own { Cow::Owned(without_sent_citations(text)) } else { Cow::Borrowed(text) };
        let sent_at = stored.message.sent_at;
        let shows_time = self.shown_at.is_none_or(|shown_at| {
            sent_at < shown_at || sent_at.since(shown_at) >= TIME_SHOWN_AFTER || !self.zone.same_day(shown_at, sent_at)
        });
        if shows_time {
            self.shown_at = Some(sent_at);
        }
        // Times distract small models more than they help.
        let shows_time = shows_time && self.style == Style::Numbered;
        let notes = [is_own.then(|| "you".to_owned()), shows_time.then(|| self.zone.clock_time(sent_at)), target];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
        without_fence(&format!("{}{notes}: {}", self.author(stored), indented(&text)), self.fence).into_owned()
    }

    /// Returns `to [2]`, or `to Ana` if messages have no numbers, for a reply to a message that this prompt shows.
    fn target(&self, message: &Message) -> Option<String> {
        let target = *self.labels.by_id.get(&(message.chat, message.reply_to?))?;
        match self.style {
            Style::Numbered => self.labels.number_of(target).map(|number| format!("to [{number}]")),
            Style::Plain => self.labels.author_of(target).map(|name| format!("to {name}")),
        }
    }

    /// Formats member text that is not a whole message: a quote, or the copy of a message from another chat.
    pub fn aside(&self, text: &str) -> String {
        without_fence(&indented(text), self.fence).into_owned()
    }

    /// Returns the day in the chat's time zone: `Monday 5 January 2026`.
    pub fn day(&self, at: Timestamp) -> String {
        self.zone.day_in_words(at)
    }

    /// Returns the time of a talk in the chat's time zone: `Monday 5 January 2026, 14:02-16:40`, or its day alone if lines
    /// show no times.
    pub fn period(&self, from: Timestamp, to: Timestamp) -> String {
        if self.has_times() { self.zone.period_in_words(from, to) } else { self.day(from) }
    }

    /// Puts lines of members between the delimiters of this prompt.
    pub fn fenced(&self, lines: &str) -> String {
        format!("<<<chat {fence}\n{lines}\n{fence} chat>>>", fence = self.fence)
    }

    /// Returns the author's name in the prompt.
    pub fn author(&mut self, stored: &StoredMessage) -> String {
        match self.is_own(&stored.message) {
            true => self.bot_name.clone(),
            false => {
                let reserved: &[&str] = match self.style {
                    Style::Numbered => &[&self.bot_name],
                    Style::Plain => &[&self.bot_name, QUESTION_SPEAKER],
                };
                self.labels.name(stored.message.sender.id, &stored.message.sender.name, reserved)
            }
        }
    }

    /// Returns `true` for answers of the bot, its polls and its notices, such as apologies.
    fn is_own(&self, message: &Message) -> bool {
        let is_by_us = || message.sender.is_bot && clean_name(&message.sender.name) == self.bot_name;
        message.role == Role::Assistant || (message.role == Role::System || message.kind == Kind::Poll) && is_by_us()
    }
}

/// Returns the notes between two messages: hidden messages, a silence, a new day.
fn notes_between(
    previous: Option<&StoredMessage>,
    next: &StoredMessage,
    window: &ContextWindow,
    zone: Zone,
) -> Vec<String> {
    let now = next.message.sent_at;
    let Some(previous) = previous else {
        return vec![format!("({})", zone.day_in_words(now))];
    };
    let before = previous.message.sent_at;
    // Imported messages are old but have high sequence numbers, so the messages between cannot be counted by sequence
    // number.
    let hidden = if previous.seq < next.seq { window.left_out.range(previous.seq..next.seq).count() } else { 0 };
    let more = if window.known_from.is_some_and(|known_from| previous.seq < known_from) { "more than " } else { "" };
    let not_shown = hidden_note(hidden, more);
    let silence = now.since(before);
    let later = (silence >= NOTED_SILENCE).then(|| format!("({} later)", span_in_words(silence)));
    let new_day = (!zone.same_day(before, now)).then(|| format!("({})", zone.day_in_words(now)));
    [not_shown, later, new_day].into_iter().flatten().collect()
}

/// Returns the note for messages that are not shown; `None` for none.
fn hidden_note(hidden: usize, more: &str) -> Option<String> {
    match hidden {
        0 => None,
        1 => Some(format!("({more}1 message not shown)")),
        many => Some(format!("({more}{many} messages not shown)")),
    }
}

fn indented(text: &str) -> String {
    let text = clean_text(text);
    match text.trim() {
        "" => "(no text)".to_owned(),
        text => text.replace('\n', &format!("\n{INDENT}")),
    }
}
