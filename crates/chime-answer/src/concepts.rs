//! Concepts: named things that a conversation referred to, kept so that later answers call them by the same words. Pure
//! functions; `answering` loads and stores.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::followup::fold;
use crate::sanitize::{escape_markdown, one_line};
use chime_core::texts::{ConceptTexts, filled};
use chime_core::{Captured, Concept, ConceptId, ConversationContext};

/// Maximum number of concepts in a conversation's scope; those referenced last stay.
pub const MAX_ACTIVE: usize = 32;
const MAX_CAPTURED: usize = 8;
const LABEL_CHARS: usize = 60;
const DEFINITION_CHARS: usize = 160;
const MAX_ALT_LABELS: usize = 5;
/// Minimum number of characters of a label that is searched in a text. A shorter one could be part of any word.
const TELLING_CHARS: usize = 3;
/// Maximum number of concepts that `/concepts` lists.
const LISTED: usize = 40;

/// Returns the JSON schema by which the model returns concepts. Every field is required, since strict servers reject
/// optional ones.
pub fn capture_schema() -> Value {
    let concept = json!({
        "type": "object", "additionalProperties": false,
        "required": ["preferred_label", "alternative_labels", "definition", "type"],
        "properties": {
            "preferred_label": {"type": "string"},
            "alternative_labels": {"type": "array", "items": {"type": "string"}},
            "definition": {"type": "string"},
            "type": {"type": ["string", "null"]},
        },
    });
    json!({
        "type": "object", "additionalProperties": false, "required": ["concepts"],
        "properties": {"concepts": {"type": "array", "items": concept}},
    })
}

