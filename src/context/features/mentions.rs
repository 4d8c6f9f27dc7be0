//! What is read off one message: who is spoken to, which words it has, what kind of utterance it is.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::context::features::token::{Quick, Token, token};
use crate::domain::{EntityKind, Message, Timestamp, UserId};

/// People whose mention counts, in the order of their appearance.
const MAX_MENTIONS: usize = 6;
/// Characters of a text that are searched for names.
const NAMES_WITHIN: usize = 600;
/// Characters of a text whose words count.
const WORDS_WITHIN: usize = 1500;
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
    /// What its author is called: name and username.
    pub author_names: Box<[Token]>,
    /// The author's first name, where there is a second.
    pub author_first_name: Option<Token>,
    pub is_question: bool,
    pub is_greeting: bool,
    pub is_thanks: bool,
    pub is_yes: bool,
    pub chars: usize,
    /// Words with how often they occur, stop words left out.
    pub words: Box<[(Token, u32)]>,
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
}

static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[^\W_]+(?:[._+\-'’][^\W_]+)*"));
static NAME_LIKE: LazyLock<Regex> = LazyLock::new(|| pattern(r#"[^\s:,;!?()<>"']+"#));
static LETTERS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\p{L}{3,}"));
static LEAD: LazyLock<Regex> = LazyLock::new(|| pattern(r"^@?([^\s:,]+)[:,]"));
static QUESTION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)[?？]|^(how|what|why|where|when|who|which|can|does|is|are|do|any(one|body))\b"));
static GREETING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(hi|hello|hey|yo|morning|good (morning|evening|day)|greetings|howdy|sup)\b"));
static THANKS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(thanks|thank you|thx|ty|cheers|np|no problem|welcome|works now|got it|makes sense)\b")
});
static YES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^(\S+[:,]\s*)?(yes|no|yep|yeah|nope|ok|okay|right|sure|exactly|indeed|hm+|oh|ah|lol)\b")
});

/// Words that tell nothing about what a text is about.
const STOP_WORDS: &str = "a an the i you he she it we they me my your is are was were be been am do does did have has had \
    will would can could should to of in on at for with and or but if so not no yes that this these those there here what \
    which who how when where why as by from up out just then than too very ok okay oh hi hello hey thanks thank lol im its \
    dont u ur it's i'm don't that's";

static STOP: LazyLock<HashSet<&'static str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());

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
            if let Some(first) = speech.author_first_name {
                let bearer = names.first.entry(first).or_insert(Some(speech.author));
                if *bearer != Some(speech.author) {
                    *bearer = None;
                }
            }
        }
        names
    }

    pub fn has(&self, word: Token) -> bool {
        self.full.contains_key(&word)
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

    /// Whom each names.
    pub fn mentions(self) -> Vec<Vec<UserId>> {
        self.heard.into_iter().map(|heard| heard.mentions).collect()
    }
}

impl Speech {
    /// What it takes in memory beside itself.
    pub fn bytes(&self) -> usize {
        let tokens = self.named.len() + self.capitalised.len() + self.author_names.len();
        tokens * size_of::<Token>() + size_of_val(&*self.mentioned) + size_of_val(&*self.words)
    }

    /// Reads `message`, `text` being its words without the bot's own name.
    pub fn read(message: &Message, text: &str) -> Self {
        let head = clipped(text, NAMES_WITHIN);
        let name = message.sender.name.as_str();
        Self {
            at: message.sent_at,
            author: message.sender.id,
            mentioned: message.entities.iter().filter_map(|entity| mentioned(&entity.kind)).collect(),
            lead: LEAD.captures(text).and_then(|found| found.get(1)).and_then(|word| name_token(word.as_str())),
            named: NAME_LIKE.find_iter(head).filter_map(|word| name_token(word.as_str())).collect(),
            capitalised: LETTERS.find_iter(head).filter_map(|word| first_name_token(word.as_str())).collect(),
            author_names: [Some(name), message.sender.username.as_deref()]
                .into_iter()
                .flatten()
                .filter_map(name_token)
                .collect(),
            author_first_name: name.split_once(' ').and_then(|(first, _)| first_name_token(first)),
            is_question: QUESTION.is_match(text),
            is_greeting: GREETING.is_match(text),
            is_thanks: THANKS.is_match(text),
            is_yes: YES.is_match(text),
            chars: text.chars().count(),
            words: words(text).into(),
        }
    }
}

fn mentioned(kind: &EntityKind) -> Option<UserId> {
    match kind {
        EntityKind::TextMention { user } => Some(user.id),
        _ => None,
    }
}

/// A word that may be a name: long enough, and no stop word.
fn name_token(word: &str) -> Option<Token> {
    let lower = word.trim_start_matches('@').trim_end_matches('.').to_lowercase();
    let is_name = lower.chars().count() >= MIN_NAME_CHARS && !STOP.contains(lower.as_str());
    is_name.then(|| token(&lower))
}

fn first_name_token(word: &str) -> Option<Token> {
    let is_name = word.chars().count() >= MIN_NAME_CHARS && word.chars().next().is_some_and(char::is_uppercase);
    is_name.then(|| token(word))
}

/// The words that tell something, with how often they occur.
fn words(text: &str) -> Vec<(Token, u32)> {
    let mut counted: Vec<(Token, u32)> = Vec::new();
    for word in WORD.find_iter(clipped(text, WORDS_WITHIN)) {
        let word = word.as_str().to_lowercase();
        if word.chars().count() > 1 && !STOP.contains(word.as_str()) {
            let token = token(&word);
            match counted.iter_mut().find(|(known, _)| *known == token) {
                Some((_, times)) => *times += 1,
                None => counted.push((token, 1)),
            }
        }
    }
    counted
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
    pub vector: &'a Vector,
}

impl<'a> Turn<'a> {
    pub fn new(speech: &'a Speech, vector: &'a [f32]) -> Self {
        Self { speech, vector }
    }
}
