//! Catalogue of the bot's own messages: one file of texts for each language.
//!
//! Start with [`texts`] and the language of a chat; [`filled`] inserts values into a text.

mod answer;
mod chat;
mod memory;
mod why;

use std::sync::LazyLock;

use crate::CommandName;
use crate::rows::{read, rows};

pub use answer::{DigestTexts, FollowUpTexts, UnreadFileTexts, UnreadTexts};
pub use chat::{AccessTexts, ConceptTexts, MenuTexts, NoteTexts, SettingsTexts};
pub use memory::{MemoryTexts, RecapTexts, RecapWords};
pub use why::WhyTexts;

/// A new language needs a new file in this list.
const FILES: [&str; 12] = [
    include_str!("texts/eng.toml"),
    include_str!("texts/deu.toml"),
    include_str!("texts/spa.toml"),
    include_str!("texts/fra.toml"),
    include_str!("texts/rus.toml"),
    include_str!("texts/est.toml"),
    include_str!("texts/por.toml"),
    include_str!("texts/ukr.toml"),
    include_str!("texts/tur.toml"),
    include_str!("texts/ita.toml"),
    include_str!("texts/nld.toml"),
    include_str!("texts/pol.toml"),
];

rows! {
    /// All texts in one language, as Markdown. Placeholders in braces are filled by [`filled`]. See `eng.toml` for what
    /// each text says.
    pub struct Texts {
        /// ISO 639-3 code.
        pub code: String,
        /// ISO 639-1 code.
        pub short: String,
        /// Name of the language in the language itself.
        pub name: String,
        pub help: String,
        pub help_private: String,
        /// Shown while a slow answer is being prepared.
        pub one_moment: String,
        pub why_what: String,
        pub why_gone: String,
        pub out_here: String,
        pub out_everywhere: String,
        pub privacy: String,
        pub privacy_raw: String,
        pub privacy_copies: String,
        pub privacy_memory: String,
        pub privacy_memory_off: String,
        pub privacy_memory_off_private: String,
        pub privacy_redacted: String,
        pub privacy_optout: String,
        pub privacy_forget: String,
        pub privacy_forget_me: String,
        pub privacy_forget_all: String,
        pub export_sent: String,
        pub export_who: String,
        pub export_anonymous: String,
        pub export_write_first: String,
        pub export_large: String,
        pub export_announced: String,
        pub export_called_off: String,
        pub export_not_pending: String,
        pub export_no_longer_admin: String,
        pub opted_out_here: String,
        pub opted_out_everywhere: String,
        pub opted_in: String,
        pub never_out: String,
        pub still_out: String,
        pub anonymous: String,
        pub no_longer_allowed: String,
        pub forget_what: String,
        pub not_theirs: String,
        pub not_admin: String,
        pub not_kept: String,
        pub announced: String,
        pub called_off: String,
        pub nothing_pending: String,
        pub no_longer_admin: String,
        pub kept_nothing: String,
        pub forgotten_one: String,
        pub forgotten_many: String,
        pub more_one: String,
        pub more_many: String,
        pub wrong_key: String,
        pub wrong_model: String,
        pub refused_for_good: String,
        pub no_answer: String,
        pub topics_none: String,
        pub topics_head: String,
        pub topics_now: String,
        pub topics_near: String,
        pub topics_how: String,
        pub topics_unknown: String,
        pub topics_set: String,
        pub topics_same: String,
        pub topics_merged: String,
        /// Date with the placeholders `{day}` and `{month}`.
        pub date: String,
        /// Short names, January first.
        pub months: [String; 12],
        pub why: WhyTexts,
        pub digest: DigestTexts,
        pub unread: UnreadTexts,
        pub unread_file: UnreadFileTexts,
        pub menu: MenuTexts,
        pub follow_up: FollowUpTexts,
        pub memory: MemoryTexts,
        pub recap: RecapTexts,
        pub notes: NoteTexts,
        pub concepts: ConceptTexts,
        pub settings: SettingsTexts,
        pub access: AccessTexts,
    }
}

