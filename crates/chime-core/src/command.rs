//! Table of the commands that members can send, such as `/recap`. A new command needs an entry here and a handler in
//! `chime-bot`.

use serde::{Deserialize, Serialize};

/// Properties of a command that do not depend on its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandSpec {
    /// Name without the slash.
    pub name: &'static str,
    pub addressing: Addressing,
    /// `true` if the command concerns the sender's own data. Such a command is handled even if limits are reached or it
    /// arrives late.
    pub is_about_privacy: bool,
}

/// Handling of a `/command` without the bot's name in a group. Telegram delivers it to every bot of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addressing {
    /// Counts as a command to this bot.
    OursWhenBare,
    /// Other bots have the same command: if another bot is known in the group, it counts only with this bot's name
    /// (`/help@chime_bot`).
    NeedsOurName,
}

macro_rules! commands {
    ($($command:ident = $name:literal, $addressing:ident, privacy $privacy:literal;)+) => {
        /// Command that the bot supports.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum CommandName {
            $($command,)+
        }

        impl CommandName {
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$command),+];

            pub fn spec(self) -> CommandSpec {
                match self {
                    $(Self::$command => CommandSpec {
                        name: $name,
                        addressing: Addressing::$addressing,
                        is_about_privacy: $privacy,
                    },)+
                }
            }
        }
    };
}

commands! {
    Ask = "ask", OursWhenBare, privacy false;
    Why = "why", OursWhenBare, privacy false;
    Concepts = "concepts", OursWhenBare, privacy false;
    Privacy = "privacy", NeedsOurName, privacy true;
    Forget = "forget", OursWhenBare, privacy true;
    Optout = "optout", OursWhenBare, privacy true;
    Optin = "optin", OursWhenBare, privacy true;
    Memory = "memory", OursWhenBare, privacy false;
    Export = "export", OursWhenBare, privacy false;
    Topics = "topics", OursWhenBare, privacy false;
    Recap = "recap", OursWhenBare, privacy false;
    Note = "note", OursWhenBare, privacy false;
    Notes = "notes", OursWhenBare, privacy false;
    Settings = "settings", NeedsOurName, privacy false;
    New = "new", NeedsOurName, privacy false;
    Help = "help", NeedsOurName, privacy false;
    Start = "start", NeedsOurName, privacy false;
    Claim = "claim", NeedsOurName, privacy false;
}

impl CommandName {
    /// Returns the name without the slash.
    pub fn as_str(self) -> &'static str {
        self.spec().name
    }

    /// Returns `true` if rate limits do not apply: the command concerns the sender's own data, or changes a setting,
    /// which must not be lost. None of these commands calls a model.
    pub fn is_always_taken(self) -> bool {
        let is_for_admins = matches!(self, Self::Memory | Self::Note | Self::Settings | Self::Topics);
        is_for_admins || self.spec().is_about_privacy
    }

    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str().eq_ignore_ascii_case(raw))
    }
}
