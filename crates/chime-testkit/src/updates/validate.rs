//! Validates requests against the description of the Bot API.

use serde_json::{Map, Value};

use super::{ApiFields, BotApi, Field, Shape, Type};

/// Checks a request: the method and all fields are known, required ones are present, and all types match, at any depth.
///
/// # Errors
/// Returns a sentence that names the first error and its path.
pub fn validate_request(api: &BotApi, method: &str, params: &Value) -> Result<(), String> {
    let fields = api.methods.get(method).ok_or_else(|| format!("no method {method}"))?;
    let params = params.as_object().ok_or_else(|| format!("{method}: parameters are no object"))?;
    object(api, method, fields, params)
}

fn object(api: &BotApi, path: &str, fields: &ApiFields, given: &Map<String, Value>) -> Result<(), String> {
    if let Some((missing, _)) = fields.iter().find(|(name, field)| field.required && !given.contains_key(*name)) {
        return Err(format!("{path}.{missing} is missing"));
    }
    for (name, value) in given {
        let path = format!("{path}.{name}");
        let expected = fields.get(name).ok_or_else(|| format!("{path} is not known"))?;
        field(api, &path, expected, value)?;
    }
    Ok(())
}

fn field(api: &BotApi, path: &str, expected: &Field, value: &Value) -> Result<(), String> {
    any(path, expected.shapes.iter().map(|shape| self::shape(api, path, shape, value)))?;
    match value.as_str() {
        Some(text) if !expected.values.is_empty() && !expected.values.iter().any(|allowed| allowed == text) => {
            Err(format!("{path} may not be {text:?}"))
        }
        _ => Ok(()),
    }
}

fn shape(api: &BotApi, path: &str, expected: &Shape, value: &Value) -> Result<(), String> {
    let fits = match expected {
        Shape::Integer => value.is_i64() || value.is_u64(),
        Shape::Float => value.is_number(),
        Shape::Boolean => value.is_boolean(),
        Shape::String | Shape::File => value.is_string(),
        Shape::Array(item) => {
            let items = value.as_array().ok_or_else(|| format!("{path} is no array"))?;
            let mut items = items.iter().enumerate();
            return items.try_for_each(|(index, value)| shape(api, &format!("{path}[{index}]"), item, value));
        }
        Shape::Named(name) => return named(api, path, name, value),
    };
    if fits { Ok(()) } else { Err(format!("{path} is no {expected:?}")) }
}

fn named(api: &BotApi, path: &str, name: &str, value: &Value) -> Result<(), String> {
    match api.types.get(name) {
        None => Err(format!("{path}: the description lacks {name}")),
        Some(Type::OneOf(shapes)) => any(path, shapes.iter().map(|shape| self::shape(api, path, shape, value))),
        Some(Type::Object(fields)) => {
            let given = value.as_object().ok_or_else(|| format!("{path} is no {name}"))?;
            object(api, path, fields, given)
        }
    }
}

/// Succeeds if one outcome does. If there is a single candidate, returns its own error, which is the most specific.
fn any(path: &str, outcomes: impl Iterator<Item = Result<(), String>>) -> Result<(), String> {
    let mut faults = Vec::new();
    for outcome in outcomes {
        match outcome {
            Ok(()) => return Ok(()),
            Err(fault) => faults.push(fault),
        }
    }
    Err(if faults.len() == 1 { faults.remove(0) } else { format!("{path} fits none of its types") })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;
    use crate::updates::generate;

    #[track_caller]
    fn check(method: &str, params: Value, expected: Expect) {
        let verdict = validate_request(BotApi::bundled(), method, &params);
        expected.assert_eq(verdict.err().as_deref().unwrap_or("fine"));
    }

    #[test]
    fn a_good_request_is_fine() {
        check(
            "sendMessage",
            json!({
                "chat_id": -1001, "text": "hi", "entities": [{"type": "bold", "offset": 0, "length": 2}],
                "reply_parameters": {"message_id": 5, "allow_sending_without_reply": true},
                "reply_markup": {"inline_keyboard": [[{"text": "x", "callback_data": "y"}]]},
            }),
            expect!["fine"],
        );
        check("sendMessage", json!({"chat_id": "@public", "text": ""}), expect!["fine"]);
        check("getMe", json!({}), expect!["fine"]);
        check("sendPhoto", json!({"chat_id": 1, "photo": "attach://a"}), expect!["fine"]);
        check("setMyCommands", json!({"commands": [], "scope": {"type": "all_group_chats"}}), expect!["fine"]);
    }

    #[test]
    fn a_bad_one_is_told_where() {
        check("sendMesage", json!({}), expect!["no method sendMesage"]);
        check("sendMessage", json!([]), expect!["sendMessage: parameters are no object"]);
        check("sendMessage", json!({"chat_id": 1}), expect!["sendMessage.text is missing"]);
        check(
            "sendMessage",
            json!({"chat_id": 1, "text": "x", "colour": 1}),
            expect!["sendMessage.colour is not known"],
        );
        check("sendMessage", json!({"chat_id": 1, "text": 5}), expect!["sendMessage.text is no String"]);
        check(
            "sendMessage",
            json!({"chat_id": 1.5, "text": ""}),
            expect!["sendMessage.chat_id fits none of its types"],
        );
        check(
            "sendMessage",
            json!({"chat_id": 1, "text": "x", "entities": [{"type": "bold", "offset": 0, "length": "2"}]}),
            expect!["sendMessage.entities[0].length is no Integer"],
        );
        check(
            "setMyCommands",
            json!({"commands": [], "scope": {"type": "nobody"}}),
            expect!["setMyCommands.scope fits none of its types"],
        );
    }

    #[test]
    fn whatever_is_generated_is_valid() {
        let api = BotApi::bundled();
        for json in generate(api, 5, 1_000) {
            // A lone surrogate is valid in JSON, but no Rust string can hold it.
            let update = serde_json::from_str(&json.replace("\\ud83d", "?")).unwrap();
            named(api, "update", "Update", &update).unwrap();
        }
    }

    #[test]
    fn only_reactions_that_telegram_has_are_fine() {
        let reaction =
            |emoji: &str| json!({"chat_id": 1, "message_id": 2, "reaction": [{"type": "emoji", "emoji": emoji}]});
        check("setMessageReaction", reaction("👀"), expect!["fine"]);
        check("setMessageReaction", reaction("⏳"), expect!["setMessageReaction.reaction[0] fits none of its types"]);
    }
}
