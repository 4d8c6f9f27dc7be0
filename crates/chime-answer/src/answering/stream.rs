//! Shows an answer while the model writes it: as drafts in private chats, elsewhere as a message that is edited.
//!
//! A row in `reply_stream` is written before the message is sent, so that after a crash the whole answer replaces that
//! message. Drafts disappear by themselves.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::answering::ask::Answering;
use crate::answering::log;
use crate::answering::question::QuestionContext;
use crate::answering::reply::{format_own, format_parts};
use crate::citations;
use crate::echo::{without_echo, without_heads};
use crate::prompt::BuiltPrompt;
use crate::stream::{DRAFT_EVERY, EDIT_EVERY, FIRST_TOKENS, PLACEHOLDER_AFTER, may_show, settled};
use crate::uncertainty;
use chime_access::gateway::AskError;
use chime_access::gateway::ask::{ModelCall, UsageRecord};
use chime_core::chat_settings::STREAMING;
use chime_core::config::Redaction;
use chime_core::texts::texts;
use chime_core::{ChatKind, Citable, FormattedText, Grounding, Job, MessageId, Outgoing, ReplyTarget, estimate_tokens};
use chime_llm::{AnswerProgress, Completion, Prompt};
use chime_privacy::Masks;
use chime_store::{Priority, Store, Writer, reply_streams};
use chime_telegram::{Telegram, TelegramError};

/// Suffix of an unfinished answer.
const MORE_COMES: &str = " …";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PreviewPlace {
    Draft,
    Message(MessageId),
    NewMessage,
}

enum PreviewOutcome {
    Yes(PreviewPlace),
    /// Not this time; the next attempt may succeed.
    Skipped,
    /// Nothing more can be shown until the answer is complete.
    Never,
}

impl Answering {
    /// Asks the model, and shows the answer while it is written if the chat wants that. If all purposes are redacted,
    /// personal data is masked in the prompt and restored in the answer.
    pub(super) async fn ask_showing(
        &self,
        job: &Job,
        question: &QuestionContext,
        built: &BuiltPrompt,
        ask: ModelCall<'_>,
    ) -> Result<(Completion, UsageRecord), AskError> {
        let mut masks = Masks::default();
        let masked = (self.parts.redaction == Redaction::All).then(|| masked(ask.prompt, &mut masks));
        let ask = ModelCall { prompt: masked.as_ref().unwrap_or(ask.prompt), ..ask };
        let answered = self.ask_in_the_open(job, question, built, ask, &masks).await;
        answered.map(|(completion, bill)| (Completion { text: masks.unmask(&completion.text), ..completion }, bill))
    }

    /// Does the same as [`ask_showing`](Self::ask_showing) for a prompt that is already masked. `masks` restores the
    /// data in the shown text.
    async fn ask_in_the_open(
        &self,
        job: &Job,
        question: &QuestionContext,
        built: &BuiltPrompt,
        ask: ModelCall<'_>,
        masks: &Masks,
    ) -> Result<(Completion, UsageRecord), AskError> {
        if !self.streams(question) {
            return self.ask_behind_placeholder(job, question, ask).await;
        }
        let (progress, stop) = (AnswerProgress::default(), CancellationToken::new());
        let asking = async {
            let answered = question.gateway.ask_showing(ask, &progress).await;
            stop.cancel();
            answered
        };
        // Both futures run to the end: the id of a message that is being sent must be stored before the whole answer
        // arrives.
        let (answered, shown) = tokio::join!(asking, self.show(job, question, built, &progress, masks, &stop));
        if let Err(error) = shown {
            tracing::warn!(%error, "an answer was not shown while it was written");
        }
        answered
    }

    /// Asks, and sends a placeholder in a group if the answer takes a while. The answer replaces it.
    async fn ask_behind_placeholder(
        &self,
        job: &Job,
        question: &QuestionContext,
        ask: ModelCall<'_>,
    ) -> Result<(Completion, UsageRecord), AskError> {
        let stop = CancellationToken::new();
        let asking = async {
            let answered = question.gateway.ask_within_budget(ask).await;
            stop.cancel();
            answered
        };
        if question.is_unasked || question.chat.chat.kind == ChatKind::Private {
            return asking.await;
        }
        // Both futures run to the end, for the same reason as above.
        let (answered, shown) = tokio::join!(asking, self.hold_place(job, question, &stop));
        if let Err(error) = shown {
            tracing::warn!(%error, "no message held the place of an answer");
        }
        answered
    }

