//! Loads the chat of the demo, which is a bundled one or the user's file.

use crate::cli::arguments::DemoOptions;
use crate::cli::demo::chat::ChatFile;
use crate::cli::exit::{CommandError, Exit};

pub fn chat(options: &DemoOptions) -> Result<ChatFile, CommandError> {
    let Some(path) = &options.file else {
        return ChatFile::parse(options.chat.text()).map_err(|error| CommandError::new(error, Exit::Usage));
    };
    let problem = |what: &dyn std::fmt::Display| CommandError::new(format!("{}: {what}", path.display()), Exit::Usage);
    let text = std::fs::read_to_string(path).map_err(|error| problem(&error))?;
    ChatFile::parse(&text).map_err(|error| problem(&error))
}
