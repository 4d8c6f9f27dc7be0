//! Phrase tables for follow-ups, one data file per language. To add a language, add a file and a line here.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::followup::words::{FoldedToken, fold, tokens};

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

/// Meaning of a row's phrases. `languages/en.toml` explains each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhraseRow {
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
    /// Words that introduce a suggestion in an answer, such as "how about". Not searched in questions.
    Offers,
    /// Words such as "in" and "at": a name after them is a place, a time or a person, and not a suggested item.
    Prepositions,
    Fillers,
}

impl PhraseRow {
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

/// Rows that map words to a canonical name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedRow {
    Kinds,
    Recipients,
    Occasions,
    ItemLanguages,
    Currencies,
}

impl NamedRow {
    pub const ALL: [Self; 5] = [Self::Kinds, Self::Recipients, Self::Occasions, Self::ItemLanguages, Self::Currencies];
}

/// A run of words from `from` up to but not including `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenSpan {
    pub from: usize,
    pub to: usize,
}

impl TokenSpan {
    pub fn overlaps(self, other: Self) -> bool {
        self.from < other.to && other.from < self.to
    }

    /// Returns `true` if a longer span of `others` overlaps this one.
    pub fn is_part_of_any(self, others: &[Self]) -> bool {
        others.iter().any(|other| other.overlaps(self) && other.to - other.from > self.to - self.from)
    }

    pub fn written(self, text: &str, tokens: &[FoldedToken]) -> String {
        let start = tokens.get(self.from).map_or(0, |token| token.start);
        let end = self.to.checked_sub(1).and_then(|last| tokens.get(last)).map_or(start, |token| token.end);
        text.get(start..end).unwrap_or_default().to_owned()
    }
}

#[derive(Debug)]
pub struct FollowUpTables {
    tables: Vec<FollowUpTable>,
}

#[derive(Debug)]
pub struct FollowUpTable {
    code: String,
    rows: BTreeMap<PhraseRow, PhraseIndex<()>>,
    names: BTreeMap<NamedRow, PhraseIndex<String>>,
    /// Words for first, second and so on, with their numbers.
    ordinals: PhraseIndex<usize>,
}

/// Positions of the phrases of each row in one text, as returned by [`FollowUpTable::find`].
#[derive(Debug)]
pub struct RowSpans(BTreeMap<PhraseRow, Vec<TokenSpan>>);

/// Phrases and their meanings, indexed by first letter for speed.
#[derive(Debug)]
struct PhraseIndex<T>(BTreeMap<char, Vec<(Phrase, T)>>);

/// The words of a phrase. The flag is `true` for a word that ended in `*`, which matches every word with that prefix.
#[derive(Debug, PartialEq, Eq)]
struct Phrase(Vec<(String, bool)>);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FollowUpFile {
    language: String,
    #[serde(default)]
    ordinals: Vec<Vec<String>>,
    phrases: BTreeMap<PhraseRow, Vec<String>>,
    #[serde(default)]
    names: BTreeMap<NamedRow, BTreeMap<String, Vec<String>>>,
}

impl FollowUpTables {
    /// Returns the tables that are compiled into the binary. A file that does not parse would be left out; a test
    /// ensures that all parse.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<FollowUpTables> = LazyLock::new(|| FollowUpTables {
            tables: FILES.iter().filter_map(|file| FollowUpTable::parse(file).ok()).collect(),
        });
        &SHIPPED
    }

    pub fn iter(&self) -> impl Iterator<Item = &FollowUpTable> {
        self.tables.iter()
    }

    pub fn get(&self, code: &str) -> Option<&FollowUpTable> {
        self.tables.iter().find(|table| table.code == code)
    }

    /// Returns the canonical name of `word`, which may be in any of the languages; `None` if no table knows it.
    pub fn name_of(&self, names: NamedRow, word: &str) -> Option<&str> {
        let found = tokens(word);
        let whole = TokenSpan { from: 0, to: found.len() };
        self.tables.iter().find_map(|table| {
            table.named(names, &found).into_iter().find(|(span, _)| *span == whole).map(|(_, name)| name)
        })
    }
}

impl FollowUpTable {
    fn parse(toml: &str) -> Result<Self, toml::de::Error> {
        let file: FollowUpFile = toml::from_str::<toml::Table>(toml)?.try_into()?;
        let names = |map: BTreeMap<String, Vec<String>>| {
            PhraseIndex::of(
                map.into_iter().flat_map(|(name, words)| words.into_iter().map(move |word| (word, name.clone()))),
            )
        };
        let unnamed = |phrases: Vec<String>| PhraseIndex::of(phrases.into_iter().map(|phrase| (phrase, ())));
        let ordinals = (1..).zip(file.ordinals);
        Ok(Self {
            code: file.language,
            rows: file.phrases.into_iter().map(|(row, phrases)| (row, unnamed(phrases))).collect(),
            names: file.names.into_iter().map(|(kind, map)| (kind, names(map))).collect(),
            ordinals: PhraseIndex::of(
                ordinals.flat_map(|(place, words)| words.into_iter().map(move |word| (word, place))),
            ),
        })
    }

    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns the positions of phrases of `row`. If several begin at the same word, the longest is taken.
    pub fn find(&self, row: PhraseRow, tokens: &[FoldedToken]) -> Vec<TokenSpan> {
        let found = self.rows.get(&row).map(|phrases| phrases.find(tokens));
        found.into_iter().flatten().map(|(span, ())| span).collect()
    }

    /// Returns the positions of phrases of every row.
    pub fn find_all(&self, tokens: &[FoldedToken]) -> RowSpans {
        RowSpans(self.rows.keys().map(|row| (*row, self.find(*row, tokens))).collect())
    }

