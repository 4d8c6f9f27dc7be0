//! Closed by default: a chat is served only if the operator said so.

use crate::config::{AccessConfig, AllowedChats, PrivateChats};
use crate::domain::{Chat, ChatId, ChatKind, UserId};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Allowed,
    Refused,
}

/// Whether `sender` is served in `chat`. `known_member`: they have written in a chat in which the bot works.
///
/// A migrated group has two ids; the caller asks for each, and one that is allowed is enough.
pub fn chat_access(chat: &Chat, sender: UserId, config: &AccessConfig, known_member: bool) -> Access {
    let allowed = match chat.kind {
        ChatKind::Private => {
            config.is_owner(sender)
                || is_listed(chat.id, &config.chats)
                || match config.private_chats {
                    PrivateChats::Owners => false,
                    PrivateChats::Members => known_member,
                    PrivateChats::All => true,
                }
        }
        ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel => {
            config.chats == AllowedChats::All || is_listed(chat.id, &config.chats)
        }
    };
    if allowed { Access::Allowed } else { Access::Refused }
}

/// Whether the operator named this very chat. `*` names none: it is about groups, and [`PrivateChats`] about the rest.
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

    /// Who is allowed among owner, member and stranger.
    #[track_caller]
    fn check(chat: impl Fn(UserId) -> Chat, config: &AccessConfig, expected: Expect) {
        let people = [("owner", OWNER), ("member", MEMBER), ("stranger", STRANGER)];
        let allowed: Vec<&str> = people
            .into_iter()
            .filter(|(_, user)| chat_access(&chat(*user), *user, config, *user == MEMBER) == Access::Allowed)
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
}
