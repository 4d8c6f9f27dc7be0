//! The commands that exist.

use std::ops::Range;

/// A command that this version of the bot answers. A new command is a new line in [`CommandName::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommandName {
    Ask,
    Why,
    Forget,
    Optout,
    Optin,
    Privacy,
    Claim,
    Help,
    Start,
}

impl CommandName {
    pub const ALL: [Self; 9] = [
        Self::Ask,
        Self::Why,
        Self::Forget,
        Self::Optout,
        Self::Optin,
        Self::Privacy,
        Self::Claim,
        Self::Help,
        Self::Start,
    ];

    /// Without the slash.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Why => "why",
            Self::Forget => "forget",
            Self::Optout => "optout",
            Self::Optin => "optin",
            Self::Privacy => "privacy",
            Self::Claim => "claim",
            Self::Help => "help",
            Self::Start => "start",
        }
    }

    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str().eq_ignore_ascii_case(raw))
    }

    /// Whether a bare `/command` in a group is ours. Telegram shows a bare command to every bot of the group, so those
    /// that other bots have too count only with our name behind them.
    pub fn is_ours_when_bare(self) -> bool {
        match self {
            Self::Ask | Self::Why | Self::Forget | Self::Optout | Self::Optin => true,
            Self::Privacy | Self::Claim | Self::Help | Self::Start => false,
        }
    }

    /// Whether it is about what is kept of whoever sends it: nobody is refused that.
    pub fn is_about_privacy(self) -> bool {
        match self {
            Self::Forget | Self::Optout | Self::Optin | Self::Privacy => true,
            Self::Ask | Self::Why | Self::Claim | Self::Help | Self::Start => false,
        }
    }
}

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
