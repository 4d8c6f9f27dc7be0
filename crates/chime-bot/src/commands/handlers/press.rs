//! Presses on buttons: calls the handler of a press, and shows its result.

use crate::commands::handlers::Commands;
use crate::commands::handlers::decisions::ItemButton;
use crate::commands::handlers::remind::CancelButton;
use crate::commands::panel::PanelPress;
use crate::commands::search::SearchPage;

use chime_core::texts::notices;
use chime_core::{Button, Conversation, FormattedText, Job, PollButton, Press, Timestamp};
use chime_jobs::{JobOutcome, JobResult};
use chime_store::{button_presses, chat_settings, chats, outbox};
use chime_telegram::TelegramError;

impl Commands {
    /// Handles a `press` job: makes the change that a pressed button stands for.
    pub async fn press(&self, job: &Job, query: &str) -> JobResult {
        let key = query.to_owned();
        let found = self.base.store.read(move |conn| {
            let Some(press) = button_presses::find(conn, &key)? else { return Ok(None) };
            let Some(chat) = chats::find(conn, press.chat)? else { return Ok(None) };
            let part = outbox::by_message(conn, press.chat, press.message)?;
            let forum_topic = part.and_then(|part| part.outgoing.to.forum_topic);
            let settings = chat_settings::load(conn, Conversation { chat: chat.key, forum_topic })?;
            Ok(Some((press, chat, settings)))
        });
        let Some((press, chat, settings)) = found.await? else {
            return self.finish(job).await;
        };
        if let Some(page) = SearchPage::parse(&press.data) {
            return self.turn_page(job, &press, &chat, page).await;
        }
        if let Some(button) = CancelButton::parse(&press.data) {
            return self.cancel_reminder(job, &press, &chat, &settings, button).await;
        }
        if let Some(PollButton(answer)) = PollButton::parse(&press.data) {
            return self.make_poll(job, &press, &chat, answer).await;
        }
        if let Some(button) = ItemButton::parse(&press.data) {
            return self.mark_item(job, &press, &chat, &settings, button).await;
        }
        match PanelPress::parse(&press.data, &self.defaults) {
            Some(pressed) => self.change(job, &press, &chat, pressed).await,
            None => self.refuse(job, &press, &notices(chat.speaks().code()).unknown_button).await,
        }
    }

    /// Finishes the job of a press that changes nothing, and shows the member the reason.
    pub(super) async fn refuse(&self, job: &Job, press: &Press, reply: &str) -> JobResult {
        self.finish(job).await?;
        self.confirm(press, Some(reply)).await;
        Ok(JobOutcome::Finished)
    }

    /// Confirms a press, so that the button stops waiting. If Telegram asked for a pause before the panel can be
    /// edited, the job runs again at `again`; else it is finished.
    pub(super) async fn confirm_shown(&self, job: &Job, press: &Press, again: Option<Timestamp>) -> JobResult {
        if again.is_none() {
            self.finish(job).await?;
        }
        self.confirm(press, None).await;
        Ok(again.map_or(JobOutcome::Finished, JobOutcome::WaitUntil))
    }

    async fn confirm(&self, press: &Press, reply: Option<&str>) {
        if let Err(error) = self.base.telegram.answer_callback(&press.query, reply).await {
            tracing::info!(%error, "a press was not confirmed");
        }
    }

    pub(super) async fn edit(
        &self,
        press: &Press,
        parts: &[FormattedText],
        buttons: &[Vec<Button>],
    ) -> Option<Timestamp> {
        match self.base.telegram.edit_for(press.by, press.chat, press.message, parts.first()?, buttons).await {
            Err(TelegramError::Throttled { retry_after }) => Some(self.base.clock.now().plus(retry_after)),
            Err(error) => {
                tracing::info!(%error, "the message with the buttons could not be edited");
                None
            }
            Ok(()) => None,
        }
    }
}
