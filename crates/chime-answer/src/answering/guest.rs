//! Answers questions in chats that the bot is not in, using only the messages in the update. Nothing of them is stored,
//! so a question is lost if the program crashes.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::answering::ask::new_fence;
use crate::answering::question::LANGUAGE_OF_QUESTION;
use crate::answering::reply::{format_own, format_parts};
use crate::answering::services::Services;
use crate::lines::{PromptTranscript, Style};
use crate::sanitize::clean_name;
use chime_access::admission::served;
use chime_access::gateway::ask::ModelCall;
use chime_access::gateway::{ModelPreference, ModelPurpose};
use chime_access::{Access, Decision, Recent, admit};
use chime_core::chat_settings::AnswerLength;
use chime_core::config::{RateLimit, Redaction};
use chime_core::prompts::{AskValues, PromptError, RoleValues};
use chime_core::texts::{Texts, notices, texts};
use chime_core::{
    Chat, ChatId, ChatKey, ChatKind, Conversation, FormattedText, GuestQuestion, Language, Timestamp, UserId, clip,
    has_spoiler,
};
use chime_llm::{Prompt, PromptMessage, PromptRole};
use chime_privacy::redact;
use chime_store::consent;
use chime_telegram::TelegramError;

/// Limit on the answers in one chat, and on those for one user.
const LIMIT: RateLimit = RateLimit { triggers: 5, per: Duration::from_hours(1) };
/// Time that the model has for an answer.
const ANSWERED_WITHIN: Duration = Duration::from_mins(1);
/// Number of questions that are answered at the same time.
const AT_ONCE: usize = 4;
/// Longest pause that Telegram may ask for before the answer replaces the first line.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// Maximum number of characters read of a message, and written in an answer.
const READ_CHARS: usize = 4000;
const WRITTEN_CHARS: usize = 3000;
/// Chat and member for which all tokens of guest answers are counted. No real ones have these ids.
const NO_CHAT: ChatKey = ChatKey(0);
const NO_MEMBER: UserId = UserId(-1);

/// Answers `questions`, at most four at the same time, until `stop` is cancelled.
pub async fn answer_guests(services: Services, mut questions: mpsc::Receiver<GuestQuestion>, stop: CancellationToken) {
    let (mut answered, mut running) = (Vec::new(), JoinSet::new());
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            Some(question) = questions.recv(), if running.len() < AT_ONCE => {
                if admits(&services, &question, &mut answered) {
                    let services = services.clone();
                    running.spawn(async move { answer_guest(&services, question).await });
                }
            }
            Some(ended) = running.join_next(), if !running.is_empty() => match ended {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::info!(%error, "a question in a chat without the bot is not answered"),
                // A panic message may quote the question, so it is not logged.
                Err(_) => tracing::error!("answering a question in a chat without the bot panicked"),
            },
        }
    }
}

/// Returns `true` if the limits allow an answer. `answered` holds the chat, user and time of earlier answers.
fn admits(services: &Services, question: &GuestQuestion, answered: &mut Vec<(ChatId, UserId, Timestamp)>) -> bool {
    let now = services.base.clock.now();
    answered.retain(|(_, _, at)| now.since(*at) < LIMIT.per);
    let times = |is_counted: &dyn Fn(ChatId, UserId) -> bool| {
        answered.iter().filter(|(chat, user, _)| is_counted(*chat, *user)).map(|(.., at)| *at).collect()
    };
    let recent = Recent {
        of_conversation: times(&|chat, _| chat == question.chat),
        of_member: times(&|_, user| user == question.by),
        ..Recent::default()
    };
    let is_allowed = admit(now, &recent, LIMIT) == Decision::Allow;
    if is_allowed {
        answered.push((question.chat, question.by, now));
    }
    is_allowed
}

/// Answers at once with a line that is replaced by the answer.
async fn answer_guest(services: &Services, mut question: GuestQuestion) -> anyhow::Result<()> {
    let now = services.base.clock.now();
    if !may_ask(services, question.by).await? {
        return Ok(());
    }
    if let Some(author) = question.parent_by
        && services.base.store.read(move |conn| consent::is_out_everywhere(conn, author)).await?
    {
        question.said.truncate(1);
    }
    let asked = question.said.first().map_or("", |(_, text)| text);
    let told = Language::of_question(asked, "", Language::DEFAULT);
    let language = told.unwrap_or(Language::DEFAULT);
    let texts = texts(language.code());
    if services.gateway.is_offline() {
        let invitation = format_own(&texts.guests.invitation).into_iter().next().unwrap_or_default();
        services.base.telegram.answer_guest(&question.query, &invitation).await?;
        return Ok(());
    }
    let message =
        services.base.telegram.answer_guest(&question.query, &FormattedText::plain(&texts.one_moment)).await?;
    let words = words(services, &question, told.map_or(LANGUAGE_OF_QUESTION, Language::name_in_prompt), now)
        .await
        .unwrap_or_else(|error| {
            tracing::info!(%error, "no answer for a chat without the bot");
            notices(language.code()).sorry.clone()
        });
    complete(services, &message, &words, texts).await
}

