//! Methods for chats: queries, and leaving one.

use crate::message::BOT;
use crate::message::BotAction;
use crate::methods::target::chat_to_see;
use crate::params::{ApiError, MethodResult, RequestParams};
use crate::state::SandboxState;
use crate::{ChatMemberStatus, wire};
use chime_core::{Timestamp, UserId};

pub(super) fn get_chat_member(state: &mut SandboxState, params: &RequestParams, _now: Timestamp) -> MethodResult {
    let id = chat_to_see(state, params)?;
    let user = params.integer("user_id").map(UserId).filter(|user| state.people.contains_key(user));
    let user = user.ok_or_else(|| ApiError::bad_request("invalid user_id specified"))?;
    let status = state.chats.get(&id).map_or(ChatMemberStatus::Left, |chat| chat.status_of(user));
    Ok(wire::member(state, user, status))
}

pub(super) fn get_chat_administrators(
    state: &mut SandboxState,
    params: &RequestParams,
    _now: Timestamp,
) -> MethodResult {
    let id = chat_to_see(state, params)?;
    let members = state.chats.get(&id).into_iter().flat_map(|chat| &chat.members);
    Ok(members
        .filter(|(_, status)| status.is_admin())
        .map(|(user, status)| wire::member(state, *user, *status))
        .collect())
}

pub(super) fn leave_chat(state: &mut SandboxState, params: &RequestParams, now: Timestamp) -> MethodResult {
    let chat = chat_to_see(state, params)?;
    state.move_bot(chat, ChatMemberStatus::Left, BOT, now);
    state.actions.push(BotAction::Left { chat });
    Ok(true.into())
}
