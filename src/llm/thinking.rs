//! Reasoning models think aloud before they answer. Members get the answer.

const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// `text` without the thinking before the answer, trimmed. Tags inside the answer stay: somebody may have asked
/// about them.
pub fn without_thinking(text: &str) -> &str {
    let mut rest = text.trim();
    for (open, close) in TAGS {
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

/// Some chat templates put the opening tag into the prompt, so that only the closing one comes back, on its own line.
fn after_unopened<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (thought, answer) = text.split_once(close)?;
    let on_its_own = thought.is_empty() || thought.ends_with('\n');
    let ends_the_line = answer.is_empty() || answer.starts_with(['\n', '\r']);
    (on_its_own && ends_the_line && !thought.contains(open)).then(|| answer.trim_start())
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
    }

    #[test]
    fn thinking_that_never_ends_leaves_nothing() {
        check("<think>\nHm, two dates", "");
        check("Hm.\n</think>", "");
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
