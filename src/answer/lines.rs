//! Formats the window for the prompt: `[m17 · u3 Ana · 14:02 · → m12] text`, a message a line.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::answer::plain::{clean_name, clean_text, without_fence};
use crate::context::{ContextWindow, Entry};
use crate::domain::{
    ChatId, MessageId, Part, Role, Seq, StoredMessage, Timestamp, UserId, Zone, span_in_words, without_citations,
};

/// A silence that is pointed out. Shorter ones show in the times of the lines.
const NOTED_SILENCE: Duration = Duration::from_secs(6 * 60 * 60);
/// Before a line of the focus.
const FOCUS_MARK: &str = "* ";
/// Before the later lines of a text, so that none of them passes for the beginning of a message.
const INDENT: &str = "    ";

/// Who is who in one prompt. Numbers are given in order of first appearance, the bot is always `u0`.
pub struct Scribe<'a> {
    bot_name: String,
    fence: &'a str,
    zone: Zone,
    numbers: BTreeMap<UserId, usize>,
    /// By number.
    names: BTreeMap<usize, String>,
}

/// The numbers by which a prompt calls members, with their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Members {
    numbers: BTreeMap<UserId, usize>,
    names: BTreeMap<usize, String>,
}

impl<'a> Scribe<'a> {
    pub fn new(bot_name: &str, fence: &'a str, zone: Zone) -> Self {
        Self { bot_name: clean_name(bot_name), fence, zone, numbers: BTreeMap::new(), names: BTreeMap::new() }
    }

    /// Goes on where the prompt left off: whoever it showed keeps their number.
    pub fn resume(bot_name: &str, fence: &'a str, zone: Zone, members: Members) -> Self {
        Self { numbers: members.numbers, names: members.names, ..Self::new(bot_name, fence, zone) }
    }

    /// Who has which number by now.
    pub fn members(&self) -> Members {
        Members { numbers: self.numbers.clone(), names: self.names.clone() }
    }

    /// The entries of `window`, with notes of the days and of what lies between. Where it has surroundings, a mark stands
    /// before each line of the focus.
    pub fn window(&mut self, window: &ContextWindow) -> String {
        // Message ids start anew when a chat becomes a supergroup.
        let address = |entry: &Entry| (entry.message.message.chat, entry.message.message.id);
        let shown: BTreeMap<(ChatId, MessageId), Seq> =
            window.entries.iter().map(|entry| (address(entry), entry.message.seq)).collect();
        let has_surroundings = window.entries.iter().any(|entry| entry.part() == Part::Surroundings);
        let mut lines = Vec::new();
        let mut previous: Option<&Entry> = None;
        for entry in &window.entries {
            let previous_message = previous.map(|previous| &previous.message);
            lines.extend(notes_between(
                previous_message,
                &entry.message,
                (&window.left_out, window.known_from),
                self.zone,
            ));
            let message = &entry.message.message;
            let target = message.reply_to.and_then(|parent| shown.get(&(message.chat, parent)).copied());
            let mark = if has_surroundings && entry.part() == Part::Focus { FOCUS_MARK } else { "" };
            lines.push(format!("{mark}{}", self.line(&entry.message, target, &entry.shown)));
            previous = Some(entry);
        }
        lines.join("\n")
    }

    /// One message. `target` is the message it replies to, where the reader can find that.
    pub fn line(&mut self, stored: &StoredMessage, target: Option<Seq>, text: &str) -> String {
        let author = self.author(stored);
        let (name, text) = match stored.message.role {
            Role::Assistant => (self.bot_name.clone(), Cow::Owned(without_citations(text))),
            Role::User | Role::System | Role::SystemSummary => {
                (clean_name(&stored.message.sender.name), Cow::Borrowed(text))
            }
        };
        let time = self.zone.clock_time(stored.message.sent_at);
        let arrow = target.map(|target| format!(" · → m{target}")).unwrap_or_default();
        let head = format!("[m{} · {author} {name} · {time}{arrow}]", stored.seq);
        without_fence(&format!("{head} {}", indented(&text)), self.fence).into_owned()
    }

    /// Member text that is no message of its own: the marked part of one, or what is known of one from elsewhere.
    pub fn aside(&self, text: &str) -> String {
        without_fence(&indented(text), self.fence).into_owned()
    }

    /// `Monday 5 January 2026`, where this prompt is read.
    pub fn day(&self, at: Timestamp) -> String {
        self.zone.day_in_words(at)
    }

    /// Lines of members between the marks of this prompt.
    pub fn fenced(&self, lines: &str) -> String {
        format!("<<<chat {fence}\n{lines}\n{fence} chat>>>", fence = self.fence)
    }

    /// `u3`.
    pub fn author(&mut self, stored: &StoredMessage) -> String {
        if stored.message.role == Role::Assistant {
            return "u0".to_owned();
        }
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(stored.message.sender.id).or_insert(next);
        self.names.entry(number).or_insert_with(|| clean_name(&stored.message.sender.name));
        format!("u{number}")
    }

    /// Everybody who was written down so far, with the number that the prompt calls them by.
    pub fn authors(&self) -> Vec<(String, String)> {
        let bot = ("u0".to_owned(), self.bot_name.clone());
        let members = self.names.iter().map(|(number, name)| (format!("u{number}"), name.clone()));
        std::iter::once(bot).chain(members).collect()
    }
}

/// What the reader should know between two messages: what is not shown, how long it was quiet, that a day began.
fn notes_between(
    previous: Option<&StoredMessage>,
    next: &StoredMessage,
    (left_out, known_from): (&BTreeSet<Seq>, Option<Seq>),
    zone: Zone,
) -> Vec<String> {
    let now = next.message.sent_at;
    let Some(previous) = previous else {
        return vec![format!("[{}]", zone.day_in_words(now))];
    };
    let before = previous.message.sent_at;
    // Imported messages are numbered late: then the numbers say nothing about what lies between.
    let hidden = if previous.seq < next.seq { left_out.range(previous.seq..next.seq).count() } else { 0 };
    let more = if known_from.is_some_and(|known_from| previous.seq < known_from) { "more than " } else { "" };
    let not_shown = match hidden {
        0 => None,
        1 => Some(format!("[{more}1 message not shown]")),
        many => Some(format!("[{more}{many} messages not shown]")),
    };
    let silence = now.since(before);
    let later = (silence >= NOTED_SILENCE).then(|| format!("[{} later]", span_in_words(silence)));
    let new_day = (!zone.same_day(before, now)).then(|| format!("[{}]", zone.day_in_words(now)));
    [not_shown, later, new_day].into_iter().flatten().collect()
}

fn indented(text: &str) -> String {
    let text = clean_text(text);
    match text.trim() {
        "" => "(no text)".to_owned(),
        text => text.replace('\n', &format!("\n{INDENT}")),
    }
}
