//! Blocks of code that a model left open: what is put behind an answer must not stand in them.

/// `markdown` with its blocks of code closed: at the end, and where words follow the closing mark on its line, which then would
/// close nothing.
pub fn closed(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len() + 8);
    let mut open: Option<&str> = None;
    // Code that begins behind words of its line: no block, and read as code all the same.
    let mut is_in_line = false;
    for line in markdown.split_inclusive('\n') {
        let (margin, mark, behind) = parts(line);
        let turns = line.matches("```").count() % 2 == 1;
        match open {
            None if is_in_line || mark.is_empty() => is_in_line ^= turns,
            None if !mark.is_empty() => open = Some(mark),
            Some(opened) if mark.starts_with(opened) => {
                if behind.trim().is_empty() {
                    open = None;
                } else if behind.starts_with(|c: char| c.is_whitespace() || "[(【.,".contains(c)) {
                    open = None;
                    out += margin;
                    out += mark;
                    out.push('\n');
                    out += behind.trim_start();
                    continue;
                }
            }
            None | Some(_) => {}
        }
        out += line;
    }
    if let Some(mark) = open {
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out += mark;
    }
    out
}

/// What stands before the mark of a block of code in `line`, the mark, and what stands behind it.
fn parts(line: &str) -> (&str, &str, &str) {
    let content = line.trim_start_matches([' ', '>']);
    let margin = &line[..line.len() - content.len()];
    let of = content.chars().next().filter(|c| matches!(c, '`' | '~'));
    let length = of.map_or(0, |of| content.len() - content.trim_start_matches(of).len());
    let length = if length >= 3 { length } else { 0 };
    // Three marks with more of them behind are code inside a line.
    let is_inline = content[length..].contains('`') && content.starts_with('`') && content.trim_end().ends_with('`');
    match length > 0 && !is_inline {
        true => (margin, &content[..length], &content[length..]),
        false => (margin, "", content),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_left_open_is_closed() {
        assert_eq!(closed("Look:\n```python\ndef f():"), "Look:\n```python\ndef f():\n```");
        assert_eq!(closed("~~~~\na\n~~~\n"), "~~~~\na\n~~~\n~~~~");
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
            "````md\n```sh\nls\n```\n````",
            "So ```rust\na\n``` there.",
            "",
        ] {
            assert_eq!(closed(text), text);
        }
    }
}
