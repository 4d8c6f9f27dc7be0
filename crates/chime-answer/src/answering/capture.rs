//! Extracts concepts (named things) from answers with a model, in the background and only within the token budget.

use std::time::Duration;

use serde_json::Value;

use crate::answering::ask::new_fence;
use crate::answering::concepts::refer;
use crate::answering::services::Services;
use crate::concepts::{capture_schema, parse_captured, resolve};
use crate::grounding::without_sources;
use crate::sanitize::without_fence;
use chime_access::gateway::ask::ModelCall;
use chime_access::gateway::{AskError, ModelPreference, ModelPurpose};
use chime_core::config::Redaction;
use chime_core::prompts::CaptureValues;
use chime_core::{
    AnswerId, AnswerRecord, Captured, Concept, ConceptId, Conversation, Job, StoredMessage, Timestamp, UserId, clip,
};
use chime_jobs::{JobOutcome, JobResult};
use chime_llm::{AnswerFormat, Prompt, PromptMessage, PromptRole};
use chime_privacy::redact;
use chime_store::concepts::{self, ContextKey};
use chime_store::{Priority, Writer, answers, jobs, memory, messages};

/// Maximum age of answers that are scanned for concepts. After the database is rebuilt, the answers of this period are
/// scanned again.
const SINCE: Duration = Duration::from_hours(30 * 24);
/// Maximum number of answers scanned in one run.
const AT_ONCE: u32 = 20;
/// Maximum number of characters of the question, and of the answer, that the model gets.
const SOURCE_CHARS: usize = 2000;

/// Runs the recurring `concepts` job, which scans answers that were not scanned yet.
pub async fn capture_missed(services: &Services) -> JobResult {
    if !is_wanted(services).await {
        return Ok(JobOutcome::UntilNextRun);
    }
    let since = services.base.clock.now().minus(SINCE);
    for answer in services.base.store.read(move |conn| concepts::unscanned(conn, since, AT_ONCE)).await? {
        // The budget, the breaker or the server does not allow more calls now: the next run continues from here.
        if try_capture(services, answer).await?.is_some() {
            break;
        }
    }
    Ok(JobOutcome::UntilNextRun)
}

/// Runs a `capture` job, which scans one new answer. If the model cannot be asked now, the `concepts` job scans the
/// answer later.
pub async fn capture_new(services: &Services, job: &Job, answer: AnswerId) -> JobResult {
    if is_wanted(services).await
        && services.base.store.read(move |conn| concepts::is_unscanned(conn, answer)).await?
        && let Some(AskError::GaveWay { retry_after }) = try_capture(services, answer).await?
    {
        return Ok(JobOutcome::WaitUntil(services.base.clock.now().plus(retry_after)));
    }
    let (kind, key) = (job.kind(), job.key());
    services.base.store.write(Priority::Background, move |tx| jobs::finish(tx, kind, &key)).await?;
    Ok(JobOutcome::Finished)
}

/// Returns `true` if a model extracts concepts. A small one invents definitions, and its prompts show no concepts.
async fn is_wanted(services: &Services) -> bool {
    services.gateway.wait_for_facts().await;
    services.captures_concepts && !services.gateway.is_offline() && !services.gateway.is_small(ModelPurpose::Extract)
}

/// Extracts and stores the concepts of an answer. Returns the error if the model could not be asked and the answer
/// has to be scanned later.
async fn try_capture(services: &Services, answer: AnswerId) -> chime_store::Result<Option<AskError>> {
    match capture(services, answer).await {
        Ok(()) => {}
        Err(AskError::Store(error)) => return Err(error),
        Err(error @ (AskError::TooLong | AskError::Final(_))) => {
            tracing::warn!(error_type = error.kind(), %error, "chat.error: an answer has no concepts");
            services.base.store.write(Priority::Background, move |tx| concepts::mark_scanned(tx, answer)).await?;
        }
        Err(error) => {
            tracing::info!(error_type = error.kind(), %error, "looking for concepts is postponed");
            return Ok(Some(error));
        }
    }
    Ok(None)
}

