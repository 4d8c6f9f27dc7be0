//! Decides which chats and private users the bot serves. By default it serves no group: the operator or an owner allows
//! each one.

use chime_core::config::{AccessConfig, AllowedChats, PrivateChats};
use chime_core::{Chat, ChatId, ChatKind, UserId};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Allowed,
    Refused,
}

/// Facts from the database on which access depends besides the configuration.
#[derive(Debug, Clone, Copy, Default)]
pub struct AccessFacts<'a> {
    /// Ids that the chat had before. A group gets a new id when it becomes a supergroup, and stays allowed if the
    /// configuration lists its former id.
    pub former_ids: &'a [ChatId],
    pub owner_added: bool,
    pub sender_claimed: bool,
    /// `true` if the sender is known from a group that the bot serves.
    pub sender_is_member: bool,
}

/// Decides if the bot serves `sender` in `chat`.
pub fn chat_access(chat: &Chat, sender: UserId, config: &AccessConfig, known: &AccessFacts<'_>) -> Access {
    let is_listed = || known.former_ids.iter().chain([&chat.id]).any(|id| is_listed(*id, &config.chats));
    let allowed = match chat.kind {
        ChatKind::Private => {
            config.is_owner(sender)
                || known.sender_claimed
                || is_listed()
                || match config.private_chats {
                    PrivateChats::Owners => false,
                    PrivateChats::Members => known.sender_is_member,
                    PrivateChats::All => true,
                }
        }
        ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel => {
            config.chats == AllowedChats::All || known.owner_added || is_listed()
        }
    };
    if allowed { Access::Allowed } else { Access::Refused }
}

/// Returns `true` if no owner exists and the configuration allows no chat: then `/claim` makes the first owner.
pub fn is_unclaimed(config: &AccessConfig, has_owner: bool) -> bool {
    config.owners.is_empty() && !has_owner && config.chats == AllowedChats::Only(Vec::new())
}

/// Returns `true` if the configuration lists this chat id. `*` lists none: it covers groups only, and [`PrivateChats`]
/// covers private chats.
fn is_listed(chat: ChatId, chats: &AllowedChats) -> bool {
    match chats {
        AllowedChats::All => false,
        AllowedChats::Only(listed) => listed.contains(&chat),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const OWNER: UserId = UserId(1);
    const MEMBER: UserId = UserId(2);
    const STRANGER: UserId = UserId(3);

    fn config(chats: AllowedChats, private_chats: PrivateChats) -> AccessConfig {
        AccessConfig { owners: vec![OWNER], chats, private_chats }
    }

    fn chat(kind: ChatKind, id: i64) -> Chat {
        Chat { id: ChatId(id), kind, title: None, username: None }
    }

    /// Checks which of owner, member and stranger are allowed.
    #[track_caller]
    fn check(chat: impl Fn(UserId) -> Chat, config: &AccessConfig, expected: Expect) {
        let people = [("owner", OWNER), ("member", MEMBER), ("stranger", STRANGER)];
        let allowed: Vec<&str> = people
            .into_iter()
            .filter(|(_, user)| {
                let known = AccessFacts { sender_is_member: *user == MEMBER, ..AccessFacts::default() };
                chat_access(&chat(*user), *user, config, &known) == Access::Allowed
            })
            .map(|(name, _)| name)
            .collect();
        expected.assert_eq(&allowed.join(" "));
    }

    #[test]
    fn a_group_is_served_when_it_is_listed_or_every_chat_is() {
        let listed = config(AllowedChats::Only(vec![ChatId(-100)]), PrivateChats::All);
        check(|_| chat(ChatKind::Supergroup, -100), &listed, expect!["owner member stranger"]);
        check(|_| chat(ChatKind::Supergroup, -200), &listed, expect![""]);
        check(
            |_| chat(ChatKind::Group, -5),
            &config(AllowedChats::All, PrivateChats::Owners),
            expect!["owner member stranger"],
        );
        check(|_| chat(ChatKind::Group, -5), &config(AllowedChats::Only(vec![]), PrivateChats::All), expect![""]);
    }

    #[test]
    fn in_private_the_owner_always_and_others_as_set() {
        let private = |user: UserId| chat(ChatKind::Private, user.0);
        let none = AllowedChats::Only(Vec::new());
        check(private, &config(none.clone(), PrivateChats::Owners), expect!["owner"]);
        check(private, &config(none.clone(), PrivateChats::Members), expect!["owner member"]);
        check(private, &config(none, PrivateChats::All), expect!["owner member stranger"]);
        check(private, &config(AllowedChats::All, PrivateChats::Owners), expect!["owner"]);
        check(private, &config(AllowedChats::Only(vec![ChatId(3)]), PrivateChats::Owners), expect!["owner stranger"]);
    }

    #[test]
    fn what_owners_said_in_telegram_counts_as_much_as_the_configuration() {
        let none = config(AllowedChats::Only(Vec::new()), PrivateChats::Owners);
        let access = |chat: Chat, known: AccessFacts<'_>| chat_access(&chat, STRANGER, &none, &known);
        let group = || chat(ChatKind::Supergroup, -200);
        assert_eq!(access(group(), AccessFacts::default()), Access::Refused);
        assert_eq!(access(group(), AccessFacts { owner_added: true, ..AccessFacts::default() }), Access::Allowed);
        let private = chat(ChatKind::Private, STRANGER.0);
        assert_eq!(access(private, AccessFacts { sender_claimed: true, ..AccessFacts::default() }), Access::Allowed);
    }

    #[test]
    fn a_group_that_became_a_supergroup_is_still_the_one_that_was_listed() {
        let listed = config(AllowedChats::Only(vec![ChatId(-5)]), PrivateChats::All);
        let known = AccessFacts { former_ids: &[ChatId(-5)], ..AccessFacts::default() };
        assert_eq!(chat_access(&chat(ChatKind::Supergroup, -200), STRANGER, &listed, &known), Access::Allowed);
    }

    #[test]
    fn only_a_bot_that_nobody_owns_can_be_claimed() {
        let nobody = AccessConfig { owners: vec![], ..config(AllowedChats::Only(vec![]), PrivateChats::All) };
        assert!(is_unclaimed(&nobody, false));
        assert!(!is_unclaimed(&nobody, true));
        assert!(!is_unclaimed(&config(AllowedChats::Only(vec![]), PrivateChats::All), false));
        assert!(!is_unclaimed(&AccessConfig::open(), false));
    }
}
