//! Words by which people settle something. The words are in `cues.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    settled: Vec<String>,
    taken: Vec<String>,
    planned: Vec<String>,
}

/// What a text says beside its matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cues {
    /// A choice was made.
    pub settled: bool,
    /// Somebody will do it.
    pub taken: bool,
    /// A plan, a rule or a date that others go by.
    pub planned: bool,
}

/// Cues in `text`.
pub fn cues(text: &str) -> Cues {
    // A file that does not parse would be empty, which a test rules out.
    static FILE: LazyLock<File> = LazyLock::new(|| toml::from_str(include_str!("cues.toml")).unwrap_or_default());
    let text = padded(text);
    let any = |list: &[String]| list.iter().any(|cue| has(&text, cue));
    Cues { settled: any(&FILE.settled), taken: any(&FILE.taken), planned: any(&FILE.planned) }
}

/// Words apart by one space, with one before the first and after the last.
fn padded(text: &str) -> String {
    let lower = text.to_lowercase().replace('’', "'");
    let words: Vec<&str> =
        lower.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

fn has(padded: &str, cue: &str) -> bool {
    match cue.strip_suffix('.') {
        Some(whole) => padded.contains(&format!(" {whole} ")),
        None => padded.contains(&format!(" {cue}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, settled: bool, taken: bool, planned: bool) {
        assert_eq!(cues(text), Cues { settled, taken, planned }, "{text}");
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
