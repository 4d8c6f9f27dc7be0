//! Reads the text of a file that is to be saved as a note.

use crate::commands::handlers::{CommandRequest, Commands, of_telegram};
use chime_answer::documents::FileError;
use chime_answer::read_text::UnreadReason;
use chime_core::Kind;
use chime_jobs::JobError;
use chime_store::{Reader, messages};
use chime_telegram::TelegramError;

/// Text of the file for a `/note`, or the reason why there is none.
pub(super) enum FileText {
    /// The command has no file and does not reply to one.
    NoFile,
    Text(String),
    /// The file cannot be saved as a note. The sentence says why.
    Unusable(String),
}

impl Commands {
    /// Downloads the file attached to the command or to the message that it replies to, and returns its text.
    pub(super) async fn text_of_file(&self, command: &CommandRequest) -> Result<FileText, JobError> {
        let message = &command.message.message;
        let parent = message.reply_to.map(|parent| (message.chat, parent));
        let parent = move |conn: &Reader| parent.map_or(Ok(None), |(chat, id)| messages::find(conn, chat, id));
        let parent = self.base.store.read(parent).await?.map(|stored| stored.message);
        let file = [Some(message), parent.as_ref()].into_iter().flatten().find(|it| it.kind == Kind::Document);
        let Some(file) = file else { return Ok(FileText::NoFile) };
        let name = file.detail.as_deref().unwrap_or("…");
        match self.documents.fetch(&self.base.telegram, file).await {
            Ok(document) => Ok(FileText::Text(document.text().replace('\u{c}', "\n\n"))),
            Err(FileError::Telegram(error))
                if !matches!(error, TelegramError::Gone { .. } | TelegramError::Refused { .. }) =>
            {
                Err(of_telegram(&error, "fetching a file"))
            }
            Err(error) => Ok(FileText::Unusable(UnreadReason::from(error).sentence(name, command.texts()))),
        }
    }
}
