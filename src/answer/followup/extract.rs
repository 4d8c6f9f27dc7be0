//! What the model reads in an ask where the patterns are not sure: strict JSON, checked before it counts.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::followup::entities::{clean_name, is_valid_name};
use crate::answer::followup::tables::{Names, Tables};
use crate::domain::{Amount, Budget, EntityType, Frame, Intent, NamedEntity, clip};

/// Characters of a field.
const FIELD_CHARS: usize = 120;
/// Entries of a list.
const LIST_ENTRIES: usize = 8;

/// A frame that the model read.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted(pub Frame);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    intent: Intent,
    confidence: f64,
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    subject: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    category_hints: Vec<String>,
    #[serde(default)]
    constraints: Vec<String>,
    #[serde(default)]
    recipient: Option<String>,
    #[serde(default)]
    occasion: Option<String>,
    #[serde(default)]
    item_language: Option<String>,
    #[serde(default)]
    budget: Option<RawBudget>,
    #[serde(default)]
    entities: Vec<NamedEntity>,
    #[serde(default)]
    popular: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBudget {
    #[serde(default)]
    min: Option<f64>,
    #[serde(default)]
    max: Option<f64>,
    #[serde(default)]
    currency: Option<String>,
    #[serde(default)]
    hint: Option<String>,
}

/// The form of the answer. Every field is required, as strict servers want it; null and empty lists say nothing.
pub fn extraction_schema() -> Value {
    let text = json!({"type": ["string", "null"]});
    let list = json!({"type": "array", "items": {"type": "string"}});
    let number = json!({"type": ["number", "null"]});
    let budget = json!({
        "type": ["object", "null"], "additionalProperties": false, "required": ["min", "max", "currency", "hint"],
        "properties": {"min": number, "max": number, "currency": text, "hint": text},
    });
    let entity = json!({
        "type": "object", "additionalProperties": false, "required": ["name", "type"],
        "properties": {
            "name": {"type": "string"}, "type": {"enum": ["person", "place", "work", "organisation", "other"]},
        },
    });
    json!({
        "type": "object", "additionalProperties": false,
        "required": [
            "intent", "confidence", "language", "subject", "kind", "category_hints", "constraints", "recipient",
            "occasion", "item_language", "budget", "entities", "popular",
        ],
        "properties": {
            "intent": {"enum": Intent::ALL.map(Intent::as_str)}, "confidence": {"type": "number"}, "language": text,
            "subject": text, "kind": text, "category_hints": list, "constraints": list, "recipient": text,
            "occasion": text, "item_language": text, "budget": budget,
            "entities": {"type": "array", "items": entity}, "popular": {"type": "boolean"},
        },
    })
}

/// The frame in the model's answer; none where that is not exactly what was asked for.
pub fn parse_extracted(answer: &str) -> Option<Extracted> {
    let json = answer.trim().trim_start_matches("```json").trim_start_matches("```").trim_end_matches("```");
    let raw: Raw = serde_json::from_str(json.trim()).ok()?;
    if !(0.0..=1.0).contains(&raw.confidence) {
        return None;
    }
    let canonical = |names: Names, word: String| match Tables::shipped().name_of(names, &word) {
        Some(name) => name.to_owned(),
        None => word,
    };
    let entities = raw.entities.into_iter().map(|entity| NamedEntity { name: clean_name(&entity.name), ..entity });
    let is_sound = |entity: &NamedEntity| entity.kind != EntityType::Person || is_valid_name(&entity.name);
    Some(Extracted(Frame {
        intent: raw.intent,
        confidence: raw.confidence,
        language: text(raw.language),
        subject: text(raw.subject),
        kind: text(raw.kind).map(|kind| canonical(Names::Kinds, kind)),
        category_hints: list(raw.category_hints),
        constraints: list(raw.constraints),
        recipient: text(raw.recipient).map(|it| canonical(Names::Recipients, it)),
        occasion: text(raw.occasion).map(|it| canonical(Names::Occasions, it)),
        item_language: text(raw.item_language),
        budget: raw.budget.and_then(budget),
        entities: entities.filter(is_sound).take(LIST_ENTRIES).collect(),
        popular: raw.popular,
        clarification: None,
    }))
}

fn text(raw: Option<String>) -> Option<String> {
    let raw = raw?;
    let line = raw.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then(|| clip(&line, FIELD_CHARS).into_owned())
}

fn list(raw: Vec<String>) -> Vec<String> {
    raw.into_iter().filter_map(|entry| text(Some(entry))).take(LIST_ENTRIES).collect()
}

fn budget(raw: RawBudget) -> Option<Budget> {
    let budget = Budget {
        min: raw.min.and_then(amount),
        max: raw.max.and_then(amount),
        currency: raw.currency,
        hint: text(raw.hint),
    };
    (!budget.is_open()).then_some(budget)
}

fn amount(units: f64) -> Option<Amount> {
    /// No budget in a chat is larger, and it fits the type.
    const MOST: f64 = 1e9;
    let is_sound = units.is_finite() && (0.0..=MOST).contains(&units);
    // Money in hundredths: below 2^53, so that nothing is lost.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be within 0 and 1e9")]
    is_sound.then(|| Amount((units * 100.0).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_json_becomes_a_frame_with_canonical_words() {
        let json = r#"{"intent":"suggest","confidence":0.9,"language":"et","subject":"lihtne","kind":"raamatuid",
            "recipient":"emale","budget":{"max":29.9,"currency":"EUR"},"entities":[{"name":"Dr. Oliver Sacks","type":"person"},{"name":"tema","type":"person"}]}"#;
        let Extracted(frame) = parse_extracted(json).expect("a frame");
        assert_eq!((frame.kind.as_deref(), frame.recipient.as_deref()), (Some("book"), Some("mother")));
        assert_eq!(frame.budget.and_then(|budget| budget.max), Some(Amount(2990)));
        assert_eq!(frame.entities, [NamedEntity::person("Oliver Sacks")]);
        assert!(parse_extracted(&format!("```json\n{json}\n```")).is_some());
    }

    #[test]
    fn anything_else_counts_for_nothing() {
        for answer in [
            "",
            "I think they want books.",
            r#"{"intent":"buy","confidence":0.9}"#,
            r#"{"intent":"more"}"#,
            r#"{"intent":"more","confidence":7}"#,
            r#"{"intent":"more","confidence":0.9,"and":"send money"}"#,
        ] {
            assert_eq!(parse_extracted(answer), None, "{answer}");
        }
    }

    #[test]
    fn fields_are_clipped_and_lists_are_short() {
        let long = "x".repeat(1000);
        let many: Vec<&str> = vec!["y"; 50];
        let json = serde_json::json!({"intent": "ask", "confidence": 0.5, "subject": long, "constraints": many});
        let Extracted(frame) = parse_extracted(&json.to_string()).expect("a frame");
        assert!(frame.subject.expect("a subject").chars().count() <= FIELD_CHARS + 1);
        assert_eq!(frame.constraints.len(), LIST_ENTRIES);
    }
}
