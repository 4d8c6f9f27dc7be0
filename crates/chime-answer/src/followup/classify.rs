//! Classifies a question by patterns alone: what it asks for, and the words that refer to earlier suggestions.

use crate::followup::item_question::has_question_mark;
use crate::followup::names::shown_people;
use crate::followup::price_limit::{budget, number};
use crate::followup::tables::{FollowUpTable, FollowUpTables, NamedRow, PhraseRow, RowSpans, TokenSpan};
use crate::followup::words::{FoldedToken, tokens};
use chime_core::{Intent, Item, Language, Price};

/// Maximum number of words of a question that are read. Words after them are probably pasted text.
const MAX_WORDS: usize = 80;
/// With more words unknown to the patterns, "more" or "the last" in a question does not refer to a list.
const MAX_UNKNOWN: usize = 4;
/// With fewer letters, words of several languages are alike.
const FEWEST_LETTERS: usize = 8;
/// Maximum number of words after "no" or "without" that belong to it: "no raw onions at all".
const REFUSED_WORDS: usize = 4;
/// Kinds that do not say what is wanted: another kind replaces them.
const GENERIC_KINDS: [&str; 3] = ["gift", "place", "activity"];

pub fn is_generic_kind(kind: &str) -> bool {
    GENERIC_KINDS.contains(&kind)
}

/// A question to classify.
#[derive(Debug, Clone, Copy)]
pub struct ClassifierInput<'a> {
    pub text: &'a str,
    /// `true` if the question has no words of its own and only refers to the conversation ("thoughts?"). Then it is
    /// classified only if it is clearly a follow-up.
    pub generic: bool,
    /// Items suggested before, to which the question may refer; `None` if there is no earlier suggestion.
    pub shown: Option<&'a [Item]>,
    /// Two-letter code of the chat's language.
    pub language: Option<&'a str>,
}

/// A position in the list of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemPosition {
    /// Counted from 1.
    Nth(usize),
    Last,
}

/// Words that refer to items or people shown before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mentions {
    pub places: Vec<(String, ItemPosition)>,
    /// Pronoun for a person: "he", "the same author".
    pub person: Option<String>,
    /// Pronoun for an item: "that one", "it".
    pub item: Option<String>,
    /// Names of makers of shown items, and the words for them.
    pub people: Vec<(String, String)>,
}

/// Result of classifying a question by patterns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClassifiedQuestion {
    pub intent: Intent,
    pub language: Option<String>,
    pub mentions: Mentions,
    /// Kind of thing that is wanted, by its canonical name; a specific one if there is any.
    pub kind: Option<String>,
    /// Highest price that the question names.
    pub budget: Option<Price>,
    pub cheaper: bool,
    pub start_over: bool,
    /// `true` if the member refuses a shown item: "not that one".
    pub not_that: bool,
    pub is_question: bool,
    /// `true` if it has a question word, such as "who".
    pub has_question_word: bool,
    /// `true` if it asks for items other than those shown.
    pub searches: bool,
    /// `true` if it refers to all items shown: "which of these", "the cheapest".
    pub is_about_list: bool,
    /// `true` if it asks for one of several things, with words of its own: "which one does Ben have?".
    pub asks_which_one: bool,
    /// Number of words that no pattern contains.
    pub unknown: usize,
    /// Number of letters of the question.
    pub letters: usize,
    /// `true` if an ordinal belongs to a word that no pattern contains ("the second meeting"), or may count in a list
    /// before the newest.
    pub counts_others: bool,
}

impl ClassifiedQuestion {
    /// Returns the language of a follow-up that consists only of its phrases: a few words such as "noch mehr davon" are
    /// too short to detect a language otherwise. `None` for other questions, and for numbers.
    pub fn whole_in(&self) -> Option<Language> {
        let code = self.language.as_deref().filter(|_| self.unknown == 0 && self.letters >= FEWEST_LETTERS)?;
        Some(Language::from_code(&FollowUpTables::shipped().get(code)?.language.code))
    }
}

