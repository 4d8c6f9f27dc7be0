//! Renders parsed Markdown as text with entities.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd, TextMergeWithOffset};

use super::clean::{clean, formatting_tag, protect_line_starts};
use super::inline::{Marks, text_marks};
use super::source::{with_fences_in_place, with_html_code_fenced, with_items_nested, with_words_read};
use super::table::{Link, TextTable, with_tables_whole};
use super::writer::{EntityWriter, TextPosition};
use crate::clip::clip;
use chime_core::{EntityKind, FormattedText, is_blank, utf16_len};

/// Longest quote that is not collapsed, in lines.
const MAX_QUOTE_LINES: usize = 6;

/// UTF-16 units per line of a narrow screen, to estimate the lines of a quote.
const LINE_UNITS: usize = 60;

const RULE: &str = "──────────";

const BULLET: &str = "• ";

/// Converts Markdown to text with Telegram entities.
///
/// Total: Telegram accepts the result of any input, except that input without visible text gives empty text. Keeps the
/// first 100 entities, as Telegram does. Does not limit the length: see [`split`](crate::split).
pub fn to_entities(markdown: &str) -> FormattedText {
    let options = Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    let cleaned = clean(markdown);
    let in_place = with_tables_whole(&with_fences_in_place(&with_items_nested(&with_html_code_fenced(&cleaned))));
    let source = protect_line_starts(&with_words_read(&in_place));
    let mut renderer = Renderer { source: &source, ..Renderer::default() };
    for (event, range) in TextMergeWithOffset::new(Parser::new_ext(&source, options).into_offset_iter()) {
        renderer.read(event, &range);
    }
    let mut rendered = renderer.writer.finish();
    if is_blank(&rendered.text) {
        // Markdown without visible text, such as a lone `#`, is shown as it was written.
        rendered = FormattedText::plain(cleaned.as_str());
    }
    clip(&rendered, 0..rendered.text.len())
}

#[derive(Default)]
struct Renderer<'a> {
    source: &'a str,
    writer: EntityWriter,
    marks: Marks,
    /// Quotes and lists around the current position, outermost first.
    containers: Vec<Container>,
    /// End of the latest bullet. A block that starts here continues the bullet's line.
    bullet: Option<TextPosition>,
    /// Bytes of the source rendered so far.
    read_to: usize,
    /// End of the latest event in the source: `read_to` and the white space after it.
    looked_to: usize,
    code_block: Option<CodeBlock>,
    table: Option<TextTable>,
}

enum Container {
    Quote { start: TextPosition },
    List { numbers: Option<ItemNumbers> },
}

/// Numbers of the items of a numbered list so far.
struct ItemNumbers {
    /// Numbers of the latest item.
    written: Option<u64>,
    shown: u64,
    /// `true` if all written numbers are equal.
    are_equal: bool,
}

struct CodeBlock {
    language: Option<String>,
    text: String,
}

