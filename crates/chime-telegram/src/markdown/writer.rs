//! Text under construction, with its entities.

use std::ops::Range;

use super::clean::clean;
use chime_core::{Entity, EntityKind, FormattedText, utf16_len};

/// Indentation of a line per list level.
const INDENT: &str = "   ";

/// Deepest list level that is indented further than its parent, because screens are narrow.
const MAX_INDENT: usize = 8;

#[derive(Default)]
pub(super) struct EntityWriter {
    text: String,
    entities: Vec<Entity>,
    /// Length of the text in UTF-16 units.
    units: usize,
    /// Newlines to write before the next text.
    pending_newlines: usize,
    /// Number of lists around the next line.
    pub(super) indent: usize,
}

#[derive(Clone, Copy)]
pub(super) struct TextPosition {
    bytes: usize,
    /// Position in UTF-16 units.
    units: usize,
}

impl EntityWriter {
    pub(super) fn finish(self) -> FormattedText {
        FormattedText { text: self.text, entities: self.entities }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the end of the text. Pending newlines are not part of it: an entity that starts here may begin with
    /// them, and `clip` removes white space from the edges of entities.
    pub(super) fn end(&self) -> TextPosition {
        TextPosition { bytes: self.text.len(), units: self.units }
    }

    pub(super) fn since(&self, start: TextPosition) -> &str {
        self.text.get(start.bytes..).unwrap_or_default()
    }

    /// Returns the previous character, or `None` if the next text starts a new line.
    pub(super) fn last_char(&self) -> Option<char> {
        if self.pending_newlines > 0 { None } else { self.text.chars().next_back() }
    }

    /// Starts the next text on a new line, after at least `newlines` line breaks.
    pub(super) fn break_line(&mut self, newlines: usize) {
        self.pending_newlines = self.pending_newlines.max(newlines);
    }

    pub(super) fn push(&mut self, text: &str) {
        // A character reference such as `&#8238;` may stand for a character that `clean` removes.
        let text = clean(text);
        if !text.is_empty() {
            self.start_line(self.indent);
            self.append(&text);
        }
    }

    /// Writes pending newlines and the indentation of a line in `indent` lists.
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

    /// Adds an entity from `start` to the end of the text.
    pub(super) fn add(&mut self, start: TextPosition, kind: EntityKind) {
        self.add_range(start..self.end(), kind);
    }

    /// Adds an entity over text that is already written.
    pub(super) fn add_range(&mut self, range: Range<TextPosition>, kind: EntityKind) {
        let length = range.end.units.saturating_sub(range.start.units);
        if length > 0 {
            // An outer entity replaces inner ones of the same kind.
            let inside = range.start.units..range.end.units;
            self.entities.retain(|inner| inner.kind != kind || !inside.contains(&inner.offset));
            self.entities.push(Entity { offset: range.start.units, length, kind });
        }
    }

    /// Removes `ending` from the end of the text, if it is there. No entity may span it.
    pub(super) fn take_end(&mut self, ending: &str) {
        if self.text.ends_with(ending) {
            self.text.truncate(self.text.len() - ending.len());
            self.units -= utf16_len(ending);
        }
    }

    /// Removes the ASCII text `mark` at `place`, which no entity may span.
    pub(super) fn take_out(&mut self, place: TextPosition, mark: &str) {
        self.text.drain(place.bytes..place.bytes + mark.len());
        self.units -= mark.len();
        let after = place.units + mark.len();
        for later in self.entities.iter_mut().rev().take_while(|entity| entity.offset >= after) {
            later.offset -= mark.len();
        }
    }
}
