//! Inline formatting: emphasis, links, code, spoilers.

use std::ops::Range;

use pulldown_cmark::Tag;

use super::clean::clean;
use super::writer::{EntityWriter, TextPosition};
use chime_core::{EntityKind, is_in_word};

/// Delimiter of a spoiler.
const BARS: &str = "||";

/// The open formatting marks at the current position.
#[derive(Default)]
pub(super) struct Marks {
    /// Outermost first.
    open: Vec<OpenMark>,
    /// An opening spoiler delimiter without its partner yet.
    spoiler: Option<Spoiler>,
    /// Opening HTML tags without their partners yet, outermost first.
    tags: Vec<OpenTag>,
}

struct OpenTag {
    kind: EntityKind,
    /// Start of the spoiler's text, or of the part after the last code span.
    start: TextPosition,
    /// Earlier parts of the spoiler's text, each ended by a code span, because code cannot be inside another entity.
    earlier: Vec<Range<TextPosition>>,
    /// Number of open marks at the start of the tag: both tags of a pair must be inside the same mark.
    depth: usize,
}

struct OpenMark {
    start: TextPosition,
    /// `None` if the mark adds no entity: it is nested in one of the same kind, or surrounds an address without a link
    /// text.
    kind: Option<EntityKind>,
    /// Text to show if nothing is between the marks.
    instead: String,
    /// Text to show after the marked text.
    ending: &'static str,
}

struct Spoiler {
    place: TextPosition,
    /// Number of open marks at its start: both delimiters must be inside the same mark.
    depth: usize,
}

impl Marks {
    /// Resets spoilers and tags, which never extend over several blocks.
    pub(super) fn start_block(&mut self) {
        self.spoiler = None;
        self.tags.clear();
    }

    /// Handles an opening or closing HTML tag. An unpaired tag has no effect.
    pub(super) fn tag(&mut self, name: &str, is_closing: bool, writer: &mut EntityWriter) {
        let kind = match name {
            "b" | "strong" | "summary" => EntityKind::Bold,
            "i" | "em" => EntityKind::Italic,
            "u" | "ins" => EntityKind::Underline,
            "s" | "strike" | "del" => EntityKind::Strikethrough,
            "br" | "details" => return writer.break_line(1),
            _ => return,
        };
        let depth = self.open.len();
        if !is_closing {
            let is_inside_its_like = self.tags.iter().map(|tag| &tag.kind).any(|outer| *outer == kind)
                || self.open.iter().any(|mark| mark.kind.as_ref() == Some(&kind));
            if !is_inside_its_like {
                self.tags.push(OpenTag { kind, start: writer.end(), earlier: Vec::new(), depth });
            }
            return;
        }
        let Some(at) = self.tags.iter().rposition(|tag| tag.kind == kind && tag.depth == depth) else { return };
        // Drops the unclosed tags inside.
        self.tags.truncate(at + 1);
        let Some(OpenTag { kind, start, earlier, .. }) = self.tags.pop() else { return };
        writer.add(start, kind.clone());
        earlier.into_iter().for_each(|words| writer.add_range(words, kind.clone()));
        if name == "summary" {
            writer.break_line(1);
        }
    }

    pub(super) fn open(&mut self, kind: EntityKind, writer: &EntityWriter) {
        let is_inside_its_like = self.open.iter().any(|outer| outer.kind.as_ref() == Some(&kind));
        self.push((!is_inside_its_like).then_some(kind), String::new(), writer);
    }

    pub(super) fn open_link(&mut self, url: &str, writer: &EntityWriter) {
        let url = clean(url);
        let is_link = !url.is_empty() && !self.in_link();
        self.push(is_link.then(|| EntityKind::TextLink { url: url.clone() }), url, writer);
    }

    /// Opens a bare address, which Telegram links by itself.
    pub(super) fn open_address(&mut self, writer: &EntityWriter) {
        self.push(None, String::new(), writer);
    }

    /// Opens `marks` that are not formatting here, such as the `*` in `5*3*2`. They are shown as text.
    pub(super) fn open_as_text(&mut self, marks: &'static str, writer: &mut EntityWriter) {
        writer.push(marks);
        self.push(None, String::new(), writer);
        if let Some(mark) = self.open.last_mut() {
            mark.ending = marks;
        }
    }

    fn push(&mut self, kind: Option<EntityKind>, instead: String, writer: &EntityWriter) {
        self.open.push(OpenMark { start: writer.end(), kind, instead, ending: "" });
    }

    pub(super) fn close(&mut self, writer: &mut EntityWriter) {
        let Some(mark) = self.open.pop() else { return };
        // The partner of a tag or of bars inside this mark can no longer come: one in the next mark belongs to that.
        let depth = self.open.len();
        self.tags.retain(|tag| tag.depth <= depth);
        self.spoiler.take_if(|spoiler| spoiler.depth > depth);
        if writer.since(mark.start).is_empty() {
            writer.push(&mark.instead);
        } else if let Some(kind) = mark.kind {
            writer.add(mark.start, kind);
        }
        writer.push(mark.ending);
    }

