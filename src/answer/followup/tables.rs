//! Phrase tables for follow-ups, one data file a language. A language is added by adding a file and a line here.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::answer::followup::words::{Token, fold, tokens};

const FILES: [&str; 8] = [
    include_str!("languages/en.toml"),
    include_str!("languages/et.toml"),
    include_str!("languages/de.toml"),
    include_str!("languages/es.toml"),
    include_str!("languages/fr.toml"),
    include_str!("languages/pt.toml"),
    include_str!("languages/ru.toml"),
    include_str!("languages/uk.toml"),
];

/// What the phrases of a row mean. `languages/en.toml` explains each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Row {
    More,
    Cheaper,
    Suggest,
    Show,
    Summarize,
    Recap,
    Decide,
    Compare,
    Explain,
    Smalltalk,
    StartOver,
    NotThat,
    Popular,
    Question,
    WhatAbout,
    Search,
    Without,
    BudgetMax,
    BudgetMaxAfter,
    BudgetMin,
    BudgetMinAfter,
    BudgetAbout,
    Between,
    NotMoney,
    PersonPronoun,
    ItemPronoun,
    Last,
    By,
    BySuffix,
    NotName,
    Something,
    /// Words by which an answer suggests: read in answers, not in asks.
    Offers,
    /// Words before a place, a time or a person, so that what follows is no item of an answer.
    Prepositions,
    Fillers,
}

impl Row {
    pub const ALL: [Self; 34] = [
        Self::More,
        Self::Cheaper,
        Self::Suggest,
        Self::Show,
        Self::Summarize,
        Self::Recap,
        Self::Decide,
        Self::Compare,
        Self::Explain,
        Self::Smalltalk,
        Self::StartOver,
        Self::NotThat,
        Self::Popular,
        Self::Question,
        Self::WhatAbout,
        Self::Search,
        Self::Without,
        Self::BudgetMax,
        Self::BudgetMaxAfter,
        Self::BudgetMin,
        Self::BudgetMinAfter,
        Self::BudgetAbout,
        Self::Between,
        Self::NotMoney,
        Self::PersonPronoun,
        Self::ItemPronoun,
        Self::Last,
        Self::By,
        Self::BySuffix,
        Self::NotName,
        Self::Something,
        Self::Offers,
        Self::Prepositions,
        Self::Fillers,
    ];
}

/// Rows that map words to one name for the thing they mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Names {
    Kinds,
    Recipients,
    Occasions,
    ItemLanguages,
    Currencies,
}

impl Names {
    pub const ALL: [Self; 5] = [Self::Kinds, Self::Recipients, Self::Occasions, Self::ItemLanguages, Self::Currencies];
}

/// A run of words, `from` included, `to` not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub from: usize,
    pub to: usize,
}

impl Span {
    pub fn overlaps(self, other: Self) -> bool {
        self.from < other.to && other.from < self.to
    }

    /// The text of the run, as it was written.
    pub fn written(self, text: &str, tokens: &[Token]) -> String {
        let start = tokens.get(self.from).map_or(0, |token| token.start);
        let end = self.to.checked_sub(1).and_then(|last| tokens.get(last)).map_or(start, |token| token.end);
        text.get(start..end).unwrap_or_default().to_owned()
    }
}

/// Every shipped table.
#[derive(Debug)]
pub struct Tables {
    tables: Vec<Table>,
}

/// The phrases of one language.
#[derive(Debug)]
pub struct Table {
    code: String,
    rows: BTreeMap<Row, Vec<Phrase>>,
    names: BTreeMap<Names, Vec<(Phrase, String)>>,
    /// The words for first, second, and so on.
    ordinals: Vec<Vec<Phrase>>,
}

/// The words of a phrase. A word that ends in `*` stands for all words that begin so.
#[derive(Debug, PartialEq, Eq)]
struct Phrase(Vec<(String, bool)>);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    language: String,
    #[serde(default)]
    ordinals: Vec<Vec<String>>,
    phrases: BTreeMap<Row, Vec<String>>,
    #[serde(default)]
    names: BTreeMap<Names, BTreeMap<String, Vec<String>>>,
}

