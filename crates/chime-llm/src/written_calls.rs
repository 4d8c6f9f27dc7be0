//! Tool calls that a model writes into the text of its answer because its server does not parse the model's own
//! notation.
//!
//! All notations follow two rules. A *block* starts with an opener that no answer contains (a tag, a token, a code
//! fence, or a line that is a call) and ends with its closer or with the text. Within a block, a call is the name of a
//! tool of the program followed by its arguments, as JSON, as tags or as `name=value`. Calls of offered tools are run,
//! all others are dropped.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Match, Regex};
use serde_json::{Map, Value};

use crate::code::{code_ranges, is_in};
use crate::tools::{ToolCall, Tools, named, text_of};
use crate::turns::{TOKEN, is_mentioned_in_sentence, is_of_calls};
use chime_core::pattern;

/// Openers of call blocks, which may be anywhere in a line. The group `tag` or `bare` is the name that
/// the closing tag has.
static OPENER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"<(?:｜?\w+[:｜])?(?P<tag>(?:tool|function)_?(?:calls?|code|use|response|result)|TOOL_?CALLS?|invoke|function)(?:(?:[\s=]|/\w)[^<>\n]*)?>",
        r"|<(?P<bare>function)\(\w*(?:\z|\)>?\s*(?:\z|\{))|<start_function_(?:call|response)>",
        r"|<\|[^|<>\n]*(?:tool|python_tag|plugin|ACTION)[^|<>\n]*\|?>|<｜[^｜<>\n]*(?:tool|call)[^｜<>\n]*｜>",
        r"|\[TOOL_CALLS?\]|\bfunctools\[",
        r"|(?:<\|start\|>assistant)?(?:<\|channel\|>|assistant)?commentary to=",
    ))
});

/// Start of a line that is itself a call.
static LINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?m)^[ \t]*(?:[\[(]|print\()?(?:(?:functions|default_api)\.|call:)?(?P<name>\w+)(?::\d+)?[({]")
});

/// Namespaces that may precede the name of a tool.
const PREFIXES: [&str; 3] = ["functions.", "default_api.", "call:"];

/// Start of a call after `Action:`: the name of a tool (ReAct) or JSON, perhaps in a code fence (Command R). The model
/// invents all text after the call.
static ACTION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\A(?:Thought:.*\n+)?Action:[ \t]*(?:```(?:json)?)?\s*(?P<call>[\[{]|\w+)"));

/// Other starts of a line that may become a call. A line that is only a part of one may still become one.
const STARTS: [&str; 7] = ["print(", "functools[", "```json", "```tool", "[{", "Action:", "function call{"];
/// Starts of a line that may become a call as long as the line goes on.
const OPEN_STARTS: [&str; 5] = ["{", "[{", "```tool", "Action:", "function call{"];

/// Quotation marks of Gemma's calls, such as `call:search{query:<|"|>tent<|"|>}`.
const QUOTES: [&str; 2] = ["<|\"|>", "<escape>"];
/// Words before a call in JSON.
const ANNOUNCED: &str = "function call";

/// Start of a JSON call that may still be incomplete.
static BEGUN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?s)\A\[?\s*\{\s*"(?:(?:arguments|parameters)"\s*:"#,
        r#"|(?:type|id|function|name|tool|tool_name|tool_call_id|tool_calls)"\s*:.*"(?:arguments|parameters)")"#,
    ))
});

static TAGGED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?s)<(?:｜?\w+[:｜])?parameter(?:=|\s+name=)"?(?P<name>[\w-]+)"?[^<>\n]*>\s*(?P<value>.*?)\s*</(?:｜?\w+[:｜])?parameter>"#,
        r"|<arg_key>\s*(?P<key>[\w-]+)\s*</arg_key>\s*<arg_value>\s*(?P<arg>.*?)\s*</arg_value>",
    ))
});

/// Closing tags of a call whose opening tags are missing.
static CLOSERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\s*(?:</(?:\w+:)?(?P<tag>parameter|function|invoke|tool_calls?|function_calls?|arg_value)>\s*)+")
});

