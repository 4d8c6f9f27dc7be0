//! Loads the trigger of a job with everything its answer needs: reads the database and chooses the window.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinError;

use crate::answering::load_trigger::{LoadedTrigger, TriggerState, load_trigger};
use crate::answering::question::{QuestionContext, QuestionLoader};
use crate::answering::services::Services;
use chime_core::chat_settings::MODEL;
use chime_core::{MessageAt, ParsedTrigger};
use chime_jobs::JobError;
use chime_memory::context::window_around;
use chime_relevance::context::{Focused, History, Params};
use chime_relevance::retrieval::Recalled;

/// Age of a question that nobody asked the bot from which on an answer is of no use, such as after a downtime.
const TOO_LATE: Duration = Duration::from_secs(3 * 60 * 60);

/// Loads the trigger `at` and everything that its answer needs, and chooses the messages that it is about.
pub(super) async fn load_question(
    services: &Services,
    at: MessageAt,
    parsed: &ParsedTrigger,
    is_unasked: bool,
) -> Result<TriggerState<QuestionContext>, JobError> {
    let (store, parsed) = (&services.base.store, parsed.clone());
    // The semaphore is never closed.
    let _place = services.state.places.acquire().await.ok();
    let now = services.base.clock.now();
    let max_age = if is_unasked { TOO_LATE } else { services.base.config.ingest.backlog_max_age };
    let loading = services.clone();
    let load = move |conn: &_| load_trigger(conn, &loading, now, max_age, at, &parsed);
    let loaded: Arc<LoadedTrigger> = match store.read(load).await? {
        TriggerState::Ready(loaded) => Arc::from(loaded),
        TriggerState::Gone => return Ok(TriggerState::Gone),
        TriggerState::Answered => return Ok(TriggerState::Answered),
        TriggerState::Old(trigger) => return Ok(TriggerState::Old(trigger)),
    };
    let gateway = services.gateway.with_model(loaded.chat.settings.get(MODEL));
    let loader = Arc::new(QuestionLoader { services: services.clone(), gateway, now, is_unasked });
    let (also, about) = (Arc::clone(&loader), Arc::clone(&loaded));
    let beside = async { Ok(store.read(move |conn| also.beside(conn, &about)).await?) };
    let (chooser, about) = (Arc::clone(&loader), Arc::clone(&loaded));
    let chosen = async {
        let gathered = store.read(move |conn| chooser.gather(conn, &about)).await?;
        let focused = picked(Arc::clone(&gathered.history), gathered.params.clone()).await?;
        Ok::<_, JobError>((gathered, focused))
    };
    let (beside, (gathered, focused)) = tokio::try_join!(beside, chosen)?;
    let complete = move |conn: &_| {
        let windowed = loader.window(conn, &gathered, focused);
        loader.complete(conn, &loaded, gathered, windowed, beside)
    };
    Ok(TriggerState::Ready(Box::new(store.read(complete).await?)))
}

/// Chooses the window again with half of the token budget, and drops the recalled messages.
pub(super) async fn halve(services: &Services, question: &mut QuestionContext) -> Result<(), JobError> {
    let params = Params { token_budget: question.room / 2, ..services.params.clone() };
    let summarized = question.oldest_part.summarized(params.estimate);
    let history = Arc::clone(&question.history);
    let focused = picked(Arc::clone(&history), params.clone()).await?;
    let recaller = Arc::clone(&services.recaller);
    let window = move |conn: &_| Ok(window_around(conn, (&history, focused), &params, &recaller, |_| summarized));
    question.window = services.base.store.read(window).await?;
    // Recalled messages matter less than the window, so they are dropped altogether.
    question.recalled = Recalled::default();
    Ok(())
}

/// Chooses the messages that a trigger is about. This takes longer than all reading, so it runs without a read
/// connection of the store.
async fn picked(history: Arc<History>, params: Params) -> Result<Focused, JoinError> {
    tokio::task::spawn_blocking(move || Focused::of(&history, &params)).await
}
