//! Daily token caps and prices.

use crate::Allowance;
use chime_core::config::{DailyTokens, ListedModel, Prices};
use chime_core::{Spent, TokenUse};

/// Percentage of each daily cap that is reserved for answers: work that nobody requested may not use it.
const LEFT_TO_ANSWERS: u64 = 50;

#[derive(Debug, Clone, Default)]
pub struct DailyBudget {
    pub caps: DailyTokens,
    pub prices: Option<Prices>,
    pub listed: Vec<ListedModel>,
}

impl DailyBudget {
    pub fn allowance(&self, spent: Spent) -> Allowance {
        crate::allowance(spent, self.caps)
    }

    /// Returns `true` if work that nobody waits for may use tokens: less than half of the total cap and of the chat's
    /// cap is used.
    pub fn has_room_unasked(&self, spent: Spent) -> bool {
        let is_under = |spent: u64, cap: Option<u64>| {
            cap.is_none_or(|cap| u128::from(spent) * 100 < u128::from(cap) * u128::from(100 - LEFT_TO_ANSWERS))
        };
        is_under(spent.total, self.caps.total) && is_under(spent.of_chat, crate::cap_of_chat(spent, self.caps))
    }

    /// Returns the cost of a call of `model` in millionths of the operator's currency; 0 if no prices are set.
    pub fn cost_micros(&self, model: &str, tokens: TokenUse) -> u64 {
        let listed = self.listed.iter().find(|listed| listed.name == model).and_then(|listed| listed.prices);
        listed.or(self.prices).map_or(0, |prices| prices.cost_micros(tokens))
    }
}
