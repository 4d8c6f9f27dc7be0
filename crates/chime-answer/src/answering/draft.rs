//! Text of an answer before its citations are checked, written by a model or by the program.

use crate::answer_steps::{Blame, ModelFailure};
use crate::answering::question::QuestionContext;
use crate::answering::reply::{format_own, format_parts};
use crate::code_blocks::closed;
use crate::extractive_ranking::{Query, is_unclear};
use crate::followup::show;
use crate::{digest, wording};
use chime_access::gateway::AskError;
use chime_access::gateway::ask::UsageRecord;
use chime_core::texts::{Texts, notices, texts};
use chime_core::trigger::asks_about_bot;
use chime_core::{AnswerStatus, ChatKind, FollowUp, FormattedText, Intent, Message, Reset, TokenUse, Uncertainty};
use chime_llm::{Check, Completion, LlmError};
use chime_relevance::context::ContextWindow;
use chime_relevance::retrieval::words::words;
use chime_relevance::retrieval::{ItemQuestion, item_question, item_subject};
use chime_store::Language;

pub struct Draft {
    pub status: AnswerStatus,
    pub markdown: String,
    pub model: String,
    pub tokens: TokenUse,
    /// Usage record of the call, if a model was asked.
    pub bill: Option<UsageRecord>,
    pub uncertainty: Option<Uncertainty>,
    pub guard_used: bool,
    /// `true` for a help text: it contains commands to tap, and no text of members.
    pub is_help: bool,
}

impl Draft {
    /// Returns a draft that no model wrote.
    fn own(status: AnswerStatus, markdown: String) -> Self {
        Self {
            status,
            markdown,
            model: "none".to_owned(),
            tokens: TokenUse::default(),
            bill: None,
            uncertainty: None,
            guard_used: false,
            is_help: false,
        }
    }

    /// Formats `text` as the parts of a reply. `text` is the draft's Markdown after its citations were checked.
    pub fn parts(&self, text: &str, urls: &[&str], names: &[&str]) -> Vec<FormattedText> {
        if self.is_help { format_own(text) } else { format_parts(text, urls, names) }
    }

    /// Returns `true` if the draft could have used the pages and documents that were read for the question: a model
    /// wrote it, or it is the answer of a bot without a model.
    pub fn may_use_material(&self) -> bool {
        self.is_of_a_model() || self.status == AnswerStatus::Offline
    }

    /// Returns `true` if a model wrote the draft.
    pub fn is_of_a_model(&self) -> bool {
        self.status == AnswerStatus::Answered && self.bill.is_some()
    }
}

pub fn failure_of(error: &AskError) -> ModelFailure {
    match error {
        AskError::TooLong => ModelFailure::PromptTooLong,
        AskError::Final(LlmError::Empty | LlmError::Noise | LlmError::OnlyThoughts) => ModelFailure::Unusable,
        AskError::BreakerOpen { refusal: Some(check), .. } => ModelFailure::Final(blame_of_refusal(*check)),
        AskError::Offline
        | AskError::OverBudget(_)
        | AskError::BreakerOpen { refusal: None, .. }
        | AskError::GaveWay { .. }
        | AskError::RetryLater(_)
        | AskError::Store(_) => ModelFailure::Final(Blame::Passing),
        AskError::Final(error) => ModelFailure::Final(blame_of(error)),
    }
}

/// Returns the cause of `error` for the apology; [`Blame::Passing`] if asking again may help.
pub fn blame_of(error: &LlmError) -> Blame {
    match error {
        LlmError::Refused { check, .. } => blame_of_refusal(*check),
        LlmError::Filtered | LlmError::Empty | LlmError::Noise | LlmError::OnlyThoughts | LlmError::NoRoom => {
            Blame::NoAnswer
        }
        LlmError::PromptTooLong => Blame::TooLong,
        LlmError::Throttled { .. }
        | LlmError::Malformed { .. }
        | LlmError::Unreachable(_)
        | LlmError::Unavailable { .. }
        | LlmError::TimedOut
        | LlmError::BrokeOff
        | LlmError::NotConfigured(_) => Blame::Passing,
    }
}

fn blame_of_refusal(check: Check) -> Blame {
    match check {
        Check::Key => Blame::Key,
        Check::Model => Blame::Model,
        Check::Credit | Check::Access | Check::Address | Check::EveryRequest => Blame::Refusal,
        // Asking the same question again fails again, but another question may succeed.
        Check::Request => Blame::NoAnswer,
    }
}

/// Returns the draft of a model's answer. `text` is the part of the completion that may be shown.
pub fn answered(
    completion: Completion,
    text: String,
    uncertainty: Option<Uncertainty>,
    bill: UsageRecord,
    language: Language,
) -> Draft {
    let cut = &texts(language.code()).digest.cut;
    let markdown = if completion.truncated { format!("{}\n\n{cut}", closed(&format!("{text} …"))) } else { text };
    Draft {
        model: completion.model,
        tokens: completion.tokens,
        bill: Some(bill),
        uncertainty,
        ..Draft::own(AnswerStatus::Answered, markdown)
    }
}

