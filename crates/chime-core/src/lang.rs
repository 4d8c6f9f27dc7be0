//! Languages of the bot: one file in `lang/` each, with a table for each part of the program that needs words.
//!
//! Start with [`tables`], which reads one table of every language. `lang/en.toml` explains the tables.

use std::cmp::Reverse;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A new language needs a file and a line here. The first one stands in for languages without a file.
const FILES: &[&str] = &[
    include_str!("../../../lang/en.toml"),
    include_str!("../../../lang/de.toml"),
    include_str!("../../../lang/es.toml"),
    include_str!("../../../lang/fr.toml"),
    include_str!("../../../lang/ru.toml"),
    include_str!("../../../lang/et.toml"),
    include_str!("../../../lang/pt.toml"),
    include_str!("../../../lang/uk.toml"),
    include_str!("../../../lang/tr.toml"),
    include_str!("../../../lang/it.toml"),
    include_str!("../../../lang/nl.toml"),
    include_str!("../../../lang/pl.toml"),
];

#[derive(Debug, Deserialize)]
pub struct LanguageFile {
    /// ISO 639-3 code, as the database stores it.
    pub code: String,
    /// ISO 639-1 code, as Telegram uses it.
    pub short: String,
    /// Name in the language itself.
    pub name: String,
    /// Letters and marks, in lower case, that no other of these languages has.
    pub letters: String,
    /// Beginnings of words for "translate", and of words that follow the name of a language.
    pub translate: Vec<String>,
    /// Beginnings of words for a link or its page.
    pub links: Vec<String>,
    /// Beginnings of words for a document.
    pub documents: Vec<String>,
    /// Beginnings of words for what a document may be, such as a list or a table.
    pub papers: Vec<String>,
    /// Beginnings of words for a spreadsheet.
    pub sheets: Vec<String>,
    /// Beginnings of words for a photo.
    pub photos: Vec<String>,
    /// Beginnings of words by which an answer says that something is open, missing or asked.
    pub open: Vec<String>,
    /// Words, in lower case, by which a question asks to search the web.
    pub web: Vec<String>,
    #[serde(flatten)]
    pub(crate) tables: toml::Table,
}

/// Returns all languages, English first.
#[expect(clippy::panic, reason = "the files are compiled in, and every test that reads a language parses them all")]
pub fn languages() -> &'static [LanguageFile] {
    static LANGUAGES: LazyLock<Vec<LanguageFile>> = LazyLock::new(|| {
        let parse = |file: &&str| toml::from_str(file).unwrap_or_else(|error| panic!("a file in lang/: {error}"));
        FILES.iter().map(parse).collect()
    });
    &LANGUAGES
}

/// Returns `true` if a lower-case word begins like one of the words that `list` returns for any language.
pub fn begins_like(word: &str, list: impl Fn(&LanguageFile) -> &[String]) -> bool {
    languages().iter().any(|language| list(language).iter().any(|beginning| word.starts_with(beginning)))
}

/// Returns the words to search for, in lower case, if a question asks to search the web: those after the request, or
/// else those before it.
pub fn web_query(ask: &str) -> Option<String> {
    let ask = ask.to_lowercase();
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let requests = languages().iter().flat_map(|language| &language.web).filter_map(|request| {
        let (at, _) = ask.match_indices(request.as_str()).find(|(at, found)| {
            !is_word(ask[..*at].chars().next_back()) && !is_word(ask[at + found.len()..].chars().next())
        })?;
        Some((at, Reverse(request.len())))
    });
    let (at, Reverse(length)) = requests.min()?;
    let words = |part: &str| part.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let (before, after) = (words(&ask[..at]), words(&ask[at + length..]));
    Some(if after.is_empty() { before } else { after })
}

/// Reads the table `name` of each language that has it, in the order of [`languages`].
#[expect(clippy::panic, reason = "the files are compiled in, and the tests of each table read it in every language")]
pub fn tables<T: DeserializeOwned>(name: &str) -> Vec<(&'static LanguageFile, T)> {
    let read = |language: &'static LanguageFile| {
        let table = language.tables.get(name)?.clone();
        let table =
            table.try_into().unwrap_or_else(|error| panic!("[{name}] in lang/{}.toml: {error}", language.short));
        Some((language, table))
    };
    languages().iter().filter_map(read).collect()
}

