//! What stands inside a line: emphasis, links, code, spoilers.

use std::ops::Range;

use super::clean::clean;
use super::writer::{Place, Writer};
use chime_core::EntityKind;

/// What hides the text between two of it.
const BARS: &str = "||";

/// The marks around the current place.
#[derive(Default)]
pub(super) struct Marks {
    /// Outermost first.
    open: Vec<Mark>,
    /// Opening bars that wait for their partner.
    spoiler: Option<Spoiler>,
    /// Opening tags of HTML that wait for their partner, outermost first.
    tags: Vec<OpenTag>,
}

struct OpenTag {
    kind: EntityKind,
    /// Where its words began, and began again behind code.
    start: Place,
    /// The words before code.
    earlier: Vec<Range<Place>>,
    /// How many marks were open: a pair of tags belongs inside the same one.
    depth: usize,
}

struct Mark {
    start: Place,
    /// `None` where the mark changes nothing: inside its like, or around an address that shows itself.
    kind: Option<EntityKind>,
    /// Shown if there are no words between the marks.
    instead: String,
    /// Shown after the words.
    ending: &'static str,
}

struct Spoiler {
    place: Place,
    /// How many marks were open: a pair of bars belongs inside the same one.
    depth: usize,
}

impl Marks {
    /// Bars have no partner in another block.
    pub(super) fn start_block(&mut self) {
        self.spoiler = None;
        self.tags.clear();
    }

    /// A tag of HTML: formatting where it has its partner, and nothing else.
    pub(super) fn tag(&mut self, (name, is_closing): (&str, bool), writer: &mut Writer) {
        let kind = match name {
            "b" | "strong" => EntityKind::Bold,
            "i" | "em" => EntityKind::Italic,
            "u" | "ins" => EntityKind::Underline,
            "s" | "strike" | "del" => EntityKind::Strikethrough,
            "br" => return writer.break_line(1),
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
        // What was opened inside and not closed is nothing.
        self.tags.truncate(at + 1);
        let Some(OpenTag { kind, start, earlier, .. }) = self.tags.pop() else { return };
        writer.add(start, kind.clone());
        earlier.into_iter().for_each(|words| writer.add_range(words, kind.clone()));
    }

    pub(super) fn open(&mut self, kind: EntityKind, writer: &Writer) {
        let is_inside_its_like = self.open.iter().any(|outer| outer.kind.as_ref() == Some(&kind));
        self.push((!is_inside_its_like).then_some(kind), String::new(), writer);
    }

    pub(super) fn open_link(&mut self, url: &str, writer: &Writer) {
        let url = clean(url);
        let is_link = !url.is_empty() && !self.in_link();
        self.push(is_link.then(|| EntityKind::TextLink { url: url.clone() }), url, writer);
    }

    /// An address that is its own words: Telegram makes the link.
    pub(super) fn open_address(&mut self, writer: &Writer) {
        self.push(None, String::new(), writer);
    }

    /// Marks that mean nothing, and are shown as they stand.
    pub(super) fn open_as_text(&mut self, marks: &'static str, writer: &mut Writer) {
        writer.push(marks);
        self.push(None, String::new(), writer);
        if let Some(mark) = self.open.last_mut() {
            mark.ending = marks;
        }
    }

    fn push(&mut self, kind: Option<EntityKind>, instead: String, writer: &Writer) {
        self.open.push(Mark { start: writer.end(), kind, instead, ending: "" });
    }

    pub(super) fn close(&mut self, writer: &mut Writer) {
        let Some(mark) = self.open.pop() else { return };
        if writer.since(mark.start).is_empty() {
            writer.push(&mark.instead);
        } else if let Some(kind) = mark.kind {
            writer.add(mark.start, kind);
        }
        writer.push(mark.ending);
    }

    pub(super) fn code(&mut self, code: &str, writer: &mut Writer) {
        // Telegram hides no code: bars on both sides of it are just bars.
        self.spoiler = None;
        if self.in_link() {
            return writer.push(code);
        }
        // Nor can code be in any other entity: those around it end here and begin again behind it.
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

    pub(super) fn text(&mut self, text: &str, writer: &mut Writer) {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(BARS) {
            writer.push(before);
            self.bars(after.chars().next(), writer);
            rest = after;
        }
        writer.push(rest);
    }

    /// The beginning or the end of a spoiler, or just bars, as in `a || b`.
    fn bars(&mut self, next: Option<char>, writer: &mut Writer) {
        let previous = writer.last_char();
        let touches = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
        let is_apart = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
        let depth = self.open.len();
        let closes = |open: &mut Spoiler| {
            open.depth == depth && writer.since(open.place) != BARS && touches(previous) && is_apart(next)
        };
        if let Some(open) = self.spoiler.take_if(closes) {
            // Their places move.
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
