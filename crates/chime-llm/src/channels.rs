//! Output channels of OpenAI's open-weight models, whose tokens some servers leave in the text.

use std::sync::LazyLock;

use regex::Regex;

use crate::code::{code_ranges, is_in};
use chime_core::pattern;

/// Token before the name of an output channel, such as `analysis` or `final`, of OpenAI's open-weight models. Servers
/// that do not know the format leave it in the text.
pub const CHANNEL: &str = "<|channel|>";
/// Names of channels that members must not see. A text that lost its special tokens starts with such a name.
pub const THOUGHTS: [&str; 2] = ["analysis", "commentary"];
/// Start of a tool call that is written into a channel.
const CALL: &str = "commentary to=";
/// Start of the channel that contains the answer.
static FINAL: LazyLock<Regex> = LazyLock::new(|| pattern(r"<\|channel\|>\s*final[^\n]{0,40}?<\|message\|>"));
/// Start of the answer channel in text that lost its special tokens (`…done.assistantfinal`).
static BARE_FINAL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?:\A|[.!?…)"”'’\]}\n。！？]\s?)(?:assistant|<\|start\|>assistant)final[ \n]?"#));
/// The same, after reasoning that starts with a channel's name: such reasoning may end in the middle of a sentence.
static NAMED_FINAL: LazyLock<Regex> = LazyLock::new(|| pattern("assistantfinal"));
/// Start of a channel without a name.
static MESSAGE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\A[a-z =._<|>]{0,60}<\|message\|>"));

/// Returns `true` if a text starts with a named channel, with or without special tokens.
pub fn is_channel(text: &str) -> bool {
    text.starts_with(CHANNEL) || text.starts_with(CALL) || is_bare_thought(text)
}

/// Returns `true` if a text starts with the name of a channel, directly followed by a letter, a digit or a line break.
/// An answer that begins with this word has a blank after it.
fn is_bare_thought(text: &str) -> bool {
    let runs_into = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '\n');
    THOUGHTS.iter().any(|name| text.strip_prefix(name).is_some_and(runs_into))
}

/// Returns the text of the last `final` channel, else the tool call, if the text consists of channels. `None` if it
/// does not.
pub fn final_channel(text: &str) -> Option<&str> {
    let code = code_ranges(text);
    let last = |pattern: &Regex| pattern.find_iter(text).filter(|found| !is_in(&code, found.start())).last();
    let named = || is_bare_thought(text).then(|| last(&NAMED_FINAL)).flatten();
    if let Some(found) = last(&FINAL).or_else(|| last(&BARE_FINAL)).or_else(named) {
        return Some(text[found.end()..].trim_start());
    }
    if is_channel(text) {
        return Some(text.rfind(CALL).map_or("", |call| &text[call..]));
    }
    Some(text[MESSAGE.find(text)?.end()..].trim_start())
}
