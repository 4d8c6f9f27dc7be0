//! `/concepts`: lists the names and terms that the bot knows in the chat.

use crate::commands::handlers::{CommandRequest, Commands, Shown};
use chime_answer::concepts::listing;
use chime_core::Job;
use chime_jobs::JobResult;
use chime_store::concepts::{self, ContextKey};

impl Commands {
    /// Lists the concepts that apply to the current conversation first.
    pub(super) async fn list_concepts(&self, job: &Job, command: CommandRequest) -> JobResult {
        let (chat, texts) = (command.chat.key, command.texts());
        let key = ContextKey { bot: self.base.bot().id, chat, forum_topic: command.message.message.forum_topic };
        let read = self.base.store.read(move |conn| {
            let context = concepts::load(conn, key)?.unwrap_or_default();
            let markdown = listing(&context, &concepts::of_chat(conn, chat)?, &texts.concepts);
            Ok(Shown { markdown, rests_on: concepts::grounds(conn, chat)?, ..Shown::of_chat(chat) })
        });
        self.answer_showing(job, &command, read.await?).await
    }
}