/// Classifies a question with the table of the language that knows most of its words. If several know as many, the
/// chat's language has priority.
pub fn classify(ask: &ClassifierInput<'_>) -> ClassifiedQuestion {
    let mut found = tokens(ask.text);
    found.truncate(MAX_WORDS);
    let plain = || ClassifiedQuestion { is_question: has_question_mark(ask.text), ..ClassifiedQuestion::default() };
    if found.is_empty() || ask.generic && ask.shown.is_none() {
        return plain();
    }
    let mut best: Option<(ClassifiedQuestion, (usize, bool))> = None;
    for table in FollowUpTables::shipped().iter() {
        let (reading, known) = TableClassifier::new(ask, &found, table).classify();
        let score = (known, ask.language == Some(table.short_code()));
        if best.as_ref().is_none_or(|(_, other)| score > *other) {
            best = Some((reading, score));
        }
    }
    let reading = best.map(|(reading, _)| reading).unwrap_or_default();
    let continues = reading.intent.needs_suggestion() || reading.intent == Intent::EntitySearch;
    if ask.generic && !continues { plain() } else { reading }
}

/// A question and the phrases of one language's table found in it.
struct TableClassifier<'a> {
    ask: &'a ClassifierInput<'a>,
    tokens: &'a [FoldedToken],
    table: &'a FollowUpTable,
    rows: RowSpans,
    /// Refused things: "no" or "without", and the words after it.
    refused: Vec<TokenSpan>,
    kinds: Vec<(TokenSpan, &'a str)>,
    budget: Option<Price>,
    of_money: Vec<TokenSpan>,
    people: Vec<(String, TokenSpan)>,
    more: Vec<TokenSpan>,
    cheaper: Vec<TokenSpan>,
    places: Vec<(TokenSpan, ItemPosition)>,
    person: Option<TokenSpan>,
    item: Option<TokenSpan>,
}

impl<'a> TableClassifier<'a> {
    fn new(ask: &'a ClassifierInput<'a>, tokens: &'a [FoldedToken], table: &'a FollowUpTable) -> Self {
        let rows = table.find_all(tokens);
        let without = |spans: &[TokenSpan], others: &[TokenSpan]| -> Vec<TokenSpan> {
            spans.iter().filter(|span| !others.iter().any(|other| other.overlaps(**span))).copied().collect()
        };
        let (budget, of_money) = budget(tokens, table);
        // "Tell me more about it" does not ask for more items, nor does "más" in "más barato".
        let longer = [PhraseRow::Talk, PhraseRow::WhatAbout, PhraseRow::Cheaper].map(|row| rows.of(row)).concat();
        let more: Vec<TokenSpan> =
            rows.of(PhraseRow::More).iter().copied().filter(|span| !span.is_part_of_any(&longer)).collect();
        // In Estonian, "mõni teine" means another one, although "teine" alone means the second.
        let nth = table.ordinals(tokens).into_iter().map(|(span, nth)| (span, ItemPosition::Nth(nth)));
        let last = rows.of(PhraseRow::Last).iter().map(|span| (*span, ItemPosition::Last));
        let numbered = numbered(ask, tokens);
        let mut places: Vec<(TokenSpan, ItemPosition)> =
            nth.chain(last).chain(numbered).filter(|(span, _)| !span.is_part_of_any(&more)).collect();
        let contains = |row, at: usize| rows.of(row).iter().any(|span| span.contains(at));
        // "The 2nd" may be a day, but not "the 2nd one".
        let is_date = |span: TokenSpan| {
            let word = &tokens[span.to - 1].word;
            word.starts_with(|c: char| c.is_ascii_digit())
                && word.contains(char::is_alphabetic)
                && !contains(PhraseRow::Something, span.to)
        };
        places.retain(|(span, _)| !is_date(*span));
        places.sort_by_key(|(span, _)| *span);
        let of_price = [&of_money[..], rows.of(PhraseRow::Cheaper), rows.of(PhraseRow::TooExpensive)].concat();
        let taken = [&of_price[..], rows.of(PhraseRow::NotThat), rows.of(PhraseRow::StartOver)].concat();
        let refused: Vec<TokenSpan> =
            without(rows.of(PhraseRow::Without), &taken).into_iter().filter_map(|it| refused(it, tokens)).collect();
        // "Without loud music" does not ask for music.
        let mut kinds = table.named(NamedRow::Kinds, tokens);
        kinds.retain(|(span, _)| !refused.iter().any(|other| other.overlaps(*span)));
        let person = rows.of(PhraseRow::PersonPronoun).iter().copied().find(|span| is_maker(*span, &rows, &kinds));
        let item = rows.of(PhraseRow::ItemPronoun).iter().copied().max_by_key(|span| span.to - span.from);
        // "More, but nothing by Lem" asks for nothing by Lem.
        let mut people = shown_people(tokens, ask.shown.unwrap_or_default());
        people.retain(|(_, span)| !refused.iter().any(|other| other.overlaps(*span)));
        // In "cheaper than 20", "cheaper" is part of a limit.
        let mut cheaper = without(rows.of(PhraseRow::Cheaper), &of_money);
        let begins_question = begins_question(&rows);
        cheaper.retain(|span| !asks_about_shown(*span, begins_question, &rows, &kinds));
        if !begins_question && !has_question_mark(ask.text) {
            cheaper.extend(rows.of(PhraseRow::TooExpensive));
        }
        let mut found = Self {
            ask,
            tokens,
            table,
            rows,
            refused,
            kinds,
            budget,
            of_money,
            people,
            more,
            cheaper,
            places,
            person,
            item,
        };
        // "What should he do first?" says when.
        if table.has_articles() && !found.unknown().is_empty() {
            let rows = &found.rows;
            let is_noun = |span: TokenSpan| {
                tokens[span.from].word.starts_with(|c: char| c.is_ascii_digit())
                    || span.to - span.from > 1
                    || rows.of(PhraseRow::Articles).iter().any(|it| it.to == span.from)
            };
            found.places.retain(|(span, _)| is_noun(*span));
        }
        found
    }

