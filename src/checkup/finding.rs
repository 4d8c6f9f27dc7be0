//! One line of the result.

use std::fmt;

use serde_json::{Value, json};

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Ok,
    /// It works, and will bite later or somebody else.
    Warn,
    /// It does not work.
    Fail,
}

/// What was found in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub name: &'static str,
    pub verdict: Verdict,
    pub what: String,
    /// What to do about it; empty when all is well.
    pub remedy: String,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "FAIL",
        }
    }
}

impl Finding {
    pub fn ok(name: &'static str, what: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Ok, what: what.into(), remedy: String::new() }
    }

    pub fn warn(name: &'static str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Warn, what: what.into(), remedy: remedy.into() }
    }

    pub fn fail(name: &'static str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Fail, what: what.into(), remedy: remedy.into() }
    }

    /// For scripts, with the words of the line as names.
    pub fn as_json(&self) -> Value {
        json!({ "verdict": self.verdict.as_str(), "name": self.name, "what": self.what, "do": self.remedy })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A line stays one line, whatever a server had to say.
        let what: String = self.what.split_whitespace().collect::<Vec<_>>().join(" ");
        write!(f, "{} {}: {what}", self.verdict.as_str(), self.name)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "; do: {}", self.remedy) }
    }
}
