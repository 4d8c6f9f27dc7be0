//! What is said to those who are not let in, and to who lets them in. All of it Markdown.

use crate::config::PrivateChats;
use crate::domain::ChatId;
use crate::texts::{Texts, filled};

/// Said once in a group or channel that is not allowed and of which nothing is kept, before leaving it.
pub fn turned_away(chat: ChatId, texts: &Texts) -> String {
    filled(&texts.access.turned_away, &[("chat", &chat.to_string())])
}

/// Said once in private to somebody who may not write there.
pub fn turned_away_in_private(
    chat: ChatId,
    private_chats: PrivateChats,
    can_be_claimed: bool,
    Texts { access, .. }: &Texts,
) -> String {
    let whom = match private_chats {
        PrivateChats::Owners => &access.only_owners,
        PrivateChats::Members | PrivateChats::All => &access.only_members,
    };
    let your_id = filled(&access.your_id, &[("chat", &chat.to_string())]);
    let claim = can_be_claimed.then_some(access.claim.as_str());
    [Some(whom.as_str()), Some(&your_id), claim].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// The answer to `/claim` with the right code, or from an owner.
pub fn claimed() -> String {
    "You own me now. Add me to a group, and I work there; others cannot add me anywhere. What I keep and for how long: \
     /privacy"
        .to_owned()
}

/// The answer to `/claim` with a wrong code.
pub fn wrong_code() -> String {
    "That is not the code. It is shown where `chime run` was started, and it changes with every start.".to_owned()
}

/// The answer to `/claim` in a group.
pub fn claim_in_private() -> String {
    "Send me /claim with the code in private; a group is no place for it.".to_owned()
}
