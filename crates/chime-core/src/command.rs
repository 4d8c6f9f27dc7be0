//! Table of the commands that members can send, such as `/recap`.

use serde::{Deserialize, Serialize};

/// Calls the macro `$with` with the table. A row gives: variant, name without the slash, handler (a method of
/// `Commands` in `chime-bot`), how the command is addressed, and which limits apply to it.
#[macro_export]
macro_rules! commands {
    ($with:ident) => {
        $with! {
            // `trigger/find.rs` turns it into a question, so this handler is never called.
            Ask = "ask", explain_answer, OursWhenBare, Limited;
            Why = "why", explain_answer, OursWhenBare, Controls;
            Concepts = "concepts", list_concepts, OursWhenBare, Controls;
            Privacy = "privacy", explain_privacy, NeedsOurName, OwnData;
            Forget = "forget", forget_on_request, OursWhenBare, OwnData;
            Optout = "optout", opt_out, OursWhenBare, OwnData;
            Optin = "optin", opt_in, OursWhenBare, OwnData;
            Memory = "memory", remember, OursWhenBare, Controls;
            Export = "export", export, OursWhenBare, Controls;
            Topics = "topics", topics, OursWhenBare, Controls;
            Recap = "recap", recap, OursWhenBare, Limited;
            Note = "note", note, OursWhenBare, Controls;
            Notes = "notes", list_notes, OursWhenBare, Controls;
            Settings = "settings", show_settings, NeedsOurName, Controls;
            Usage = "usage", show_usage, NeedsOurName, Controls;
            New = "new", start_session, NeedsOurName, Controls;
            Search = "search", search, OursWhenBare, Limited;
            Remind = "remind", remind, OursWhenBare, Controls;
            Reminders = "reminders", list_reminders, OursWhenBare, Controls;
            Decisions = "decisions", list_decisions, OursWhenBare, Controls;
            Open = "open", list_open, OursWhenBare, Controls;
            Help = "help", help, NeedsOurName, Controls;
            Start = "start", help, NeedsOurName, Controls;
            Console = "console", open_console, NeedsOurName, Limited;
            Claim = "claim", welcome_owner, NeedsOurName, Limited;
        }
    };
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandLimits {
    /// `RATE_LIMIT` applies.
    Limited,
    /// Only a limit applies that nobody reaches who types: the command calls no model.
    Controls,
    /// Concerns the sender's own data. It is handled in private without access to the bot too, even if limits are
    /// reached or it arrives late.
    OwnData,
}

macro_rules! define_commands {
    ($($command:ident = $name:literal, $handler:ident, $addressing:ident, $limits:ident;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum CommandName {
            $($command,)+
        }

        impl CommandName {
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$command),+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$command => $name,)+
                }
            }

            pub fn addressing(self) -> Addressing {
                match self {
                    $(Self::$command => Addressing::$addressing,)+
                }
            }

            pub fn limits(self) -> CommandLimits {
                match self {
                    $(Self::$command => CommandLimits::$limits,)+
                }
            }
        }
    };
}

commands!(define_commands);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MenuScope {
    Private,
    Groups,
    /// Admins of groups.
    Admins,
}

crate::words!(MenuScope { Private = "private", Groups = "groups", Admins = "admins" });

impl CommandName {
    /// Returns `true` if the reply is for the member who sent the command, and nobody else in the group needs it.
    pub fn is_for_asker(self) -> bool {
        matches!(
            self,
            Self::Why | Self::Memory | Self::Search | Self::Settings | Self::Privacy | Self::Reminders | Self::Usage
        )
    }

    /// Returns `false` if a member who sees this menu has no use for the command. A menu also leaves out commands
    /// without a line in `[texts.menu]`, such as `/start`.
    pub fn is_in_menu(self, scope: MenuScope) -> bool {
        match self {
            Self::Export | Self::Note | Self::Settings | Self::Usage => scope != MenuScope::Groups,
            // In private, every message is a question.
            Self::Ask => scope != MenuScope::Private,
            _ => true,
        }
    }

    pub fn is_about_privacy(self) -> bool {
        self.limits() == CommandLimits::OwnData
    }

    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str().eq_ignore_ascii_case(raw))
    }
}
