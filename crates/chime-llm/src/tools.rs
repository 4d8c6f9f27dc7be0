//! Tools that a model may call before it answers, in the format of chat completions.
//!
//! A call arrives whole or in pieces, with its arguments as text or as an object, with or without an id;
//! [`written_calls`](super::written_calls) parses calls that a model writes into its answer. Servers without tool
//! support get earlier results as plain text.

use async_openai::types::chat::{ChatCompletionTool, ChatCompletionTools, FunctionObject};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::fields::lenient;
use chime_core::estimate_tokens;

#[derive(Debug, Clone, PartialEq)]
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
    /// `true` to omit the tools from the request. Calls that the model still makes are parsed.
    pub is_silent: bool,
    pub rounds: Vec<ToolRound>,
}

impl Tools {
    /// Returns whether the request lists tools. If not, earlier rounds are sent as plain text: some servers refuse
    /// results of tools that the request does not list.
    pub fn are_offered(&self) -> bool {
        !self.offered.is_empty() && !self.is_silent
    }

    /// Returns whether calls in an answer are parsed, even if the request lists no tools.
    pub fn may_be_called(&self) -> bool {
        !self.offered.is_empty()
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
    pub fn as_message(&self) -> Option<Value> {
        let looked_up = self.rounds.iter().flat_map(|round| round.calls.iter().zip(&round.results));
        let reported: Vec<String> =
            looked_up.map(|(call, result)| format!("{} {}:\n{result}", call.name, call.arguments)).collect();
        let reported = (!reported.is_empty()).then(|| reported.join("\n\n"));
        reported.map(
            |reported| json!({"role": "user", "content": format!("What you looked up for this:\n\n{reported}\n\nNow answer.")}),
        )
    }

    /// Returns an estimate of the tokens of tools and rounds. It tends to be too high rather than too low.
    pub fn estimated_tokens(&self) -> usize {
        let offered = if !self.are_offered() { 0 } else { estimate_tokens(&self.definitions().to_string()) };
        let rounds: usize = self.messages(false).iter().map(|message| estimate_tokens(&message.to_string())).sum();
        offered + rounds
    }
}

impl ToolCall {
    pub fn to_json(&self) -> Value {
        let mut call = json!({
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
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

/// Joins the pieces of each call. Ignores calls without a name, and gives an id to calls without one.
pub fn joined(pieces: Vec<CallPiece>) -> Vec<ToolCall> {
    let mut calls: Vec<(Option<usize>, ToolCall)> = Vec::new();
    for CallPiece { index, id, function, extra_content } in pieces {
        let id = id.filter(|id| !id.is_empty());
        let name = function.name.filter(|name| !name.is_empty());
        let arguments = function.arguments.as_ref().map(text_of).unwrap_or_default();
        // Some servers give every call index 0 and distinguish them by id.
        let goes_on = |(at, call): &(Option<usize>, ToolCall)| {
            (index.is_none() || *at == index) && id.as_ref().is_none_or(|id| *id == call.id)
        };
        match calls.last_mut().filter(|last| goes_on(last) && (index.is_some() || name.is_none())) {
            Some((_, call)) => {
                call.name.push_str(&name.unwrap_or_default());
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
    let mut calls: Vec<ToolCall> =
        calls.into_iter().map(|(_, call)| call).filter(|call| !call.name.is_empty()).collect();
    for place in 0..calls.len() {
        let is_taken = calls[..place].iter().any(|other| other.id == calls[place].id);
        if is_taken || calls[place].id.is_empty() {
            calls[place].id = made_id(place);
        }
    }
    calls
}

pub fn made_id(place: usize) -> String {
    format!("call_{}", place + 1)
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
    fn what_servers_leave_out_is_made_up_for() {
        let whole = pieces(json!([
            {"function": {"name": "search", "arguments": {"query": "tent"}}, "extra_content": {"sign": "x"}},
            {"function": {"name": "search"}},
            {},
            {"id": 7, "function": 8},
        ]));
        let calls = joined(in_order(whole).collect());
        assert_eq!(reported(&calls), r#"call_1 search {"query":"tent"}, call_2 search "#);
        assert_eq!(calls[0].to_json()["extra_content"]["sign"], "x");
    }

    #[test]
    fn a_server_without_tools_is_told_what_was_found() {
        let call = ToolCall { id: "a".into(), name: "search".into(), arguments: "{}".into(), ..ToolCall::default() };
        let round = ToolRound { said: String::new(), calls: vec![call], results: vec!["the red tent".into()] };
        let tools = Tools { rounds: vec![round], ..tools() };
        assert_eq!(tools.messages(false)[1]["tool_call_id"], "a");
        let reported = tools.as_message().expect("a message");
        assert!(reported["content"].as_str().is_some_and(|text| text.contains("the red tent")), "{reported}");
        assert!(tools.estimated_tokens() > 20);
    }
}
