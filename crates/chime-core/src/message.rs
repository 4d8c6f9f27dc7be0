//! Messages as Chime stores them.

use serde::{Deserialize, Serialize};

use std::borrow::Cow;

use super::{
    ChatId, ChatKey, Conversation, Entity, EntityKind, ForumTopicId, MessageId, Seq, Timestamp, UserId, hidden_links,
    spoiler_bars, utf16_slice, with_marks,
};

/// Beginnings of the notes in brackets that a prompt has before the words of a message.
const NOTES: [&str; 4] = ["forwarded from", "quoting:", "replying to:", "transcript of"];

/// Message as extracted from an update, before it gets its number in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub chat: ChatId,
    pub id: MessageId,
    pub forum_topic: Option<ForumTopicId>,
    pub sender: Sender,
    pub role: Role,
    pub sent_at: Timestamp,
    pub edited_at: Option<Timestamp>,
    pub kind: Kind,
    /// Detail of the kind: duration of a voice message (`0:12`), file name, or a poll's question and options.
    pub detail: Option<String>,
    /// File that an answer may need: a document, a recording, or a photo.
    pub file: Option<MessageFile>,
    /// Text or caption, exactly as sent.
    pub text: String,
    pub entities: Vec<Entity>,
    /// Message of the same chat that this one replies to.
    pub reply_to: Option<MessageId>,
    /// Part of the message replied to that the member selected when replying.
    pub quote: Option<String>,
    /// Text of the message replied to, if that is not stored, for example because it is in another chat.
    pub snapshot: Option<String>,
    /// Name of the source of a forwarded message, as Telegram shows it. `None` if the message is no forward.
    pub forward_origin: Option<String>,
    /// For a forward, or a reply to a message of another chat: where the words come from.
    pub borrowed: Option<Borrowed>,
    /// Id shared by the messages of one album.
    pub album: Option<String>,
    /// Name of the inline bot that wrote the text.
    pub via_bot: Option<String>,
    pub origin: Origin,
    /// `true` if it addresses this bot, by name or as a reply. Set once it is stored, and never in private chats.
    pub is_trigger: bool,
}

impl Message {
    /// Creates an empty text message of a member.
    pub fn new(chat: ChatId, id: MessageId, sender: Sender, sent_at: Timestamp) -> Self {
        Self {
            chat,
            id,
            forum_topic: None,
            sender,
            role: Role::User,
            sent_at,
            edited_at: None,
            kind: Kind::Text,
            detail: None,
            file: None,
            text: String::new(),
            entities: Vec::new(),
            reply_to: None,
            quote: None,
            snapshot: None,
            forward_origin: None,
            borrowed: None,
            album: None,
            via_bot: None,
            origin: Origin::Update,
            is_trigger: false,
        }
    }
}

/// File of a message. Telegram keeps its content, which is downloaded only for an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageFile {
    /// Telegram's id of the file, valid only for this bot.
    pub id: String,
    /// Id that stays the same when the file is sent again.
    pub unique_id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub media_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
}

/// Origin of forwarded or quoted words, as far as Telegram gives it: for a forward from a channel or a reply to a
/// public chat, the message; for a forward of a person's message, the person and the time in whole seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Borrowed {
    pub chat: Option<ChatId>,
    pub message: Option<MessageId>,
    /// Original author. `None` for people who hide their account in forwards.
    pub author: Option<UserId>,
    pub sent_at: Option<Timestamp>,
}

/// Author of a message: a user, or the chat in whose name the message was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// `sender_chat.id` if set, else `from.id`.
    pub id: UserId,
    pub name: String,
    pub username: Option<String>,
    /// Meaningful only if `is_chat` is `false`.
    pub is_bot: bool,
    /// `true` if `id` is a chat (anonymous admin, channel).
    pub is_chat: bool,
}