impl Tables {
    /// The tables inside the binary. A file that does not parse is left out, which a test rules out.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Tables> =
            LazyLock::new(|| Tables { tables: FILES.iter().filter_map(|file| Table::parse(file).ok()).collect() });
        &SHIPPED
    }

    pub fn iter(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter()
    }

    pub fn get(&self, code: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.code == code)
    }

    /// The thing that `word` names in any language.
    pub fn name_of(&self, names: Names, word: &str) -> Option<&str> {
        let found = tokens(word);
        let whole = Span { from: 0, to: found.len() };
        self.tables.iter().find_map(|table| {
            table.named(names, &found).into_iter().find(|(span, _)| *span == whole).map(|(_, name)| name)
        })
    }
}

impl Table {
    fn parse(toml: &str) -> Result<Self, toml::de::Error> {
        let file: File = toml::from_str(toml)?;
        let compile = |phrases: Vec<String>| phrases.iter().map(|phrase| Phrase::of(phrase)).collect();
        let names = |map: BTreeMap<String, Vec<String>>| {
            let pairs =
                map.into_iter().flat_map(|(name, words)| words.into_iter().map(move |word| (word, name.clone())));
            pairs.map(|(word, name)| (Phrase::of(&word), name)).collect()
        };
        Ok(Self {
            code: file.language,
            rows: file.phrases.into_iter().map(|(row, phrases)| (row, compile(phrases))).collect(),
            names: file.names.into_iter().map(|(kind, map)| (kind, names(map))).collect(),
            ordinals: file.ordinals.into_iter().map(compile).collect(),
        })
    }

    pub fn code(&self) -> &str {
        &self.code
    }

    /// Where phrases of `row` stand, the longest at each place.
    pub fn find(&self, row: Row, tokens: &[Token]) -> Vec<Span> {
        let phrases = self.rows.get(&row).map(Vec::as_slice).unwrap_or_default();
        places(tokens, |rest| phrases.iter().filter_map(|phrase| phrase.length_at(rest)).max())
    }

    /// Whether `word` alone is a phrase of `row`.
    pub fn has(&self, row: Row, word: &str) -> bool {
        let token = Token { word: fold(word), start: 0, end: 0, ends_clause: false };
        !self.find(row, std::slice::from_ref(&token)).is_empty()
    }

    /// The phrases of `row`, folded: for rows that hold suffixes.
    pub fn suffixes(&self, row: Row) -> impl Iterator<Item = &str> {
        let phrases = self.rows.get(&row).map(Vec::as_slice).unwrap_or_default();
        phrases.iter().filter_map(|phrase| phrase.0.first()).map(|(word, _)| word.as_str())
    }

    /// Where words of `names` stand, and what they name.
    pub fn named(&self, names: Names, tokens: &[Token]) -> Vec<(Span, &str)> {
        let known = self.names.get(&names).map(Vec::as_slice).unwrap_or_default();
        let longest = |rest: &[Token]| {
            known.iter().filter_map(|(phrase, name)| Some((phrase.length_at(rest)?, name))).max_by_key(|(len, _)| *len)
        };
        let spans = places(tokens, |rest| longest(rest).map(|(length, _)| length));
        spans.into_iter().filter_map(|span| Some((span, longest(tokens.get(span.from..)?)?.1.as_str()))).collect()
    }

    /// Where places in a list are named: 1 for the first.
    pub fn ordinals(&self, tokens: &[Token]) -> Vec<(Span, usize)> {
        let mut found: Vec<(Span, usize)> = (1..)
            .zip(&self.ordinals)
            .flat_map(|(place, phrases)| {
                let spans = places(tokens, |rest| phrases.iter().filter_map(|phrase| phrase.length_at(rest)).max());
                spans.into_iter().map(move |span| (span, place))
            })
            .collect();
        found.sort_unstable();
        found
    }