    /// Returns the classification, and a score for the words that the table knows: words of a pattern count twice,
    /// fillers once.
    fn classify(self) -> (ClassifiedQuestion, usize) {
        let unknown = self.unknown();
        let intent = self.intent(unknown.len());
        let fillers: usize = self.rows.of(PhraseRow::Fillers).iter().map(|span| span.to - span.from).sum();
        let known = (0..self.tokens.len()).filter(|at| self.covers(*at)).count() * 2 + fillers;
        let said = |span: TokenSpan| span.written(self.ask.text, self.tokens);
        let specific = self.kinds.iter().find(|(_, kind)| !is_generic_kind(kind));
        let reading = ClassifiedQuestion {
            intent,
            language: (known > 0).then(|| self.table.short_code().to_owned()),
            mentions: Mentions {
                places: self.places.iter().map(|(span, place)| (said(*span), *place)).collect(),
                person: self.person.map(said),
                item: self.item.map(said),
                people: self.people.iter().map(|(name, span)| (name.clone(), said(*span))).collect(),
            },
            kind: specific.or(self.kinds.first()).map(|(_, kind)| (*kind).to_owned()),
            budget: self.budget.clone().filter(|_| !self.asks_about_price()),
            cheaper: !self.cheaper.is_empty(),
            start_over: self.starts_over(&unknown),
            not_that: self.has(PhraseRow::NotThat),
            is_question: self.is_question(),
            has_question_word: self.has(PhraseRow::Question),
            searches: self.searches() || !self.cheaper.is_empty(),
            is_about_list: self.has(PhraseRow::Listed),
            asks_which_one: unknown.len() <= MAX_UNKNOWN && self.asks_which_one(),
            unknown: unknown.len(),
            letters: self.ask.text.chars().filter(|c| c.is_alphabetic()).count(),
            counts_others: self.has(PhraseRow::Earlier)
                || self.places.iter().any(|(span, _)| unknown.contains(&span.to)),
        };
        (reading, known)
    }

    fn has(&self, row: PhraseRow) -> bool {
        !self.rows.of(row).is_empty()
    }

    /// Returns `true` for a question word before a word such as "one", or in a question for a kind of thing: "which
    /// one", "welches Buch".
    fn asks_which_one(&self) -> bool {
        let is_behind =
            |span: &TokenSpan| self.rows.of(PhraseRow::Question).iter().any(|question| question.to == span.from);
        let kinds = self.kinds.iter().map(|(span, _)| span);
        self.is_question() && self.rows.of(PhraseRow::Something).iter().chain(kinds).any(is_behind)
    }

    /// Returns `true` for a question mark, or a question word behind nothing but known words. "Dad has a torch" is no
    /// question.
    fn is_question(&self) -> bool {
        let is_led_to = |span: &TokenSpan| (0..span.from).all(|at| self.is_filler(at) || self.covers(at));
        has_question_mark(self.ask.text) || self.rows.of(PhraseRow::Question).iter().any(is_led_to)
    }

