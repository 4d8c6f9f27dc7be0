//! Removes the reasoning that models write before their answer.

use std::sync::LazyLock;

use regex::Regex;

use crate::code::{SENTENCE_ENDS, code_ranges, is_in};
use crate::turns;
use chime_core::pattern;

const TAGS: [(&str, &str); 10] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel>", "<channel|>"),
];

/// Tags that some models put around the answer after their reasoning.
const WRAPPERS: [(&str, &str); 3] =
    [("<answer>", "</answer>"), ("<response>", "</response>"), ("<final_answer>", "</final_answer>")];

/// Token before the name of an output channel, such as `analysis` or `final`, of OpenAI's open-weight models. Servers
/// that do not know the format leave it in the text.
const CHANNEL: &str = "<|channel|>";
/// Names of channels that members must not see. A text that lost its special tokens starts with such a name.
const THOUGHTS: [&str; 2] = ["analysis", "commentary"];
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

/// Returns `text` trimmed, without the reasoning before the answer and without turn tokens. Keeps reasoning tags within
/// the answer: a member may have asked about them. `about_tokens` is `true` if the prompt contains template tokens, so
/// that the answer may be about them.
pub fn without_thinking(text: &str, about_tokens: bool) -> &str {
    let rest = after_thinking(text, about_tokens);
    let answer = rest[..turns::end(rest, about_tokens)].trim_end();
    let inside = WRAPPERS.iter().find_map(|(open, close)| Some((answer.strip_prefix(open)?, close)));
    inside.map_or(answer, |(inside, close)| inside.strip_suffix(close).unwrap_or(inside).trim())
}

/// Returns whether the model wrote text after the end of its turn, which is not for members.
pub fn runs_on(text: &str, about_tokens: bool) -> bool {
    let rest = after_thinking(text, about_tokens);
    turns::end(rest, about_tokens) < rest.len()
}

fn after_thinking(text: &str, about_tokens: bool) -> &str {
    let is_kept = |rest: &str| {
        rest.starts_with(CHANNEL)
            || rest.starts_with("<|message|>")
            || TAGS.iter().any(|(open, _)| rest.starts_with(open))
    };
    let mut rest = turns::after_start(text, about_tokens, is_kept).trim_end();
    if let Some(answer) = final_channel(rest) {
        return answer;
    }
    for (open, close) in TAGS {
        if let Some(answer) = after_preamble(rest, open, close) {
            rest = answer;
        }
        while let Some(thought) = rest.strip_prefix(open) {
            // An unclosed tag: the model ran out of tokens during its reasoning.
            rest = thought.split_once(close).map_or("", |(_, answer)| answer.trim_start());
        }
        if let Some(answer) = after_unopened(rest, open, close) {
            rest = answer;
        }
    }
    turns::after_start(rest, about_tokens, |_| false)
}

/// Returns the part of a streamed text that certainly belongs to the answer. Reasoning without an opening tag cannot be
/// recognized before its closing tag.
pub fn without_thinking_so_far(text: &str, about_tokens: bool) -> &str {
    let start = text.trim_start();
    let may_begin = |tag: &str| tag.starts_with(start);
    if TAGS.iter().any(|(open, close)| start.starts_with(open) && !start.contains(close)) {
        return "";
    }
    let openers = TAGS.iter().map(|(open, _)| *open).chain(THOUGHTS).chain([CHANNEL, "assistantfinal"]);
    if openers.into_iter().any(may_begin) {
        return "";
    }
    let answer = without_thinking(start, about_tokens);
    // The rest may be the beginning of another reasoning tag or of a role name.
    let next = TAGS.iter().map(|(open, _)| *open).chain(turns::ROLES);
    if answer.len() < start.len() && next.into_iter().any(|next| next.starts_with(answer)) {
        return "";
    }
    answer
}

/// Returns whether a complete `text` has reasoning without an opening tag.
pub fn thinks_unannounced(text: &str) -> bool {
    let text = text.trim();
    TAGS.iter().any(|(open, close)| after_unopened(text, open, close).is_some())
        || !is_channel(text) && final_channel(text).is_some_and(|answer| answer.len() < text.len())
}

/// Returns whether a text starts with a named channel, with or without special tokens.
fn is_channel(text: &str) -> bool {
    text.starts_with(CHANNEL) || text.starts_with(CALL) || is_bare_thought(text)
}

