//! Reads settings from the process environment and from the `.env` file. The environment takes precedence.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use crate::config::keys::{KEYS, Key};
use crate::config::problem::{Problem, Warning};
use crate::config::settings::Settings;

const FILE: &str = ".env";
/// Stands for `$` while dotenvy parses, which would replace `$NAME` with a variable. A character for private use.
const DOLLAR: char = '\u{f0024}';

/// Variables from which the HTTP client takes its proxy for `https`, the first one that is set, and the schemes that it
/// knows.
const PROXIES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const PROXY_SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// Parsed `.env` file, and overrides. Does not write to the process environment, which is unsafe while other threads
/// run.
#[derive(Debug, Default)]
pub struct Environment {
    /// Values for this run that take precedence over the environment and the file.
    given: BTreeMap<String, String>,
    from_file: BTreeMap<String, String>,
    /// Folder without a `.env` file.
    without_file: Option<PathBuf>,
    problems: Vec<Problem>,
}

impl Environment {
    /// Reads `.env` in `folder`. The file may be missing. If it or one of its lines cannot be read,
    /// [`Settings::finish`] reports that with all other problems.
    pub fn read(folder: &Path) -> Self {
        match std::fs::read(folder.join(FILE)) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Self::parse(&text),
                Err(_) => Self::unusable("bytes that are not UTF-8"),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Self { without_file: Some(folder.to_owned()), ..Self::default() }
            }
            Err(error) => Self::unusable(&format!("a file that cannot be read: {error}")),
        }
    }

    pub fn with(self, given: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { given: given.into_iter().collect(), ..self }
    }

    /// Returns settings that look for a name in the overrides, then in the environment, then in the file.
    ///
    /// A variable of the environment that is set but blank hides the value in the file, so that a setting can be
    /// removed for one run.
    pub fn settings(&self) -> Settings<'_> {
        Settings::new(|name| match (self.given.get(name), std::env::var_os(name)) {
            (Some(value), _) => Some(value.clone()),
            (None, Some(value)) => Some(value.to_string_lossy().into_owned()),
            (None, None) => self.from_file.get(name).cloned(),
        })
        .with_problems(self.problems.iter().cloned().chain(unusable_proxy(|name| std::env::var(name).ok())).collect())
        .with_file(self.names_from_file(), self.without_file.clone())
    }

    fn names_from_file(&self) -> BTreeSet<String> {
        let is_overridden = |name: &String| self.given.contains_key(name) || std::env::var_os(name).is_some();
        self.from_file.keys().filter(|name| !is_overridden(name)).cloned().collect()
    }

    /// Returns warnings about unknown names in the file and about values in quotes.
    pub fn warnings(&self) -> Vec<Warning> {
        let unread = self.from_file.keys().filter(|name| !is_read(name)).map(|name| unread(name));
        let settings = self.settings();
        let quoted = KEYS.iter().filter(|key| settings.raw(key).is_some_and(|value| is_quoted(&value))).map(quoted);
        unread.chain(quoted).collect()
    }

    fn parse(text: &str) -> Self {
        let mut read = Self::default();
        let text = text.trim_start_matches('\u{feff}');
        let lines: Vec<String> = text.lines().map(|line| with_quotes(&with_literal_dollars(line))).collect();
        for line in dotenvy::from_read_iter(lines.join("\n").as_bytes()) {
            match line {
                Ok((name, value)) => read.add(name, value.replace(DOLLAR, "$")),
                // dotenvy's own message quotes the line, which may contain a secret.
                Err(dotenvy::Error::LineParse(line, _)) => read.problems.push(bad_line(&lines, &line)),
                Err(_) => read.problems.push(bad_line(&lines, "")),
            }
        }
        read.problems.extend(set_twice(&lines));
        read
    }

    /// Adds a value of the file. The first one counts that is not blank.
    fn add(&mut self, name: String, value: String) {
        let known = self.from_file.entry(name).or_default();
        if known.is_empty() {
            *known = value;
        }
    }

    fn unusable(found: &str) -> Self {
        let problem = problem(FILE.to_owned(), found, "a readable UTF-8 text file, or none at all");
        Self { problems: vec![problem], ..Self::default() }
    }
}

/// Replaces each `$` with [`DOLLAR`], except behind a backslash, where dotenvy does not read it as the start of a name.
fn with_literal_dollars(line: &str) -> String {
    let mut is_escaped = false;
    let literal = |c| {
        let was_escaped = is_escaped;
        is_escaped = c == '\\' && !was_escaped;
        if c == '$' && !was_escaped { DOLLAR } else { c }
    };
    line.chars().map(literal).collect()
}

/// Returns a line that dotenvy would refuse with its value in quotes, if it begins with none: the value extends to the
/// end of the line or to a comment.
fn with_quotes(line: &str) -> String {
    let Some((name, value)) = line.split_once('=').filter(|(name, _)| !name.trim_start().starts_with('#')) else {
        return line.to_owned();
    };
    let value = value.split(" #").next().unwrap_or_default().trim();
    let is_read = dotenvy::from_read_iter(line.as_bytes()).all(|line| line.is_ok());
    if is_read || value.starts_with(['\'', '"']) {
        return line.to_owned();
    }
    let escaped = value.replace('\\', r"\\").replace('"', "\\\"").replace('$', r"\$");
    format!("{name}=\"{escaped}\"")
}