static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?P<name>[A-Za-z_]\w*)\s*[=:]\s*(?P<value>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]\n]*\]|[^,(){}\s]+)"#,
    )
});

/// Removes call blocks from `text`; returns the remaining text and the calls of offered tools.
pub fn extract_calls(text: &str, tools: &Tools) -> (String, Vec<ToolCall>) {
    let (mut rest, mut calls, mut from) = (String::new(), Vec::new(), 0);
    let (names, is_offered) = (tools.names(), |name: &str| tools.offered.iter().any(|tool| tool.name == name));
    for block in blocks(text, &names) {
        let between = &text[from..block.start];
        if !calls.is_empty() && !between.trim().is_empty() {
            break;
        }
        rest.push_str(between);
        calls.extend(read(&text[block.clone()], &names).into_iter().filter(|(name, _)| is_offered(name)));
        let closers = CLOSERS.find_at(text, block.end).filter(|closers| closers.start() == block.end);
        from = closers.map_or(block.end, |closers| closers.end());
    }
    // Text after a call is dropped: the model invented the call's result.
    rest.push_str(if calls.is_empty() { &text[from..] } else { "" });
    let call =
        |(name, arguments): (String, Value)| ToolCall { name, arguments: text_of(&arguments), ..ToolCall::default() };
    (without_closers(rest.trim()).to_owned(), calls.into_iter().map(call).collect())
}

/// Returns `text` without closing tags of calls at its end. Keeps those that have an opening tag or stand in a
/// sentence.
fn without_closers(text: &str) -> &str {
    let found = CLOSERS.captures_iter(text).last();
    let last = found.and_then(|found| Some((found.get(0)?, format!("<{}", found.name("tag")?.as_str()))));
    let is_orphan = |(closers, opener): &(Match<'_>, String)| {
        let is_in_sentence = closers.as_str().starts_with([' ', '\t']);
        closers.end() == text.len() && !is_in_sentence && !text.contains(opener.as_str())
    };
    last.filter(is_orphan).map_or(text, |(closers, _)| &text[..closers.start()])
}

/// Returns the prefix of a streamed `text` that contains no call and no possible start of one.
pub fn before_calls<'a>(text: &'a str, tools: &Tools) -> &'a str {
    let names = tools.names();
    let first = blocks(text, &names).into_iter().next().map_or(text.len(), |block| block.start);
    let fence = code_ranges(text).pop().filter(|range| is_begun_call(&text[range.clone()]) && range.end == text.len());
    let first = fence.filter(|_| !names.is_empty()).map_or(first, |range| first.min(range.start));
    let line = text.rfind('\n').map_or(0, |at| at + 1);
    let last = text[line..].trim_start();
    let word = last.trim_start_matches(['[', '(']).trim_start_matches("print(");
    let begins = |name: &str| name.starts_with(word) || word.starts_with(name);
    let is_name = !last.is_empty() && names.into_iter().chain(PREFIXES).any(begins);
    let is_start = !last.is_empty() && STARTS.iter().any(|start| start.starts_with(last));
    let is_open = OPEN_STARTS.iter().any(|start| last.starts_with(start));
    without_closers(&text[..if is_name || is_start || is_open { first.min(line) } else { first }])
}

/// Returns `true` if a code fence may still become a call: it is open, and its content is JSON so far.
fn is_begun_call(fence: &str) -> bool {
    let (info, content) = fence.trim_start_matches('`').split_once('\n').unwrap_or((fence, ""));
    let content = content.trim();
    let may_be = matches!(info.trim(), "" | "json") && (content.is_empty() || content.starts_with(['{', '[']));
    may_be && fence.starts_with("```") && !content.ends_with("```")
}

fn blocks(text: &str, names: &[&'static str]) -> Vec<Range<usize>> {
    let code = code_ranges(text);
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let next = [opened(text, at, &code), line(text, at, &code, names), fenced(text, at, &code, names)];
        let Some(block) = next.into_iter().flatten().min_by_key(|block| block.start) else { break };
        at = block.end.max(block.start + 1);
        blocks.push(block);
    }
    blocks
}

