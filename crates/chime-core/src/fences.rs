//! Detects fences in Markdown: the lines of three or more backticks or tildes that begin and end a code block.

/// Largest number of columns by which a closing fence may be indented further than the opening one.
const MAX_FURTHER: usize = 3;
/// Width of a tab before a fence, in columns.
const TAB: usize = 4;

/// Line that can open or close a fenced code block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence<'a> {
    /// White space, quote marks and list bullets before the fence.
    pub margin: &'a str,
    /// Three or more backticks or tildes.
    pub mark: &'a str,
    /// Rest of the line after the mark, such as the language, without the line end.
    pub info: &'a str,
}

impl<'a> Fence<'a> {
    /// Parses a line. Returns `None` if it is no fence; a line such as ```` ```a``` ```` is inline code.
    pub fn of(line: &'a str) -> Option<Self> {
        let line = line.trim_end_matches('\n');
        let content = behind_margin(line);
        let of = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = content.len() - content.trim_start_matches(of).len();
        let (margin, (mark, info)) = (&line[..line.len() - content.len()], content.split_at(length));
        (length >= 3 && (of == '~' || !info.contains('`'))).then_some(Self { margin, mark, info })
    }

    /// Returns `true` if this line could end the block that `opening` began, if no text followed the mark.
    pub fn may_close(&self, opening: &Self) -> bool {
        self.mark.starts_with(opening.mark)
            && self.margin.chars().all(|c| c.is_whitespace() || c == '>')
            && self.indent() <= opening.indent() + MAX_FURTHER
    }

    /// Returns `true` if this line ends the block that `opening` began.
    pub fn closes(&self, opening: &Self) -> bool {
        self.may_close(opening) && self.info.trim().is_empty()
    }

    /// Returns the number of columns before the mark.
    pub fn indent(&self) -> usize {
        columns(self.margin)
    }
}

/// Detector of fenced code, which gets the lines of a text one by one.
#[derive(Debug, Default)]
pub struct Fences<'a>(Option<Fence<'a>>);

impl<'a> Fences<'a> {
    /// Takes the next line, and returns `true` if it belongs to a fenced code block. Fences belong to their block.
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

/// Returns the width of `text` in columns; a tab counts 4, every other character 1.
pub fn columns(text: &str) -> usize {
    text.chars().map(|c| if c == '\t' { TAB } else { 1 }).sum()
}

/// Returns the line without leading white space, quote marks and list bullets.
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

/// Returns the text after a list bullet (`- `, `* `, `+ `, `1. ` or `1) `), or `None` if the line does not begin with
/// one.
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