/// Returns the problems of settings with two values in the file. systemd and Docker would take the last one.
fn set_twice(lines: &[String]) -> Vec<Problem> {
    let read = |line: &String| {
        let (name, value) = dotenvy::from_read_iter(line.as_bytes()).next()?.ok()?;
        (!value.trim().is_empty()).then_some(name)
    };
    let names: Vec<Option<String>> = lines.iter().map(read).collect();
    let problem = |key: &Key| {
        let mut found = names.iter().enumerate().filter(|(_, name)| name.as_deref() == Some(key.name));
        let (first, second) = (found.next()?.0 + 1, found.next()?.0 + 1);
        Some(Problem {
            name: format!("{FILE} line {second}"),
            read: Some(format!("a second value of {}, besides line {first}", key.name)),
            allowed: format!("{} in one line only", key.name),
            example: format!("{}={}", key.name, key.example),
            hint: None,
        })
    };
    KEYS.iter().filter_map(problem).collect()
}

/// Returns `true` if Chime uses the variable. `TZ` is the system's variable for the time zone.
fn is_read(name: &str) -> bool {
    name == "TZ" || KEYS.iter().any(|key| key.name == name)
}

/// Builds the warning about an unknown name. It may show the name, because only values are secret.
fn unread(name: &str) -> Warning {
    /// A key is suggested if its name differs from the unknown one by at most this many edits.
    const FAR: usize = 3;
    let by_habit = || KEYS.iter().find(|key| key.mistaken.iter().any(|mistaken| mistaken.eq_ignore_ascii_case(name)));
    let nearest = || {
        let distance = |key: &&Key| strsim::levenshtein(&name.to_uppercase(), key.name);
        KEYS.iter().min_by_key(distance).filter(|key| distance(key) <= FAR.min(name.len() / 2))
    };
    let remedy = match by_habit().or_else(nearest) {
        Some(key) => format!("did you mean {}? rename it in .env", key.name),
        None => "delete the line from .env, or see .env.example for the names".to_owned(),
    };
    Warning { name: name.to_owned(), what: "stands in .env and is no setting of Chime".to_owned(), remedy }
}

/// Returns the problem with the proxy in the variables that `read` returns, if the HTTP client does not know its scheme
/// and would connect without it. The value may contain a password.
fn unusable_proxy(read: impl Fn(&str) -> Option<String>) -> Option<Problem> {
    let (name, value) =
        PROXIES.iter().find_map(|name| Some((*name, read(name).filter(|it| !it.trim().is_empty())?)))?;
    let (scheme, _) = value.trim().split_once("://")?;
    let is_known = PROXY_SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme));
    (!is_known).then(|| Problem {
        name: name.to_owned(),
        read: Some(format!("`{scheme}://…`")),
        allowed: format!("a proxy that begins with {}://", PROXY_SCHEMES.join("://, ")),
        example: format!("{name}=socks5h://127.0.0.1:1080"),
        hint: None,
    })
}

/// Returns `true` for a value in quotes. They are probably unwanted: container tools do not remove quotes in their
/// environment files.
fn is_quoted(value: &str) -> bool {
    let ends_alike = |quote| value.len() > 1 && value.starts_with(quote) && value.ends_with(quote);
    ends_alike('"') || ends_alike('\'')
}

fn quoted(key: &Key) -> Warning {
    Warning {
        name: key.name.to_owned(),
        what: "stands in quotes, which are taken for a part of it".to_owned(),
        remedy: "write the value without quotes".to_owned(),
    }
}

fn bad_line(lines: &[String], line: &str) -> Problem {
    let first = line.lines().next().unwrap_or_default().trim();
    // dotenvy returns the value alone if only the value is wrong.
    let place = lines.iter().position(|candidate| !first.is_empty() && candidate.trim().ends_with(first));
    let name = place.map_or_else(|| FILE.to_owned(), |index| format!("{FILE} line {}", index + 1));
    problem(
        name,
        "text that is not NAME=value (hidden)",
        "NAME=value, one a line; a value that begins with a quote also ends with it, and has \\\\ for \\ in double quotes",
    )
}