    /// Returns `true` if the member ends the search so far: with a clause that says nothing else, or at the beginning
    /// of a wish. "How do I reset the router?" and "bread from scratch" only contain such words.
    fn starts_over(&self, unknown: &[usize]) -> bool {
        let ends = |at: usize| self.tokens.get(at).is_some_and(|token| token.ends_clause);
        let is_clause = |span: &TokenSpan| {
            let from = (0..span.from).rfind(|at| ends(*at)).map_or(0, |at| at + 1);
            let to = (span.to - 1..self.tokens.len()).find(|at| ends(*at)).map_or(self.tokens.len(), |at| at + 1);
            !unknown.iter().any(|at| (from..to).contains(at))
        };
        let begins = |span: &TokenSpan| (0..span.from).all(|at| self.is_filler(at)) && !self.is_question();
        self.rows.of(PhraseRow::StartOver).iter().any(|span| is_clause(span) || begins(span))
    }

    fn searches(&self) -> bool {
        !self.more.is_empty() || self.has(PhraseRow::Search)
    }

    /// Returns `true` if the word at `at` is part of a phrase that decides the classification.
    fn covers(&self, at: usize) -> bool {
        // A pronoun that means no maker says something else: "another one, she read both".
        let is_read = |row: PhraseRow| row.has_meaning() && (row != PhraseRow::PersonPronoun || self.person.is_some());
        let of_rows = self.rows.iter().filter(|(row, _)| is_read(*row)).flat_map(|(_, spans)| spans);
        let places = self.places.iter().map(|(span, _)| span);
        let kinds = self.kinds.iter().map(|(span, _)| span);
        let people = self.people.iter().map(|(_, span)| span);
        let mut all = of_rows.chain(places).chain(kinds).chain(people).chain(&self.of_money).chain(&self.refused);
        all.any(|span| span.contains(at))
    }

    /// Returns the positions of the words that are neither covered nor fillers nor numbers.
    fn unknown(&self) -> Vec<usize> {
        let is_number = |at: usize| {
            let word = self.tokens.get(at).and_then(|token| number(&token.word));
            word.is_some_and(|(_, letters)| letters.is_empty())
        };
        (0..self.tokens.len()).filter(|at| !self.covers(*at) && !self.is_filler(*at) && !is_number(*at)).collect()
    }

    fn is_filler(&self, at: usize) -> bool {
        self.rows.of(PhraseRow::Fillers).iter().any(|span| span.contains(at))
    }

    /// Returns the intent of a question with `unknown` words that no pattern knows.
    fn intent(&self, unknown: usize) -> Intent {
        let in_play = self.ask.shown.is_some();
        if self.has(PhraseRow::Compare) {
            return if in_play && !self.places.is_empty() { Intent::ItemQuestion } else { Intent::Ask };
        }
        if self.has(PhraseRow::Talk) && (self.places.is_empty() || !in_play) {
            return Intent::Ask;
        }
        let continued = || self.about_shown().or_else(|| self.about_person()).or_else(|| self.more(unknown));
        let continued = in_play.then(continued).flatten();
        continued.unwrap_or_else(|| if self.suggests(unknown) { Intent::Suggest } else { Intent::Ask })
    }

    /// Recognises a refusal of a shown item, "cheaper", and questions about a shown item.
    fn about_shown(&self) -> Option<Intent> {
        if self.has(PhraseRow::NotThat) {
            return Some(Intent::More);
        }
        if !self.cheaper.is_empty() {
            return Some(Intent::Cheaper);
        }
        let is_about = self.is_question() || self.has(PhraseRow::WhatAbout) || self.has(PhraseRow::Talk);
        let refers = !self.places.is_empty() || self.asks_about_item();
        let is_about = is_about || self.is_place_alone();
        (is_about && refers && !self.searches() && !self.is_by_pronoun()).then_some(Intent::ItemQuestion)
    }

