//! Computes figures over judged answers and formats them as a table.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::answers::{AnswerJudgement, Case, CaseAnswer, CaseKind};

/// Program that gave an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answerer {
    Chime,
    /// The model alone, with a plain prompt.
    Plain,
}

impl Answerer {
    pub fn name(self) -> &'static str {
        match self {
            Self::Chime => "chime",
            Self::Plain => "plain",
        }
    }
}

/// Answer with its judgement.
#[derive(Debug, Clone, Serialize)]
pub struct Judged {
    pub case: String,
    pub kind: CaseKind,
    pub answerer: Answerer,
    pub answer: CaseAnswer,
    pub verdict: AnswerJudgement,
}

impl Judged {
    pub fn new(case: &Case, answerer: Answerer, answer: CaseAnswer, verdict: AnswerJudgement) -> Self {
        Self { case: case.id.clone(), kind: case.kind, answerer, answer, verdict }
    }
}

/// Counts and medians over answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AnswerFigures {
    pub answers: usize,
    pub right: usize,
    /// Right answers to cases with expected sources.
    pub to_source: usize,
    /// Right answers that link to one of the expected sources.
    pub sourced: usize,
    pub in_language: usize,
    /// Answers that show words from the prompt.
    pub internals: usize,
    pub apologies: usize,
    pub median_seconds: f64,
    pub median_prompt_tokens: u64,
    pub median_answer_tokens: u64,
}

impl AnswerFigures {
    pub fn of<'a>(judged: impl IntoIterator<Item = &'a Judged>) -> Self {
        let judged: Vec<&Judged> = judged.into_iter().collect();
        let count = |is: fn(&Judged) -> bool| judged.iter().filter(|one| is(one)).count();
        let tokens = |of: fn(&CaseAnswer) -> u64| median(judged.iter().map(|one| of(&one.answer)).collect());
        let millis = judged.iter().map(|one| (one.answer.seconds * 1_000.0).round() as u64).collect();
        Self {
            answers: judged.len(),
            right: count(|one| one.verdict.is_right),
            to_source: count(|one| one.verdict.is_right && one.verdict.is_sourced.is_some()),
            sourced: count(|one| one.verdict.is_right && one.verdict.is_sourced == Some(true)),
            in_language: count(|one| one.verdict.is_in_language),
            internals: count(|one| !one.verdict.internals.is_empty()),
            apologies: count(|one| one.verdict.is_apology),
            median_seconds: median(millis) as f64 / 1_000.0,
            median_prompt_tokens: tokens(|answer| answer.prompt_tokens),
            median_answer_tokens: tokens(|answer| answer.answer_tokens),
        }
    }
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// Formats one row for each kind of case and one for all, for each answerer.
pub fn table(judged: &[Judged]) -> String {
    let mut rows: BTreeMap<(Answerer, bool, &str), Vec<&Judged>> = BTreeMap::new();
    let mut kinds: Vec<CaseKind> = judged.iter().map(|one| one.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for one in judged {
        rows.entry((one.answerer, false, one.kind.as_str())).or_default().push(one);
        rows.entry((one.answerer, true, "all")).or_default().push(one);
    }
    let mut text = format!(
        "{:<6} {:<10} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8} {:>7} {:>7}\n",
        "", "", "right", "sources", "language", "internals", "apologies", "seconds", "prompt", "answer"
    );
    for answerer in [Answerer::Chime, Answerer::Plain] {
        let names = kinds.iter().map(|kind| (false, kind.as_str())).chain([(true, "all")]);
        for (is_total, name) in names {
            if let Some(of_row) = rows.get(&(answerer, is_total, name)) {
                text.push_str(&row(answerer, name, &AnswerFigures::of(of_row.iter().copied())));
            }
        }
    }
    text
}

fn row(answerer: Answerer, name: &str, figures: &AnswerFigures) -> String {
    let of = |count: usize, all: usize| format!("{count}/{all}");
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "{:<6} {name:<10} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8.1} {:>7} {:>7}",
        answerer.name(),
        of(figures.right, figures.answers),
        if answerer == Answerer::Plain { "-".to_owned() } else { of(figures.sourced, figures.to_source) },
        of(figures.in_language, figures.answers),
        figures.internals,
        figures.apologies,
        figures.median_seconds,
        figures.median_prompt_tokens,
        figures.median_answer_tokens,
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(kind: CaseKind, answerer: Answerer, is_right: bool, is_sourced: Option<bool>, seconds: f64) -> Judged {
        let verdict = AnswerJudgement {
            is_right,
            is_sourced,
            is_in_language: true,
            internals: Vec::new(),
            is_apology: !is_right,
        };
        let answer = CaseAnswer { seconds, prompt_tokens: 100, answer_tokens: 9, ..CaseAnswer::default() };
        Judged { case: "one".to_owned(), kind, answerer, answer, verdict }
    }

    #[test]
    fn a_row_for_each_kind_and_one_for_all() {
        let all = [
            judged(CaseKind::Own, Answerer::Chime, true, Some(true), 2.0),
            judged(CaseKind::Own, Answerer::Chime, false, Some(false), 4.0),
            judged(CaseKind::Bare, Answerer::Chime, true, None, 9.0),
            judged(CaseKind::Own, Answerer::Plain, true, Some(false), 1.25),
        ];
        expect_test::expect![[r#"
                                 right  sources language internals apologies  seconds  prompt  answer
            chime  bare            1/1      0/0      1/1         0         0      9.0     100       9
            chime  own             1/2      1/1      2/2         0         1      4.0     100       9
            chime  all             2/3      1/1      3/3         0         1      4.0     100       9
            plain  own             1/1        -      1/1         0         0      1.2     100       9
            plain  all             1/1        -      1/1         0         0      1.2     100       9
        "#]]
        .assert_eq(&table(&all));
    }
}
