//! Parses the arguments of `/topics`, and formats the list of topics.

use chime_core::escape_marks;
use chime_core::texts::{Texts, filled};

/// Arguments of `/topics`. Names of topics are as typed, but in lower case and with words joined by hyphens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopicsRequest {
    List,
    Use(String),
    /// Merges the first topic into the second.
    Merge(String, String),
    Unclear,
}

impl TopicsRequest {
    pub fn parse(args: &str) -> Self {
        let lower = args.to_lowercase();
        match lower.split_whitespace().collect::<Vec<_>>().as_slice() {
            [] => Self::List,
            ["use", slug @ ..] if !slug.is_empty() => Self::Use(slug.join("-")),
            ["merge", from, into] => Self::Merge((*from).to_owned(), (*into).to_owned()),
            _ => Self::Unclear,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTopic {
    pub slug: String,
    /// Number of sessions with this topic.
    pub sessions: u32,
    /// `true` if it is a current topic of the conversation.
    pub is_active: bool,
}

/// Formats the topics of a chat as Markdown. `near` are pairs of topics that may be the same word, which the text
/// suggests to merge.
pub fn listing(listed: &[ListedTopic], near: &[(&str, &str)], texts: &Texts) -> String {
    if listed.is_empty() {
        return texts.topics_none.clone();
    }
    let line = |ListedTopic { slug, sessions, is_active }: &ListedTopic| {
        let now = if *is_active { format!(", {}", texts.topics_now) } else { String::new() };
        format!("- {} ({sessions}){now}", escape_marks(slug))
    };
    let lines: Vec<String> = listed.iter().map(line).collect();
    let mut parts = vec![format!("{}\n\n{}", texts.topics_head, lines.join("\n"))];
    if !near.is_empty() {
        let join =
            |(from, into): &(&str, &str)| format!("- /topics merge {} {}", escape_marks(from), escape_marks(into));
        let joins: Vec<String> = near.iter().map(join).collect();
        parts.push(format!("{}\n\n{}", texts.topics_near, joins.join("\n")));
    }
    parts.push(texts.topics_how.clone());
    parts.join("\n\n")
}

pub fn set(slug: &str, texts: &Texts) -> String {
    filled(&texts.topics_set, &[("topic", &escape_marks(slug))])
}

pub fn same(slug: &str, texts: &Texts) -> String {
    filled(&texts.topics_same, &[("topic", &escape_marks(slug))])
}

pub fn merged(from: &str, into: &str, texts: &Texts) -> String {
    filled(&texts.topics_merged, &[("from", &escape_marks(from)), ("into", &escape_marks(into))])
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use chime_core::texts::texts;

    #[test]
    fn every_form_of_the_command_is_read() {
        let reply =
            ["", "use Red Tent", "use", "merge bills invoices", "merge bills", "what?"].map(TopicsRequest::parse);
        expect![[r#"
            [List, Use("red-tent"), Unclear, Merge("bills", "invoices"), Unclear, Unclear]"#]]
        .assert_eq(&format!("{reply:?}"));
    }

    #[test]
    fn topics_are_listed_with_the_one_at_hand_and_near_ones() {
        let one = |slug: &str, sessions, is_active| ListedTopic { slug: slug.to_owned(), sessions, is_active };
        let listed = [one("tent", 3, true), one("tenten", 1, false)];
        expect![[r#"
            Topics of this chat, with the number of conversations:

            - tent (3), the topic now
            - tenten (1)

            Perhaps the same? Admins can merge them with:

            - /topics merge tenten tent

            /topics use and a topic: sets what this conversation is about. Admins: /topics merge bills invoices: counts the first as the second."#]]
        .assert_eq(&listing(&listed, &[("tenten", "tent")], texts("eng")));
        assert_eq!(listing(&[], &[], texts("deu")), texts("deu").topics_none);
    }
}
