//! Loads the trigger of a job with everything its answer needs: reads the database and chooses the window.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinError;

use crate::answering::load_trigger::{LoadedTrigger, QuestionLoader, TriggerState};
use crate::answering::parts::AnsweringParts;
use crate::answering::question::QuestionContext;
use crate::lines::Style;
use chime_access::gateway::ModelPurpose;
use chime_access::gateway::ask::Gateway;
use chime_core::chat_settings::MODEL;
use chime_core::{MessageAt, ParsedTrigger};
use chime_jobs::JobError;
use chime_memory::context::window_around;
use chime_relevance::context::{Focused, History, Params};
use chime_relevance::retrieval::Recalled;

/// Age of a question that nobody asked the bot from which on an answer is of no use, such as after a downtime.
const TOO_LATE: Duration = Duration::from_secs(3 * 60 * 60);

pub(super) async fn find(
    parts: &AnsweringParts,
    places: &Semaphore,
    at: MessageAt,
    parsed: &ParsedTrigger,
    is_unasked: bool,
) -> Result<TriggerState<QuestionContext>, JobError> {
    let (store, parsed) = (&parts.store, parsed.clone());
    // The semaphore is never closed.
    let _place = places.acquire().await.ok();
    let mut first = question_loader(parts, parts.gateway.clone());
    if is_unasked {
        first.max_age = TOO_LATE;
    }
    let opened: Arc<LoadedTrigger> = match store.read(move |conn| first.load_trigger(conn, at, &parsed)).await? {
        TriggerState::Ready(opened) => Arc::from(opened),
        TriggerState::Gone => return Ok(TriggerState::Gone),
        TriggerState::Answered => return Ok(TriggerState::Answered),
        TriggerState::Old(trigger) => return Ok(TriggerState::Old(trigger)),
    };
    let gateway = parts.gateway.with_model(opened.chat.settings.get(MODEL));
    let loader = Arc::new(question_loader(parts, gateway));
    let (also, about) = (Arc::clone(&loader), Arc::clone(&opened));
    let beside = async { Ok(store.read(move |conn| also.beside(conn, &about)).await?) };
    let (chooser, about) = (Arc::clone(&loader), Arc::clone(&opened));
    let chosen = async {
        let gathered = store.read(move |conn| chooser.gather(conn, &about)).await?;
        let focused = picked(Arc::clone(&gathered.history), gathered.params.clone()).await?;
        Ok::<_, JobError>((gathered, focused))
    };
    let (beside, (gathered, focused)) = tokio::try_join!(beside, chosen)?;
    let complete = move |conn: &_| {
        let windowed = loader.window(conn, &gathered, focused);
        loader.complete(conn, &opened, gathered, windowed, beside)
    };
    Ok(TriggerState::Ready(Box::new(store.read(complete).await?)))
}

pub(super) fn question_loader(parts: &AnsweringParts, gateway: Gateway) -> QuestionLoader {
    let now = parts.clock.now();
    let model = gateway.model_name(ModelPurpose::Answer);
    QuestionLoader {
        params: Params { token_budget: gateway.talk_tokens(parts.context_tokens), ..parts.params.clone() },
        zone: parts.zone,
        long_threads: parts.long_threads.clone(),
        style: Style::for_model(gateway.is_small(ModelPurpose::Answer)),
        model: model.to_owned(),
        gateway: gateway.clone(),
        bot: parts.bot.id,
        idle: parts.idle,
        features: Arc::clone(&parts.features),
        recaller: Arc::clone(&parts.recaller),
        enrichers: parts.enrichers.clone(),
        introduction: parts.introduction.clone(),
        access: parts.access.clone(),
        max_age: parts.backlog_max_age,
        now,
        there: parts.telegram.server_date().unwrap_or(now),
    }
}

/// Chooses the window again with half of the token budget, and drops the recalled messages.
pub(super) async fn halve(parts: &AnsweringParts, question: &mut QuestionContext) -> Result<(), JobError> {
    let params = Params { token_budget: question.room / 2, ..parts.params.clone() };
    let summarized = question.oldest_part.summarized(params.estimate);
    let history = Arc::clone(&question.history);
    let focused = picked(Arc::clone(&history), params.clone()).await?;
    let recaller = Arc::clone(&parts.recaller);
    let window = move |conn: &_| Ok(window_around(conn, (&history, focused), &params, &recaller, |_| summarized));
    question.window = parts.store.read(window).await?;
    // Recalled messages matter less than the window, so they are dropped altogether.
    question.recalled = Recalled::default();
    Ok(())
}

/// Chooses the messages that a trigger is about. This takes longer than all reading, so it runs without a read
/// connection of the store.
async fn picked(history: Arc<History>, params: Params) -> Result<Focused, JoinError> {
    tokio::task::spawn_blocking(move || Focused::of(&history, &params)).await
}
