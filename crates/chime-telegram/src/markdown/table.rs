use pulldown_cmark::{Alignment, Event, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

use super::clean::{clean, formatting_tag};

/// Widest cell that determines the width of its column, in monospaced characters.
const MAX_WIDTH: usize = 40;

pub(super) struct TextTable {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
    cell: String,
    /// Address and start byte in the cell, for links that are still open.
    open_links: Vec<(String, usize)>,
    links: Vec<Link>,
}

/// Link from a cell. It is written below the table, because Telegram allows no links in monospaced text.
pub(super) struct Link {
    pub(super) words: String,
    pub(super) url: String,
}

impl TextTable {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new(), cell: String::new(), open_links: Vec::new(), links: Vec::new() }
    }

    /// Processes the parser's events between the start and the end of the table.
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
            Event::InlineHtml(html) => match formatting_tag(&html) {
                Some(("br", _)) => self.cell.push('\n'),
                Some(_) => {}
                None => self.cell.push_str(&clean(&html).replace('\n', " ")),
            },
            Event::Text(text) | Event::Code(text) => self.cell.push_str(&clean(&text).replace('\n', " ")),
            // `pre` allows no other formatting.
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