    pub(super) fn code(&mut self, code: &str, writer: &mut EntityWriter) {
        // Telegram does not hide code, so bars around code are not a spoiler.
        self.spoiler = None;
        if self.in_link() {
            return writer.push(code);
        }
        // Code cannot be inside any other entity: the surrounding ones end here and start again after it.
        for mark in &self.open {
            if let Some(kind) = &mark.kind {
                writer.add(mark.start, kind.clone());
            }
        }
        for tag in &mut self.tags {
            tag.earlier.push(tag.start..writer.end());
        }
        let start = writer.end();
        writer.push(code);
        writer.add(start, EntityKind::Code);
        for mark in &mut self.open {
            mark.start = writer.end();
        }
        for tag in &mut self.tags {
            tag.start = writer.end();
        }
    }

    fn in_link(&self) -> bool {
        self.open.iter().any(|mark| matches!(mark.kind, Some(EntityKind::TextLink { .. })))
    }

    pub(super) fn text(&mut self, text: &str, writer: &mut EntityWriter) {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(BARS) {
            writer.push(before);
            self.bars(after.chars().next(), writer);
            rest = after;
        }
        writer.push(rest);
    }

    /// Starts or ends a spoiler, or writes the bars as text, as in `a || b`.
    fn bars(&mut self, next: Option<char>, writer: &mut EntityWriter) {
        let previous = writer.last_char();
        let touches = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
        let is_apart = |c: Option<char>| !c.is_some_and(is_in_word);
        let depth = self.open.len();
        let closes = |open: &mut Spoiler| {
            open.depth == depth && writer.since(open.place) != BARS && touches(previous) && is_apart(next)
        };
        if let Some(open) = self.spoiler.take_if(closes) {
            // Removing the bars shifts the text after them, so the positions of open tags are no longer valid.
            self.tags.clear();
            writer.take_out(open.place, BARS);
            return writer.add(open.place, EntityKind::Spoiler);
        }
        writer.start_line(writer.indent);
        let place = writer.end();
        writer.push(BARS);
        if is_apart(previous) && (next.is_none() || touches(next)) {
            self.spoiler = Some(Spoiler { place, depth });
        }
    }
}

/// Minimum number of letters in a name such as `__init__`.
const SHORTEST_NAME: usize = 3;

/// Returns the marks of a tag that are text and no formatting: those in words and addresses, and a single tilde,
/// because `5~10 and 20~30` is a common range in East Asia.
pub(super) fn text_marks(tag: &Tag<'_>, source: &str, range: &Range<usize>) -> Option<&'static str> {
    let is_in_address = is_in_address(&source[..range.start]);
    let is_single = || !source[range.start..].starts_with("~~");
    match tag {
        Tag::Strikethrough if is_single() => Some("~"),
        Tag::Strikethrough => is_in_address.then_some("~~"),
        Tag::Emphasis | Tag::Strong if is_in_address || is_part_of_a_word(source, range) => {
            Some(marks_of(&source[range.start..], matches!(tag, Tag::Strong)))
        }
        _ => None,
    }
}

/// Returns whether a text ends inside a web address that is not the address of a link.
fn is_in_address(text: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || "<>\"".contains(c) || !c.is_ascii() && !c.is_alphanumeric();
    let last = text.rsplit(ends).next().unwrap_or_default();
    (last.contains("://") || last.contains("www.")) && !last.contains("](")
}

/// Returns whether emphasis marks are part of a word: inside one as in `5*3*2` and `2**10`, or around one as in
/// `__init__.py`.
fn is_part_of_a_word(source: &str, range: &Range<usize>) -> bool {
    let emphasized = &source[range.clone()];
    let words = emphasized.trim_matches(['*', '_']);
    let (before, behind) = (source[..range.start].chars().next_back(), source[range.end..].chars());
    let is_plain = |c: char| c.is_ascii_alphanumeric();
    if emphasized.starts_with('*') {
        return before.is_some_and(is_plain) && words.starts_with(is_plain);
    }
    let is_name = emphasized.starts_with("__")
        && words.len() >= SHORTEST_NAME
        && words.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let goes_on = behind.clone().next().is_some_and(|c| c == '.') && behind.clone().nth(1).is_some_and(is_plain);
    is_name || goes_on
}

fn marks_of(emphasized: &str, is_strong: bool) -> &'static str {
    match (emphasized.starts_with('_'), is_strong) {
        (true, true) => "__",
        (true, false) => "_",
        (false, true) => "**",
        (false, false) => "*",
    }
}
