//! Extracts the part of a Telegram update that is not stored in columns, such as fields that this version does not
//! know. The database stores it as the raw update.

use serde_json::{Map, Value};

/// Part of a JSON value that is stored in columns and therefore left out of the raw update.
enum Held {
    Whole,
    /// These fields of an object; of each field, the given part.
    Fields(&'static [(&'static str, Held)]),
    /// The given part of each element of a list.
    Each(&'static Held),
    /// The fields in `MESSAGE` of a message inside another message.
    Message,
}

use Held::{Each, Fields, Message, Whole};

const USER: Held = Fields(&[
    ("id", Whole),
    ("is_bot", Whole),
    ("first_name", Whole),
    ("last_name", Whole),
    ("username", Whole),
    ("language_code", Whole),
]);
const CHAT: Held = Fields(&[
    ("id", Whole),
    ("type", Whole),
    ("title", Whole),
    ("username", Whole),
    ("first_name", Whole),
    ("last_name", Whole),
    ("is_forum", Whole),
]);
const ENTITIES: Held = Each(&Fields(&[
    ("type", Whole),
    ("offset", Whole),
    ("length", Whole),
    ("url", Whole),
    ("user", USER),
    ("language", Whole),
]));
const ORIGIN: Held = Fields(&[
    ("type", Whole),
    ("sender_user", USER),
    ("sender_user_name", Whole),
    ("sender_chat", CHAT),
    ("chat", CHAT),
    ("message_id", Whole),
    ("date", Whole),
    ("author_signature", Whole),
]);
const MESSAGE: &[(&str, Held)] = &[
    ("message_id", Whole),
    ("message_thread_id", Whole),
    ("is_topic_message", Whole),
    ("from", USER),
    ("sender_chat", CHAT),
    ("chat", CHAT),
    ("date", Whole),
    ("edit_date", Whole),
    ("is_automatic_forward", Whole),
    ("via_bot", USER),
    ("media_group_id", Whole),
    ("text", Whole),
    ("entities", ENTITIES),
    ("caption", Whole),
    ("caption_entities", ENTITIES),
    ("forward_origin", ORIGIN),
    ("reply_to_message", Message),
];

/// Removes from `update` everything that is stored in columns. Returns the rest as JSON text, or `None` if nothing
/// remains.
pub fn leftover(mut update: Value) -> Option<String> {
    let fields = update.as_object_mut()?;
    fields.remove("update_id");
    for field in fields.values_mut() {
        if let Value::Object(message) = field {
            take_out_of_message(message);
        }
    }
    fields.retain(|_, field| !is_empty(field));
    (!fields.is_empty()).then(|| update.to_string())
}

/// Removes the fields of a message that are stored in columns. If other fields remain, keeps the ids of the message and
/// of its chat, so that the fields can be found by message.
fn take_out_of_message(message: &mut Map<String, Value>) {
    let ids = (message.get("message_id").cloned(), message.get("chat").and_then(|chat| chat.get("id")).cloned());
    take_out(message, MESSAGE);
    if let ((Some(id), Some(chat)), false) = (ids, message.is_empty()) {
        message.insert("message_id".to_owned(), id);
        let left = message.entry("chat").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(left) = left {
            left.insert("id".to_owned(), chat);
        }
    }
}

fn take_out(object: &mut Map<String, Value>, held: &[(&str, Held)]) {
    for (name, held) in held {
        if object.get_mut(*name).is_some_and(|value| is_all_held(value, held)) {
            object.remove(*name);
        }
    }
}

/// Removes the part of `value` that `held` describes. Returns `true` if nothing remains.
fn is_all_held(value: &mut Value, held: &Held) -> bool {
    match (held, value) {
        (Whole, _) => true,
        (Fields(fields), Value::Object(object)) => {
            take_out(object, fields);
            object.is_empty()
        }
        (Message, Value::Object(object)) => {
            take_out_of_message(object);
            object.is_empty()
        }
        (Each(held), Value::Array(elements)) => {
            elements.retain_mut(|element| !is_all_held(element, held));
            elements.is_empty()
        }
        (Fields(_) | Message | Each(_), _) => false,
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(raw: &str, expected: Expect) {
        let left = leftover(serde_json::from_str(raw).unwrap());
        expected.assert_eq(left.as_deref().unwrap_or("nothing"));
    }

    #[test]
    fn nothing_is_left_of_a_message_that_is_all_in_its_row() {
        check(
            r#"{"update_id":7,"message":{"message_id":8,"date":1,"chat":{"id":-100,"type":"supergroup","title":"Lake"},
                "from":{"id":5,"is_bot":false,"first_name":"Ana","language_code":"et"},"text":"so, @bot?",
                "entities":[{"type":"mention","offset":4,"length":4}],
                "reply_to_message":{"message_id":7,"date":1,"from":{"id":6,"first_name":"Bob"},"chat":{"id":-100},"text":"look"}}}"#,
            expect!["nothing"],
        );
    }

    #[test]
    fn what_no_row_holds_stays() {
        check(
            r#"{"update_id":7,"message":{"message_id":8,"chat":{"id":-100},"text":"look","novelty":{"words":"of 2030"},
                "from":{"id":5,"first_name":"Ana","is_premium":true},
                "photo":[{"file_id":"AgAD","width":90}],
                "entities":[{"type":"bold","offset":0,"length":4},{"type":"custom_emoji","offset":0,"length":1,"custom_emoji_id":"5"}],
                "reply_to_message":{"message_id":7,"chat":{"id":-100},"text":"a","voice":{"file_id":"AwAD"}}}}"#,
            expect![[
                r#"{"message":{"chat":{"id":-100},"entities":[{"custom_emoji_id":"5"}],"from":{"is_premium":true},"message_id":8,"novelty":{"words":"of 2030"},"photo":[{"file_id":"AgAD","width":90}],"reply_to_message":{"chat":{"id":-100},"message_id":7,"voice":{"file_id":"AwAD"}}}}"#
            ]],
        );
    }
}
