//! Configuration errors and warnings, with everything needed to fix them.

use std::fmt;

/// Error about a variable with an invalid or missing value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Name of the variable, or line of `.env`.
    pub name: String,
    /// Value that was read, or `None` if there was none. Secrets are masked.
    pub read: Option<String>,
    pub allowed: String,
    /// Valid line for `.env`, such as `OWNER_IDS=123456789`.
    pub example: String,
    /// Probable mistake, such as a wrong name that is set.
    pub hint: Option<String>,
}

/// Warning about a setting that is valid but probably a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub name: String,
    pub what: String,
    pub remedy: String,
}

/// All problems of a configuration. The caller prints them and exits with code 78; retrying does not help.
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

/// Formats a value for display: on one line, in backticks, shortened if it is long.
pub(super) fn shown(value: &str) -> String {
    const LONGEST: usize = 60;
    let mut line: String = value.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if value.chars().count() > LONGEST {
        line.push('…');
    }
    format!("`{line}`")
}

/// Formats a secret for display: only its length, which shows if it was copied incompletely.
pub(super) fn masked(secret: &str) -> String {
    format!("{} characters (hidden)", secret.chars().count())
}
