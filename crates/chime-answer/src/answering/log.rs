//! Log events about an answer: ids, counts and durations, in one span per trigger. They never contain text that a
//! person wrote.

use std::time::Duration;

use tracing::Span;
use tracing::field::{Empty, display};

use crate::citations::Checked;
use crate::grounding::NoSource;
use crate::tools::LookupTool;
use chime_access::gateway::AskError;
use chime_access::gateway::ask::UsageRecord;
use chime_core::{AnswerId, AnswerRecord, AnswerStatus, Chosen, MessageAt, Part, ReplyTarget, StoredMessage, TokenUse};
use chime_llm::Completion;
use chime_relevance::context::ContextWindow;

/// Returns the span for all work on one trigger.
pub fn trigger_span(at: MessageAt) -> Span {
    tracing::info_span!(
        "trigger",
        chat.id = at.chat.0,
        forum_topic.id = Empty,
        message.id = at.message.0,
        answer.id = Empty,
    )
}

/// Returns the span for the delivery of one reply. [`reply_to`] records its ids once they are known.
pub fn reply_span() -> Span {
    tracing::info_span!("reply", chat.id = Empty, forum_topic.id = Empty, message.id = Empty, answer.id = Empty)
}

/// Records the ids of the reply in the current span. `message.id` is the trigger's.
pub fn reply_to(target: ReplyTarget, answer: Option<AnswerId>) {
    let span = Span::current();
    span.record("chat.id", target.chat.0);
    span.record("forum_topic.id", target.forum_topic.map(|id| id.0));
    span.record("message.id", target.reply_to.map(|id| id.0));
    span.record("answer.id", answer.map(display));
}

