//! The day's tokens: what is left of them, and what a call took.

use crate::access::{self, Allowance};
use crate::config::{DailyTokens, Prices};
use crate::domain::{Spent, TokenUse};

/// The caps, and what tokens cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Budget {
    pub caps: DailyTokens,
    pub prices: Option<Prices>,
}

impl Budget {
    pub fn allowance(&self, spent: Spent) -> Allowance {
        access::allowance(spent, self.caps)
    }

    /// In millionths of the operator's currency; 0 where no prices are set.
    pub fn cost_micros(&self, tokens: TokenUse) -> u64 {
        self.prices.map_or(0, |prices| prices.cost_micros(tokens))
    }
}
