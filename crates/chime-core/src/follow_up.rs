//! Structured meaning of a question: what members asked for so far, and the earlier suggestions that words such as
//! "the second one" refer to.

use serde::{Deserialize, Serialize};

use super::{AnswerId, Item, Price};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    #[default]
    Ask,
    Suggest,
    More,
    Cheaper,
    Budget,
    /// `compare` stands in rows of earlier versions.
    #[serde(alias = "compare")]
    ItemQuestion,
    EntitySearch,
}

words!(Intent {
    Ask = "ask", Suggest = "suggest", More = "more", Cheaper = "cheaper", Budget = "budget",
    ItemQuestion = "item_question", EntitySearch = "entity_search",
});

impl Intent {
    pub fn suggests(self) -> bool {
        matches!(self, Self::Suggest | Self::More | Self::Cheaper | Self::Budget | Self::EntitySearch)
    }

    /// Returns `true` if the question adds to what is wanted.
    pub fn is_wish(self) -> bool {
        self != Self::ItemQuestion
    }

    /// Returns `true` if the intent is meaningless without an earlier suggestion.
    pub fn needs_suggestion(self) -> bool {
        matches!(self, Self::More | Self::Cheaper | Self::Budget | Self::ItemQuestion)
    }
}

/// A pronoun that may mean several persons, which the bot asks the member to resolve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clarification {
    /// Names of the candidates, in the order in which the member sees them.
    pub candidates: Vec<String>,
    /// The question, which is answered once the member has chosen a candidate.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ask: String,
}

/// Structured meaning of a question, stored with its answer.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Frame {
    pub intent: Intent,
    /// What members asked for before this question in its chain of suggestions, in their words, oldest first. For whom,
    /// for which occasion and what is not wanted is part of these words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wanted: Vec<String>,
    /// Kind of item such as `book` or `restaurant`, if the phrase tables know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Highest price that the member allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Price>,
    /// Authors or makers whose items are wanted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clarification: Option<Clarification>,
    /// `true` if the answer lists things to choose from, unlike tasks or steps.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_offer: bool,
    /// `true` if the items were read from sentences, where the patterns may take other words for names.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_prose: bool,
}

/// Rule by which the earlier suggestion was found that a question continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// The question replies to the suggestion.
    Reply,
    /// It is the newest suggestion. `member` stands in rows of earlier versions, which distinguished by whom it was asked for.
    #[serde(alias = "member")]
    Thread,
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
    /// It is the first name in the questions that led to the suggestion.
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
    /// Items that must not be suggested again, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<Item>,
    pub reset: Option<Reset>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// The suggestions of the talk, the likeliest first, if it is unclear which of them the question continues, if any;
    /// then the prompt shows them and the model decides. Never stored: they belong to other answers and must be deleted with
    /// those.
    #[serde(skip)]
    pub suggested: Vec<SuggestedList>,
    /// `true` if the question asks to choose from [`Self::suggested`] right after such a list ("which one?").
    #[serde(skip)]
    pub asks_which_one: bool,
    /// `true` if the question seems to ask for others than those in [`Self::suggested`].
    #[serde(skip)]
    pub wants_others: bool,
}

/// A list of an earlier answer, with the chain of suggestions to which it belongs.
#[derive(Debug, Clone, PartialEq)]
pub struct SuggestedList {
    pub answer: AnswerId,
    pub found_by: FoundBy,
    /// Name of the member who asked for the list.
    pub asked_by: String,
    /// How the question for it was understood.
    pub frame: Frame,
    /// Items of this answer, in its order.
    pub items: Vec<Item>,
    /// Items of the whole chain, oldest first.
    pub shown: Vec<Item>,
    /// The item asked about last.
    pub last_item: Option<Item>,
}

impl FollowUp {
    /// Returns the suggestions in [`Self::suggested`], newest first.
    pub fn newest_lists(&self) -> Vec<&SuggestedList> {
        let mut lists: Vec<&SuggestedList> = self.suggested.iter().collect();
        lists.sort_by_key(|list| std::cmp::Reverse(list.answer));
        lists
    }

    /// Returns `true` if the prompt needs more than the words of the question: a suggestion is wanted or continued, a
    /// reference was resolved, or something is ambiguous.
    pub fn needs_prompt_slot(&self) -> bool {
        let is_plain = self.references.is_empty() && self.items.is_empty() && self.reset.is_none();
        !is_plain || self.frame.intent.suggests() || self.frame.clarification.is_some()
    }
}
