//! Sources that an answer's citations are checked against, and the canonical form of a citation.

use crate::lines::Labels;
use chime_core::{Citable, SourceId, SourceKind};

/// Regular expression of one tag: `[source: m17]`, `[source: 17]`, `[Sources: m3; source: n2]`.
pub const TAG: &str = r"[\[【]sources?:\s*[A-Za-z0-9_-]+(?:\s*[,;]\s*(?:sources?:\s*)?[A-Za-z0-9_-]+)*\s*[\]】]";

/// Data that an answer's citations are checked against.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// Sources that may be cited.
    pub given: &'a [Citable],
    /// Numbers and names of messages and members in the prompt.
    pub labels: &'a Labels,
    /// The question itself, which is not a source.
    pub ask: Option<SourceId>,
}

impl Material<'_> {
    /// Returns the source that an id in a tag names. A bare number is one of the prompt's.
    pub fn source_id(&self, id: &str) -> Option<SourceId> {
        let given = |id: &SourceId| self.ask == Some(*id) || self.given.iter().any(|source| source.id == *id);
        let by_number = |number: &str| self.labels.source(number.parse().ok()?);
        // `m4` is the chat's sequence number, or another form of the prompt's number.
        SourceId::parse(id).filter(given).or_else(|| by_number(id.trim_start_matches(['m', 'M'])))
    }
}

/// Returns `true` if a member wrote `token` in the chat as a whole word.
pub fn is_written(given: &[Citable], token: &str) -> bool {
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    given.iter().filter(|source| source.id.kind == SourceKind::Message).any(|source| {
        source.text.match_indices(token).any(|(at, _)| {
            !word(source.text[..at].chars().next_back()) && !word(source.text[at + token.len()..].chars().next())
        })
    })
}