/// Reads the table `name` of each language that has no file but is in CLDR, by ISO 639-3 code. CLDR has the names of
/// months and days; all other texts and lists are empty.
#[expect(clippy::panic, reason = "the file is compiled in, and a test reads it")]
pub fn cldr_tables<T: DeserializeOwned>(name: &str) -> Vec<(&'static str, T)> {
    static CLDR: LazyLock<toml::Table> = LazyLock::new(|| {
        toml::from_str(include_str!("../../../lang/cldr/dates.toml"))
            .unwrap_or_else(|error| panic!("lang/cldr/dates.toml: {error}"))
    });
    let keys = languages()[0].tables.get(name).and_then(toml::Value::as_table);
    let empty: toml::Table = keys.into_iter().flatten().map(|(key, value)| (key.clone(), empty_like(value))).collect();
    let read = |(code, own): (&'static String, &toml::Value)| {
        let mut table = empty.clone();
        table.extend(own.as_table().cloned().unwrap_or_default());
        let table = table.try_into().unwrap_or_else(|error| panic!("[{code}] in lang/cldr/dates.toml: {error}"));
        (code.as_str(), table)
    };
    CLDR.iter().map(read).collect()
}

fn empty_like(value: &toml::Value) -> toml::Value {
    match value {
        toml::Value::Array(_) => toml::Value::Array(Vec::new()),
        toml::Value::Table(_) => toml::Value::Table(toml::Table::new()),
        _ => toml::Value::String(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use toml::{Table, Value};

    use super::*;

    /// Tables that a language may leave out.
    const OPTIONAL: [&str; 2] = ["cues", "follow_up"];
    /// Tables with words of the language as keys.
    const WORD_TABLES: [&str; 2] = ["recall.counts", "recall.clock_numbers"];
    /// Returns every entry of a table with its path. A list counts as one entry, and so do the names of `follow_up`,
    /// which differ between languages.
    fn entries<'t>(table: &'t Table, path: &str) -> BTreeMap<String, &'t Value> {
        let entry = |(key, value): (&String, &'t Value)| {
            let path = format!("{path}{key}");
            match value {
                Value::Table(inner)
                    if !path.starts_with("follow_up.names.") && !WORD_TABLES.contains(&path.as_str()) =>
                {
                    entries(inner, &format!("{path}."))
                }
                _ => BTreeMap::from([(path, value)]),
            }
        };
        table.iter().flat_map(entry).collect()
    }

    fn blanks(value: &Value) -> BTreeSet<&str> {
        let text = value.as_str().unwrap_or_default();
        text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name).collect()
    }

    fn is_empty(value: &Value) -> bool {
        match value {
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Table(table) => table.is_empty(),
            _ => false,
        }
    }

    #[test]
    fn a_question_that_plainly_asks_for_the_web_has_a_query() {
        for (ask, query) in [
            ("search the web for the ferry times to Kihnu", "the ferry times to kihnu"),
            ("Could you look up online when the museum opens?", "when the museum opens"),
            ("google this", ""),
            ("such im Internet nach den Fährzeiten!", "den fährzeiten"),
            ("kannst du mal im Netz nach Fähren schauen", "fähren schauen"),
            ("busca en internet el horario del ferry", "el horario del ferry"),
            ("otsi internetist Kihnu praami ajad", "kihnu praami ajad"),
            ("cherche sur internet les horaires du ferry", "les horaires du ferry"),
            ("cerca su internet gli orari del traghetto", "gli orari del traghetto"),
            ("zoek op internet naar de tijden van de veerboot", "de tijden van de veerboot"),
            ("poszukaj w internecie rozkładu promów", "rozkładu promów"),
            ("pesquisa na internet os horários do ferry", "os horários do ferry"),
            ("поищи в интернете расписание парома", "расписание парома"),
            ("пошукай в інтернеті розклад порома", "розклад порома"),
            ("Kihnu feribot saatlerini internette ara", "kihnu feribot saatlerini"),
        ] {
            assert_eq!(web_query(ask).as_deref(), Some(query), "{ask}");
        }
        for ask in ["when does the ferry leave?", "what is google worth?", "did the web site change?", "research it"] {
            assert_eq!(web_query(ask), None, "{ask}");
        }
    }

    #[test]
    fn every_language_has_every_key_and_every_blank() {
        let files: Vec<Table> = FILES.iter().map(|file| toml::from_str(file).expect("a valid file")).collect();
        let english = entries(&files[0], "");
        let mut wrong = Vec::new();
        for file in &files {
            let (code, own) = (file["short"].as_str().expect("a code"), entries(file, ""));
            wrong.extend(own.keys().filter(|path| !english.contains_key(*path)).map(|path| format!("{code}: {path}?")));
            for (path, wanted) in &english {
                let table = path.split('.').next().unwrap_or_default();
                if OPTIONAL.contains(&table) && !file.contains_key(table) {
                    continue;
                }
                match own.get(path) {
                    None => wrong.push(format!("{code} lacks {path}")),
                    Some(value) if table == "texts" && is_empty(value) => {
                        wrong.push(format!("{code}: {path} is empty"))
                    }
                    Some(value) if blanks(value) != blanks(wanted) => {
                        wrong.push(format!("{code}: {path} has other blanks"));
                    }
                    Some(_) => {}
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let codes: BTreeSet<&str> = languages().iter().flat_map(|it| [it.code.as_str(), it.short.as_str()]).collect();
        assert_eq!(codes.len(), 2 * languages().len());
    }
}