fn problem(name: String, found: &str, allowed: &str) -> Problem {
    Problem {
        name,
        read: Some(found.to_owned()),
        allowed: allowed.to_owned(),
        example: "OWNER_IDS=123456789".to_owned(),
        hint: None,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let read = Environment::parse(text);
        let problems: Vec<String> = read.problems.iter().map(|problem| format!("\n{problem}")).collect();
        expected.assert_eq(&format!("{:?}{}", read.from_file, problems.concat()));
    }

    #[test]
    fn a_proxy_with_an_unknown_scheme_is_refused() {
        let found = |set: &[(&str, &str)]| {
            let value = |name: &str| set.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned());
            unusable_proxy(value).map(|found| found.to_string())
        };
        for value in ["http://h:1", "SOCKS5h://u:p@h", "h:3128", ""] {
            assert_eq!(found(&[("ALL_PROXY", value)]), None, "{value}");
        }
        assert_eq!(found(&[("all_proxy", "socks://h:1080"), ("HTTPS_PROXY", "http://h:3128")]), None);
        let refused = found(&[("ALL_PROXY", "socks://u:secret@h")]).expect("a problem");
        assert!(refused.contains("`socks://…`") && refused.contains("socks5h://"), "{refused}");
        assert!(!refused.contains("secret"), "{refused}");
    }

    #[test]
    fn comments_quotes_and_a_byte_order_mark_are_understood() {
        check(
            "\u{feff}# a comment\nA=1\nexport B='two words'\nC=\n",
            expect![[r#"{"A": "1", "B": "two words", "C": ""}"#]],
        );
    }

    #[test]
    fn a_dollar_and_a_quote_inside_a_value_stay_as_written() {
        check(
            "A=sk-$bc#d\nB=\"sk-$A\"\nC=\"\\$A \\\\$A\"\nD='$A'\nE=${A} and $A\nF=I'm \"here\" for \\$5\nG=$",
            expect![[
                r##"{"A": "sk-$bc#d", "B": "sk-$A", "C": "$A \\$A", "D": "$A", "E": "${A} and $A", "F": "I'm \"here\" for \\$5", "G": "$"}"##
            ]],
        );
    }

    #[test]
    fn two_values_of_a_setting_are_refused_and_blank_ones_do_not_count() {
        check(
            "MODEL=a\nTELEGRAM_BOT_TOKEN=\nOWNER_IDS=1 # me\nexport MODEL = b\nTELEGRAM_BOT_TOKEN=1:x\nOWNER_IDS='' # none\n",
            expect![[r#"
                {"MODEL": "a", "OWNER_IDS": "1", "TELEGRAM_BOT_TOKEN": "1:x"}
                .env line 4: found a second value of MODEL, besides line 1
                    allowed: MODEL in one line only
                    example: MODEL=gpt-4.1-mini"#]],
        );
    }

    #[test]
    fn a_value_without_quotes_extends_to_the_end_of_its_line() {
        check(
            "MODELS=gpt-4.1 2.00/8.00, gpt-4.1-nano 0.10/0.40\nOWNER_IDS=1, 2 # us\nB=1\t# me\nA=b#c\nC=\"x y\"\n# C=1 2",
            expect![[
                r##"{"A": "b#c", "B": "1", "C": "x y", "MODELS": "gpt-4.1 2.00/8.00, gpt-4.1-nano 0.10/0.40", "OWNER_IDS": "1, 2"}"##
            ]],
        );
    }

    #[test]
    fn a_bad_line_is_named_by_its_number_and_not_quoted() {
        check(
            "A=1\nTELEGRAM_BOT_TOKEN 123:abc\nB=2\nC='open",
            expect![[r#"
                {"A": "1", "B": "2"}
                .env line 2: found text that is not NAME=value (hidden)
                    allowed: NAME=value, one a line; a value that begins with a quote also ends with it, and has \\ for \ in double quotes
                    example: OWNER_IDS=123456789
                .env line 4: found text that is not NAME=value (hidden)
                    allowed: NAME=value, one a line; a value that begins with a quote also ends with it, and has \\ for \ in double quotes
                    example: OWNER_IDS=123456789"#]],
        );
    }

    #[test]
    fn names_that_nothing_reads_are_told_with_what_was_meant() {
        let read = Environment::parse("MODLE=m\nOPENAI_KEY=sk-1\nOWNER=7\nFAVOURITE_COLOUR=red\nMODEL=m\nTZ=UTC\n");
        let rendered: Vec<String> = read.warnings().iter().map(|it| format!("{}: {}", it.name, it.remedy)).collect();
        expect![[r#"
            FAVOURITE_COLOUR: delete the line from .env, or see .env.example for the names
            MODLE: did you mean MODEL? rename it in .env
            OPENAI_KEY: did you mean OPENAI_API_KEY? rename it in .env
            OWNER: delete the line from .env, or see .env.example for the names"#]]
        .assert_eq(&rendered.join("\n"));
    }

    #[test]
    fn quotes_that_nobody_took_off_are_told() {
        let read = Environment::parse("").with([("MODEL".to_owned(), "\"gpt\"".to_owned())]);
        let rendered: Vec<String> = read.warnings().iter().map(ToString::to_string).collect();
        assert_eq!(rendered, ["MODEL: stands in quotes, which are taken for a part of it"]);
    }

    proptest! {
        #[test]
        fn any_file_is_read_to_its_end(text in "\\PC*", lines in "([A-Z]{1,3}[= ]['\"#$\\\\ a-z{}]{0,6}\n){0,6}") {
            for text in [text, lines] {
                Environment::parse(&text);
            }
        }
    }
}
