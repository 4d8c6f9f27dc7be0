//! What is read off one message: who is spoken to, and what kind of utterance it is.

use std::sync::LazyLock;

use regex::Regex;

use crate::context::features::lexical::stems_of_name;
use crate::context::features::token::{Quick, QuickSet, Token, token};
use crate::domain::{EntityKind, Message, Timestamp, UserId};
use crate::trigger::Languages;

/// People whose mention counts, in the order of their appearance.
const MAX_MENTIONS: usize = 6;
/// Characters of a text that are searched for names.
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
    /// Capitalised words that may be first names, in order.
    pub capitalised: Box<[Token]>,
    /// What its author is called: name and username, and the stems of their words.
    pub author_names: Box<[Token]>,
    pub author_stems: Box<[Token]>,
    /// The author's first name, where there is a second.
    pub author_first_name: Option<Token>,
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
    full: Quick<Token, UserId>,
    /// None where several share the first name.
    first: Quick<Token, Option<UserId>>,
    stems: QuickSet<Token>,
}

static NAME_LIKE: LazyLock<Regex> = LazyLock::new(|| pattern(r#"[^\s:,;!?()<>"']+"#));
static LETTERS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\p{L}{3,}"));
static LEAD: LazyLock<Regex> = LazyLock::new(|| pattern(r"^@?([^\s:,]+)[:,]"));
#[expect(clippy::expect_used, reason = "the patterns are constants, and a test reads a message with each")]
fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a constant pattern")
}

impl Names {
    /// Of everybody who says something in `speeches`.
    pub fn of<'a>(speeches: impl Iterator<Item = &'a Speech>) -> Self {
        let mut names = Self::default();
        for speech in speeches {
            for name in &*speech.author_names {
                names.full.insert(*name, speech.author);
            }
            names.stems.extend(&speech.author_stems);
            if let Some(first) = speech.author_first_name {
                let bearer = names.first.entry(first).or_insert(Some(speech.author));
                if *bearer != Some(speech.author) {
                    *bearer = None;
                }
            }
        }
        names
    }

    /// Whether a stem is of somebody's name.
    pub fn has(&self, stem: Token) -> bool {
        self.stems.contains(&stem)
    }

    /// Whom `speech` speaks to: by Telegram's own entities first, then at its start, by name, by first name.
    pub fn heard(&self, speech: &Speech) -> Heard {
        let other = |id: &UserId| *id != speech.author;
        let first = speech.lead.and_then(|lead| self.full.get(&lead).copied()).filter(other);
        let by_name = speech.named.iter().filter_map(|word| self.full.get(word).copied());
        let by_first_name = speech.capitalised.iter().filter_map(|word| self.first.get(word).copied().flatten());
        let mut mentions = Vec::new();
        let all = speech.mentioned.iter().copied().chain(first).chain(by_name).chain(by_first_name);
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
        let of_author = self.author_names.len() + self.author_stems.len();
        let tokens = self.named.len() + self.capitalised.len() + of_author;
        tokens * size_of::<Token>() + size_of_val(&*self.mentioned)
    }

    /// Reads `message`, `text` being its words without the bot's own name.
    pub fn read(message: &Message, text: &str) -> Self {
        let head = clipped(text, NAMES_WITHIN);
        let name = message.sender.name.as_str();
        let called = || [Some(name), message.sender.username.as_deref()].into_iter().flatten();
        Self {
            at: message.sent_at,
            author: message.sender.id,
            mentioned: message.entities.iter().filter_map(|entity| mentioned(&entity.kind)).collect(),
            lead: LEAD.captures(text).and_then(|found| found.get(1)).and_then(|word| name_token(word.as_str())),
            named: NAME_LIKE.find_iter(head).filter_map(|word| name_token(word.as_str())).collect(),
            capitalised: LETTERS.find_iter(head).filter_map(|word| first_name_token(word.as_str())).collect(),
            author_names: called().filter_map(name_token).collect(),
            author_stems: called().flat_map(stems_of_name).collect(),
            author_first_name: name.split_once(' ').and_then(|(first, _)| first_name_token(first)),
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
    let lower = word.trim_start_matches('@').trim_end_matches('.').to_lowercase();
    let is_name = lower.chars().count() >= MIN_NAME_CHARS && !Languages::shipped().is_english_stop_word(&lower);
    is_name.then(|| token(&lower))
}

fn first_name_token(word: &str) -> Option<Token> {
    let is_name = word.chars().count() >= MIN_NAME_CHARS && word.chars().next().is_some_and(char::is_uppercase);
    is_name.then(|| token(word))
}

/// At most `chars` characters of `text`.
fn clipped(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
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