/// Returns `true` if the bot serves the user in private: that is how the operator opens the bot to people outside of
/// its groups.
async fn may_ask(services: &Services, user: UserId) -> chime_store::Result<bool> {
    let (chat, access) = (private_chat(user), services.base.config.access.clone());
    services.base.store.read(move |conn| Ok(served(conn, &chat, user, &access)? == Access::Allowed)).await
}

async fn words(
    services: &Services,
    question: &GuestQuestion,
    language: &str,
    now: Timestamp,
) -> anyhow::Result<String> {
    let messages = prompt_messages(services, question, language, now)?;
    let prompt = Prompt {
        until: Some(now.plus(ANSWERED_WITHIN)),
        ..Prompt::new(messages, ModelPurpose::Answer.max_answer_tokens())
    };
    let call = ModelCall {
        purpose: ModelPurpose::Answer,
        conversation: Conversation { chat: NO_CHAT, forum_topic: None },
        on_behalf_of: Some(NO_MEMBER),
        preference: ModelPreference::Best,
        prompt: &prompt,
    };
    Ok(services.gateway.ask(call).await?.text)
}

fn prompt_messages(
    services: &Services,
    question: &GuestQuestion,
    language: &str,
    now: Timestamp,
) -> Result<Vec<PromptMessage>, PromptError> {
    let (fence, zone, language) = (new_fence(), services.base.zone(), Some(language));
    let bot_name = &services.base.bot().name;
    let transcript = PromptTranscript::new(bot_name, &fence, zone, Style::Numbered);
    let line = |(name, text): &(String, String)| {
        let line = format!("{}: {}", clean_name(name), transcript.aside(&clip(text, READ_CHARS)));
        if services.base.config.memory.redaction == Redaction::All { redact(&line) } else { line }
    };
    let asker = question.said.first().map(|(name, _)| clean_name(name));
    let (ask, anchor) = (question.said.first().map(line), question.said.get(1).map(line));
    let system = services.prompts.role(&RoleValues {
        bot_name,
        place: "group",
        is_private: false,
        fence: &fence,
        numbered: false,
        language,
        length: AnswerLength::Normal.as_str(),
    })?;
    let user = services.prompts.ask(&AskValues {
        fence: &fence,
        today: &zone.day_in_words(now),
        time: &zone.clock_time(now),
        zone: zone.name(),
        anchor: anchor.as_deref(),
        spoilers: question.said.iter().any(|(_, text)| has_spoiler(text)),
        asker: asker.as_deref().unwrap_or_default(),
        ask: ask.as_deref().unwrap_or_default(),
        has_words: true,
        nothing_known: anchor.is_none(),
        language,
        ..AskValues::default()
    })?;
    let message = |role, content| PromptMessage { role, content };
    Ok(vec![message(PromptRole::System, system), message(PromptRole::User, user)])
}

/// Replaces the first line by the answer, with an invitation to add the bot.
async fn complete(services: &Services, message: &str, words: &str, texts: &Texts) -> anyhow::Result<()> {
    let markdown = format!("{}\n\n{}", clip(words, WRITTEN_CHARS), texts.guests.invitation);
    let Some(content) = format_parts(&markdown, &[], &[]).into_iter().next() else { return Ok(()) };
    let mut edited = services.base.telegram.edit_guest_answer(message, &content).await;
    if let Err(TelegramError::Throttled { retry_after }) = edited {
        services.base.clock.sleep(retry_after.min(LONGEST_PAUSE)).await;
        edited = services.base.telegram.edit_guest_answer(message, &content).await;
    }
    Ok(edited?)
}

/// Returns the private chat with a user. Its id is the user's id.
fn private_chat(user: UserId) -> Chat {
    Chat { id: ChatId(user.0), kind: ChatKind::Private, title: None, username: None }
}
