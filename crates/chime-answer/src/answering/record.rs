//! Builds the record that is stored of an answer.

use ulid::Ulid;

use crate::answering::draft::Draft;
use crate::answering::log;
use crate::answering::question::QuestionContext;
use crate::citations::Checked;
use crate::prompt::BuiltPrompt;
use crate::recall;
use chime_core::{AnswerId, AnswerRecord, AnswerStatus, Timestamp};
use chime_runtime::clock::Stopwatch;

pub fn record(
    question: &QuestionContext,
    built: BuiltPrompt,
    draft: Draft,
    checked: Checked,
    now: Timestamp,
    watch: Stopwatch,
) -> AnswerRecord {
    let moment = u64::try_from(now.millis()).unwrap_or(0);
    let mut shown = question.window.chosen();
    if draft.status == AnswerStatus::Answered {
        shown.extend(recall::chosen(&question.recalled));
        shown.extend(question.looked_up.chosen(&shown));
    }
    let mut slots = built.slots;
    recall::note_found(&mut slots, &question.recalled);
    slots.extend(question.looked_up.uses.iter().cloned());
    AnswerRecord {
        id: AnswerId(Ulid::from_parts(moment, chime_runtime::resilience::random().into())),
        chat: question.trigger().chat,
        thread: question.trigger().message.thread,
        trigger: question.trigger().seq,
        asked_by: question.asker(),
        created_at: now,
        status: draft.status,
        text: checked.text,
        anchor: question.window.anchor,
        window: shown,
        omitted: question.window.omitted.clone(),
        slots,
        sources: checked.sources,
        model: draft.model,
        tokens: draft.tokens,
        latency_ms: u64::try_from(watch.elapsed().as_millis()).unwrap_or(u64::MAX),
        uncertainty: draft.uncertainty,
        guard_used: draft.guard_used,
        removed: log::ids_only(checked.removed),
    }
}
