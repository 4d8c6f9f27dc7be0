//! Structured meaning of a question: what the member wants, the filters for suggestions, and the earlier suggestions
//! that words such as "the second one" refer to.

use serde::{Deserialize, Serialize};

use super::{Amount, AnswerId, Item};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    #[default]
    Ask,
    Summarize,
    Recap,
    Decide,
    Suggest,
    More,
    Cheaper,
    Budget,
    Compare,
    ItemQuestion,
    EntitySearch,
    Explain,
    Smalltalk,
}

words!(Intent {
    Ask = "ask", Summarize = "summarize", Recap = "recap", Decide = "decide", Suggest = "suggest", More = "more",
    Cheaper = "cheaper", Budget = "budget", Compare = "compare", ItemQuestion = "item_question",
    EntitySearch = "entity_search", Explain = "explain", Smalltalk = "smalltalk",
});

impl Intent {
    pub fn suggests(self) -> bool {
        matches!(self, Self::Suggest | Self::More | Self::Cheaper | Self::Budget | Self::EntitySearch)
    }

    /// Returns `true` if the question takes kind, entities and popularity from the suggestion that it
    /// continues.
    pub fn inherits(self) -> bool {
        matches!(self, Self::More | Self::Cheaper | Self::Budget | Self::Compare)
    }

    /// Returns `true` if the intent is meaningless without an earlier suggestion.
    pub fn needs_suggestion(self) -> bool {
        matches!(self, Self::More | Self::Cheaper | Self::Budget | Self::Compare | Self::ItemQuestion)
    }
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    pub min: Option<Amount>,
    pub max: Option<Amount>,
    /// ISO 4217 code.
    pub currency: Option<String>,
    /// The words of the question, such as "under 30".
    pub hint: Option<String>,
}

impl Budget {
    /// Returns `true` if there is neither a minimum nor a maximum.
    pub fn is_open(&self) -> bool {
        self.min.is_none() && self.max.is_none()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityType {
    #[default]
    Person,
    Place,
    Work,
    Organisation,
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedEntity {
    pub name: String,
    #[serde(rename = "type", default)]
    pub kind: EntityType,
}

impl NamedEntity {
    pub fn person(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: EntityType::Person }
    }
}

/// Ambiguity in a question, which the bot asks the member to resolve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clarification {
    pub about: Unclear,
    /// Names of the candidates, in the order in which the member sees them.
    pub candidates: Vec<String>,
    /// For [`Unclear::Suggestion`]: the answer that made the suggestion, one for each candidate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerId>,
    /// The question, which is answered once the member has chosen a candidate.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ask: String,
}

/// Part of a question that is ambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unclear {
    /// A pronoun may mean several persons.
    Person,
    /// A pronoun may mean several items.
    Item,
    /// The question may continue several suggestions.
    Suggestion,
}

/// Structured meaning of a question, stored with its answer.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Frame {
    pub intent: Intent,
    /// Confidence in the intent, 0 to 1.
    pub confidence: f64,
    /// Two-letter code of the question's language, if known.
    pub language: Option<String>,
    /// The thing wanted, in the words of the question, without words that are in other fields.
    pub subject: Option<String>,
    /// Kind of item such as `book` or `restaurant`; a synonym is replaced by the usual word if it is known.
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    pub recipient: Option<String>,
    pub occasion: Option<String>,
    pub item_language: Option<String>,
    pub budget: Option<Budget>,
    /// Named persons, places and works, the most important first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<NamedEntity>,
    pub popular: bool,
    pub clarification: Option<Clarification>,
}

/// Rule by which the earlier suggestion was found that a question continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// The question replies to the suggestion.
    Reply,
    /// It is the newest suggestion in the thread of the question.
    Strand,
    /// It is the newest suggestion in this session that the same member requested or continued.
    Member,
}

/// Evidence for the meaning of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The question contains the name.
    Named,
    /// The question gives the position, such as "the second one".
    Position,
    /// There is only one candidate.
    Only,
    /// It is the most important entity of the question that led to the suggestion.
    Primary,
    /// It was shown or asked about last.
    Last,
    /// The member chose it when the bot asked.
    Member,
}

/// Words of a question that refer to an item or person (a pronoun, a position or a title), with what they mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// The words of the question, such as "the second one".
    pub said: String,
    /// Name of the item or person.
    pub means: String,
    pub by: Evidence,
    pub confidence: f64,
}

/// Reason for suggesting items again that were suggested before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reset {
    KindChanged,
    RecipientChanged,
    OccasionChanged,
    StartOver,
}

/// Result of interpreting a question that may continue an earlier suggestion. Stored with the answer for `/why`.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FollowUp {
    pub frame: Frame,
    /// Earlier answer that the question continues.
    pub follows: Option<AnswerId>,
    pub found_by: Option<FoundBy>,
    /// Names of the fields in `frame` that were copied from the frame of the earlier answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inherited: Vec<String>,
    /// Items that must not be suggested again, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<Item>,
    pub reset: Option<Reset>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// Items of the newest suggestion, if it is unclear whether the question continues it; then the prompt shows them
    /// and the model decides. Never stored: they belong to another answer and must be deleted with it.
    #[serde(skip)]
    pub suggested: Vec<Item>,
}

impl FollowUp {
    /// Returns `true` if there is more to say about the question than its words: a suggestion is wanted or continued, a
    /// reference was resolved, or something is ambiguous.
    pub fn is_telling(&self) -> bool {
        let is_plain = self.references.is_empty() && self.items.is_empty() && self.reset.is_none();
        !is_plain
            || self.frame.intent.suggests()
            || self.follows.is_some() && self.frame.intent == Intent::Compare
            || self.frame.clarification.is_some()
    }
}
