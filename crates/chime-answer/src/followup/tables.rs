//! Phrase tables for follow-ups, read from the table `follow_up` of each language that has one.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::followup::words::{FoldedToken, fold, tokens};
use chime_core::lang::{LanguageFile, tables};
use chime_core::{PhraseIndex, PhraseWord};

/// Meaning of a row's phrases. `lang/en.toml` explains each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhraseRow {
    More,
    Cheaper,
    TooExpensive,
    Suggest,
    Show,
    /// Asks about the conversation: a summary, a decision, an explanation.
    Talk,
    Compare,
    StartOver,
    NotThat,
    Question,
    WhatAbout,
    Search,
    Without,
    BudgetMax,
    BudgetMin,
    NotMoney,
    /// Words for children: a number after one of them is an age.
    Children,
    PersonPronoun,
    ItemPronoun,
    Last,
    /// Refers to a list before the newest: "the first one of the previous list".
    Earlier,
    /// Refers to all items shown: "of these", "the cheapest".
    Listed,
    Articles,
    Something,
    /// Words that begin with a capital letter and name no item. This row and the next two are searched in answers only.
    NotName,
    /// Words that introduce a suggestion, such as "how about".
    Offers,
    /// Words such as "in" and "at": a name after them is a place, a time or a person, and not a suggested item.
    Prepositions,
    Fillers,
}

impl PhraseRow {
    /// Returns `true` if a phrase of the row says what a question asks for. Other words are unknown to the classifier
    /// unless they are fillers or numbers, and a question with several of them is about something else.
    pub fn has_meaning(self) -> bool {
        use PhraseRow::{
            Articles, BudgetMax, BudgetMin, Children, Earlier, Fillers, Listed, NotMoney, NotName, Without,
        };
        !matches!(
            self,
            Articles | BudgetMax | BudgetMin | Children | Earlier | Fillers | Listed | NotMoney | NotName | Without
        )
    }
}

/// Rows that map words to a canonical name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedRow {
    Kinds,
    Currencies,
}

/// A run of words from `from` up to but not including `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenSpan {
    pub from: usize,
    pub to: usize,
}

impl TokenSpan {
    pub fn contains(self, at: usize) -> bool {
        self.from <= at && at < self.to
    }

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
    pub language: &'static LanguageFile,
    rows: BTreeMap<PhraseRow, PhraseIndex<()>>,
    names: BTreeMap<NamedRow, PhraseIndex<String>>,
    /// Words for first, second and so on, with their numbers.
    ordinals: PhraseIndex<usize>,
}