/// Returns the answer if no model is configured: the relevant messages and the resolved follow-up, or a help text if
/// the member greets the bot or asks about it.
pub fn without_model(question: &QuestionContext, query: Query<'_>) -> Draft {
    let language = question.notice_language();
    // In a reply, the words are about the replied-to message and not about the bot.
    let is_reply = question.trigger().message.reply_to.is_some();
    let met = asks_about_bot(query.ask);
    if !met.is_empty() && !is_reply {
        // One word such as "hola" is too short to detect its language otherwise. Others, such as "ciao", are used in
        // several languages.
        let language = match met[..] {
            [only] if question.chat.chosen_language.is_none() => Language::from_code(only),
            _ => language,
        };
        return introduced(query.bot.username(), question.chat.chat.kind == ChatKind::Private, language);
    }
    let (texts, earliest) = (texts(language.code()), question.earliest.map(|at| (at, question.zone)));
    let piece = question.material().next().or_else(|| question.notes().next());
    let (mut window, mut follow_up) = (question.window.clone(), question.follow_up.clone());
    if let Some(last) = question.going_on.before_new_search(&follow_up) {
        window.entries.retain(|entry| entry.message.seq > last);
    }
    let is_unclear = piece.is_none() && is_unclear(&window, query);
    let found = question.going_on.without_model(&question.follow_up, is_unclear);
    // "Which one is Ben bringing?" is about what Ben said.
    let found = found.filter(|found| found.and_after.is_none() || !names_author(&window, query.ask));
    let is_unfit = found.as_ref().is_some_and(|found| found.none_fits);
    let list = found.map(|found| {
        // What is shown is not left out.
        follow_up.excluded.clear();
        let after = found.and_after.map(|last| digest::after(&window, last, query.bot, texts)).unwrap_or_default();
        format!("{}\n{after}", show::item_list(&found.items)).trim_end().to_owned()
    });
    let subject = item_subject(query.ask, question.chat.language).unwrap_or_default();
    let asks_own = item_question(query.ask, question.chat.language) == Some(ItemQuestion::OwnOpen);
    let digest = match digest::items(&question.enrichment, &subject, &window, query).or(list) {
        Some(items) if is_unfit => {
            format!("{}\n\n{}\n\n{items}", texts.digest.messages, texts.follow_up.none_fits)
        }
        Some(items) => format!("{}\n\n{items}", texts.digest.messages),
        None if asks_own && !digest::has_items(&question.enrichment) => {
            let asker = words(&question.trigger().message.sender.name);
            window.entries.retain(|entry| words(&entry.message.message.text).iter().any(|word| asker.contains(word)));
            digest::no_own_task(&window, query, texts)
        }
        None => digest::digest(&window, query, earliest, piece, texts),
    };
    let FollowUp { frame, reset, .. } = &follow_up;
    let is_plain = frame.intent == Intent::Ask && question.going_on.reading.unknown == 0;
    let markdown = match show::why(&follow_up, texts) {
        Some(worked_out) if is_plain && *reset == Some(Reset::StartOver) => worked_out,
        Some(worked_out) => format!("{worked_out}\n\n{digest}"),
        None => digest,
    };
    Draft { model: "offline".to_owned(), ..Draft::own(AnswerStatus::Offline, markdown) }
}

/// Returns `true` if a question has the name of a member who wrote one of the messages.
fn names_author(window: &ContextWindow, ask: &str) -> bool {
    let asked = words(ask);
    let is_named = |message: &Message| words(&message.sender.name).iter().any(|name| asked.contains(name));
    window.entries.iter().map(|entry| &entry.message.message).any(is_named)
}

fn introduced(username: &str, is_private: bool, language: Language) -> Draft {
    let markdown = wording::help(username, is_private, texts(language.code()));
    Draft { model: "offline".to_owned(), is_help: true, ..Draft::own(AnswerStatus::Offline, markdown) }
}

pub fn clarifying(question: String) -> Draft {
    Draft::own(AnswerStatus::Answered, question)
}

/// Returns the reply in a strict chat if no source is relevant enough.
pub fn no_source(language: Language) -> Draft {
    let markdown = notices(language.code()).guard.clone();
    Draft { guard_used: true, ..Draft::own(AnswerStatus::Answered, markdown) }
}

/// Returns the reply sent instead of an answer that no message supports: the messages that may help.
pub fn made_up(window: &ContextWindow, query: Query<'_>, language: Language) -> Draft {
    let texts = texts(language.code());
    Draft::own(AnswerStatus::MadeUp, wording::apology_for_good(window, query, &texts.made_up, texts))
}

pub fn apology(window: &ContextWindow, query: Query<'_>, language: Language, blame: Blame) -> Draft {
    let texts = texts(language.code());
    let markdown = match lasting(blame, texts) {
        Some(reason) => wording::apology_for_good(window, query, reason, texts),
        None => wording::apology(window, query, texts),
    };
    Draft::own(AnswerStatus::Apologised, markdown)
}

/// Returns the reason that the apology gives if asking again does not help; `None` if it may help.
fn lasting(blame: Blame, texts: &Texts) -> Option<&str> {
    match blame {
        Blame::Passing => None,
        Blame::NoAnswer => Some(&texts.no_answer),
        Blame::TooLong => Some(&texts.too_long),
        Blame::Key => Some(&texts.wrong_key),
        Blame::Model => Some(&texts.wrong_model),
        Blame::Refusal => Some(&texts.refused_for_good),
    }
}
