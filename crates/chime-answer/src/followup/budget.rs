//! Parses the budget in a question: "under 30 a head", "kuni 50 euro", "20-30 €".

use crate::followup::tables::{FollowUpTable, FollowUpTables, NamedRow, PhraseRow, TokenSpan};
use crate::followup::words::FoldedToken;
use chime_core::{Amount, Budget};

/// Tolerance of "about 30", in percent.
const ABOUT_PERCENT: u64 = 20;

/// A sum of money in the question.
#[derive(Debug, Clone)]
struct Sum {
    amount: Amount,
    currency: Option<String>,
    span: TokenSpan,
}

enum Bound {
    Max,
    Min,
    About,
}

/// Returns the budget in the question, and the positions of the words that state it. `None` if there is none.
pub fn budget(text: &str, tokens: &[FoldedToken], table: &FollowUpTable) -> Option<(Budget, Vec<TokenSpan>)> {
    let sums = sums(tokens, table);
    let mut budget = Budget::default();
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(sum) = sums.get(at) {
        at += 1;
        if let Some((second, span)) = sums.get(at).and_then(|next| Some((next, range(text, tokens, table, sum, next)?)))
        {
            (budget.min, budget.max) = (Some(sum.amount.min(second.amount)), Some(sum.amount.max(second.amount)));
            budget.currency = second.currency.clone().or_else(|| sum.currency.clone());
            spans.push(span);
            at += 1;
            continue;
        }
        let Some((bound, span)) = bound(tokens, table, sum) else { continue };
        match bound {
            Bound::Max => budget.max = Some(sum.amount),
            Bound::Min => budget.min = Some(sum.amount),
            Bound::About => {
                let width = sum.amount.0 * ABOUT_PERCENT / 100;
                budget.min = Some(Amount(sum.amount.0 - width));
                budget.max = Some(Amount(sum.amount.0 + width));
            }
        }
        budget.currency = budget.currency.or_else(|| sum.currency.clone());
        spans.push(span);
    }
    let whole =
        TokenSpan { from: spans.iter().map(|span| span.from).min()?, to: spans.iter().map(|span| span.to).max()? };
    budget.hint = Some(whole.written(text, tokens));
    Some((budget, spans))
}

/// Returns the ISO code of the currency that the words at `at` name, in this language or in English, and the number of
/// those words.
pub fn currency(tokens: &[FoldedToken], at: usize, table: &FollowUpTable) -> Option<(String, usize)> {
    let rest = tokens.get(at..)?;
    let everywhere = FollowUpTables::shipped().get("en");
    let tables = std::iter::once(table).chain(everywhere);
    let named = |table: &FollowUpTable| {
        let (span, code) = table.named(NamedRow::Currencies, rest).into_iter().find(|(span, _)| span.from == 0)?;
        Some((code.to_owned(), span.to))
    };
    tables.into_iter().find_map(named)
}

/// Parses a number such as "30", "12,99", "1.500", "2k" or "30eur". Returns the amount and the letters directly after
/// the digits; `None` if the word does not begin with a digit.
pub fn number(word: &str) -> Option<(Amount, &str)> {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(word.len());
    let (digits, letters) = word.split_at(end);
    let digits = digits.trim_end_matches(['.', ',']);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    // The last separator is the decimal one, unless three digits follow it: then it separates thousands.
    let (whole, cents) = match digits.rfind(['.', ',']) {
        Some(at) if digits.len() - at - 1 != 3 => (&digits[..at], &digits[at + 1..]),
        _ => (digits, ""),
    };
    let plain: String = whole.chars().filter(char::is_ascii_digit).collect();
    let units: u64 = plain.parse().ok().filter(|units| *units < 1_000_000_000)?;
    let cents: u64 = format!("{cents:0<2}").get(..2)?.parse().ok()?;
    match letters {
        "k" => Some((Amount::units(units * 1000), "")),
        letters => Some((Amount(units * 100 + cents), letters)),
    }
}

