//! One answer, from the job to the reply in the outbox.

use std::sync::Arc;
use std::time::Duration;

use ulid::Ulid;

use crate::answer::citations::{self, Checked, Citable};
use crate::answer::job::{Backend, Effect, Event, Failure, Stage, WindowSize};
use crate::answer::prompt::{self, BuiltPrompt, PromptInput};
use crate::answer::run::reply::{format_parts, reply_to, write_reply};
use crate::answer::{digest, wording};
use crate::clock::{Clock, Stopwatch};
use crate::context::run::pick;
use crate::context::{ContextWindow, Params};
use crate::domain::{
    AnswerId, AnswerRecord, AnswerStatus, BotIdentity, ChatId, Job, JobKind, MessageId, StoredMessage, ThreadId,
    Timestamp, TokenUse, message_link, parse_message_key,
};
use crate::llm::{Completion, Llm, LlmError, Prompt, PromptMessage, PromptRole, Recovery};
use crate::prompts::Prompts;
use crate::scheduler::run::{Outcome, Wake};
use crate::store::chats::ChatRow;
use crate::store::{self, Priority, Reader, Store, answers, chats, consent, jobs, messages};
use crate::telegram::Telegram;
use crate::trigger::{self, Languages, Rules};

/// Room for an answer. Chats want short ones; this only stops a model that does not.
const MAX_ANSWER_TOKENS: u32 = 1500;
/// An answer that comes sooner than this needs no sign of work.
const TYPING_AFTER: Duration = Duration::from_millis(300);
/// Telegram shows the sign for five seconds.
const TYPING_EVERY: Duration = Duration::from_millis(4500);

/// What answering needs.
pub struct AnsweringParts {
    pub store: Store,
    pub telegram: Telegram,
    pub llm: Llm,
    pub clock: Clock,
    pub wake: Wake,
    pub prompts: Arc<Prompts>,
    pub bot: BotIdentity,
    pub languages: &'static Languages,
    pub params: Params,
}

/// Answers triggers.
pub struct Answering {
    parts: AnsweringParts,
}

/// What is known when the job is taken up.
enum Found {
    Gone,
    Answered,
    Ready(Box<Question>),
}

/// A trigger with everything its answer is made from.
struct Question {
    trigger: StoredMessage,
    chat: ChatRow,
    ask: String,
    generic: bool,
    window: ContextWindow,
    earliest: Option<Timestamp>,
}

/// What is to be told, before its citations are checked.
struct Draft {
    status: AnswerStatus,
    markdown: String,
    model: String,
    tokens: TokenUse,
}

impl Answering {
    pub fn new(parts: AnsweringParts) -> Self {
        Self { parts }
    }

    /// Works on an `answer` job: its key names the trigger.
    pub async fn run(&self, job: &Job) -> Outcome {
        match self.answer(job).await {
            Ok(()) => Outcome::Finished,
            Err(error) => Outcome::Failed(format!("answering {}: {error:#}", job.key)),
        }
    }

    #[tracing::instrument(name = "answer", skip_all, fields(trigger = %job.key, answer.id))]
    async fn answer(&self, job: &Job) -> anyhow::Result<()> {
        let watch = self.parts.clock.stopwatch();
        let question = match self.find(job).await? {
            Found::Ready(question) => Some(question),
            Found::Gone | Found::Answered => None,
        };
        let Some(mut question) = question else {
            // Nothing to do is an outcome too; the machine says so for both ways of getting here.
            let (_, effect) = Stage::Fresh.step(Event::FoundGone);
            debug_assert_eq!(effect, Some(Effect::Close));
            return Ok(self.close(job).await?);
        };
        let backend = if self.parts.llm.is_offline() { Backend::Offline } else { Backend::Model };
        let mut stage = Stage::Fresh;
        let mut event = Event::Begun { attempts: job.attempts, backend };
        let mut built = self.prompt(&question, self.parts.params.token_budget)?;
        let mut completion = None;
        loop {
            let (next, effect) = stage.step(event);
            stage = next;
            event = match effect {
                Some(Effect::AskModel { window }) => {
                    if window == WindowSize::Halved {
                        self.halve(&mut question).await?;
                        built = self.prompt(&question, self.parts.params.token_budget / 2)?;
                    }
                    match self.ask(&question, &built).await {
                        Ok(answer) => {
                            completion = Some(answer);
                            Event::ModelAnswered
                        }
                        Err(error) => Event::ModelFailed(failure_of(&error)),
                    }
                }
                Some(Effect::ReplyWithAnswer) => {
                    let draft = completion.take().map_or_else(|| apology(&question), answered);
                    return self.settle(job, *question, built, draft, watch).await;
                }
                Some(Effect::ReplyWithDigest) => {
                    let draft = offline(&question);
                    return self.settle(job, *question, built, draft, watch).await;
                }
                Some(Effect::ReplyWithApology) => {
                    let draft = apology(&question);
                    return self.settle(job, *question, built, draft, watch).await;
                }
                Some(Effect::Close) | None => return Ok(self.close(job).await?),
            };
        }
    }

