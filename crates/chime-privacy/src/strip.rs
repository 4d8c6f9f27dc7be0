//! What may be kept of a message that came in.

use chime_core::{Arrival, Message};

/// Whose words must not be kept, of those that an arrival carries. Somebody who opted out, or words that were forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Withheld {
    /// Those of the message itself.
    pub message: bool,
    /// Those of the message that it replies to.
    pub parent: bool,
    /// Those that it forwards, or that it quotes from another chat.
    pub lender: bool,
    /// Those that the message it replies to carries so.
    pub parent_lender: bool,
    /// The name of somebody whom a service message names.
    pub named: bool,
}

/// A message, or that there was one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    Whole(Message),
    Stub(Message),
}

/// What is left of an arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped {
    pub message: Keep,
    pub parent: Option<Keep>,
}

/// Takes out of `arrival` what is withheld. A quote goes with the words that it is a part of.
pub fn strip(arrival: &Arrival, withheld: Withheld) -> Stripped {
    let mut message = arrival.message.clone();
    if withheld.parent || withheld.parent_lender {
        message.quote = None;
    }
    let message = strip_message(&message, withheld);
    let parent = arrival.parent.clone().map(|mut parent| {
        let is_parent_withheld = withheld.parent || !without_borrowed(&mut parent, withheld.parent_lender);
        keep(parent, is_parent_withheld)
    });
    Stripped { message, parent }
}

/// The same of a message that comes alone.
pub fn strip_message(message: &Message, withheld: Withheld) -> Keep {
    let mut message = message.clone();
    let is_left = without_borrowed(&mut message, withheld.lender);
    keep(message, withheld.message || withheld.named || !is_left)
}

/// Takes out what a message borrowed, if that is withheld. False where nothing of its own would be left.
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
            joined_bots: Vec::new(),
            topic: None,
            language: None,
        }
    }

    #[track_caller]
    fn check(arrival: &Arrival, withheld: Withheld, expected: Expect) {
        let told = |keep: &Keep| match keep {
            Keep::Whole(message) => format!("{:?}, quote {:?}, {:?}", message.text, message.quote, message.snapshot),
            Keep::Stub(message) => format!("stub of {}", message.id),
        };
        let Stripped { message, parent } = strip(arrival, withheld);
        let parent = parent.as_ref().map_or_else(|| "none".to_owned(), told);
        expected.assert_eq(&format!("message: {}\nparent: {parent}", told(&message)));
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
            Withheld { lender: true, ..Withheld::default() },
            expect![[r#"
            message: "so it is", quote None, None
            parent: "the lake is lovely", quote None, None"#]],
        );
        let mut forward = arrival();
        forward.message.forward_origin = Some("ann".to_owned());
        check(
            &forward,
            Withheld { lender: true, ..Withheld::default() },
            expect![[r#"
            message: stub of 2
            parent: "the lake is lovely", quote None, None"#]],
        );
    }
}
