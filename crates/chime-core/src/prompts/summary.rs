//! Templates for summaries and topics.

use serde::Serialize;

/// Values for the summary templates. The text to summarize follows the template, between fences.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct SummaryValues<'a> {
    pub fence: &'a str,
    /// `true` if the model's previous attempt was too long.
    pub shorter: bool,
    /// For `mini_summary.md`: `true` if the text to summarize consists of summaries of the parts of a long session.
    pub merges: bool,
    /// For `mini_summary.md`: `true` if there are lines of tasks and questions that were open before.
    pub has_open: bool,
    /// For `tags.md` and `infer_topic.md`: the tags that the chat already has, such as `invoices, thai-place`.
    pub inventory: &'a str,
}

/// Template of a request to a model for a summary or a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryPrompt {
    Mini,
    Tags,
    Recent,
    History,
    Recap,
    /// Summary of the oldest part of a long thread.
    Strand,
    /// Summary of all sessions about one topic.
    Topic,
    /// Choice of the topic that a chat is talking about now.
    InferTopic,
}

impl SummaryPrompt {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mini => "mini_summary.md",
            Self::Tags => "tags.md",
            Self::Recent => "recent.md",
            Self::History => "history.md",
            Self::Recap => "recap.md",
            Self::Strand => "strand.md",
            Self::Topic => "topic.md",
            Self::InferTopic => "infer_topic.md",
        }
    }

    pub(super) fn built_in(self) -> &'static str {
        match self {
            Self::Mini => include_str!("../../../../prompts/mini_summary.md"),
            Self::Tags => include_str!("../../../../prompts/tags.md"),
            Self::Recent => include_str!("../../../../prompts/recent.md"),
            Self::History => include_str!("../../../../prompts/history.md"),
            Self::Recap => include_str!("../../../../prompts/recap.md"),
            Self::Strand => include_str!("../../../../prompts/strand.md"),
            Self::Topic => include_str!("../../../../prompts/topic.md"),
            Self::InferTopic => include_str!("../../../../prompts/infer_topic.md"),
        }
    }
}

impl SummaryValues<'_> {
    pub(super) fn samples() -> [Self; 2] {
        [true, false].map(|is| SummaryValues {
            fence: "CODE",
            shorter: is,
            merges: is,
            has_open: is,
            inventory: if is { "invoices" } else { "" },
        })
    }
}
