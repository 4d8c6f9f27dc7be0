//! Classifies a question by patterns alone: its intent, signals and references.

use crate::followup::entities::named_in;
use crate::followup::item_question::has_question_mark;
use crate::followup::signals::{RefinementSignals, signals};
use crate::followup::tables::{FollowUpTable, FollowUpTables, NamedRow, PhraseRow, RowSpans, TokenSpan};
use crate::followup::words::{FoldedToken, tokens};
use chime_core::{Frame, Intent, NamedEntity};

/// Minimum confidence at which the intent that the patterns give is certain.
pub const SURE: f64 = 0.7;
/// Maximum number of words of a question that are read. Words after them are probably pasted text.
const MAX_WORDS: usize = 80;
/// Maximum number of words unknown to the patterns that can name the wanted thing. More of them are a sentence that
/// only the model can interpret.
const SUBJECT_WORDS: usize = 6;
/// The same limit in a question with "more". With more unknown words, it is a question of its own and not a follow-up.
const MORE_WORDS: usize = 4;

/// A question to classify.
#[derive(Debug, Clone, Copy)]
pub struct ClassifierInput<'a> {
    pub text: &'a str,
    /// `true` if the question has no words of its own and only points at the conversation. Then it is classified only
    /// if it is clearly a follow-up.
    pub generic: bool,
    /// `true` if there is an earlier suggestion that the question may refer to.
    pub in_play: bool,
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
    /// Reference to a person: "he", "the same author".
    pub person: Option<String>,
    /// Reference to an item: "that one", "it".
    pub item: Option<String>,
    /// `true` if `item` has several words, so that it can only mean an item.
    pub item_is_plain: bool,
    /// Names in the question itself.
    pub names: Vec<String>,
}

/// Result of classifying a question by patterns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClassifiedQuestion {
    pub intent: Intent,
    /// 0 to 1.
    pub confidence: f64,
    pub language: Option<String>,
    pub signals: RefinementSignals,
    pub mentions: Mentions,
    /// The rest of the question: the member's words for the wanted thing.
    pub subject: Option<String>,
    pub is_question: bool,
    /// `true` if it asks for items other than those shown.
    pub searches: bool,
    /// Number of content words that no pattern covers.
    pub unknown: usize,
}

impl ClassifiedQuestion {
    pub fn is_decided(&self) -> bool {
        self.confidence >= SURE
    }

    /// Returns the frame with the fields that the question itself states.
    pub fn frame(&self) -> Frame {
        Frame {
            intent: self.intent,
            confidence: self.confidence,
            language: self.language.clone(),
            subject: self.subject.clone(),
            kind: self.signals.kinds.first().cloned(),
            recipient: self.signals.recipient.clone(),
            occasion: self.signals.occasion.clone(),
            entities: self.mentions.names.iter().map(NamedEntity::person).collect(),
            popular: self.signals.popular,
            ..Frame::default()
        }
    }
}

/// Classifies a question with the table of the language that knows most of its words. If several know as many, the
/// chat's language has priority.
pub fn classify(ask: &ClassifierInput<'_>) -> ClassifiedQuestion {
    let mut found = tokens(ask.text);
    found.truncate(MAX_WORDS);
    let plain = || ClassifiedQuestion {
        confidence: 1.0,
        is_question: has_question_mark(ask.text),
        ..ClassifiedQuestion::default()
    };
    if found.is_empty() || ask.generic && !ask.in_play {
        return plain();
    }
    let mut best: Option<(ClassifiedQuestion, (usize, bool))> = None;
    for table in FollowUpTables::shipped().iter() {
        let (reading, known) = TableClassifier::new(ask, &found, table).read();
        let score = (known, ask.language == Some(table.short_code()));
        if best.as_ref().is_none_or(|(_, other)| score > *other) {
            best = Some((reading, score));
        }
    }
    let reading = best.map(|(reading, _)| reading).unwrap_or_default();
    let goes_on = reading.is_decided() && (reading.intent.needs_suggestion() || reading.intent == Intent::EntitySearch);
    if ask.generic && !goes_on { plain() } else { reading }
}

/// A question and the phrases of one language's table found in it.
struct TableClassifier<'a> {
    ask: &'a ClassifierInput<'a>,
    tokens: &'a [FoldedToken],
    table: &'a FollowUpTable,
    rows: RowSpans,
    signals: RefinementSignals,
    of_signals: Vec<TokenSpan>,
    names: Vec<String>,
    of_names: Vec<TokenSpan>,
    more: Vec<TokenSpan>,
    places: Vec<(TokenSpan, ItemPosition)>,
    person: Option<TokenSpan>,
    item: Option<TokenSpan>,
}

