//! Finds the highest price that a question allows: "under 30 a head", "kuni 50 euro", "20-30 €".

use crate::followup::tables::{FollowUpTable, FollowUpTables, NamedRow, PhraseRow, TokenSpan};
use crate::followup::words::FoldedToken;
use chime_core::{Amount, Price};

/// A sum of money in the question.
struct Sum {
    price: Price,
    span: TokenSpan,
}

/// Returns the highest price that the question allows, and the positions of all its words about money. A question such
/// as "over 20" has such words but no highest price.
pub fn budget(tokens: &[FoldedToken], table: &FollowUpTable) -> (Option<Price>, Vec<TokenSpan>) {
    let marks = |row, is_most| table.find(row, tokens).into_iter().map(move |span| (span, is_most));
    let marks: Vec<(TokenSpan, bool)> =
        marks(PhraseRow::BudgetMax, true).chain(marks(PhraseRow::BudgetMin, false)).collect();
    let children = table.find(PhraseRow::Children, tokens);
    let (mut highest, mut spans): (Option<Price>, Vec<TokenSpan>) = (None, Vec::new());
    for Sum { price, span } in sums(tokens, table) {
        let before = marks.iter().filter(|(mark, _)| mark.to == span.from);
        let before = before.max_by_key(|(mark, is_most)| (mark.to - mark.from, *is_most));
        // Behind the sum, a phrase ("30 or less") always limits it, a single word ("30 max") only at the end of a
        // clause: else the word may begin what follows.
        let ends =
            |mark: &TokenSpan| mark.to - mark.from > 1 || tokens[mark.to - 1].ends_clause || mark.to == tokens.len();
        let mark = before.or_else(|| marks.iter().find(|(mark, _)| mark.from == span.to && ends(mark)));
        // "Kids under 12" are no price; "8 people under 50" may be one.
        let is_counted = |at: usize| at.checked_sub(1).is_some_and(|before| number(&tokens[before].word).is_some());
        let is_age = |mark: &TokenSpan| children.iter().any(|child| child.to == mark.from && !is_counted(child.from));
        if price.currency.is_none() && mark.is_some_and(|(mark, _)| is_age(mark)) {
            continue;
        }
        // "Between 20 and 30": only one word may stand between two sums.
        let is_range = spans.last().is_some_and(|last: &TokenSpan| last.to + 1 >= span.from);
        if mark.is_none() && price.currency.is_none() && !is_range {
            continue;
        }
        let (from, to) =
            mark.map_or((span.from, span.to), |(mark, _)| (mark.from.min(span.from), mark.to.max(span.to)));
        spans.push(TokenSpan { from: if is_range { from.min(span.from.saturating_sub(1)) } else { from }, to });
        if mark.is_none_or(|(_, is_most)| *is_most) {
            let currency = price.currency.or_else(|| highest.as_ref().and_then(|other| other.currency.clone()));
            let amount = highest.map_or(price.amount, |other| other.amount.max(price.amount));
            highest = Some(Price { amount, currency });
        }
    }
    (highest, spans)
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
                // The word is not money: "2nd", "10am".
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
            found.push(Sum { price: Price { amount, currency: named }, span });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::followup::words::tokens;

    #[track_caller]
    fn check(code: &str, asks: &[&str], expected: Expect) {
        let table = FollowUpTables::shipped().get(code).expect("a table");
        let lines = asks.iter().map(|ask| match budget(&tokens(ask), table) {
            (_, spans) if spans.is_empty() => format!("{ask}: none"),
            (None, _) => format!("{ask}: no limit"),
            (Some(price), _) => format!("{ask}: {} {}", price.amount, price.currency.as_deref().unwrap_or("?")),
        });
        expected.assert_eq(&lines.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn limits_in_english() {
        check(
            "en",
            &[
                "a place for Friday, under 30 a head",
                "over 20",
                "under A$ 40",
                "max r$50",
                "up to €50 please",
                "between 20 and 30 euros",
                "between 20 and 30",
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
                "a book for kids under 12",
                "a game for about 6 players",
                "dinner for 8 people under 50",
                "a phone under 1999",
                "30 max, please",
            ],
            expect![[r#"
                a place for Friday, under 30 a head: 30 ?
                over 20: no limit
                under A$ 40: 40 AUD
                max r$50: 50 BRL
                up to €50 please: 50 EUR
                between 20 and 30 euros: 30 EUR
                between 20 and 30: 30 ?
                20-30 €: 30 EUR
                no more than $1,500: 1500 USD
                12.50 or less: 12.50 ?
                around 100 dollars: 100 USD
                something for 25eur: 25 EUR
                max 2k: 2000 ?
                over 20 but under 40: 40 ?
                under 30 minutes from here: none
                we are 8 people: none
                the 2nd one: none
                at 19.30: none
                a book for kids under 12: none
                a game for about 6 players: none
                dinner for 8 people under 50: 50 ?
                a phone under 1999: 1999 ?
                30 max, please: 30 ?"#]],
        );
    }

    #[test]
    fn limits_in_other_languages() {
        let asks = ["raamatud alla 20 euro", "kuni 50€", "üle 20 euro", "umbes 30 euro", "20-30 eurot"];
        check(
            "et",
            &asks,
            expect![[r#"
            raamatud alla 20 euro: 20 EUR
            kuni 50€: 50 EUR
            üle 20 euro: no limit
            umbes 30 euro: 30 EUR
            20-30 eurot: 30 EUR"#]],
        );
        check(
            "de",
            &["bis zu 15,50 €", "zwischen 10 und 20 Euro", "einen Film von 1994", "für ein Mädchen unter 10"],
            expect![[r#"
            bis zu 15,50 €: 15.50 EUR
            zwischen 10 und 20 Euro: 20 EUR
            einen Film von 1994: none
            für ein Mädchen unter 10: none"#]],
        );
        check(
            "es",
            &["menos de 20 euros", "entre 10 y 20 euros", "más de 15 €", "los 85 de la abuela", "una niña de 7"],
            expect![[r#"
            menos de 20 euros: 20 EUR
            entre 10 y 20 euros: 20 EUR
            más de 15 €: no limit
            los 85 de la abuela: none
            una niña de 7: none"#]],
        );
        check(
            "fr",
            &["moins de 20 euros", "jusqu'à 35 €", "près de 75 rue de Rivoli"],
            expect![[r#"
            moins de 20 euros: 20 EUR
            jusqu'à 35 €: 35 EUR
            près de 75 rue de Rivoli: none"#]],
        );
        check(
            "ru",
            &["до 1500 рублей", "не дороже 20 евро", "от 500 до 900 руб"],
            expect![[r#"
            до 1500 рублей: 1500 RUB
            не дороже 20 евро: 20 EUR
            от 500 до 900 руб: 900 RUB"#]],
        );
    }
}
