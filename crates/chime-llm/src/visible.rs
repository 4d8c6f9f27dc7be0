//! Extracts the answer from a model's output: removes reasoning, tokens, calls, citation markers and loops.

use std::sync::LazyLock;

use regex::Regex;

use crate::markers::{before_begun_marker, with_blanks_read, with_escapes_read, without_markers};
use crate::repetition::{ends_in_loop, without_final_loop, without_loop};
use crate::thinking::{Answer, TAG, WRAPPER, answer, answer_so_far};
use crate::turns::TOKEN;
use crate::{AnswerFormat, Prompt, ToolCall, written_calls};
use chime_core::pattern;

/// An object in JSON, or the name of the format.
static JSON: LazyLock<Regex> = LazyLock::new(|| pattern(r#"\{\s*"|(?i:json)"#));

/// The parts of a model's output that members may see, and its tool calls.
pub struct Visible {
    pub text: String,
    pub calls: Vec<ToolCall>,
    /// `true` if repeated text (a loop), or text after the end of the answer, was removed.
    pub was_cut: bool,
    /// `true` if there is no text because all of it was one repeated character or word.
    pub is_noise: bool,
    /// `true` if there was reasoning that started without a tag.
    pub thinks_unannounced: bool,
}

/// Extracts the answer from a complete output. For `is_whole`, see [`answer`].
pub fn visible(raw: &str, prompt: &Prompt, is_whole: bool) -> Visible {
    let is_about = is_about_markup(raw, prompt);
    let Answer { text, runs_on, thinks_unannounced } = answer(raw, is_about, is_whole);
    if prompt.format != AnswerFormat::Text {
        return Visible { text, calls: Vec::new(), was_cut: runs_on, is_noise: false, thinks_unannounced };
    }
    let (rest, calls) = written_calls::extract_calls(&text, &prompt.tools);
    let whole = with_blanks_read(with_escapes_read(&without_markers(&rest, is_about), is_about));
    let cut = without_loop(&whole);
    let is_left_of_noise =
        cut.len() < whole.len() && cut.bytes().all(|byte| byte.is_ascii() && cut.starts_with(char::from(byte)));
    // Reading may have stopped within a token that repeats, half of which is left.
    let is_all_noise = ends_in_loop(raw) && without_loop(raw).is_empty();
    let shown = if says_nothing(cut) || is_left_of_noise || is_all_noise { "" } else { cut };
    let was_cut = runs_on || shown.len() < whole.len();
    let is_noise = is_all_noise || shown.is_empty() && ends_in_loop(&text);
    Visible { was_cut, text: shown.to_owned(), calls, is_noise, thinks_unannounced }
}

/// Returns the part of a streamed output that may be shown.
pub fn visible_so_far(raw: &str, prompt: &Prompt) -> String {
    let is_about = is_about_markup(raw, prompt);
    let answer = answer_so_far(raw, is_about);
    let shown = written_calls::before_calls(before_begun_marker(&answer), &prompt.tools);
    let whole = with_blanks_read(with_escapes_read(&without_markers(shown, is_about), is_about));
    without_final_loop(&whole).to_owned()
}

/// Returns `true` if a text is only the word for a missing value, or punctuation that says nothing.
fn says_nothing(text: &str) -> bool {
    const NOTHING: [&str; 5] = ["null", "undefined", "NaN", "N/A", "n/a"];
    NOTHING.contains(&text)
        || text.chars().all(|c| matches!(c, '.' | '…' | '-' | '–' | '*' | '_' | '{' | '}' | '[' | ']'))
}

/// Returns `true` if template tokens, tags around reasoning or an answer, or JSON may be what a member asked about.
fn is_about_markup(raw: &str, prompt: &Prompt) -> bool {
    let is_in_prompt = |markup: &Regex| prompt.messages.iter().any(|message| markup.is_match(&message.content));
    [&TOKEN, &TAG, &WRAPPER, &JSON].iter().any(|markup| markup.is_match(raw) && is_in_prompt(markup))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PromptMessage, PromptRole};

    fn prompt() -> Prompt {
        Prompt::new(Vec::new(), 100)
    }

    /// Checks that everything shown of `raw` during streaming is a prefix of the final answer.
    #[track_caller]
    fn check(raw: &str, expected: &str) {
        let prompt = prompt();
        assert_eq!(visible(raw, &prompt, true).text, expected, "{raw}");
        for end in (0..=raw.len()).filter(|end| raw.is_char_boundary(*end)) {
            let shown = visible_so_far(&raw[..end], &prompt);
            assert!(expected.starts_with(shown.trim_end()), "{shown:?} is shown of {:?}", &raw[..end]);
        }
    }

    #[test]
    fn only_the_answer_is_shown_and_posted() {
        for raw in [
            "On Friday at seven.",
            "<think>Hm.</think>On Friday at seven.",
            "<|inner_prefix|>The user asks. Hm.<|inner_suffix|>On Friday at seven.",
            "analysisTwo dates.assistantfinalOn Friday at seven.",
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>On Friday at seven.<|return|>",
            "<|im_start|>assistant\nOn Friday at seven.<|im_end|>\n<|im_start|>user\nthanks",
            "On Friday at seven.</s>[INST] thanks [/INST]",
            "On Friday【4†source】 at seven.citeturn0search1",
            "On Friday \u{E200}cite\u{E202}turn0search1\u{E201}at <co: 1>seven</co: 1>[^1^].",
            "[cite_start]On Friday [doc1] at seven [cite: 4, 12].",
            "On Friday <|channel|> at <|begin_of_box|>seven<|end_of_box|>.",
            "On Friday at seven. <|im_end|> thanks a lot",
            "assistant<|header_end|>\n\nOn Friday at seven.<|eot|>",
            "[gMASK]<sop><|assistant|>\nOn Friday at seven.<|user|>",
            "On <|object_ref_start|>Friday<|object_ref_end|><|box_start|>(12,30),(50, 60)<|box_end|> at seven.",
            "On Friday at seven.<pad><pad>",
            "On Friday[PAD151645] at seven.",
            "On Friday<grok:render id=\"a\"><argument name=\"n\">3</argument></grok:render> at seven.",
            r#"{"answer": "On Friday at seven."}"#,
            "```json\n{\"role\": \"assistant\", \"content\": \"On Friday at seven.\"}\n```",
            "On Friday<0x20>at<0x20><0x73>even.",
            "On Friday at seven. <tool_call>{\"name\": \"order_pizza\", \"arguments\": {}}</tool_call>",
        ] {
            check(raw, "On Friday at seven.");
        }
    }

    #[test]
    fn tokens_stay_where_a_member_asked_about_them() {
        let raw = "The <|im_end|> token ends a turn.";
        let content = "What does <|im_end|> mean?".to_owned();
        let asked = Prompt { messages: vec![PromptMessage { role: PromptRole::User, content }], ..prompt() };
        assert_eq!(
            (visible(raw, &asked, true).text.as_str(), visible(raw, &prompt(), true).text.as_str()),
            (raw, "The")
        );
    }

    #[test]
    fn json_stays_where_it_was_asked_for() {
        let raw = r#"{"text": "On Friday."}"#;
        let content = "Write it as JSON.".to_owned();
        let asked = Prompt { messages: vec![PromptMessage { role: PromptRole::User, content }], ..prompt() };
        assert_eq!(visible(raw, &asked, true).text, raw);
        for other in [r#"{"table": "On Friday."}"#, r#"{"text": "a", "b": 1, "c": 2, "d": 3}"#, r#"["answer"]"#] {
            assert_eq!(visible(other, &prompt(), true).text, other);
        }
    }

    #[test]
    fn escaped_line_breaks_and_bytes_are_read() {
        for (raw, expected) in [
            (r"Friday at seven.\n\nNine people come.", "Friday at seven.\n\nNine people come."),
            (r"It is on Friday:\n- at seven\n- for nine.", "It is on Friday:\n- at seven\n- for nine."),
            (r"It is in C:\new. Nothing else.", r"It is in C:\new. Nothing else."),
            ("Split at `\\n\\n`.", "Split at `\\n\\n`."),
            ("Write \\n.\nThen go.", "Write \\n.\nThen go."),
            ("잠 <0xEA><0xB9><0xB0> 수", "잠 깰 수"),
            ("`<0x0A>` is a line break.", "`<0x0A>` is a line break."),
            ("It▁is▁on▁Friday.", "It is on Friday."),
            ("ĠItĠisĠonĠFriday,ĊĠatĠseven.", "It is on Friday,\n at seven."),
            ("▁▂▃▁▂▃▁▁▅", "▁▂▃▁▂▃▁▁▅"),
            ("Ġanni u Ġorġ Ġejja Ġewwa", "Ġanni u Ġorġ Ġejja Ġewwa"),
        ] {
            assert_eq!(visible(raw, &prompt(), true).text, expected);
        }
    }

    #[test]
    fn a_missing_value_or_points_are_no_answer() {
        for raw in ["...", "…", "null", "undefined", "N/A", "-", "{}", "**"] {
            assert_eq!(visible(raw, &prompt(), true).text, "", "{raw}");
        }
        for raw in ["42", "👍", "None", "?", "是"] {
            assert_eq!(visible(raw, &prompt(), true).text, raw);
        }
    }

    #[test]
    fn an_answer_that_loops_ends_and_counts_as_whole() {
        let raw = format!("It is on Friday. {}", "Bring the tent. ".repeat(60));
        let Visible { text, was_cut, .. } = visible(&raw, &prompt(), true);
        assert_eq!((text.as_str(), was_cut), ("It is on Friday. Bring the tent.", true));
        assert!(!visible("It is on Friday.", &prompt(), true).was_cut);
    }

    #[test]
    fn nothing_is_left_of_an_answer_that_is_only_noise() {
        for unit in ["!", "G", "0", "<unk>", ". ", "! ", "G ", "0 ", "of", "!!!!\n"] {
            let raw = unit.repeat(600);
            let Visible { text, is_noise, .. } = visible(&raw, &prompt(), true);
            assert_eq!((text.as_str(), is_noise), ("", true), "{unit}");
        }
        assert!(visible(&format!("{}<un", "<unk>".repeat(200)), &prompt(), true).is_noise);
        for raw in ["", "...", "<|im_end|>", "<think>Hm.</think>"] {
            assert!(!visible(raw, &prompt(), true).is_noise, "{raw}");
        }
        let hearts = "❤️".repeat(50);
        assert_eq!(visible(&hearts, &prompt(), true).text, hearts);
    }

    #[test]
    fn what_is_wanted_as_json_stays_as_it_is() {
        let format = AnswerFormat::Json { name: "tags", schema: serde_json::json!({}) };
        let json = r#"{"name": "search_messages", "arguments": {"of": ["a", "a", "a", "a"]}}"#;
        let prompt = Prompt { format, ..prompt() };
        assert_eq!(visible(&format!("<think>Hm.</think>{json}<|im_end|>"), &prompt, true).text, json);
    }
}