/// Finds the next block with an opener from [`OPENER`].
fn opened(text: &str, at: usize, code: &[Range<usize>]) -> Option<Range<usize>> {
    let is_mark = |start, end| !is_in(code, start) && !is_mentioned_in_sentence(text, start, end);
    let needs_attribute =
        |tag: &str, opener: &str| matches!(tag, "function" | "invoke") && !opener.contains(['=', '/', '(']);
    let found = OPENER.captures_iter(&text[at..]).find_map(|found| {
        let (range, tag) =
            (found.get(0)?.range(), found.name("tag").or_else(|| found.name("bare")).map(|tag| tag.as_str()));
        let (start, end) = (at + range.start, at + range.end);
        let is_block = is_mark(start, end) && !tag.is_some_and(|tag| needs_attribute(tag, &text[start..end]));
        is_block.then_some((start, end, tag))
    });
    let (start, inside, tag) = found?;
    let end = match tag {
        Some(tag) => closing_tag(text, inside, tag),
        None if text[start..].starts_with("[TOOL") => end_of(text, inside, "[/TOOL", ']'),
        None if text[start..].starts_with("<start") => end_of(text, inside, "<end_function", '>'),
        None => TOKEN
            .find_iter(text)
            .filter(|it| it.start() >= inside && is_of_calls(it.as_str()))
            .last()
            .map(|it| it.end()),
    };
    Some(start..end.unwrap_or(text.len()))
}

/// Returns the end of the first closer, which starts with `start` and ends with `last`.
fn end_of(text: &str, from: usize, start: &str, last: char) -> Option<usize> {
    let at = from + text[from..].find(start)?;
    Some(at + text[at..].find(last)? + last.len_utf8())
}

fn closing_tag(text: &str, from: usize, tag: &str) -> Option<usize> {
    let mut at = from;
    loop {
        let open = at + text[at..].find("</")?;
        let end = open + text[open..].find('>')? + 1;
        if text[open..end - 1].ends_with(tag) {
            return Some(end);
        }
        at = end;
    }
}

