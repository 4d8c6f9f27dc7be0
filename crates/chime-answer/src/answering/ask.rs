//! Makes one answer: from the job to the reply in the outbox.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::AtomicBool;

use tokio::sync::Semaphore;
use tracing::Instrument;

use crate::answering::askers::may_ask;
use crate::answering::draft::{Draft, answered, apology, clarifying, failure_of, guarded, without_model};
use crate::answering::grounding::unanswerable;
use crate::answering::load_question::{find, halve};
use crate::answering::load_trigger::TriggerState;
use crate::answering::owners::tell_owners;
use crate::answering::parts::AnsweringParts;
use crate::answering::question::QuestionContext;
use crate::answering::recheck::{SaveOutcome, rests_on_forgotten};
use crate::answering::record::record;
use crate::answering::reply::reply_to;
use crate::answering::transcribe::transcribe_nearby;
use crate::answering::typing::while_typing;
use crate::answering::unanswered::{close, count_as_old, refuse};
use crate::answering::{concepts, follow_up, introduction, log};
use crate::echo::{has_words, is_about_rules, plays_on, restates, without_echo, without_heads};
use crate::extractive_ranking::Query;
use crate::grounding::{sentences, without_source_links};
use crate::job::{Backend, Blame, ModelChoice, ModelFailure, Step, WindowSize, begin};
use crate::lines::Style;
use crate::prompt::{self, BuiltPrompt, PromptInput};
use crate::read_text::UnreadMemory;
use crate::support::Support;
use crate::used::used;
use crate::{citations, uncertainty};
use chime_access::Allowance;
use chime_access::gateway::ask::{ModelCall, UsageRecord};
use chime_access::gateway::{AskError, Economy, ModelPurpose};
use chime_core::chat_settings::{ANSWER_LENGTH, LANGUAGE};
use chime_core::prompts::PromptError;
use chime_core::texts::notices;
use chime_core::{Because, Citable, FormattedText, Grounding, Job, JobKind, Language, MessageAt, ParsedTrigger, Seq};
use chime_jobs::{JobError, JobOutcome, JobResult};
use chime_llm::{Completion, Prompt};
use chime_runtime::clock::Stopwatch;
use chime_store::outbox::NewReply;
use chime_store::{answers, jobs, outbox, topics};

/// Maximum number of questions analysed at the same time. Each analysis occupies two threads and ends before the model
/// is asked.
const WORKED_OUT_AT_ONCE: usize = 8;

pub struct Answering {
    pub(super) parts: AnsweringParts,
    /// Limits the number of questions that are analysed at the same time.
    pub(super) places: Semaphore,
    /// `true` after the Bot API server refused a draft: older servers do not support drafts.
    pub(super) drafts_refused: AtomicBool,
    /// Random keys of this process, from which the delimiters around untrusted text are made.
    fences: RandomState,
    /// Pages and documents that could not be read lately.
    pub(super) unread: UnreadMemory,
}

impl Answering {
    pub fn new(parts: AnsweringParts) -> Self {
        Self {
            parts,
            places: Semaphore::new(WORKED_OUT_AT_ONCE),
            drafts_refused: AtomicBool::new(false),
            fences: RandomState::new(),
            unread: UnreadMemory::default(),
        }
    }

    /// Runs an `answer` job for the trigger `at`.
    pub async fn run(&self, job: &Job, at: MessageAt, parsed: &ParsedTrigger) -> JobResult {
        self.answer(job, at, parsed).instrument(log::trigger_span(at)).await?;
        Ok(JobOutcome::Finished)
    }

