//! What is said to those who are not let in, and to who lets them in. All of it Markdown.

use crate::config::PrivateChats;
use crate::domain::ChatId;

/// Said once in a group or channel that is not allowed and of which nothing is kept, before leaving it.
pub fn turned_away(chat: ChatId) -> String {
    format!(
        "I work only in chats that I was allowed into, and this is none of them, so I leave now. I kept nothing of what \
         was said here.\n\n\
         To have me here, one of my owners adds me to the chat, or whoever runs me adds its id, `{chat}`, to \
         `ALLOWED_CHATS`."
    )
}

/// Said once in private to somebody who may not write there.
pub fn turned_away_in_private(chat: ChatId, private_chats: PrivateChats, can_be_claimed: bool) -> String {
    let whom = match private_chats {
        PrivateChats::Owners => "In private I talk only with my owners, so I read nothing that you write here.",
        PrivateChats::Members | PrivateChats::All => {
            "In private I talk only with members of the groups I work in, and I have not seen you in one yet. So I read \
             nothing that you write here; write something there first."
        }
    };
    let how = format!("Your id is `{chat}`, should whoever runs me want to add it to `OWNER_IDS` or `ALLOWED_CHATS`.");
    let claim = if can_be_claimed {
        "\n\nIf you run me: send /claim with the code that `chime run` shows, and I am yours."
    } else {
        ""
    };
    format!("{whom}\n\n{how} What I keep of you, if anything: /privacy{claim}")
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
