//! `/settings`: shows the panel and handles its buttons.

use crate::commands::handlers::forget::Asked;
use crate::commands::handlers::{Commands, Order};
use crate::commands::notice::Notice;
use crate::commands::panel::{Change, Panel};
use chime_access::admission::is_owner;
use chime_answer::answering::format_own;
use chime_answer::notices::notices;
use chime_core::texts::texts;
use chime_core::{ChatId, ChatKind, Job, Press, ReplyTarget, Timestamp, UserId};
use chime_jobs::worker::Outcome;
use chime_privacy::Standing;
use chime_store::chats::ChatRow;
use chime_store::outbox::{NewReply, Purpose};
use chime_store::{Priority, Writer, chat_settings, chats, memory, presses};
use chime_telegram::TelegramError;

/// Permission of a user to change the settings of a chat.
pub(super) enum Right {
    Yes,
    No,
    NotNow(Outcome),
}

impl Commands {
    pub(super) async fn show_settings(&self, job: &Job, order: Order) -> chime_store::Result<Outcome> {
        let message = &order.message.message;
        let panel = self.panel(&order.chat).await?;
        match self.may_change(message.chat, message.sender.id).await? {
            Right::NotNow(outcome) => return Ok(outcome),
            Right::No => {
                let told = Notice::Own(panel.markdown(false, order.texts()));
                self.answer(job, &order.message, &told, |_| Ok(())).await?;
            }
            Right::Yes => {
                let to = ReplyTarget { chat: message.chat, thread: message.thread, reply_to: Some(message.id) };
                let parts = format_own(&panel.markdown(true, order.texts()));
                let own = NewReply::own(Purpose::Command, job.payload.reply_key(), to, parts);
                self.settle(job, NewReply { buttons: panel.buttons(order.texts()), ..own }, |_| Ok(())).await?;
            }
        }
        Ok(Outcome::Finished)
    }

    /// Handles a `press` job. Returns `None` if the button is not from the settings panel.
    pub async fn press(&self, job: &Job, query: &str) -> Option<Outcome> {
        let key = query.to_owned();
        let found = self.store.read(move |conn| {
            let Some(press) = presses::find(conn, &key)? else { return Ok(None) };
            Ok(chats::find(conn, press.chat)?.map(|chat| (press, chat)))
        });
        let (press, chat) = match found.await {
            Ok(found) => found?,
            Err(error) => return Some(Outcome::of_store(&error, job)),
        };
        let change = Change::parse(&press.data)?;
        Some(match self.change(job, &press, &chat, change).await {
            Ok(outcome) => outcome,
            Err(error) => Outcome::of_store(&error, job),
        })
    }

    async fn change(&self, job: &Job, press: &Press, chat: &ChatRow, change: Change) -> chime_store::Result<Outcome> {
        let told = match self.may_change(press.chat, press.by).await? {
            Right::NotNow(outcome) => return Ok(outcome),
            Right::No => {
                self.finish(job).await?;
                Some(notices(chat.speaks().code()).admins_only.as_str())
            }
            Right::Yes => {
                let (key, query) = (chat.key, press.query.clone());
                // One transaction, so that handling a press twice cannot undo a later press.
                let written = move |tx: &Writer<'_>| {
                    match change {
                        Change::Grounding(grounding) => chat_settings::set_grounding(tx, key, grounding)?,
                        Change::Memory(is_on) => memory::set(tx, key, is_on)?,
                        Change::Streaming(is_on) => chat_settings::set_streaming(tx, key, is_on)?,
                        Change::SessionIdle(idle) => memory::set_own_idle(tx, key, Some(idle))?,
                        Change::Language(language) => chat_settings::set_language(tx, key, language)?,
                        Change::Askers(askers) => chat_settings::set_askers(tx, key, askers)?,
                        Change::DailyTokens(tokens) => chat_settings::set_daily_tokens(tx, key, tokens)?,
                        Change::Nothing => {}
                    }
                    presses::ask_for(tx, &query, &Change::Nothing.data())
                };
                self.store.write(Priority::Answering, written).await?;
                // Reloaded, since the language may have changed.
                let chat = self.store.read(move |conn| chats::by_key(conn, key)).await?.unwrap_or_else(|| chat.clone());
                let again = self.show_again(press, &chat).await?;
                if let Some(at) = again {
                    // The button is confirmed at once, without waiting for the panel.
                    self.confirm(press, None).await;
                    return Ok(Outcome::WaitUntil(at));
                }
                self.finish(job).await?;
                None
            }
        };
        self.confirm(press, told).await;
        Ok(Outcome::Finished)
    }

    async fn confirm(&self, press: &Press, told: Option<&str>) {
        if let Err(error) = self.telegram.answer_callback(&press.query, told).await {
            tracing::info!(%error, "a press was not confirmed");
        }
    }

    /// Updates the panel to the current settings. Returns the time for another attempt if Telegram asks for a pause;
    /// after any other error the next press shows it right.
    async fn show_again(&self, press: &Press, chat: &ChatRow) -> chime_store::Result<Option<Timestamp>> {
        let panel = self.panel(chat).await?;
        let texts = texts(chat.speaks().code());
        for content in format_own(&panel.markdown(true, texts)).iter().take(1) {
            let edited = self.telegram.edit(press.chat, press.message, content, &panel.buttons(texts)).await;
            match edited {
                Err(TelegramError::Throttled { retry_after }) => return Ok(Some(self.clock.now().plus(retry_after))),
                Err(error) => tracing::info!(%error, "the panel could not be shown again"),
                Ok(()) => {}
            }
        }
        Ok(None)
    }

    async fn panel(&self, chat: &ChatRow) -> chime_store::Result<Panel> {
        let key = chat.key;
        let own = self.store.read(move |conn| chat_settings::load(conn, key)).await?;
        Ok(Panel {
            grounding: own.grounding.unwrap_or_default(),
            memory: self.memory.is_on.then(|| own.memory.unwrap_or(true)),
            streaming: own.streaming.unwrap_or_else(|| self.streaming.in_chats_of(chat.chat.kind)),
            language: chat.own_language,
            session_idle: own.session_idle.unwrap_or_else(|| self.memory.idle.in_chats_of(chat.chat.kind)),
            askers: chat.askers,
            daily_tokens: own.daily_tokens,
            is_private: chat.chat.kind == ChatKind::Private,
        })
    }

    pub(super) async fn may_change(&self, chat: ChatId, user: UserId) -> chime_store::Result<Right> {
        let access = self.access.clone();
        if self.store.read(move |conn| is_owner(conn, user, &access)).await? {
            return Ok(Right::Yes);
        }
        Ok(match self.standing(chat, user).await {
            Asked::Standing(Standing::Creator | Standing::Admin) => Right::Yes,
            Asked::Standing(Standing::Member | Standing::Outside) => Right::No,
            Asked::NotNow(outcome) => Right::NotNow(outcome),
        })
    }
}