impl Renderer<'_> {
    fn read(&mut self, event: Event<'_>, range: &Range<usize>) {
        let begins = matches!(event, Event::Start(_));
        match (&mut self.table, event) {
            (Some(_), Event::End(TagEnd::Table)) => self.end_table(),
            (Some(table), event) => table.read(event, self.source, range),
            (None, Event::Start(tag)) => self.start(tag, range),
            (None, Event::End(tag)) => self.end(tag),
            (None, event) => self.show(event, range),
        }
        if !begins {
            self.mark_read(range.end);
        }
    }

    fn mark_read(&mut self, to: usize) {
        if to <= self.looked_to {
            return;
        }
        // Trailing white space and the `>` of empty quote lines belong to the next block.
        let shown = self.source.get(..to).unwrap_or(self.source);
        self.read_to = shown.trim_end_matches(|c: char| c.is_whitespace() || c == '>').len();
        self.looked_to = to;
    }

    fn show(&mut self, event: Event<'_>, range: &Range<usize>) {
        match event {
            Event::Text(text) => match &mut self.code_block {
                Some(code) => code.text.push_str(&text),
                None => self.marks.text(&text, &mut self.writer),
            },
            Event::Code(code) => self.marks.code(&code, &mut self.writer),
            Event::Html(html) => {
                self.writer.push(html.trim_end_matches('\n'));
                self.writer.break_line(1);
            }
            Event::SoftBreak | Event::HardBreak => self.writer.break_line(1),
            Event::TaskListMarker(is_done) => {
                // The box replaces the bullet.
                self.writer.take_end(BULLET);
                self.writer.push(if is_done { "☑ " } else { "☐ " });
                self.bullet = Some(self.writer.end());
            }
            Event::Rule => {
                self.start_block(range.start);
                self.writer.push(RULE);
            }
            Event::InlineHtml(html) => match formatting_tag(&html) {
                Some((name, is_closing)) => self.marks.tag(name, is_closing, &mut self.writer),
                None => self.writer.push(&html),
            },
            // Handled elsewhere, or never sent with our parser options.
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        if let Some(marks) = text_marks(&tag, self.source, range) {
            return self.marks.open_as_text(marks, &mut self.writer);
        }
        match tag {
            Tag::Emphasis => self.marks.open(EntityKind::Italic, &self.writer),
            Tag::Strong => self.marks.open(EntityKind::Bold, &self.writer),
            Tag::Strikethrough => self.marks.open(EntityKind::Strikethrough, &self.writer),
            Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. } => self.marks.open_address(&self.writer),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.marks.open_link(&dest_url, &self.writer),
            Tag::List(first) => {
                let numbers = first.map(|_| ItemNumbers { written: None, shown: 0, are_equal: true });
                self.enter(Container::List { numbers });
            }
            Tag::Item => self.start_item(range),
            Tag::Paragraph | Tag::HtmlBlock => self.start_block(range.start),
            Tag::Heading { .. } => {
                self.start_block(range.start);
                self.marks.open(EntityKind::Bold, &self.writer);
            }
            Tag::BlockQuote(_) => {
                self.start_block(range.start);
                self.enter(Container::Quote { start: self.writer.end() });
            }
            Tag::CodeBlock(kind) => {
                self.start_block(range.start);
                self.code_block = Some(CodeBlock { language: language(&kind), text: String::new() });
            }
            Tag::Table(alignments) => {
                self.start_block(range.start);
                self.table = Some(TextTable::new(alignments));
            }
            // Handled by the table, or never sent with our parser options.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_)
            | TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Link
            | TagEnd::Image => self.marks.close(&mut self.writer),
            TagEnd::BlockQuote(_) => self.end_quote(),
            TagEnd::CodeBlock => self.end_code_block(),
            TagEnd::List(_) => _ = self.leave(),
            TagEnd::Item => self.bullet = None,
            // Nothing to close, or handled by the table, or never sent with our parser options.
            _ => {}
        }
    }

    fn enter(&mut self, container: Container) {
        self.containers.push(container);
        self.writer.indent = self.lists();
    }

    fn leave(&mut self) -> Option<Container> {
        let container = self.containers.pop();
        self.writer.indent = self.lists();
        container
    }

    /// Returns the number of lists around the current position, without those outside of the innermost quote: Telegram
    /// indents a quote itself.
    fn lists(&self) -> usize {
        self.containers.iter().rev().take_while(|container| matches!(container, Container::List { .. })).count()
    }

    /// Starts a block on a new line, after an empty line if the source has one.
    fn start_block(&mut self, at: usize) {
        self.marks.start_block();
        let is_beside_bullet = self.bullet.is_some_and(|bullet| self.writer.since(bullet).is_empty());
        if is_beside_bullet || self.writer.is_empty() {
            return;
        }
        let between = self.source.get(self.read_to..at).unwrap_or_default();
        self.writer.break_line(if between.matches('\n').count() > 1 { 2 } else { 1 });
    }

    fn start_item(&mut self, range: &Range<usize>) {
        self.start_block(range.start);
        let item = self.source[range.start..].trim_start();
        let bullet = match self.containers.last_mut() {
            Some(Container::List { numbers: Some(numbers) }) => format!("{}{} ", numbers.next(item), delimiter(item)),
            _ => BULLET.to_owned(),
        };
        self.writer.start_line(self.writer.indent.saturating_sub(1));
        self.writer.push(&bullet);
        self.bullet = Some(self.writer.end());
    }

    fn end_quote(&mut self) {
        let Some(Container::Quote { start }) = self.leave() else { return };
        if self.containers.iter().any(|outer| matches!(outer, Container::Quote { .. })) {
            // Telegram has no nested quotes.
            return;
        }
        let lines = self.writer.since(start).trim().lines().map(|line| 1 + utf16_len(line) / LINE_UNITS);
        let is_long = lines.sum::<usize>() > MAX_QUOTE_LINES;
        let kind = if is_long { EntityKind::ExpandableBlockquote } else { EntityKind::Blockquote };
        self.writer.add(start, kind);
    }

    fn end_code_block(&mut self) {
        let Some(CodeBlock { language, text }) = self.code_block.take() else { return };
        let empty_lines = text.len() - text.trim_start().len();
        let start = text[..empty_lines].rfind('\n').map_or(0, |newline| newline + 1);
        self.pre(text[start..].trim_end(), language);
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let (text, links) = table.finish();
        self.pre(&text, None);
        self.writer.break_line(1);
        for (index, Link { words, url }) in links.into_iter().enumerate() {
            self.writer.push(if index == 0 { "" } else { " · " });
            self.marks.open_link(&url, &self.writer);
            self.writer.push(&words);
            self.marks.close(&mut self.writer);
        }
    }

    fn pre(&mut self, text: &str, language: Option<String>) {
        if is_blank(text) {
            return;
        }
        self.writer.start_line(0);
        let start = self.writer.end();
        self.writer.push(text);
        self.writer.add(start, EntityKind::Pre { language });
    }
}

impl ItemNumbers {
    /// Returns the number of the next item: the one that is written, since "3., 2., 1." counts down and "1., 3." leaves
    /// one out. Items that all have the same number are counted.
    fn next(&mut self, item: &str) -> u64 {
        let after = item.trim_start_matches(|c: char| c.is_ascii_digit());
        let written = item[..item.len() - after.len()].parse().unwrap_or(0);
        self.are_equal &= self.written.is_none_or(|before| before == written);
        let is_counted = self.are_equal && self.written.is_some();
        self.shown = if is_counted { self.shown.saturating_add(1) } else { written };
        self.written = Some(written);
        self.shown
    }
}

fn delimiter(item: &str) -> char {
    let after = item.trim_start_matches(|c: char| c.is_ascii_digit());
    if after.starts_with(')') { ')' } else { '.' }
}

/// Returns the first word after a fence, which Telegram uses for highlighting.
fn language(kind: &CodeBlockKind<'_>) -> Option<String> {
    let CodeBlockKind::Fenced(info) = kind else { return None };
    let word = info.split([' ', '\t', ',']).next().unwrap_or_default();
    let word = clean(word);
    (!word.is_empty()).then_some(word)
}
