use std::ops::Range;

use pulldown_cmark::{Alignment, Event, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

use super::clean::{clean, formatting_tag};
use super::inline::text_marks;
use super::source::code_length;
use chime_core::Fences;

/// Widest cell that determines the width of its column, in monospaced characters.
const MAX_WIDTH: usize = 40;

/// Repairs tables as models write them: removes empty lines between rows and further rows of dashes, fits the first to
/// the heading, and escapes `|` in code, which would begin another cell.
pub(super) fn with_tables_whole(markdown: &str) -> String {
    let mut fences = Fences::default();
    let lines: Vec<(&str, bool)> = markdown.split_inclusive('\n').map(|line| (line, !fences.is_code(line))).collect();
    let is_row = |at: usize| lines.get(at).is_some_and(|(line, is_text)| *is_text && row(line).is_some());
    let is_dashes =
        |at: usize| is_row(at) && lines[at].0.chars().all(|c| "|:- \t\n>".contains(c)) && lines[at].0.contains('-');
    let next = |at: usize| (at + 1..lines.len()).find(|at| !lines[*at].0.trim().is_empty());
    let mut out = String::with_capacity(markdown.len());
    let (mut cells_above, mut has_dashes) = (None, false);
    for (at, (line, is_text)) in lines.iter().enumerate() {
        let is_empty = *is_text && line.trim().is_empty();
        // Below an empty line, a row that stands above dashes is the heading of another table.
        let goes_on = |below: usize| is_row(below) && (is_dashes(below) || !next(below).is_some_and(is_dashes));
        if is_empty && cells_above.is_some() && next(at).is_some_and(goes_on) {
            continue;
        }
        let is_in_table = is_row(at) && (cells_above.is_some() || next(at).is_some_and(is_dashes));
        if !is_in_table {
            (cells_above, has_dashes) = (None, false);
            out.push_str(line);
            continue;
        }
        // Shorter ones may be cells without a value.
        if is_dashes(at) && line.contains("---") && std::mem::replace(&mut has_dashes, true) {
            continue;
        }
        let escaped = with_bars_in_code_escaped(line);
        let cells = cells(&escaped);
        match cells_above {
            Some(above) if is_dashes(at) && cells < above => {
                let end = escaped.trim_end().len();
                out.push_str(&escaped[..end]);
                out.push_str(&"---|".repeat(above - cells));
                out.push_str(&escaped[end..]);
            }
            _ => out.push_str(&escaped),
        }
        cells_above = Some(cells_above.unwrap_or(cells));
    }
    out
}

/// Returns a line without white space around it if it is a row of a table between bars.
fn row(line: &str) -> Option<&str> {
    let row = line.trim();
    (row.len() > 2 && row.starts_with('|') && row.ends_with('|')).then_some(row)
}

/// Returns the number of cells of a row between bars.
fn cells(row: &str) -> usize {
    (row.matches('|').count() - row.matches("\\|").count()).saturating_sub(1)
}

fn with_bars_in_code_escaped(row: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(row.len()), row);
    while let Some(at) = rest.find('`') {
        let (before, code) = rest.split_at(at);
        let marks = code.len() - code.trim_start_matches('`').len();
        let (code, behind) = code.split_at(code_length(code, marks).unwrap_or(marks));
        out.push_str(before);
        for c in code.chars() {
            if c == '|' && !out.ends_with('\\') {
                out.push('\\');
            }
            out.push(c);
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

pub(super) struct TextTable {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
    cell: String,
    /// Address and start byte in the cell, for links that are still open.
    open_links: Vec<(String, usize)>,
    links: Vec<Link>,
    /// Marks to write at the end of each open emphasis: empty if they are formatting, which `pre` does not allow.
    open_marks: Vec<&'static str>,
}

/// Link from a cell. It is written below the table, because Telegram allows no links in monospaced text.
pub(super) struct Link {
    pub(super) words: String,
    pub(super) url: String,
}

impl TextTable {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self {
            alignments,
            rows: Vec::new(),
            cell: String::new(),
            open_links: Vec::new(),
            links: Vec::new(),
            open_marks: Vec::new(),
        }
    }

    /// Processes the parser's events between the start and the end of the table.
    pub(super) fn read(&mut self, event: Event<'_>, source: &str, range: &Range<usize>) {
        match event {
            Event::Start(Tag::TableHead | Tag::TableRow) => self.rows.push(Vec::new()),
            Event::End(TagEnd::TableCell) => {
                let cell = std::mem::take(&mut self.cell);
                self.rows.last_mut().into_iter().for_each(|row| row.push(cell.trim().to_owned()));
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                self.open_links.push((dest_url.into_string(), self.cell.len()));
            }
            Event::End(TagEnd::Link | TagEnd::Image) => self.end_link(),
            Event::Start(tag @ (Tag::Emphasis | Tag::Strong | Tag::Strikethrough)) => {
                let marks = text_marks(&tag, source, range).unwrap_or_default();
                self.cell.push_str(marks);
                self.open_marks.push(marks);
            }
            Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough) => {
                self.cell.push_str(self.open_marks.pop().unwrap_or_default());
            }
            Event::InlineHtml(html) => match formatting_tag(&html) {
                Some(("br", _)) => self.cell.push('\n'),
                Some(_) => {}
                None => self.cell.push_str(&clean(&html).replace('\n', " ")),
            },
            Event::Text(text) | Event::Code(text) => self.cell.push_str(&clean(&text).replace('\n', " ")),
            // Handled by the renderer, or never sent inside a table.
            _ => {}
        }
    }

    fn end_link(&mut self) {
        let Some((url, start)) = self.open_links.pop() else { return };
        let words = self.cell.get(start..).unwrap_or_default().trim().to_owned();
        // The links of citations, `[1]`, stand in the source line below the answer.
        let number = words.strip_prefix('[').and_then(|words| words.strip_suffix(']'));
        let is_citation = number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()));
        if words.is_empty() {
            self.cell.push_str(&clean(&url));
        } else if !is_citation && !self.links.iter().any(|link| link.words == words && link.url == url) {
            self.links.push(Link { words, url });
        }
    }

    /// Returns the table as lines of monospaced text, and its links.
    pub(super) fn finish(self) -> (String, Vec<Link>) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widths: Vec<usize> = (0..columns).map(|column| self.column_width(column)).collect();
        let mut rows: Vec<String> = self.rows.iter().map(|row| self.lines(row, &widths)).collect();
        if rows.len() > 1 {
            let dashes: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            rows.insert(1, dashes.join("-+-"));
        }
        (rows.join("\n"), self.links)
    }

    fn column_width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).flat_map(|cell| cell.lines());
        cells.map(|line| line.trim().width().min(MAX_WIDTH)).max().unwrap_or_default()
    }

    /// Formats a row, with as many lines as its tallest cell.
    fn lines(&self, row: &[String], widths: &[usize]) -> String {
        let height = row.iter().map(|cell| cell.lines().count()).max().unwrap_or_default().max(1);
        let line = |index: usize| {
            let cells: Vec<String> = (row.iter().zip(widths).enumerate())
                .map(|(column, (cell, width))| {
                    let text = cell.lines().nth(index).unwrap_or_default().trim();
                    pad(text, *width, self.alignments.get(column))
                })
                .collect();
            cells.join(" | ").trim_end().to_owned()
        };
        (0..height).map(line).collect::<Vec<_>>().join("\n")
    }
}

fn pad(cell: &str, to: usize, alignment: Option<&Alignment>) -> String {
    let missing = to.saturating_sub(cell.width());
    let left = match alignment {
        Some(Alignment::Right) => missing,
        Some(Alignment::Center) => missing / 2,
        Some(Alignment::Left | Alignment::None) | None => 0,
    };
    format!("{}{cell}{}", " ".repeat(left), " ".repeat(missing - left))
}