/// Positions of the phrases of each row in one text, as returned by [`FollowUpTable::find`].
#[derive(Debug)]
pub struct RowSpans(BTreeMap<PhraseRow, Vec<TokenSpan>>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FollowUpLists {
    ordinals: Vec<Vec<String>>,
    phrases: BTreeMap<PhraseRow, Vec<String>>,
    names: BTreeMap<NamedRow, BTreeMap<String, Vec<String>>>,
}

impl FollowUpTables {
    /// Returns the tables that are compiled into the binary.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<FollowUpTables> = LazyLock::new(|| {
            let tables = tables("follow_up").into_iter();
            FollowUpTables { tables: tables.map(|(language, lists)| FollowUpTable::of(language, lists)).collect() }
        });
        &SHIPPED
    }

    pub fn iter(&self) -> impl Iterator<Item = &FollowUpTable> {
        self.tables.iter()
    }

    pub fn get(&self, code: &str) -> Option<&FollowUpTable> {
        self.tables.iter().find(|table| table.short_code() == code)
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
    fn of(language: &'static LanguageFile, lists: FollowUpLists) -> Self {
        let names = |map: BTreeMap<String, Vec<String>>| {
            map.into_iter()
                .flat_map(|(name, list)| list.into_iter().map(move |it| (phrase(&it), name.clone())))
                .collect()
        };
        let ordinals = (1..).zip(&lists.ordinals);
        Self {
            language,
            ordinals: ordinals.flat_map(|(nth, list)| list.iter().map(move |it| (phrase(it), nth))).collect(),
            rows: lists
                .phrases
                .into_iter()
                .map(|(row, list)| (row, list.iter().map(|it| (phrase(it), ())).collect()))
                .collect(),
            names: lists.names.into_iter().map(|(kind, map)| (kind, names(map))).collect(),
        }
    }

    /// Returns the ISO 639-1 code of the language.
    pub fn short_code(&self) -> &str {
        &self.language.short
    }

    /// Returns the positions of phrases of `row`. If several begin at the same word, the longest is taken.
    pub fn find(&self, row: PhraseRow, tokens: &[FoldedToken]) -> Vec<TokenSpan> {
        let found = self.rows.get(&row).map(|phrases| positions(phrases, tokens));
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

    pub fn has_articles(&self) -> bool {
        self.rows.get(&PhraseRow::Articles).is_some_and(|row| row.phrases().next().is_some())
    }

    /// Returns the positions of words of `names`, with their canonical names.
    pub fn named(&self, names: NamedRow, tokens: &[FoldedToken]) -> Vec<(TokenSpan, &str)> {
        let found = self.names.get(&names).map(|phrases| positions(phrases, tokens));
        found.into_iter().flatten().map(|(span, name)| (span, name.as_str())).collect()
    }

    /// Returns the positions and values of ordinals in the text: 1 for "first".
    pub fn ordinals(&self, tokens: &[FoldedToken]) -> Vec<(TokenSpan, usize)> {
        positions(&self.ordinals, tokens).into_iter().map(|(span, place)| (span, *place)).collect()
    }
}

impl RowSpans {
    pub fn of(&self, row: PhraseRow) -> &[TokenSpan] {
        self.0.get(&row).map_or(&[], Vec::as_slice)
    }

    pub fn iter(&self) -> impl Iterator<Item = (PhraseRow, &[TokenSpan])> {
        self.0.iter().map(|(row, spans)| (*row, spans.as_slice()))
    }
}

/// Returns the positions of phrases, the longest at each place, without overlaps.
fn positions<'p, T>(phrases: &'p PhraseIndex<T>, tokens: &[FoldedToken]) -> Vec<(TokenSpan, &'p T)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty()) {
        match phrases.longest(rest) {
            Some((length, meaning)) => {
                found.push((TokenSpan { from: at, to: at + length }, meaning));
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

fn phrase(text: &str) -> Vec<PhraseWord> {
    let mut words: Vec<PhraseWord> = Vec::new();
    for raw in text.split_whitespace() {
        let folded = fold(raw.trim_end_matches('*'));
        words.extend(folded.split(' ').map(|word| PhraseWord { text: word.to_owned(), is_open: false }));
        if let Some(last) = words.last_mut() {
            last.is_open = raw.ends_with('*');
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_phrase_is_empty() {
        for table in FollowUpTables::shipped().iter() {
            let rows = table.rows.values().flat_map(PhraseIndex::phrases);
            let names = table.names.values().flat_map(PhraseIndex::phrases);
            for phrase in rows.chain(names).chain(table.ordinals.phrases()) {
                assert!(phrase.iter().all(|word| !word.text.is_empty()), "{}: {phrase:?}", table.short_code());
            }
        }
    }

    #[test]
    fn the_longest_phrase_is_taken_and_stars_stand_for_endings() {
        let table = FollowUpTables::shipped().get("et").expect("a table");
        let found = tokens("näita veel populaarseid raamatuid");
        assert_eq!(table.find(PhraseRow::More, &found), [TokenSpan { from: 0, to: 2 }]);
        assert_eq!(table.named(NamedRow::Kinds, &found), [(TokenSpan { from: 3, to: 4 }, "book")]);
        assert_eq!(FollowUpTables::shipped().name_of(NamedRow::Kinds, "Kinkekaardid"), Some("gift_card"));
        assert_eq!(FollowUpTables::shipped().name_of(NamedRow::Kinds, "dream"), None);
    }
}
