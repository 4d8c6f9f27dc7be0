//! Loads the trigger of a job with everything its answer needs: reads the database and chooses the window.

use std::sync::Arc;
use std::time::Duration;

use crate::answering::load_trigger::{TriggerState, load_trigger};
use crate::answering::question::QuestionContext;
use crate::answering::services::Services;
use chime_core::{MessageAt, ParsedTrigger};
use chime_memory::context::window_around;
use chime_relevance::context::Params;
use chime_relevance::retrieval::Recalled;

/// Age of a question that nobody asked the bot from which on an answer is of no use, such as after a downtime.
const TOO_LATE: Duration = Duration::from_secs(3 * 60 * 60);

/// Loads the trigger `at` and everything that its answer needs, and chooses the messages that it is about.
pub(super) async fn load_question(
    services: &Services,
    at: MessageAt,
    parsed: &ParsedTrigger,
    is_unasked: bool,
) -> chime_store::Result<TriggerState<QuestionContext>> {
    let (loading, parsed, now) = (services.clone(), parsed.clone(), services.base.clock.now());
    let max_age = if is_unasked { TOO_LATE } else { services.base.config.ingest.backlog_max_age };
    let load = move |conn: &_| {
        let loaded = match load_trigger(conn, &loading, now, max_age, at, &parsed)? {
            TriggerState::Ready(loaded) => *loaded,
            TriggerState::Gone => return Ok(TriggerState::Gone),
            TriggerState::Answered => return Ok(TriggerState::Answered),
            TriggerState::Old(trigger) => return Ok(TriggerState::Old(trigger)),
        };
        Ok(TriggerState::Ready(Box::new(QuestionContext::load(conn, &loading, loaded, now, is_unasked)?)))
    };
    services.base.store.read(load).await
}

/// Chooses the window again with half of the token budget, and drops the recalled messages.
pub(super) async fn halve(services: &Services, question: &mut QuestionContext) -> chime_store::Result<()> {
    let params = Params { token_budget: question.room / 2, ..services.params.clone() };
    let summarized = question.oldest_part.summarized(params.estimate);
    let (history, recaller) = (Arc::clone(&question.history), Arc::clone(&services.recaller));
    let window = move |conn: &_| Ok(window_around(conn, &history, &params, &recaller, |_| summarized));
    question.window = services.base.store.read(window).await?;
    // Recalled messages matter less than the window, so they are dropped altogether.
    question.recalled = Recalled::default();
    Ok(())
}
