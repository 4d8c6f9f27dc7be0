//! Assembles an answer from server-sent events.
//!
//! Servers vary widely: comments, events without an empty line between them, events over several lines, token counts in
//! a separate event, errors in the middle, no final event. Some send a whole answer although a stream was requested.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::diagnose::diagnose_body;
use crate::facts::ReadingTime;
use crate::fields::lenient;
use crate::repetition::ends_in_loop;
use crate::tools;
use crate::usage::{Timings, Usage};
use crate::visible::visible_so_far;
use crate::wire::{ChoiceMessage, MessageContent, ModelAnswer, Pieces, ReceivedMessage};
use crate::{LlmError, Prompt};
use chime_core::repair;

/// The parts of one answer received so far.
#[derive(Debug, Default)]
pub struct Assembly {
    /// An incomplete line.
    line: Vec<u8>,
    /// `true` if the last byte was a carriage return. It ends a line, and so does a line feed after it: one end.
    was_return: bool,
    /// Data of an event so far, while it is incomplete JSON.
    data: String,
    /// Lines outside of events. They may be a whole answer, from a server that does not stream.
    outside: Vec<u8>,
    pieces: Pieces,
    has_choice: bool,
    /// Index of the choice with the text.
    index: usize,
    events: usize,
    thinks_unannounced: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Chunk {
    #[serde(deserialize_with = "lenient")]
    choices: Vec<StreamChoice>,
    #[serde(deserialize_with = "lenient")]
    usage: Usage,
    #[serde(deserialize_with = "lenient")]
    x_groq: Extra,
    #[serde(deserialize_with = "lenient")]
    timings: Timings,
}

/// Field in which Groq sends the token counts.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Extra {
    #[serde(deserialize_with = "lenient")]
    usage: Usage,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StreamChoice {
    #[serde(deserialize_with = "lenient")]
    index: usize,
    #[serde(deserialize_with = "lenient")]
    delta: ReceivedMessage,
    /// The whole message, which some servers send with every event instead of `delta`.
    #[serde(deserialize_with = "lenient")]
    message: ChoiceMessage,
    /// Text from servers that answer in the format of text completions.
    #[serde(deserialize_with = "lenient")]
    text: String,
    #[serde(deserialize_with = "lenient")]
    finish_reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    error: Option<Value>,
    #[serde(deserialize_with = "lenient")]
    usage: Usage,
}

impl Assembly {
    /// Starts an answer. If the reasoning of the model starts without a tag, nothing is shown before the end, because
    /// it could be reasoning.
    pub fn new(thinks_unannounced: bool) -> Self {
        Self { thinks_unannounced, ..Self::default() }
    }

    /// Processes the next bytes, which may end anywhere.
    ///
    /// # Errors
    /// The error reported by the server, or [`LlmError::BrokeOff`] for an event that is not JSON.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), LlmError> {
        for byte in bytes {
            match byte {
                b'\n' if self.was_return => {}
                b'\n' | b'\r' => self.end_line()?,
                byte => self.line.push(*byte),
            }
            self.was_return = *byte == b'\r';
        }
        Ok(())
    }

    /// Returns the part of the answer to `prompt` that may be shown so far.
    pub fn shown(&self, prompt: &Prompt) -> String {
        if self.thinks_unannounced { String::new() } else { visible_so_far(&self.pieces.text, prompt) }
    }

    /// Returns how much of an answer has arrived, including reasoning and calls. Comments and empty events are nothing.
    pub fn size(&self) -> usize {
        let Pieces { text, thoughts, calls, .. } = &self.pieces;
        text.len() + thoughts.len() + calls.len() + self.outside.len()
    }

    /// Returns `true` if the answer has ended: only token counts may follow.
    pub fn is_finished(&self) -> bool {
        let Pieces { text, calls, .. } = &self.pieces;
        self.pieces.is_finished() && !(text.is_empty() && calls.is_empty())
    }

    /// Returns `true` if reading should stop: the server ended the answer, or the model repeats itself endlessly.
    pub fn is_done(&self) -> bool {
        self.pieces.is_complete
    }

