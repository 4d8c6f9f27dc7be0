//! Reads the text of a file that is to be saved as a note.

use crate::commands::handlers::{CommandRequest, Commands, of_telegram};
use chime_core::texts::NoteTexts;
use chime_jobs::JobOutcome;
use chime_store::inbox;
use chime_telegram::{AttachedFile, TelegramError, attached_file};

/// Maximum size of a file that is accepted as a note, in bytes.
const LARGEST_BYTES: usize = 1024 * 1024;

/// Text of the file for a `/note`, or the reason why there is none.
pub(super) enum FileText {
    /// The command has no file and does not reply to one.
    NoFile,
    Text(String),
    /// The file cannot be saved as a note, for this reason.
    Unusable(FileFault),
    NotNow(JobOutcome),
}

/// Reason why a file cannot be saved as a note.
pub(super) enum FileFault {
    Kind,
    Large,
    Gone,
    Unreadable,
}

impl FileFault {
    pub(super) fn told(self, texts: &NoteTexts) -> &str {
        match self {
            Self::Kind => &texts.file_kind,
            Self::Large => &texts.file_large,
            Self::Gone => &texts.file_gone,
            Self::Unreadable => &texts.file_unreadable,
        }
    }
}

impl Commands {
    /// Downloads the file attached to the command or to the message that it replies to, and returns its text. The
    /// stored raw update has the file's id.
    pub(super) async fn text_of_file(&self, order: &CommandRequest) -> chime_store::Result<FileText> {
        let (chat, id) = (order.message.message.chat, order.message.message.id);
        let kept = self.store.read(move |conn| inbox::of_message(conn, chat, id)).await?;
        let Some(file) = kept.and_then(|raw| attached_file(&raw)) else { return Ok(FileText::NoFile) };
        if !is_text(&file) {
            return Ok(FileText::Unusable(FileFault::Kind));
        }
        if file.bytes.is_some_and(|bytes| bytes > LARGEST_BYTES as u64) {
            return Ok(FileText::Unusable(FileFault::Large));
        }
        Ok(match self.telegram.download(&file.id, LARGEST_BYTES).await {
            Ok(Some(bytes)) => text(bytes),
            Ok(None) => FileText::Unusable(FileFault::Large),
            Err(TelegramError::Gone { .. } | TelegramError::Refused { .. }) => FileText::Unusable(FileFault::Gone),
            Err(error) => FileText::NotNow(of_telegram(&error, "fetching a file", self.now())),
        })
    }
}

fn is_text(file: &AttachedFile) -> bool {
    let name = file.name.to_lowercase();
    name.ends_with(".txt")
        || name.ends_with(".md")
        || matches!(file.media_type.as_str(), "text/plain" | "text/markdown")
}

fn text(bytes: Vec<u8>) -> FileText {
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    // Some editors write a byte-order mark at the start of a file, which is removed.
    let text = text.map(|text| text.trim_start_matches('\u{feff}').replace("\r\n", "\n"));
    match text.filter(|text| text.chars().any(char::is_alphanumeric)) {
        Some(text) => FileText::Text(text),
        None => FileText::Unusable(FileFault::Unreadable),
    }
}
