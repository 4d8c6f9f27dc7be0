//! Parses and checks the bullets of a model's summary: each must cite existing messages and share content with them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::{members, words};
use chime_core::{Bullet, BulletKind, Seq, clip, pattern};

/// Maximum length of a bullet in characters: twice the length of the longest useful bullets seen.
const BULLET_CHARS: usize = 400;
/// Maximum number of content words of a message that only answers another one, such as "sure" or "no, leave it".
const ANSWER_STEMS: usize = 2;
/// Maximum distance of such an answer from the message before it among the sources of a bullet.
const ANSWER_DISTANCE: u32 = 10;

static REFERENCES: LazyLock<Regex> = LazyLock::new(|| {
    let next = r"\s*(?:[,;&–-]|\band\b|,\s*and\b)\s*m?\d+";
    let list = format!(r"\s*[\[(【](?:sources?:)?\s*m?\d+(?:{next})*\s*[\])】]");
    pattern(&list)
});
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"m(\d+)"));
static LEAD: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+"));

/// Bold text and code. The markup is removed, since bullets are shown as plain text.
static MARKED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\*\*(?P<bold>[^*\s](?:[^*]*[^*\s])?)\*\*|`(?P<code>[^`]+)`"));

/// Text that a bullet may cite as its source: a message, or a bullet of an older summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitableText {
    /// Text, in which members are markers such as `{u7}`.
    pub text: String,
    /// Number of the author; `None` for a bullet.
    pub by: Option<u32>,
    /// Message numbers that a bullet citing this text gets as its sources: this message, or the sources of this older
    /// bullet.
    pub sources: Vec<Seq>,
}

/// Texts that a model may cite, by the number that they have in the prompt: 17 for `m17`.
pub type CitableTexts = BTreeMap<u32, CitableText>;

/// Parses the bullets in a model's answer. Of the texts that a bullet cites, those that share a content word or a
/// number with it become its sources, with short messages that answer these or are by a member whom the bullet names. If
/// none shares a word, those by or about such a member do. Drops bullets without sources.
pub fn parse(answer: &str, grounds: &CitableTexts) -> Vec<Bullet> {
    let mut found: Vec<Bullet> = Vec::new();
    let members: BTreeSet<u32> =
        grounds.values().flat_map(|ground| members::numbers(&ground.text).into_iter().chain(ground.by)).collect();
    for line in answer.lines().filter(|line| LEAD.is_match(line)) {
        let line = LEAD.replace(line, "");
        let cited: BTreeSet<u32> = REFERENCES
            .find_iter(&line)
            .flat_map(|list| {
                NUMBER.captures_iter(list.as_str()).filter_map(|it| it[1].parse().ok()).collect::<Vec<_>>()
            })
            .collect();
        let text = tidy(&REFERENCES.replace_all(&line, |list: &regex::Captures<'_>| {
            // A plain number in parentheses or brackets, such as `(2024)`, belongs to the text; citations are `[m3]`.
            if NUMBER.is_match(&list[0]) { String::new() } else { list[0].to_owned() }
        }));
        let text = members::with_markers(&tidy(&MARKED.replace_all(&text, "$bold$code")), &members);
        let sources = supporting(&text, &cited, grounds);
        if !text.is_empty() && !sources.is_empty() {
            let (kind, text) = kind_of(&text);
            let bullet = Bullet { kind, text: text.to_owned(), sources: sources.into_iter().collect() };
            if !found.iter().any(|other| other.text == bullet.text) {
                found.push(bullet);
            }
        }
    }
    found
}

/// Splits a bullet such as `task: {u1} books` into its kind and its text. Without a word for a kind it is a fact.
fn kind_of(text: &str) -> (BulletKind, &str) {
    let named = text.split_once(':').and_then(|(word, rest)| {
        let kind = BulletKind::parse(word.trim_matches(['[', ']', ' ']).to_lowercase().as_str())?;
        (!rest.trim().is_empty()).then_some((kind, rest.trim()))
    });
    named.unwrap_or((BulletKind::Fact, text))
}

fn supporting(text: &str, cited: &BTreeSet<u32>, grounds: &CitableTexts) -> BTreeSet<Seq> {
    let (named, said) = (members::numbers(text), words::stems(text));
    let cited = cited.iter().filter_map(|number| Some((*number, grounds.get(number)?)));
    let cited: Vec<(u32, &CitableText, BTreeSet<String>)> =
        cited.map(|(number, ground)| (number, ground, words::stems(&ground.text))).collect();
    let is_by_named = |ground: &CitableText| ground.by.is_some_and(|by| named.contains(&by));
    let has_member = |ground: &CitableText| {
        is_by_named(ground) || members::numbers(&ground.text).iter().any(|number| named.contains(number))
    };
    let is_wordless = cited.iter().all(|(_, _, stems)| stems.is_disjoint(&said));
    let mut last = None;
    let mut found: Vec<&CitableText> = Vec::new();
    for (number, ground, stems) in &cited {
        let follows = last.is_some_and(|last| number - last <= ANSWER_DISTANCE);
        let answers = ground.by.is_some() && stems.len() <= ANSWER_STEMS && (follows || is_by_named(ground));
        if is_wordless && has_member(ground) || !is_wordless && (answers || !stems.is_disjoint(&said)) {
            last = Some(*number);
            found.push(ground);
        }
    }
    found.into_iter().flat_map(|ground| ground.sources.iter().copied()).collect()
}

/// Joins all lines, removes control characters, and clips the text to the maximum length of a bullet.
pub fn tidy(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() || c == '\u{2028}' { ' ' } else { c }).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    clip(&words.join(" "), BULLET_CHARS).into_owned()
}

/// Drops bullets from the end until at most `most` bullets with `cap` tokens are left. The first one is always kept.
pub fn capped(mut bullets: Vec<Bullet>, most: usize, cap: usize, estimate: fn(&str) -> usize) -> Vec<Bullet> {
    bullets.truncate(most);
    while bullets.len() > 1 && cost(&bullets, estimate) > cap {
        bullets.pop();
    }
    bullets
}

/// Estimates the tokens that `bullets` take in a prompt.
pub fn cost(bullets: &[Bullet], estimate: fn(&str) -> usize) -> usize {
    bullets.iter().map(|bullet| estimate(&bullet.text) + 1).sum()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;
    use chime_core::estimate_tokens;

    fn grounds() -> CitableTexts {
        let ground = |text: &str, by, seq| CitableText { text: text.to_owned(), by: Some(by), sources: vec![Seq(seq)] };
        CitableTexts::from([
            (12, ground("shall we book the thai place on Friday at 19:30?", 1, 12)),
            (13, ground("fine by me", 2, 13)),
            (15, ground("I pay the deposit, 410", 3, 15)),
        ])
    }

    #[track_caller]
    fn check(answer: &str, expected: Expect) {
        let rendered: Vec<String> = parse(answer, &grounds())
            .iter()
            .map(|it| format!("{} {:?}", it.text, it.sources.iter().map(|seq| seq.0).collect::<Vec<_>>()))
            .collect();
        expected.assert_eq(&rendered.join("\n"));
    }

    #[test]
    fn bullets_rest_on_messages_that_say_so() {
        check(
            "Here is the summary:
- {u1} wants to book the Thai place. [m12, m13]
* Deposit of 410 is paid by {u3} [m15].
1. It is at 19:30 (m12)
- They agreed to meet in Paris [m13]
- A table was booked [m99]
- Nobody knows
- u2 agrees [m13] [m12]",
            expect![[r#"
                {u1} wants to book the Thai place. [12, 13]
                Deposit of 410 is paid by {u3}. [15]
                It is at 19:30 [12]
                {u2} agrees [13]"#]],
        );
    }

    #[test]
    fn bullets_are_plain_words_whatever_the_model_puts_around_them() {
        check(
            "- **Deposit:** {u3} pays `410` [m15]
- **{u1} books the Thai place** 【m12】
- the file is called a**b and costs 2*3*4, deposit [m15]
- {u1} and {u2} are fine with Friday [m12-m13]
- all is settled for Friday: [m12, m13 and m15]
- Thai place [m12]; run ./pay.sh for 410 [m15], it needs .deb [m12] [m13].",
            expect![[r#"
                Deposit: {u3} pays 410 [15]
                {u1} books the Thai place [12]
                the file is called a**b and costs 2*3*4, deposit [15]
                {u1} and {u2} are fine with Friday [12, 13]
                all is settled for Friday: [12, 13]
                Thai place; run ./pay.sh for 410, it needs .deb. [12, 13, 15]"#]],
        );
    }

    #[test]
    fn a_bullet_without_a_kind_is_a_fact() {
        let answer = "- decision: Thai place [m12]\n- **Task:** {u3} pays the deposit [m15]\n- question: which day, Friday? [m12]\n\
                      - Done: deposit [m15]\n- Deposit: {u3} pays 410 [m15]\n- task: [m15]";
        let kinds = |it: &Bullet| format!("{} {}", it.kind.as_str(), it.text);
        let rendered: Vec<String> = parse(answer, &grounds()).iter().map(kinds).collect();
        expect![[r#"
            decision Thai place
            task {u3} pays the deposit
            question which day, Friday?
            done deposit
            fact Deposit: {u3} pays 410"#]]
        .assert_eq(&rendered.join("\n"));
    }

    #[test]
    fn short_answers_are_sources_too_and_other_texts_are_not() {
        let ground = |text: &str, by, seq| CitableText { text: text.to_owned(), by: Some(by), sources: vec![Seq(seq)] };
        let grounds = CitableTexts::from([
            (1, ground("may I push the migration to master?", 1, 1)),
            (2, ground("I had soup for lunch, and bread", 2, 2)),
            (3, ground("of course", 2, 3)),
            (20, ground("nope", 3, 20)),
            (40, ground("sure", 2, 40)),
        ]);
        let sources = |answer: &str| parse(answer, &grounds)[0].sources.iter().map(|seq| seq.0).collect::<Vec<_>>();
        assert_eq!(sources("- decision: the migration goes to master, {u2} agrees [m1, m2, m3, m20, m40]"), [1, 3, 40]);
        assert_eq!(sources("- {u2} ate [m1, m2, m3]"), [2, 3]);
    }

    #[test]
    fn a_number_in_brackets_need_not_be_a_source() {
        check("- The 2nd booking (2024) costs 410 [m15]", expect!["The 2nd booking (2024) costs 410 [15]"]);
    }

    #[test]
    fn what_is_said_twice_counts_once() {
        check("- book it [m12]\n- book it [m13, m12]", expect!["book it [12]"]);
    }

    #[test]
    fn over_its_cap_a_summary_is_cut_between_bullets() {
        let bullet = |number: u32| Bullet::fact(format!("bullet number {number}"), vec![Seq(number)]);
        let bullets: Vec<Bullet> = (0..20).map(bullet).collect();
        assert_eq!(capped(bullets.clone(), 15, 10_000, estimate_tokens).len(), 15);
        let few = capped(bullets.clone(), 15, 30, estimate_tokens);
        assert!(cost(&few, estimate_tokens) <= 30 && few == bullets[..few.len()], "{few:?}");
    }

    proptest! {
        #[test]
        fn any_answer_is_read_and_every_source_was_given(answer in "(?s)([-*] [a-z {}u0-9\\[\\]m,]{0,40}\n?|.{0,20}){0,8}") {
            for bullet in parse(&answer, &grounds()) {
                prop_assert!(!bullet.sources.is_empty() && !bullet.text.contains('\n'));
                prop_assert!(bullet.sources.iter().all(|seq| [12, 13, 15].contains(&seq.0)));
            }
        }
    }
}