    /// Rows that have no phrase here.
    pub fn lacks(&self) -> Vec<String> {
        let rows = Row::ALL.into_iter().filter(|row| self.rows.get(row).is_none_or(Vec::is_empty));
        let names = Names::ALL.into_iter().filter(|names| self.names.get(names).is_none_or(Vec::is_empty));
        let ordinals = self.ordinals.is_empty().then(|| "ordinals".to_owned());
        rows.map(|row| format!("{row:?}")).chain(names.map(|names| format!("{names:?}"))).chain(ordinals).collect()
    }
}

/// Goes through the words and takes what `length_at` finds, without overlaps.
fn places(tokens: &[Token], length_at: impl Fn(&[Token]) -> Option<usize>) -> Vec<Span> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty()) {
        match length_at(rest) {
            Some(length) if length > 0 => {
                found.push(Span { from: at, to: at + length });
                at += length;
            }
            _ => at += 1,
        }
    }
    found
}

impl Phrase {
    fn of(text: &str) -> Self {
        let mut words = Vec::new();
        for raw in text.split_whitespace() {
            let folded = fold(raw.trim_end_matches('*'));
            words.extend(folded.split(' ').map(|word| (word.to_owned(), false)));
            if let Some(last) = words.last_mut() {
                last.1 = raw.ends_with('*');
            }
        }
        Self(words)
    }

    /// How many words it takes at the start of `rest`; none where it does not stand there.
    fn length_at(&self, rest: &[Token]) -> Option<usize> {
        let is_here = rest.len() >= self.0.len()
            && self.0.iter().zip(rest).all(|((word, is_prefix), token)| {
                if *is_prefix { token.word.starts_with(word.as_str()) } else { token.word == *word }
            });
        is_here.then_some(self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn every_file_parses_and_has_no_empty_phrase() {
        for file in FILES {
            let table = Table::parse(file).expect("a valid file");
            let rows = table.rows.values().flatten();
            let names = table.names.values().flatten().map(|(phrase, _)| phrase);
            for phrase in rows.chain(names).chain(table.ordinals.iter().flatten()) {
                let is_sound = !phrase.0.is_empty() && phrase.0.iter().all(|(word, _)| !word.is_empty());
                assert!(is_sound, "{}: {phrase:?}", table.code);
            }
        }
        assert_eq!(Tables::shipped().iter().count(), FILES.len());
    }

    #[test]
    fn a_table_says_which_rows_it_lacks() {
        let lacking = |code: &str| Tables::shipped().get(code).expect("a table").lacks();
        assert!(lacking("en").into_iter().eq(["BySuffix"]), "only Estonian says \"by\" with a suffix");
        assert!(lacking("et").is_empty(), "{:?}", lacking("et"));
        let told: Vec<String> =
            Tables::shipped().iter().skip(2).map(|it| format!("{}: {}", it.code(), it.lacks().join(" "))).collect();
        expect![[r#"
            de: BudgetMinAfter BySuffix
            es: BudgetMinAfter BySuffix
            fr: BudgetMinAfter BySuffix
            pt: BudgetMinAfter BySuffix ItemLanguages
            ru: BudgetMinAfter BySuffix
            uk: BudgetMaxAfter BudgetMinAfter BySuffix NotName"#]]
        .assert_eq(&told.join("\n"));
    }

    #[test]
    fn the_longest_phrase_is_taken_and_stars_stand_for_endings() {
        let table = Tables::shipped().get("et").expect("a table");
        let found = tokens("näita veel populaarseid raamatuid");
        assert_eq!(table.find(Row::Popular, &found), [Span { from: 2, to: 3 }]);
        assert_eq!(table.named(Names::Kinds, &found), [(Span { from: 3, to: 4 }, "book")]);
        assert_eq!(Tables::shipped().name_of(Names::Kinds, "Kinkekaardid"), Some("gift_card"));
        assert_eq!(Tables::shipped().name_of(Names::Kinds, "dream"), None);
    }
}
