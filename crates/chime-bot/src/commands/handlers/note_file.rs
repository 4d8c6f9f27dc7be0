//! Reads the text of a file that is to be saved as a note.

use crate::commands::handlers::{CommandRequest, Commands, of_telegram};
use chime_answer::documents::FileError;
use chime_jobs::JobError;
use chime_store::inbox;
use chime_telegram::{TelegramError, attached_file};

/// Text of the file for a `/note`, or the reason why there is none.
pub(super) enum FileText {
    /// The command has no file and does not reply to one.
    NoFile,
    Text(String),
    /// The file cannot be saved as a note, as this sentence tells.
    Unusable(String),
}

impl Commands {
    /// Downloads the file attached to the command or to the message that it replies to, and returns its text. The
    /// stored raw update has the file's id.
    pub(super) async fn text_of_file(&self, order: &CommandRequest) -> Result<FileText, JobError> {
        let (chat, id) = (order.message.message.chat, order.message.message.id);
        let kept = self.store.read(move |conn| inbox::of_message(conn, chat, id)).await?;
        let Some(file) = kept.and_then(|raw| attached_file(&raw)) else { return Ok(FileText::NoFile) };
        match self.documents.fetch(&self.telegram, &file).await {
            Ok(document) => Ok(FileText::Text(document.text().replace('\u{c}', "\n\n"))),
            Err(FileError::Telegram(error))
                if !matches!(error, TelegramError::Gone { .. } | TelegramError::Refused { .. }) =>
            {
                Err(of_telegram(&error, "fetching a file"))
            }
            Err(error) => Ok(FileText::Unusable(error.told(&file.name, &order.texts().unread_file))),
        }
    }
}
