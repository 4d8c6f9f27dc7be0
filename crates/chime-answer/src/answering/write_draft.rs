//! Writes the draft of an answer: asks the model, or does without it.

use std::time::Duration;

use crate::answer_steps::{Blame, ModelAttempt, ModelFailure, Step, WindowSize, begin};
use crate::answering::ask::{build_prompt, model_call, model_request};
use crate::answering::draft::{Draft, answered, apology, clarifying, made_up, no_source, without_model};
use crate::answering::question::{QuestionContext, halve};
use crate::answering::services::Services;
use crate::answering::stream::ask_unseen;
use crate::answering::tool_rounds::converse;
use crate::answering::{follow_up, log};
use crate::echo::{
    before_next_turn, continues_chat, has_words, is_about_rules, is_empty_markup, is_only_head, restates, without_echo,
    without_heads, without_preface, without_roles,
};
use crate::extractive_ranking::Query;
use crate::grounding::{
    GroundingEvidence, NoSource, has_anchor_or_thread, is_known_subject, no_source_reason, similarities,
    without_source_links,
};
use crate::prompt::BuiltPrompt;
use crate::stream::may_be_one_fact;
use crate::support::{Support, content_words};
use crate::{citations, uncertainty};
use chime_access::Allowance;
use chime_access::gateway::ModelPurpose;
use chime_access::gateway::ask::UsageRecord;
use chime_core::trigger::{Languages, asks_about_bot, ends_like_question, is_generic};
use chime_core::{Citable, Grounding, Job, RefusalReason, SourceId, SourceKind, StoredMessage};
use chime_jobs::JobError;
use chime_llm::{Completion, Prompt};

/// Number of the newest messages, which may have no vectors yet.
const UNSEARCHED: u32 = 40;

/// Result of [`write_draft`].
pub enum DraftOutcome {
    Written(Box<(Draft, BuiltPrompt)>),
    /// The daily tokens are used up.
    Refused(RefusalReason),
    /// Nobody asked the bot, and the model failed or made up its answer.
    Silent,
}

/// Decides how a question is answered: by the model, or without it.
pub(super) fn first_step(services: &Services, question: &QuestionContext) -> Step<Draft> {
    let question_back = follow_up::clarifying(&question.follow_up, question.notice_language());
    let no_source = unanswerable(services, question);
    match (question_back, no_source, question.gateway.allowance(question.spent)) {
        (Some(question_back), ..) => Step::AskBack(question_back),
        (None, Some(reason), _) => Step::NoSource(reason),
        (None, None, _) if question.gateway.is_offline() => Step::Digest,
        (None, None, Allowance::Ample) => Step::Ask(ModelAttempt::USUAL),
        (None, None, Allowance::Tight) => Step::Ask(ModelAttempt::THRIFTY),
        (None, None, Allowance::Over(because)) => Step::Refuse(because),
    }
}

/// Returns the reason why `question` is not answered in a strict chat or unasked; `None` if it is answered.
fn unanswerable(services: &Services, question: &QuestionContext) -> Option<NoSource> {
    if question.grounding() == Grounding::Open && !question.is_unasked {
        return None;
    }
    let embedder = services.features.embedder();
    // Without an embedding model, the score of the best match is lower and not comparable.
    let knows_subject = embedder.is_none() || is_known_subject(&question.window);
    let trigger = question.trigger();
    // The search does not see the newest messages, other forum topics, and what is in files. Of these, only files can
    // be about a new subject.
    let is_unsearched = |stored: &StoredMessage| {
        let is_elsewhere =
            stored.seq.0 + UNSEARCHED >= trigger.seq.0 || stored.conversation() != trigger.conversation();
        stored.message.file.is_some() || is_elsewhere && !question.window.is_new
    };
    let said = question.shown().filter(|stored| knows_subject || is_unsearched(stored));
    let said = said.map(|stored| stored.message.rendered());
    let texts = said.chain(question.remembered(&[]).into_iter().map(|source| source.text));
    let added = question.enrichment.pieces.iter().flat_map(|piece| &piece.lines).map(|line| line.text.clone());
    let texts: Vec<String> = texts.chain(added).collect();
    let (similarities, measure) = similarities(&question.history.ask, &texts, embedder);
    let similarity = similarities.into_iter().reduce(f64::max);
    let has_anchor_or_thread = trigger.message.file.is_some() || has_anchor_or_thread(&question.window, knows_subject);
    no_source_reason(GroundingEvidence { has_anchor_or_thread, similarity, measure })
}

