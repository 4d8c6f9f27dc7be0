//! Texts about access, notes, concepts, settings and the command menu.

use crate::CommandName;
use crate::rows::rows;

rows! {
    /// Texts for chats and users without access, and for `/claim`.
    pub struct AccessTexts {
        pub turned_away: String,
        pub only_owners: String,
        pub only_members: String,
        pub your_id: String,
        pub claim: String,
        /// Reply to `/claim` with the right code, or from an owner.
        pub claimed: String,
        pub wrong_code: String,
        /// Reply to `/claim` in a group.
        pub claim_in_private: String,
    }
}

rows! {
    pub struct NoteTexts {
        pub only_admins: String,
        pub how: String,
        pub nothing_there: String,
        pub opted_out: String,
        pub full: String,
        pub saved: String,
        pub deleted: String,
        pub no_such: String,
        pub none: String,
        pub head: String,
    }
}

rows! {
    pub struct ConceptTexts {
        pub none: String,
        pub here: String,
        pub known: String,
        pub also: String,
        pub and_more: String,
    }
}

rows! {
    /// Texts and button labels of `/settings`.
    pub struct SettingsTexts {
        pub head: String,
        pub admins_change: String,
        /// Variant of `admins_change` for private chats.
        pub you_change: String,
        pub only_admins: String,
        pub open: String,
        pub strict: String,
        pub memory_nowhere: String,
        pub memory_on: String,
        pub memory_off: String,
        pub streaming_on: String,
        pub streaming_off: String,
        pub links_off: String,
        pub links_asked: String,
        pub links_on: String,
        pub sessions: String,
        pub language_of_chat: String,
        pub language: String,
        pub everybody_asks: String,
        pub admins_ask: String,
        pub no_budget: String,
        pub budget: String,
        pub open_button: String,
        pub strict_button: String,
        pub memory_on_button: String,
        pub memory_off_button: String,
        pub streaming_on_button: String,
        pub streaming_off_button: String,
        pub links_off_button: String,
        pub links_asked_button: String,
        pub links_on_button: String,
        pub language_button: String,
        pub everybody_asks_button: String,
        pub admins_ask_button: String,
        pub no_budget_button: String,
        pub memory_off_question: String,
        pub memory_off_confirm_button: String,
        pub memory_keep_button: String,
        pub time_zone: String,
        pub time_zone_unknown: String,
        pub time_zone_set: String,
    }
}

rows! {
    /// Descriptions in Telegram's command menu, at most 256 characters each.
    pub struct MenuTexts {
        pub ask: String,
        pub why: String,
        pub concepts: String,
        pub privacy: String,
        pub forget: String,
        pub optout: String,
        pub optin: String,
        pub memory: String,
        pub export: String,
        pub topics: String,
        pub recap: String,
        pub note: String,
        pub notes: String,
        pub settings: String,
        pub new: String,
        pub help: String,
    }
}

impl MenuTexts {
    /// Returns the description of a command, or `None` if the menu does not list it.
    pub fn line(&self, command: CommandName) -> Option<&str> {
        let line = match command {
            CommandName::Ask => &self.ask,
            CommandName::Why => &self.why,
            CommandName::Concepts => &self.concepts,
            CommandName::Privacy => &self.privacy,
            CommandName::Forget => &self.forget,
            CommandName::Optout => &self.optout,
            CommandName::Optin => &self.optin,
            CommandName::Memory => &self.memory,
            CommandName::Export => &self.export,
            CommandName::Topics => &self.topics,
            CommandName::Recap => &self.recap,
            CommandName::Note => &self.note,
            CommandName::Notes => &self.notes,
            CommandName::Settings => &self.settings,
            CommandName::New => &self.new,
            CommandName::Help => &self.help,
            CommandName::Start | CommandName::Claim => return None,
        };
        Some(line)
    }
}
