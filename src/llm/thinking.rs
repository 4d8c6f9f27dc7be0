//! Reasoning models think aloud before they answer. Members get the answer.

const TAGS: [(&str, &str); 7] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<seed:think>", "</seed:think>"),
];

/// How the open-weight models of OpenAI begin a part of their output, and what stands before the part for members. Servers
/// that do not know the format pass it on as text.
const CHANNEL: &str = "<|channel|>";
const FINAL: &str = "<|channel|>final<|message|>";
/// What may stand behind that part.
const ENDS: [&str; 3] = ["<|return|>", "<|end|>", "<|start|>"];

/// With which models end their turn; servers that do not know the model's template pass it on as text.
const TURN_ENDS: [&str; 6] = ["<|im_end|>", "</s>", "<|eot_id|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>"];
/// The same for how they begin it.
const TURN_STARTS: [&str; 3] =
    ["<|im_start|>assistant", "<|start_header_id|>assistant<|end_header_id|>", "<start_of_turn>model"];

const SENTENCE_ENDS: [char; 6] = ['.', '!', '?', '…', ')', '。'];

/// `text` without the thinking before the answer, trimmed. Tags inside the answer stay: somebody may have asked
/// about them.
pub fn without_thinking(text: &str) -> &str {
    let mut rest = without_turn_marks(text);
    if let Some(answer) = final_channel(rest) {
        return answer;
    }
    for (open, close) in TAGS {
        if let Some(answer) = after_preamble(rest, open, close) {
            rest = answer;
        }
        while let Some(thought) = rest.strip_prefix(open) {
            // Never closed: the model ran out of tokens while still thinking.
            rest = thought.split_once(close).map_or("", |(_, answer)| answer.trim_start());
        }
        if let Some(answer) = after_unopened(rest, open, close) {
            rest = answer;
        }
    }
    rest
}

/// What of a text that is still being written belongs to the answer; nothing while that is not certain. Whether the model
/// thinks without saying so at its start, only the end tells.
pub fn without_thinking_so_far(text: &str) -> &str {
    let start = text.trim_start();
    let may_begin = |tag: &str| tag.starts_with(start);
    if TAGS.iter().any(|(open, _)| may_begin(open)) || may_begin(CHANNEL) {
        return "";
    }
    if start.starts_with(CHANNEL) && !start.contains(FINAL) {
        return "";
    }
    let answer = without_thinking(start);
    // A further thought may follow the first, and the end of the channel may be half there.
    if answer.len() < start.len() && TAGS.iter().any(|(open, _)| open.starts_with(answer)) {
        return "";
    }
    match start.starts_with(CHANNEL).then(|| answer.rfind("<|")).flatten() {
        Some(at) => answer[..at].trim_end(),
        None => answer,
    }
}

/// Whether the model thought aloud without an opening tag, as `text` shows once it is complete.
pub fn thinks_unannounced(text: &str) -> bool {
    TAGS.iter().any(|(open, close)| after_unopened(text.trim(), open, close).is_some())
}

/// The last part that is meant for members, where the text is made of such parts.
fn final_channel(text: &str) -> Option<&str> {
    if !text.starts_with(CHANNEL) {
        return None;
    }
    let Some((_, answer)) = text.rsplit_once(FINAL) else { return Some("") };
    let end = ENDS.iter().filter_map(|end| answer.find(end)).min().unwrap_or(answer.len());
    Some(answer[..end].trim())
}

fn without_turn_marks(text: &str) -> &str {
    let mut rest = text.trim();
    while let Some(before) = TURN_ENDS.iter().find_map(|mark| rest.strip_suffix(mark)) {
        rest = before.trim_end();
    }
    TURN_STARTS.iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest).trim_start()
}

/// Some chat templates put the opening tag into the prompt, so that only the closing one comes back: on its own line, or right
/// behind a sentence. An answer about the tag has a blank or a quotation mark before it.
fn after_unopened<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (thought, answer) = text.split_once(close)?;
    let on_its_own = thought.is_empty() || thought.ends_with('\n');
    let ends_the_line = answer.is_empty() || answer.starts_with(['\n', '\r']);
    let ends_a_sentence = thought.ends_with(SENTENCE_ENDS);
    ((on_its_own && ends_the_line || ends_a_sentence) && !thought.contains(open)).then(|| answer.trim_start())
}

/// Some models greet before they think: one short sentence, and the opening tag on the next line. What they say after thinking
/// is the answer, and where that is nothing, what they said before.
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
        // Never closed: the model ran out of tokens while still thinking.
        None => "",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(without_thinking(text), expected);
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
        check("<reasoning>Hm.</reasoning>\nFriday.", "Friday.");
    }

    #[test]
    fn thinking_behind_a_greeting_goes_with_it() {
        check("Sure!\n<think>\nHm, two dates.\n</think>\n\nFriday.", "Friday.");
        check("Sure!\n<think>a</think><think>b</think>Friday.", "Friday.");
        check("Friday.\n<think>Was that right? Yes.</think>", "Friday.");
        check("Sure!\n<think>\nHm, two dates", "");
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
        check(
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Friday.<|return|>",
            "Friday.",
        );
        check("<|channel|>analysis<|message|>Hm, two dates", "");
    }

    #[test]
    fn while_it_is_written_nothing_of_a_thought_is_shown() {
        let written = "<think>Hm.</think><think>Two.</think>\nFriday, they said.";
        let ends = written.char_indices().map(|(at, c)| at + c.len_utf8());
        let shown: Vec<&str> = ends.map(|end| without_thinking_so_far(&written[..end])).collect();
        assert!(shown.iter().all(|shown| "Friday, they said.".starts_with(shown)), "{shown:?}");
        assert_eq!(shown.last(), Some(&"Friday, they said."));
        assert_eq!(without_thinking_so_far("<"), "");
        assert_eq!(without_thinking_so_far("Friday <"), "Friday <");
        assert_eq!(without_thinking_so_far("<|channel|>final<|message|>Friday.<|ret"), "Friday.");
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
