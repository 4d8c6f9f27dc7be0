//! Raw updates, parsed one by one so that a bad one does not affect others.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use chime_core::UpdateId;
use chime_core::json_fault as fault;
use chime_core::repair;

/// Kinds of updates that [`extract`](crate::extract) reads. Sent with each poll: otherwise the server uses an earlier
/// list, and its default has no reactions.
pub const ALLOWED_UPDATES: &[&str] = &[
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "message_reaction",
    "callback_query",
    "my_chat_member",
    "poll",
    "guest_message",
];

/// Known kinds that the bot does not use.
const UNUSED_UPDATES: &[&str] = &[
    "business_connection",
    "business_message",
    "edited_business_message",
    "deleted_business_messages",
    "message_reaction_count",
    "inline_query",
    "chosen_inline_result",
    "shipping_query",
    "pre_checkout_query",
    "purchased_paid_media",
    "poll_answer",
    "chat_member",
    "chat_join_request",
    "chat_boost",
    "removed_chat_boost",
    "managed_bot",
    "subscription",
];

/// Stored kind of updates that this program does not know.
const UNKNOWN_KIND: &str = "unknown";

/// An update before [`extract`](crate::extract).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawUpdate {
    /// `None` if missing or outside of Telegram's range.
    pub id: Option<UpdateId>,
    /// Name of the field with the update's content; empty if there is none.
    pub kind: String,
    /// The whole update as received.
    pub json: String,
}

impl RawUpdate {
    /// Extracts id and kind. Never fails: input that is no update gets no id and an empty kind, and
    /// [`extract`](crate::extract) reports it.
    pub fn parse(json: &str) -> Self {
        let text = repair(json);
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(&text).unwrap_or_default();
        Self { id: fields.get("update_id").and_then(|id| update_id(id)), kind: kind(&fields), json: json.to_owned() }
    }
}

/// Returns `true` if `kind` is known but not used by the bot.
pub fn is_unused(kind: &str) -> bool {
    UNUSED_UPDATES.contains(&kind)
}

/// Splits the result of `getUpdates`.
///
/// # Errors
/// A description of the fault, without content, if `result` is not a JSON array.
pub fn parse_batch(result: &str) -> Result<Vec<RawUpdate>, String> {
    let updates: Vec<&RawValue> = serde_json::from_str(result).map_err(|error| fault(&error))?;
    Ok(updates.into_iter().map(|update| RawUpdate::parse(update.get())).collect())
}

/// Returns the id if an offset can confirm it: offsets are positive 32-bit numbers on the wire.
fn update_id(raw: &RawValue) -> Option<UpdateId> {
    let id = i64::deserialize(raw).ok()?;
    (0..i64::from(i32::MAX)).contains(&id).then_some(UpdateId(id))
}

fn kind(fields: &BTreeMap<String, &RawValue>) -> String {
    let names = || fields.keys().map(String::as_str).filter(|name| *name != "update_id");
    let known = names().find(|name| ALLOWED_UPDATES.contains(name) || is_unused(name));
    // Kinds are logged and counted, so one that is not known has a fixed name.
    known.or_else(|| names().next().map(|_| UNKNOWN_KIND)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(result: &str, expected: Expect) {
        let shown = match parse_batch(result) {
            Ok(updates) => {
                updates.iter().map(|u| format!("{:?} {:?} {}\n", u.id.map(|id| id.0), u.kind, u.json)).collect()
            }
            Err(fault) => fault,
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn a_bad_update_spoils_no_other() {
        check(
            r#"[{"update_id":7,"message":{}}, null, 5, [], "x", {}, {"message":{}}, {"update_id":"8","message":{}},
            {"update_id":-1,"message":{}}, {"update_id":2147483647,"poll":{}}, {"update_id":9,"edited_message":null}]"#,
            expect![[r#"
                Some(7) "message" {"update_id":7,"message":{}}
                None "" null
                None "" 5
                None "" []
                None "" "x"
                None "" {}
                None "message" {"message":{}}
                None "message" {"update_id":"8","message":{}}
                None "message" {"update_id":-1,"message":{}}
                None "poll" {"update_id":2147483647,"poll":{}}
                Some(9) "edited_message" {"update_id":9,"edited_message":null}
            "#]],
        );
    }

    #[test]
    fn half_an_emoji_in_a_text_or_a_name_hides_nothing() {
        check(
            r#"[{"update_id":7,"message":{"text":"\ud800"}},{"update_id":8,"a\udc00":1}]"#,
            expect![[r#"
                Some(7) "message" {"update_id":7,"message":{"text":"\ud800"}}
                Some(8) "unknown" {"update_id":8,"a\udc00":1}
            "#]],
        );
    }

    #[test]
    fn a_known_kind_is_found_among_strange_fields() {
        check(
            r#"[{"a_future_field":1,"message":{},"update_id":1},{"new kind <b>":{},"update_id":2}]"#,
            expect![[r#"
                Some(1) "message" {"a_future_field":1,"message":{},"update_id":1}
                Some(2) "unknown" {"new kind <b>":{},"update_id":2}
            "#]],
        );
    }

    #[test]
    fn what_is_no_list_is_named_without_its_content() {
        check(r#"{"secret":1}"#, expect!["data error at line 1 column 0"]);
        check(r#"[{"secret":1},"#, expect!["eof error at line 1 column 14"]);
    }
}
