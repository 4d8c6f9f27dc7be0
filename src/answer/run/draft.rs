//! What is to be told, before its citations are checked.

use crate::answer::job::Failure;
use crate::answer::notices::notices;
use crate::answer::{digest, wording};
use crate::context::ContextWindow;
use crate::domain::{AnswerStatus, Timestamp, TokenUse};
use crate::llm::{Completion, LlmError, Recovery};
use crate::store::Language;

/// An answer before it is checked, formatted and stored.
pub struct Draft {
    pub status: AnswerStatus,
    pub markdown: String,
    pub model: String,
    pub tokens: TokenUse,
    /// How many tokens we took the prompt for, and how many the server counted, where it did.
    pub counted: Option<(usize, u64)>,
}

pub fn failure_of(error: &LlmError) -> Failure {
    match error.recovery() {
        Recovery::ShrinkPrompt => Failure::PromptTooLong,
        Recovery::RetryLater(_) | Recovery::GiveUp => Failure::Final,
    }
}

/// `estimated` is what we took the prompt for, in tokens.
pub fn answered(completion: Completion, estimated: usize) -> Draft {
    Draft {
        status: AnswerStatus::Answered,
        markdown: completion.text,
        model: completion.model,
        tokens: completion.tokens,
        counted: completion.tokens_counted.then_some((estimated, completion.tokens.prompt)),
    }
}

pub fn offline(window: &ContextWindow, earliest: Option<Timestamp>) -> Draft {
    Draft {
        status: AnswerStatus::Offline,
        markdown: digest::digest(window, earliest),
        model: "offline".to_owned(),
        tokens: TokenUse::default(),
        counted: None,
    }
}

pub fn apology(window: &ContextWindow, language: Language) -> Draft {
    Draft {
        status: AnswerStatus::Apologised,
        markdown: wording::apology(window, notices(language.code())),
        model: "none".to_owned(),
        tokens: TokenUse::default(),
        counted: None,
    }
}