/// Finds the next call at the start of a line: JSON with a name and arguments, `name(…)`, or an action.
fn line(text: &str, at: usize, code: &[Range<usize>], names: &[&'static str]) -> Option<Range<usize>> {
    let starts = text[at..].split_inclusive('\n').scan(at, |start, line| {
        let this = *start;
        *start += line.len();
        Some(this + line.len() - line.trim_start().len())
    });
    starts.filter(|start| *start < text.len() && !is_in(code, *start)).find_map(|start| {
        let rest = &text[start..];
        let json = rest.strip_prefix(ANNOUNCED).unwrap_or(rest);
        let length = if json.starts_with(['{', '[']) { json_call(json) } else { None };
        let length = length.map(|length| rest.len() - json.len() + length);
        length.or_else(|| named_call(rest, names)).or_else(|| action(rest, names)).map(|length| start..start + length)
    })
}

fn json_call(text: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next()? {
        Ok(value) => {
            let end = values.byte_offset();
            let is_alone = text[end..].lines().next().is_none_or(|rest| rest.trim().is_empty());
            (is_alone && !calls_in(&value).is_empty() && is_only_a_call(&value)).then_some(end)
        }
        // The call is incomplete, so all of the remaining text belongs to it.
        Err(error) => (error.is_eof() && BEGUN.is_match(text)).then_some(text.len()),
    }
}

fn named_call(text: &str, names: &[&'static str]) -> Option<usize> {
    let found = LINE.captures(text).filter(|found| found.get(0).is_some_and(|whole| whole.start() == 0))?;
    let whole = found.get(0)?;
    let has_prefix = PREFIXES.iter().any(|prefix| whole.as_str().contains(prefix));
    let is_call = has_prefix || names.contains(&&found["name"]);
    let first = whole.as_str().find(['(', '{', '['])?;
    let end = is_call.then(|| balanced(&text[first..]).map_or(text.len(), |length| first + length))?;
    let is_alone = text[end..].lines().next().is_none_or(|rest| rest.trim().is_empty());
    is_alone.then_some(end)
}

/// Returns the length of the text if it starts with an [`ACTION`] that is or may become a call of a tool.
fn action(text: &str, names: &[&'static str]) -> Option<usize> {
    let call = ACTION.captures(text)?.name("call")?;
    let is_call = match serde_json::Deserializer::from_str(&text[call.start()..]).into_iter::<Value>().next() {
        Some(Ok(value)) => is_only_a_call(&value) && !read(text, names).is_empty(),
        Some(Err(error)) => names.contains(&call.as_str()) || error.is_eof() && call.as_str().starts_with(['[', '{']),
        None => false,
    };
    is_call.then_some(text.len())
}

/// Finds the next code fence that contains only calls.
fn fenced(text: &str, at: usize, code: &[Range<usize>], names: &[&'static str]) -> Option<Range<usize>> {
    let mut fences =
        code.iter().filter(|range| range.start >= at && text[range.start..].trim_start().starts_with("```"));
    let found = fences.find(|range| {
        let fence = text[(*range).clone()].trim();
        let (info, content) = fence.trim_start_matches('`').split_once('\n').unwrap_or_default();
        let content = content.trim_end_matches('`').trim();
        let is_call = || {
            let value = serde_json::from_str::<Value>(content).ok().filter(is_only_a_call);
            value.is_some() && !read(content, names).is_empty()
        };
        info.trim().starts_with("tool") && !content.is_empty() || matches!(info.trim(), "" | "json") && is_call()
    });
    found.cloned()
}

/// Returns the length of the text up to the bracket that closes its first character.
fn balanced(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut is_escaped) = (0, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, _) => {}
        }
        if depth == 0 {
            return Some(at + c.len_utf8());
        }
    }
    None
}

fn read(block: &str, names: &[&'static str]) -> Vec<(String, Value)> {
    let block = QUOTES.iter().fold(block.to_owned(), |block, quote| block.replace(quote, "\""));
    let block = block.as_str();
    let written: Vec<(String, Value)> = json_values(block).iter().flat_map(calls_in).collect();
    if !written.is_empty() {
        let call = |(name, arguments): (String, Value)| Some((named(names, &name)?.to_owned(), arguments));
        return written.into_iter().filter_map(call).collect();
    }
    let mut calls = Vec::new();
    let mut at = 0;
    while let Some((start, name)) = next_name(block, at, names) {
        let behind = start + name.len();
        let end = next_name(block, behind, names).map_or(block.len(), |(start, _)| start);
        let (arguments, length) = arguments_in(&block[behind..], end - behind);
        calls.push((name.to_owned(), arguments));
        at = behind + length;
    }
    calls
}

fn next_name(block: &str, from: usize, names: &[&'static str]) -> Option<(usize, &'static str)> {
    let places = names.iter().flat_map(|name| block[from..].match_indices(*name).map(|(at, _)| (from + at, *name)));
    let is_word = |(at, name): &(usize, &str)| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        !block[..*at].ends_with(is_part) && !block[at + name.len()..].starts_with(is_part)
    };
    places.filter(is_word).min_by_key(|(at, _)| *at)
}

/// Parses the arguments after the name of a tool and returns them with their length in bytes. `end` is the position of
/// the next tool name, which JSON arguments may contain.
fn arguments_in(text: &str, end: usize) -> (Value, usize) {
    let own = &text[..end];
    let tagged: Map<String, Value> = TAGGED
        .captures_iter(own)
        .filter_map(|found| {
            let of = |one, other| found.name(one).or_else(|| found.name(other)).map(|it| it.as_str());
            Some((of("name", "key")?.to_owned(), value_of(of("value", "arg")?)))
        })
        .collect();
    if !tagged.is_empty() {
        return (Value::Object(tagged), end);
    }
    if let Some(open) = own.find('{') {
        let mut values = serde_json::Deserializer::from_str(&text[open..]).into_iter::<Map<String, Value>>();
        if let Some(Ok(object)) = values.next() {
            return (Value::Object(object), open + values.byte_offset());
        }
    }
    let named = NAMED.captures_iter(own).map(|found| (found["name"].to_owned(), value_of(&found["value"])));
    (Value::Object(named.collect()), end)
}

/// Parses a value that may be JSON, single-quoted or bare text.
fn value_of(written: &str) -> Value {
    let unquoted = written.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let json = || serde_json::from_str(written).ok();
    unquoted.map(Value::from).or_else(json).unwrap_or_else(|| Value::from(written))
}

/// Finds every JSON object and array in a text.
fn json_values(text: &str) -> Vec<Value> {
    let (mut values, mut at) = (Vec::new(), 0);
    while let Some(open) = text[at..].find(['{', '[']).map(|open| at + open) {
        let mut read = serde_json::Deserializer::from_str(&text[open..]).into_iter::<Value>();
        match read.next() {
            Some(Ok(value)) => {
                at = open + read.byte_offset();
                values.push(value);
            }
            _ => at = open + 1,
        }
    }
    values
}

const NAMES: [&str; 3] = ["name", "tool", "tool_name"];
const ARGUMENTS: [&str; 4] = ["arguments", "parameters", "args", "input"];

/// Returns the calls in a JSON value: an object with a name and arguments, an object with these in `function`, or a
/// list, perhaps in `tool_calls`.
fn calls_in(value: &Value) -> Vec<(String, Value)> {
    let Value::Object(object) = value else {
        return value.as_array().into_iter().flatten().flat_map(calls_in).collect();
    };
    if let Some(calls) = object.get("tool_calls") {
        return calls_in(calls);
    }
    let object = object.get("function").and_then(Value::as_object).unwrap_or(object);
    let name = NAMES.iter().find_map(|key| object.get(*key)?.as_str());
    let arguments = ARGUMENTS.iter().find_map(|key| object.get(*key));
    name.map(str::to_owned).zip(arguments.cloned()).into_iter().collect()
}

/// Returns `true` if a JSON value has only the fields of a call: an answer in JSON may have a `name` too.
fn is_only_a_call(value: &Value) -> bool {
    match value {
        Value::Array(values) => !values.is_empty() && values.iter().all(is_only_a_call),
        Value::Object(object) => {
            let others = ["type", "id", "index", "function", "tool_call_id", "tool_calls"];
            !calls_in(value).is_empty()
                && object.keys().all(|key| [&NAMES[..], &ARGUMENTS, &others].concat().contains(&key.as_str()))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::visible::visible_so_far;
    use crate::{Prompt, Tool};

    fn tools() -> Tools {
        let tool = |name| Tool { name, description: "Looks up.", parameters: json!({"type": "object"}) };
        Tools { offered: vec![tool("search_messages"), tool("get_messages")], ..Tools::default() }
    }

    /// The same tools, none of them offered.
    fn closed() -> Tools {
        Tools { known: vec!["search_messages", "get_messages"], ..Tools::default() }
    }

    /// Formats the calls of offered tools and the remaining text.
    fn reported(text: &str) -> String {
        let (rest, calls) = extract_calls(text, &tools());
        let calls: Vec<String> = calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect();
        format!("{} | {rest}", calls.join(", "))
    }

    const NOTATIONS: [&str; 37] = [
        r#"<tool_call>{"name": "search_messages", "arguments": {"query": "tent"}}</tool_call>"#,
        r#"<tool_call>{"name": "search_messages", "arguments": {"query": "tent"}}"#,
        r#"<function=search_messages>{"query": "tent"}</function>"#,
        r#"<function/search_messages>{"query": "tent"}</function>"#,
        r#"<function(search_messages){"query": "tent"}</function>"#,
        "<start_function_call>call:search_messages{query:<escape>tent<escape>}<end_function_call>",
        r#"function call{"name": "search_messages", "arguments": {"query": "tent"}}"#,
        "<tool_call>\n<function=search_messages>\n<parameter=query>\ntent\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>search_messages\n<arg_key>query</arg_key>\n<arg_value>tent</arg_value>\n</tool_call>",
        r#"[TOOL_CALLS][{"name": "search_messages", "arguments": {"query": "tent"}}]"#,
        r#"[TOOL_CALLS]search_messages[ARGS]{"query": "tent"}"#,
        r#"<|python_tag|>{"name": "search_messages", "parameters": {"query": "tent"}}<|eom_id|>"#,
        r#"<|python_tag|>search_messages.call(query="tent")"#,
        "```tool_call\n{\"name\": \"search_messages\", \"arguments\": {\"query\": \"tent\"}}\n```",
        "```json\n{\"name\": \"search_messages\", \"arguments\": {\"query\": \"tent\"}}\n```",
        "```tool_code\nprint(default_api.search_messages(query=\"tent\"))\n```",
        r#"{"name": "search_messages", "arguments": {"query": "tent"}}"#,
        r#"{"type": "function", "function": {"name": "search_messages", "arguments": "{\"query\":\"tent\"}"}}"#,
        r#"functions.search_messages({"query": "tent"})"#,
        r#"functions.search_messages:0{"query": "tent"}"#,
        r#"search_messages(query="tent")"#,
        "[search_messages(query='tent')]",
        r#"<|tool_calls_section_begin|><|tool_call_begin|>functions.search_messages:0<|tool_call_argument_begin|>{"query": "tent"}<|tool_call_end|><|tool_calls_section_end|>"#,
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search_messages\n```json\n{\"query\": \"tent\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "<function_calls>\n<invoke name=\"search_messages\">\n<parameter name=\"query\">tent</parameter>\n</invoke>\n</function_calls>",
        "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"search_messages\">\n<｜DSML｜parameter name=\"query\" string=\"true\">tent</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        r#"<|channel|>commentary to=functions.search_messages <|constrain|>json<|message|>{"query": "tent"}<|call|>"#,
        r#"assistantcommentary to=functions.search_messages json{"query": "tent"}"#,
        r#"<|tool_call>call:search_messages{query:<|"|>tent<|"|>}<tool_call|>"#,
        r#"call:search_messages{query:"tent"}"#,
        r#"<|START_ACTION|>[{"tool_call_id":"0","tool_name":"search_messages","parameters":{"query":"tent"}}]<|END_ACTION|>"#,
        r#"[{"tool_call_id":"0","tool_name":"search_messages","parameters":{"query":"tent"}}]"#,
        r#"functools[{"name": "search_messages", "arguments": {"query": "tent"}}]"#,
        r#"<TOOLCALL>[{"name": "search_messages", "arguments": {"query": "tent"}}]</TOOLCALL>"#,
        r#"{"tool_calls": [{"name": "search_messages", "arguments": {"query": "tent"}}]}"#,
        "Action: ```json\n[\n  {\"tool_name\": \"search_messages\", \"parameters\": {\"query\": \"tent\"}}\n]\n```",
        "Action: search_messages\nAction Input: {\"query\": \"tent\"}\nObservation: The red tent.\nFinal Answer: It is red.",
    ];

    #[test]
    fn a_call_is_read_in_every_notation() {
        for text in NOTATIONS {
            let call = r#"search_messages {"query":"tent"} | "#;
            assert_eq!(reported(text), call, "{text}");
            assert_eq!(reported(&format!("Let me look.\n\n{text}")), format!("{call}Let me look."), "{text}");
            let (rest, calls) = extract_calls(&format!("It is red.\n\n{text}"), &closed());
            assert!(calls.is_empty() && rest == "It is red.", "not offered: {text}: {rest}");
        }
    }

    #[test]
    fn while_it_is_written_nothing_of_a_call_is_shown() {
        for tools in [tools(), closed()] {
            let prompt = Prompt { tools, ..Prompt::new(Vec::new(), 100) };
            for text in NOTATIONS.iter().map(|call| format!("Let me look.\n\n{call}")) {
                for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                    let shown = visible_so_far(&text[..end], &prompt);
                    assert!("Let me look.".starts_with(shown.as_str()), "{shown:?} is shown of {:?}", &text[..end]);
                }
            }
        }
    }

    #[test]
    fn several_calls_are_read_and_what_is_made_up_behind_them_is_not() {
        let both = r#"search_messages {"query":"tent"}, get_messages {"ids":[4]} | "#;
        for text in [
            "<tool_call>{\"name\": \"search_messages\", \"arguments\": {\"query\": \"tent\"}}</tool_call>\n<tool_call>{\"name\": \"get_messages\", \"arguments\": {\"ids\": [4]}}</tool_call>",
            "[search_messages(query=\"tent\"), get_messages(ids=[4])]",
            "<function=search_messages>{\"query\": \"tent\"}</function><function=get_messages>{\"ids\": [4]}</function>",
        ] {
            assert_eq!(reported(text), both, "{text}");
        }
        let react = "Thought: I should look.\nAction: search_messages\nAction Input: {\"query\": \"tent\"}";
        assert_eq!(reported(&format!("Let me look.\n{react}")), r#"search_messages {"query":"tent"} | Let me look."#);
        let result = "<tool_response>The red tent.</tool_response>";
        let call = "<tool_call>{\"name\": \"search_messages\", \"arguments\": {}}</tool_call>";
        assert_eq!(reported(&format!("{call}\n{result}\nIt is red.")), "search_messages {} | ");
        assert_eq!(reported(&format!("{call}\nIt is red.")), "search_messages {} | ");
        let unknown = call.replace("search_messages", "order_pizza");
        assert_eq!(
            reported(&format!("It is red.\n{unknown}\n{result}\nThe big one.")),
            " | It is red.\n\n\nThe big one."
        );
        for closers in ["\n</tool_call>", "</tool_call>", "\n</parameter>\n</function>\n</tool_call>"] {
            assert_eq!(reported(&format!("It is red.{closers}")), " | It is red.");
            let orphaned = format!("Let me see.\n\n<function=Bash>\n<parameter=command>\nls{closers}");
            assert_eq!(reported(&orphaned), " | Let me see.");
        }
        let lines = "search_messages(query=\"tent\")\nget_messages(ids=[4, 5])";
        assert_eq!(reported(lines), both.replace("[4]", "[4,5]"));
        assert_eq!(
            reported(r#"<function=get_messages>{"query": "search_messages"}</function>"#),
            r#"get_messages {"query":"search_messages"} | "#
        );
    }

    #[test]
    fn an_answer_with_names_and_brackets_is_no_call() {
        for text in [
            "Friday.",
            r#"{"name": "Ana"}"#,
            r#"{"name": "search_messages", "price": 3, "arguments": {}}"#,
            "```json\n{\"name\": \"order_pizza\", \"arguments\": {\"size\": 3}}\n```",
            "```python\nsearch_messages(query=\"tent\")\n```",
            "Use `<tool_call>` for that.",
            "It ends with </tool_call>",
            "Like so:\n<function>\na\n</function>",
            "Models write <tool_call> or <function=name>, as they like.",
            "I looked with search_messages (twice).",
            "A vector<function(int)> holds them.",
            "function call overhead is small",
            "[Ana](https://a.example) said so.",
            "[1] Friday\n[2] Saturday",
            "f(x) = 3",
            "order_pizza(size=3)",
            "[order_pizza(size=3)]",
            "functools.partial(f, 3)",
            "Action: buy the tent\nInput: money",
            "Action: search the messages",
            "```\nAction: search_messages\nAction Input: {}\n```",
            "```json\n{\"tool_calls\": [{\"name\": \"order_pizza\", \"arguments\": {}}]}\n```",
            "",
        ] {
            assert_eq!(reported(text), format!(" | {text}"), "{text}");
            assert_eq!(extract_calls(text, &closed()), (text.to_owned(), Vec::new()), "not offered");
        }
    }
}