async fn capture(services: &Services, answer: AnswerId) -> Result<(), AskError> {
    let source = move |conn: &chime_store::Reader| {
        let Some(record) = answers::find(conn, answer)? else { return Ok(None) };
        let trigger = messages::by_seq(conn, record.chat, record.trigger)?;
        Ok(trigger.map(|trigger| (record, trigger)))
    };
    // The answer or its trigger has been deleted since.
    let Some((record, trigger)) = services.base.store.read(source).await? else { return Ok(()) };
    let captured = match prompt(services, &record, &trigger) {
        Some(prompt) => extract(services, &record, &prompt).await?,
        None => Vec::new(),
    };
    let (bot, now) = (services.base.bot().id, services.base.clock.now());
    let new = |captured| (ConceptId(now.ulid(chime_runtime::resilience::random().into())), captured);
    let captured: Vec<(ConceptId, Captured)> = captured.into_iter().map(new).collect();
    Ok(services.base.store.write(Priority::Background, move |tx| keep(tx, bot, &record, captured, now)).await?)
}

async fn extract(services: &Services, record: &AnswerRecord, prompt: &Prompt) -> Result<Vec<Captured>, AskError> {
    let completion = services
        .gateway
        .ask(ModelCall {
            purpose: ModelPurpose::Extract,
            conversation: Conversation { chat: record.chat, forum_topic: record.forum_topic },
            on_behalf_of: None,
            preference: ModelPreference::Best,
            prompt,
        })
        .await?;
    Ok(completion.parse_json::<Value>().map(|given| parse_captured(&given)).unwrap_or_default())
}

/// Builds the prompt; `None` if the operator's own template cannot be rendered.
fn prompt(services: &Services, record: &AnswerRecord, trigger: &StoredMessage) -> Option<Prompt> {
    let fence = new_fence();
    let shown = |text: &str| {
        let text = clip(text, SOURCE_CHARS);
        let text = if services.base.config.memory.redaction == Redaction::Off { text } else { redact(&text).into() };
        without_fence(&text, &fence).into_owned()
    };
    let said = without_sources(&record.text);
    let (ask, answer) = (shown(&trigger.message.text), shown(said.trim()));
    let values = CaptureValues { fence: &fence, ask: &ask, answer: &answer };
    let content = services.prompts.capture(&values).ok()?;
    let messages = vec![PromptMessage { role: PromptRole::User, content }];
    Some(Prompt {
        temperature: Some(0.0),
        format: AnswerFormat::Json { name: "concepts", schema: capture_schema() },
        ..Prompt::new(messages, ModelPurpose::Extract.max_answer_tokens())
    })
}

/// Stores the concepts of an answer, merged with the known concepts of the chat, and adds them to the scope of the
/// conversation.
fn keep(
    tx: &Writer<'_>,
    bot: UserId,
    record: &AnswerRecord,
    captured: Vec<(ConceptId, Captured)>,
    now: Timestamp,
) -> chime_store::Result<()> {
    if answers::find(tx, record.id)?.is_none() {
        return Ok(());
    }
    concepts::mark_scanned(tx, record.id)?;
    if memory::is_off(tx, record.chat)? {
        return Ok(());
    }
    let mut known = concepts::of_chat(tx, record.chat)?;
    let mut referenced = Vec::new();
    for (new, captured) in captured {
        let id = resolve(&captured, &known).unwrap_or(new);
        concepts::capture(tx, record.chat, record.id, id, &captured, now)?;
        referenced.push(id);
        let Captured { label, alt_labels, definition, kind } = captured;
        known.push(Concept { id, label, alt_labels, definition, kind });
    }
    let key = ContextKey { bot, chat: record.chat, forum_topic: record.forum_topic };
    refer(tx, key, record.id, &referenced, now);
    Ok(())
}
