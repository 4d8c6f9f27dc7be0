//! Removes the reasoning that models write before their answer.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::channels::{CHANNEL, THOUGHTS, final_channel, is_channel};
use crate::code::{SENTENCE_ENDS, code_ranges, is_in};
use crate::turns::{self, is_mentioned_in_sentence};
use chime_core::pattern;

/// A tag around reasoning, in any case and with attributes. The group matches a closing tag.
pub static TAG: LazyLock<Regex> = LazyLock::new(|| {
    const NAMES: &str =
        "(?:[a-z]+[:_]?)?think(?:ing(?:_process)?)?|inner_monologue|thoughts?|reasoning|reflection|analysis|scratchpad";
    pattern(&format!(
        r"(?P<close>(?i:</(?:{NAMES})\s*>)|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|END_THINKING\|>|<\|inner_suffix\|>|<channel\|>|<unused95>)|(?i:<(?:{NAMES})(?:\s[^<>\n]{{0,80}})?>)|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|START_THINKING\|>|<\|inner_prefix\|>|<\|channel>|<unused94>"
    ))
});

/// Reasoning without tags before an answer, with the words that end it.
static WRITTEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?s)\A\s*(?:<details type="reasoning"[^<>]*>.*?</details>|Thinking\.\.\.\n.*?\n\.\.\.done thinking\.\s"#,
        r"|Here are my reasoning steps:\n.*?\n\[BEGIN FINAL RESPONSE\]|Thought:.*?\nFinal Answer:",
        r"|Here(?: is|'s) my thought process:\n.*?\n\s*Here(?: is|'s) my response:|\*Thinking\.\.\.\*\n+(?:>[^\n]*\n+)+)",
    ))
});
/// Start of [`WRITTEN`].
static BEGUN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"\A(?:<details type="reasoning"|\*?Thinking\.\.\.\*?\n|Thought:|Here are my reasoning steps:\n|Here(?: is|'s) my thought process:\n)"#,
    )
});

/// Names of the tags that some models put around a whole answer.
const WRAPPERS: [&str; 10] =
    ["answer", "final_answer", "response", "final", "output", "reply", "message", "assistant", "text", "result"];

/// Start of an answer that is a JSON object, in a code block or not.
static PACKED: LazyLock<Regex> = LazyLock::new(|| pattern(r#"\A(?:```(?:json)?\s*)?\{\s*(?:"|\z)"#));

/// One of [`WRAPPERS`].
pub static WRAPPER: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("</?(?:{})>", WRAPPERS.join("|"))));

/// The part of a model's output after its reasoning and before the end of its turn.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    /// `true` if the model wrote more after the end of its turn.
    pub runs_on: bool,
    /// `true` if there was reasoning that started without a tag.
    pub thinks_unannounced: bool,
}

/// Returns the answer in `text`: without reasoning, turn tokens and tags around the whole. `is_about` is `true` if the
/// prompt contains such tags or tokens, so that the answer may be about them. If the text `is_whole`, an unclosed or
/// stray tag at its end is no sign that the answer is missing.
pub fn answer(text: &str, is_about: bool, is_whole: bool) -> Answer {
    let is_kept = |rest: &str| {
        let is_tag = TAG.find(rest).is_some_and(|tag| tag.start() == 0);
        rest.starts_with(CHANNEL) || rest.starts_with("<|message|>") || is_tag
    };
    let rest = turns::after_start(text, is_about, is_kept).trim_end();
    let rest = WRITTEN.find(rest).map_or(rest, |thought| rest[thought.end()..].trim_start());
    let (outside, thinks_unannounced) = match final_channel(rest) {
        Some(answer) => (answer.to_owned(), !is_channel(rest) && answer.len() < rest.len()),
        None => without_tagged(rest, is_about, is_whole),
    };
    let rest = turns::after_start(&outside, is_about, |_| false);
    let end = turns::end(rest, is_about);
    let text = if is_about { rest[..end].trim_end() } else { unwrapped(rest[..end].trim_end()) };
    let packed = if is_about { None } else { from_json(text) };
    Answer { text: packed.unwrap_or_else(|| text.to_owned()), runs_on: end < rest.len(), thinks_unannounced }
}

