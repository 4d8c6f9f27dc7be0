//! Commands as they stand in a text.

use std::ops::Range;

/// A command as it stands in a text, whether or not it exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// Where it stands, in bytes.
    pub(super) range: Range<usize>,
    /// Without slash and address.
    pub(super) name: String,
    pub(super) to: Addressee,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Addressee {
    /// A bare `/command`.
    Anyone,
    Us,
    AnotherBot,
}