    /// Sends a placeholder after [`PLACEHOLDER_AFTER`], unless the answer is complete (`stop`) or a message already
    /// shows it.
    async fn hold_place(
        &self,
        job: &Job,
        question: &QuestionContext,
        stop: &CancellationToken,
    ) -> chime_store::Result<()> {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = self.parts.clock.sleep(PLACEHOLDER_AFTER) => {}
        }
        let (key, now) = (job.payload.reply_key(), self.parts.clock.now());
        let Some(PreviewPlace::NewMessage) = self.place(question, &key).await? else { return Ok(()) };
        if !may_show(self.parts.lanes.traffic(question.trigger().message.chat, now), now) {
            return Ok(());
        }
        let words = &texts(question.chat.speaks().code()).one_moment;
        if let Some(content) = format_own(words).into_iter().next() {
            self.open(&key, question, content).await?;
        }
        Ok(())
    }

    /// Returns `true` if the answer to `question` is shown while it is written.
    fn streams(&self, question: &QuestionContext) -> bool {
        // In strict chats, statements without a source are marked only in the complete answer.
        let is_open = question.grounding() == Grounding::Open;
        is_open
            && !question.is_unasked
            && question
                .chat
                .settings
                .get(STREAMING)
                .unwrap_or_else(|| self.parts.streaming.in_chats_of(question.chat.chat.kind))
    }

    /// Shows the text of `progress` until `stop`.
    async fn show(
        &self,
        job: &Job,
        question: &QuestionContext,
        built: &BuiltPrompt,
        progress: &AnswerProgress,
        masks: &Masks,
        stop: &CancellationToken,
    ) -> chime_store::Result<()> {
        let key = job.payload.reply_key();
        let Some(mut place) = self.place(question, &key).await? else { return Ok(()) };
        let watch = self.parts.clock.stopwatch();
        let (mut words, mut is_first) = (progress.watch(), true);
        // Text that arrived before the loop starts is shown too.
        words.mark_changed();
        let given: Vec<Citable> = question.citable().into_iter().chain(built.citable.clone()).collect();
        if matches!(place, PreviewPlace::Message(_)) {
            // Before a tool call, the message may have been edited a moment ago: the next edit has to keep the
            // interval.
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.parts.clock.sleep(every(place)) => {}
            }
        }
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                changed = words.changed() => if changed.is_err() { return Ok(()) },
            }
            let text = masks.unmask(settled(&words.borrow_and_update()));
            let Some(content) = self.preview(question, built, &given, &text) else { continue };
            let now = self.parts.clock.now();
            let shown = if may_show(self.parts.lanes.traffic(question.trigger().message.chat, now), now) {
                progress.note_shown();
                self.show_once(&key, question, place, content).await?
            } else {
                PreviewOutcome::Skipped
            };
            match shown {
                PreviewOutcome::Yes(next) => {
                    if std::mem::take(&mut is_first) {
                        log::first_shown(watch.elapsed());
                    }
                    place = next;
                }
                PreviewOutcome::Skipped => {}
                PreviewOutcome::Never => return Ok(()),
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.parts.clock.sleep(every(place)) => {}
            }
        }
    }

    /// Returns the place where the answer is shown; `None` if a message may have been sent whose id is unknown.
    async fn place(&self, question: &QuestionContext, key: &str) -> chime_store::Result<Option<PreviewPlace>> {
        let reply = key.to_owned();
        Ok(match self.parts.store.read(move |conn| reply_streams::find(conn, &reply)).await? {
            Some(stream) => stream.message.map(PreviewPlace::Message),
            None if question.chat.chat.kind == ChatKind::Private && self.has_drafts() => Some(PreviewPlace::Draft),
            None => Some(PreviewPlace::NewMessage),
        })
    }

    fn has_drafts(&self) -> bool {
        !self.drafts_refused.load(Ordering::Relaxed)
    }

    /// Formats `text`, the part of an unfinished answer that may be shown; `None` if it is too short or repeats the
    /// prompt.
    fn preview(
        &self,
        question: &QuestionContext,
        built: &BuiltPrompt,
        given: &[Citable],
        text: &str,
    ) -> Option<FormattedText> {
        if estimate_tokens(text) < FIRST_TOKENS {
            return None;
        }
        let (text, _) = uncertainty::split(text);
        let text = without_heads(&text, &self.parts.bot.name, |name| built.labels.has_name(name));
        let text = without_echo(&text, &built.instructions, &built.fence)?;
        let linked = citations::linked(&text, built.material(given, question.trigger()));
        let links: Vec<&str> = given.iter().flat_map(citations::links).collect();
        let parts = format_parts(&format!("{linked}{MORE_COMES}"), &links, &question.names(&self.parts.bot));
        parts.into_iter().next()
    }

    async fn show_once(
        &self,
        key: &str,
        question: &QuestionContext,
        place: PreviewPlace,
        content: FormattedText,
    ) -> chime_store::Result<PreviewOutcome> {
        let message = &question.trigger().message;
        let (chat, now) = (message.chat, self.parts.clock.now());
        let shown = match place {
            PreviewPlace::Draft => {
                let drafted = self.parts.telegram.draft(chat, message.thread, message.id, &content).await;
                if drafted.as_ref().is_err_and(TelegramError::is_lasting) {
                    self.drafts_refused.store(true, Ordering::Relaxed);
                    return Ok(PreviewOutcome::Yes(PreviewPlace::NewMessage));
                }
                drafted.map(|()| place)
            }
            PreviewPlace::Message(id) => {
                self.parts.lanes.note_sent(chat, now);
                self.parts.telegram.edit(chat, id, &content, &[]).await.map(|()| place)
            }
            PreviewPlace::NewMessage => return self.open(key, question, content).await,
        };
        Ok(match shown {
            Ok(place) => PreviewOutcome::Yes(place),
            Err(TelegramError::Throttled { retry_after }) => {
                self.parts.lanes.hold(chat, now, now.plus(retry_after));
                PreviewOutcome::Skipped
            }
            Err(error) if error.is_lasting() => {
                tracing::info!(%error, "no more of the answer is shown before it is whole");
                PreviewOutcome::Never
            }
            Err(_) => PreviewOutcome::Skipped,
        })
    }

    /// Sends the message that shows the answer while it is written, and stores its id.
    async fn open(
        &self,
        key: &str,
        question: &QuestionContext,
        content: FormattedText,
    ) -> chime_store::Result<PreviewOutcome> {
        let message = &question.trigger().message;
        let (chat, reply, now) = (message.chat, key.to_owned(), self.parts.clock.now());
        let noted = move |tx: &Writer<'_>| reply_streams::open(tx, &reply, chat, now);
        self.parts.store.write(Priority::Answering, noted).await?;
        self.parts.lanes.note_sent(chat, now);
        let to = ReplyTarget { chat, thread: message.thread, reply_to: Some(message.id) };
        let sent = self.parts.telegram.send(&Outgoing::new(to, content)).await;
        let reply = key.to_owned();
        match sent {
            Ok(sent) => {
                let noted = move |tx: &Writer<'_>| reply_streams::set_message(tx, &reply, sent.id);
                self.parts.store.write(Priority::Answering, noted).await?;
                Ok(PreviewOutcome::Yes(PreviewPlace::Message(sent.id)))
            }
            // The message may have been delivered, but its id is unknown.
            Err(TelegramError::Unknown(_) | TelegramError::Malformed { .. }) => Ok(PreviewOutcome::Never),
            Err(error) => {
                self.parts.store.write(Priority::Answering, move |tx| reply_streams::close(tx, &reply)).await?;
                match error {
                    TelegramError::Throttled { retry_after } => {
                        self.parts.lanes.hold(chat, now, now.plus(retry_after));
                        Ok(PreviewOutcome::Skipped)
                    }
                    TelegramError::NotSent(_) | TelegramError::Failed { .. } => Ok(PreviewOutcome::Skipped),
                    _ => Ok(PreviewOutcome::Never),
                }
            }
        }
    }

    pub(super) async fn take_back(&self, job: &Job) -> chime_store::Result<()> {
        take_back(&self.parts.store, &self.parts.telegram, &job.payload.reply_key()).await
    }
}

