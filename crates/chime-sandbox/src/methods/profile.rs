//! Methods for the bot itself: account, commands, description, webhook.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::params::{ApiError, MethodResult, RequestParams};
use crate::state::SandboxState;
use crate::wire;
use chime_core::Timestamp;

/// Maximum number of commands per scope.
const MOST_COMMANDS: usize = 100;

#[derive(Serialize, Deserialize)]
struct BotCommand {
    command: String,
    description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    is_ephemeral: Option<bool>,
}

pub(super) fn get_me(state: &mut SandboxState, _params: &RequestParams, _now: Timestamp) -> MethodResult {
    Ok(wire::own_account(state))
}

pub(super) fn get_webhook_info(state: &mut SandboxState, _params: &RequestParams, _now: Timestamp) -> MethodResult {
    Ok(json!({ "url": "", "has_custom_certificate": false, "pending_update_count": state.queue.len() }))
}

pub(super) fn get_my_short_description(
    state: &mut SandboxState,
    _params: &RequestParams,
    _now: Timestamp,
) -> MethodResult {
    Ok(json!({ "short_description": state.short_description }))
}

pub(super) fn set_my_short_description(
    state: &mut SandboxState,
    params: &RequestParams,
    _now: Timestamp,
) -> MethodResult {
    const MOST: usize = 120;
    let line = params.text("short_description").unwrap_or_default();
    if line.chars().count() > MOST {
        return Err(ApiError::bad_request("BOT_SHORT_DESCRIPTION_TOO_LONG"));
    }
    state.short_description = line.to_owned();
    Ok(true.into())
}

pub(super) fn set_my_commands(state: &mut SandboxState, params: &RequestParams, _now: Timestamp) -> MethodResult {
    let commands = params.parsed::<Vec<BotCommand>>("commands")?.unwrap_or_default();
    if commands.len() > MOST_COMMANDS {
        return Err(ApiError::bad_request("BOT_COMMANDS_TOO_MUCH"));
    }
    for BotCommand { command, description, .. } in &commands {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !(1..=32).contains(&command.len()) || !command.chars().all(is_name) {
            return Err(ApiError::bad_request("BOT_COMMAND_INVALID"));
        }
        if !(1..=256).contains(&description.chars().count()) {
            return Err(ApiError::bad_request("BOT_COMMAND_DESCRIPTION_INVALID"));
        }
    }
    let scope = params.parsed::<Value>("scope")?.unwrap_or_else(|| json!({"type": "default"}));
    let language = params.text("language_code").unwrap_or_default();
    state.commands.insert(format!("{scope}{language}"), json!(commands));
    Ok(true.into())
}
