//! Phrase tables, one data file a language. A language is added by adding a file and a line here.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::trigger::words::words;

const FILES: [&str; 9] = [
    include_str!("languages/en.toml"),
    include_str!("languages/de.toml"),
    include_str!("languages/es.toml"),
    include_str!("languages/fr.toml"),
    include_str!("languages/ru.toml"),
    include_str!("languages/et.toml"),
    include_str!("languages/pt.toml"),
    include_str!("languages/uk.toml"),
    include_str!("languages/tr.toml"),
];

/// What members say when they ask nothing in particular, or just say thanks.
#[derive(Debug, Default)]
pub struct Languages {
    pub(super) tables: Vec<Language>,
}

/// One language, its phrases as [`words`] joined by spaces.
#[derive(Debug)]
pub(super) struct Language {
    code: String,
    /// Single words that may be taken out anywhere: fillers, polite words, pointers.
    fillers: HashSet<String>,
    /// What only points or asks in general, politeness included; without fillers.
    generic: HashSet<String>,
    thanks: HashSet<String>,
    /// Fillers and politeness that are no thanks.
    around: HashSet<String>,
}

/// The file's form. What the lists mean is explained in `languages/en.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    language: String,
    fillers: Vec<String>,
    politeness: Vec<String>,
    pointers: Vec<String>,
    phrases: Vec<String>,
    thanks: Vec<String>,
}

impl Languages {
    /// The tables inside the binary. A file that does not parse is left out, which a test rules out.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Languages> = LazyLock::new(|| Languages {
            tables: FILES.iter().filter_map(|file| Language::parse(file).ok()).collect(),
        });
        &SHIPPED
    }

    /// The languages' two-letter codes.
    pub fn codes(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(|language| language.code.as_str())
    }
}

impl Language {
    fn parse(toml: &str) -> Result<Self, toml::de::Error> {
        let file: File = toml::from_str(toml)?;
        // A word that points may stand inside a phrase too: "mida sa *sellest* arvad".
        let fillers: HashSet<String> =
            phrases([&file.fillers, &file.politeness, &file.pointers]).filter(|phrase| !phrase.contains(' ')).collect();
        let thanks: HashSet<String> = phrases([&file.thanks]).collect();
        let generic = phrases([&file.politeness, &file.pointers, &file.phrases])
            .map(|phrase| phrase.split(' ').filter(|word| !fillers.contains(*word)).collect::<Vec<_>>().join(" "))
            .filter(|phrase| !phrase.is_empty())
            .collect();
        let around = phrases([&file.fillers, &file.politeness]).filter(|phrase| !thanks.contains(phrase)).collect();
        Ok(Self { code: file.language, fillers, generic, thanks, around })
    }

    /// Whether nothing is left of `asked` but fillers and what points or asks in general.
    pub(super) fn only_points(&self, asked: &[String]) -> bool {
        let rest: Vec<&str> = asked.iter().map(String::as_str).filter(|word| !self.fillers.contains(*word)).collect();
        is_made_of(&rest, |phrase| self.generic.contains(phrase))
    }

    /// Whether `said` is thanks, with or without politeness around it.
    pub(super) fn only_thanks(&self, said: &[String]) -> bool {
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let around = |phrase: &str| self.around.contains(phrase);
        is_made_of(&said, |phrase| self.thanks.contains(phrase) || around(phrase)) && !is_made_of(&said, around)
    }
}

/// Whether `words` can be cut into runs that are all `known`. No words are made of nothing.
fn is_made_of(words: &[&str], known: impl Fn(&str) -> bool) -> bool {
    // The longest phrase of the tables has seven words.
    const LONGEST: usize = 8;
    let mut reached = vec![false; words.len() + 1];
    reached[0] = true;
    for end in 1..=words.len() {
        reached[end] =
            (end.saturating_sub(LONGEST)..end).any(|start| reached[start] && known(&words[start..end].join(" ")));
    }
    reached[words.len()]
}

fn phrases<'a, const N: usize>(lists: [&'a Vec<String>; N]) -> impl Iterator<Item = String> + use<'a, N> {
    lists.into_iter().flatten().map(|phrase| words(phrase).join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_parses_has_phrases_enough_and_says_nothing_empty() {
        for text in FILES {
            let file: File = toml::from_str(text).expect("a valid file");
            assert!(file.phrases.len() >= 50 && file.thanks.len() >= 15, "{}", file.language);
            for list in [file.fillers, file.politeness, file.pointers, file.phrases, file.thanks] {
                for phrase in list {
                    let length = words(&phrase).len();
                    assert!((1..=8).contains(&length), "{}: {phrase:?}", file.language);
                }
            }
        }
        assert_eq!(
            Languages::shipped().codes().collect::<Vec<_>>(),
            ["en", "de", "es", "fr", "ru", "et", "pt", "uk", "tr"]
        );
    }
}