impl<'a> TableClassifier<'a> {
    fn new(ask: &'a ClassifierInput<'a>, tokens: &'a [FoldedToken], table: &'a FollowUpTable) -> Self {
        let (signals, of_signals) = signals(ask.text, tokens, table);
        let (names, of_names) = named_in(ask.text, tokens, table);
        let rows = table.find_all(tokens);
        // "Tell me more about it" does not ask for more items.
        let longer: Vec<TokenSpan> =
            [PhraseRow::Explain, PhraseRow::WhatAbout].into_iter().flat_map(|row| rows.of(row)).copied().collect();
        let more: Vec<TokenSpan> =
            rows.of(PhraseRow::More).iter().copied().filter(|span| !span.is_part_of_any(&longer)).collect();
        // In Estonian, "mõni teine" means another one, although "teine" alone means the second.
        let nth = table.ordinals(tokens).into_iter().map(|(span, nth)| (span, ItemPosition::Nth(nth)));
        let last = rows.of(PhraseRow::Last).iter().map(|span| (*span, ItemPosition::Last));
        let mut places: Vec<(TokenSpan, ItemPosition)> =
            nth.chain(last).filter(|(span, _)| !span.is_part_of_any(&more)).collect();
        places.sort_by_key(|(span, _)| *span);
        let person = rows.of(PhraseRow::PersonPronoun).first().copied();
        let item = rows.of(PhraseRow::ItemPronoun).iter().copied().max_by_key(|span| span.to - span.from);
        Self { ask, tokens, table, rows, signals, of_signals, names, of_names, more, places, person, item }
    }

    /// Returns the classification, and a score for the words that the table knows: words of a pattern count twice,
    /// fillers once.
    fn read(self) -> (ClassifiedQuestion, usize) {
        let (intent, confidence) = self.intent();
        let known = self.covered().len() * 2 + self.fillers();
        let subject = self.subject(intent);
        let said = |span: TokenSpan| span.written(self.ask.text, self.tokens);
        let mentions = Mentions {
            places: self.places.iter().map(|(span, place)| (said(*span), *place)).collect(),
            person: self.person.map(said),
            item: self.item.map(said),
            item_is_plain: self.item.is_some_and(|span| span.to - span.from > 1),
            names: self.names.clone(),
        };
        let reading = ClassifiedQuestion {
            intent,
            confidence,
            language: (known > 0).then(|| self.table.short_code().to_owned()),
            is_question: self.is_question(),
            unknown: self.unknown().len(),
            searches: self.searches(),
            subject,
            mentions,
            signals: self.signals,
        };
        (reading, known)
    }

    fn has(&self, row: PhraseRow) -> bool {
        !self.rows.of(row).is_empty()
    }

    fn is_question(&self) -> bool {
        has_question_mark(self.ask.text) || self.has(PhraseRow::Question)
    }

    fn searches(&self) -> bool {
        !self.more.is_empty() || self.signals.cheaper || self.has(PhraseRow::Search)
    }

    /// Returns the positions of the words that a pattern covers.
    fn covered(&self) -> Vec<usize> {
        let is_telling = |row: &PhraseRow| {
            !matches!(
                row,
                PhraseRow::Fillers
                    | PhraseRow::NotName
                    | PhraseRow::BySuffix
                    | PhraseRow::NotMoney
                    | PhraseRow::By
                    | PhraseRow::Between
                    | PhraseRow::BudgetMax
                    | PhraseRow::BudgetMaxAfter
                    | PhraseRow::BudgetMin
                    | PhraseRow::BudgetMinAfter
                    | PhraseRow::BudgetAbout
                    | PhraseRow::Without
            )
        };
        let of_rows = self.rows.iter().filter(|(row, _)| is_telling(row)).flat_map(|(_, spans)| spans).copied();
        let places = self.places.iter().map(|(span, _)| *span);
        let spans: Vec<TokenSpan> =
            of_rows.chain(places).chain(self.of_signals.iter().chain(&self.of_names).copied()).collect();
        let is_covered = |at: &usize| spans.iter().any(|span| span.from <= *at && *at < span.to);
        (0..self.tokens.len()).filter(is_covered).collect()
    }

    fn fillers(&self) -> usize {
        self.rows.of(PhraseRow::Fillers).iter().map(|span| span.to - span.from).sum()
    }

    /// Returns the positions of the words that are neither covered nor fillers.
    fn unknown(&self) -> Vec<usize> {
        let covered = self.covered();
        let fillers = self.rows.of(PhraseRow::Fillers);
        let is_filler = |at: usize| fillers.iter().any(|span| span.from <= at && at < span.to);
        (0..self.tokens.len()).filter(|at| !covered.contains(at) && !is_filler(*at)).collect()
    }

