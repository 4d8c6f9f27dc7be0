//! Tools that a model may call before it answers, in the format of chat completions.
//!
//! A call arrives whole or in pieces, with its arguments as text or as an object, with or without an id;
//! [`written_calls`](super::written_calls) parses calls that a model writes into its answer. Servers without tool
//! support get earlier results as plain text.

use async_openai::types::chat::{ChatCompletionTool, ChatCompletionTools, FunctionObject};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::fields::lenient;
use crate::{PromptMessage, PromptRole};
use chime_core::estimate_tokens;

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Tool {
    pub name: &'static str,
    pub description: &'static str,
    pub parameters: Value,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// Arguments as the model wrote them: JSON, possibly invalid.
    pub arguments: String,
    /// Provider-specific data that some servers require back with the call.
    pub extra: Option<Value>,
    /// The reasoning before the calls, stored in the first of them: some servers require it back.
    pub thoughts: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolRound {
    /// Text that the model wrote along with the calls.
    pub said: String,
    pub calls: Vec<ToolCall>,
    /// One result per call, in the same order.
    pub results: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tools {
    pub offered: Vec<Tool>,
    /// Names of all tools of the program. Calls of those that are not offered are removed from an answer.
    pub known: Vec<&'static str>,
    /// `true` to omit the tools from the request. Calls that the model still makes are parsed.
    pub is_silent: bool,
    pub rounds: Vec<ToolRound>,
}

impl Tools {
    /// Returns `true` if the request lists tools. If not, earlier rounds are sent as plain text: some servers refuse
    /// results of tools that the request does not list.
    pub fn are_offered(&self) -> bool {
        !self.offered.is_empty() && !self.is_silent
    }

    /// Returns `true` if calls in an answer are parsed, even if the request lists no tools.
    pub fn may_be_called(&self) -> bool {
        !self.offered.is_empty()
    }

    /// Returns the names of all tools, offered or not.
    pub fn names(&self) -> Vec<&'static str> {
        self.offered.iter().map(|tool| tool.name).chain(self.known.iter().copied()).collect()
    }

    pub fn definitions(&self) -> Value {
        let definition = |tool: &Tool| {
            let function = FunctionObject {
                name: tool.name.to_owned(),
                description: Some(tool.description.to_owned()),
                parameters: Some(tool.parameters.clone()),
                strict: None,
            };
            json!(ChatCompletionTools::Function(ChatCompletionTool { function }))
        };
        self.offered.iter().map(definition).collect()
    }

    /// Returns the earlier calls and results as messages for a server with tool support. Includes the model's reasoning
    /// if `with_thoughts`.
    pub fn messages(&self, with_thoughts: bool) -> Vec<Value> {
        let mut messages = Vec::new();
        for ToolRound { said, calls, results } in &self.rounds {
            let calls_made: Vec<Value> = calls.iter().map(ToolCall::to_json).collect();
            // Some providers refuse an empty text.
            let said = (!said.is_empty()).then_some(said);
            let mut message = json!({"role": "assistant", "content": said, "tool_calls": calls_made});
            if with_thoughts {
                let thoughts = calls.iter().find_map(|call| call.thoughts.as_deref());
                message["reasoning_content"] = json!(thoughts.unwrap_or_default());
            }
            messages.push(message);
            for (call, result) in calls.iter().zip(results) {
                messages.push(json!({"role": "tool", "tool_call_id": call.id, "content": result}));
            }
        }
        messages
    }

    /// Returns the earlier calls and results as one message in plain text, for a server without tool support. `None` if
    /// there are none.
    pub fn as_message(&self) -> Option<PromptMessage> {
        let looked_up = self.rounds.iter().flat_map(|round| round.calls.iter().zip(&round.results));
        let reported: Vec<String> =
            looked_up.map(|(call, result)| format!("{} {}:\n{result}", call.name, call.arguments)).collect();
        let reported = (!reported.is_empty()).then(|| reported.join("\n\n"));
        reported.map(|reported| PromptMessage {
            role: PromptRole::User,
            content: format!("What you looked up for this:\n\n{reported}\n\nNow answer."),
        })
    }

    /// Sets the names of `calls` to those of the offered tools, and gives an id to calls without one of their own. Ids
    /// repeat in no round, because some servers refuse that.
    pub fn recognise(&self, calls: &mut [ToolCall]) {
        let names = self.names();
        let earlier: Vec<&str> =
            self.rounds.iter().flat_map(|round| &round.calls).map(|call| call.id.as_str()).collect();
        for place in 0..calls.len() {
            let (before, rest) = calls.split_at_mut(place);
            let call = &mut rest[0];
            if let Some(name) = named(&names, &call.name) {
                name.clone_into(&mut call.name);
            }
            let is_taken = earlier.contains(&call.id.as_str()) || before.iter().any(|other| other.id == call.id);
            if is_taken || call.id.is_empty() {
                // Nine letters and digits, which is the only form that Mistral's models accept.
                call.id = format!("call{:05}", earlier.len() + place);
            }
        }
    }

    /// Returns an estimate of the tokens of tools and rounds. It tends to be too high rather than too low.
    pub fn estimated_tokens(&self) -> usize {
        let offered = if !self.are_offered() { 0 } else { estimate_tokens(&self.definitions().to_string()) };
        let rounds: usize = self.messages(false).iter().map(|message| estimate_tokens(&message.to_string())).sum();
        offered + rounds
    }
}

/// Returns the name in `names` that a model means by `written`, perhaps with a namespace, a number or a token
/// (`functions.search:0`, `search<|channel|>json`).
pub fn named(names: &[&'static str], written: &str) -> Option<&'static str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = written.split(|c| !is_part(c));
    words.find_map(|word| names.iter().find(|name| **name == word)).copied()
}

impl ToolCall {
    /// Returns the call as part of a message. Servers refuse a prompt with arguments that are no JSON object.
    pub fn to_json(&self) -> Value {
        let arguments = if is_object(&self.arguments) { self.arguments.as_str() } else { "{}" };
        let mut call = json!({
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": arguments},
        });
        if let Some(extra) = &self.extra {
            call["extra_content"] = extra.clone();
        }
        call
    }
}

/// A call, or a part of one from a stream event.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct CallPiece {
    #[serde(deserialize_with = "lenient")]
    index: Option<usize>,
    #[serde(deserialize_with = "lenient")]
    id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    function: FunctionPiece,
    #[serde(deserialize_with = "lenient")]
    extra_content: Option<Value>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct FunctionPiece {
    #[serde(deserialize_with = "lenient")]
    name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    arguments: Option<Value>,
}

/// Sets the index of each call of a whole answer to its position.
pub fn in_order(calls: Vec<CallPiece>) -> impl Iterator<Item = CallPiece> {
    calls.into_iter().enumerate().map(|(place, call)| CallPiece { index: Some(place), ..call })
}

/// Joins the pieces of each call. Ignores calls without a name.
pub fn joined(pieces: Vec<CallPiece>) -> Vec<ToolCall> {
    let mut calls: Vec<(Option<usize>, ToolCall)> = Vec::new();
    for CallPiece { index, id, function, extra_content } in pieces {
        let id = id.filter(|id| !id.is_empty());
        let name = function.name.filter(|name| !name.is_empty());
        let arguments = function.arguments.as_ref().map(text_of).unwrap_or_default();
        // Decides if a piece continues an earlier call. The index alone does not tell: some servers give every call
        // index 0, some repeat the name in each piece, and some raise the index with each piece of one call.
        let goes_on = |(at, call): &(Option<usize>, ToolCall)| match &name {
            Some(name) => {
                let is_same = call.name == *name && (arguments.is_empty() || !is_object(&call.arguments));
                // A name in two pieces: only the first has the id.
                let is_rest = id.is_none() && !call.id.is_empty() && call.arguments.is_empty();
                let has_same_id = id.as_ref().is_none_or(|id| call.id.is_empty() || *id == call.id);
                *at == index && has_same_id && (is_same || is_rest || call.name.is_empty())
            }
            None => index.is_none() || *at == index,
        };
        let last = calls.len().checked_sub(1).filter(|_| name.is_none());
        match calls.iter().rposition(goes_on).or(last) {
            Some(place) => {
                let call = &mut calls[place].1;
                call.id = if call.id.is_empty() { id.unwrap_or_default() } else { std::mem::take(&mut call.id) };
                call.name.push_str(name.as_deref().filter(|name| call.name != *name).unwrap_or_default());
                call.arguments.push_str(&arguments);
                call.extra = extra_content.or(call.extra.take());
            }
            None => {
                let call = ToolCall {
                    id: id.unwrap_or_default(),
                    name: name.unwrap_or_default(),
                    arguments,
                    extra: extra_content,
                    thoughts: None,
                };
                calls.push((index, call));
            }
        }
    }
    let calls = calls.into_iter().map(|(_, call)| call).filter(|call| !call.name.is_empty());
    calls.map(|call| ToolCall { arguments: settled(call.arguments), ..call }).collect()
}

fn is_object(arguments: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(arguments).is_ok()
}

/// Returns the last JSON object in `arguments`, or all of them if there is none. Some servers send the arguments twice,
/// after an empty object, or as a JSON string in a JSON string.
fn settled(arguments: String) -> String {
    if is_object(&arguments) {
        return arguments;
    }
    let values = serde_json::Deserializer::from_str(&arguments).into_iter::<Value>().map_while(Result::ok);
    match values.last() {
        Some(Value::String(inner)) => settled(inner),
        Some(Value::Object(object)) => Value::Object(object).to_string(),
        _ => arguments,
    }
}

/// Returns arguments as text: servers send a string that contains JSON, or the JSON itself.
pub fn text_of(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(json: Value) -> Vec<CallPiece> {
        serde_json::from_value(json).expect("pieces")
    }

    fn reported(calls: &[ToolCall]) -> String {
        calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments)).collect::<Vec<_>>().join(", ")
    }

    fn tools() -> Tools {
        let tool = Tool { name: "search", description: "Searches.", parameters: json!({"type": "object"}) };
        Tools { offered: vec![tool], ..Tools::default() }
    }

    #[test]
    fn a_call_in_pieces_is_one_call() {
        let streamed = pieces(json!([
            {"index": 0, "id": "a", "function": {"name": "search", "arguments": ""}},
            {"index": 0, "function": {"arguments": "{\"query\":"}},
            {"index": 0, "function": {"arguments": " \"tent\"}"}},
            {"index": 1, "id": "b", "function": {"name": "chain", "arguments": "{}"}},
        ]));
        assert_eq!(reported(&joined(streamed)), r#"a search {"query": "tent"}, b chain {}"#);
    }

    #[test]
    fn calls_that_share_a_number_are_told_apart_by_their_ids() {
        let streamed = pieces(json!([
            {"index": 0, "id": "a", "function": {"name": "search", "arguments": "{}"}},
            {"index": 0, "id": "b", "function": {"name": "search", "arguments": "{}"}},
        ]));
        assert_eq!(reported(&joined(streamed)), "a search {}, b search {}");
    }

    #[test]
    fn pieces_are_joined_however_they_are_numbered_and_named() {
        let joined = |streamed| reported(&joined(pieces(streamed)));
        let twice = json!([
            {"index": 0, "id": "a", "function": {"name": "search", "arguments": ""}},
            {"index": 0, "id": "a", "function": {"name": "search", "arguments": "{\"query\":"}},
            {"index": 0, "function": {"name": "search", "arguments": " \"tent\"}"}},
            {"index": 0, "function": {"name": "search", "arguments": ""}},
        ]);
        assert_eq!(joined(twice), r#"a search {"query": "tent"}"#, "the name in each piece");
        let mixed = json!([
            {"index": 0, "id": "a", "function": {"name": "search", "arguments": "{\"query\":"}},
            {"index": 1, "id": "b", "function": {"name": "chain", "arguments": "{\"id\":"}},
            {"index": 0, "function": {"arguments": "\"tent\"}"}},
            {"index": 1, "function": {"arguments": "4}"}},
        ]);
        assert_eq!(joined(mixed), r#"a search {"query":"tent"}, b chain {"id":4}"#, "pieces of two calls in turn");
        let counted = json!([
            {"index": 0, "id": "a", "function": {"name": "search", "arguments": ""}},
            {"index": 1, "function": {"arguments": "{\"query\":"}},
            {"index": 2, "id": "x", "function": {"arguments": " \"tent\"}"}},
        ]);
        assert_eq!(joined(counted), r#"a search {"query": "tent"}"#, "pieces that are counted");
        let halves = json!([
            {"index": 0, "id": "a", "function": {"name": "search_", "arguments": ""}},
            {"index": 0, "function": {"name": "messages", "arguments": ""}},
            {"index": 0, "function": {"arguments": "{}"}},
        ]);
        assert_eq!(joined(halves), "a search_messages {}", "a name in pieces");
        let unnumbered = json!([
            {"index": 0, "function": {"name": "search", "arguments": "{\"query\":\"a\"}"}},
            {"index": 0, "function": {"name": "search", "arguments": "{\"query\":\"b\"}"}},
            {"index": 0, "function": {"name": "chain", "arguments": "{}"}},
        ]);
        assert_eq!(
            joined(unnumbered),
            r#" search {"query":"a"},  search {"query":"b"},  chain {}"#,
            "all with index 0"
        );
        let late = json!([
            {"index": 0, "id": "a", "function": {"arguments": ""}},
            {"index": 0, "function": {"name": "search", "arguments": "{}"}},
        ]);
        assert_eq!(joined(late), "a search {}", "the name in a later piece");
    }

    #[test]
    fn arguments_are_one_object() {
        let whole = r#"{"query":"tent"}"#;
        for arguments in
            [format!("{whole}{whole}"), format!("{{}}{whole}"), json!(whole).to_string(), format!("{whole}\n")]
        {
            assert_eq!(settled(arguments.clone()).trim(), whole, "{arguments}");
        }
        let sent_back = |arguments: &str| {
            ToolCall { arguments: arguments.into(), ..ToolCall::default() }.to_json()["function"]["arguments"].clone()
        };
        assert_eq!(sent_back(whole), whole);
        for arguments in ["", "{", "null", "[1]", "tent"] {
            assert_eq!(settled(arguments.into()), arguments);
            assert_eq!(sent_back(arguments), "{}", "servers refuse {arguments}");
        }
    }

    #[test]
    fn calls_name_an_offered_tool_and_have_an_id_of_their_own() {
        let call = |id: &str, name: &str| ToolCall { id: id.into(), name: name.into(), ..ToolCall::default() };
        let round = ToolRound { said: String::new(), calls: vec![call("0", "search")], results: vec![String::new()] };
        let tools = Tools { rounds: vec![round], ..tools() };
        let written =
            ["functions.search", "default_api:search", "functions.search:0", "search<|channel|>json", "searching"];
        let mut calls: Vec<ToolCall> = written.iter().map(|name| call("0", name)).collect();
        calls.push(call("b", "search"));
        tools.recognise(&mut calls);
        let expected = "call00001 search , call00002 search , call00003 search , call00004 search , \
            call00005 searching , b search ";
        assert_eq!(reported(&calls), expected);
    }

    #[test]
    fn what_servers_leave_out_is_made_up_for() {
        let whole = pieces(json!([
            {"function": {"name": "search", "arguments": {"query": "tent"}}, "extra_content": {"sign": "x"}},
            {"function": {"name": "search"}},
            {},
            {"id": 7, "function": 8},
        ]));
        let calls = joined(in_order(whole).collect());
        assert_eq!(reported(&calls), r#" search {"query":"tent"},  search "#);
        assert_eq!(calls[0].to_json()["extra_content"]["sign"], "x");
    }

    #[test]
    fn a_server_without_tools_is_told_what_was_found() {
        let call = ToolCall { id: "a".into(), name: "search".into(), arguments: "{}".into(), ..ToolCall::default() };
        let round = ToolRound { said: String::new(), calls: vec![call], results: vec!["the red tent".into()] };
        let tools = Tools { rounds: vec![round], ..tools() };
        let messages = tools.messages(false);
        assert_eq!((&messages[0]["content"], &messages[1]["tool_call_id"]), (&Value::Null, &json!("a")));
        let reported = tools.as_message().expect("a message");
        assert!(reported.content.contains("the red tent"), "{reported:?}");
        assert!(tools.estimated_tokens() > 20);
    }
}
