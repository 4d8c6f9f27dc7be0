//! Items that the bot suggested, such as books or restaurants. They are stored so that members can ask for "more",
//! "cheaper" or "the second one".

use std::fmt;

use serde::{Deserialize, Serialize};

use super::AnswerId;

/// Amount of money in hundredths of the currency unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Amount(pub u64);

impl Amount {
    pub fn units(units: u64) -> Self {
        Self(units.saturating_mul(100))
    }

    /// Returns 70 % of the amount, the price limit when a member asks for something "cheaper". From one unit on, rounds
    /// down to whole units.
    pub fn cheaper(self) -> Self {
        let hundredths = self.0.saturating_mul(70) / 100;
        if hundredths < 100 { Self(hundredths) } else { Self(hundredths / 100 * 100) }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 100 {
            0 => write!(f, "{}", self.0 / 100),
            cents => write!(f, "{}.{cents:02}", self.0 / 100),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    pub amount: Amount,
    /// ISO 4217 code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
}

/// Id of an item: the answer that suggested it and its position in that answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ItemId {
    pub answer: AnswerId,
    /// Number in the answer, else the position, counted from 1. Two sections of an answer may repeat numbers.
    pub position: u32,
}

/// Item as an answer shows it, without an id.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Suggested {
    /// Number before it in the answer; `None` if it has none.
    pub number: Option<u32>,
    pub title: String,
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<String>,
    pub price: Option<Price>,
    pub url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub id: ItemId,
    #[serde(flatten)]
    pub shown: Suggested,
}

impl Item {
    pub fn title(&self) -> &str {
        &self.shown.title
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cheaper_is_seventy_percent_rounded_down() {
        let rendered = |amount: Amount| amount.cheaper().to_string();
        assert_eq!(
            [Amount::units(50), Amount::units(30), Amount(1299), Amount(90)].map(rendered),
            ["35", "21", "9", "0.63"]
        );
    }

    #[test]
    fn an_amount_shows_its_cents_only_where_it_has_some() {
        assert_eq!([Amount::units(30), Amount(1290), Amount(5)].map(|it| it.to_string()), ["30", "12.90", "0.05"]);
    }
}
