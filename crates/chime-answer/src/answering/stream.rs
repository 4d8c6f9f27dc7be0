//! Shows an answer while the model writes it: as drafts in private chats, elsewhere as a message that is edited.
//!
//! A row in `reply_stream` is written before the message is sent, so that after a crash the whole answer replaces that
//! message. Drafts disappear by themselves.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::answering::log;
use crate::answering::question::QuestionContext;
use crate::answering::reply::{format_own, format_parts};
use crate::answering::services::Services;
use crate::citations;
use crate::echo::{without_echo, without_heads};
use crate::prompt::BuiltPrompt;
use crate::stream::{DRAFT_EVERY, EDIT_EVERY, FIRST_TOKENS, PLACEHOLDER_AFTER, may_be_one_fact, may_show, settled};
use crate::uncertainty;
use chime_access::gateway::ask::{ModelCall, UsageRecord};
use chime_access::gateway::{AskError, ModelPurpose};
use chime_core::chat_settings::STREAMING;
use chime_core::config::Redaction;
use chime_core::texts::texts;
use chime_core::{ChatKind, Citable, FormattedText, Grounding, Job, MessageId, Outgoing, ReplyTarget, estimate_tokens};
use chime_jobs::Base;
use chime_llm::{AnswerProgress, Completion, Prompt};
use chime_privacy::Masks;
use chime_store::{Priority, Writer, reply_streams};
use chime_telegram::TelegramError;

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
    /// Not shown this time; the next attempt may succeed.
    Skipped,
    /// Nothing more can be shown until the answer is complete.
    Never,
}

/// An answer that is shown before it is complete.
struct UnfinishedAnswer<'a> {
    services: &'a Services,
    question: &'a QuestionContext,
    built: &'a BuiltPrompt,
    /// Key of the reply in the outbox.
    key: String,
    /// Restores the personal data that the prompt hides from the model.
    masks: Masks,
}

/// Asks the model, and shows the answer while it is written if the chat wants that. If all purposes are redacted,
/// personal data is masked in the prompt and restored in the answer.
pub(super) async fn ask_showing(
    services: &Services,
    job: &Job,
    question: &QuestionContext,
    built: &BuiltPrompt,
    call: ModelCall<'_>,
) -> Result<(Completion, UsageRecord), AskError> {
    let (prompt, masks) = masked(services, call.prompt);
    let call = ModelCall { prompt: &prompt, ..call };
    let answer = UnfinishedAnswer { services, question, built, key: job.payload.reply_key(), masks };
    let (completion, bill) = answer.ask(call).await?;
    Ok((Completion { text: answer.masks.unmask(&completion.text), ..completion }, bill))
}

/// Asks the model without showing anything in the chat. Personal data is masked as in [`ask_showing`].
pub(super) async fn ask_unseen(
    services: &Services,
    question: &QuestionContext,
    call: ModelCall<'_>,
) -> Result<(Completion, UsageRecord), AskError> {
    let (prompt, masks) = masked(services, call.prompt);
    let (completion, bill) = question.gateway.ask_within_budget(ModelCall { prompt: &prompt, ..call }, None).await?;
    Ok((Completion { text: masks.unmask(&completion.text), ..completion }, bill))
}

/// Returns `true` if the answer to `question` is shown while it is written.
fn streams(services: &Services, question: &QuestionContext) -> bool {
    // In strict chats, statements without a source are marked only in the complete answer.
    let is_open = question.grounding() == Grounding::Open && !question.is_unasked;
    let usual = || services.base.config.answer.streaming.in_chats_of(question.chat.chat.kind);
    is_open && question.settings.get(STREAMING).unwrap_or_else(usual)
}