impl Sender {
    /// Creates a sender who writes as a user, not in the name of a chat.
    pub fn person(id: UserId, name: impl Into<String>) -> Self {
        Self { id, name: name.into(), username: None, is_bot: false, is_chat: false }
    }
}

/// Member of a chat, with the names that a question may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub id: UserId,
    pub name: String,
    /// Username without `@`.
    pub username: Option<String>,
}

impl Member {
    pub fn of(sender: &Sender) -> Self {
        Self { id: sender.id, name: sender.name.clone(), username: sender.username.clone() }
    }
}

/// Role of a message's author, as in a conversation with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    User,
    Assistant,
    System,
    SystemSummary,
}

words!(Role { User = "user", Assistant = "assistant", System = "system", SystemSummary = "system-summary" });

/// Kind of a message. Kinds that this version does not know become [`Kind::Other`] and keep their text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Text,
    Photo,
    Video,
    Animation,
    Audio,
    Voice,
    VideoNote,
    Document,
    Sticker,
    Poll,
    Location,
    Contact,
    Dice,
    Story,
    Game,
    Service,
    Other,
}

words!(Kind {
    Text = "text", Photo = "photo", Video = "video", Animation = "animation", Audio = "audio", Voice = "voice",
    VideoNote = "video_note", Document = "document", Sticker = "sticker", Poll = "poll", Location = "location",
    Contact = "contact", Dice = "dice", Story = "story", Game = "game", Service = "service", Other = "other",
});

impl Kind {
    /// Returns `true` for kinds whose content is speech.
    pub fn is_spoken(self) -> bool {
        matches!(self, Self::Voice | Self::VideoNote)
    }
}

/// Way in which a stored message became known. A message from an update replaces a snapshot, never the reverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    Update,
    Snapshot,
    Import,
}

words!(Origin { Update = "update", Snapshot = "snapshot", Import = "import" });

impl Message {
    /// Returns `true` for a voice message or video note that has not been transcribed.
    pub fn lacks_transcript(&self) -> bool {
        self.kind.is_spoken() && self.text.is_empty()
    }

    /// Returns the post of a linked channel that Telegram copied into its group as this message. Unlike it, a forward
    /// by a member has an origin to show, and a reply to another chat has a snapshot.
    pub fn copied_post(&self) -> Option<(ChatId, MessageId)> {
        let is_copy = self.sender.is_chat && self.forward_origin.is_none() && self.snapshot.is_none();
        let post = self.borrowed.filter(|_| is_copy)?;
        Some((post.chat.filter(|chat| chat.0 == self.sender.id.0)?, post.message?))
    }