    /// Returns `true` if `word` alone is a phrase of `row`.
    pub fn has(&self, row: PhraseRow, word: &str) -> bool {
        let token = FoldedToken { word: fold(word), start: 0, end: 0, ends_clause: false };
        !self.find(row, std::slice::from_ref(&token)).is_empty()
    }

    /// Returns the first word of each phrase of `row`, folded. For rows that contain suffixes and not phrases.
    pub fn suffixes(&self, row: PhraseRow) -> impl Iterator<Item = &str> {
        let phrases = self.rows.get(&row).into_iter().flat_map(PhraseIndex::iter);
        phrases.filter_map(|phrase| phrase.0.first()).map(|(word, _)| word.as_str())
    }

    /// Returns the positions of words of `names`, with their canonical names.
    pub fn named(&self, names: NamedRow, tokens: &[FoldedToken]) -> Vec<(TokenSpan, &str)> {
        let found = self.names.get(&names).map(|phrases| phrases.find(tokens));
        found.into_iter().flatten().map(|(span, name)| (span, name.as_str())).collect()
    }

    /// Returns the positions and values of ordinals in the text: 1 for "first".
    pub fn ordinals(&self, tokens: &[FoldedToken]) -> Vec<(TokenSpan, usize)> {
        self.ordinals.find(tokens).into_iter().map(|(span, place)| (span, *place)).collect()
    }

    /// Returns the names of rows that have no phrase in this language.
    pub fn lacks(&self) -> Vec<String> {
        let rows = PhraseRow::ALL.into_iter().filter(|row| self.rows.get(row).is_none_or(PhraseIndex::is_empty));
        let names = NamedRow::ALL.into_iter().filter(|names| self.names.get(names).is_none_or(PhraseIndex::is_empty));
        let ordinals = self.ordinals.is_empty().then(|| "ordinals".to_owned());
        rows.map(|row| format!("{row:?}")).chain(names.map(|names| format!("{names:?}"))).chain(ordinals).collect()
    }
}

impl RowSpans {
    pub fn of(&self, row: PhraseRow) -> &[TokenSpan] {
        self.0.get(&row).map_or(&[], Vec::as_slice)
    }
}

impl<T> PhraseIndex<T> {
    fn of(phrases: impl Iterator<Item = (String, T)>) -> Self {
        let mut by_letter: BTreeMap<char, Vec<(Phrase, T)>> = BTreeMap::new();
        for (text, meaning) in phrases {
            let phrase = Phrase::of(&text);
            by_letter.entry(phrase.letter()).or_default().push((phrase, meaning));
        }
        Self(by_letter)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn iter(&self) -> impl Iterator<Item = &Phrase> {
        self.0.values().flatten().map(|(phrase, _)| phrase)
    }

    /// Returns the positions of phrases, the longest at each place, without overlaps.
    fn find(&self, tokens: &[FoldedToken]) -> Vec<(TokenSpan, &T)> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty()) {
            match self.longest(rest) {
                Some((length, meaning)) => {
                    found.push((TokenSpan { from: at, to: at + length }, meaning));
                    at += length;
                }
                None => at += 1,
            }
        }
        found
    }

    /// Returns the longest phrase at the start of `rest`, with its number of words.
    fn longest(&self, rest: &[FoldedToken]) -> Option<(usize, &T)> {
        let letter = rest.first()?.word.chars().next()?;
        let found =
            self.0.get(&letter)?.iter().filter_map(|(phrase, meaning)| Some((phrase.length_at(rest)?, meaning)));
        found.filter(|(length, _)| *length > 0).max_by_key(|(length, _)| *length)
    }
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

    fn letter(&self) -> char {
        self.0.first().and_then(|(word, _)| word.chars().next()).unwrap_or_default()
    }

    /// Returns the number of words of the phrase if `rest` begins with it; `None` if not.
    fn length_at(&self, rest: &[FoldedToken]) -> Option<usize> {
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
            let table = FollowUpTable::parse(file).expect("a valid file");
            let rows = table.rows.values().flat_map(PhraseIndex::iter);
            let names = table.names.values().flat_map(PhraseIndex::iter);
            for phrase in rows.chain(names).chain(table.ordinals.iter()) {
                let is_sound = !phrase.0.is_empty() && phrase.0.iter().all(|(word, _)| !word.is_empty());
                assert!(is_sound, "{}: {phrase:?}", table.code);
            }
        }
        assert_eq!(FollowUpTables::shipped().iter().count(), FILES.len());
    }

    #[test]
    fn a_table_says_which_rows_it_lacks() {
        let lacking = |code: &str| FollowUpTables::shipped().get(code).expect("a table").lacks();
        assert!(lacking("en").into_iter().eq(["BySuffix"]), "only Estonian says \"by\" with a suffix");
        assert!(lacking("et").is_empty(), "{:?}", lacking("et"));
        let told: Vec<String> = FollowUpTables::shipped()
            .iter()
            .skip(2)
            .map(|it| format!("{}: {}", it.code(), it.lacks().join(" ")))
            .collect();
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
        let table = FollowUpTables::shipped().get("et").expect("a table");
        let found = tokens("näita veel populaarseid raamatuid");
        assert_eq!(table.find(PhraseRow::Popular, &found), [TokenSpan { from: 2, to: 3 }]);
        assert_eq!(table.named(NamedRow::Kinds, &found), [(TokenSpan { from: 3, to: 4 }, "book")]);
        assert_eq!(FollowUpTables::shipped().name_of(NamedRow::Kinds, "Kinkekaardid"), Some("gift_card"));
        assert_eq!(FollowUpTables::shipped().name_of(NamedRow::Kinds, "dream"), None);
    }
}
