//! Parses settings into types. Problems are collected, so that all can be reported at once.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use crate::config::keys::{KEYS, Key};
use crate::config::problem::{ConfigError, Problem, Warning, masked, shown};
use crate::config::units::{format_duration, parse_duration};

/// Function that returns the value of a variable, or `None` if it is not set.
type Lookup<'a> = Box<dyn Fn(&str) -> Option<String> + 'a>;

/// Parser of settings from any source. Collects problems and warnings. A problem gives the value that stands for none,
/// and [`Settings::finish`] the error.
pub struct Settings<'a> {
    lookup: Lookup<'a>,
    /// Names whose values come from the `.env` file.
    from_file: BTreeSet<String>,
    /// Folder in which there is no `.env` file.
    without_file: Option<PathBuf>,
    problems: RefCell<Vec<Problem>>,
    warnings: RefCell<Vec<Warning>>,
}

/// Setting with its value, as the owners' page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingInForce {
    pub key: &'static Key,
    /// `None` if it is neither set nor has a default. The value of a secret is hidden.
    pub value: Option<String>,
    pub origin: &'static str,
}

impl<'a> Settings<'a> {
    pub fn new(lookup: impl Fn(&str) -> Option<String> + 'a) -> Self {
        Self {
            lookup: Box::new(lookup),
            from_file: BTreeSet::new(),
            without_file: None,
            problems: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    /// Adds problems found earlier, for example in the `.env` file.
    #[must_use]
    pub fn with_problems(self, problems: Vec<Problem>) -> Self {
        self.problems.borrow_mut().extend(problems);
        self
    }

    /// Notes which values come from the `.env` file, or the folder in which there is none.
    #[must_use]
    pub fn with_file(self, from_file: BTreeSet<String>, without_file: Option<PathBuf>) -> Self {
        Self { from_file, without_file, ..self }
    }

    pub fn in_force(&self) -> Vec<SettingInForce> {
        let shown = |key: &'static Key| {
            let (value, origin) = match self.raw(key) {
                Some(raw) if is_hidden(key, &raw) => (Some(masked(&raw)), self.origin(key)),
                Some(raw) => (Some(raw), self.origin(key)),
                None => (key.default.map(str::to_owned), "default"),
            };
            SettingInForce { key, value, origin }
        };
        KEYS.iter().map(shown).collect()
    }

    fn origin(&self, key: &Key) -> &'static str {
        if self.from_file.contains(key.name) { ".env" } else { "environment" }
    }

    /// Returns the trimmed value of `key`. A blank value counts as unset.
    pub fn raw(&self, key: &Key) -> Option<String> {
        self.value_of(key.name)
    }

    /// Parses the value of `key`, or its default if it is not set. Returns `None` if there is neither, or if the value
    /// is invalid, which is a problem. `allowed` describes valid values in the error message.
    pub fn optional<T>(&self, key: &Key, allowed: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        if self.raw(key).is_none() && self.mistaken_for(key).is_some() {
            self.refuse(key, allowed);
            return None;
        }
        let parsed = parse(&self.raw(key).or_else(|| key.default.map(str::to_owned))?);
        if parsed.is_none() {
            self.refuse(key, allowed);
        }
        parsed
    }

    /// Like [`optional`](Self::optional), but a missing value is a problem.
    pub fn required<T: Default>(&self, key: &Key, allowed: &str, parse: impl FnOnce(&str) -> Option<T>) -> T {
        if self.raw(key).is_none() && self.mistaken_for(key).is_none() && key.default.is_none() {
            self.refuse(key, allowed);
        }
        self.optional(key, allowed, parse).unwrap_or_default()
    }

    pub fn duration(&self, key: &Key, range: RangeInclusive<Duration>) -> Duration {
        let allowed = format!(
            "a time from {} to {}, written with its unit like 250ms, 15s, 15m, 1h30m or 28d",
            format_duration(*range.start()),
            format_duration(*range.end()),
        );
        self.required(key, &allowed, |raw| parse_duration(raw).filter(|span| range.contains(span)))
    }

