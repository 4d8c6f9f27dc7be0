//! What is read off one message: who is spoken to, and what kind of utterance it is.

use crate::context::features::lexical::{parts, stems_of_name, words};
use crate::context::features::token::{Quick, QuickSet, Token, token};
use crate::domain::{EntityKind, Message, Timestamp, UserId};
use crate::trigger::Languages;

/// People whose mention counts, in the order of their appearance.
const MAX_MENTIONS: usize = 6;
/// Bytes of a text that are searched for names.
const NAMES_WITHIN: usize = 600;
/// Shorter words are too common to be names or to tell anything.
const MIN_NAME_CHARS: usize = 3;

/// A message as the scorer sees it, from the message alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Speech {
    pub at: Timestamp,
    pub author: UserId,
    /// Whom Telegram itself says it mentions.
    pub mentioned: Box<[UserId]>,
    /// The word at its start that a colon or comma follows: perhaps whom it is addressed to.
    pub lead: Option<Token>,
    /// Words that may be names, in order.
    pub named: Box<[Token]>,
    /// What its author is called: first name and username, and the stems of the words of both.
    pub author_names: Box<[Token]>,
    pub author_stems: Box<[Token]>,
    pub is_question: bool,
    pub chars: usize,
}

/// Whom a message speaks to, among people who have spoken before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heard {
    /// Whom it names, its author left out.
    pub mentions: Vec<UserId>,
    /// Whom it is addressed to at its start.
    pub first: Option<UserId>,
}

/// How the people are called who have spoken.
#[derive(Debug, Default)]
pub struct Names {
    /// None where several share a name.
    bearers: Quick<Token, Option<UserId>>,
    stems: QuickSet<Token>,
}

impl Names {
    /// Of everybody who says something in `speeches`.
    pub fn of<'a>(speeches: impl Iterator<Item = &'a Speech>) -> Self {
        let mut names = Self::default();
        for speech in speeches {
            for name in &*speech.author_names {
                let bearer = names.bearers.entry(*name).or_insert(Some(speech.author));
                *bearer = bearer.filter(|known| *known == speech.author);
            }
            names.stems.extend(&speech.author_stems);
        }
        names
    }

    /// Whether a stem is of somebody's name.
    pub fn has(&self, stem: Token) -> bool {
        self.stems.contains(&stem)
    }

    /// Whom `speech` speaks to: by Telegram's own entities first, then at its start, then by name.
    pub fn heard(&self, speech: &Speech) -> Heard {
        let other = |id: &UserId| *id != speech.author;
        let bearer = |name: &Token| self.bearers.get(name).copied().flatten();
        let first = speech.lead.as_ref().and_then(bearer).filter(other);
        let mut mentions = Vec::new();
        let all = speech.mentioned.iter().copied().chain(first).chain(speech.named.iter().filter_map(bearer));
        for id in all.filter(other) {
            if !mentions.contains(&id) && mentions.len() < MAX_MENTIONS {
                mentions.push(id);
            }
        }
        Heard { mentions, first }
    }
}

/// Who speaks to whom in some messages.
#[derive(Debug)]
pub struct Hearing {
    pub names: Names,
    /// Of each.
    pub heard: Vec<Heard>,
}

impl Hearing {
    pub fn of<'a>(speeches: impl Iterator<Item = &'a Speech> + Clone) -> Self {
        let names = Names::of(speeches.clone());
        Self { heard: speeches.map(|speech| names.heard(speech)).collect(), names }
    }
}

impl Speech {
    /// What it takes in memory beside itself.
    pub fn bytes(&self) -> usize {
        let tokens = self.named.len() + self.author_names.len() + self.author_stems.len();
        tokens * size_of::<Token>() + size_of_val(&*self.mentioned)
    }

    /// Reads `message`, `text` being its words without the bot's own name.
    pub fn read(message: &Message, text: &str) -> Self {
        let head = text.get(..text.floor_char_boundary(NAMES_WITHIN)).unwrap_or(text);
        let (name, username) = (message.sender.name.as_str(), message.sender.username.as_deref());
        let lead = text.split_once([':', ',']).map(|(lead, _)| lead.trim_start_matches('@'));
        Self {
            at: message.sent_at,
            author: message.sender.id,
            mentioned: message.entities.iter().filter_map(|entity| mentioned(&entity.kind)).collect(),
            lead: lead.and_then(name_token),
            named: words(head).flat_map(|word| parts(word).chain([word])).filter_map(name_token).collect(),
            author_names: words(name).next().into_iter().chain(username).filter_map(name_token).collect(),
            author_stems: [Some(name), username].into_iter().flatten().flat_map(stems_of_name).collect(),
            is_question: Languages::shipped().is_question(text),
            chars: text.chars().count(),
        }
    }
}

fn mentioned(kind: &EntityKind) -> Option<UserId> {
    match kind {
        EntityKind::TextMention { user } => Some(user.id),
        _ => None,
    }
}

/// A word that may be a name: long enough, and no stop word of the language that nicknames are made of.
fn name_token(word: &str) -> Option<Token> {
    let lower = word.to_lowercase();
    let is_name = lower.chars().count() >= MIN_NAME_CHARS && !Languages::shipped().is_english_stop_word(&lower);
    is_name.then(|| token(&lower))
}

/// A vector of unit length; empty where the embedding model does not know the text.
pub type Vector = [f32];

/// A message in its place.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    pub speech: &'a Speech,
    /// Ascending, each once.
    pub stems: &'a [Token],
    pub vector: &'a Vector,
}