/// Deletes the message in which the reply `key` was shown, if there is one.
pub async fn take_back(store: &Store, telegram: &Telegram, key: &str) -> chime_store::Result<()> {
    let reply = key.to_owned();
    let Some(stream) = store.read(move |conn| reply_streams::find(conn, &reply)).await? else { return Ok(()) };
    if let Some(message) = stream.message
        && let Err(error) = telegram.delete(stream.chat, message).await
    {
        tracing::info!(%error, "the beginning of an answer could not be taken back");
    }
    let reply = key.to_owned();
    store.write(Priority::Answering, move |tx| reply_streams::close(tx, &reply)).await
}

/// Returns `prompt` with personal data masked.
fn masked(prompt: &Prompt, masks: &mut Masks) -> Prompt {
    let mut prompt = prompt.clone();
    for message in &mut prompt.messages {
        message.content = masks.mask(&message.content);
    }
    for round in &mut prompt.tools.rounds {
        round.said = masks.mask(&round.said);
        for result in &mut round.results {
            *result = masks.mask(result);
        }
    }
    prompt
}

fn every(place: PreviewPlace) -> Duration {
    match place {
        PreviewPlace::Draft => DRAFT_EVERY,
        PreviewPlace::Message(_) | PreviewPlace::NewMessage => EDIT_EVERY,
    }
}