fn sums(tokens: &[FoldedToken], table: &FollowUpTable) -> Vec<Sum> {
    let mut found: Vec<Sum> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Some((amount, letters)) = number(&token.word) else { continue };
        let mut span = TokenSpan { from: at, to: at + 1 };
        let mut named = None;
        if !letters.is_empty() {
            let unit = FoldedToken { word: letters.to_owned(), ..token.clone() };
            match currency(std::slice::from_ref(&unit), 0, table) {
                Some((code, _)) => named = Some(code),
                // Not money: "2nd", "10am".
                None => continue,
            }
        }
        if let Some((code, length)) = currency(tokens, at + 1, table).filter(|_| !token.ends_clause) {
            span.to += length;
            named = named.or(Some(code));
        } else if let Some((code, 1)) = at.checked_sub(1).and_then(|before| currency(tokens, before, table))
            && found.last().is_none_or(|before| before.span.to < at)
        {
            span.from = at - 1;
            named = named.or(Some(code));
        }
        let rest = tokens.get(span.to..).unwrap_or_default();
        let is_other_unit = table.find(PhraseRow::NotMoney, rest).first().is_some_and(|span| span.from == 0);
        if named.is_some() || !is_other_unit || token.ends_clause {
            found.push(Sum { amount, currency: named, span });
        }
    }
    found
}

/// Returns the position of a range if the two sums form one: "between 20 and 30", "20-30 €".
fn range(text: &str, tokens: &[FoldedToken], table: &FollowUpTable, first: &Sum, second: &Sum) -> Option<TokenSpan> {
    let between_words = second.span.from.checked_sub(first.span.to)?;
    let written = text.get(tokens.get(first.span.to - 1)?.end..tokens.get(second.span.from)?.start)?;
    if between_words == 0 && matches!(written.trim(), "-" | "–" | "—") {
        let is_money = first.currency.is_some() || second.currency.is_some();
        return is_money.then_some(TokenSpan { from: first.span.from, to: second.span.to });
    }
    let marker = ending_at(table.find(PhraseRow::Between, tokens), first.span.from)?;
    (between_words == 1).then_some(TokenSpan { from: marker.from, to: second.span.to })
}

/// Returns the kind of limit that the words around a sum state ("under", "at least", "about"), and the position of all.
/// Without such words, a sum with a currency is an upper limit.
fn bound(tokens: &[FoldedToken], table: &FollowUpTable, sum: &Sum) -> Option<(Bound, TokenSpan)> {
    let before = [
        (PhraseRow::BudgetMax, Bound::Max),
        (PhraseRow::BudgetMin, Bound::Min),
        (PhraseRow::BudgetAbout, Bound::About),
    ];
    let marked = before
        .into_iter()
        .filter_map(|(row, bound)| Some((ending_at(table.find(row, tokens), sum.span.from)?, bound)))
        .max_by_key(|(span, bound)| (span.to - span.from, matches!(bound, Bound::Max)));
    if let Some((span, bound)) = marked {
        return Some((bound, TokenSpan { from: span.from, to: sum.span.to }));
    }
    for (row, bound) in [(PhraseRow::BudgetMaxAfter, Bound::Max), (PhraseRow::BudgetMinAfter, Bound::Min)] {
        let rest = tokens.get(sum.span.to..)?;
        if let Some(after) = table.find(row, rest).into_iter().find(|span| span.from == 0) {
            return Some((bound, TokenSpan { from: sum.span.from, to: sum.span.to + after.to }));
        }
    }
    sum.currency.as_ref().map(|_| (Bound::Max, sum.span))
}

