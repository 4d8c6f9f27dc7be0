//! Commands in a text.

use std::ops::Range;

/// Command in a text, known or unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// Byte range in the text.
    pub(super) range: Range<usize>,
    /// Name without the slash and the bot's username.
    pub(super) name: String,
    pub(super) to: Addressee,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Addressee {
    /// Bare `/command`.
    Anyone,
    Us,
    AnotherBot,
}
