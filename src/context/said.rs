//! The focus of an ask that names a time or a member and nothing else ("what was said on monday?", "what did Zoe say?"): what was
//! said then, or by them. The picker has nothing to go by there, since who or what is named is as a rule what is talked about.

use std::collections::HashSet;

use crate::domain::{Chosen, Language, Message, Reason, Role, StoredMessage};
use crate::retrieval::{Asked, Person, Question, Span};

/// How likely each of the messages is meant.
const SCORE: f64 = 0.9;
/// Of a member alone, what they said last.
const NEWEST_OF_MEMBERS: usize = 12;

/// The messages of `recent`, oldest first, that `ask` wants: sent in a time that it names, by the members whom it names. None where
/// it asks for something else or nothing of that is there. `utc_offset`: seconds that the chat's clock is ahead of UTC.
pub fn said(
    (trigger, ask): (&StoredMessage, &str),
    (language, utc_offset): (Language, i32),
    recent: &[StoredMessage],
) -> Option<Vec<Chosen>> {
    let question = read(trigger, ask, (language, utc_offset), recent);
    // "^ what I asked" is about what was asked, which the picker finds.
    let names_another = question.named.iter().any(|id| *id != trigger.message.sender.id);
    let names_any = names_another || !question.spans.is_empty();
    if !question.asks_talk || !names_any || trigger.message.reply_to.is_some() {
        return None;
    }
    let newest = if question.spans.is_empty() { NEWEST_OF_MEMBERS } else { usize::MAX };
    let meant = recent.iter().rev().filter(|stored| is_wanted(&question, &stored.message)).take(newest);
    let chosen =
        |stored: &StoredMessage| Chosen { seq: stored.seq, id: stored.message.id, reason: Reason::Named, score: SCORE };
    let mut said: Vec<Chosen> = meant.map(chosen).collect();
    said.reverse();
    (!said.is_empty()).then_some(said)
}

/// The ask, with everybody who wrote lately as members whom it may name.
fn read(
    trigger: &StoredMessage,
    ask: &str,
    (language, utc_offset): (Language, i32),
    recent: &[StoredMessage],
) -> Question {
    let mut seen = HashSet::new();
    let people: Vec<Person<'_>> = (recent.iter().map(|stored| &stored.message.sender))
        .filter(|sender| seen.insert(sender.id))
        .map(|sender| Person { id: sender.id, name: &sender.name, username: sender.username.as_deref() })
        .collect();
    let (now, by) = (trigger.message.sent_at, Some(trigger.message.sender.id));
    Question::read(ask, &Asked { language, now, utc_offset, by, people: &people })
}

/// Whether a member said it at a time that the question names, and one whom it names; where it names no time or nobody, at any
/// or by any.
fn is_wanted(question: &Question, message: &Message) -> bool {
    let is_within = |span: &Span| (span.from..span.to).contains(&message.sent_at);
    let is_then = question.spans.is_empty() || question.spans.iter().any(is_within);
    let is_by = question.named.is_empty() || question.named.contains(&message.sender.id);
    message.role == Role::User && is_then && is_by
}
