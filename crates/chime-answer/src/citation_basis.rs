//! Sources that an answer's citations are checked against, and the canonical form of a citation.

use std::sync::LazyLock;

use regex::Regex;

use crate::lines::Labels;
use crate::pattern;
use chime_core::{Citable, SourceId, SourceKind};

/// Regular expression for one citation in the canonical form (a tag): `[source: m17]`, `[source: 17]`, `[Sources: m3;
/// source: n2]`.
pub const TAG: &str = r"[\[【]sources?:\s*[A-Za-z0-9_-]+(?:\s*[,;]\s*(?:sources?:\s*)?[A-Za-z0-9_-]+)*\s*[\]】]";

/// Matches the word `source:`, or an id (the first group).
static ID: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\bsources?:|([A-Za-z0-9_-]+)"));

/// Data that an answer's citations are checked against.
#[derive(Debug, Clone, Copy)]
pub struct CitationBasis<'a> {
    /// Sources that may be cited.
    pub given: &'a [Citable],
    /// Numbers and names of messages and members in the prompt.
    pub labels: &'a Labels,
    /// The trigger, which must not be cited.
    pub ask: Option<SourceId>,
}

impl CitationBasis<'_> {
    /// Returns the source with this id; `None` if there is none. An id without a letter is a message number in the
    /// prompt.
    pub fn source_id(&self, id: &str) -> Option<SourceId> {
        let given = |id: &SourceId| self.ask == Some(*id) || self.given.iter().any(|source| source.id == *id);
        let by_number = |number: &str| self.labels.source(number.parse().ok()?);
        // A document without a page means its best page. Models also write `m4` for number 4 in the prompt, so that is
        // tried if no source has the id `m4`.
        let parsed = SourceId::parse(id);
        let best_page = |of: SourceId| {
            let mut ids = self.given.iter().map(|source| source.id);
            ids.find(|id| SourceId { page: None, ..*id } == of && of.kind == SourceKind::Document)
        };
        let given = parsed.filter(given).or_else(|| best_page(parsed?));
        given.or_else(|| by_number(id.trim_start_matches(['m', 'M'])))
    }

    /// Returns the ids in `tags`. If one of them has the form of an id, words from members' names are skipped.
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

    /// Returns `true` if `token` is no citation but a quote, since a member wrote the same text in the chat. A tag in
    /// square brackets with a valid id is always a citation, so that members cannot disable citations by writing one.
    pub fn stays_as_written(&self, token: &str) -> bool {
        let is_tag = token.starts_with(['[', '【']);
        let was_given = |id: &str| self.source_id(id).is_some_and(|id| self.given.iter().any(|source| source.id == id));
        let is_ours = is_tag && ids_in(token).any(was_given);
        !is_ours && is_written(self.given, token)
    }
}

/// Returns `true` if a member wrote `token` in the chat as a whole word.
fn is_written(given: &[Citable], token: &str) -> bool {
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