/// Returns whether a text starts with the name of a channel, directly followed by a letter, a digit or a line break. An
/// answer that begins with this word has a blank after it.
fn is_bare_thought(text: &str) -> bool {
    let runs_into = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '\n');
    THOUGHTS.iter().any(|name| text.strip_prefix(name).is_some_and(runs_into))
}

/// Returns the text of the last `final` channel, else the tool call, if the text consists of channels. `None` if it
/// does not.
fn final_channel(text: &str) -> Option<&str> {
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

/// Returns the answer after reasoning without an opening tag, which some chat templates put into the prompt. The
/// closing tag then stands on its own line or directly after a sentence; in an answer about the tag, a blank or a
/// quotation mark precedes it.
fn after_unopened<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (thought, answer) = text.split_once(close)?;
    let on_its_own = thought.is_empty() || thought.ends_with('\n');
    let ends_the_line = answer.is_empty() || answer.starts_with(['\n', '\r']);
    let ends_a_sentence = thought.ends_with(SENTENCE_ENDS);
    ((on_its_own && ends_the_line || ends_a_sentence) && !thought.contains(open)).then(|| answer.trim_start())
}

/// Returns the answer of a model that writes one short sentence before its reasoning, with the opening tag on the next
/// line: the text after the reasoning or, if that is empty, the sentence.
fn after_preamble<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    const LONGEST: usize = 120;
    let (before, thought) = text.split_once(open)?;
    let preamble = before.trim_end();
    let is_one_line = before.ends_with('\n') && !preamble.contains('\n') && preamble.len() <= LONGEST;
    if !is_one_line || !preamble.ends_with(SENTENCE_ENDS) {
        return None;
    }
    Some(match thought.split_once(close) {
        Some((_, answer)) if answer.trim().is_empty() => preamble,
        Some((_, answer)) => answer.trim_start(),
        // An unclosed tag: the model ran out of tokens during its reasoning.
        None => "",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(without_thinking(text, false), expected);
    }

    #[test]
    fn thinking_before_the_answer_goes() {
        check("<think>\nHm, two dates.\n</think>\n\nFriday.", "Friday.");
        check("  <think></think>Friday.\n", "Friday.");
        check("<think>a</think><think>b</think> Friday.", "Friday.");
        check("<thinking>Hm.</thinking>\nFriday.", "Friday.");
        check("They said Friday or\nSaturday.\n</think>\n\nFriday.", "Friday.");
        check("</think>\nFriday.", "Friday.");
        check("They ask when. Let me answer.</think>Friday.", "Friday.");
        check("他们问什么时候？</think>星期五。", "星期五。");
        check("<reasoning>Hm.</reasoning>\nFriday.", "Friday.");
        check("<think>\nHm.\n</think>\n<answer>\nFriday.\n</answer>", "Friday.");
        check("<answer>Friday.", "Friday.");
        check("Put it into <answer> tags.", "Put it into <answer> tags.");
    }

    #[test]
    fn thinking_behind_a_greeting_goes_with_it() {
        check("Sure!\n<think>\nHm, two dates.\n</think>\n\nFriday.", "Friday.");
        check("Sure!\n<think>a</think><think>b</think>Friday.", "Friday.");
        check("Friday.\n<think>Was that right? Yes.</think>", "Friday.");
        check("Sure!\n<think>\nHm, two dates", "");
        check("好的！\n<think>\n两个日期。\n</think>\n\n星期五。", "星期五。");
        check("बिल्कुल।\n<think>Hm.</think>\nFriday.", "Friday.");
        check("It is written so:\n```\n<think>Hm.</think>\n```", "It is written so:\n```\n<think>Hm.</think>\n```");
    }

    #[test]
    fn marks_of_a_turn_go() {
        check("<|im_start|>assistant\nFriday.<|im_end|>", "Friday.");
        check("Friday.</s>\n<|eot_id|>", "Friday.");
        check("It ends with </s> there.", "It ends with </s> there.");
    }

    #[test]
    fn thinking_that_never_ends_leaves_nothing() {
        check("<think>\nHm, two dates", "");
        check("Hm.\n</think>", "");
    }

    #[test]
    fn every_family_of_models_thinks_in_its_own_way() {
        check("[THINK]Hm.[/THINK]Friday.", "Friday.");
        check("◁think▷Hm.◁/think▷Friday.", "Friday.");
        check("<seed:think>Hm.</seed:think>\nFriday.", "Friday.");
        check("<|channel>thought\nHm.\n<channel|>Friday.<turn|>", "Friday.");
        check(
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Friday.<|return|>",
            "Friday.",
        );
        check("<|channel|>analysis<|message|>Hm, two dates", "");
        check(
            "<|begin_of_thought|>Hm.<|end_of_thought|>\n\n<|begin_of_solution|>Friday.<|end_of_solution|>",
            "Friday.",
        );
        check("<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Friday.<|END_RESPONSE|>", "Friday.");
    }

    #[test]
    fn parts_with_names_are_told_apart_with_half_of_their_tokens_or_none() {
        check("analysisWe need the day. Two dates.assistantfinalFriday.", "Friday.");
        check("analysisThey ask.assistantcommentaryHm.assistantfinal\n\nFriday.", "Friday.");
        check("assistantfinalFriday.", "Friday.");
        check("analysis7*8=56assistantfinalIt is 56.", "It is 56.");
        check("analysisThe user wants the day, Fridayassistantfinal On Friday.", "On Friday.");
        check("analysis用户想知道日期assistantfinal星期五。", "星期五。");
        check("analysisthey ask when", "");
        check("We need the day.<|end|><|start|>assistant<|channel|>final<|message|>Friday.<|return|>", "Friday.");
        check("We need the day.<|start|>assistant<|channel|>final <|constrain|>text<|message|>Friday.", "Friday.");
        check("<|start|>assistant<|message|>Friday.<|end|>", "Friday.");
        check("final<|message|>Friday.", "Friday.");
        check("Friday.<|end|><|start|>assistant<|channel|>analysis<|message|>Was that right?", "Friday.");
        check("analysisWe need the day. Two dates", "");
        check("analysis of the dates: Friday.", "analysis of the dates: Friday.");
        check("gpt-oss writes `assistantfinal` there.", "gpt-oss writes `assistantfinal` there.");
        check("Its last part begins with `<|channel|>`, it says.", "Its last part begins with `<|channel|>`, it says.");
        check("analysisI search.assistantcommentary to=functions.find json{}", "commentary to=functions.find json{}");
        assert!(thinks_unannounced("Hm.<|end|><|start|>assistant<|channel|>final<|message|>Friday."));
        assert!(!thinks_unannounced("analysisHm.assistantfinalFriday."));
        assert!(runs_on("Friday.<|im_end|>\n<|im_start|>user\nthanks", false) && !runs_on("Friday.", false));
    }

    #[test]
    fn while_it_is_written_nothing_of_a_thought_is_shown() {
        for written in [
            "<think>Hm.</think><think>Two.</think>\nFriday, they said.",
            "analysisWe need the day.assistantfinalFriday, they said.",
            "analysis用户想知道日期，星期五assistantfinalFriday, they said.",
            "analysis日付を知りたい。assistantfinalFriday, they said.",
            "analysisيريد المستخدم معرفة اليومassistantfinalFriday, they said.",
            "analysis7*8=56assistantfinalFriday, they said.",
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Friday, they said.",
        ] {
            let ends = written.char_indices().map(|(at, c)| at + c.len_utf8());
            let shown: Vec<&str> = ends.map(|end| without_thinking_so_far(&written[..end], false)).collect();
            assert!(shown.iter().all(|shown| "Friday, they said.".starts_with(shown)), "{shown:?}");
            assert_eq!(shown.last(), Some(&"Friday, they said."));
        }
        assert_eq!(without_thinking_so_far("<", false), "");
        assert_eq!(without_thinking_so_far("Friday <", false), "Friday <");
        assert!(thinks_unannounced("Hm.\n</think>\nFriday.") && !thinks_unannounced("<think>Hm.</think>Friday."));
    }

    #[test]
    fn an_answer_about_the_tags_stays_whole() {
        check("The model wraps it in <think> and </think> tags.", "The model wraps it in <think> and </think> tags.");
        check("Look for `</think>` in the output.", "Look for `</think>` in the output.");
        check("Like so:\n<think>\nHm.\n</think>\nDone.", "Like so:\n<think>\nHm.\n</think>\nDone.");
        check("Friday.", "Friday.");
        check("", "");
    }
}
