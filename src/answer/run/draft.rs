//! What is to be told, before its citations are checked.

use crate::answer::followup::show;
use crate::answer::job::Failure;
use crate::answer::notices::notices;
use crate::answer::telling::Query;
use crate::answer::{digest, wording};
use crate::context::ContextWindow;
use crate::domain::{AnswerStatus, FollowUp, Timestamp, TokenUse, Zone};
use crate::gateway::AskError;
use crate::gateway::run::Bill;
use crate::llm::Completion;
use crate::store::Language;

/// Below an answer that reached the limit of its length.
const CUT_NOTE: &str = "(The answer was cut short.)";

/// An answer before it is checked, formatted and stored.
pub struct Draft {
    pub status: AnswerStatus,
    pub markdown: String,
    pub model: String,
    pub tokens: TokenUse,
    /// What the call took, where a model was asked.
    pub bill: Option<Bill>,
}

pub fn failure_of(error: &AskError) -> Failure {
    match error {
        AskError::TooLong => Failure::PromptTooLong,
        AskError::Offline
        | AskError::OverBudget(_)
        | AskError::BreakerOpen { .. }
        | AskError::RetryLater(_)
        | AskError::Final(_)
        | AskError::Store(_) => Failure::Final,
    }
}

pub fn answered(completion: Completion, bill: Bill) -> Draft {
    Draft {
        status: AnswerStatus::Answered,
        markdown: if completion.truncated { format!("{} …\n\n{CUT_NOTE}", completion.text) } else { completion.text },
        model: completion.model,
        tokens: completion.tokens,
        bill: Some(bill),
    }
}

/// `follow_up` is what was worked out of the ask: without a model, that is shown.
pub fn offline(
    window: &ContextWindow,
    query: Query<'_>,
    earliest: Option<(Timestamp, Zone)>,
    follow_up: &FollowUp,
) -> Draft {
    let digest = digest::digest(window, query, earliest);
    let markdown = match show::why(follow_up) {
        Some(worked_out) => format!("{worked_out}\n\n{digest}"),
        None => digest,
    };
    Draft {
        status: AnswerStatus::Offline,
        markdown,
        model: "offline".to_owned(),
        tokens: TokenUse::default(),
        bill: None,
    }
}

/// A question back, which needs no model.
pub fn clarifying(question: String) -> Draft {
    Draft {
        status: AnswerStatus::Answered,
        markdown: question,
        model: "none".to_owned(),
        tokens: TokenUse::default(),
        bill: None,
    }
}

pub fn apology(window: &ContextWindow, query: Query<'_>, language: Language) -> Draft {
    Draft {
        status: AnswerStatus::Apologised,
        markdown: wording::apology(window, query, notices(language.code())),
        model: "none".to_owned(),
        tokens: TokenUse::default(),
        bill: None,
    }
}
