//! Sources that an answer's citations are checked against, and the canonical form of a citation.

use std::sync::LazyLock;

use regex::Regex;

use crate::lines::Labels;
use chime_core::{Citable, SourceId, SourceKind};

/// Regular expression of one tag: `[source: m17]`, `[source: 17]`, `[Sources: m3; source: n2]`.
pub const TAG: &str = r"[\[【]sources?:\s*[A-Za-z0-9_-]+(?:\s*[,;]\s*(?:sources?:\s*)?[A-Za-z0-9_-]+)*\s*[\]】]";

/// Matches an id in a tag, after the word `source:`.
static ID: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\bsources?:|([A-Za-z0-9_-]+)"));

/// Data that an answer's citations are checked against.
#[derive(Debug, Clone, Copy)]
pub struct CitationMaterial<'a> {
    /// Sources that may be cited.
    pub given: &'a [Citable],
    /// Numbers and names of messages and members in the prompt.
    pub labels: &'a Labels,
    /// The question itself, which is not a source.
    pub ask: Option<SourceId>,
}

impl CitationMaterial<'_> {
    /// Returns the source that an id in a tag names. A bare number is one of the prompt's.
    pub fn source_id(&self, id: &str) -> Option<SourceId> {
        let given = |id: &SourceId| self.ask == Some(*id) || self.given.iter().any(|source| source.id == *id);
        let by_number = |number: &str| self.labels.source(number.parse().ok()?);
        // `m4` is the chat's sequence number, or another form of the prompt's number.
        SourceId::parse(id).filter(given).or_else(|| by_number(id.trim_start_matches(['m', 'M'])))
    }

    /// Returns the ids in `tags`. In a tag with a valid id, other words may be the author's name and are skipped.
    pub fn cited_ids<'t>(&self, tags: &'t str) -> Vec<&'t str> {
        let cited: Vec<&str> = ids_in(tags).collect();
        let has_ours = cited.iter().any(|id| SourceId::parse(id).is_some());
        let is_name = |id: &str| {
            has_ours
                && SourceId::parse(id).is_none()
                && self.labels.names().any(|name| name.split_whitespace().any(|word| word == id))
        };
        cited.into_iter().filter(|id| !is_name(id)).collect()
    }

    /// Returns `true` if a member wrote `token` in the chat, where it means something else. A tag in square brackets
    /// with a valid id is always a citation, so that a member cannot disable citations by writing one.
    pub fn stays_as_written(&self, token: &str) -> bool {
        let is_tag = token.starts_with(['[', '【']);
        let was_given = |id: &str| self.source_id(id).is_some_and(|id| self.given.iter().any(|source| source.id == id));
        let is_ours = is_tag && ids_in(token).any(was_given);
        !is_ours && is_written(self.given, token)
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

/// Returns the ids in `tags`, valid or not.
fn ids_in(tags: &str) -> impl Iterator<Item = &str> {
    ID.captures_iter(tags).filter_map(|found| Some(found.get(1)?.as_str()))
}

#[expect(clippy::expect_used, reason = "the pattern is a constant, and every test of citations compiles it")]
fn pattern(raw: &str) -> Regex {
    Regex::new(raw).expect("a valid pattern")
}
