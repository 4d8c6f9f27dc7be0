//! Closes code blocks that a model left open, so that text appended to an answer is not inside them.

use chime_core::Fence;

/// Returns `markdown` with its code blocks closed: a block without a closing mark gets one at the end, and words behind
/// a closing mark are moved to the next line, since the mark would not close the block.
pub fn closed(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len() + 8);
    let mut open: Option<Fence<'_>> = None;
    // Three backticks in the middle of a line do not start a block, but what follows is rendered as code.
    let mut is_in_line = false;
    for line in markdown.split_inclusive('\n') {
        match (open, Fence::of(line)) {
            (None, Some(fence)) if !is_in_line => open = Some(fence),
            (None, _) => is_in_line ^= line.matches("```").count() % 2 == 1,
            (Some(opening), Some(fence)) if fence.closes(&opening) => open = None,
            (Some(opening), Some(fence)) if fence.may_close(&opening) && is_text(fence.info) => {
                open = None;
                out += &line[..fence.margin.len() + fence.mark.len()];
                out.push('\n');
                out += line[fence.margin.len() + fence.mark.len()..].trim_start();
                continue;
            }
            (Some(_), _) => {}
        }
        out += line;
    }
    if let Some(Fence { margin, mark, .. }) = open {
        if !out.ends_with('\n') {
            out.push('\n');
        }
        // The margin is repeated without its list bullet: only the first line of an item has one.
        out.extend(margin.chars().map(|c| if c == '>' { '>' } else { ' ' }));
        out += mark;
    }
    out
}

/// Returns `true` if `info`, the words behind a mark, are text and not the language of a new block.
fn is_text(info: &str) -> bool {
    info.starts_with(|c: char| c.is_whitespace() || "[(【.,".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_left_open_is_closed() {
        assert_eq!(closed("Look:\n```python\ndef f():"), "Look:\n```python\ndef f():\n```");
        assert_eq!(closed("~~~~\na\n~~~\n"), "~~~~\na\n~~~\n~~~~");
        assert_eq!(closed("- a\n  ```\n  b"), "- a\n  ```\n  b\n  ```");
        assert_eq!(closed("- ```\n  b"), "- ```\n  b\n  ```");
        assert_eq!(closed("```\n    ```\n"), "```\n    ```\n```");
    }

    #[test]
    fn words_behind_a_closing_mark_get_a_line_of_their_own() {
        assert_eq!(closed("```\npip install x\n```[source: m1]"), "```\npip install x\n```\n[source: m1]");
        assert_eq!(closed("```\na\n``` So [m1].\nb"), "```\na\n```\nSo [m1].\nb");
    }

    #[test]
    fn what_is_closed_stays() {
        for text in [
            "a",
            "```\na\n```\nb",
            "```sh\na\n```",
            "a `b` c",
            "``` [m17] ```",
            "```like``` this\nb",
            "~~~\n```\n~~~\nb",
            "````md\n```sh\nls\n```\n````",
            "So ```rust\na\n``` there.",
            "",
        ] {
            assert_eq!(closed(text), text);
        }
    }
}