    fn intent(&self) -> (Intent, f64) {
        let in_play = self.ask.in_play;
        let unknown = self.unknown().len();
        self.about_the_talk(unknown)
            .or_else(|| self.about_shown().filter(|_| in_play))
            .or_else(|| self.about_entity(unknown))
            .or_else(|| self.going_on(unknown).filter(|_| in_play))
            .or_else(|| self.suggestion(unknown))
            .unwrap_or_else(|| (Intent::Ask, self.plain_confidence(unknown)))
    }

    /// Recognises small talk, and questions about the conversation itself: a summary, a recap, a decision, a
    /// comparison, an explanation.
    fn about_the_talk(&self, unknown: usize) -> Option<(Intent, f64)> {
        let smalltalk: usize = self.rows.of(PhraseRow::Smalltalk).iter().map(|span| span.to - span.from).sum();
        if smalltalk > 0 && unknown == 0 && self.places.is_empty() && smalltalk + self.fillers() >= self.tokens.len() {
            return Some((Intent::Smalltalk, 0.95));
        }
        let refers = self.ask.in_play && !self.places.is_empty();
        let rows = [
            (PhraseRow::Summarize, Intent::Summarize, 0.9),
            (PhraseRow::Recap, Intent::Recap, 0.9),
            (PhraseRow::Decide, Intent::Decide, 0.85),
            (PhraseRow::Compare, Intent::Compare, 0.85),
            (PhraseRow::Explain, Intent::Explain, 0.8),
        ];
        let found = rows.into_iter().find(|(row, intent, _)| self.has(*row) && !(refers && *intent == Intent::Explain));
        found.map(|(_, intent, confidence)| (intent, confidence))
    }

    /// Recognises a refusal of a shown item, "cheaper", and questions about a shown item.
    fn about_shown(&self) -> Option<(Intent, f64)> {
        if self.signals.not_that {
            return Some((Intent::More, 0.85));
        }
        if self.signals.cheaper {
            return Some((Intent::Cheaper, 0.9));
        }
        let is_about = self.is_question() || self.has(PhraseRow::WhatAbout) || self.has(PhraseRow::Explain);
        let refers = !self.places.is_empty() || self.item.is_some_and(|span| span.to - span.from > 1);
        let searches = !self.more.is_empty() || self.has(PhraseRow::Search);
        if !(is_about && refers) || searches || self.person_search() {
            return None;
        }
        let unknown = self.unknown();
        let is_of_other = self.places.iter().any(|(span, _)| unknown.contains(&span.to));
        Some((Intent::ItemQuestion, if is_of_other { 0.6 } else { 0.9 }))
    }

    /// Returns `true` if the question asks for other items by a person that it names by a pronoun: "more by him".
    fn person_search(&self) -> bool {
        let asks_for = !self.more.is_empty()
            || self.has(PhraseRow::Something)
            || self.has(PhraseRow::Suggest)
            || self.has(PhraseRow::Show);
        let plural_kind = !self.signals.kinds.is_empty() && self.person.is_some_and(|span| span.to - span.from > 1);
        self.person.is_some() && (asks_for || plural_kind || self.has(PhraseRow::Search))
    }

    fn about_entity(&self, unknown: usize) -> Option<(Intent, f64)> {
        if self.person_search() && self.ask.in_play {
            return Some((Intent::EntitySearch, 0.9));
        }
        let asks_for = self.has(PhraseRow::Suggest) || self.has(PhraseRow::Show) || !self.signals.kinds.is_empty();
        let asks_for = asks_for || self.has(PhraseRow::Something) || self.ask.in_play && !self.more.is_empty();
        let is_alone = self.ask.in_play && unknown == 0 && !self.is_question();
        if self.names.is_empty() || !(asks_for || is_alone) || unknown > SUBJECT_WORDS {
            return None;
        }
        Some((Intent::EntitySearch, if unknown > 2 { 0.65 } else { 0.85 }))
    }

    /// Recognises "more", and a question that consists only of a budget ("under 20 euros") or of an exclusion ("without
    /// nuts").
    fn going_on(&self, unknown: usize) -> Option<(Intent, f64)> {
        let names_kind = !self.signals.kinds.is_empty();
        let is_question_of_own = self.is_question() && unknown > 0 && !names_kind;
        if !self.more.is_empty() && unknown <= MORE_WORDS && !is_question_of_own {
            return Some((Intent::More, if unknown > 2 { 0.7 } else { 0.95 }));
        }
        let is_new = names_kind || self.has(PhraseRow::Suggest);
        if self.signals.budget.is_some() && unknown == 0 && !is_new {
            return Some((Intent::Budget, 0.9));
        }
        let is_refusal = self.begins_with(PhraseRow::Without) && !self.signals.constraints.is_empty();
        (is_refusal && unknown == 0 && !is_new && !self.is_question()).then_some((Intent::More, 0.8))
    }

