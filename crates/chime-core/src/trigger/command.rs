//! Command found in a text, before it is decided for which bot it is.

use std::ops::Range;

/// Command in a text. Its name may be unknown to the bot.
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
    /// A `/command` without the name of a bot.
    Anyone,
    Us,
    AnotherBot,
}
