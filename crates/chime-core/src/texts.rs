//! Catalogue of the bot's own messages, read from the table `texts` of each language.
//!
//! Start with [`texts`] and the language of a chat; [`filled`] inserts values into a text.

mod catalogue;
mod notices;

use std::sync::LazyLock;

use crate::lang::{LanguageFile, tables};
use crate::{CommandName, MenuScope, Timestamp, Zone};

pub use catalogue::{
    AccessTexts, CitationTexts, ConceptTexts, DigestTexts, FollowUpTexts, GuestTexts, MemoryTexts, NoteTexts, Notices,
    PollTexts, PrivacyNoticeTexts, RecapTexts, RecapWords, ReminderTexts, SearchTexts, SettingsTexts, Texts,
    UnreadFileTexts, UnreadTexts, UsageTexts, WhyTexts,
};
pub use notices::notices;

impl Texts {
    /// Puts `text` in the quotation marks of the language.
    pub fn quoted(&self, text: &str) -> String {
        filled(&self.quote, &[("text", text)])
    }

    /// Formats a date like `5 Jan`. The month is counted from 0.
    pub fn day_of(&self, day: u32, month: u32) -> String {
        let name = self.months.get(month as usize).map(String::as_str).unwrap_or_default();
        filled(&self.date, &[("day", &day.to_string()), ("month", name)])
    }

    /// Formats a date like `5 Jan 2026`.
    pub fn date_of(&self, at: Timestamp, zone: Zone) -> String {
        let (day, month, year) = zone.day(at);
        format!("{} {year}", self.day_of(day, month))
    }
}

/// Returns the texts for an ISO 639-3 `code`, or the English ones if the language has none.
pub fn texts(code: &str) -> &'static Texts {
    let (_, texts) = all().iter().find(|(language, _)| language.code == code).unwrap_or(&all()[0]);
    texts
}

#[derive(Debug, Hash)]
pub struct Menu {
    pub scope: MenuScope,
    /// Two-letter code.
    pub language: &'static str,
    pub commands: Vec<(CommandName, &'static str)>,
}

pub fn menus() -> impl Iterator<Item = Menu> {
    let scopes = |entry| MenuScope::ALL.into_iter().map(move |scope| (entry, scope));
    all().iter().flat_map(scopes).map(|((language, texts), scope)| {
        let line = |command: CommandName| Some((command, texts.menu.get(command.as_str())?.as_str()));
        let commands = CommandName::ALL.into_iter().filter(|command| command.is_in_menu(scope)).filter_map(line);
        Menu { scope, language: &language.short, commands: commands.collect() }
    })
}

/// Replaces placeholders such as `{days}` in `sentence` by the values in `blanks`.
pub fn filled(sentence: &str, blanks: &[(&str, &str)]) -> String {
    let mut said = sentence.to_owned();
    for (name, value) in blanks {
        said = said.replace(&format!("{{{name}}}"), value);
    }
    said
}

pub(crate) fn all() -> &'static [(&'static LanguageFile, Texts)] {
    static ALL: LazyLock<Vec<(&LanguageFile, Texts)>> = LazyLock::new(|| tables("texts"));
    &ALL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_without_a_file_is_english() {
        assert!(std::ptr::eq(texts("a language that nobody speaks"), texts("eng")));
        assert_eq!([texts("deu"), texts("spa")].map(|it| it.day_of(5, 0)), ["5. Jan.", "5 ene"]);
    }

    #[test]
    fn every_menu_has_every_command_but_those_for_strangers_and_owners() {
        use CommandName::{Claim, Console, Start};
        let of_few = |command: &CommandName| matches!(command, Start | Claim | Console);
        assert_eq!(menus().count(), all().len() * MenuScope::ALL.len());
        for Menu { scope, language, commands } in menus() {
            let expected: Vec<CommandName> =
                CommandName::ALL.into_iter().filter(|it| !of_few(it) && it.is_in_menu(scope)).collect();
            assert_eq!(commands.iter().map(|(name, _)| *name).collect::<Vec<_>>(), expected, "{language}");
            assert!(commands.iter().all(|(_, about)| about.chars().count() <= 256), "{language}: Telegram's limit");
        }
    }
}