    /// Returns `true` if the question only names a place in the list: "#2", "the third one", "o último". One word
    /// alone, such as "second", does so in languages without articles only.
    fn is_place_alone(&self) -> bool {
        let Some((first, _)) = self.places.first() else { return false };
        let rows =
            [PhraseRow::Articles, PhraseRow::Something, PhraseRow::Fillers].map(|row| self.rows.of(row)).concat();
        let is_known = |at: usize| {
            let mut spans = rows.iter().chain(self.places.iter().map(|(span, _)| span));
            spans.any(|span| span.contains(at))
        };
        let is_noun = !self.table.has_articles() || self.tokens.len() > 1 || first.to - first.from > 1;
        (is_noun || !numbered(self.ask, self.tokens).is_empty()) && (0..self.tokens.len()).all(is_known)
    }

    /// Returns `true` for a question with a pronoun that can only mean an item ("is that one any good?"). "He has that
    /// one" only mentions it.
    fn asks_about_item(&self) -> bool {
        let asks = has_question_mark(self.ask.text) || begins_question(&self.rows);
        let tells = [PhraseRow::WhatAbout, PhraseRow::Talk].into_iter().any(|row| self.has(row));
        (asks || tells) && self.item.is_some_and(|span| span.to - span.from > 1)
    }

    /// Returns `true` if the words about money ask about the items shown: "are any of these under 10?"
    fn asks_about_price(&self) -> bool {
        let asks = |span: &TokenSpan| asks_about_shown(*span, begins_question(&self.rows), &self.rows, &self.kinds);
        let is_own = !self.kinds.is_empty() || self.has(PhraseRow::Suggest) || self.ask.shown.is_none();
        !is_own && !self.of_money.is_empty() && self.of_money.iter().all(asks)
    }

    /// Returns `true` if the question asks for other items by a person that it names by a pronoun: "more by him".
    fn is_by_pronoun(&self) -> bool {
        let plural_kind = !self.kinds.is_empty() && self.person.is_some_and(|span| span.to - span.from > 1);
        self.person.is_some() && (self.asks_for() || plural_kind || self.has(PhraseRow::Search))
    }

    fn asks_for(&self) -> bool {
        let items = self.rows.of(PhraseRow::ItemPronoun);
        // "One" in "that one" asks for nothing.
        let wants_some = self.rows.of(PhraseRow::Something).iter().any(|span| !span.is_part_of_any(items));
        !self.more.is_empty() || wants_some || self.has(PhraseRow::Suggest) || self.has(PhraseRow::Show)
    }

    /// Recognises a search for items by the maker of a shown one.
    fn about_person(&self) -> Option<Intent> {
        // "The one by Duncan Jones" chooses.
        let is_by_name = !self.people.is_empty() && (self.asks_for() || self.names_things());
        (self.is_by_pronoun() || is_by_name).then_some(Intent::EntitySearch)
    }

    /// Recognises "more", and a question that consists only of a price ("under 20 euros").
    fn more(&self, unknown: usize) -> Option<Intent> {
        let names_kind = !self.kinds.is_empty();
        let is_question_of_own = self.is_question() && unknown > 0 && !names_kind;
        if !self.more.is_empty() && unknown <= MAX_UNKNOWN && !is_question_of_own {
            return Some(Intent::More);
        }
        if unknown > 0 || names_kind || self.has(PhraseRow::Suggest) {
            return None;
        }
        (!self.of_money.is_empty() && !self.asks_about_price()).then_some(Intent::Budget)
    }

    /// Recognises a wish for suggestions: only where nothing else can be meant. Words such as "recommend" in the middle of
    /// a question ask what somebody recommended, and a kind alone ("and the hotel?") asks about one that is known.
    fn suggests(&self, unknown: usize) -> bool {
        let is_priced_kind = !self.kinds.is_empty() && self.budget.is_some() && !self.has(PhraseRow::Question);
        let names_things = self.names_things();
        self.begins_with(PhraseRow::Suggest, names_things)
            || names_things && self.begins_with(PhraseRow::Show, true)
            || is_priced_kind && unknown == 0
    }

    /// Returns `true` if the question names a kind of thing without "the", which would mean a certain one.
    fn names_things(&self) -> bool {
        let articles = self.rows.of(PhraseRow::Articles);
        self.kinds.iter().any(|(kind, _)| !articles.iter().any(|article| article.to == kind.from))
    }

