//! Refinement signals: changes to a search that patterns find in a question. They never change the intent.

use crate::followup::budget::budget;
use crate::followup::tables::{FollowUpTable, NamedRow, PhraseRow, TokenSpan};
use crate::followup::words::FoldedToken;
use chime_core::{Amount, Budget, Frame, Price};

/// Kinds that are too general to search for: another kind replaces them.
const GENERIC_KINDS: [&str; 3] = ["gift", "place", "activity"];
/// Maximum number of words of a constraint after "no" or "without": "no raw onions at all".
const CONSTRAINT_WORDS: usize = 4;
/// Maximum number of constraints in a frame; the newest are kept.
const MAX_CONSTRAINTS: usize = 8;

pub fn is_generic_kind(kind: &str) -> bool {
    GENERIC_KINDS.contains(&kind)
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RefinementSignals {
    pub cheaper: bool,
    pub popular: bool,
    pub start_over: bool,
    /// `true` if the member refuses a shown item: "not that one".
    pub not_that: bool,
    pub budget: Option<Budget>,
    /// Canonical names, in the order of the question, specific kinds first.
    pub kinds: Vec<String>,
    pub item_language: Option<String>,
    /// Refused things in the member's words: "without onions".
    pub constraints: Vec<String>,
    pub recipient: Option<String>,
    pub occasion: Option<String>,
}

/// Returns the signals of a question, and the positions of the words that state them.
pub fn signals(text: &str, tokens: &[FoldedToken], table: &FollowUpTable) -> (RefinementSignals, Vec<TokenSpan>) {
    let mut spans = Vec::new();
    let mut found = |row: PhraseRow| {
        let here = table.find(row, tokens);
        spans.extend(&here);
        !here.is_empty()
    };
    let (start_over, not_that, popular) =
        (found(PhraseRow::StartOver), found(PhraseRow::NotThat), found(PhraseRow::Popular));
    let money = budget(text, tokens, table);
    // In "cheaper than 20", "cheaper" is part of a limit.
    let of_money = money.as_ref().map(|(_, spans)| spans.clone()).unwrap_or_default();
    let cheaper = table.find(PhraseRow::Cheaper, tokens);
    let cheaper: Vec<TokenSpan> =
        cheaper.into_iter().filter(|span| !of_money.iter().any(|it| it.overlaps(*span))).collect();
    let mut named = |names: NamedRow| {
        let here: Vec<(TokenSpan, &str)> = table.named(names, tokens);
        spans.extend(here.iter().map(|(span, _)| *span));
        here.into_iter().map(|(_, name)| name.to_owned()).collect::<Vec<_>>()
    };
    let recipient = named(NamedRow::Recipients).into_iter().next();
    let occasion = named(NamedRow::Occasions).into_iter().next();
    let item_language = named(NamedRow::ItemLanguages).into_iter().next();
    let taken: Vec<TokenSpan> = spans.iter().chain(&of_money).chain(&cheaper).copied().collect();
    let (constraints, of_constraints) = constraints(text, tokens, table, &taken);
    // "Without loud music" does not ask for music.
    let is_refused = |span: &TokenSpan| of_constraints.iter().any(|it| it.overlaps(*span));
    let of_kinds: Vec<(TokenSpan, &str)> =
        table.named(NamedRow::Kinds, tokens).into_iter().filter(|(span, _)| !is_refused(span)).collect();
    spans.extend(of_kinds.iter().map(|(span, _)| *span));
    let mut kinds: Vec<String> = of_kinds.into_iter().map(|(_, kind)| kind.to_owned()).collect();
    kinds.dedup();
    // Specific kinds come first.
    kinds.sort_by_key(|kind| is_generic_kind(kind));
    spans.extend(of_money);
    spans.extend(&cheaper);
    spans.extend(of_constraints);
    let signals = RefinementSignals {
        cheaper: !cheaper.is_empty(),
        popular,
        start_over,
        not_that,
        budget: money.map(|(budget, _)| budget),
        kinds,
        item_language,
        constraints,
        recipient,
        occasion,
    };
    (signals, spans)
}

/// Returns the constraints "no X" and "without X": the marker and the words up to the end of the clause.
fn constraints(
    text: &str,
    tokens: &[FoldedToken],
    table: &FollowUpTable,
    taken: &[TokenSpan],
) -> (Vec<String>, Vec<TokenSpan>) {
    let (mut said, mut spans) = (Vec::new(), Vec::new());
    for marker in table.find(PhraseRow::Without, tokens) {
        let is_taken = taken.iter().any(|span| span.overlaps(marker));
        let ends_at_once = tokens.get(marker.to - 1).is_none_or(|token| token.ends_clause);
        if is_taken || ends_at_once {
            continue;
        }
        let mut to = marker.to;
        while to < tokens.len() && to - marker.to < CONSTRAINT_WORDS {
            to += 1;
            let next_is_taken = taken.iter().any(|span| span.from == to);
            if next_is_taken || tokens.get(to - 1).is_some_and(|token| token.ends_clause) {
                break;
            }
        }
        let span = TokenSpan { from: marker.from, to };
        if to > marker.to && !spans.iter().any(|other: &TokenSpan| other.overlaps(span)) {
            said.push(span.written(text, tokens));
            spans.push(span);
        }
    }
    (said, spans)
}

/// Changes constraints, kind, item language, popularity and budget of a frame by the signals. Intent, recipient,
/// occasion and entities are not changed. `cheapest` is the lowest price among the shown items.
pub fn refine(frame: &mut Frame, signals: &RefinementSignals, cheapest: Option<&Price>) {
    for constraint in &signals.constraints {
        if !frame.constraints.contains(constraint) {
            frame.constraints.push(constraint.clone());
        }
    }
    let surplus = frame.constraints.len().saturating_sub(MAX_CONSTRAINTS);
    frame.constraints.drain(..surplus);
    if let Some(kind) = signals.kinds.first()
        && (!is_generic_kind(kind) || frame.kind.as_deref().is_none_or(is_generic_kind))
    {
        frame.kind = Some(kind.clone());
    }
    if let Some(language) = &signals.item_language {
        frame.item_language = Some(language.clone());
    }
    frame.popular |= signals.popular;
    if let Some(new) = &signals.budget {
        let currency = new.currency.clone().or_else(|| frame.budget.take().and_then(|old| old.currency));
        frame.budget = Some(Budget { currency, ..new.clone() });
    } else if signals.cheaper {
        frame.budget = cheaper(frame.budget.take(), cheapest);
    }
}

/// Lowers the upper limit to 70 %. Without a limit, the new one is just below the cheapest shown item.
fn cheaper(budget: Option<Budget>, cheapest: Option<&Price>) -> Option<Budget> {
    let max = budget.as_ref().and_then(|budget| budget.max);
    let max = max.map(Amount::cheaper).or_else(|| cheapest.map(|price| price.amount.just_below()));
    let Some(max) = max else { return budget };
    let old = budget.unwrap_or_default();
    let currency = old.currency.or_else(|| cheapest.and_then(|price| price.currency.clone()));
    // A minimum above the new limit would exclude everything.
    let min = old.min.filter(|min| *min < max);
    Some(Budget { min, max: Some(max), currency, hint: old.hint })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::followup::tables::FollowUpTables;
    use crate::followup::words::tokens;
    use chime_core::Intent;

    fn read(code: &str, ask: &str) -> RefinementSignals {
        signals(ask, &tokens(ask), FollowUpTables::shipped().get(code).expect("a table")).0
    }

    #[test]
    fn what_is_not_wanted_becomes_a_constraint_up_to_the_end_of_its_clause() {
        assert_eq!(
            read("en", "more, but no seafood, and without loud music").constraints,
            ["no seafood", "without loud music"]
        );
        assert_eq!(read("et", "näita veel, ilma kalata").constraints, ["ilma kalata"]);
        assert_eq!(read("en", "no, thanks").constraints, [] as [&str; 0]);
    }

    #[test]
    fn kinds_language_recipient_and_occasion_are_named_canonically() {
        let found = read("et", "näita inglisekeelseid raamatuid emale sünnipäevaks");
        assert_eq!(found.kinds, ["book"]);
        assert_eq!(found.item_language.as_deref(), Some("en"));
        assert_eq!((found.recipient.as_deref(), found.occasion.as_deref()), (Some("mother"), Some("birthday")));
        assert_eq!(read("en", "gift ideas, books maybe").kinds, ["book", "gift"]);
    }

    #[test]
    fn cheaper_takes_thirty_percent_off_and_never_touches_the_intent() {
        let budget = Budget { max: Some(Amount::units(50)), ..Budget::default() };
        let mut frame = Frame { intent: Intent::Compare, budget: Some(budget), ..Frame::default() };
        refine(&mut frame, &read("et", "odavamaid"), None);
        assert_eq!(frame.budget.as_ref().and_then(|budget| budget.max), Some(Amount::units(35)));
        assert_eq!(frame.intent, Intent::Compare);
    }

    #[test]
    fn cheaper_without_a_budget_means_below_the_cheapest_shown() {
        let mut frame = Frame::default();
        let cheapest = Price { amount: Amount(1299), currency: Some("EUR".to_owned()) };
        refine(&mut frame, &read("en", "cheaper please"), Some(&cheapest));
        let budget = frame.budget.expect("a budget");
        assert_eq!((budget.max, budget.currency.as_deref()), (Some(Amount(1298)), Some("EUR")));
        let mut unknown = Frame::default();
        refine(&mut unknown, &read("en", "cheaper please"), None);
        assert_eq!(unknown.budget, None);
    }

    #[test]
    fn a_named_limit_wins_over_cheaper() {
        let budget = Budget { max: Some(Amount::units(50)), currency: Some("EUR".to_owned()), ..Budget::default() };
        let mut frame = Frame { budget: Some(budget), ..Frame::default() };
        refine(&mut frame, &read("en", "cheaper, under 40"), None);
        let budget = frame.budget.expect("a budget");
        assert_eq!((budget.max, budget.currency.as_deref()), (Some(Amount::units(40)), Some("EUR")));
    }
}
