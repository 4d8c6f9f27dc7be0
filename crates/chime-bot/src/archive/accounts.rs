//! Parses the ids of people and chats, which exports have written in several formats over the years.

use serde_json::Value;

use chime_core::{Timestamp, UserId};

/// Base of the ids of supergroups and channels in the Bot API: the API's id is this minus the number in an export.
pub const SUPERGROUPS: i64 = -1_000_000_000_000;
/// Number of bits of the account number in exports from before June 2021; the account type is in the bits above.
const TYPE_BITS: u32 = 32;
const PERSON: i64 = 1;
const CHAT: i64 = 2;
/// December 2021: before that, account numbers had at most 32 bits.
const LONG_NUMBERS: Timestamp = Timestamp::from_secs(1_638_316_800);

/// Format of the account ids in an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AccountIdFormat {
    /// Number of the account alone.
    #[default]
    Bare,
    /// Account type and number in one number: the type is in bit 32 and above.
    Typed,
}

impl AccountIdFormat {
    /// Returns the format of the author ids in an export: if the id of the exported chat, `chat`, has an account type,
    /// so have they.
    pub fn of_chat(chat: i64) -> Self {
        if typed(chat).is_some() { Self::Typed } else { Self::Bare }
    }

    /// Returns the format of the author id in a message sent at `sent_at`: old messages have typed ids in every export.
    pub fn at(self, sent_at: Timestamp) -> Self {
        if sent_at < LONG_NUMBERS { Self::Typed } else { self }
    }
}

/// Removes the account type, or the sign and prefix of the Bot API, from the id of a chat.
pub fn bare(id: i64) -> i64 {
    match id {
        id if id <= SUPERGROUPS => SUPERGROUPS - id,
        ..0 => -id,
        id => typed(id).map_or(id, |(_, number)| number),
    }
}

/// Parses an account id: `user12`, `channel34`, `chat56` or a number. Returns the id in the form of the Bot API, and
/// `true` if it belongs to a chat. A positive number without a type counts as a person, so that a request to forget
/// that person finds it.
pub fn account(id: &Value, numbering: AccountIdFormat) -> Option<(UserId, bool)> {
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

fn numbered(id: i64, numbering: AccountIdFormat) -> Option<(UserId, bool)> {
    match (id, typed(id).filter(|_| numbering == AccountIdFormat::Typed)) {
        (0, _) => None,
        // In the Bot API the ids of chats are negative.
        (..0, _) => Some((UserId(id), true)),
        (_, Some((PERSON, number))) => Some((UserId(number), false)),
        (_, Some((_, number))) => Some((UserId(SUPERGROUPS - number), true)),
        (_, None) => Some((UserId(id), false)),
    }
}

/// Splits an id into account type and number. Returns `None` if it has no known type.
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
        assert_eq!(account(&person, AccountIdFormat::Typed), Some((UserId(50), false)));
        assert_eq!(account(&channel, AccountIdFormat::Typed), Some((UserId(-1_000_000_000_077), true)));
        assert_eq!(account(&person, AccountIdFormat::Bare), Some((UserId((1 << 32) + 50), false)), "a person of today");
        assert_eq!(AccountIdFormat::Bare.at(Timestamp::from_secs(1_600_000_000)), AccountIdFormat::Typed);
        assert_eq!(AccountIdFormat::Bare.at(Timestamp::from_secs(1_700_000_000)), AccountIdFormat::Bare);
        assert_eq!(AccountIdFormat::of_chat((2 << 32) + 9), AccountIdFormat::Typed);
        assert_eq!(AccountIdFormat::of_chat(9), AccountIdFormat::Bare);
        assert_eq!(AccountIdFormat::of_chat(-1_001_234_567_890), AccountIdFormat::Bare);
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
            assert_eq!(account(&written, AccountIdFormat::Bare), expected, "{written}");
        }
    }

    #[test]
    fn a_chat_has_one_number_however_it_is_written() {
        for written in [1_234_567_890, -1_001_234_567_890, -1_234_567_890, (2 << 32) + 1_234_567_890] {
            assert_eq!(bare(written), 1_234_567_890, "{written}");
        }
    }
}
