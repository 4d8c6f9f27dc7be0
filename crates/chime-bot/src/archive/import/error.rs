//! Reasons for stopping an import early.

use std::path::PathBuf;

use chime_store::StoreError;

/// Reason for stopping an import early or not starting it.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{} cannot be read: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error(
        "{} breaks off or is damaged at line {line}, column {column}; only messages before that can be imported: export the \
         chat again, and import that too", path.display()
    )]
    Damaged { path: PathBuf, line: usize, column: usize },
    #[error(
        "{} is no Telegram Desktop export: expected result.json of a chat or of all chats, in the JSON format",
        path.display()
    )]
    Foreign { path: PathBuf },
    #[error(
        "{} holds no result.json: in Telegram Desktop export the chat in the {}", path.display(),
        if *is_html { "format JSON; this export is in the format HTML" } else { "format JSON" }
    )]
    NoExport { path: PathBuf, is_html: bool },
    #[error("{} holds several exports: import one after the other: {found}", path.display())]
    SeveralExports { path: PathBuf, found: String },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("reading {} panicked", path.display())]
    Panicked { path: PathBuf },
}
