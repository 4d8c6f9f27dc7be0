//! Loads the chat of the demo, which is a bundled one or the user's file.

use std::path::PathBuf;

use crate::cli::arguments::DemoOptions;
use crate::cli::demo::chat::ChatFile;

#[derive(Debug, thiserror::Error)]
#[error("{path}: {what}", path = path.display())]
struct ChatProblem {
    path: PathBuf,
    what: String,
}

pub fn chat(options: &DemoOptions) -> Result<ChatFile, Box<dyn std::error::Error>> {
    let Some(path) = &options.file else { return Ok(ChatFile::parse(options.chat.text())?) };
    let problem = |what: String| ChatProblem { path: path.clone(), what };
    let text = std::fs::read_to_string(path).map_err(|error| problem(error.to_string()))?;
    Ok(ChatFile::parse(&text).map_err(|error| problem(error.to_string()))?)
}
