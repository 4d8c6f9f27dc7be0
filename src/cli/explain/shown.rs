//! Formats the choice of messages as JSON for programs, or as text for people.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::cli::explain::{ContextExplanation, in_a_line};
use chime_answer::why::in_plain_words;
use chime_core::{FoundSource, MessageId, Part, Reason};
use chime_relevance::context::{Entry, Explained, Feature};

/// Number of features shown for a message: those with the greatest influence. JSON has all features.
const TOLD: usize = 3;

/// Descriptions of the features, by name.
static MEANINGS: LazyLock<BTreeMap<String, String>> =
    // If the file cannot be parsed, there are no descriptions. A test checks that it can.
    LazyLock::new(|| toml::from_str(include_str!("features.toml")).unwrap_or_default());

pub fn as_json(decision: &ContextExplanation) -> Value {
    let window: Vec<Value> = decision
        .window
        .entries
        .iter()
        .map(|entry| {
            let features: Map<String, Value> = features(decision, entry)
                .into_iter()
                .map(|it| (it.name, json!({ "value": it.value, "contribution": it.contribution })))
                .collect();
            json!({
                "id": entry.message.message.id, "part": entry.part(), "reason": entry.reason, "score": entry.score,
                "features": features,
            })
        })
        .collect();
    let omitted: Vec<Value> = decision
        .window
        .omitted
        .iter()
        .map(|omitted| {
            let score = explained(decision, omitted.id).map(|it| it.probability);
            json!({ "id": omitted.id, "why": omitted.why, "score": score })
        })
        .collect();
    let further_back: Vec<Value> = (decision.window.further_back.iter())
        .map(|older| {
            let features: Map<String, Value> = (older.features().iter())
                .map(|it| (it.name.clone(), json!({ "value": it.value, "contribution": it.contribution })))
                .collect();
            json!({ "ids": [older.message.message.id], "taken": older.is_accepted, "score": older.probability, "features": features })
        })
        .collect();
    let ids = |part: Part| -> Vec<MessageId> {
        let of_part = decision.window.entries.iter().filter(|entry| entry.part() == part);
        of_part.map(|entry| entry.message.message.id).collect()
    };
    json!({
        "focus": ids(Part::Focus), "surroundings": ids(Part::Surroundings), "further_back": further_back, "trigger": decision.trigger.message.id, "anchor": decision.window.anchor, "window": window,
        "omitted": omitted, "slots": decision.slots,
    })
}

pub fn in_words(decision: &ContextExplanation) -> String {
    let window = &decision.window;
    let said = |id: MessageId| decision.said.get(&id).map(String::as_str).unwrap_or_default();
    let mut lines = vec![format!("trigger  #{} {}", decision.trigger.message.id, in_a_line(&decision.trigger))];
    if let Some(anchor) = window.anchor {
        lines.push(format!("anchor   #{anchor} {}", said(anchor)).trim_end().to_owned());
    }
    let shown = |entry: &Entry| {
        let id = entry.message.message.id;
        let line = format!("  #{id:<8} {} ({}, {:.2})", said(id), in_plain_words(entry.reason), entry.score);
        with_features(line, &features(decision, entry))
    };
    for (title, part) in [("focus   ", Part::Focus), ("around  ", Part::Surroundings)] {
        let entries: Vec<&Entry> = window.entries.iter().filter(|entry| entry.part() == part).collect();
        lines.push(format!("{title} {} messages", entries.len()));
        lines.extend(entries.into_iter().map(shown));
    }
    lines.push(format!("left out {}", window.omitted.len()));
    lines.extend(window.omitted.iter().map(|omitted| match explained(decision, omitted.id) {
        Some(it) => {
            let line = format!("  #{:<8} {} ({}, {:.2})", omitted.id, said(omitted.id), omitted.why, it.probability);
            with_features(line, &it.features)
        }
        None => format!("  #{:<8} {} ({})", omitted.id, said(omitted.id), omitted.why),
    }));
    if !window.further_back.is_empty() {
        lines.push(format!("older    {} messages compared", window.further_back.len()));
    }
    lines.extend(window.further_back.iter().map(|older| {
        let became = if older.is_accepted { "taken" } else { "left" };
        format!("  #{} {became} {:.2}  {}", older.message.message.id, older.probability, told(&older.features()))
    }));
    for slot in &decision.slots {
        lines.push(format!("slot     {:<20} {} tokens", slot.name, slot.tokens));
        lines.extend(slot.found.iter().map(found));
    }
    lines.join("\n")
}

/// Formats a recalled source as `  m17      2.31  words 0.64, vector 0.52`.
fn found(source: &FoundSource) -> String {
    let legs: Vec<String> = source.legs.found().map(|(leg, score)| format!("{leg} {score:.2}")).collect();
    format!("  {:<8} {:.2}  {}", source.id, source.score, legs.join(", ")).trim_end().to_owned()
}

/// Appends the most important features to `line`, if there are any.
fn with_features(line: String, features: &[Feature]) -> String {
    match told(features) {
        told if told.is_empty() => line,
        told => format!("{line}\n            {told}"),
    }
}

/// Returns the features that decided about a message in the prompt. If the message was chosen because of a link, such
/// as a reply, that link is the only feature.
fn features(decision: &ContextExplanation, entry: &Entry) -> Vec<Feature> {
    let by_link = |name: &str| vec![Feature { name: name.to_owned(), value: 1.0, contribution: entry.score }];
    match entry.reason {
        Reason::Anchor | Reason::Quoted => by_link("reply"),
        Reason::Chain => by_link("chain"),
        Reason::Cluster => by_link("near"),
        Reason::Bridge => by_link("older"),
        Reason::Source => by_link("source"),
        Reason::Named => by_link("named"),
        Reason::Strand | Reason::Query | Reason::Nearby | Reason::Tool => {
            explained(decision, entry.message.message.id).map_or_else(Vec::new, |it| it.features.clone())
        }
    }
}

fn explained(decision: &ContextExplanation, id: MessageId) -> Option<&Explained> {
    decision.explained.iter().find(|it| it.id == id)
}

/// Formats the most important features as `common words +1.20, time since -0.40`.
fn told(features: &[Feature]) -> String {
    let told = |feature: &Feature| format!("{} {:+.2}", meaning(&feature.name), feature.contribution);
    features.iter().take(TOLD).map(told).collect::<Vec<_>>().join(", ")
}

fn meaning(name: &str) -> String {
    match name {
        "reply" => return "the trigger replies to it".to_owned(),
        "chain" => return "linked by replies".to_owned(),
        "named" => return "the trigger names its time or author".to_owned(),
        "source" => return "an earlier answer rested on it".to_owned(),
        "older" => return "about the same, from further back".to_owned(),
        "near" => return "no long silence between".to_owned(),
        _ => {}
    }
    let known = |name: &str| MEANINGS.get(name).cloned();
    known(name).unwrap_or_else(|| {
        let Some((model, parts)) = name.split_once('.') else { return name.to_owned() };
        let parts = parts.split('*').map(|part| known(&format!("{model}.{part}")).unwrap_or_else(|| part.to_owned()));
        parts.collect::<Vec<_>>().join(" × ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_told_in_plain_words() {
        let feature = |name: &str, contribution| Feature { name: name.to_owned(), value: 1.0, contribution };
        let features = [feature("tag.minutes_since", 1.2), feature("pair.word_cosine", -0.4), feature("new.one", 0.1)];
        assert_eq!(told(&features), "time since +1.20, common words -0.40, one +0.10");
    }
}
