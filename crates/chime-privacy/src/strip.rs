//! Removes from an incoming message the content that must not be stored.

use chime_core::{Arrival, Message};

/// Parts of an incoming message that must not be stored, because their author opted out or they were forgotten. `true`
/// means that the part must be removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Withheld {
    /// The message itself.
    pub message: bool,
    /// The parent: the message that it replies to.
    pub parent: bool,
    /// Content that the message forwards, or quotes from another chat.
    pub copied: bool,
    /// Content that the parent forwards, or quotes from another chat.
    pub parent_copied: bool,
    /// A service message, because it names a member who opted out.
    pub named: bool,
}

/// Message to store: with its content, or as a stub, which only records that there was a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    Whole(Message),
    Stub(Message),
}

/// Incoming message and its parent, without the parts that must not be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped {
    pub message: Keep,
    pub parent: Option<Keep>,
}

/// Removes the withheld parts of `arrival`. If the parent is withheld, the quote from it is removed too.
pub fn strip(arrival: &Arrival, withheld: Withheld) -> Stripped {
    let mut message = arrival.message.clone();
    if withheld.parent || withheld.parent_copied {
        message.quote = None;
    }
    let message = strip_message(&message, withheld);
    let parent = arrival.parent.clone().map(|mut parent| {
        let is_parent_withheld = withheld.parent || !without_borrowed(&mut parent, withheld.parent_copied);
        keep(parent, is_parent_withheld)
    });
    Stripped { message, parent }
}

/// Like [`strip`], for a message without its parent.
pub fn strip_message(message: &Message, withheld: Withheld) -> Keep {
    let mut message = message.clone();
    let is_left = without_borrowed(&mut message, withheld.copied);
    keep(message, withheld.message || withheld.named || !is_left)
}

/// Removes text that the message forwards or quotes from another chat, if its author does not allow it to be stored
/// (`is_withheld`). Returns `false` if nothing may be stored, because the whole message is such a forward.
fn without_borrowed(message: &mut Message, is_withheld: bool) -> bool {
    if !is_withheld {
        return true;
    }
    message.quote = None;
    message.snapshot = None;
    message.borrowed = None;
    message.forward_origin.is_none()
}

fn keep(message: Message, is_withheld: bool) -> Keep {
    if is_withheld { Keep::Stub(message) } else { Keep::Whole(message) }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use chime_core::testkit::{CHAT, transcript};
    use chime_core::{Chat, ChatKind};

    fn arrival() -> Arrival {
        let mut lines = transcript("10:00 ann#1 the lake is lovely\n10:01 bob#2>1 so it is");
        let mut message = lines.pop().expect("a reply").message;
        let parent = lines.pop().expect("a parent").message;
        message.quote = Some("lovely".to_owned());
        message.snapshot = Some("elsewhere: the sea".to_owned());
        let chat = Chat { id: CHAT, kind: ChatKind::Supergroup, title: None, username: None };
        Arrival {
            chat,
            message,
            parent: Some(parent),
            named: Vec::new(),
            left: None,
            joined_bots: Vec::new(),
            topic: None,
            language: None,
        }
    }

    #[track_caller]
    fn check(arrival: &Arrival, withheld: Withheld, expected: Expect) {
        let notice = |keep: &Keep| match keep {
            Keep::Whole(message) => format!("{:?}, quote {:?}, {:?}", message.text, message.quote, message.snapshot),
            Keep::Stub(message) => format!("stub of {}", message.id),
        };
        let Stripped { message, parent } = strip(arrival, withheld);
        let parent = parent.as_ref().map_or_else(|| "none".to_owned(), notice);
        expected.assert_eq(&format!("message: {}\nparent: {parent}", notice(&message)));
    }

    #[test]
    fn where_nobody_objects_everything_is_kept() {
        check(
            &arrival(),
            Withheld::default(),
            expect![[r#"
            message: "so it is", quote Some("lovely"), Some("elsewhere: the sea")
            parent: "the lake is lovely", quote None, None"#]],
        );
    }

    #[test]
    fn who_opted_out_leaves_a_stub_and_the_other_is_kept() {
        check(
            &arrival(),
            Withheld { message: true, ..Withheld::default() },
            expect![[r#"
            message: stub of 2
            parent: "the lake is lovely", quote None, None"#]],
        );
    }

    #[test]
    fn a_reply_loses_the_quote_of_who_opted_out_and_keeps_its_own_words() {
        check(
            &arrival(),
            Withheld { parent: true, ..Withheld::default() },
            expect![[r#"
            message: "so it is", quote None, Some("elsewhere: the sea")
            parent: stub of 1"#]],
        );
    }

    #[test]
    fn what_was_quoted_or_forwarded_from_elsewhere_goes_too() {
        check(
            &arrival(),
            Withheld { copied: true, ..Withheld::default() },
            expect![[r#"
            message: "so it is", quote None, None
            parent: "the lake is lovely", quote None, None"#]],
        );
        let mut forward = arrival();
        forward.message.forward_origin = Some("ann".to_owned());
        check(
            &forward,
            Withheld { copied: true, ..Withheld::default() },
            expect![[r#"
            message: stub of 2
            parent: "the lake is lovely", quote None, None"#]],
        );
    }
}
