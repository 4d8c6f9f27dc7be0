//! Stores an answer with its reply and the end of its job, in one transaction.

use crate::answering::check::CheckedAnswer;
use crate::answering::question::QuestionContext;
use crate::answering::services::Services;
use crate::answering::stream::take_back;
use crate::answering::{concepts, store_follow_up};
use chime_core::{AnswerRecord, Job, Seq};
use chime_jobs::JobError;
use chime_store::{Reader, answers, consent, jobs, messages, outbox, topics};

enum SaveOutcome {
    Saved,
    /// The job has already ended, for example because the trigger was deleted: nothing is stored.
    Ended,
    /// A source may no longer be used: nothing is stored, and the answer has to be made again.
    Gone,
}

/// Stores `answer` for delivery, unless its job has ended or one of its sources was forgotten while it was made.
///
/// # Errors
/// [`JobError::Failed`] if a source was forgotten: the next attempt makes another answer.
pub(super) async fn store_answer(
    services: &Services,
    job: &Job,
    question: QuestionContext,
    answer: CheckedAnswer,
) -> Result<(), JobError> {
    let now = services.base.clock.now();
    let (payload, chat, trigger) = (job.payload.clone(), question.chat.chat.clone(), question.trigger().clone());
    let (scope, oldest_part) = (question.scope.key, question.oldest_part.clone());
    let (facts, captures) = (&services.privacy_facts, services.captures_concepts);
    let (remembers, announced) = (facts.remembers, facts.announces());
    let written = chime_jobs::worker::record(&services.base.store, &services.base.clock, move |tx| {
        let CheckedAnswer { record, reply, is_silent, bills, rests_on, .. } = &answer;
        for bill in bills {
            bill.write(tx)?;
        }
        if *is_silent {
            jobs::remove(tx, payload.kind(), &payload.key())?;
        }
        if !jobs::is_due(tx, &payload)? {
            return Ok(SaveOutcome::Ended);
        }
        if rests_on_forgotten(tx, record, rests_on.iter().chain(&answer.grounds))? {
            return Ok(SaveOutcome::Gone);
        }
        answers::save(tx, record)?;
        store_follow_up::save(tx, record, answer.follow_up.as_ref(), rests_on)?;
        concepts::refer(tx, scope, record.id, &answer.concepts, now);
        if captures {
            concepts::capture_soon(tx, record, chat.id)?;
        }
        oldest_part.see_to(tx, &chat, &trigger, now)?;
        outbox::add(tx, reply, now)?;
        if let Some(notice) = answer.notice {
            notice.note(tx, &reply.key, record.chat, announced, now)?;
        }
        if remembers {
            topics::look_again(tx, chat.id, trigger.conversation(), now)?;
        }
        jobs::finish(tx, payload.kind(), &payload.key())?;
        Ok(SaveOutcome::Saved)
    });
    match written.await? {
        SaveOutcome::Saved => services.base.wake.wake(),
        SaveOutcome::Ended => {
            tracing::info!("the job was ended while it was worked on, so nothing is said");
            take_back(services, &job.payload.reply_key()).await?;
        }
        SaveOutcome::Gone => {
            let why = "a message of the window was forgotten while the answer was made";
            return Err(JobError::Failed(why.to_owned()));
        }
    }
    Ok(())
}

/// Returns `true` if a source may no longer be used: the trigger, a message of the window or one of `also` was deleted,
/// or its author opted out.
fn rests_on_forgotten<'a>(
    conn: &Reader,
    record: &AnswerRecord,
    also: impl Iterator<Item = &'a Seq>,
) -> chime_store::Result<bool> {
    let trigger = messages::any_by_seq(conn, record.chat, record.trigger)?.map(|stored| stored.message);
    let still_asked = trigger.map_or(Ok(None), |trigger| consent::for_job(conn, trigger.chat, trigger.id))?;
    if still_asked.is_none() {
        return Ok(true);
    }
    let shown = record.window.iter().map(|chosen| chosen.seq);
    Ok(!messages::are_visible(conn, record.chat, shown.chain(also.copied()))?)
}
