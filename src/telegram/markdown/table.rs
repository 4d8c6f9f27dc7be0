//! Tables as aligned text.

use pulldown_cmark::{Alignment, Event, Tag, TagEnd};
use unicode_segmentation::UnicodeSegmentation;

use super::clean::clean;

/// Cells wider than this, in columns of a monospaced font, are not waited for by the others of their column.
const MAX_WIDTH: usize = 40;

/// A table while it is being read.
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
    /// The cell that is being read.
    cell: String,
    /// Address and first byte in the cell, for links that are being read.
    open_links: Vec<(String, usize)>,
    links: Vec<Link>,
}

/// A link that stood in a cell, where Telegram allows none; the same in many cells is one.
pub(super) struct Link {
    pub(super) words: String,
    pub(super) url: String,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new(), cell: String::new(), open_links: Vec::new(), links: Vec::new() }
    }

    /// Takes what the parser says between the beginning and the end of the table.
    pub(super) fn read(&mut self, event: Event<'_>) {
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
            Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) => {
                self.cell.push_str(&clean(&text).replace('\n', " "));
            }
            // Other marks have no meaning inside `pre`.
            _ => {}
        }
    }

    fn end_link(&mut self) {
        let Some((url, start)) = self.open_links.pop() else { return };
        let words = self.cell.get(start..).unwrap_or_default().trim().to_owned();
        if words.is_empty() {
            self.cell.push_str(&clean(&url));
        } else if !self.links.iter().any(|link| link.words == words && link.url == url) {
            self.links.push(Link { words, url });
        }
    }

    /// The table as lines of a monospaced text, and the links it held.
    pub(super) fn finish(self) -> (String, Vec<Link>) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widths: Vec<usize> = (0..columns).map(|column| self.column_width(column)).collect();
        let mut lines: Vec<String> = self.rows.iter().map(|row| self.line(row, &widths)).collect();
        if lines.len() > 1 {
            let dashes: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            lines.insert(1, dashes.join("-+-"));
        }
        (lines.join("\n"), self.links)
    }

    fn column_width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| width(cell).min(MAX_WIDTH)).max().unwrap_or_default()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(column, (cell, width))| pad(cell, *width, self.alignments.get(column)))
            .collect();
        cells.join(" | ").trim_end().to_owned()
    }
}

fn pad(cell: &str, to: usize, alignment: Option<&Alignment>) -> String {
    let missing = to.saturating_sub(width(cell));
    let left = match alignment {
        Some(Alignment::Right) => missing,
        Some(Alignment::Center) => missing / 2,
        Some(Alignment::Left | Alignment::None) | None => 0,
    };
    format!("{}{cell}{}", " ".repeat(left), " ".repeat(missing - left))
}

/// The columns that `text` takes in a monospaced font, nearly.
fn width(text: &str) -> usize {
    text.graphemes(true).map(|grapheme| if grapheme.chars().any(is_wide) { 2 } else { 1 }).sum()
}

/// East Asian writing and emoji, which take two columns.
fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{115F}' | '\u{2E80}'..='\u{A4CF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FE30}'..='\u{FE6F}' | '\u{FF00}'..='\u{FF60}' | '\u{FFE0}'..='\u{FFE6}' | '\u{1F300}'..='\u{1FAFF}'
        | '\u{20000}'..='\u{3FFFD}')
}
