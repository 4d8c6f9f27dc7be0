//! Judges an answer by its case.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use crate::answers::{Case, Detector, UnknownLanguage};
use chime_core::pattern;

/// Length of a random code of ours, such as the delimiter around members' messages.
const CODE_CHARS: usize = 6;

/// Prompt syntax that must not appear in an answer.
static INTERNALS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\bm\d+\b|\bu\d+\b|<<<|<\||\bfocus\b|\[source|uncertainty:"));
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[0-9A-Za-z]+"));

/// Reply to a question.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CaseAnswer {
    pub text: String,
    /// Text below the answer, such as the list of its sources.
    pub below: String,
    /// `true` if the text only says that there is no answer.
    pub is_apology: bool,
    /// Numbers of the lines that the answer links to.
    pub links: Vec<i64>,
    /// Seconds from the question to the final text.
    pub seconds: f64,
    pub prompt_tokens: u64,
    pub answer_tokens: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnswerJudgement {
    /// `true` if the answer contains all facts and nothing forbidden, is in the expected language, and is no apology.
    pub is_right: bool,
    /// `Some(true)` if a line with the fact is linked; `None` if no source is expected.
    pub is_sourced: Option<bool>,
    pub is_in_language: bool,
    /// Words from the prompt in the answer that are not in the chat.
    pub internals: Vec<String>,
    pub is_apology: bool,
}

/// Judge of the answers to a set of cases.
#[derive(Debug)]
pub struct Judge {
    languages: Detector,
}

impl Judge {
    /// Creates a judge for `cases`.
    ///
    /// # Errors
    /// Fails if the language of a case is unknown.
    pub fn of(cases: &[Case]) -> Result<Self, UnknownLanguage> {
        Ok(Self { languages: Detector::new(cases.iter().map(|case| case.language.as_str()))? })
    }

    pub fn judge(&self, case: &Case, answer: &CaseAnswer) -> AnswerJudgement {
        let text = answer.text.as_str();
        let is_in_language = self.languages.may_be(text, &case.language);
        let is_apology = answer.is_apology || text.trim().is_empty();
        let has_facts = case.facts.iter().all(|fact| fact.is_match(text));
        let has_none = !case.never.iter().any(|never| never.is_match(text));
        AnswerJudgement {
            is_right: has_facts && has_none && is_in_language && !is_apology,
            is_sourced: (!case.sources.is_empty())
                .then(|| case.sources.iter().any(|source| answer.links.contains(source))),
            is_in_language,
            internals: internals(case, &format!("{text}\n{}", answer.below)),
            is_apology,
        }
    }
}

fn internals(case: &Case, text: &str) -> Vec<String> {
    let codes = WORD.find_iter(text).filter(|word| is_code(word.as_str()));
    let said = |found: &str| case.ask.contains(found) || case.lines.iter().any(|line| line.text.contains(found));
    let found = INTERNALS.find_iter(text).chain(codes).map(|found| found.as_str());
    found.filter(|found| !said(found)).map(str::to_owned).collect()
}

/// Returns `true` if a word looks like a random code: long, in capitals, with several digits.
fn is_code(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let capitals = word.chars().filter(char::is_ascii_uppercase).count();
    word.len() >= CODE_CHARS && digits >= 2 && capitals >= 2 && digits + capitals == word.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::{CaseKind, CaseLine};

    fn case() -> Case {
        let line = |number, text: &str| CaseLine {
            number,
            at: number * 60,
            name: "Ana".to_owned(),
            reply_to: None,
            text: text.to_owned(),
        };
        let pattern = |pattern: &str| Regex::new(pattern).unwrap();
        Case {
            id: "key".to_owned(),
            kind: CaseKind::Own,
            language: "de".to_owned(),
            title: None,
            lines: vec![line(1, "Wer hat den Schlüssel für die M4?"), line(2, "Liegt unter der Matte")],
            asker: "Lena".to_owned(),
            ask: "@bot wo ist er?".to_owned(),
            asked_at: 300,
            reply_to: None,
            facts: vec![pattern("(?i)matte")],
            never: vec![pattern("(?i)lena")],
            sources: vec![2],
        }
    }

    fn answer(text: &str) -> CaseAnswer {
        CaseAnswer { text: text.to_owned(), links: vec![2], ..CaseAnswer::default() }
    }

    #[track_caller]
    fn check(answer: &CaseAnswer, expected: &str) {
        let case = case();
        let verdict = Judge::of(std::slice::from_ref(&case)).unwrap().judge(&case, answer);
        let mut said = vec![
            if verdict.is_right { "right" } else { "wrong" },
            if verdict.is_sourced == Some(true) { "sourced" } else { "not sourced" },
        ];
        said.extend((!verdict.is_in_language).then_some("other language"));
        said.extend(verdict.is_apology.then_some("apology"));
        said.extend(verdict.internals.iter().map(String::as_str));
        assert_eq!(said.join(", "), expected);
    }

    #[test]
    fn an_answer_is_judged_by_its_facts_its_links_and_its_language() {
        check(&answer("Er liegt unter der Matte."), "right, sourced");
        check(&CaseAnswer { links: vec![1], ..answer("Er liegt unter der Matte.") }, "right, not sourced");
        check(&answer("Lena sagt, er liegt unter der Matte."), "wrong, sourced");
        check(&answer("Er liegt im Briefkasten."), "wrong, sourced");
        check(&answer("The key is under the mat, that is what they call Matte."), "wrong, sourced, other language");
        check(&CaseAnswer { is_apology: true, ..answer("Unter der Matte.") }, "wrong, sourced, apology");
        check(&CaseAnswer { below: "Unter der Matte".to_owned(), ..answer("Er liegt vorne.") }, "wrong, sourced");
        check(&CaseAnswer::default(), "wrong, not sourced, apology");
    }

    #[test]
    fn words_of_the_prompt_are_internals_unless_the_chat_has_them() {
        check(&answer("Unter der Matte [m17]"), "right, sourced, m17");
        check(&answer("Unter der Matte, sagt u3 <|end|>"), "right, sourced, u3, <|");
        check(&answer("Unter der Matte der M4"), "right, sourced");
        check(&answer("<<<chat 7K2QXA Matte"), "right, sourced, <<<, 7K2QXA");
        check(&answer("Matte 2026 ABCDEFG"), "right, sourced");
        check(&answer("Matte, Focus, [source: 4]"), "right, sourced, Focus, [source");
        check(&CaseAnswer { below: "m4".to_owned(), ..answer("Matte") }, "right, sourced, m4");
    }
}
