//! What is wrong with a configuration, told so that it can be put right in one go.

use std::fmt;

/// One variable that cannot be used as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The variable, or the line of `.env`.
    pub name: String,
    /// What was found there; `None` when nothing was. Secrets are masked.
    pub read: Option<String>,
    pub allowed: String,
    /// A line that would be accepted.
    pub example: String,
    /// What the operator probably meant.
    pub hint: Option<String>,
}

/// A setting that works and that the operator should know about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub name: String,
    pub what: String,
    pub remedy: String,
}

/// Everything that is wrong with a configuration. The caller prints it and exits with 78; there is nothing to retry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    pub problems: Vec<Problem>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.read {
            Some(read) => writeln!(f, "{}: found {read}", self.name)?,
            None => writeln!(f, "{}: not set", self.name)?,
        }
        writeln!(f, "    allowed: {}", self.allowed)?;
        write!(f, "    example: {}", self.example)?;
        match &self.hint {
            Some(hint) => write!(f, "\n    hint:    {hint}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.len() {
            1 => write!(f, "the configuration has a problem")?,
            count => write!(f, "the configuration has {count} problems")?,
        }
        self.problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.what)
    }
}

/// A found value as it may be shown: on one line, in backticks, cut where it is long.
pub(super) fn shown(value: &str) -> String {
    const LONGEST: usize = 60;
    let mut line: String = value.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if value.chars().count() > LONGEST {
        line.push('…');
    }
    format!("`{line}`")
}

/// What stands in for a secret: its length, which is what betrays a token that was cut when it was copied.
pub(super) fn masked(secret: &str) -> String {
    format!("{} characters (hidden)", secret.chars().count())
}
