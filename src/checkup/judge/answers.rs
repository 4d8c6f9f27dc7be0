//! Judges a model's answer to a question about a made-up chat.

use std::time::Duration;

use super::{ModelSettings, model_remedy};
use crate::checkup::CheckFinding;
use crate::checkup::sample::{ANSWER, Cited};
use chime_access::gateway::fitting_talk;
use chime_core::config::ContextTokens;
use chime_core::{TokenUse, clip, grouped};
use chime_llm::{LlmError, ServerFacts};

const NAME: &str = "answers";
/// Maximum number of characters of a wrong answer that the finding shows.
const SHOWN: usize = 80;

/// Answer to the question about a made-up chat, with measurements.
#[derive(Debug)]
pub struct Sampled {
    pub answer: String,
    pub is_right: bool,
    /// `true` if the answer to the same question in German is right and in German; `None` if it was not asked, because
    /// the first answer was wrong.
    pub in_german: Option<Result<bool, LlmError>>,
    pub cited: Cited,
    pub took: Duration,
    pub tokens: TokenUse,
    pub facts: ServerFacts,
    pub context_tokens: ContextTokens,
    /// Number of tokens that a prompt can use for messages on this server.
    pub talk_tokens: usize,
}

/// Reports on the answer. A wrong answer is only a warning: the next may be right, and Chime works.
pub fn answers(sampled: &Sampled) -> CheckFinding {
    let from_talk = match (sampled.is_right, &sampled.in_german) {
        (false, _) => {
            let answer = sampled.answer.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("no, \"{}\" instead of {ANSWER} euros", clip(&answer, SHOWN))
        }
        (true, None) => "yes".to_owned(),
        (true, Some(Ok(true))) => "yes, in German too".to_owned(),
        (true, Some(Ok(false))) => "yes, in German no".to_owned(),
        (true, Some(Err(LlmError::TimedOut))) => "yes, in German not in time".to_owned(),
        (true, Some(Err(error))) => format!("yes, in German not ({error})"),
    };
    let what = [
        format!("from the talk: {from_talk}"),
        format!("cites: {}", cites(sampled.cited)),
        speed(sampled),
        match sampled.facts.context {
            Some(context) => format!("context: {} tokens", grouped(context as u64)),
            None => "context: the server does not tell".to_owned(),
        },
    ];
    let what = what.join("; ");
    if sampled.is_right {
        return CheckFinding::ok(NAME, what);
    }
    CheckFinding::warn(
        NAME,
        what,
        "run chime check again; if that stays so, set MODEL to a larger one (docs/operating.md)",
    )
}

/// Reports that the question failed with an error, or was not answered within `took`.
pub fn unanswered(error: &LlmError, took: Duration) -> CheckFinding {
    match error {
        LlmError::TimedOut => CheckFinding::warn(
            NAME,
            format!("none to a question about eight messages within {} s", took.as_secs()),
            "use a faster or smaller MODEL: members would wait as long",
        ),
        error => CheckFinding::warn(
            NAME,
            format!("none to a question about eight messages: {error}"),
            model_remedy(error, &ModelSettings::of("MODEL", false)),
        ),
    }
}

fn cites(cited: Cited) -> &'static str {
    match cited {
        Cited::Source => "yes",
        Cited::AnotherMessage => "another message, Chime corrects that",
        Cited::Nothing | Cited::NotWanted => "no, Chime adds sources",
    }
}

fn speed(sampled: &Sampled) -> String {
    let TokenUse { prompt, completion } = sampled.tokens;
    let seconds = sampled.took.as_secs_f64();
    let took = format!("{} tokens read and {} written in {seconds:.1} s", grouped(prompt), grouped(completion));
    let (so, talk) = match sampled.context_tokens {
        ContextTokens::Fixed(tokens) => {
            let tokens = fitting_talk(tokens, sampled.facts) as u64;
            ("and", format!("it is given {} tokens of talk (CONTEXT_TOKENS)", grouped(tokens)))
        }
        ContextTokens::Auto => {
            ("so", format!("it is given about {} tokens of talk", grouped(sampled.talk_tokens as u64)))
        }
    };
    match sampled.facts.reads_per_second {
        Some(speed) => format!("{took}; reads about {} tokens a second, {so} {talk}", grouped(speed.round() as u64)),
        None => format!("{took}; {talk}"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn sampled() -> Sampled {
        Sampled {
            answer: "34 euros [4].".to_owned(),
            is_right: true,
            in_german: Some(Ok(true)),
            cited: Cited::Source,
            took: Duration::from_millis(3_210),
            tokens: TokenUse { prompt: 412, completion: 9 },
            facts: ServerFacts { context: Some(8192), reads_per_second: Some(187.6), ..ServerFacts::default() },
            context_tokens: ContextTokens::Auto,
            talk_tokens: 900,
        }
    }

    #[test]
    fn a_model_is_told_by_its_answer() {
        let unknown = ServerFacts::default();
        let fixed = ContextTokens::Fixed(3000);
        let cases = [
            sampled(),
            Sampled { in_german: Some(Ok(false)), cited: Cited::NotWanted, facts: unknown, ..sampled() },
            Sampled { in_german: Some(Err(LlmError::TimedOut)), context_tokens: fixed, ..sampled() },
            Sampled { in_german: None, is_right: false, answer: "90\neuros".to_owned(), ..sampled() },
        ];
        let mut lines: Vec<String> = cases.iter().map(|case| answers(case).to_string()).collect();
        lines.push(unanswered(&LlmError::TimedOut, Duration::from_millis(60_040)).to_string());
        lines.push(unanswered(&LlmError::Filtered, Duration::ZERO).to_string());
        expect![[r#"
            ok answers: from the talk: yes, in German too; cites: yes; 412 tokens read and 9 written in 3.2 s; reads about 188 tokens a second, so it is given about 900 tokens of talk; context: 8 192 tokens
            ok answers: from the talk: yes, in German no; cites: no, Chime adds sources; 412 tokens read and 9 written in 3.2 s; it is given about 900 tokens of talk; context: the server does not tell
            ok answers: from the talk: yes, in German not in time; cites: yes; 412 tokens read and 9 written in 3.2 s; reads about 188 tokens a second, and it is given 3 000 tokens of talk (CONTEXT_TOKENS); context: 8 192 tokens
            warn answers: from the talk: no, "90 euros" instead of 34 euros; cites: yes; 412 tokens read and 9 written in 3.2 s; reads about 188 tokens a second, so it is given about 900 tokens of talk; context: 8 192 tokens; do: run chime check again; if that stays so, set MODEL to a larger one (docs/operating.md)
            warn answers: none to a question about eight messages within 60 s; do: use a faster or smaller MODEL: members would wait as long
            warn answers: none to a question about eight messages: the model's content filter withheld the answer; do: try another MODEL"#]].assert_eq(&lines.join("\n"));
    }
}