/// Returns the part of a streamed text that certainly belongs to the answer. Reasoning without an opening tag cannot be
/// recognized before its closing tag.
pub fn answer_so_far(text: &str, is_about: bool) -> String {
    let start = text.trim_start();
    let openers = THOUGHTS.into_iter().chain([CHANNEL, "assistantfinal", "[THINK]", "◁think▷"]);
    let is_begun = BEGUN.is_match(start) && !WRITTEN.is_match(start);
    if is_begun || openers.into_iter().any(|opener| opener.starts_with(start)) {
        return String::new();
    }
    let Answer { text, .. } = answer(start, is_about, true);
    // The rest may be the beginning of a role name, or of an answer within tags.
    let name = text.split("<|").next().unwrap_or_default();
    let is_role = !name.is_empty() && turns::ROLES.iter().any(|role| role.starts_with(name));
    let is_packed = !is_about && PACKED.is_match(&text);
    let is_wrapped = is_packed || !is_about && WRAPPERS.iter().any(|name| text.starts_with(&format!("<{name}>")));
    if is_role || is_wrapped { String::new() } else { text }
}

/// Returns `text` without tagged reasoning, and whether there was some without an opening tag.
///
/// Tags in code, and tags that a sentence is about, stay. So do all tags but those before the answer if the text
/// `is_about` them.
fn without_tagged(text: &str, is_about: bool, is_whole: bool) -> (String, bool) {
    // A tag stands for a line break here: after some reasoning, it directly follows the end of a code block.
    let lines = TAG.replace_all(text, |tag: &Captures<'_>| format!("\n{}", " ".repeat(tag[0].len() - 1)));
    let code = code_ranges(&lines);
    let (mut parts, mut is_unannounced, mut from) = (Vec::new(), false, 0);
    // `is_unclosed` is not `depth > 0`: some models open a thought twice and close it once.
    let (mut depth, mut mentioned, mut is_unclosed, mut end_in_code) = (0_usize, 0_usize, false, None);
    for found in TAG.captures_iter(text) {
        let Some(tag) = found.get(0) else { continue };
        // The line break that stands for the tag may end the last line of a code block, or precede its first.
        let is_in_code = [0, 1].iter().all(|at| is_in(&code, tag.start() + at));
        let is_last = turns::after_start(&text[tag.end()..], is_about, |_| false).is_empty();
        match found.name("close") {
            None if depth > 0 => depth += usize::from(!is_in_code),
            None if is_in_code || !opens(text, from, tag.range(), is_about) => mentioned += 1,
            None => {
                parts.push(&text[from..tag.start()]);
                (depth, is_unclosed, end_in_code) = (1, true, None);
            }
            Some(_) if is_in_code => {
                mentioned = mentioned.saturating_sub(1);
                end_in_code = Some(tag.end());
            }
            Some(_) if depth > 0 => (depth, is_unclosed, from) = (depth - 1, false, tag.end()),
            Some(_) if mentioned > 0 => mentioned -= 1,
            Some(_) if !closes(text, tag.range(), is_about) => {}
            Some(_) if is_last && (is_whole || from > 0) => {
                parts.push(&text[from..tag.start()]);
                from = tag.end();
            }
            Some(_) => {
                parts.clear();
                is_unannounced |= from == 0 && !is_last;
                from = tag.end();
            }
        }
    }
    match end_in_code.filter(|_| is_unclosed) {
        Some(end) => parts.push(&text[end..]),
        None if !is_unclosed => parts.push(&text[from..]),
        // The output was cut off during the reasoning, or what precedes it is too short to be an answer.
        None if !is_whole || parts.concat().split_whitespace().count() < FEWEST_WORDS => parts.clear(),
        // The model stopped in a thought after its answer.
        None => {}
    }
    (joined(&parts), is_unannounced)
}

/// Number of words of an answer. Fewer of them before unclosed reasoning are a greeting.
const FEWEST_WORDS: usize = 5;

/// Joins the parts of an answer between which there was reasoning.
fn joined(parts: &[&str]) -> String {
    let mut text = String::new();
    for part in parts.iter().filter(|part| !part.trim().is_empty()) {
        let gap = if text.ends_with('\n') || part.starts_with(['\n', '\r']) { "\n\n" } else { " " };
        text.truncate(text.trim_end().len());
        if !text.is_empty() {
            text.push_str(gap);
        }
        text.push_str(part.trim_start());
    }
    text.truncate(text.trim_end().len());
    text
}

/// Returns `true` if an opening tag starts reasoning: it is first, on a new line or after a sentence, and neither text
/// nor a line with a colon introduces it as an example. `from` is the end of earlier reasoning.
fn opens(text: &str, from: usize, tag: Range<usize>, is_about: bool) -> bool {
    let before = text[from..tag.start].trim_end_matches([' ', '\t']);
    let is_after_sentence = before.ends_with('\n') || before.ends_with(SENTENCE_ENDS);
    let is_introduced = before.trim_end().ends_with([':', '：']);
    let is_first = before.trim().is_empty();
    !is_mentioned_in_sentence(text, tag.start, tag.end)
        && (is_first || !is_about && is_after_sentence && !is_introduced)
}

/// Returns `true` if a closing tag ends reasoning that began without a tag, which some chat templates put into the
/// prompt. In an answer about the tag, a blank or a quotation mark precedes it.
fn closes(text: &str, tag: Range<usize>, is_about: bool) -> bool {
    let (thought, answer) = (&text[..tag.start], &text[tag.end..]);
    let on_its_own = thought.is_empty() || thought.ends_with('\n');
    let ends_the_line = answer.is_empty() || answer.starts_with(['\n', '\r']);
    let is_in_a_sentence = || {
        let before = thought.trim_end_matches([' ', '\t']);
        let ends = before.is_empty() || before.ends_with('\n') || before.ends_with(SENTENCE_ENDS);
        before.len() < thought.len() && !ends || is_mentioned_in_sentence(text, tag.start, tag.end)
    };
    on_its_own && ends_the_line || thought.ends_with(SENTENCE_ENDS) || !is_about && !is_in_a_sentence()
}

/// Returns the text within tags around the whole of it. One of the two tags may be missing.
fn unwrapped(text: &str) -> &str {
    let text = text.strip_suffix("[END FINAL RESPONSE]").unwrap_or(text).trim_end();
    let inside = |name: &&'static str| {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        let opened = text.strip_prefix(&open);
        let closed = opened.unwrap_or(text).strip_suffix(&close);
        let closed = closed.filter(|rest| opened.is_some() || !rest.ends_with([' ', '`', '"', '(']));
        // Text such as "<text> is an element" is no answer in tags.
        let inside = closed.or(opened.filter(|_| name.contains("answer") || *name == "response"))?.trim();
        (!inside.contains(&open) && !inside.contains(&close)).then_some(inside)
    };
    WRAPPERS.iter().find_map(inside).map_or(text, unwrapped)
}

