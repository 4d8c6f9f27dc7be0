//! The text as it is written, with its entities.

use std::ops::Range;

use super::clean::clean;
use chime_core::{Entity, EntityKind, FormattedText, utf16_len};

/// What a line in a list is indented by, for each list around it.
const INDENT: &str = "   ";

/// Deeper lists are indented no further: the screen is narrow.
const MAX_INDENT: usize = 8;

/// Text that grows at its end.
#[derive(Default)]
pub(super) struct Writer {
    text: String,
    entities: Vec<Entity>,
    /// Length of the text so far.
    units: usize,
    /// Newlines to write before the next text.
    pending_newlines: usize,
    /// How many lists the next line is in.
    pub(super) indent: usize,
}

/// A place in the text.
#[derive(Clone, Copy)]
pub(super) struct Place {
    bytes: usize,
    /// The same in UTF-16 units.
    units: usize,
}

impl Writer {
    pub(super) fn finish(self) -> FormattedText {
        FormattedText { text: self.text, entities: self.entities }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Where the text ends. Newlines that wait are not counted; `clip` draws entities in from white space.
    pub(super) fn end(&self) -> Place {
        Place { bytes: self.text.len(), units: self.units }
    }

    pub(super) fn since(&self, start: Place) -> &str {
        self.text.get(start.bytes..).unwrap_or_default()
    }

    /// The character before the next one on the same line.
    pub(super) fn last_char(&self) -> Option<char> {
        if self.pending_newlines > 0 { None } else { self.text.chars().next_back() }
    }

    /// Puts the next text on a line of its own, after `newlines` at least.
    pub(super) fn break_line(&mut self, newlines: usize) {
        self.pending_newlines = self.pending_newlines.max(newlines);
    }

    /// Writes text; the newlines that wait come first.
    pub(super) fn push(&mut self, text: &str) {
        // A character reference can smuggle in what was taken out of the source.
        let text = clean(text);
        if !text.is_empty() {
            self.start_line(self.indent);
            self.append(&text);
        }
    }

    /// Writes the newlines that wait, and the indentation of a line in `indent` lists.
    pub(super) fn start_line(&mut self, indent: usize) {
        let newlines = std::mem::take(&mut self.pending_newlines);
        if newlines > 0 {
            self.append(&"\n".repeat(newlines));
            self.append(&INDENT.repeat(indent.min(MAX_INDENT)));
        }
    }

    fn append(&mut self, text: &str) {
        self.text.push_str(text);
        self.units += utf16_len(text);
    }

    /// Adds an entity from `start` up to here.
    pub(super) fn add(&mut self, start: Place, kind: EntityKind) {
        self.add_range(start..self.end(), kind);
    }

    /// Adds an entity over text that is written already.
    pub(super) fn add_range(&mut self, range: Range<Place>, kind: EntityKind) {
        let length = range.end.units.saturating_sub(range.start.units);
        if length > 0 {
            // What is bold throughout is not bold in parts.
            let inside = range.start.units..range.end.units;
            self.entities.retain(|inner| inner.kind != kind || !inside.contains(&inner.offset));
            self.entities.push(Entity { offset: range.start.units, length, kind });
        }
    }

    /// Takes the ASCII text `mark` out again, which stands at `place`; no entity may lie across it.
    pub(super) fn take_out(&mut self, place: Place, mark: &str) {
        self.text.drain(place.bytes..place.bytes + mark.len());
        self.units -= mark.len();
        let after = place.units + mark.len();
        for later in self.entities.iter_mut().rev().take_while(|entity| entity.offset >= after) {
            later.offset -= mark.len();
        }
    }
}