fn ending_at(spans: Vec<TokenSpan>, at: usize) -> Option<TokenSpan> {
    spans.into_iter().find(|span| span.to == at)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::followup::words::tokens;

    #[track_caller]
    fn check(code: &str, asks: &[&str], expected: Expect) {
        let table = FollowUpTables::shipped().get(code).expect("a table");
        let told = asks.iter().map(|ask| {
            let Some((budget, _)) = budget(ask, &tokens(ask), table) else { return format!("{ask}: none") };
            let shown = |amount: Option<Amount>| amount.map_or("-".to_owned(), |amount| amount.to_string());
            let currency = budget.currency.as_deref().unwrap_or("?");
            let hint = budget.hint.as_deref().unwrap_or("?");
            format!("{ask}: {}..{} {currency} \"{hint}\"", shown(budget.min), shown(budget.max))
        });
        expected.assert_eq(&told.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn limits_in_english() {
        check(
            "en",
            &[
                "a place for Friday, under 30 a head",
                "over 20",
                "up to €50 please",
                "between 20 and 30 euros",
                "20-30 €",
                "no more than $1,500",
                "12.50 or less",
                "around 100 dollars",
                "something for 25eur",
                "max 2k",
                "over 20 but under 40",
                "under 30 minutes from here",
                "we are 8 people",
                "the 2nd one",
                "at 19.30",
            ],
            expect![[r#"
                a place for Friday, under 30 a head: -..30 ? "under 30"
                over 20: 20..- ? "over 20"
                up to €50 please: -..50 EUR "up to €50"
                between 20 and 30 euros: 20..30 EUR "between 20 and 30 euros"
                20-30 €: 20..30 EUR "20-30 €"
                no more than $1,500: -..1500 USD "no more than $1,500"
                12.50 or less: -..12.50 ? "12.50 or less"
                around 100 dollars: 80..120 USD "around 100 dollars"
                something for 25eur: -..25 EUR "25eur"
                max 2k: -..2000 ? "max 2k"
                over 20 but under 40: 20..40 ? "over 20 but under 40"
                under 30 minutes from here: none
                we are 8 people: none
                the 2nd one: none
                at 19.30: none"#]],
        );
    }

    #[test]
    fn limits_in_other_languages() {
        check(
            "et",
            &["raamatud alla 20 euro", "kuni 50€", "üle 20 euro", "umbes 30 euro", "20-30 eurot"],
            expect![[r#"
                raamatud alla 20 euro: -..20 EUR "alla 20 euro"
                kuni 50€: -..50 EUR "kuni 50€"
                üle 20 euro: 20..- EUR "üle 20 euro"
                umbes 30 euro: 24..36 EUR "umbes 30 euro"
                20-30 eurot: 20..30 EUR "20-30 eurot""#]],
        );
        check(
            "de",
            &["unter 30 Euro", "bis zu 15,50 €", "zwischen 10 und 20 Euro"],
            expect![[r#"
            unter 30 Euro: -..30 EUR "unter 30 Euro"
            bis zu 15,50 €: -..15.50 EUR "bis zu 15,50 €"
            zwischen 10 und 20 Euro: 10..20 EUR "zwischen 10 und 20 Euro""#]],
        );
        check(
            "es",
            &["menos de 20 euros", "entre 10 y 20 euros", "más de 15 €"],
            expect![[r#"
            menos de 20 euros: -..20 EUR "menos de 20 euros"
            entre 10 y 20 euros: 10..20 EUR "entre 10 y 20 euros"
            más de 15 €: 15..- EUR "más de 15 €""#]],
        );
        check(
            "fr",
            &["moins de 20 euros", "jusqu'à 35 €"],
            expect![[r#"
            moins de 20 euros: -..20 EUR "moins de 20 euros"
            jusqu'à 35 €: -..35 EUR "jusqu'à 35 €""#]],
        );
        check(
            "ru",
            &["до 1500 рублей", "не дороже 20 евро", "от 500 до 900 руб"],
            expect![[r#"
            до 1500 рублей: -..1500 RUB "до 1500 рублей"
            не дороже 20 евро: -..20 EUR "не дороже 20 евро"
            от 500 до 900 руб: 500..900 RUB "от 500 до 900 руб""#]],
        );
    }
}
