//! The in-chat commands: one table. A new command is an entry here and a file under `commands/`.

use serde::{Deserialize, Serialize};

/// What holds for a command before anybody looks at its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandSpec {
    /// Without the slash.
    pub name: &'static str,
    /// As Telegram lists it when somebody types a slash. None: it is not listed.
    pub menu: Option<&'static str>,
    pub addressing: Addressing,
    /// It is about what is kept of whoever sends it: nobody is refused that.
    pub is_about_privacy: bool,
}

/// Whether a bare `/command` in a group is ours. Telegram shows a bare command to every bot of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addressing {
    OursWhenBare,
    /// Other bots have it too: it counts only with our name behind it.
    NeedsOurName,
}

macro_rules! commands {
    ($($command:ident = $name:literal, menu $menu:expr, $addressing:ident, privacy $privacy:literal;)+) => {
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
                        menu: $menu,
                        addressing: Addressing::$addressing,
                        is_about_privacy: $privacy,
                    },)+
                }
            }
        }
    };
}

commands! {
    Ask = "ask", menu Some("Ask about the conversation"), OursWhenBare, privacy false;
    Why = "why", menu Some("Reply to an answer of mine: which messages it rests on"), OursWhenBare, privacy false;
    Concepts = "concepts", menu Some("The named things that I keep in mind here"), OursWhenBare, privacy false;
    Privacy = "privacy", menu Some("What I keep, for how long, and who sees it"), NeedsOurName, privacy true;
    Forget = "forget", menu Some("In a reply: forget that message. Or: me, me 1h, all"), OursWhenBare, privacy true;
    Optout = "optout", menu Some("Keep nothing of what I write"), OursWhenBare, privacy true;
    Optin = "optin", menu Some("Read along with me again"), OursWhenBare, privacy true;
    Memory = "memory", menu Some("What I remember of this chat. Admins: on, off"), OursWhenBare, privacy false;
    Export = "export", menu Some("Admins: a file of all that is kept of this chat, in private. stop"), OursWhenBare, privacy false;
    Topics = "topics", menu Some("What this chat talks about. use, and for admins merge"), OursWhenBare, privacy false;
    Recap = "recap", menu Some("What was said: 2h, today, since I was here; admins: daily 18:00"), OursWhenBare, privacy false;
    Note = "note", menu Some("Admins: save a text for reference. In a reply: that message"), OursWhenBare, privacy false;
    Notes = "notes", menu Some("The texts that this chat saved for reference"), OursWhenBare, privacy false;
    Settings = "settings", menu Some("Admins: how I answer here"), NeedsOurName, privacy false;
    New = "new", menu Some("What comes next is a new talk"), NeedsOurName, privacy false;
    Help = "help", menu Some("What I do and how to tag me"), NeedsOurName, privacy false;
    Start = "start", menu None, NeedsOurName, privacy false;
    Claim = "claim", menu None, NeedsOurName, privacy false;
}

impl CommandName {
    /// Without the slash.
    pub fn as_str(self) -> &'static str {
        self.spec().name
    }

    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str().eq_ignore_ascii_case(raw))
    }

    /// The commands as Telegram lists them, with their descriptions.
    pub fn menu() -> Vec<(&'static str, &'static str)> {
        Self::ALL.into_iter().map(Self::spec).filter_map(|spec| Some((spec.name, spec.menu?))).collect()
    }
}