    async fn find(&self, job: &Job) -> store::Result<Found> {
        let Some((chat, message)) = parse_message_key(&job.key) else { return Ok(Found::Gone) };
        let (params, bot) = (self.parts.params.clone(), self.parts.bot.clone());
        let languages = self.parts.languages;
        self.parts.store.read(move |conn| find(conn, (chat, message), &params, &bot, languages)).await
    }

    /// The same question with half of the room for its window.
    async fn halve(&self, question: &mut Question) -> store::Result<()> {
        let trigger = question.trigger.clone();
        let params = Params { token_budget: self.parts.params.token_budget / 2, ..self.parts.params.clone() };
        question.window = crate::context::run::get_smart_context(&self.parts.store, trigger, params).await?;
        Ok(())
    }

    fn prompt(&self, question: &Question, context_tokens: usize) -> anyhow::Result<BuiltPrompt> {
        // Nobody outside this process has seen it when the members wrote their messages.
        let fence = Ulid::from_parts(0, crate::resilience::random().into()).to_string();
        let fence = fence.get(12..).unwrap_or(&fence).to_owned();
        Ok(prompt::build(
            &self.parts.prompts,
            &PromptInput {
                bot_name: &self.parts.bot.name,
                chat_title: question.chat.chat.title.as_deref(),
                chat_kind: question.chat.chat.kind,
                now: self.parts.clock.now(),
                trigger: &question.trigger,
                ask: &question.ask,
                generic: question.generic,
                window: &question.window,
                fence: &fence,
                earliest: question.earliest,
                context_tokens,
                estimate: self.parts.params.estimate,
            },
        )?)
    }

    /// Asks the model, with a sign of work in the chat as soon as it takes a while.
    async fn ask(&self, question: &Question, built: &BuiltPrompt) -> Result<Completion, LlmError> {
        let Llm::OpenAi(model) = &self.parts.llm else { return Err(LlmError::NotConfigured("offline")) };
        let message = |role, content: &str| PromptMessage { role, content: content.to_owned() };
        let prompt = Prompt {
            messages: vec![message(PromptRole::System, &built.system), message(PromptRole::User, &built.user)],
            max_answer_tokens: MAX_ANSWER_TOKENS,
            temperature: None,
        };
        let watch = self.parts.clock.stopwatch();
        let answered = tokio::select! {
            answered = model.complete(&prompt, &self.parts.clock) => answered,
            () = self.keep_typing(question.trigger.message.chat, question.trigger.message.thread) => {
                Err(LlmError::NotConfigured("typing never ends"))
            }
        };
        let ms = u64::try_from(watch.elapsed().as_millis()).unwrap_or(u64::MAX);
        match &answered {
            Ok(_) => tracing::info!(phase = "model", ms, "chat.metrics"),
            Err(error) => tracing::warn!(phase = "model", ms, %error, "chat.error: the model did not answer"),
        }
        answered
    }

    /// Never returns; a failure never matters.
    async fn keep_typing(&self, chat: ChatId, thread: Option<ThreadId>) {
        self.parts.clock.sleep(TYPING_AFTER).await;
        loop {
            if let Err(error) = self.parts.telegram.typing(chat, thread).await {
                tracing::debug!(%error, "no sign of typing");
            }
            self.parts.clock.sleep(TYPING_EVERY).await;
        }
    }

    /// Checks citations, formats, and stores answer, reply and the end of the job in one transaction.
    async fn settle(
        &self,
        job: &Job,
        question: Question,
        built: BuiltPrompt,
        draft: Draft,
        watch: Stopwatch,
    ) -> anyhow::Result<()> {
        let now = self.parts.clock.now();
        let given = citable(&question);
        let checked = citations::check(&draft.markdown, &given, now);
        log_citations(&checked);
        let parts = format_parts(&checked.text, &links(&given), &names(&question, &self.parts.bot));
        let record = record(&question, built, draft, checked, now, watch);
        tracing::Span::current().record("answer.id", tracing::field::display(record.id));
        tracing::info!(
            status = record.status.as_str(),
            window = record.window.len(),
            sources = record.sources.len(),
            latency_ms = record.latency_ms,
            "answer {} is ready",
            record.id,
        );
        let reply = reply_to(&question.trigger, record.id, format!("answer:{}", job.key), parts);
        let key = job.key.clone();
        let is_written = self
            .parts
            .store
            .write(Priority::Answering, move |tx| {
                if rests_on_what_is_gone(tx, &record)? {
                    return Ok(false);
                }
                answers::save(tx, &record)?;
                write_reply(tx, &reply, now)?;
                jobs::finish(tx, JobKind::Answer, &key)?;
                Ok(true)
            })
            .await?;
        anyhow::ensure!(is_written, "a message of the window was forgotten while the answer was made");
        self.parts.wake.wake();
        Ok(())
    }

    async fn close(&self, job: &Job) -> store::Result<()> {
        let key = job.key.clone();
        self.parts.store.write(Priority::Answering, move |tx| jobs::finish(tx, JobKind::Answer, &key)).await
    }
}

