//! Files sent by members.

use serde_json::json;

use crate::PostContent;
use crate::params::{ApiError, MethodResult, RequestParams};
use crate::state::SandboxState;
use chime_core::{ChatId, MessageId, Timestamp};

const FOLDER: &str = "documents/";

/// File names of all photos and voice messages.
const PHOTO: &str = "photo.jpg";
const VOICE: &str = "voice.oga";

pub(super) fn get_file(state: &mut SandboxState, params: &RequestParams, _now: Timestamp) -> MethodResult {
    let id = params.text("file_id").unwrap_or_default();
    let Some(name) = name_of(state, id) else { return Err(ApiError::bad_request("invalid file_id")) };
    let Some(bytes) = state.files.get(&name) else {
        return Err(ApiError::bad_request("file is temporarily unavailable"));
    };
    Ok(json!({"file_id": id, "file_unique_id": id, "file_size": bytes.len(), "file_path": format!("{FOLDER}{name}")}))
}

/// Returns the content of the file at `path`.
pub(crate) fn content(state: &SandboxState, path: &str) -> Option<Vec<u8>> {
    state.files.get(path.strip_prefix(FOLDER)?).cloned()
}

fn name_of(state: &SandboxState, id: &str) -> Option<String> {
    let (chat, message) = id.strip_prefix("file-")?.rsplit_once('-')?;
    let (chat, message) = (ChatId(chat.parse().ok()?), MessageId(message.parse().ok()?));
    match &state.chats.get(&chat)?.messages.get(&message)?.content {
        PostContent::Document { file_name } => Some(file_name.clone()),
        PostContent::Photo => Some(PHOTO.to_owned()),
        PostContent::Voice { .. } => Some(VOICE.to_owned()),
        _ => None,
    }
}
