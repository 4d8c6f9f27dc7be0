//! Result of one check.

use std::fmt;

use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Ok,
    /// Works now, but may fail later or in some of the chats.
    Warn,
    Fail,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckFinding {
    pub name: &'static str,
    pub severity: Severity,
    pub what: String,
    /// Advice to the operator; empty if there is no problem.
    pub remedy: String,
}

chime_core::words!(Severity { Ok = "ok", Warn = "warn", Fail = "FAIL" });

impl CheckFinding {
    pub fn ok(name: &'static str, what: impl Into<String>) -> Self {
        Self { name, severity: Severity::Ok, what: what.into(), remedy: String::new() }
    }

    pub fn warn(name: &'static str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, severity: Severity::Warn, what: what.into(), remedy: remedy.into() }
    }

    pub fn fail(name: &'static str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, severity: Severity::Fail, what: what.into(), remedy: remedy.into() }
    }

    /// Formats the finding with the remedy on a line of its own, for a terminal.
    pub fn for_terminal(&self) -> String {
        self.with_remedy_after("\n     do: ")
    }

    fn with_remedy_after(&self, label: &str) -> String {
        // Joins the lines of a server's error, so that they do not look like another finding.
        let what: String = self.what.split_whitespace().collect::<Vec<_>>().join(" ");
        let remedy = if self.remedy.is_empty() { String::new() } else { format!("{label}{}", self.remedy) };
        format!("{} {}: {what}{remedy}", self.severity.as_str(), self.name)
    }

    /// Formats the finding as JSON for scripts.
    pub fn as_json(&self) -> Value {
        json!({ "verdict": self.severity.as_str(), "name": self.name, "what": self.what, "do": self.remedy })
    }
}

impl fmt::Display for CheckFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_remedy_after("; do: "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_shows_the_remedy_on_its_own_line() {
        let finding = CheckFinding::fail("model", "the server said\n\"wait; do: nothing\"", "wait");
        assert_eq!(finding.for_terminal(), "FAIL model: the server said \"wait; do: nothing\"\n     do: wait");
        assert_eq!(finding.to_string(), "FAIL model: the server said \"wait; do: nothing\"; do: wait");
        assert_eq!(CheckFinding::ok("disk", "free").for_terminal(), "ok disk: free");
    }
}
