//! Loads the concepts in a conversation's scope before an answer and stores them with it. An error in either does not
//! stop the answer.

use crate::concepts::{in_scope, mentioned, merge};
use crate::tools::LookedUp;
use chime_core::{
    AnswerId, AnswerRecord, AnswerStatus, ChatId, Concept, ConceptId, ConversationContext, JobPayload, Timestamp,
};
use chime_store::concepts::{self, ContextKey};
use chime_store::{Reader, Writer, jobs, memory};

/// Concepts in the scope of a conversation, and all concepts that its chat knows.
#[derive(Debug)]
pub struct ConceptScope {
    pub key: ContextKey,
    pub context: ConversationContext,
    pub known: Vec<Concept>,
}

impl ConceptScope {
    /// Loads the concepts of the conversation; none after an error, or if memory is off by the operator (`remembers`) or
    /// in the chat.
    pub fn load(conn: &Reader, key: ContextKey, remembers: bool) -> Self {
        let load = || -> chime_store::Result<_> {
            if !remembers || memory::is_off(conn, key.chat)? {
                return Ok(Default::default());
            }
            Ok((concepts::load(conn, key)?.unwrap_or_default(), concepts::of_chat(conn, key.chat)?))
        };
        let (context, known) = load().unwrap_or_else(|error| {
            tracing::warn!(error_type = "concepts", %error, "chat.error: the concepts in scope could not be loaded");
            Default::default()
        });
        Self { key, context, known }
    }

    /// Returns one prompt line for each concept in scope.
    pub fn lines(&self) -> Vec<String> {
        in_scope(&self.context, &self.known)
    }

    /// Returns the known concepts that the answer mentions or that the model looked up for it.
    pub fn referenced(&self, record: &AnswerRecord, looked_up: &LookedUp) -> Vec<ConceptId> {
        let rendered = match record.status {
            AnswerStatus::Answered => looked_up.searched.iter().chain([&record.text]),
            AnswerStatus::Offline | AnswerStatus::Apologised | AnswerStatus::MadeUp => return Vec::new(),
        };
        let mut referenced = Vec::new();
        for id in rendered.flat_map(|text| mentioned(text, &self.known)) {
            if !referenced.contains(&id) {
                referenced.push(id);
            }
        }
        referenced
    }
}

/// Adds a job that extracts the concepts of a new answer with a model. Returns `false` if no model wrote the answer, or
/// if the job exists already.
pub fn capture_soon(tx: &Writer<'_>, record: &AnswerRecord, chat: ChatId) -> chime_store::Result<bool> {
    let job = JobPayload::Capture { chat, answer: record.id };
    Ok(concepts::is_unscanned(tx, record.id)? && jobs::add(tx, &job, record.created_at)?)
}

/// Stores the concepts that an answer referenced and adds them to the scope of its conversation. Errors are logged.
pub fn refer(tx: &Writer<'_>, key: ContextKey, answer: AnswerId, referenced: &[ConceptId], now: Timestamp) {
    if referenced.is_empty() {
        return;
    }
    let saved = chime_store::in_savepoint(tx, |tx| {
        concepts::note_referenced(tx, answer, referenced)?;
        let context = concepts::load(tx, key)?.unwrap_or_default();
        concepts::save(tx, key, &merge(&context, referenced), now)
    });
    if let Err(error) = saved {
        tracing::warn!(error_type = "concepts", %error, "chat.error: the concepts in scope could not be saved");
    }
}