    /// Builds the answer.
    ///
    /// # Errors
    /// The errors of [`Pieces::conclude`]; [`LlmError::BrokeOff`] for a stream without a finish reason or final event.
    pub fn conclude(mut self, prompt: &Prompt) -> Result<ModelAnswer, LlmError> {
        // What follows the end of an answer may be half an event.
        if !self.line.is_empty() && !self.is_done() {
            self.end_line()?;
        }
        if self.events == 0 {
            let whole = parse(&self.outside).ok_or_else(|| {
                match serde_json::from_slice::<IgnoredAny>(self.outside.trim_ascii_end()) {
                    Err(error) if error.is_eof() => LlmError::BrokeOff,
                    _ => LlmError::Malformed { what: "it is not JSON" },
                }
            })?;
            self.take_in(&whole)?;
            self.pieces.is_complete = true;
        }
        match () {
            () if !self.data.is_empty() && !self.is_finished() && !self.is_done() => Err(LlmError::BrokeOff),
            () if !self.has_choice => Err(LlmError::Malformed { what: "it has no choices" }),
            () => self.pieces.conclude(prompt, self.thinks_unannounced),
        }
    }

    fn end_line(&mut self) -> Result<(), LlmError> {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_start_matches('\u{FEFF}');
        // llama.cpp names its errors `error:`.
        if let Some(data) = ["data:", "error:"].iter().find_map(|field| text.strip_prefix(field)) {
            return self.take_data(data.trim());
        }
        let is_field = [":", "event:", "id:", "retry:"].iter().any(|field| text.starts_with(field));
        match text.trim() {
            "" if !self.data.is_empty() => Err(LlmError::BrokeOff),
            "" => Ok(()),
            _ if is_field => Ok(()),
            _ => {
                self.outside.extend_from_slice(&line);
                self.outside.push(b'\n');
                Ok(())
            }
        }
    }

    /// Adds a data line. An event may span several; it is complete as soon as it parses.
    fn take_data(&mut self, data: &str) -> Result<(), LlmError> {
        self.events += 1;
        if data == "[DONE]" {
            self.pieces.is_complete = true;
            return Ok(());
        }
        // Gateways write keep-alives as data, such as `ping` or `: PROCESSING`.
        if data.is_empty() || self.data.is_empty() && !data.starts_with(['{', '[']) {
            return Ok(());
        }
        self.data.push_str(data);
        let repaired = || repair(&self.data).replace(":NaN", ":null").replace(": NaN", ": null");
        match serde_json::from_str(&self.data).or_else(|_| serde_json::from_str(&repaired())) {
            Ok(body) => {
                self.data.clear();
                self.take_in(&body)
            }
            Err(error) if error.is_eof() => Ok(()),
            // Some gateways lose the line break between two events.
            Err(_) => match std::mem::take(&mut self.data).split_once("}data:") {
                Some((first, rest)) => {
                    self.take_data(&format!("{first}}}"))?;
                    self.take_data(rest.trim_start())
                }
                None => Err(LlmError::BrokeOff),
            },
        }
    }

    fn take_in(&mut self, body: &Value) -> Result<(), LlmError> {
        let chunk = Chunk::deserialize(body).unwrap_or_default();
        // Some servers send an empty error beside an answer.
        let is_error = |error: &Value| match error {
            Value::String(text) => !text.is_empty(),
            Value::Object(fields) => !fields.is_empty(),
            error => !error.is_null() && body.get("choices").is_none(),
        };
        // Some servers send the fields of an error without `error` around them.
        let is_bare = body.get("choices").is_none_or(Value::is_null)
            && ["message", "detail", "msg"].iter().any(|field| body.get(field).is_some_and(Value::is_string));
        if is_bare || body.get("error").or_else(|| body.get(0)?.get("error")).is_some_and(is_error) {
            return Err(diagnose_body(body));
        }
        self.pieces.reading = ReadingTime::of(body).or(self.pieces.reading);
        for usage in [chunk.usage, chunk.x_groq.usage] {
            self.count(usage);
        }
        if chunk.timings.cache_n.whole() > 0 {
            self.pieces.reused = chunk.timings.cache_n;
        }
        // One choice is asked for. Some gateways give it another index, or one index to the reasoning and one to the
        // text.
        let is_answer = |choice: &StreamChoice| self.pieces.text.is_empty() || choice.index <= self.index;
        if let Some(choice) = chunk.choices.into_iter().min_by_key(|choice| choice.index).filter(is_answer) {
            self.has_choice = true;
            if self.pieces.text.is_empty() {
                self.index = choice.index;
            }
            let StreamChoice { mut delta, message, text, finish_reason, error, usage, .. } = choice;
            let mut message = message.read();
            let is_new = self.pieces.text.is_empty();
            self.pieces.thoughts.push_str(&delta.take_thoughts());
            if self.pieces.thoughts.is_empty() {
                self.pieces.thoughts = message.take_thoughts();
            }
            self.pieces.text.push_str(&delta.content.map(MessageContent::into_text).unwrap_or_default());
            self.pieces.text.push_str(&text);
            let whole = if self.pieces.calls.is_empty() { message.tool_calls } else { Vec::new() };
            self.pieces.calls.extend(delta.tool_calls.into_iter().chain(tools::in_order(whole)));
            if is_new && self.pieces.text.is_empty() {
                self.pieces.text = message.content.map(MessageContent::into_text).unwrap_or_default();
            }
            self.pieces.is_refused |= delta.refusal.or(message.refusal).is_some_and(|refusal| !refusal.is_empty());
            self.pieces.finish = finish_reason.filter(|reason| !reason.is_empty()).or(self.pieces.finish.take());
            self.pieces.error = error.or(self.pieces.error.take());
            self.count(usage);
        }
        self.pieces.is_complete |= ends_in_loop(&self.pieces.text);
        Ok(())
    }

