//! The in-chat commands: one table. A new command is an entry here and a file under `commands/`.

use serde::{Deserialize, Serialize};

/// What holds for a command before anybody looks at its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandSpec {
    /// Without the slash.
    pub name: &'static str,
    pub addressing: Addressing,
    /// It is about what is kept of whoever sends it: nobody is refused that.
    pub is_about_privacy: bool,
}

/// Whether a bare `/command` in a group is ours. Telegram shows a bare command to every bot of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addressing {
    OursWhenBare,
    /// Other bots have it too: where another bot is known, it counts only with our name behind it.
    NeedsOurName,
}

macro_rules! commands {
    ($($command:ident = $name:literal, $addressing:ident, privacy $privacy:literal;)+) => {
        /// A command that this version of the bot answers.
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
    /// Without the slash.
    pub fn as_str(self) -> &'static str {
        self.spec().name
    }

    /// Whether it is never refused for coming too often: it is about what is kept of whoever sends it, or a setting of admins,
    /// which must not be lost. None of these asks a model.
    pub fn is_always_taken(self) -> bool {
        let is_for_admins = matches!(self, Self::Memory | Self::Note | Self::Settings | Self::Topics);
        is_for_admins || self.spec().is_about_privacy
    }

    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str().eq_ignore_ascii_case(raw))
    }
}