    pub fn count(&self, key: &Key, range: RangeInclusive<usize>) -> usize {
        let allowed = format!("a whole number from {} to {}", range.start(), range.end());
        self.required(key, &allowed, |raw| raw.parse().ok().filter(|count| range.contains(count)))
    }

    /// Parses an `http` or `https` URL, and removes trailing slashes.
    pub fn url(&self, key: &Key) -> String {
        self.required(key, "an address that begins with http:// or https://, without ? and #", base_url)
    }

    /// Like [`url`](Self::url), for the base URL of a model server. Rejects a URL that already contains an API method
    /// such as `/chat/completions`.
    pub fn server_url(&self, key: &Key) -> String {
        let allowed = "an address that begins with http:// or https://, without ? and #, and without a method such as \
                       /chat/completions, which Chime adds by itself";
        self.required(key, allowed, server_url)
    }

    /// Parses one of the words in `choices`, ignoring case, and returns its value. The key must have a default.
    pub fn choice<T: Copy>(&self, key: &Key, choices: &[(&str, T)]) -> T {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let chosen = self.optional(key, &format!("one of {}", words.join(", ")), |raw| {
            choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(raw)).map(|(_, choice)| *choice)
        });
        chosen.unwrap_or(choices[0].1)
    }

    /// Returns the value as text, or `None` if it is not set. Rejects control characters, such as line breaks.
    pub fn text(&self, key: &Key, allowed: &str) -> Option<String> {
        self.optional(key, allowed, |raw| Some(raw.to_owned()).filter(|text| !text.contains(char::is_control)))
    }

    /// Returns the value as a secret, or `None` if it is not set. Rejects characters that an HTTP header cannot
    /// contain, and spaces.
    pub fn secret(&self, key: &Key, allowed: &str) -> Option<SecretString> {
        self.optional(key, allowed, |raw| raw.chars().all(|c| c.is_ascii_graphic()).then(|| raw.into()))
    }

    pub fn warn(&self, key: &Key, what: &str) {
        let remedy = "change it unless you mean it".to_owned();
        self.warnings.borrow_mut().push(Warning { name: key.name.to_owned(), what: what.to_owned(), remedy });
    }

    /// Returns `value` with the warnings, or an error with all problems, if there are any.
    pub fn finish<T>(&self, value: T) -> Result<(T, Vec<Warning>), ConfigError> {
        let problems = self.problems.take();
        if problems.is_empty() { Ok((value, self.warnings.take())) } else { Err(ConfigError { problems }) }
    }

    pub(super) fn noted(&self) -> Vec<Problem> {
        self.problems.borrow().clone()
    }

    pub(super) fn value_of(&self, name: &str) -> Option<String> {
        (self.lookup)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// Returns a wrong name for `key` that is set, if there is one.
    fn mistaken_for(&self, key: &Key) -> Option<&'static str> {
        key.mistaken.iter().find(|name| self.value_of(name).is_some()).copied()
    }

    /// Records that the value of `key` is invalid or missing.
    pub(super) fn refuse(&self, key: &Key, allowed: &str) {
        let read = self.raw(key);
        let hint = match (&read, self.mistaken_for(key), &self.without_file) {
            (None, Some(name), _) => Some(format!("{name} is set; Chime reads {}", key.name)),
            (None, None, Some(folder)) => Some(format!("there is no .env in {}", folder.display())),
            _ => None,
        };
        self.problems.borrow_mut().push(Problem {
            name: key.name.to_owned(),
            read: read.map(|raw| if is_hidden(key, &raw) { masked(&raw) } else { shown(&raw) }),
            allowed: allowed.to_owned(),
            example: format!("{}={}", key.name, key.example),
            hint,
        });
    }
}