/// Builds the prompt and takes the steps of [`crate::answer_steps`] until there is a draft, or until it is decided that none is
/// written.
pub(super) async fn write_draft(
    services: &Services,
    job: &Job,
    question: &mut QuestionContext,
    first: Step<Draft>,
) -> Result<DraftOutcome, JobError> {
    let room = question.gateway.prompt_room(ModelPurpose::Answer);
    let mut built = build_prompt(services, question, room)?;
    let mut step = begin(job.attempts, first);
    let draft = loop {
        step = match step {
            Step::Ask(asking) => {
                match asking.window {
                    WindowSize::Full => {}
                    WindowSize::Halved => {
                        question.photos.clear();
                        halve(services, question).await?;
                        let (half, room) = (built.tokens() / 2, question.gateway.prompt_room(ModelPurpose::Answer));
                        built = build_prompt(services, question, Some(room.map_or(half, |room| half.min(room))))?;
                    }
                    WindowSize::Plainest => {
                        question.photos.clear();
                        question.leave_extras_out();
                        let room = question.gateway.prompt_room(ModelPurpose::Answer);
                        built = build_prompt(services, question, room)?;
                    }
                }
                // Boxed: the compiler limits how deeply futures may be nested.
                let answered = Box::pin(converse(services, job, question, &mut built, asking)).await;
                let draft = answered
                    .and_then(|(completion, bill)| usable(services, question, &built, completion, bill, asking.window));
                match draft {
                    Ok(draft)
                        if is_unsupported(services, question, &built, &draft)
                            || is_made_up(services, question, &built, asking, &draft).await =>
                    {
                        question.bills.extend(draft.bill);
                        if question.is_unasked {
                            return Ok(DraftOutcome::Silent);
                        }
                        break made_up(&question.window, query(services, question), question.notice_language());
                    }
                    draft => asking.ended(draft),
                }
            }
            Step::Reply(draft) => break draft,
            Step::Digest => break without_model(question, query(services, question)),
            Step::AskBack(question_back) => break clarifying(question_back),
            Step::NoSource(reason) => {
                log::no_source(reason);
                break no_source(question.chat.speaks());
            }
            Step::Apologise(_) if question.is_unasked => return Ok(DraftOutcome::Silent),
            Step::Apologise(blame) => break apologise(services, question, blame),
            Step::Refuse(because) => return Ok(DraftOutcome::Refused(because)),
        };
    };
    Ok(DraftOutcome::Written(Box::new((draft, built))))
}

/// Returns the part of `completion` that can be shown.
///
/// # Errors
/// [`ModelFailure::Unusable`] if nothing can: it repeats the prompt, the question or an earlier answer, or holds only
/// citations.
fn usable(
    services: &Services,
    question: &mut QuestionContext,
    built: &BuiltPrompt,
    completion: Completion,
    bill: UsageRecord,
    window: WindowSize,
) -> Result<Draft, ModelFailure> {
    let (text, uncertainty) = uncertainty::split(&completion.text);
    let (ask, bot_name, given) = (&question.history.ask, &services.base.bot().name, question.given(built));
    let is_member = |name: &str| built.labels.has_name(name) || name == question.asker_name();
    let text = before_next_turn(without_roles(&text, ask), ask, bot_name, is_member, &given);
    let text = without_heads(without_preface(text, ask, question.asker_name()), bot_name, is_member);
    let text = without_echo(&text, &built.instructions, &built.fence).filter(|text| {
        let is_worth_another = window != WindowSize::Plainest && question.is_repeated_by(text);
        !is_only_head(text, ask, bot_name, is_member)
            && says_something(question, built, &given, text)
            && !is_worth_another
            && !only_restates(question, &given, text)
            && !is_nonsense(question, built, &given, text)
    });
    match text {
        Some(text) => Ok(answered(completion, text, uncertainty, bill, question.chat.speaks())),
        None => {
            log::unusable();
            question.bills.push(bill);
            Err(ModelFailure::Unusable)
        }
    }
}

/// Returns `true` if no message supports what a very small model wrote about the talk: its answer to a tag without a
/// question of its own, or to a question in a reply. Answers to other questions may be general knowledge, but not those
/// of the smallest models.
fn is_unsupported(services: &Services, question: &QuestionContext, built: &BuiltPrompt, draft: &Draft) -> bool {
    let (gateway, purpose) = (&question.gateway, ModelPurpose::Answer);
    let facts = gateway.server_facts(purpose);
    let (ask, text) = (&question.history.ask, draft.markdown.trim());
    let (window, languages) = (&question.window, Languages::shipped());
    if window.entries.is_empty() || !asks_about_bot(ask).is_empty() {
        // There is no talk, or the member greets the bot.
        return false;
    }
    let is_about_talk = is_generic(ask) || window.anchor.is_some() && languages.is_question(ask);
    // A translation, a suggestion, a photo, and what was looked up need no message.
    let has_other_grounds = question.names_language()
        || question.follow_up.frame.intent.suggests()
        || !question.photos.is_empty()
        || !question.looked_up.uses.is_empty();
    let may_be_invented = facts.often_invents() && is_about_talk && !has_other_grounds && may_be_one_fact(text);
    if !may_be_invented && !facts.is_tiny() {
        return false;
    }
    let given = question.given(built);
    let embedder = services.features.embedder();
    let embed = |text: &str| embedder.map(|embedder| embedder.embed(text)).unwrap_or_default();
    let support = Support::new(&given, ask, &embed);
    // A repeated question has a source: the message that asks it.
    let is_unsupported =
        ends_like_question(text) || !citations::has_source(text, built.basis(&given, question.trigger()), &support);
    if is_unsupported {
        log::unsupported();
    }
    is_unsupported
}

