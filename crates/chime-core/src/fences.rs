//! The first and last lines of fenced code blocks in Markdown.

/// Columns by which a closing fence may be indented further than the opening one.
const MAX_FURTHER: usize = 3;
/// Columns of a tab in a margin.
const TAB: usize = 4;

/// A line that opens or closes a fenced code block, by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence<'a> {
    /// White space, quote marks and list bullets before the mark.
    pub margin: &'a str,
    /// Three or more backticks or tildes.
    pub mark: &'a str,
    /// What follows the mark on the line, without the line end.
    pub info: &'a str,
}

impl<'a> Fence<'a> {
    /// Reads a line. Backticks with more of them behind are code inside a line, and no fence.
    pub fn of(line: &'a str) -> Option<Self> {
        let line = line.trim_end_matches('\n');
        let content = behind_margin(line);
        let of = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = content.len() - content.trim_start_matches(of).len();
        let (margin, (mark, info)) = (&line[..line.len() - content.len()], content.split_at(length));
        (length >= 3 && (of == '~' || !info.contains('`'))).then_some(Self { margin, mark, info })
    }

    /// Returns whether this line ends a block that `opening` began, whatever follows the mark.
    pub fn may_close(&self, opening: &Self) -> bool {
        self.mark.starts_with(opening.mark)
            && self.margin.chars().all(|c| c.is_whitespace() || c == '>')
            && self.indent() <= opening.indent() + MAX_FURTHER
    }

    /// Returns whether this line ends the block that `opening` began.
    pub fn closes(&self, opening: &Self) -> bool {
        self.may_close(opening) && self.info.trim().is_empty()
    }

    /// The columns before the mark.
    pub fn indent(&self) -> usize {
        columns(self.margin)
    }
}

/// Tells which lines are code, one after the other.
#[derive(Debug, Default)]
pub struct Fences<'a>(Option<Fence<'a>>);

impl<'a> Fences<'a> {
    /// Returns whether the next line belongs to a fenced code block, its first and last line included.
    pub fn is_code(&mut self, line: &'a str) -> bool {
        let fence = Fence::of(line);
        match (&self.0, fence) {
            (Some(opening), Some(fence)) if fence.closes(opening) => {
                self.0 = None;
                true
            }
            (Some(_), _) => true,
            (None, Some(fence)) => {
                self.0 = Some(fence);
                true
            }
            (None, None) => false,
        }
    }
}

/// Width of white space and other characters of one column.
pub fn columns(text: &str) -> usize {
    text.chars().map(|c| if c == '\t' { TAB } else { 1 }).sum()
}

/// The line without white space, quote marks and list bullets at its start.
fn behind_margin(line: &str) -> &str {
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '>']);
        match behind_bullet(rest) {
            Some(behind) => rest = behind,
            None => return rest,
        }
    }
}

/// The text behind `- `, `* `, `+ `, `1. ` or `1) `.
pub fn behind_bullet(line: &str) -> Option<&str> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let behind = match line.len() - digits.len() {
        0 => line.strip_prefix(['-', '*', '+']),
        1..=9 => digits.strip_prefix(['.', ')']),
        _ => None,
    }?;
    behind.strip_prefix([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_three_marks_without_backticks_behind() {
        let read = |line| Fence::of(line).map(|fence| (fence.margin, fence.mark, fence.info));
        assert_eq!(read("```rust\n"), Some(("", "```", "rust")));
        assert_eq!(read(" > - ~~~~ a`b"), Some((" > - ", "~~~~", " a`b")));
        assert_eq!(read("10. ```"), Some(("10. ", "```", "")));
        for none in ["```like``` this", "``", "a ```", "-```", ""] {
            assert_eq!(read(none), None, "{none}");
        }
    }

    #[test]
    fn a_block_ends_by_a_mark_as_long_and_no_further_in() {
        let code = |text: &'static str| {
            let mut fences = Fences::default();
            text.split('\n').map(|line| if fences.is_code(line) { 'c' } else { '.' }).collect::<String>()
        };
        assert_eq!(code("a\n```\nb\n```\nc"), ".ccc.");
        assert_eq!(code("````\n```\nb\n```\n````\nc"), "ccccc.");
        assert_eq!(code("~~~\n```\n~~~~\nc"), "ccc.");
        assert_eq!(code("```\n    ```\n```\nc"), "ccc.");
        assert_eq!(code("- ```\n  b\n  ```\nc"), "ccc.");
        assert_eq!(code("```\n``` x\n- ```\n```\nc"), "cccc.");
    }
}
