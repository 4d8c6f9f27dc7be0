//! The table of methods.

use crate::methods::{chats, edits, files, profile, send};
use crate::params::{ApiError, MethodResult, RequestParams};
use crate::state::SandboxState;
use chime_core::Timestamp;

type MethodHandler = fn(&mut SandboxState, &RequestParams, Timestamp) -> MethodResult;

struct Method {
    name: &'static str,
    params: &'static [&'static str],
    run: MethodHandler,
}

const METHODS: [Method; 20] = [
    Method { name: "getMe", params: &[], run: profile::get_me },
    Method { name: "getWebhookInfo", params: &[], run: profile::get_webhook_info },
    Method { name: "setMyCommands", params: &["commands", "scope", "language_code"], run: profile::set_my_commands },
    Method { name: "getMyShortDescription", params: &["language_code"], run: profile::get_my_short_description },
    Method {
        name: "setMyShortDescription",
        params: &["short_description", "language_code"],
        run: profile::set_my_short_description,
    },
    Method {
        name: "sendMessage",
        params: &[
            "chat_id",
            "message_thread_id",
            "text",
            "entities",
            "link_preview_options",
            "reply_parameters",
            "reply_markup",
            "ephemeral_message_parameters",
        ],
        run: send::send_message,
    },
    Method {
        name: "sendPoll",
        params: &["chat_id", "message_thread_id", "question", "options", "reply_parameters"],
        run: send::send_poll,
    },
    Method { name: "answerGuestQuery", params: &["guest_query_id", "result"], run: send::answer_guest_query },
    Method { name: "sendDocument", params: &["chat_id", "document", "caption"], run: send::send_document },
    Method {
        name: "sendMessageDraft",
        params: &["chat_id", "message_thread_id", "draft_id", "text", "entities"],
        run: send::send_message_draft,
    },
    Method { name: "sendChatAction", params: &["chat_id", "message_thread_id", "action"], run: send::send_chat_action },
    Method {
        name: "editMessageText",
        params: &[
            "chat_id",
            "message_id",
            "inline_message_id",
            "text",
            "entities",
            "link_preview_options",
            "reply_markup",
        ],
        run: edits::edit_message_text,
    },
    Method {
        name: "editEphemeralMessageText",
        params: &[
            "chat_id",
            "receiver_user_id",
            "ephemeral_message_id",
            "text",
            "entities",
            "link_preview_options",
            "reply_markup",
        ],
        run: edits::edit_ephemeral_message_text,
    },
    Method { name: "deleteMessage", params: &["chat_id", "message_id"], run: edits::delete_message },
    Method {
        name: "setMessageReaction",
        params: &["chat_id", "message_id", "reaction"],
        run: edits::set_message_reaction,
    },
    Method {
        name: "answerCallbackQuery",
        params: &["callback_query_id", "text"],
        run: edits::answer_callback_query,
    },
    Method { name: "getFile", params: &["file_id"], run: files::get_file },
    Method { name: "getChatMember", params: &["chat_id", "user_id"], run: chats::get_chat_member },
    Method { name: "getChatAdministrators", params: &["chat_id"], run: chats::get_chat_administrators },
    Method { name: "leaveChat", params: &["chat_id"], run: chats::leave_chat },
];

/// Returns `true` if `name` is `getUpdates`, the only method that waits, which `server` handles. Ignores case.
pub(crate) fn is_polling(name: &str) -> bool {
    name.eq_ignore_ascii_case("getUpdates")
}

/// Calls a method that does not wait, and notes mistakes of the bot.
pub(crate) fn call(state: &mut SandboxState, name: &str, params: &RequestParams, now: Timestamp) -> MethodResult {
    let Some(method) = METHODS.iter().find(|method| method.name.eq_ignore_ascii_case(name)) else {
        state.note_unexpected(format!("method {name}"));
        return Err(ApiError::not_found());
    };
    note_foreign_params(state, method.name, method.params, params);
    (method.run)(state, params, now)
}

/// Notes unknown parameters. The real server ignores them, but a correct bot sends none.
pub(super) fn note_foreign_params(state: &mut SandboxState, method: &str, known: &[&str], params: &RequestParams) {
    for name in params.names().filter(|name| !known.contains(name)) {
        state.note_unexpected(format!("parameter {name} of {method}"));
    }
}
