//! The structured reading of a trigger, and what was resolved on the way to it.

use serde::{Deserialize, Serialize};

use super::{Amount, AnswerId, Item};

/// What a trigger wants.
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

impl Intent {
    pub const ALL: [Self; 13] = [
        Self::Ask,
        Self::Summarize,
        Self::Recap,
        Self::Decide,
        Self::Suggest,
        Self::More,
        Self::Cheaper,
        Self::Budget,
        Self::Compare,
        Self::ItemQuestion,
        Self::EntitySearch,
        Self::Explain,
        Self::Smalltalk,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Summarize => "summarize",
            Self::Recap => "recap",
            Self::Decide => "decide",
            Self::Suggest => "suggest",
            Self::More => "more",
            Self::Cheaper => "cheaper",
            Self::Budget => "budget",
            Self::Compare => "compare",
            Self::ItemQuestion => "item_question",
            Self::EntitySearch => "entity_search",
            Self::Explain => "explain",
            Self::Smalltalk => "smalltalk",
        }
    }

    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|intent| intent.as_str() == raw)
    }

    /// Whether an answer to it suggests items.
    pub fn suggests(self) -> bool {
        matches!(self, Self::Suggest | Self::More | Self::Cheaper | Self::Budget | Self::EntitySearch)
    }

    /// Whether it takes kind, category, entity, hints and popularity from the suggestion before it.
    pub fn inherits(self) -> bool {
        matches!(self, Self::More | Self::Cheaper | Self::Budget | Self::Compare)
    }

    /// Whether it means nothing without an earlier suggestion.
    pub fn needs_suggestion(self) -> bool {
        matches!(self, Self::More | Self::Cheaper | Self::Budget | Self::Compare | Self::ItemQuestion)
    }
}

/// How much something may cost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Amount>,
    /// ISO 4217.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// As it was said: "under 30".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Budget {
    /// Whether it says nothing about how much.
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

/// A person, place or work that an ask or an item names.
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

/// What the conversation could mean, to be asked back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clarification {
    pub about: Unclear,
    /// The candidates by name, in the order in which they are listed.
    pub candidates: Vec<String>,
    /// The answers that made the suggestions, where it is about these; as many as candidates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerId>,
    /// The ask that is to be read again once it is clear.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ask: String,
}

/// What has to be asked back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unclear {
    /// Which person a pronoun means.
    Person,
    /// Which item a pronoun means.
    Item,
    /// Which of several suggestions is to be continued.
    Suggestion,
}

/// The structured reading of a trigger. It belongs to the answer that it led to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Frame {
    pub intent: Intent,
    /// 0 to 1.
    pub confidence: f64,
    /// Two-letter code of the language of the ask, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// What is wanted, in the member's words, without what the other fields say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// `book`, `restaurant`: canonical where the tables know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub category_hints: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occasion: Option<String>,
    /// Language that the items shall be in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The first is the primary one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<NamedEntity>,
    pub popular: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clarification: Option<Clarification>,
}

/// What a suggestion really searched by, where the answer said so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsedSearch {
    pub category_hints: Vec<String>,
    pub popular: bool,
}

/// How the suggestion that an ask goes on with was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// The ask replies to it.
    Reply,
    /// The newest suggestion in the strand of the ask.
    Strand,
    /// The newest suggestion of this session that the same member asked for, or went on with.
    Member,
}

/// What decided a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// It is named in the ask.
    Named,
    /// Its place in the list.
    Position,
    /// There is only one candidate.
    Only,
    /// The original ask named it.
    Primary,
    /// It was shown last.
    Last,
    /// The member chose it when asked.
    Member,
}

/// A pronoun, place or title in the ask, with what it stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// As it was said: "the second one".
    pub said: String,
    pub means: String,
    pub by: Evidence,
    pub confidence: f64,
}

/// Why the exclude list began anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reset {
    KindChanged,
    RecipientChanged,
    OccasionChanged,
    /// The member asked to start over.
    StartOver,
}

/// Everything that was resolved for one ask. Kept with its answer, so that `/why` can tell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FollowUp {
    pub frame: Frame,
    /// The answer that the ask goes on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<AnswerId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_by: Option<FoundBy>,
    /// Fields of the frame that were taken from the earlier one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inherited: Vec<String>,
    /// Items not to be suggested again, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<Item>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
    /// The items that the ask is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// The list of the newest suggestion that the question may go on with, where nothing says that it does: the model judges.
    /// Never stored: its words are those of an earlier answer, and go with that one.
    #[serde(skip)]
    pub suggested: Vec<Item>,
}

impl FollowUp {
    /// Whether anything was worked out of the question.
    pub fn is_telling(&self) -> bool {
        let is_plain = self.references.is_empty() && self.items.is_empty() && self.reset.is_none();
        !is_plain
            || self.frame.intent.suggests()
            || self.follows.is_some() && self.frame.intent == Intent::Compare
            || self.frame.clarification.is_some()
    }
}