    fn count(&mut self, usage: Usage) {
        if usage.is_counted() {
            self.pieces.usage = usage;
        }
    }
}

pub fn is_stream(body: &[u8]) -> bool {
    let start = body.trim_ascii_start();
    [&b"data:"[..], b":", b"event:"].iter().any(|field| start.starts_with(field))
}

/// Byte order mark of UTF-8, which some servers send.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Parses JSON with an optional byte order mark and with lone surrogate escapes.
pub fn parse(body: &[u8]) -> Option<Value> {
    let body = body.strip_prefix(MARK).unwrap_or(body);
    serde_json::from_slice(body).ok().or_else(|| serde_json::from_str(&repair(std::str::from_utf8(body).ok()?)).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = ": hello\r\n\r\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\r\n\r\n\
        event: x\ndata: {\"choices\":[{\"delta\":{\"content\":\"Früh\"}}]}\n\
        data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"ling 🎉\"}}]}\n\n\
        data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
        data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n";

    fn described(stream: &[u8], cuts: &[usize]) -> String {
        let mut assembly = Assembly::default();
        let mut from = 0;
        for cut in cuts.iter().copied().chain([stream.len()]).map(|cut| cut.min(stream.len())) {
            if let Err(error) = assembly.feed(&stream[from.min(cut)..cut]) {
                return error.to_string();
            }
            from = from.max(cut);
        }
        match assembly.conclude(&Prompt::new(Vec::new(), 100)) {
            Ok(answer) => format!("{} {:?}", answer.text, answer.tokens.map(|it| (it.prompt, it.completion))),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn odd_events_are_read() {
        let event = |fields: &str| format!("data: {{\"choices\":[{{{fields}}}]}}\n\n");
        let end = event(r#""delta":{},"finish_reason":"stop""#);
        let friday = r#""delta":{"content":"Friday."}"#;
        for events in [
            event(&format!(r#""index":1,{friday}"#)),
            event(r#""delta":{"reasoning":"Hm."}"#) + &event(&format!(r#""index":1,{friday}"#)),
            event(&format!(r#""logprobs":{{"x":NaN}},{friday}"#)),
            event(r#""delta":{"content":"Fri"}"#).trim_end().to_owned() + &event(r#""delta":{"content":"day."}"#),
            event(friday).replace('\n', "\r"),
            event(friday).replace('\n', "\r\n"),
        ] {
            let stream = events + &end;
            assert_eq!(described(stream.as_bytes(), &[]), "Friday. None", "{stream}");
        }
    }

    #[test]
    fn a_loop_that_ends_within_a_packet_is_cut() {
        let event = |text: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
        let stream = event("It is on Friday. ") + &event("Bring the tent. ").repeat(60) + "data: {\"choices\":[{";
        assert_eq!(described(stream.as_bytes(), &[]), "It is on Friday. Bring the tent. None");
    }

    #[test]
    fn a_stream_is_read_to_its_end() {
        assert_eq!(described(STREAM.as_bytes(), &[]), "Frühling 🎉 Some((7, 2))");
    }

    proptest! {
        #[test]
        fn where_it_is_cut_makes_no_difference(mut cuts in prop::collection::vec(0..400usize, 0..12)) {
            cuts.sort_unstable();
            prop_assert_eq!(described(STREAM.as_bytes(), &cuts), described(STREAM.as_bytes(), &[]));
        }

        #[test]
        fn whatever_comes_is_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = described(&bytes, &[]);
            let lines: Vec<u8> = [b"data: ".as_slice(), &bytes].concat();
            let _ = described(&lines, &[]);
        }

        #[test]
        fn what_breaks_off_is_no_answer(end in 0..STREAM.find("\"stop\"").unwrap()) {
            let end = (0..=end).rev().find(|end| STREAM.is_char_boundary(*end)).unwrap();
            let described = described(&STREAM.as_bytes()[..end], &[]);
            prop_assert!(described.starts_with("the model server's answer") && !described.contains("Fr"), "{}", described);
        }
    }
}
