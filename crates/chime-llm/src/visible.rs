//! Extracts the answer from a model's output: removes reasoning, tokens, calls, citation markers and loops.

use crate::markers::{before_begun_marker, without_markers};
use crate::repetition::{without_final_loop, without_loop};
use crate::thinking::{runs_on, without_thinking, without_thinking_so_far};
use crate::turns::TOKEN;
use crate::{AnswerFormat, Prompt, ToolCall, written_calls};

/// The parts of a model's output that members may see, and its tool calls.
pub struct Visible {
    pub text: String,
    pub calls: Vec<ToolCall>,
    /// `true` if a loop, or text after the end of the answer, was removed.
    pub was_cut: bool,
}

pub fn visible(raw: &str, prompt: &Prompt) -> Visible {
    let about_tokens = is_about_tokens(raw, prompt);
    let answer = without_thinking(raw, about_tokens);
    let was_cut = runs_on(raw, about_tokens);
    if prompt.format != AnswerFormat::Text {
        return Visible { text: answer.to_owned(), calls: Vec::new(), was_cut };
    }
    let (rest, calls) = written_calls::take_out(answer, &prompt.tools);
    let whole = without_markers(&rest, about_tokens);
    let text = without_loop(&whole);
    Visible { was_cut: was_cut || text.len() < whole.len(), text: text.to_owned(), calls }
}

/// Returns the part of a streamed output that may be shown.
pub fn visible_so_far(raw: &str, prompt: &Prompt) -> String {
    let about_tokens = is_about_tokens(raw, prompt);
    let answer = before_begun_marker(without_thinking_so_far(raw, about_tokens));
    let whole = without_markers(written_calls::before_calls(answer, &prompt.tools), about_tokens);
    without_final_loop(&whole).to_owned()
}

/// Returns whether template tokens in an answer may be what a member asked about.
fn is_about_tokens(raw: &str, prompt: &Prompt) -> bool {
    TOKEN.is_match(raw) && prompt.messages.iter().any(|message| TOKEN.is_match(&message.content))
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
        assert_eq!(visible(raw, &prompt).text, expected, "{raw}");
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
            "analysisTwo dates.assistantfinalOn Friday at seven.",
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>On Friday at seven.<|return|>",
            "<|im_start|>assistant\nOn Friday at seven.<|im_end|>\n<|im_start|>user\nthanks",
            "On Friday at seven.</s>[INST] thanks [/INST]",
            "On Friday【4†source】 at seven.citeturn0search1",
            "On Friday \u{E200}cite\u{E202}turn0search1\u{E201}at <co: 1>seven</co: 1>[^1^].",
            "[cite_start]On Friday [doc1] at seven [cite: 4, 12].",
            "On Friday <|channel|> at <|begin_of_box|>seven<|end_of_box|>.",
            "On Friday at seven. <|im_end|> thanks a lot",
            "On Friday<grok:render id=\"a\"><argument name=\"n\">3</argument></grok:render> at seven.",
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
        assert_eq!((visible(raw, &asked).text.as_str(), visible(raw, &prompt()).text.as_str()), (raw, "The"));
    }

    #[test]
    fn an_answer_that_loops_ends_and_counts_as_whole() {
        let raw = format!("It is on Friday. {}", "Bring the tent. ".repeat(60));
        let Visible { text, was_cut, .. } = visible(&raw, &prompt());
        assert_eq!((text.as_str(), was_cut), ("It is on Friday. Bring the tent.", true));
        assert!(!visible("It is on Friday.", &prompt()).was_cut);
    }

    #[test]
    fn what_is_wanted_as_json_stays_as_it_is() {
        let format = AnswerFormat::Json { name: "tags", schema: serde_json::json!({}) };
        let json = r#"{"name": "search_messages", "arguments": {"of": ["a", "a", "a", "a"]}}"#;
        let prompt = Prompt { format, ..prompt() };
        assert_eq!(visible(&format!("<think>Hm.</think>{json}<|im_end|>"), &prompt).text, json);
    }
}
