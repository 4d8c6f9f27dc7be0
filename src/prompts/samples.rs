//! Values that every template is tried with at start.

use minijinja::Value;
use minijinja::value::Serde;
use serde::Serialize;

use crate::prompts::{
    AskValues, CaptureValues, ChooseValues, ConceptsValues, ContextValues, ExtractValues, FrameValues, RecallValues,
    RoleValues, SlotValues, SummaryValues, Template,
};

impl Template {
    /// Values that lead through every branch of the built-in text.
    pub(super) fn samples(self) -> Vec<Value> {
        match self {
            Self::Role | Self::Strict => {
                let today = "Monday 5 January 2026";
                vec![sample(RoleValues { bot_name: "Chime", place: "group", today, zone: "Europe/Berlin" })]
            }
            Self::Extract => [Some("kind: book"), None]
                .map(|suggested| {
                    let (lines, ask) = (suggested.map_or("", |_| "hello"), "more");
                    ExtractValues { fence: "CODE", suggested, lines, ask, intents: "ask, more" }
                })
                .map(sample)
                .to_vec(),
            Self::Choose => ["hello", ""]
                .map(|lines| ChooseValues {
                    fence: "CODE",
                    said: "he",
                    lines,
                    ask: "more of his",
                    candidates: "1. Ana",
                })
                .map(sample)
                .to_vec(),
            Self::Capture => vec![sample(CaptureValues { fence: "CODE", ask: "what is VAT?", answer: "A tax." })],
            Self::Slot => [
                ("system.chat.recent", None),
                ("system.chat.history", None),
                ("system.chat.topic", Some("lake-trip")),
                ("system.recall", None),
            ]
            .map(|(slot, topic)| SlotValues { slot, topic, fence: "CODE", lines: "[s1] the lake" })
            .map(sample)
            .to_vec(),
            Self::Concepts => vec![sample(ConceptsValues { fence: "CODE", lines: "- VAT – a tax" })],
            Self::Frame => [(true, false), (false, true), (false, false)]
                .map(|(suggests, about_items)| FrameValues {
                    fence: "CODE",
                    lines: "kind: book",
                    suggests,
                    about_items,
                })
                .map(sample)
                .to_vec(),
            Self::Recall => vec![sample(RecallValues { fence: "CODE", lines: "[m1 · u1 Ana · 14:02] hello" })],
            Self::Context => [("[m1 · u1 Ana · 14:02] hello", None), ("", Some("14:00")), ("", None)]
                .map(|(lines, earliest)| ContextValues {
                    time: "14:10",
                    fence: "CODE",
                    lines,
                    has_focus: true,
                    has_surroundings: true,
                    earliest,
                    people: earliest.is_none().then_some("Ana (@ana), Ben"),
                })
                .map(sample)
                .to_vec(),
            Self::Summary(_) => SummaryValues::samples().map(sample).to_vec(),
            Self::Ask => asks(),
        }
    }
}

fn asks() -> Vec<Value> {
    [(Some("text"), Some("m1"), Some("part"), true), (Some("text"), None, None, false), (None, None, None, true)]
        .map(|(anchor, anchor_id, quoted, generic)| AskValues {
            fence: "CODE",
            anchor,
            anchor_id,
            anchor_withheld: anchor.is_none(),
            quoted,
            taken: quoted,
            photos: quoted,
            another: generic,
            asker: "u1",
            ask_id: "m2",
            ask: "thoughts?",
            generic,
            nothing_known: anchor.is_none(),
        })
        .map(sample)
        .to_vec()
}

fn sample(values: impl Serialize) -> Value {
    Value::from(Serde(values))
}
