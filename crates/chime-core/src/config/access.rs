//! Configuration of access: owners, allowed chats, private chats. No group is allowed by default.

use crate::config::keys;
use crate::config::settings::{Settings, parse_ids};
use crate::{ChatId, UserId};

/// Owners and allowed chats set by the operator. Permissions that owners give later in Telegram are in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessConfig {
    pub owners: Vec<UserId>,
    pub chats: AllowedChats,
    pub private_chats: PrivateChats,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedChats {
    /// `*`: every chat that the bot is added to.
    All,
    Only(Vec<ChatId>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivateChats {
    Owners,
    /// Users who have written in a chat in which the bot works.
    Members,
    All,
}

impl AccessConfig {
    pub fn load(settings: &Settings<'_>) -> Self {
        let owners =
            settings.optional(&keys::OWNER_IDS, "ids of people (positive numbers), separated by commas", |raw| {
                parse_ids(raw, |id| id > 0)
            });
        let chats =
            settings.optional(&keys::ALLOWED_CHATS, "ids of chats separated by commas, or * alone", allowed_chats);
        let private_chats = settings.choice(
            &keys::PRIVATE_CHATS,
            &[("owners", PrivateChats::Owners), ("members", PrivateChats::Members), ("all", PrivateChats::All)],
        );
        if chats == Some(AllowedChats::All) {
            settings.warn(&keys::ALLOWED_CHATS, "is *: anybody can add the bot to a chat and use up your model budget");
            if settings.raw(&keys::OPERATOR_CONTACT).is_none() {
                settings.warn(
                    &keys::OPERATOR_CONTACT,
                    "is not set: members of chats to which strangers add the bot cannot reach you",
                );
            }
        }
        if let Some(AllowedChats::Only(ids)) = &chats
            && let Some(person) = ids.iter().find(|id| id.0 > 0)
        {
            let what = format!("has {}, the id of a person: the ids of groups begin with a minus", person.0);
            settings.warn(&keys::ALLOWED_CHATS, &what);
        }
        Self {
            owners: owners.unwrap_or_default().into_iter().map(UserId).collect(),
            chats: chats.unwrap_or_else(|| AllowedChats::Only(Vec::new())),
            private_chats,
        }
    }

    /// Returns a configuration that allows everything, for test and demo environments.
    pub fn open() -> Self {
        Self { owners: Vec::new(), chats: AllowedChats::All, private_chats: PrivateChats::All }
    }

    pub fn is_owner(&self, user: UserId) -> bool {
        self.owners.contains(&user)
    }
}

fn allowed_chats(raw: &str) -> Option<AllowedChats> {
    match raw {
        "*" => Some(AllowedChats::All),
        ids => {
            let ids = parse_ids(ids, |id| id != 0)?;
            Some(AllowedChats::Only(ids.into_iter().map(ChatId).collect()))
        }
    }
}