    /// Returns `true` if nothing but fillers ("well", "please") comes before the first phrase of `row`.
    fn begins_with(&self, row: PhraseRow) -> bool {
        let fillers = self.rows.of(PhraseRow::Fillers);
        let is_filler = |at: usize| fillers.iter().any(|span| span.from <= at && at < span.to);
        self.rows.of(row).first().is_some_and(|span| (0..span.from).all(is_filler))
    }

    fn suggestion(&self, unknown: usize) -> Option<(Intent, f64)> {
        let by_words = if unknown > SUBJECT_WORDS { 0.6 } else { 0.85 };
        if self.has(PhraseRow::Suggest) {
            return Some((Intent::Suggest, by_words));
        }
        let RefinementSignals { kinds, budget, popular, constraints, recipient, occasion, item_language, .. } =
            &self.signals;
        let is_detailed = budget.is_some()
            || *popular
            || !constraints.is_empty()
            || recipient.is_some()
            || occasion.is_some()
            || item_language.is_some()
            || self.has(PhraseRow::Show);
        let wants = !kinds.is_empty() || self.has(PhraseRow::Something) && self.ask.in_play;
        if wants && is_detailed && (self.has(PhraseRow::Show) || !self.is_question_of_facts()) {
            return Some((Intent::Suggest, by_words.min(0.8)));
        }
        let is_kind_alone =
            !kinds.is_empty() && unknown == 0 && (!self.is_question_of_facts() || self.has(PhraseRow::WhatAbout));
        is_kind_alone.then_some((Intent::Suggest, 0.7))
    }

    /// Recognises a question about facts: "Which book did Ann bring?"
    fn is_question_of_facts(&self) -> bool {
        self.has(PhraseRow::Question)
    }

    /// Returns the confidence that the question is unrelated to suggestions: .9 if there is no suggestion or the member
    /// starts over, .75 for a complete question of its own, else .5.
    fn plain_confidence(&self, unknown: usize) -> f64 {
        let may_point = self.item.is_some() || self.person.is_some() || !self.more.is_empty();
        match () {
            () if !self.ask.in_play || self.signals.start_over => 0.9,
            () if may_point || !self.is_question() || unknown == 0 => 0.5,
            () => 0.75,
        }
    }

    /// Returns the member's words for the wanted thing: the question without the parts that have a field of their own
    /// (names, budget, recipient), and without fillers around it. `None` if the question asks for no suggestion or no
    /// words are left.
    fn subject(&self, intent: Intent) -> Option<String> {
        if !intent.suggests() {
            return None;
        }
        let rows = [
            PhraseRow::Suggest,
            PhraseRow::Show,
            PhraseRow::More,
            PhraseRow::Cheaper,
            PhraseRow::StartOver,
            PhraseRow::NotThat,
            PhraseRow::Search,
            PhraseRow::PersonPronoun,
        ];
        let mut taken: Vec<TokenSpan> = rows.into_iter().flat_map(|row| self.rows.of(row)).copied().collect();
        taken.extend(self.of_names.iter().chain(&self.of_details()).copied());
        let fillers = self.rows.of(PhraseRow::Fillers);
        let something = self.rows.of(PhraseRow::Something);
        let by = self.rows.of(PhraseRow::By);
        let kinds = self.table.named(NamedRow::Kinds, self.tokens);
        let within = |spans: &[TokenSpan], at: usize| spans.iter().any(|span| span.from <= at && at < span.to);
        let is_empty = |at: usize| within(fillers, at) || within(something, at) || within(by, at);
        let mut kept: Vec<usize> = (0..self.tokens.len()).filter(|at| !within(&taken, *at)).collect();
        while kept.first().is_some_and(|at| is_empty(*at)) {
            kept.remove(0);
        }
        while kept.last().is_some_and(|at| is_empty(*at)) {
            kept.pop();
        }
        let says_more =
            kept.iter().any(|at| !is_empty(*at) && !kinds.iter().any(|(span, _)| span.from <= *at && *at < span.to));
        let words: Vec<&str> =
            kept.iter().filter_map(|at| self.tokens.get(*at)).map(|token| token.written(self.ask.text)).collect();
        says_more.then(|| words.join(" "))
    }

    /// Returns the positions of the signals that have a field of their own. Kinds are not among them, since they stay
    /// part of the subject.
    fn of_details(&self) -> Vec<TokenSpan> {
        let kinds = self.table.named(NamedRow::Kinds, self.tokens);
        self.of_signals.iter().copied().filter(|span| !kinds.iter().any(|(kind, _)| kind == span)).collect()
    }
}

#[cfg(test)]
mod tests;
