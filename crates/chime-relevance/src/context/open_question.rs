//! Standalone question, whose answer may be anywhere in the conversation.

use crate::retrieval::{ParsedQuestion, QuestionFacts, Sought, TimeSpan};
use chime_core::{Language, Member, Seq, StoredMessage, Zone};

/// Maximum number of words of a question that are searched for. Each costs an index lookup.
const WORDS: usize = 16;

/// Search terms of a standalone question.
#[derive(Debug, Clone)]
pub struct OpenQuestion {
    words: Vec<String>,
    names: Vec<String>,
    /// Text without the names of the bot and of members.
    text: String,
    spans: Vec<TimeSpan>,
    /// Number of the trigger. Only messages before it are searched.
    before: Seq,
}

impl OpenQuestion {
    /// Builds the search terms from the question of `trigger`; `None` if the trigger is a reply or has no word to
    /// search for.
    pub fn of(trigger: &StoredMessage, question: ParsedQuestion) -> Option<Self> {
        let ParsedQuestion { mut words, names, bare: text, spans, .. } = question;
        words.retain(|word| !names.contains(word));
        words.truncate(WORDS);
        let is_open = !(words.is_empty() && names.is_empty()) && trigger.message.reply_to.is_none();
        is_open.then_some(Self { words, names, text, spans, before: trigger.seq })
    }

    pub fn sought(&self) -> Sought<'_> {
        Sought { words: &self.words, names: &self.names, text: &self.text, spans: &self.spans, before: self.before }
    }
}

/// Parses `ask`, the question of `trigger`, which may name any of `people`.
pub fn read(trigger: &StoredMessage, ask: &str, language: Language, zone: Zone, people: &[Member]) -> ParsedQuestion {
    let (now, by) = (trigger.message.sent_at, Some(trigger.message.sender.id));
    ParsedQuestion::read(ask, &QuestionFacts { language, now, zone, by, people })
}