/// Logs that a trigger was received and its window was chosen, with the ids and scores of the messages.
pub fn found(trigger: &StoredMessage, window: &ContextWindow, took: Duration) {
    Span::current().record("forum_topic.id", trigger.message.forum_topic.map(|id| id.0));
    tracing::debug!(r#type = "message_received", "chat.event");
    tracing::debug!(phase = "context", ms = millis(took), "chat.metrics");
    let chosen = window.chosen();
    let ids: Vec<i64> = chosen.iter().map(|chosen| chosen.id.0).collect();
    let scores: Vec<f64> = chosen.iter().map(|chosen| (chosen.score * 100.0).round() / 100.0).collect();
    tracing::debug!(?ids, ?scores, "chat.retrieval");
}

/// Logs a call of the model: duration and tokens, or the error.
pub fn asked(answered: &Result<(Completion, UsageRecord), AskError>, took: Duration) {
    let ms = millis(took);
    match answered {
        Ok((Completion { model, tokens: TokenUse { prompt, completion }, first_word, reused, .. }, _)) => {
            tracing::debug!(
                phase = "model", ms, model.name = %model, tokens.prompt = prompt, tokens.completion = completion,
                tokens.reused = reused, "chat.metrics",
            );
            tracing::debug!(count = reused.unwrap_or(0), "model.prompt_tokens_reused");
            if let Some(first_word) = first_word {
                tracing::debug!(phase = "first_token", ms = millis(*first_word), "chat.metrics");
            }
        }
        Err(error) => {
            tracing::debug!(phase = "model", ms, "chat.metrics");
            tracing::warn!(error_type = error.kind(), %error, "chat.error: the model did not answer");
        }
    }
}

pub fn no_source(reason: NoSource) {
    tracing::info!(reason = reason.as_str(), "chat.guard");
}

/// Logs that the beginning of an answer was shown, `took` after the model was asked.
pub fn first_shown(took: Duration) {
    tracing::info!(phase = "first_shown", ms = millis(took), "chat.metrics");
}

/// Logs a tool call. `messages` counts the messages looked up for the answer so far.
pub fn looked_up(tool: &str, messages: usize) {
    // The name is not logged as it is: the model may invent a tool with any name, including members' words.
    let tool = LookupTool::parse(tool).map_or("?", LookupTool::as_str);
    tracing::info!(r#type = "looked_up", tool, messages, "chat.event");
}

pub fn unusable() {
    tracing::warn!(error_type = "unusable_answer", "chat.error: the model's answer cannot be shown");
}

pub fn made_up() {
    tracing::info!(r#type = "made_up_number", "chat.event: the model gives another number each time");
}

pub fn unsupported() {
    tracing::info!(r#type = "unsupported_answer", "chat.event: no message supports the answer of a very small model");
}

pub fn citations(checked: &Checked) {
    let Checked { generated, valid, removed, unfounded, .. } = checked;
    let (generated_ids, valid_ids, removed) = (ids_only(generated), ids_only(valid), ids_only(removed));
    tracing::debug!(?generated_ids, ?valid_ids, ?removed, "chat.citations");
    tracing::debug!(count = *unfounded as u64, "answer.unfounded");
}

/// Logs the number of cited messages that were in the window but not chosen for the focus.
pub fn cited_outside_focus(record: &AnswerRecord) {
    let is_cited = |chosen: &&Chosen| record.sources.iter().any(|source| source.id == format!("m{}", chosen.seq));
    let surroundings = record.window.iter().filter(|chosen| chosen.reason.part() == Part::Surroundings);
    let count = surroundings.filter(is_cited).count() as u64;
    if count > 0 {
        tracing::debug!(count, "context.cited_outside_focus");
    }
}

/// Replaces everything that does not have the form of a source id by `?`: a model may cite any word, including members'
/// words.
pub fn ids_only<S: AsRef<str>>(cited: impl IntoIterator<Item = S>) -> Vec<String> {
    let is_id = |word: &str| {
        let digits = word.trim_start_matches(|c: char| c.is_ascii_lowercase());
        word.len() == digits.len() + 1 && digits.len() < 10 && digits.bytes().all(|b| b.is_ascii_digit())
    };
    cited.into_iter().map(|word| if is_id(word.as_ref()) { word.as_ref() } else { "?" }.to_owned()).collect()
}

/// Logs the only line at level `info` about an answer. Called once it is stored.
pub fn ready(trigger: MessageAt, record: &AnswerRecord) {
    let count = |part| record.window.iter().filter(|chosen| chosen.reason.part() == part).count();
    let (focus, around) = (count(Part::Focus), count(Part::Surroundings));
    let (TokenUse { prompt, completion }, took) = (record.tokens, record.latency_ms);
    let verb = match record.status {
        AnswerStatus::Answered => "answered",
        AnswerStatus::Offline => "gave a digest for",
        AnswerStatus::Apologised => "apologised for",
        AnswerStatus::MadeUp => "left out the answer to",
    };
    tracing::info!(
        status = record.status.as_str(), messages.focus = focus, messages.around = around, sources = record.sources.len(),
        tokens.prompt = prompt, tokens.completion = completion, latency_ms = took, model.name = %record.model,
        "{verb} #{} in {}: {focus}+{around} messages, {prompt}+{completion} tokens, {took} ms",
        trigger.message, trigger.chat,
    );
    vectors_used(record);
}

/// Logs how many recalled sources the embeddings found, and how far these are from the question in total.
fn vectors_used(record: &AnswerRecord) {
    if record.status != AnswerStatus::Answered {
        return;
    }
    let retrieved = record.slots.iter().flat_map(|slot| &slot.found).map(|found| found.retrieved);
    let cosines: Vec<f64> =
        retrieved.map(|retrieved| retrieved.vector.max(retrieved.summary)).filter(|cosine| *cosine > 0.0).collect();
    let distance: f64 = cosines.iter().map(|cosine| 1.0 - cosine).sum();
    let how = if cosines.is_empty() { "unused" } else { "used" };
    tracing::debug!(r#type = how, count = cosines.len() as u64, distance, "recall.vectors");
}

pub fn sent(took: Duration) {
    tracing::debug!(phase = "send", ms = millis(took), "chat.metrics");
    tracing::debug!(r#type = "reply_sent", "chat.event");
}

pub fn undeliverable(why: &str) {
    tracing::error!(error_type = "undeliverable", error = why, "chat.error: a reply could not be delivered");
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
