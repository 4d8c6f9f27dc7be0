//! Answers questions and sends replies. `answer` takes a question through these stages; each has a file:
//!
//! | stage | input | output |
//! | --- | --- | --- |
//! | `question` | the trigger | `QuestionContext`: the messages that it is about, and all else that the prompt needs |
//! | `poll` | the question, if it only asks for a poll | a poll of a list in an earlier answer, end of the job |
//! | `follow_up` | the question, earlier suggestions | what the question continues |
//! | `read_material` | the question | its photos, pages, documents and search results |
//! | `ask` | the question | `BuiltPrompt`, the model's answer |
//! | `write_draft` | the prompt | `Draft`, by the model or without it |
//! | `check` | the draft, its sources | `CheckedAnswer`: the reply, with valid citations, and its record |
//! | `store_answer` | the checked answer | reply in the outbox, end of the job |
//! | `deliver` | the reply | messages in Telegram |
//!
//! All stages use the same `Services`.

mod ask;
mod capture;
mod check;
mod concepts;
mod deliver;
mod draft;
mod enrich;
mod fetch_text;
mod follow_up;
mod guest;
mod introduction;
mod load_trigger;
mod log;
mod long_thread;
mod own_message;
mod owners;
mod pages;
mod photos;
mod poll;
mod question;
mod read_material;
mod reply;
mod services;
mod store_answer;
mod store_follow_up;
mod stream;
mod tool_rounds;
mod traffic;
mod transcribe;
mod typing;
mod unanswered;
mod unasked;
mod web;
mod write_draft;

use tracing::Instrument;

use crate::answer_steps::{ModelAttempt, Step};
use crate::answering::check::check;
use crate::answering::load_trigger::{ClosedTrigger, may_ask};
use crate::answering::poll::send_wanted_poll;
use crate::answering::question::load_question;
use crate::answering::read_material::read_material;
use crate::answering::store_answer::store_answer;
use crate::answering::transcribe::transcribe_nearby;
use crate::answering::unanswered::{close, count_as_old, give_up, mark_unsent, refuse, wait_for_hold};
use crate::answering::unasked::is_left_open;
use crate::answering::write_draft::{DraftOutcome, first_step, write_draft};
use crate::delivery::LONG_HOLD;
use chime_core::{AddressedBy, Job, JobKind, MessageAt, ParsedTrigger, RefusalReason};
use chime_jobs::{JobError, JobOutcome, JobResult};
use chime_store::chats;

pub use capture::{capture_missed, capture_new};
pub use deliver::deliver;
pub use guest::answer_guests;
pub use load_trigger::asked;
pub use poll::add_poll;
pub use reply::{format_own, format_parts};
pub use services::{PageReader, Services};
pub use typing::keep_typing;

/// Runs an `answer` job for the trigger `at`.
pub async fn answer(services: &Services, job: &Job, at: MessageAt, parsed: &ParsedTrigger) -> JobResult {
    run_stages(services, job, at, parsed).instrument(log::trigger_span(at)).await?;
    Ok(JobOutcome::Finished)
}

/// Runs an `ambient` job for the question `at`.
pub async fn answer_unasked(services: &Services, job: &Job, at: MessageAt) -> JobResult {
    let now = services.base.clock.now();
    if services.base.store.read(move |conn| is_left_open(conn, at, now)).await? {
        let parsed = ParsedTrigger { how: AddressedBy::Command, ..ParsedTrigger::default() };
        return answer(services, job, at, &parsed).await;
    }
    close(services, job, Vec::new()).await?;
    Ok(JobOutcome::Finished)
}

async fn run_stages(services: &Services, job: &Job, at: MessageAt, parsed: &ParsedTrigger) -> Result<(), JobError> {
    let (watch, now) = (services.base.clock.stopwatch(), services.base.clock.now());
    if let Some(until) = services.state.traffic.held_until(at.chat, now)
        && until.since(now) > LONG_HOLD
    {
        return wait_for_hold(services, job, at, until).await;
    }
    services.gateway.wait_for_facts().await;
    let (chat, is_unasked) = (at.chat, job.kind() == JobKind::Ambient);
    if services.base.store.read(move |conn| chats::refuses_sending(conn, chat, now)).await? {
        return mark_unsent(services, job, at).await;
    }
    let untranscribed = transcribe_nearby(services, at, parsed).await;
    let mut question = match load_question(services, at, parsed, is_unasked).await? {
        Ok(question) => *question,
        Err(ClosedTrigger::Old(trigger)) => return count_as_old(services, job, &trigger, now).await,
        Err(ClosedTrigger::Gone) => return give_up(services, job).await,
        Err(ClosedTrigger::Answered) => return close(services, job, Vec::new()).await,
    };
    if !may_ask(services, question.chat.chat.id, &question.settings, question.asker()).await? {
        return refuse(services, job, question.trigger(), RefusalReason::AdminsOnly).await;
    }
    if send_wanted_poll(services, job, &question).await? {
        return Ok(());
    }
    log::found(question.trigger(), &question.window, watch.elapsed());
    question.follow_up = question.going_on.resolve(&question.history.ask);
    let first = first_step(services, &question);
    if is_unasked && !matches!(first, Step::Ask(ModelAttempt::USUAL)) {
        return close(services, job, Vec::new()).await;
    }
    read_material(services, &mut question, &first).await;
    question.tell_untranscribed(&untranscribed);
    let (draft, built) = match write_draft(services, job, &mut question, first).await? {
        DraftOutcome::Written(written) => *written,
        DraftOutcome::Refused(because) => return refuse(services, job, question.trigger(), because).await,
        DraftOutcome::Silent => return close(services, job, question.bills).await,
    };
    let checked = check(services, job, &mut question, built, draft, watch).await?;
    store_answer(services, job, question, checked).await
}
