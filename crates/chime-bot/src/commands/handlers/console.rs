//! `/console`: sends an owner a link to the owners' page, in private.

use crate::commands::handlers::{CommandRequest, Commands, of_telegram};
use chime_core::texts::filled;
use chime_core::{ChatKind, FormattedText, Job, Outgoing, ReplyTarget};
use chime_jobs::{JobError, JobResult};

impl Commands {
    pub(super) async fn open_console(&self, job: &Job, command: CommandRequest) -> JobResult {
        let (message, texts) = (&command.message.message, &command.texts().access);
        let sender = message.sender.id;
        if !self.owns_the_bot(sender).await? || command.chat.chat.kind != ChatKind::Private {
            return self.say(job, &command, &texts.console_who).await;
        }
        let Some(console) = &self.console else { return self.say(job, &command, &texts.console_off).await };
        let Some(token) = console.tokens.issue(sender, self.base.clock.now()) else {
            return Err(JobError::Transient("the system gives no random numbers".to_owned()));
        };
        let link = format!("{}/login?token={token}", console.url);
        let content = FormattedText { text: filled(&texts.console_link, &[("link", &link)]), entities: Vec::new() };
        let to = ReplyTarget { chat: message.chat, forum_topic: None, reply_to: Some(message.id) };
        // Not sent through the outbox, because the database would keep the link.
        match self.base.telegram.send(&Outgoing::new(to, content)).await {
            Ok(_) => self.finish(job).await,
            Err(error) => Err(of_telegram(&error, "the link to the console")),
        }
    }
}