/// Returns `true` for secrets, and for a URL that may contain a password between `:` and `@`.
fn is_hidden(key: &Key, raw: &str) -> bool {
    key.secret || (raw.contains(':') && raw.contains('@'))
}

/// Parses ids separated by commas, semicolons or spaces. Drops duplicates. Returns `None` if there is no id, or one of
/// them is not `valid`.
pub(super) fn parse_ids(raw: &str, valid: impl Fn(i64) -> bool) -> Option<Vec<i64>> {
    let mut ids: Vec<i64> = Vec::new();
    for part in raw.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';')).filter(|part| !part.is_empty()) {
        let id = part.parse().ok().filter(|id| valid(*id))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    (!ids.is_empty()).then_some(ids)
}

/// Parses the base URL of a model server, which must not contain a method such as `/chat/completions`.
pub(super) fn server_url(raw: &str) -> Option<String> {
    const METHODS: [&str; 3] = ["/completions", "/embeddings", "/models"];
    let url = base_url(raw).filter(|url| !METHODS.iter().any(|end| url.ends_with(end)))?;
    // A server without a path has its API below `/v1`.
    let is_bare = url.splitn(4, '/').count() < 4;
    Some(if is_bare { url + "/v1" } else { url })
}

pub(super) fn base_url(raw: &str) -> Option<String> {
    let url = url::Url::parse(raw).ok()?;
    let slashes = raw.split_once("://").is_some_and(|(scheme, _)| matches!(scheme, "http" | "https"));
    let plain = url.query().is_none() && url.fragment().is_none();
    (slashes && plain && url.has_host()).then(|| raw.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(raw: &[&str], parse: impl Fn(&str) -> Option<String>, expected: Expect) {
        let lines: Vec<String> =
            raw.iter().map(|raw| format!("{raw} -> {}", parse(raw).unwrap_or_else(|| "refused".to_owned()))).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn an_address_is_http_and_keeps_no_slash_at_its_end() {
        check(
            &[
                "https://api.openai.com/v1",
                "http://127.0.0.1:8080/v1//",
                "http://[::1]:80/",
                "ftp://example.org",
                "example.org/v1",
                "localhost:11434/v1",
                "http:example.org",
                "http://",
                "https://example.org/v1?key=1",
            ],
            base_url,
            expect![[r#"
                https://api.openai.com/v1 -> https://api.openai.com/v1
                http://127.0.0.1:8080/v1// -> http://127.0.0.1:8080/v1
                http://[::1]:80/ -> http://[::1]:80
                ftp://example.org -> refused
                example.org/v1 -> refused
                localhost:11434/v1 -> refused
                http:example.org -> refused
                http:// -> refused
                https://example.org/v1?key=1 -> refused"#]],
        );
    }

    #[test]
    fn a_model_server_without_a_path_gets_that_of_its_api() {
        check(
            &[
                "http://127.0.0.1:11434",
                "http://ollama:11434/",
                "https://a.example/openai",
                "https://a.example/v1/models",
            ],
            server_url,
            expect![[r#"
                http://127.0.0.1:11434 -> http://127.0.0.1:11434/v1
                http://ollama:11434/ -> http://ollama:11434/v1
                https://a.example/openai -> https://a.example/openai
                https://a.example/v1/models -> refused"#]],
        );
    }

    #[test]
    fn ids_are_separated_by_commas_or_spaces_and_counted_once() {
        check(
            &["1", "1, 2;3 4", "7,7,", "-1001234567890", "0", "1,x", "@name", ",", "99999999999999999999"],
            |raw| parse_ids(raw, |id| id != 0).map(|ids| format!("{ids:?}")),
            expect![[r#"
                1 -> [1]
                1, 2;3 4 -> [1, 2, 3, 4]
                7,7, -> [7]
                -1001234567890 -> [-1001234567890]
                0 -> refused
                1,x -> refused
                @name -> refused
                , -> refused
                99999999999999999999 -> refused"#]],
        );
    }
}
