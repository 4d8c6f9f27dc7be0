//! What an answer's citations are held against, and the one form that they are brought into.

use crate::lines::Labels;
use chime_core::{Citable, SourceId, SourceKind};

/// One tag: `[source: m17]`, `[source: 17]`, `[Sources: m3; source: n2]`.
pub const TAG: &str = r"[\[【]sources?:\s*[A-Za-z0-9_-]+(?:\s*[,;]\s*(?:sources?:\s*)?[A-Za-z0-9_-]+)*\s*[\]】]";

/// What an answer is held against.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// What may be cited.
    pub given: &'a [Citable],
    /// What the prompt called the messages and members.
    pub labels: &'a Labels,
    /// The question itself, which is no source.
    pub ask: Option<SourceId>,
}

impl Material<'_> {
    /// The source that an id in a tag names. A number alone is one of the prompt.
    pub fn source_id(&self, id: &str) -> Option<SourceId> {
        let given = |id: &SourceId| self.ask == Some(*id) || self.given.iter().any(|source| source.id == *id);
        let by_number = |number: &str| self.labels.source(number.parse().ok()?);
        // `m4` is the chat's own number, or a way to write the prompt's.
        SourceId::parse(id).filter(given).or_else(|| by_number(id.trim_start_matches(['m', 'M'])))
    }
}

/// Whether somebody in the talk wrote `token` as a word of its own.
pub fn is_written(given: &[Citable], token: &str) -> bool {
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    given.iter().filter(|source| source.id.kind == SourceKind::Message).any(|source| {
        source.text.match_indices(token).any(|(at, _)| {
            !word(source.text[..at].chars().next_back()) && !word(source.text[at + token.len()..].chars().next())
        })
    })
}