fn find(
    conn: &Reader,
    (chat, id): (ChatId, MessageId),
    params: &Params,
    bot: &BotIdentity,
    languages: &Languages,
) -> store::Result<Found> {
    let (Some(trigger), Some(row)) = (consent::for_job(conn, chat, id)?, chats::find(conn, chat)?) else {
        return Ok(Found::Gone);
    };
    if answers::to_trigger(conn, trigger.chat, trigger.seq)?.is_some() {
        return Ok(Found::Answered);
    }
    let parent = match trigger.message.reply_to {
        Some(parent) => messages::find(conn, chat, parent)?.map(|stored| stored.message),
        None => None,
    };
    // That it is a trigger was decided when it came in; here its ask is read.
    let rules = Rules { parent_is_answer: true, languages };
    let found = trigger::find(&trigger.message, parent.as_ref(), bot, row.chat.kind, &rules);
    let (ask, generic) =
        found.map_or_else(|| (trigger.message.text.clone(), false), |found| (found.ask, found.generic));
    let window = pick(conn, trigger.clone(), params)?;
    let earliest = messages::earliest(conn, trigger.chat)?;
    Ok(Found::Ready(Box::new(Question { trigger, chat: row, ask, generic, window, earliest })))
}

/// Whether somebody had a message forgotten, or opted out, while the model was thinking about it.
fn rests_on_what_is_gone(conn: &Reader, record: &AnswerRecord) -> store::Result<bool> {
    let trigger = messages::any_by_seq(conn, record.chat, record.trigger)?.map(|stored| stored.message);
    let still_asked = trigger.map_or(Ok(None), |trigger| consent::for_job(conn, trigger.chat, trigger.id))?;
    if still_asked.is_none() {
        return Ok(true);
    }
    for chosen in &record.window {
        if messages::by_seq(conn, record.chat, chosen.seq)?.is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn failure_of(error: &LlmError) -> Failure {
    match error.recovery() {
        Recovery::ShrinkPrompt => Failure::PromptTooLong,
        Recovery::RetryLater(_) | Recovery::GiveUp => Failure::Final,
    }
}

fn answered(completion: Completion) -> Draft {
    Draft {
        status: AnswerStatus::Answered,
        markdown: completion.text,
        model: completion.model,
        tokens: completion.tokens,
    }
}

fn offline(question: &Question) -> Draft {
    Draft {
        status: AnswerStatus::Offline,
        markdown: digest::digest(&question.window, question.earliest),
        model: "offline".to_owned(),
        tokens: TokenUse::default(),
    }
}

fn apology(question: &Question) -> Draft {
    Draft {
        status: AnswerStatus::Apologised,
        markdown: wording::apology(&question.window),
        model: "none".to_owned(),
        tokens: TokenUse::default(),
    }
}

/// What the answer may cite: the messages of the window.
fn citable(question: &Question) -> Vec<Citable> {
    let cite = |stored: &StoredMessage| Citable {
        id: format!("m{}", stored.seq),
        name: stored.message.sender.name.clone(),
        sent_at: stored.message.sent_at,
        text: stored.message.rendered(),
        link: message_link(&question.chat.chat, stored.message.thread, stored.message.id),
    };
    question.window.entries.iter().map(|entry| cite(&entry.message)).collect()
}

fn links(given: &[Citable]) -> Vec<&str> {
    given.iter().filter_map(|source| source.link.as_deref()).collect()
}

/// Usernames that the answer may mention: of those in the window, and our own.
fn names<'a>(question: &'a Question, bot: &'a BotIdentity) -> Vec<&'a str> {
    let of_window = question.window.entries.iter().filter_map(|entry| entry.message.message.sender.username.as_deref());
    of_window.chain(bot.usernames.iter().map(String::as_str)).collect()
}

fn record(
    question: &Question,
    built: BuiltPrompt,
    draft: Draft,
    checked: Checked,
    now: Timestamp,
    watch: Stopwatch,
) -> AnswerRecord {
    let moment = u64::try_from(now.millis()).unwrap_or(0);
    let dropped: Vec<MessageId> = built.omitted.iter().map(|omitted| omitted.id).collect();
    let mut window = question.window.chosen();
    window.retain(|chosen| !dropped.contains(&chosen.id));
    let omitted = question.window.omitted.iter().cloned().chain(built.omitted).collect();
    AnswerRecord {
        id: AnswerId(Ulid::from_parts(moment, crate::resilience::random().into())),
        chat: question.trigger.chat,
        thread: question.trigger.message.thread,
        trigger: question.trigger.seq,
        asked_by: question.trigger.message.sender.id,
        created_at: now,
        status: draft.status,
        text: checked.text,
        anchor: question.window.anchor,
        window,
        omitted,
        slots: built.slots,
        sources: checked.sources,
        model: draft.model,
        tokens: draft.tokens,
        latency_ms: u64::try_from(watch.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

fn log_citations(checked: &Checked) {
    tracing::info!(
        generated_ids = ?checked.generated, valid_ids = ?checked.valid, removed = ?checked.removed, "chat.citations"
    );
}
