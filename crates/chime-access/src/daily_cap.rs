//! Compares the tokens used today with the daily caps. Pure functions.

use chime_core::config::DailyTokens;
use chime_core::{RefusalReason, Spent};

/// A budget of which at least this percentage is used counts as nearly used up.
const TIGHT_PERCENT: u64 = 80;

/// Result of comparing today's token usage with the daily caps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    Ample,
    /// At least 80 % of a budget is used: callers use a smaller context and the cheaper model.
    Tight,
    /// A budget is used up: no model may be called today.
    Over(RefusalReason),
}

/// Compares today's usage with the caps. Calls still running are not in `spent` yet, so the total may exceed a cap
/// slightly.
pub fn allowance(spent: Spent, caps: DailyTokens) -> Allowance {
    let budgets = [
        (spent.total, caps.total, RefusalReason::DailyTokens),
        (spent.of_chat, cap_of_chat(spent, caps), RefusalReason::DailyTokensOfChat),
        (spent.of_member, caps.per_member, RefusalReason::DailyTokensOfMember),
    ];
    let limited = budgets.into_iter().filter_map(|(spent, cap, because)| Some((spent, cap?, because)));
    let mut allowance = Allowance::Ample;
    for (spent, cap, because) in limited {
        if spent >= cap {
            return Allowance::Over(because);
        }
        if u128::from(spent) * 100 >= u128::from(cap) * u128::from(TIGHT_PERCENT) {
            allowance = Allowance::Tight;
        }
    }
    allowance
}

/// Returns the daily cap of a chat in tokens: the smaller of the operator's cap and the cap that the chat's admins
/// chose, or `None` if there is neither.
pub fn cap_of_chat(spent: Spent, caps: DailyTokens) -> Option<u64> {
    [caps.per_chat, spent.own_cap_of_chat].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPS: DailyTokens = DailyTokens { total: Some(1000), per_chat: Some(100), per_member: Some(10) };

    #[track_caller]
    fn check((total, of_chat, of_member): (u64, u64, u64), caps: DailyTokens, expected: Allowance) {
        assert_eq!(allowance(Spent { total, of_chat, of_member, own_cap_of_chat: None }, caps), expected);
    }

    #[test]
    fn a_chat_may_take_less_than_the_operator_lets_it_and_never_more() {
        let explained = |of_chat, own| {
            let spent = Spent { of_chat, own_cap_of_chat: Some(own), ..Spent::default() };
            (allowance(spent, CAPS), allowance(spent, DailyTokens { per_chat: None, ..CAPS }))
        };
        let over = Allowance::Over(RefusalReason::DailyTokensOfChat);
        assert_eq!(explained(50, 50), (over, over));
        assert_eq!(explained(49, 50), (Allowance::Tight, Allowance::Tight));
        assert_eq!(explained(100, 1000), (over, Allowance::Ample));
    }

    #[test]
    fn from_four_fifths_on_it_is_tight_and_at_the_cap_it_is_over() {
        check((0, 0, 0), CAPS, Allowance::Ample);
        check((799, 79, 7), CAPS, Allowance::Ample);
        check((800, 0, 0), CAPS, Allowance::Tight);
        check((0, 80, 0), CAPS, Allowance::Tight);
        check((0, 99, 9), CAPS, Allowance::Tight);
        check((0, 0, 10), CAPS, Allowance::Over(RefusalReason::DailyTokensOfMember));
        check((0, 100, 10), CAPS, Allowance::Over(RefusalReason::DailyTokensOfChat));
        check((1000, 100, 10), CAPS, Allowance::Over(RefusalReason::DailyTokens));
    }

    #[test]
    fn without_a_cap_nothing_is_ever_over() {
        check((u64::MAX, u64::MAX, u64::MAX), DailyTokens::default(), Allowance::Ample);
        check((u64::MAX - 1, 0, 0), DailyTokens { total: Some(u64::MAX), ..CAPS }, Allowance::Tight);
    }
}