impl UnfinishedAnswer<'_> {
    /// Asks, and shows the answer while it is written, or a placeholder that the answer replaces.
    async fn ask(&self, call: ModelCall<'_>) -> Result<(Completion, UsageRecord), AskError> {
        let (progress, stop) = (AnswerProgress::default(), CancellationToken::new());
        let streams = streams(self.services, self.question);
        let asking = async {
            let answered = self.question.gateway.ask_within_budget(call, streams.then_some(&progress)).await;
            stop.cancel();
            answered
        };
        let showing = async {
            match streams {
                true => self.show(&progress, &stop).await,
                false => self.send_placeholder(&stop).await,
            }
        };
        // Both futures run to the end: the id of a message that is being sent must be stored before the whole answer
        // arrives.
        let (answered, shown) = tokio::join!(asking, showing);
        if let Err(error) = shown {
            tracing::warn!(%error, "an answer was not shown while it was written");
        }
        answered
    }

    /// Sends a placeholder in a group [`PLACEHOLDER_AFTER`] after work on the answer began, unless the answer is
    /// complete (`stop`) or a message already shows it.
    async fn send_placeholder(&self, stop: &CancellationToken) -> chime_store::Result<()> {
        if self.question.is_unasked || self.question.chat.chat.kind == ChatKind::Private {
            return Ok(());
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = self.services.base.clock.sleep_until(self.question.began_at.plus(PLACEHOLDER_AFTER)) => {}
        }
        let Some(PreviewPlace::NewMessage) = self.place().await? else { return Ok(()) };
        if !self.may_show() {
            return Ok(());
        }
        let words = &texts(self.question.chat.speaks().code()).one_moment;
        if let Some(content) = format_own(words).into_iter().next() {
            self.open(content).await?;
        }
        Ok(())
    }

    /// Shows the text of `progress` until `stop`.
    async fn show(&self, progress: &AnswerProgress, stop: &CancellationToken) -> chime_store::Result<()> {
        let Some(mut place) = self.place().await? else { return Ok(()) };
        let clock = &self.services.base.clock;
        let watch = clock.stopwatch();
        let (mut words, mut is_first) = (progress.watch(), true);
        // Text that arrived before the loop starts is shown too.
        words.mark_changed();
        let given = self.question.given(self.built);
        if matches!(place, PreviewPlace::Message(_)) {
            // Before a tool call, the message may have been edited a moment ago: the next edit has to keep the
            // interval.
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = clock.sleep(every(place)) => {}
            }
        }
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                changed = words.changed() => if changed.is_err() { return Ok(()) },
            }
            let text = self.masks.unmask(settled(&words.borrow_and_update()));
            let Some(content) = self.preview(&given, &text) else { continue };
            let shown = if self.may_show() {
                progress.note_shown();
                self.show_once(place, content).await?
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
                () = clock.sleep(every(place)) => {}
            }
        }
    }

    /// Returns the place where the answer is shown; `None` if a message may have been sent whose id is unknown.
    async fn place(&self) -> chime_store::Result<Option<PreviewPlace>> {
        let key = self.key.clone();
        let has_drafts = !self.services.state.drafts_refused.load(Ordering::Relaxed);
        Ok(match self.services.base.store.read(move |conn| reply_streams::find(conn, &key)).await? {
            Some(stream) => stream.message.map(PreviewPlace::Message),
            None if self.question.chat.chat.kind == ChatKind::Private && has_drafts => Some(PreviewPlace::Draft),
            None => Some(PreviewPlace::NewMessage),
        })
    }

    /// Returns `true` if the chat's rate allows another message or edit now.
    fn may_show(&self) -> bool {
        let now = self.services.base.clock.now();
        may_show(self.services.state.traffic.of(self.question.trigger().message.chat, now), now)
    }

    /// Formats `text`, the part of the answer that may be shown; `None` if it is too short or repeats the prompt.
    fn preview(&self, given: &[Citable], text: &str) -> Option<FormattedText> {
        // A made-up fact is not sent, so it is not shown either.
        let may_be_made_up = self.question.gateway.is_small(ModelPurpose::Answer) && may_be_one_fact(text.trim());
        if estimate_tokens(text) < FIRST_TOKENS || may_be_made_up {
            return None;
        }
        let (bot, built) = (self.services.base.bot(), self.built);
        let (text, _) = uncertainty::split(text);
        let text = without_heads(&text, &bot.name, |name| built.labels.has_name(name));
        let text = without_echo(&text, &built.instructions, &built.fence)?;
        // A spoiler that has not ended yet would be shown.
        let is_open = text.matches("||").count() % 2 == 1;
        let begins = |at: &usize| !text[at + 2..].starts_with(char::is_whitespace);
        let text = text.rfind("||").filter(|_| is_open).filter(begins).map_or(text.as_str(), |bars| &text[..bars]);
        let linked = citations::linked(text, built.basis(given, self.question.trigger()));
        let links: Vec<&str> = given.iter().flat_map(citations::links).collect();
        let parts = format_parts(&format!("{linked}{MORE_COMES}"), &links, &self.question.names(bot));
        parts.into_iter().next()
    }

    async fn show_once(&self, place: PreviewPlace, content: FormattedText) -> chime_store::Result<PreviewOutcome> {
        let Services { base: Base { telegram, clock, .. }, state, .. } = self.services;
        let message = &self.question.trigger().message;
        let (chat, now) = (message.chat, clock.now());
        let shown = match place {
            PreviewPlace::Draft => match telegram.draft(chat, message.forum_topic, message.id, &content).await {
                Err(TelegramError::Refused { status, .. }) => {
                    // With this status, the server does not know the method. Others are about this chat or this text.
                    if status == 404 {
                        state.drafts_refused.store(true, Ordering::Relaxed);
                    }
                    return Ok(PreviewOutcome::Yes(PreviewPlace::NewMessage));
                }
                drafted => drafted.map(|()| place),
            },
            PreviewPlace::Message(id) => {
                state.traffic.note_sent(chat, now);
                telegram.edit(chat, id, &content, &[]).await.map(|()| place)
            }
            PreviewPlace::NewMessage => return self.open(content).await,
        };
        Ok(shown.map_or_else(|error| self.failed(error), PreviewOutcome::Yes))
    }

    fn failed(&self, error: TelegramError) -> PreviewOutcome {
        match error {
            TelegramError::Throttled { retry_after } => {
                let now = self.services.base.clock.now();
                let chat = self.question.trigger().message.chat;
                self.services.state.traffic.hold(chat, now, now.plus(retry_after));
                PreviewOutcome::Skipped
            }
            TelegramError::NotSent(_) | TelegramError::Failed { .. } | TelegramError::Unknown(_) => {
                PreviewOutcome::Skipped
            }
            error => {
                tracing::info!(%error, "no more of the answer is shown before it is whole");
                PreviewOutcome::Never
            }
        }
    }

    /// Sends the message that shows the answer while it is written, and stores its id.
    async fn open(&self, content: FormattedText) -> chime_store::Result<PreviewOutcome> {
        let Services { base: Base { store, telegram, clock, .. }, state, .. } = self.services;
        let message = &self.question.trigger().message;
        let (chat, now) = (message.chat, clock.now());
        let key = self.key.clone();
        let noted = move |tx: &Writer<'_>| reply_streams::open(tx, &key, chat, now);
        store.write(Priority::Answering, noted).await?;
        state.traffic.note_sent(chat, now);
        let to = ReplyTarget { chat, forum_topic: message.forum_topic, reply_to: Some(message.id) };
        let sent = telegram.send(&Outgoing::new(to, content)).await;
        let key = self.key.clone();
        match sent {
            Ok(sent) => {
                let noted = move |tx: &Writer<'_>| reply_streams::set_message(tx, &key, sent.id);
                store.write(Priority::Answering, noted).await?;
                Ok(PreviewOutcome::Yes(PreviewPlace::Message(sent.id)))
            }
            // The message may have been delivered, but its id is unknown.
            Err(TelegramError::Unknown(_) | TelegramError::Malformed { .. }) => Ok(PreviewOutcome::Never),
            Err(error) => {
                store.write(Priority::Answering, move |tx| reply_streams::close(tx, &key)).await?;
                Ok(self.failed(error))
            }
        }
    }
}

/// Deletes the message in which the reply `key` was shown, if there is one.
pub async fn take_back(services: &Services, key: &str) -> chime_store::Result<()> {
    let Base { store, telegram, .. } = &services.base;
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

/// Returns `prompt` with personal data masked, if the operator wants that, and the masks that restore it.
fn masked<'p>(services: &Services, prompt: &'p Prompt) -> (Cow<'p, Prompt>, Masks) {
    let mut masks = Masks::default();
    if services.base.config.memory.redaction != Redaction::All {
        return (Cow::Borrowed(prompt), masks);
    }
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
    (Cow::Owned(prompt), masks)
}

fn every(place: PreviewPlace) -> Duration {
    match place {
        PreviewPlace::Draft => DRAFT_EVERY,
        PreviewPlace::Message(_) | PreviewPlace::NewMessage => EDIT_EVERY,
    }
}
