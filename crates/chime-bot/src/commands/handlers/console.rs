//! `/console`: sends an owner a link to the owners' page, in private.

use crate::commands::handlers::{CommandRequest, Commands, of_telegram};
use chime_access::admission::is_owner;
use chime_core::texts::filled;
use chime_core::{ChatKind, FormattedText, Job, Outgoing, ReplyTarget};
use chime_jobs::JobOutcome;

impl Commands {
    pub(super) async fn open_console(&self, job: &Job, order: CommandRequest) -> chime_store::Result<JobOutcome> {
        let (message, texts, access) = (&order.message.message, &order.texts().access, self.access.clone());
        let sender = message.sender.id;
        let owns_the_bot = self.store.read(move |conn| is_owner(conn, sender, &access)).await?;
        if !owns_the_bot || order.chat.chat.kind != ChatKind::Private {
            return self.say(job, &order, &texts.console_who).await;
        }
        let Some(console) = &self.console else { return self.say(job, &order, &texts.console_off).await };
        let Some(token) = console.tokens.issue(sender, self.clock.now()) else {
            return Ok(JobOutcome::Hindered("the system gives no random numbers".to_owned()));
        };
        let link = format!("{}/login?token={token}", console.url);
        let content = FormattedText { text: filled(&texts.console_link, &[("link", &link)]), entities: Vec::new() };
        let to = ReplyTarget { chat: message.chat, thread: None, reply_to: Some(message.id) };
        // Not through the outbox: the database would keep the link.
        match self.telegram.send(&Outgoing { to, content, buttons: Vec::new() }).await {
            Ok(_) => self.finish(job).await,
            Err(error) => Ok(of_telegram(&error, "the link to the console", self.clock.now())),
        }
    }
}
