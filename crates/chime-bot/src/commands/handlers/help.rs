//! `/help` and `/start`.

use crate::commands::handlers::{CommandRequest, Commands};
use chime_answer::wording;
use chime_core::{ChatKind, Job};
use chime_jobs::JobResult;

impl Commands {
    pub(super) async fn help(&self, job: &Job, command: CommandRequest) -> JobResult {
        let is_private = command.chat.chat.kind == ChatKind::Private;
        self.say(job, &command, wording::help(self.base.bot().username(), is_private, command.texts())).await
    }
}
