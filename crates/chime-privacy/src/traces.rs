//! Finds the members and messages that an update contains, at any depth and in updates of any kind, so that the JSON of
//! an update that could not be processed is stored only if they allow it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use chime_core::{ChatId, MessageId, UserId, repair};

/// Members whose words an update may contain, and all messages in it: the update's own, its parent, a pinned
/// message, and messages in fields that this version does not know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traces {
    pub authors: BTreeSet<UserId>,
    pub messages: BTreeSet<(ChatId, MessageId)>,
}

/// JSON fields that hold a user or chat: the author of the surrounding object, or the member whom it concerns.
const AUTHORS: [&str; 4] = ["from", "sender_chat", "sender_user", "left_chat_member"];
/// JSON fields that hold a list of users.
const NAMED: [&str; 2] = ["new_chat_members", "users"];

/// Returns `None` if `update` is not valid JSON.
pub fn traces(update: &str) -> Option<Traces> {
    let mut found = Traces::default();
    look_through(&serde_json::from_str(&repair(update)).ok()?, &mut found);
    Some(found)
}

fn look_through(value: &Value, found: &mut Traces) {
    match value {
        Value::Object(fields) => {
            found.authors.extend(AUTHORS.iter().filter_map(|name| id_of(fields, name)).map(UserId));
            let lists = NAMED.iter().filter_map(|name| fields.get(*name)?.as_array()).flatten();
            found.authors.extend(lists.filter_map(|user| user.get("id")?.as_i64()).map(UserId));
            if let (Some(chat), Some(message)) = (id_of(fields, "chat"), integer(fields, "message_id")) {
                found.messages.insert((ChatId(chat), MessageId(message)));
            }
            fields.values().for_each(|field| look_through(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| look_through(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn id_of(fields: &Map<String, Value>, name: &str) -> Option<i64> {
    fields.get(name)?.get("id")?.as_i64()
}

fn integer(fields: &Map<String, Value>, name: &str) -> Option<i64> {
    fields.get(name)?.as_i64()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(raw: &str, expected: Expect) {
        let notice = traces(raw).map(|Traces { authors, messages }| {
            let authors: Vec<i64> = authors.iter().map(|user| user.0).collect();
            let messages: Vec<String> = messages.iter().map(|(chat, id)| format!("{chat}/{id}")).collect();
            format!("{authors:?} {messages:?}")
        });
        expected.assert_eq(&notice.unwrap_or_else(|| "unreadable".to_owned()));
    }

    #[test]
    fn a_reply_holds_two_authors_and_two_messages() {
        check(
            r#"{"update_id":1,"message":{"message_id":8,"from":{"id":5},"chat":{"id":-100},"text":"so?",
                "reply_to_message":{"message_id":7,"from":{"id":6},"chat":{"id":-100},"text":"look"}}}"#,
            expect![[r#"[5, 6] ["-100/7", "-100/8"]"#]],
        );
    }

    #[test]
    fn what_was_pinned_forwarded_or_quoted_from_elsewhere_is_found() {
        check(
            r#"{"message":{"message_id":9,"from":{"id":5},"chat":{"id":-100},
                "pinned_message":{"message_id":7,"sender_chat":{"id":-200},"chat":{"id":-100}},
                "external_reply":{"origin":{"sender_user":{"id":6}},"chat":{"id":-300},"message_id":4}}}"#,
            expect![[r#"[-200, 5, 6] ["-300/4", "-100/7", "-100/9"]"#]],
        );
    }

    #[test]
    fn an_edit_of_a_kind_not_yet_known_is_found_and_garbage_is_not_read() {
        check(r#"{"edited_novelty":[{"message_id":3,"chat":{"id":4}}]}"#, expect![[r#"[] ["4/3"]"#]]);
        check(r#"{"message":{"message_id":"#, expect!["unreadable"]);
    }
}