    async fn answer(&self, job: &Job, at: MessageAt, parsed: &ParsedTrigger) -> Result<(), JobError> {
        let watch = self.parts.clock.stopwatch();
        self.parts.gateway.wait_for_facts().await;
        transcribe_nearby(&self.parts, at, parsed).await;
        let is_unasked = job.kind() == JobKind::Ambient;
        let mut question = match find(&self.parts, &self.places, at, parsed, is_unasked).await? {
            TriggerState::Ready(question) => question,
            TriggerState::Old(trigger) => return count_as_old(&self.parts, job, &trigger).await,
            TriggerState::Gone => {
                self.take_back(job).await?;
                return close(&self.parts, job).await;
            }
            TriggerState::Answered => return close(&self.parts, job).await,
        };
        if !may_ask(&self.parts, &question.chat, question.asker()).await? {
            self.take_back(job).await?;
            return refuse(&self.parts, job, question.trigger(), Because::AdminsOnly).await;
        }
        question.is_unasked = is_unasked;
        log::found(question.trigger(), &question.window, watch.elapsed());
        question.follow_up = question.going_on.resolve(&question.history.ask);
        let backend = self.backend(&question);
        if is_unasked && backend != Backend::Model {
            return close(&self.parts, job).await;
        }
        if backend == Backend::Model && question.gateway.sees_pictures() {
            question.photos = self.look_at(&question).await;
        }
        if matches!(backend, Backend::Model | Backend::Thrifty | Backend::Offline) {
            self.read_material(&mut question).await;
        }
        let mut built = self.prompt(&question, question.gateway.prompt_room(ModelPurpose::Answer))?;
        let mut step = begin(job.attempts, backend);
        let draft = loop {
            step = match step {
                Step::Ask(asking) => {
                    match asking.window {
                        WindowSize::Full => {}
                        WindowSize::Halved => {
                            question.photos.clear();
                            halve(&self.parts, &mut question).await?;
                            built = self.prompt(&question, Some(built.tokens() / 2))?;
                        }
                        WindowSize::Plainest => {
                            question.photos.clear();
                            question.leave_extras_out();
                            built = self.prompt(&question, question.gateway.prompt_room(ModelPurpose::Answer))?;
                        }
                    }
                    // Boxed: the compiler limits how deeply futures may be nested.
                    let answered = Box::pin(self.converse(job, &mut question, &mut built, asking)).await;
                    asking.ended(answered.and_then(|(completion, bill)| {
                        self.usable(&mut question, &built, completion, bill, asking.window)
                    }))
                }
                Step::Reply(draft) => break draft,
                Step::Digest => {
                    break without_model(&question, self.query(&question));
                }
                Step::AskBack(question_back) => break clarifying(question_back),
                Step::Guard(guard) => {
                    log::guarded(guard);
                    break guarded(question.chat.speaks());
                }
                Step::Apologise(_) if is_unasked => return close(&self.parts, job).await,
                Step::Apologise(blame) => break self.apology(&question, blame),
                Step::Refuse(because) => {
                    self.take_back(job).await?;
                    return refuse(&self.parts, job, question.trigger(), because).await;
                }
            };
        };
        self.settle(job, *question, built, draft, watch).await
    }

    /// Decides how a question is answered: by the model, or without it.
    fn backend(&self, question: &QuestionContext) -> Backend {
        let question_back = follow_up::clarifying(&question.follow_up, question.chat.speaks());
        let guard = unanswerable(&self.parts, question);
        match (question_back, guard, question.gateway.allowance(question.spent)) {
            (Some(question_back), ..) => Backend::NotNeeded(question_back),
            (None, Some(guard), _) => Backend::Guarded(guard),
            (None, None, _) if question.gateway.is_offline() => Backend::Offline,
            (None, None, Allowance::Ample) => Backend::Model,
            (None, None, Allowance::Tight) => Backend::Thrifty,
            (None, None, Allowance::Over(because)) => Backend::Spent(because),
        }
    }