impl Texts {
    /// Formats a date like `5 Jan`. The month is counted from 0.
    pub fn day_of(&self, day: u32, month: u32) -> String {
        let name = self.months.get(month as usize).map(String::as_str).unwrap_or_default();
        filled(&self.date, &[("day", &day.to_string()), ("month", name)])
    }

    /// Formats a date like `5 Jan 2026`. The month is counted from 0.
    pub fn date_of(&self, day: u32, month: u32, year: i32) -> String {
        format!("{} {year}", self.day_of(day, month))
    }
}

/// Returns the texts for an ISO 639-3 `code`, or the English ones if the language has none.
pub fn texts(code: &str) -> &'static Texts {
    static NONE: LazyLock<Texts> = LazyLock::new(Texts::default);
    all().iter().find(|texts| texts.code == code).or_else(|| all().first()).unwrap_or(&NONE)
}

/// Returns, for each language, its two-letter code and the commands with their descriptions for Telegram's menu.
pub fn menus() -> impl Iterator<Item = (&'static str, Vec<(&'static str, &'static str)>)> {
    all().iter().map(|texts| {
        let line = |command: CommandName| Some((command.as_str(), texts.menu.line(command)?));
        (texts.short.as_str(), CommandName::ALL.into_iter().filter_map(line).collect())
    })
}

/// Returns the ISO 639-3 code and the own name of each language.
pub fn languages() -> impl Iterator<Item = (&'static str, &'static str)> {
    all().iter().map(|texts| (texts.code.as_str(), texts.name.as_str()))
}

/// Replaces placeholders such as `{days}` in `sentence` by the values in `blanks`.
pub fn filled(sentence: &str, blanks: &[(&str, &str)]) -> String {
    let mut said = sentence.to_owned();
    for (name, value) in blanks {
        said = said.replace(&format!("{{{name}}}"), value);
    }
    said
}

fn all() -> &'static [Texts] {
    // Skips files that do not parse; a test ensures that all do.
    static ALL: LazyLock<Vec<Texts>> = LazyLock::new(|| FILES.iter().filter_map(|file| read(file).ok()).collect());
    &ALL
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn blanks(sentence: &str) -> BTreeSet<&str> {
        sentence.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name).collect()
    }

    /// Returns every entry of a file with its path. A list counts as one entry.
    fn rows(table: &toml::Table, path: &str) -> Vec<(String, String)> {
        let row = |(name, value): (&String, &toml::Value)| {
            let path = format!("{path}{name}");
            match value {
                toml::Value::Table(inner) => rows(inner, &format!("{path}.")),
                toml::Value::String(said) => vec![(path, said.clone())],
                toml::Value::Array(words) => vec![(path, format!("{} of them", words.len()))],
                other => panic!("{path} is {other:?}"),
            }
        };
        table.iter().flat_map(row).collect()
    }

    #[test]
    fn every_language_has_every_sentence_with_the_same_blanks() {
        let tables: Vec<toml::Table> = FILES.iter().map(|file| toml::from_str(file).unwrap()).collect();
        let english = rows(&tables[0], "");
        let mut lacking = Vec::new();
        for table in &tables {
            let (code, own) = (table["code"].as_str().unwrap(), rows(table, ""));
            for (path, wanted) in &english {
                match own.iter().find(|(known, _)| known == path) {
                    None => lacking.push(format!("{code} lacks {path}")),
                    Some((_, said)) if said.is_empty() || said == "0 of them" => {
                        lacking.push(format!("{path} is empty in {code}"));
                    }
                    Some((_, said)) if blanks(said) != blanks(wanted) => {
                        lacking.push(format!("{path} has other blanks in {code}"));
                    }
                    Some(_) => {}
                }
            }
        }
        assert!(lacking.is_empty(), "{}", lacking.join("\n"));
        let wrong: Vec<String> = FILES.iter().filter_map(|file| read::<Texts>(file).err()).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_language_without_a_file_is_english() {
        assert_eq!(texts("a language that nobody speaks").code, "eng");
        assert_eq!([texts("deu"), texts("spa")].map(|it| it.day_of(5, 0)), ["5. Jan.", "5 ene"]);
        assert_eq!(filled(&texts("deu").forgotten_many, &[("n", "3"), ("more", "")]), "Gelöscht: 3 Nachrichten.");
    }
}