    /// Returns the web addresses in the message, in order: those that the text shows, and those behind linked words.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.entities.iter().filter_map(|entity| match &entity.kind {
            EntityKind::Url => Some(utf16_slice(&self.text, entity.offset, entity.length)),
            EntityKind::TextLink { url } => Some(url.as_str()),
            _ => None,
        })
    }

    /// Returns the addresses behind linked words; see [`hidden_links`]. The bot's own are left out: they link
    /// citations.
    pub fn hidden_links(&self) -> Vec<(usize, String)> {
        if self.role == Role::User { hidden_links(&self.text, &self.entities) } else { Vec::new() }
    }

    /// Returns the words by which a search finds the message; see [`searched_text`].
    pub fn searched_text(&self) -> Cow<'_, str> {
        searched_text(with_marks(&self.text, self.hidden_links()), self.kind, self.detail.as_deref())
    }

    /// Returns the addresses of hidden links and the bars around spoilers, each with its byte position in the text.
    pub fn marks(&self) -> Vec<(usize, String)> {
        let mut marks = self.hidden_links();
        marks.extend(spoiler_bars(&self.text, &self.entities));
        marks.sort_by_key(|(at, _)| *at);
        marks
    }

    /// Returns the text with its [`marks`](Self::marks), for a reader.
    pub fn marked_text(&self) -> Cow<'_, str> {
        with_marks(&self.text, self.marks())
    }

    /// Returns the [`marked_text`](Self::marked_text), in which no words of the author look like a note of a prompt, such
    /// as `[forwarded from Ana]`.
    pub fn text_without_notes(&self) -> Cow<'_, str> {
        let text = self.marked_text();
        let is_note = |at: usize| {
            let words = text[at + 1..].trim_start();
            NOTES.iter().any(|note| words.get(..note.len()).is_some_and(|start| start.eq_ignore_ascii_case(note)))
        };
        let notes: Vec<usize> = text.match_indices('[').map(|(at, _)| at).filter(|at| is_note(*at)).collect();
        if notes.is_empty() {
            return text;
        }
        let mut text = text.into_owned();
        notes.into_iter().for_each(|at| text.replace_range(at..=at, "("));
        Cow::Owned(text)
    }

    /// Renders the message for a prompt: `[voice 0:12]`, `[document] report.pdf`, `[photo] caption`, or just the text.
    pub fn rendered(&self) -> String {
        self.rendered_with(&self.marked_text())
    }

    pub fn rendered_with(&self, text: &str) -> String {
        let label = match (self.kind, self.detail.as_deref()) {
            (Kind::Text, _) => String::new(),
            (Kind::Service | Kind::Other, Some(detail)) => format!("[{detail}]"),
            (Kind::Voice | Kind::VideoNote | Kind::Audio | Kind::Video, Some(detail)) => {
                format!("[{} {detail}]", self.kind.as_str().replace('_', " "))
            }
            (kind, Some(detail)) => format!("[{}] {detail}", kind.as_str().replace('_', " ")),
            (kind, None) => format!("[{}]", kind.as_str().replace('_', " ")),
        };
        [label.as_str(), text].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// Returns a text and the detail of its message's medium, unless that is only a length or an event. The words of names
/// such as `harbornews.net` and `packing_list.txt` follow one by one, since each is a single word of the text. The
/// full-text index deletes by these words, so a change needs a migration that empties it.
pub fn searched_text<'a>(text: Cow<'a, str>, kind: Kind, detail: Option<&str>) -> Cow<'a, str> {
    use Kind::{
        Animation, Audio, Contact, Dice, Document, Game, Location, Other, Photo, Poll, Service, Sticker, Story, Text,
        Video, VideoNote, Voice,
    };
    let has_words = match kind {
        Animation | Audio | Contact | Document | Game | Location | Other | Photo | Poll | Video => true,
        Dice | Service | Sticker | Story | Text | VideoNote | Voice => false,
    };
    let text = match detail.filter(|_| has_words) {
        Some(detail) => Cow::Owned([&*text, detail].join(" ")),
        None => text,
    };
    let parts = name_parts(&text);
    if parts.is_empty() { text } else { Cow::Owned(format!("{text} {}", parts.join(" "))) }
}

/// Returns the words of the hosts and file names in a text, without their endings.
fn name_parts(text: &str) -> Vec<&str> {
    const MIN_ENDING: usize = 2;
    let mut found = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | '"')) {
        let name = word.split_once("://").map_or(word, |(_, address)| address);
        let name = name.split(['/', '?', '#', ':', '@']).next().unwrap_or_default();
        let Some((stem, ending)) = name.rsplit_once('.') else { continue };
        if stem.is_empty() || ending.len() < MIN_ENDING || !ending.starts_with(char::is_alphabetic) {
            continue;
        }
        let parts = stem.split(['.', '_', '-']).filter(|part| part.chars().nth(2).is_some() && *part != "www");
        found.extend(parts);
    }
    found
}

/// Message with its numbers in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMessage {
    pub chat: ChatKey,
    pub seq: Seq,
    pub message: Message,
}

impl StoredMessage {
    pub fn conversation(&self) -> Conversation {
        Conversation { chat: self.chat, forum_topic: self.message.forum_topic }
    }
}