/// Returns `true` if a small model made up the number that `draft` consists of. It was not given the number, and names
/// others when it is asked twice more. A number that it knows or computes comes again.
async fn is_made_up(
    services: &Services,
    question: &mut QuestionContext,
    built: &BuiltPrompt,
    asking: ModelAttempt,
    draft: &Draft,
) -> bool {
    /// The member waits for an answer that is already written.
    const PATIENCE: Duration = Duration::from_secs(20);
    const MAX_TOKENS: u32 = 100;
    let text = draft.markdown.trim();
    if !question.gateway.is_small(ModelPurpose::Answer) || !may_be_one_fact(text) {
        return false;
    }
    let has_more = question.gateway.allowance(question.spent) == Allowance::Ample;
    let given = question.given(built);
    // "A random number between 1 and 50" and "how long do potatoes boil?" may be answered differently each time.
    let ask = &question.history.ask;
    let trigger = SourceId::message(question.trigger().seq.0);
    let given_before = given.iter().filter(|source| source.id != trigger);
    if ask.contains(|c: char| c.is_ascii_digit()) || !is_about_chat(ask, given_before) {
        return false;
    }
    let known = built.known_words(&given);
    let numbers = known.new_numbers(&without_source_links(text));
    if numbers.is_empty() || !has_more || !question.looked_up.uses.is_empty() {
        return false;
    }
    // The same prompt at the server's own temperature, so that answers differ where the model is unsure.
    let prompt = Prompt {
        until: Some(services.base.clock.now().plus(PATIENCE)),
        max_answer_tokens: MAX_TOKENS,
        ..model_request(question, built, WindowSize::Plainest)
    };
    for _ in 0..2 {
        let call = model_call(question, &prompt, asking.choice);
        let Ok((completion, bill)) = Box::pin(ask_unseen(services, question, call)).await else { return false };
        question.bills.push(bill);
        let others = known.new_numbers(&completion.text);
        if others.is_empty() || !others.is_disjoint(&numbers) {
            return false;
        }
    }
    log::made_up();
    true
}

/// Returns `true` if a question is about members, their messages or their plans, or shares words with a source or
/// the name of its author. Questions shown to the model say nothing.
fn is_about_chat<'a>(ask: &str, mut given: impl Iterator<Item = &'a Citable>) -> bool {
    let asked = content_words(ask);
    let is_asked = |text: &str| !content_words(text).is_disjoint(&asked);
    let is_by_named = |source: &Citable| source.id.kind == SourceKind::Message && is_asked(&source.name);
    let says = |source: &Citable| is_by_named(source) || !source.text.contains('?') && is_asked(&source.text);
    Languages::shipped().ours_in(ask) > 0 || given.any(says)
}

/// Returns `true` if `text` only reports the question, see [`restates`].
fn only_restates(question: &QuestionContext, given: &[Citable], text: &str) -> bool {
    let trigger = SourceId::message(question.trigger().seq.0);
    let talk = given.iter().filter(|source| source.id != trigger).map(|source| source.text.as_str());
    restates(text, &question.history.ask, question.asker_name(), talk)
}

/// Returns `true` if `text` is not an answer but what small models often write in its place: it continues the chat, or
/// is about the rules.
fn is_nonsense(question: &QuestionContext, built: &BuiltPrompt, given: &[Citable], text: &str) -> bool {
    let (gateway, purpose) = (&question.gateway, ModelPurpose::Answer);
    if !gateway.is_small(purpose) {
        return false;
    }
    let talk = given.iter().map(|it| it.text.as_str()).chain([question.history.ask.as_str()]);
    let is_tiny = gateway.server_facts(purpose).is_tiny();
    continues_chat(text, is_tiny, |name| built.labels.has_name(name))
        || is_about_rules(text, &built.instructions, &built.fence, talk)
}

/// Returns `true` if words are left in `text` after its citations are removed, or something else that members can see.
fn says_something(question: &QuestionContext, built: &BuiltPrompt, given: &[Citable], text: &str) -> bool {
    /// In bytes. A longer text certainly has words besides its citations.
    const SHORT: usize = 80;
    if text.len() > SHORT {
        return true;
    }
    let linked = citations::linked(text, built.basis(given, question.trigger()));
    let is_said = !has_words(text) || has_words(&without_source_links(&linked));
    is_said && !is_empty_markup(text)
}

fn query<'a>(services: &'a Services, question: &'a QuestionContext) -> Query<'a> {
    Query {
        ask: &question.history.ask,
        bot: services.base.bot(),
        language: question.chat.language,
        embedder: services.features.embedder(),
    }
}

fn apologise(services: &Services, question: &QuestionContext, blame: Blame) -> Draft {
    apology(&question.window, query(services, question), question.notice_language(), blame)
}
