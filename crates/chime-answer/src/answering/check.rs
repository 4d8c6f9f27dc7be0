//! Checks the citations of a draft and makes it a reply with its record.

use crate::answering::draft::Draft;
use crate::answering::introduction::{NoticePosition, append};
use crate::answering::question::QuestionContext;
use crate::answering::reply::reply_to;
use crate::answering::services::Services;
use crate::answering::{log, store_follow_up};
use crate::citations::Checked;
use crate::lines::Style;
use crate::prompt::BuiltPrompt;
use crate::support::Support;
use crate::used_memory::used;
use crate::{citations, recall};
use chime_access::gateway::ask::UsageRecord;
use chime_core::texts::notices;
use chime_core::{
    AnswerId, AnswerRecord, AnswerStatus, ConceptId, FormattedText, Grounding, Job, MessageAt, Seq, Timestamp,
};
use chime_runtime::clock::Stopwatch;
use chime_store::announcements;
use chime_store::follow_ups::NewFollowUp;
use chime_store::outbox::NewReply;

/// Answer that is ready to be stored.
#[derive(Clone)]
pub struct CheckedAnswer {
    pub record: AnswerRecord,
    pub reply: NewReply,
    /// `true` if nobody asked and no source was cited: nothing is sent.
    pub is_silent: bool,
    pub bills: Vec<UsageRecord>,
    pub follow_up: Option<NewFollowUp>,
    pub concepts: Vec<ConceptId>,
    /// Messages outside the window that the answer rests on.
    pub rests_on: Vec<Seq>,
    /// Messages from which the summaries and notes in the prompt were made. If one of them is forgotten, the answer
    /// must not be stored.
    pub grounds: Vec<Seq>,
    /// Position of the privacy notice in the reply, if it has one.
    pub notice: Option<NoticePosition>,
}

/// Checks the citations of `draft` and formats it.
pub(super) async fn check(
    services: &Services,
    job: &Job,
    question: &mut QuestionContext,
    built: BuiltPrompt,
    draft: Draft,
    watch: Stopwatch,
) -> chime_store::Result<CheckedAnswer> {
    let now = services.base.clock.now();
    let mut given = question.given(&built);
    recall::put_best_first(&mut given, &question.recalled, &draft.markdown);
    let links: Vec<&str> = given.iter().flat_map(citations::links).collect();
    let basis = built.basis(&given, question.trigger());
    let mark = unsourced_mark(question, &draft);
    let language = match draft.is_of_a_model() {
        true => question.language().unwrap_or(question.chat.speaks()),
        false => question.notice_language(),
    };
    question.remarks.extend(question.left_out(language));
    let remarks: &[String] = if draft.may_use_material() { &question.remarks } else { &[] };
    let known = draft.is_of_a_model().then(|| built.known_words(&given));
    let words = citations::CitationWords {
        language: language.code(),
        mark,
        known: known.as_ref(),
        sourced: question.sourced(&draft.markdown),
        remarks,
    };
    let embedder = services.features.embedder();
    let embed = |text: &str| embedder.map(|embedder| embedder.embed(text)).unwrap_or_default();
    let support = draft.is_of_a_model().then(|| {
        let support = Support::new(&given, &question.history.ask, &embed);
        // If a model that has to cite does not, it has most likely used its own knowledge.
        if question.style == Style::Numbered { support.of_citing_model() } else { support }
    });
    let checked = citations::check(&draft.markdown, basis, support.as_ref(), now, question.zone, words);
    log::citations(&checked);
    let is_silent = question.is_unasked && checked.valid.is_empty();
    let remembered = question.rested_on(draft.status, &built.citable);
    let used = used(&checked.text, &checked.valid, &remembered);
    let mut parts = draft.parts(&checked.text, &links, &question.names(services.base.bot()));
    let notice = introduce(services, question, &mut parts).await?;
    let bills = question.bills.drain(..).chain(draft.bill.clone()).collect();
    let record = record(question, built, draft, checked, now, watch);
    tracing::Span::current().record("answer.id", tracing::field::display(record.id));
    log::cited_outside_focus(&record);
    log::ready(MessageAt::of(question.trigger()), &record);
    let follow_up = store_follow_up::to_store(&record, &question.follow_up, &question.going_on.members);
    let buttons = store_follow_up::poll_button(&record.text, follow_up.as_ref(), &question.chat);
    let mut rests_on = std::mem::take(&mut question.going_on.rests_on);
    rests_on.extend(used.into_iter().chain(question.oldest_part.stood_for()));
    Ok(CheckedAnswer {
        reply: NewReply { buttons, ..reply_to(question.trigger(), record.id, &job.payload, parts) },
        is_silent,
        bills,
        follow_up,
        concepts: question.scope.referenced(&record, &question.looked_up),
        rests_on,
        grounds: remembered.iter().flat_map(|source| source.rests_on.iter().map(|it| it.message)).collect(),
        notice,
        record,
    })
}

/// Appends the privacy notice to the answer if the chat has not had it.
async fn introduce(
    services: &Services,
    question: &mut QuestionContext,
    parts: &mut Vec<FormattedText>,
) -> chime_store::Result<Option<NoticePosition>> {
    let Some(words) = question.introduction.take() else { return Ok(None) };
    // Another answer may have brought the notice to the chat since it was added to this question.
    let chat = question.chat.key;
    let is_due = services.base.store.read(move |conn| Ok(!announcements::is_told(conn, chat)?)).await?;
    Ok(is_due.then(|| append(parts, words)))
}

/// Returns the mark for statements without a source. `None` if the chat is not strict, if no model wrote the draft, or
/// if the draft only says that nothing is known.
fn unsourced_mark(question: &QuestionContext, draft: &Draft) -> Option<&'static str> {
    let speaks = question.chat.speaks().code();
    // The sentence that nothing is known needs no source.
    let says_no = ["en", speaks].map(|code| notices(code).guard.trim());
    let claims = draft.is_of_a_model() && !says_no.contains(&draft.markdown.trim());
    (question.grounding() == Grounding::Strict && claims).then(|| notices(speaks).unsourced.as_str())
}

fn record(
    question: &QuestionContext,
    built: BuiltPrompt,
    draft: Draft,
    checked: Checked,
    now: Timestamp,
    watch: Stopwatch,
) -> AnswerRecord {
    let mut shown = question.window.chosen();
    if draft.status == AnswerStatus::Answered {
        shown.extend(recall::chosen(&question.recalled));
        shown.extend(question.looked_up.chosen(&shown));
    }
    let mut slots = built.slots;
    recall::note_found(&mut slots, &question.recalled);
    slots.extend(question.looked_up.uses.iter().cloned());
    AnswerRecord {
        id: AnswerId(now.ulid(chime_runtime::resilience::random().into())),
        chat: question.trigger().chat,
        forum_topic: question.trigger().message.forum_topic,
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