    /// Returns the part of `completion` that can be shown.
    ///
    /// # Errors
    /// [`ModelFailure::Unusable`] if nothing can: it repeats the prompt, the question or an earlier answer, or holds
    /// only citations.
    fn usable(
        &self,
        question: &mut QuestionContext,
        built: &BuiltPrompt,
        completion: Completion,
        bill: UsageRecord,
        window: WindowSize,
    ) -> Result<Draft, ModelFailure> {
        let (text, uncertainty) = uncertainty::split(&completion.text);
        let text = without_heads(&text, &self.parts.bot.name, |name| built.labels.has_name(name));
        let text = without_echo(&text, &built.instructions, &built.fence).filter(|text| {
            let is_worth_another = window != WindowSize::Plainest
                && (question.is_repeated_by(text) || restates(text, &question.history.ask, question.asker_name()));
            self.says_something(question, built, text) && !is_worth_another && !self.is_nonsense(question, built, text)
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

    /// Returns `true` if `text` goes on with the chat or is about the rules, as small models write. A tiny model also
    /// needs a message that supports a sentence.
    fn is_nonsense(&self, question: &QuestionContext, built: &BuiltPrompt, text: &str) -> bool {
        let (given, ask) = (question.citable(), &question.history.ask);
        let talk = given.iter().map(|it| it.text.as_str()).chain([ask.as_str()]);
        let (gateway, purpose) = (&question.gateway, ModelPurpose::Answer);
        let is_tiny = gateway.server_facts(purpose).is_tiny(gateway.model_name(purpose));
        if plays_on(text, question.generic || is_tiny, |name| built.labels.has_name(name))
            || is_about_rules(text, &built.instructions, &built.fence, talk)
        {
            return true;
        }
        if !is_tiny {
            return false;
        }
        let embedder = self.parts.features.embedder();
        let embed = |text: &str| embedder.map(|embedder| embedder.embed(text)).unwrap_or_default();
        let support = Support::new(&given, ask, &self.parts.bot.name, &embed);
        text.lines().flat_map(sentences).all(|sentence| support.sources_of(&sentence).is_empty())
    }

    /// Returns `true` if words are left in `text` after its citations are removed.
    fn says_something(&self, question: &QuestionContext, built: &BuiltPrompt, text: &str) -> bool {
        /// In bytes. A longer text certainly has words besides its citations.
        const SHORT: usize = 80;
        if text.len() > SHORT || !has_words(text) {
            return !text.trim().is_empty();
        }
        let given: Vec<Citable> = question.citable().into_iter().chain(built.citable.clone()).collect();
        let linked = citations::linked(text, built.material(&given, question.trigger()));
        has_words(&without_source_links(&linked))
    }

    /// Builds the prompt. `room` is the token limit of the whole prompt; `None` if the context size of the model is
    /// unknown.
    fn prompt(&self, question: &QuestionContext, room: Option<usize>) -> Result<BuiltPrompt, PromptError> {
        // Derived from random keys, so that members cannot guess the delimiter. It is the same for all questions of a
        // chat, so that model servers can reuse cached prefixes.
        let fence = letters(self.fences.hash_one(question.chat.key));
        prompt::build(
            &self.parts.prompts,
            &PromptInput {
                bot_name: &self.parts.bot.name,
                chat_title: question.chat.chat.title.as_deref(),
                chat_kind: question.chat.chat.kind,
                grounding: question.grounding(),
                topic: question.topic.as_deref(),
                photos: &question.photos.iter().map(|shown| shown.seq).collect::<Vec<_>>(),
                people: &question.people,
                style: question.style,
                length: question.chat.settings.get(ANSWER_LENGTH).unwrap_or_default(),
                language: question.language().map(Language::english_name),
                now: self.parts.clock.now(),
                zone: question.zone,
                trigger: question.trigger(),
                ask: &question.history.ask,
                generic: question.generic && !question.follow_up.is_telling(),
                window: &question.window,
                recalled: &question.recalled,
                follow_up: Some(&question.follow_up),
                // Left out of plain prompts, which are for small models.
                concepts: &if question.style == Style::Numbered { question.scope.lines() } else { Vec::new() },
                fence: &fence,
                earliest: question.earliest,
                estimate: self.parts.params.estimate,
                enrichment: &question.enrichment,
                room,
            },
        )
    }

    fn query<'a>(&'a self, question: &'a QuestionContext) -> Query<'a> {
        let embedder = self.parts.features.embedder();
        Query { ask: &question.history.ask, bot: &self.parts.bot, embedder }
    }

    fn apology(&self, question: &QuestionContext, blame: Blame) -> Draft {
        let query = self.query(question);
        let speaks =
            question.chat.settings.get(LANGUAGE).or_else(|| question.language()).unwrap_or(question.chat.language);
        apology(&question.window, query, speaks, blame)
    }

    /// Asks the model, and shows in the chat that the bot is typing.
    pub(super) async fn ask(
        &self,
        job: &Job,
        question: &QuestionContext,
        built: &BuiltPrompt,
        prompt: &Prompt,
        choice: ModelChoice,
    ) -> Result<(Completion, UsageRecord), ModelFailure> {
        let watch = self.parts.clock.stopwatch();
        let ask = ModelCall {
            purpose: ModelPurpose::Answer,
            conversation: question.trigger().conversation(),
            on_behalf_of: (!question.is_unasked).then(|| question.asker()),
            economy: match choice {
                ModelChoice::Best => Economy::Best,
                ModelChoice::Cheaper => Economy::Cheaper,
            },
            prompt,
        };
        let message = &question.trigger().message;
        let asking = self.ask_showing(job, question, built, ask);
        let answered = match question.is_unasked {
            true => asking.await,
            false => while_typing(&self.parts.telegram, &self.parts.clock, message, asking).await,
        };
        log::asked(&answered, watch.elapsed());
        if let Err(AskError::Final(error)) = &answered {
            tell_owners(&self.parts, error).await;
        }
        answered.map_err(|error| failure_of(&error))
    }

    /// Checks the citations of the draft, formats it, and stores the answer, the reply and the end of the job in one
    /// transaction.
    async fn settle(
        &self,
        job: &Job,
        mut question: QuestionContext,
        built: BuiltPrompt,
        draft: Draft,
        watch: Stopwatch,
    ) -> Result<(), JobError> {
        let now = self.parts.clock.now();
        let given: Vec<Citable> = question.citable().into_iter().chain(built.citable.clone()).collect();
        let links: Vec<&str> = given.iter().flat_map(citations::links).collect();
        let material = built.material(&given, question.trigger());
        let mark = unsourced_mark(&question, &draft);
        let language = question.language().unwrap_or(question.chat.speaks());
        question.remarks.extend(question.left_out(language));
        let remarks: &[String] = if draft.may_use_material() { &question.remarks } else { &[] };
        let known = draft.is_of_a_model().then(|| built.known_words(&given));
        let words = citations::CitationWords { language: language.code(), mark, known: known.as_ref(), remarks };
        let embedder = self.parts.features.embedder();
        let embed = |text: &str| embedder.map(|embedder| embedder.embed(text)).unwrap_or_default();
        let support =
            draft.is_of_a_model().then(|| Support::new(&given, &question.history.ask, &self.parts.bot.name, &embed));
        let checked = citations::check(&draft.markdown, material, support.as_ref(), now, question.zone, words);
        log::citations(&checked);
        let is_silent = question.is_unasked && checked.valid.is_empty();
        let remembered = question.rested_on(draft.status, &built.citable);
        let used = used(&checked.text, &checked.valid, &remembered);
        let mut parts = draft.parts(&checked.text, &links, &question.names(&self.parts.bot));
        let introduced = self.introduce(&mut question, &mut parts).await?;
        let bills: Vec<UsageRecord> = question.bills.drain(..).chain(draft.bill.clone()).collect();
        let record = record(&question, built, draft, checked, now, watch);
        tracing::Span::current().record("answer.id", tracing::field::display(record.id));
        log::cited_outside_focus(&record);
        log::ready(MessageAt::of(question.trigger()), &record);
        let taken = follow_up::to_store(&record, &question.follow_up);
        let buttons = follow_up::poll_button(taken.as_ref(), &question.chat);
        let reply = NewReply { buttons, ..reply_to(question.trigger(), record.id, &job.payload, parts) };
        let (scope, referenced) = (question.scope.key, question.scope.referenced(&record, &question.looked_up));
        let mut rests_on = std::mem::take(&mut question.going_on.rests_on);
        let oldest_part = std::mem::take(&mut question.oldest_part);
        rests_on.extend(used.into_iter().chain(oldest_part.stood_for()));
        let grounds = remembered.iter().flat_map(|source| source.rests_on.iter().map(|it| it.message));
        let shown: Vec<Seq> = rests_on.iter().copied().chain(grounds).collect();
        let (made_for, job) = (job.clone(), job.payload.clone());
        let (chat, trigger) = (question.chat.chat.clone(), question.history.trigger.clone());
        let (remembers, captures) = (self.parts.introduction.privacy_facts.remembers, self.parts.captures_concepts);
        let announced = self.parts.introduction.privacy_facts.announces();
        let written = chime_jobs::worker::record(&self.parts.store, &self.parts.clock, move |tx| {
            for bill in &bills {
                bill.write(tx)?;
            }
            if is_silent {
                jobs::remove(tx, job.kind(), &job.key())?;
            }
            if !jobs::is_due(tx, &job)? {
                return Ok(SaveOutcome::Ended);
            }
            if rests_on_forgotten(tx, &record, &shown)? {
                return Ok(SaveOutcome::Gone);
            }
            answers::save(tx, &record)?;
            follow_up::save(tx, &record, taken.as_ref(), &rests_on)?;
            concepts::refer(tx, scope, record.id, &referenced, now);
            if captures {
                concepts::capture_soon(tx, &record, chat.id)?;
            }
            oldest_part.see_to(tx, &chat, &trigger, now)?;
            outbox::add(tx, &reply, now)?;
            if let Some(introduced) = introduced {
                introduced.note(tx, &reply.key, record.chat, announced, now)?;
            }
            if remembers {
                topics::look_again(tx, chat.id, trigger.conversation(), now)?;
            }
            jobs::finish(tx, job.kind(), &job.key())?;
            Ok(SaveOutcome::Saved)
        })
        .await?;
        self.hand_over(written, &made_for).await
    }

    /// Appends the privacy notice to the answer if the chat has not had it.
    async fn introduce(
        &self,
        question: &mut QuestionContext,
        parts: &mut Vec<FormattedText>,
    ) -> chime_store::Result<Option<introduction::NoticePosition>> {
        let Some(words) = question.introduction.take() else { return Ok(None) };
        // Another answer in the chat may have had it since it was added to this question.
        let is_due = self.parts.introduction.is_due(&self.parts.store, question.chat.key).await?;
        Ok(is_due.then(|| introduction::append(parts, words)))
    }

    async fn hand_over(&self, written: SaveOutcome, job: &Job) -> Result<(), JobError> {
        match written {
            SaveOutcome::Saved => self.parts.wake.wake(),
            SaveOutcome::Ended => {
                tracing::info!("the job was ended while it was worked on, so nothing is said");
                self.take_back(job).await?;
            }
            SaveOutcome::Gone => {
                let why = "a message of the window was forgotten while the answer was made";
                return Err(JobError::Failed(why.to_owned()));
            }
        }
        Ok(())
    }
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

/// Encodes `number` as ten letters. Digits are not used, since a small model takes a delimiter with digits for a
/// telephone number or a code.
fn letters(number: u64) -> String {
    const LETTERS: &[u8; 16] = b"BCDFGHJKLMNPQRST";
    (0..10).map(|place| char::from(LETTERS[(number >> (place * 4)) as usize % LETTERS.len()])).collect()
}
