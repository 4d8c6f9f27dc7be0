//! Formats the choice of messages as JSON for programs, or as text for people.

use serde_json::{Map, Value, json};

use chime_answer::explain::{ContextExplanation, described, in_a_line};
use chime_answer::why::in_plain_words;
use chime_core::{FoundSource, MessageId, Part};
use chime_relevance::context::{Entry, Feature};

pub fn as_json(decision: &ContextExplanation) -> Value {
    let window: Vec<Value> = decision
        .window
        .entries
        .iter()
        .map(|entry| {
            let features: Map<String, Value> = decision
                .features(entry)
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
            let score = decision.candidate(omitted.id).map(|it| it.probability);
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
    let said = |id: MessageId| decision.said(id);
    let mut lines = vec![format!("trigger  #{} {}", decision.trigger.message.id, in_a_line(&decision.trigger))];
    if let Some(anchor) = window.anchor {
        lines.push(format!("anchor   #{anchor} {}", said(anchor)).trim_end().to_owned());
    }
    let shown = |entry: &Entry| {
        let id = entry.message.message.id;
        let line = format!("  #{id:<8} {} ({}, {:.2})", said(id), in_plain_words(entry.reason), entry.score);
        with_features(line, &decision.features(entry))
    };
    for (title, part) in [("focus   ", Part::Focus), ("around  ", Part::Surroundings)] {
        let entries: Vec<&Entry> = window.entries.iter().filter(|entry| entry.part() == part).collect();
        lines.push(format!("{title} {} messages", entries.len()));
        lines.extend(entries.into_iter().map(shown));
    }
    lines.push(format!("left out {}", window.omitted.len()));
    lines.extend(window.omitted.iter().map(|omitted| match decision.candidate(omitted.id) {
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
        format!("  #{} {became} {:.2}  {}", older.message.message.id, older.probability, described(&older.features()))
    }));
    for slot in &decision.slots {
        lines.push(format!("slot     {:<20} {} tokens", slot.name, slot.tokens));
        lines.extend(slot.found.iter().map(found));
    }
    lines.join("\n")
}

/// Formats a recalled source as `  m17      2.31  words 0.64, vector 0.52`.
fn found(source: &FoundSource) -> String {
    let retrieved: Vec<String> = source.retrieved.found().map(|(leg, score)| format!("{leg} {score:.2}")).collect();
    format!("  {:<8} {:.2}  {}", source.id, source.score, retrieved.join(", ")).trim_end().to_owned()
}

/// Appends the most important features to `line`, if there are any.
fn with_features(line: String, features: &[Feature]) -> String {
    match described(features) {
        described if described.is_empty() => line,
        described => format!("{line}\n            {described}"),
    }
}