/// Parses the concepts in the model's JSON. Invalid ones are skipped; JSON of another form gives none.
pub fn parse_captured(arguments: &Value) -> Vec<Captured> {
    let list = arguments.get("concepts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let read = |value: &Value| serde_json::from_value::<Captured>(value.clone()).ok().and_then(sound);
    let mut found: Vec<Captured> = Vec::new();
    for captured in list.iter().filter_map(read) {
        if !found.iter().any(|other| fold(&other.label) == fold(&captured.label)) {
            found.push(captured);
        }
    }
    found.truncate(MAX_CAPTURED);
    found
}

fn sound(raw: Captured) -> Option<Captured> {
    let label = one_line(&raw.label, LABEL_CHARS);
    let is_named = label.chars().any(char::is_alphabetic) && label.chars().filter(|c| c.is_alphanumeric()).count() >= 2;
    let others = raw.alt_labels.iter().map(|other| one_line(other, LABEL_CHARS));
    let alt_labels = others.filter(|other| !other.is_empty() && *other != label).take(MAX_ALT_LABELS).collect();
    let kind = raw.kind.map(|kind| one_line(&kind, LABEL_CHARS)).filter(|kind| !kind.is_empty());
    let definition = one_line(&raw.definition, DEFINITION_CHARS);
    is_named.then_some(Captured { label, alt_labels, definition, kind })
}

/// Returns the known concept that shares a label with `captured`; `None` if the concept is new to the chat.
pub fn resolve(captured: &Captured, known: &[Concept]) -> Option<ConceptId> {
    let labels = |label: &String, others: &[String]| -> BTreeSet<String> {
        std::iter::once(label).chain(others).map(|label| fold(label)).collect()
    };
    let wanted = fold(&captured.label);
    let by_name = known.iter().find(|concept| fold(&concept.label) == wanted);
    let all = labels(&captured.label, &captured.alt_labels);
    let by_other = || known.iter().find(|concept| !labels(&concept.label, &concept.alt_labels).is_disjoint(&all));
    by_name.or_else(by_other).map(|concept| concept.id)
}

/// Returns the scope after an answer that references the concepts `referenced`: they are added or moved to the end, and
/// the first are removed beyond [`MAX_ACTIVE`].
pub fn merge(context: &ConversationContext, referenced: &[ConceptId]) -> ConversationContext {
    let mut active: Vec<ConceptId> = context.active.iter().filter(|id| !referenced.contains(id)).copied().collect();
    for id in referenced {
        if !active.contains(id) {
            active.push(*id);
        }
    }
    let surplus = active.len().saturating_sub(MAX_ACTIVE);
    active.drain(..surplus);
    ConversationContext { active }
}

/// Returns a prompt line for each concept in scope, the last referenced first, because a token limit cuts the end of
/// the list.
pub fn in_scope(context: &ConversationContext, known: &[Concept]) -> Vec<String> {
    let found = context.active.iter().rev().filter_map(|id| known.iter().find(|concept| concept.id == *id));
    found.map(|concept| format!("- {}", described(concept))).collect()
}

/// Returns the concepts that a text mentions by one of their labels.
pub fn mentioned(text: &str, known: &[Concept]) -> Vec<ConceptId> {
    let text = format!(" {} ", fold(text));
    let says = |label: &String| {
        let label = fold(label);
        label.chars().count() >= TELLING_CHARS && text.contains(&format!(" {label} "))
    };
    let is_said = |concept: &&Concept| says(&concept.label) || concept.alt_labels.iter().any(says);
    known.iter().filter(is_said).map(|concept| concept.id).collect()
}

fn described(concept: &Concept) -> String {
    let kind = concept.kind.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
    match concept.definition.as_str() {
        "" => format!("{}{kind}", concept.label),
        definition => format!("{}{kind} – {definition}", concept.label),
    }
}

/// Returns the text of `/concepts` as Markdown: the concepts in scope first, then the others of the chat.
pub fn listing(context: &ConversationContext, known: &[Concept], texts: &ConceptTexts) -> String {
    let (active, other): (Vec<&Concept>, Vec<&Concept>) =
        known.iter().partition(|concept| context.active.contains(&concept.id));
    if known.is_empty() {
        return texts.none.clone();
    }
    let line = |concept: &&Concept| {
        let others = match concept.alt_labels.as_slice() {
            [] => String::new(),
            others => format!(" ({})", filled(&texts.also, &[("names", &escape_markdown(&others.join(", ")))])),
        };
        let definition = match concept.definition.as_str() {
            "" => String::new(),
            definition => format!(" – {}", escape_markdown(definition)),
        };
        format!("- **{}**{others}{definition}", escape_markdown(&concept.label))
    };
    let mut parts = Vec::new();
    let mut room = LISTED;
    for (head, concepts) in [(&texts.here, &active), (&texts.known, &other)] {
        let lines: Vec<String> = concepts.iter().take(room).map(line).collect();
        room -= lines.len();
        if !lines.is_empty() {
            parts.push(format!("{head}\n\n{}", lines.join("\n")));
        }
    }
    let left = known.len().saturating_sub(LISTED);
    parts.extend((left > 0).then(|| filled(&texts.and_more, &[("n", &left.to_string())])));
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use chime_core::texts::texts;

    fn concept(id: u128, label: &str, others: &[&str], definition: &str) -> Concept {
        let alt_labels = others.iter().map(|other| (*other).to_owned()).collect();
        let (label, definition) = (label.to_owned(), definition.to_owned());
        Concept { id: ConceptId(ulid::Ulid(id)), label, alt_labels, definition, kind: None }
    }

    fn ids(numbers: &[u128]) -> Vec<ConceptId> {
        numbers.iter().map(|number| ConceptId(ulid::Ulid(*number))).collect()
    }

    #[test]
    fn a_capture_is_resolved_by_any_label_without_case_and_diacritics() {
        let known = [concept(1, "Value-Added Tax", &["VAT"], ""), concept(2, "Käibemaks", &[], "")];
        let is = |label: &str, others: &[&str]| {
            let alt_labels = others.iter().map(|other| (*other).to_owned()).collect();
            resolve(&Captured { label: label.to_owned(), alt_labels, ..Captured::default() }, &known)
        };
        assert_eq!(is("vat", &[]), Some(ConceptId(ulid::Ulid(1))));
        assert_eq!(is("kaibemaks", &[]), Some(ConceptId(ulid::Ulid(2))));
        assert_eq!(is("Sales tax", &["value added tax"]), Some(ConceptId(ulid::Ulid(1))));
        assert_eq!(is("Road tax", &[]), None);
    }

    #[test]
    fn the_active_set_is_the_union_with_the_latest_last_and_the_oldest_cut() {
        let context = ConversationContext { active: ids(&[1, 2, 3]) };
        assert_eq!(merge(&context, &ids(&[2, 4, 4])).active, ids(&[1, 3, 2, 4]));
        let many: Vec<u128> = (1..=40).collect();
        let capped = merge(&ConversationContext { active: ids(&many) }, &ids(&[99]));
        assert_eq!(capped.active.len(), MAX_ACTIVE);
        assert_eq!((capped.active.first(), capped.active.last()), (ids(&[10]).first(), ids(&[99]).first()));
    }

    #[test]
    fn the_prompt_says_what_is_in_scope_and_nothing_where_nothing_is_known() {
        let known = [concept(1, "VAT", &[], "a tax on goods"), concept(2, "VRT", &[], "")];
        let context = ConversationContext { active: ids(&[1, 7, 2]) };
        assert_eq!(in_scope(&context, &known), ["- VRT", "- VAT – a tax on goods"]);
        assert!(in_scope(&context, &[]).is_empty());
        assert!(in_scope(&ConversationContext::default(), &known).is_empty());
    }

    #[test]
    fn a_text_speaks_of_a_concept_by_any_label_as_a_whole_word() {
        let known =
            [concept(1, "Value-added tax", &["VAT"], ""), concept(2, "Käibemaks", &[], ""), concept(3, "IT", &[], "")];
        assert_eq!(mentioned("Is vat due? The kaibemaks is.", &known), ids(&[1, 2]));
        assert_eq!(mentioned("A private vatican; it is fine.", &known), ids(&[]));
    }

    #[test]
    fn what_the_model_gives_is_checked_and_clipped() {
        let given = json!({"concepts": [
            {"preferred_label": "Grill\nparty", "definition": "On Friday.", "alternative_labels": ["BBQ", "", "Grill party"]},
            {"preferred_label": "grill  party", "definition": "twice"},
            {"preferred_label": "!", "definition": "no name"},
            {"definition": "no label"},
            "no concept",
        ]});
        let found = parse_captured(&given);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].label.as_str(), found[0].alt_labels.as_slice()),
            ("Grill party", ["BBQ".to_owned()].as_slice())
        );
        assert!(parse_captured(&json!("nothing")).is_empty());
        let many: Vec<Value> = (0..50).map(|n| json!({"preferred_label": format!("thing {n}")})).collect();
        assert_eq!(parse_captured(&json!({"concepts": many})).len(), MAX_CAPTURED);
    }

    #[test]
    fn the_list_shows_what_is_in_scope_first() {
        let known = [concept(1, "VAT", &["Value-added tax"], "a tax"), concept(2, "A*B", &[], "")];
        let context = ConversationContext { active: ids(&[2]) };
        expect![[r#"
            Used in this conversation:

            - **A\*B**

            Known in this chat:

            - **VAT** (also: Value-added tax) – a tax"#]]
        .assert_eq(&listing(&context, &known, &texts("eng").concepts));
        assert!(listing(&context, &[], &texts("eng").concepts).starts_with("I have not noted any concepts"));
    }
}