/// Returns the words of an answer that is a JSON object with at most two other fields, such as its sources.
fn from_json(text: &str) -> Option<String> {
    const FIELDS: usize = 3;
    let block = text.strip_prefix("```").and_then(|block| block.strip_suffix("```"));
    let json = block.map_or(text, |block| block.strip_prefix("json").unwrap_or(block));
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(json.trim()).ok()?;
    let words = WRAPPERS.iter().chain(&["content"]).find_map(|name| fields.get(*name)?.as_str())?;
    (fields.len() <= FIELDS).then(|| words.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(answer(text, false, false).text, expected);
    }

    /// Checks the answer in a text that did not reach a limit.
    #[track_caller]
    fn check_whole(text: &str, expected: &str) {
        assert_eq!(answer(text, false, true).text, expected);
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
    fn a_closing_tag_ends_what_began_without_one() {
        for end in [
            ".\n</think>Friday.",
            ".\n</think> Friday.",
            ". </think>\n\nFriday.",
            ", \"at seven.\"</think>Friday.",
            ". Draft:</think>\n\nFriday.",
            "</think>\n\nFriday.",
            ". **Friday**</think>\n\nFriday.",
            ".\n```\nFriday\n```</think>\n\nFriday.",
            ".\n  </THINK>\n\nFriday.",
            ".\n</think>\n\n</think>\n\nFriday.",
            ".</think>Friday.</think>",
        ] {
            check(&format!("They ask when, and Carl is fine with it{end}"), "Friday.");
        }
        check("</think>Friday.", "Friday.");
        assert!(answer("They ask when</think>\n\nFriday.", false, true).thinks_unannounced);
        // The same tag behind an answer.
        for text in
            ["Friday.\n</think>", "Friday.</think>", "</think>\n\nFriday.\n\n</think>", "Friday.</think><|im_end|>"]
        {
            check_whole(text, "Friday.");
            assert!(!answer(text, false, true).thinks_unannounced || text.starts_with('<'));
        }
    }

    #[test]
    fn every_notation_of_reasoning_goes() {
        for thought in [
            "<Thinking>Hm.</Thinking>",
            "<THINK>Hm.</THINK>\n",
            "<thoughts>Hm.</thoughts>",
            "<thinking_process>Hm.</thinking_process>",
            "<think type=\"plan\">Hm.</think>",
            "<longcat_think>Hm.</longcat_think>",
            "<antThinking>Hm.</antThinking>",
            "<inner_monologue>Hm.</inner_monologue>",
            "<unused94>thought\nHm.<unused95>",
            "<think>a <think>b</think> c</think>",
            "<think>Say `</think>` there?\nNo.\n</think>",
            "<think>The <think> tag?</think>",
            "<think>```\nHm.\n</think>",
            "Here is my thought process:\nHm.\n\nHere is my response:\n",
            "Thinking...\nHm.\n...done thinking.\n\n",
            "*Thinking...*\n\n> Hm.\n> Hm.\n\n",
            "Thought: Hm.\nFinal Answer: ",
            "<details type=\"reasoning\" done=\"true\">\n<summary>Thought</summary>\nHm.\n</details>\n",
        ] {
            check(&format!("{thought}On <b>Friday</b>:\n```\na\n```"), "On <b>Friday</b>:\n```\na\n```");
        }
        check("Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]\nFriday.\n[END FINAL RESPONSE]", "Friday.");
        for text in [
            "<output>\nFriday.\n</output>",
            "<final>Friday.</final>",
            "<response>\n<text>Friday.</text>\n</response>",
            "Friday.\n</answer>",
        ] {
            check(text, "Friday.");
        }
        for text in ["<text>a</text>\n<text>b</text>", "<text> is an element of SVG.", "It ends with </text>"] {
            check(text, text);
        }
    }

    #[test]
    fn thinking_between_the_parts_of_an_answer_goes() {
        check("Sure!\n<think>\nHm, two dates.\n</think>\n\nFriday.", "Sure!\n\nFriday.");
        check("Sure! <think>a</think><think>b</think> Friday.", "Sure! Friday.");
        check("Let me look\n\n<think>Hm.</think>\nFriday.", "Let me look\n\nFriday.");
        check("Friday.\n<think>Was that right? Yes.</think>", "Friday.");
        check("Sure!\n<think>\nHm, two dates", "");
        check("It is on Friday at seven.\n<think>\nWas that", "");
        check_whole("It is on Friday at seven.\n<think>\nWas that", "It is on Friday at seven.");
        check_whole("Sure!\n<think>\nHm, two dates", "");
        check("बिल्कुल।\n<think>Hm.</think>\nFriday.", "बिल्कुल।\n\nFriday.");
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
        let found = |text| answer(text, false, true);
        assert!(found("Hm.<|end|><|start|>assistant<|channel|>final<|message|>Friday.").thinks_unannounced);
        assert!(!found("analysisHm.assistantfinalFriday.").thinks_unannounced);
        assert!(found("Friday.<|im_end|>\n<|im_start|>user\nthanks").runs_on && !found("Friday.").runs_on);
    }

    #[test]
    fn while_it_is_written_nothing_of_a_thought_is_shown() {
        for written in [
            "<think>Hm.</think><think>Two.</think>\nFriday, they said.",
            "<final>Friday, they said.</final>",
            "analysisWe need the day.assistantfinalFriday, they said.",
            "analysis用户想知道日期，星期五assistantfinalFriday, they said.",
            "analysis日付を知りたい。assistantfinalFriday, they said.",
            "analysisيريد المستخدم معرفة اليومassistantfinalFriday, they said.",
            "analysis7*8=56assistantfinalFriday, they said.",
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Friday, they said.",
        ] {
            let ends = written.char_indices().map(|(at, c)| at + c.len_utf8());
            let prompt = crate::Prompt::new(Vec::new(), 100);
            let shown: Vec<String> = ends.map(|end| crate::visible::visible_so_far(&written[..end], &prompt)).collect();
            assert!(shown.iter().all(|shown| "Friday, they said.".starts_with(shown)), "{shown:?}");
            assert_eq!(shown.last().map(String::as_str), Some("Friday, they said."));
        }
        assert!(!answer("<think>Hm.</think>Friday.", false, true).thinks_unannounced);
    }

    #[test]
    fn an_answer_about_the_tags_stays_whole() {
        check("The model wraps it in <think> and </think> tags.", "The model wraps it in <think> and </think> tags.");
        check("Look for `</think>` in the output.", "Look for `</think>` in the output.");
        check("Like so:\n<think>\nHm.\n</think>\nDone.", "Like so:\n<think>\nHm.\n</think>\nDone.");
        check("Friday.", "Friday.");
        check("", "");
        for text in [
            "It wraps its reasoning in <think>…</think>. Strip it.",
            "It ends with </think>, then the answer follows.",
            "It forgot its </think>",
            "Look for </think>\n\nThen cut.",
            "- <think>: starts it\n- </think>: ends it",
            "<think>: starts it\n</think>: ends it",
            "```\n<think>\nHm.\n</think>\n```\nDone.",
        ] {
            assert_eq!(answer(text, false, true).text, text);
        }
        // The prompt has the tags in it.
        for text in ["It writes so.\n<think>\nHm.\n</think>\nDone.", "The tag is \\</think> there.\n<text>\nb\n</text>"]
        {
            assert_eq!(answer(text, true, true).text, text);
        }
        assert_eq!(answer("<think>\nHm.\n</think>\nDone.", true, true).text, "Done.");
    }
}
