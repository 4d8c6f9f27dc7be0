//! Sample values with which every template is tested at the start of the program.

use minijinja::Value;
use minijinja::value::Serde;
use serde::Serialize;

use crate::prompts::{
    AskValues, CaptureValues, ConceptsValues, ContextValues, FrameValues, RecallValues, RoleValues, SlotValues,
    SummaryValues, Template,
};

impl Template {
    /// Returns samples that together reach every branch of the built-in template.
    pub(super) fn samples(self) -> Vec<Value> {
        match self {
            Self::Role | Self::Plain | Self::Strict => {
                let role = |numbered: bool, length: &'static str| RoleValues {
                    bot_name: "Chime",
                    place: "group",
                    is_private: numbered,
                    fence: "CODE",
                    numbered,
                    language: numbered.then_some("German"),
                    length,
                };
                [role(true, "normal"), role(false, "normal"), role(true, "short"), role(false, "long")]
                    .map(sample)
                    .to_vec()
            }
            Self::Capture => vec![sample(CaptureValues { fence: "CODE", ask: "what is VAT?", answer: "A tax." })],
            Self::Slot => [
                ("system.chat.recent", None),
                ("system.chat.history", None),
                ("system.chat.topic", Some("lake-trip")),
                ("system.recall", None),
                ("system.material", None),
                ("system.persona", None),
            ]
            .map(|(slot, topic)| SlotValues { slot, topic, fence: "CODE", lines: "[s1] the lake" })
            .map(sample)
            .to_vec(),
            Self::Concepts => vec![sample(ConceptsValues { fence: "CODE", lines: "- VAT – a tax" })],
            Self::Frame => [
                ("", true, false, false),
                ("kind: book", true, false, false),
                ("kind: book", false, true, false),
                ("kind: book", false, false, false),
                ("kind: book", false, false, true),
            ]
            .map(|(lines, suggests, about_items, is_open)| FrameValues {
                // Without lines the template prints no fence.
                fence: if lines.is_empty() { "" } else { "CODE" },
                lines,
                suggests,
                about_items,
                is_open,
                is_offer: true,
            })
            .map(sample)
            .to_vec(),
            Self::Recall => vec![sample(RecallValues { fence: "CODE", lines: "[1] Ana (14:02): hello" })],
            Self::Context => [("[1] Ana (14:02): hello", None), ("", Some("14:00")), ("", None)]
                .map(|(lines, earliest)| {
                    // Without lines the template prints no fence.
                    let fence = if lines.is_empty() { "" } else { "CODE" };
                    ContextValues { fence, lines, earliest }
                })
                .map(sample)
                .to_vec(),
            Self::Ask => asks(),
            _ => [true, false]
                .map(|is| SummaryValues {
                    fence: "CODE",
                    shorter: is,
                    merges: is,
                    has_open: is,
                    inventory: if is { "invoices" } else { "" },
                    topic: "invoices",
                })
                .map(sample)
                .to_vec(),
        }
    }
}

fn asks() -> Vec<Value> {
    let numbers = Some("[3], [5]");
    [
        (Some("text"), Some(1), Some("part"), true, false, None),
        (Some("text"), None, None, false, false, None),
        (Some("text"), None, None, true, true, None),
        (None, None, None, true, false, None),
        (None, None, None, true, false, numbers),
        (None, None, None, true, true, numbers),
    ]
    .map(|(anchor, anchor_number, quoted, generic, summary, focus)| AskValues {
        fence: "CODE",
        today: "Monday 5 January 2026",
        time: "14:10",
        zone: "Europe/Berlin",
        people: quoted.map(|_| "Ana (@ana), Ben"),
        anchor,
        anchor_number,
        anchor_withheld: anchor.is_none(),
        quoted,
        spoilers: quoted.is_some(),
        photos: quoted,
        asker: "Ana",
        ask: "Ana: thoughts?",
        has_words: true,
        generic,
        ideas: generic && !summary,
        summary,
        opened: anchor.is_some(),
        focus,
        nothing_known: anchor.is_none() && focus.is_none(),
        about_bot: !generic,
        language: anchor.map(|_| "German"),
    })
    .map(sample)
    .to_vec()
}

fn sample(values: impl Serialize) -> Value {
    Value::from(Serde(values))
}
