//! Recognises decisions, tasks, plans and what is done by their phrases, listed in the table `cues` of each language.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use chime_core::lang::tables;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CueLists {
    settled: Vec<String>,
    taken: Vec<String>,
    planned: Vec<String>,
    done: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cues {
    /// `true` if a choice was made.
    pub settled: bool,
    /// `true` if somebody took on a task.
    pub taken: bool,
    /// `true` if there is a plan, a rule or a date.
    pub planned: bool,
    /// `true` if something is finished.
    pub done: bool,
}

/// Regular expressions, one for each list.
struct Patterns {
    settled: Regex,
    taken: Regex,
    planned: Regex,
    done: Regex,
}

pub fn cues(text: &str) -> Cues {
    static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
        let tables: Vec<(_, CueLists)> = tables("cues");
        let any = |list: fn(&CueLists) -> &Vec<String>| any_of(tables.iter().flat_map(|(_, lists)| list(lists)));
        Patterns {
            settled: any(|it| &it.settled),
            taken: any(|it| &it.taken),
            planned: any(|it| &it.planned),
            done: any(|it| &it.done),
        }
    });
    let patterns = &PATTERNS;
    let text = padded(text);
    Cues {
        settled: patterns.settled.is_match(&text),
        taken: patterns.taken.is_match(&text),
        planned: patterns.planned.is_match(&text),
        done: patterns.done.is_match(&text),
    }
}

/// Builds a pattern that matches any cue at the start of a word. Without a dot at its end, a cue matches with any
/// ending of that word.
#[expect(clippy::expect_used, reason = "the cues are escaped, and the tests compile them")]
fn any_of<'a>(cues: impl Iterator<Item = &'a String>) -> Regex {
    let one = |cue: &String| match cue.strip_suffix('.') {
        Some(whole) => format!("{} ", regex::escape(whole)),
        None => regex::escape(cue),
    };
    Regex::new(&format!(" (?:{})", cues.map(one).collect::<Vec<_>>().join("|"))).expect("a valid pattern")
}

/// Converts a text to lower-case words, with one space before, between and after them.
fn padded(text: &str) -> String {
    let lower = text.to_lowercase().replace('’', "'");
    let words: Vec<&str> =
        lower.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, settled: bool, taken: bool, planned: bool) {
        assert_eq!(Cues { done: false, ..cues(text) }, Cues { settled, taken, planned, done: false }, "{text}");
    }

    #[test]
    fn choices_tasks_and_plans_are_told_apart_in_several_languages() {
        check("Going for foghorns.", true, false, false);
        check("I’ll bring the tent", false, true, false);
        check("Do we decide today?", true, false, false);
        check("Составлю жалобу", false, true, false);
        check("wir nehmen den grünen", true, false, false);
        check("Hääletame reedeni", true, false, true);
        check("finally some rain", false, false, false);
        check("the weather is nice", false, false, false);
    }
}