    /// Returns `true` if a phrase of `row` begins the question or a clause of it. With `is_after_fillers`, "could you" and
    /// similar words may come before it, but no question word: "what book do you recommend?"
    fn begins_with(&self, row: PhraseRow, is_after_fillers: bool) -> bool {
        let ends_clause = |at: usize| self.tokens.get(at).is_some_and(|token| token.ends_clause);
        let is_kind = |at: usize| self.kinds.iter().any(|(kind, _)| kind.contains(at));
        let is_first = |span: &TokenSpan| span.from.checked_sub(1).is_none_or(ends_clause);
        let asks = |at: usize| self.rows.of(PhraseRow::Question).iter().any(|span| span.contains(at));
        let is_led_to = |span: &TokenSpan| (0..span.from).all(|at| (self.is_filler(at) || is_kind(at)) && !asks(at));
        self.rows.of(row).iter().any(|span| is_first(span) || is_after_fillers && is_led_to(span))
    }
}

/// Returns the places in the list that are written as a number: "#2", "№ 2", and "2?" without other words.
fn numbered(ask: &ClassifierInput<'_>, tokens: &[FoldedToken]) -> Vec<(TokenSpan, ItemPosition)> {
    let items = ask.shown.map_or(0, <[Item]>::len);
    let place = |(at, token): (usize, &FoldedToken)| {
        let before = ask.text.get(..token.start)?.trim_end();
        let number = token.word.parse().ok().filter(|number| (1..=items).contains(number))?;
        let is_place = before.ends_with(['#', '№']) || tokens.len() == 1;
        is_place.then_some((TokenSpan { from: at, to: at + 1 }, ItemPosition::Nth(number)))
    };
    tokens.iter().enumerate().filter_map(place).collect()
}

/// Returns `true` if the first words are a question word: "which", "is". "How about" proposes something.
fn begins_question(rows: &RowSpans) -> bool {
    let proposals = rows.of(PhraseRow::WhatAbout);
    rows.of(PhraseRow::Question).first().is_some_and(|span| span.from == 0 && !span.is_part_of_any(proposals))
}

/// Returns `true` if the words `price` ask about the items shown: "which is cheaper?", "el más barato". "Is there
/// something cheaper?" asks for others.
fn asks_about_shown(price: TokenSpan, begins_question: bool, rows: &RowSpans, kinds: &[(TokenSpan, &str)]) -> bool {
    let has = |row: PhraseRow, at: usize| rows.of(row).iter().any(|span| span.contains(at));
    let is_superlative = price.from.checked_sub(1).is_some_and(|at| has(PhraseRow::Articles, at));
    // "Quelque chose de moins cher", but not "which one is cheaper".
    let is_beside = |some: &TokenSpan| {
        let is_joined = some.to + 1 == price.from && !has(PhraseRow::Question, some.to);
        some.from == price.to || some.to == price.from || is_joined
    };
    let of_kind = kinds.iter().map(|(span, _)| span);
    is_superlative || begins_question && !rows.of(PhraseRow::Something).iter().chain(of_kind).any(is_beside)
}

/// Returns `true` if the pronoun means the maker of something: it has several words ("by her"), or stands beside a kind
/// of thing ("her other novels", "livros dele"). "She has both" and "her present" speak of the one who gets it.
fn is_maker(pronoun: TokenSpan, rows: &RowSpans, kinds: &[(TokenSpan, &str)]) -> bool {
    let others = [PhraseRow::More, PhraseRow::Search].map(|row| rows.of(row)).concat();
    let is_between = |at: usize| others.iter().any(|span| span.contains(at));
    let is_beside = |(kind, name): &(TokenSpan, &str)| {
        let is_before = pronoun.to <= kind.from && (pronoun.to..kind.from).all(is_between);
        (is_before || kind.to == pronoun.from) && !is_generic_kind(name)
    };
    pronoun.to - pronoun.from > 1 || kinds.iter().any(is_beside)
}

/// Returns the position of `marker`, such as "without", with the refused words after it, up to the end of the clause;
/// `None` for a mere "no".
fn refused(marker: TokenSpan, tokens: &[FoldedToken]) -> Option<TokenSpan> {
    let ends = |at: usize| tokens.get(at).is_none_or(|token| token.ends_clause);
    let limit = tokens.len().min(marker.to + REFUSED_WORDS);
    let last = (marker.to..limit).find(|at| ends(*at)).or((marker.to..limit).next_back())?;
    (!ends(marker.to - 1)).then_some(TokenSpan { from: marker.from, to: last + 1 })
}

#[cfg(test)]
mod tests;
