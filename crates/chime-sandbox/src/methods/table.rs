//! The table of methods.

use crate::methods::{chats, edits, files, profile, send};
use crate::params::{ApiError, MethodResult, RequestParams};
use crate::state::SandboxState;
use chime_core::Timestamp;

type MethodHandler = fn(&mut SandboxState, &RequestParams, Timestamp) -> MethodResult;

const METHODS: [(&str, MethodHandler); 20] = [
    ("getMe", profile::get_me),
    ("getWebhookInfo", profile::get_webhook_info),
    ("setMyCommands", profile::set_my_commands),
    ("getMyShortDescription", profile::get_my_short_description),
    ("setMyShortDescription", profile::set_my_short_description),
    ("sendMessage", send::send_message),
    ("sendPoll", send::send_poll),
    ("answerGuestQuery", send::answer_guest_query),
    ("sendDocument", send::send_document),
    ("sendMessageDraft", send::send_message_draft),
    ("sendChatAction", send::send_chat_action),
    ("editMessageText", edits::edit_message_text),
    ("editEphemeralMessageText", edits::edit_ephemeral_message_text),
    ("deleteMessage", edits::delete_message),
    ("setMessageReaction", edits::set_message_reaction),
    ("answerCallbackQuery", edits::answer_callback_query),
    ("getFile", files::get_file),
    ("getChatMember", chats::get_chat_member),
    ("getChatAdministrators", chats::get_chat_administrators),
    ("leaveChat", chats::leave_chat),
];

/// Returns `true` if `name` is `getUpdates`, the only method that waits, which `server` handles. Ignores case.
pub(crate) fn is_polling(name: &str) -> bool {
    name.eq_ignore_ascii_case("getUpdates")
}

/// Calls a method that does not wait. Ignores unknown parameters, as the real server does.
pub(crate) fn call(state: &mut SandboxState, name: &str, params: &RequestParams, now: Timestamp) -> MethodResult {
    let Some((_, run)) = METHODS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) else {
        state.note_unexpected(format!("method {name}"));
        return Err(ApiError::not_found());
    };
    run(state, params, now)
}
