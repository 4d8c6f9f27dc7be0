//! Ids of people and chats, as exporters of different times write them.

use serde_json::Value;

use chime_core::{Timestamp, UserId};

/// Telegram's ids of supergroups and channels for bots: below this, by the number that exports use.
pub const SUPERGROUPS: i64 = -1_000_000_000_000;
/// Exports made before June 2021 hold the type of an account in these bits, above its number.
const TYPE_BITS: u32 = 32;
const PERSON: i64 = 1;
const CHAT: i64 = 2;
/// December 2021: no account had a number of more than 32 bits before.
const LONG_NUMBERS: Timestamp = Timestamp::from_secs(1_638_316_800);

/// How a file numbers accounts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Numbering {
    /// The number alone.
    #[default]
    Bare,
    /// The number with the type of the account above it.
    Typed,
}

impl Numbering {
    /// Returns how a file numbers the authors of the chat that it numbers `chat`.
    pub fn of_chat(chat: i64) -> Self {
        if typed(chat).is_some() { Self::Typed } else { Self::Bare }
    }

    /// Returns how the author of a message that was sent at that time is numbered.
    pub fn at(self, sent_at: Timestamp) -> Self {
        if sent_at < LONG_NUMBERS { Self::Typed } else { self }
    }
}

/// Returns the number of a chat without its type or the sign and the prefix of the Bot API.
pub fn bare(id: i64) -> i64 {
    match id {
        id if id <= SUPERGROUPS => SUPERGROUPS - id,
        ..0 => -id,
        id => typed(id).map_or(id, |(_, number)| number),
    }
}

/// Parses the id of an account, and returns whether it is that of a chat: `user12`, `channel34`, `chat56`, or a number.
/// A positive number without a type is taken for a person: who asks to be forgotten must be found.
pub fn account(id: &Value, numbering: Numbering) -> Option<(UserId, bool)> {
    if let Some(id) = id.as_i64() {
        return numbered(id, numbering);
    }
    let id = id.as_str()?;
    let number = |prefix: &str| id.strip_prefix(prefix)?.parse::<i64>().ok();
    let user = number("user").map(|id| (UserId(id), false));
    let channel = || number("channel").map(|id| (UserId(SUPERGROUPS - bare(id)), true));
    let group = || number("chat").map(|id| (UserId(-bare(id)), true));
    user.or_else(channel).or_else(group).or_else(|| numbered(id.parse().ok()?, numbering))
}

fn numbered(id: i64, numbering: Numbering) -> Option<(UserId, bool)> {
    match (id, typed(id).filter(|_| numbering == Numbering::Typed)) {
        (0, _) => None,
        // As the Bot API numbers chats.
        (..0, _) => Some((UserId(id), true)),
        (_, Some((PERSON, number))) => Some((UserId(number), false)),
        (_, Some((_, number))) => Some((UserId(SUPERGROUPS - number), true)),
        (_, None) => Some((UserId(id), false)),
    }
}

/// Splits an id into the type and the number of the account.
fn typed(id: i64) -> Option<(i64, i64)> {
    let kind = id >> TYPE_BITS;
    matches!(kind, PERSON | CHAT).then_some((kind, id & i64::from(u32::MAX)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_means_what_it_meant_when_the_file_was_made() {
        let person = json!((1_i64 << 32) + 50);
        let channel = json!((2_i64 << 32) + 77);
        assert_eq!(account(&person, Numbering::Typed), Some((UserId(50), false)));
        assert_eq!(account(&channel, Numbering::Typed), Some((UserId(-1_000_000_000_077), true)));
        assert_eq!(account(&person, Numbering::Bare), Some((UserId((1 << 32) + 50), false)), "a person of today");
        assert_eq!(Numbering::Bare.at(Timestamp::from_secs(1_600_000_000)), Numbering::Typed);
        assert_eq!(Numbering::Bare.at(Timestamp::from_secs(1_700_000_000)), Numbering::Bare);
        assert_eq!(Numbering::of_chat((2 << 32) + 9), Numbering::Typed);
        assert_eq!(Numbering::of_chat(9), Numbering::Bare);
        assert_eq!(Numbering::of_chat(-1_001_234_567_890), Numbering::Bare);
    }

    #[test]
    fn an_account_may_be_a_word_a_number_or_both() {
        for (written, read) in [
            (json!("user12"), Some((12, false))),
            (json!("channel34"), Some((-1_000_000_000_034, true))),
            (json!("channel-1000000000034"), Some((-1_000_000_000_034, true))),
            (json!("chat56"), Some((-56, true))),
            (json!("-56"), Some((-56, true))),
            (json!("12"), Some((12, false))),
            (json!(-1_000_000_000_034_i64), Some((-1_000_000_000_034, true))),
            (json!(0), None),
            (json!("somebody"), None),
            (json!(null), None),
        ] {
            let expected = read.map(|(id, is_chat)| (UserId(id), is_chat));
            assert_eq!(account(&written, Numbering::Bare), expected, "{written}");
        }
    }

    #[test]
    fn a_chat_has_one_number_however_it_is_written() {
        for written in [1_234_567_890, -1_001_234_567_890, -1_234_567_890, (2 << 32) + 1_234_567_890] {
            assert_eq!(bare(written), 1_234_567_890, "{written}");
        }
    }
}
