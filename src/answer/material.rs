//! What an answer's citations are held against, and the one form that they are brought into.

use crate::domain::{Citable, SourceId, SourceKind};

/// One tag: `[source: m17]`, `[source: 17]`, `[Sources: m3; source: n2]`.
pub const TAG: &str = r"[\[【]sources?:\s*[A-Za-z0-9_-]+(?:\s*[,;]\s*(?:sources?:\s*)?[A-Za-z0-9_-]+)*\s*[\]】]";

/// What an answer is held against.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// What may be cited.
    pub given: &'a [Citable],
    /// Who `u1`, `u2` … are.
    pub authors: &'a [(String, String)],
    /// The question itself: it is no source, but the model was shown its number.
    pub ask: Option<SourceId>,
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
