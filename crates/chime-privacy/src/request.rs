//! Requests to `/forget` and `/export`, and who may make them.

use std::time::Duration;

use chime_core::config::parse_duration;
use chime_core::{MessagePlace, parse_message_link};

/// Delay before the whole chat is forgotten or exported at the request of an admin who is not its creator. The chat
/// gets a notice at once, so that the request can be cancelled.
const ANNOUNCED: Duration = Duration::from_hours(24);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetRequest {
    Message(ForgetTarget),
    /// Messages that the asker wrote within the last `lately`; all if it is `None`.
    Me {
        lately: Option<Duration>,
    },
    /// Everything in the chat.
    All,
    /// Cancels an [`All`](Self::All) that was announced and is not carried out yet.
    CancelAll,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetTarget {
    /// The message that the command replies to.
    RepliedTo,
    /// The message of a link in the arguments.
    Place(MessagePlace),
}

impl ForgetRequest {
    /// Parses the arguments of `/forget`. `is_reply` is `true` if the command replies to a message. Returns `None` if
    /// the arguments are invalid.
    pub fn parse(args: &str, is_reply: bool) -> Option<Self> {
        let words: Vec<String> = args.split_whitespace().map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            [] => is_reply.then_some(Self::Message(ForgetTarget::RepliedTo)),
            ["me"] => Some(Self::Me { lately: None }),
            ["me", span] => Some(Self::Me { lately: Some(parse_duration(span)?) }),
            ["all"] => Some(Self::All),
            ["stop"] => Some(Self::CancelAll),
            // The words are in lower case here, which does not break a link, because public names ignore case.
            [link] => parse_message_link(link).map(|place| Self::Message(ForgetTarget::Place(place))),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatRole {
    Creator,
    Admin,
    Member,
    Outside,
    /// Telegram does not tell the bot.
    Unknown,
}

impl ChatRole {
    pub fn is_admin(self) -> bool {
        matches!(self, Self::Creator | Self::Admin)
    }

    pub fn is_member(self) -> bool {
        self.is_admin() || self == Self::Member
    }
}

/// Facts about the sender of a request by which the request is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asker {
    pub owns_the_bot: bool,
    /// Role in the chat that the request concerns. In a private chat the user counts as its creator.
    pub role: ChatRole,
    pub is_author: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestDecision {
    /// Granted; carried out at once.
    Now,
    /// Granted; announced in the chat now and carried out after this delay.
    After(Duration),
    Refused(RequestRefusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestRefusal {
    /// Somebody else wrote the message.
    NotTheirs,
    NotAdmin,
}

pub fn decide(request: &ForgetRequest, asker: Asker) -> RequestDecision {
    let has_the_say = asker.owns_the_bot || asker.role == ChatRole::Creator;
    let is_admin = has_the_say || asker.role == ChatRole::Admin;
    match request {
        ForgetRequest::Me { .. } => RequestDecision::Now,
        ForgetRequest::Message(_) if asker.is_author || is_admin => RequestDecision::Now,
        ForgetRequest::Message(_) => RequestDecision::Refused(RequestRefusal::NotTheirs),
        ForgetRequest::All if has_the_say => RequestDecision::Now,
        ForgetRequest::All if is_admin => RequestDecision::After(ANNOUNCED),
        ForgetRequest::CancelAll if is_admin => RequestDecision::Now,
        ForgetRequest::All | ForgetRequest::CancelAll => RequestDecision::Refused(RequestRefusal::NotAdmin),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportRequest {
    /// Sends all stored data of the chat to the asker.
    Send,
    /// Cancels the exports of the chat that were announced and not sent yet.
    Stop,
}

impl ExportRequest {
    /// Parses the arguments of `/export`. Everything but `stop` requests an export.
    pub fn parse(args: &str) -> Self {
        if args.trim().eq_ignore_ascii_case("stop") { Self::Stop } else { Self::Send }
    }
}

/// Decides about an export. Owners of the bot have the rights of a creator only in chats of which they are members,
/// because an export shows the messages.
pub fn decide_export(request: ExportRequest, asker: Asker) -> RequestDecision {
    let owns_and_belongs = asker.owns_the_bot && asker.role.is_member();
    let has_the_say = owns_and_belongs || asker.role == ChatRole::Creator;
    let is_admin = has_the_say || asker.role == ChatRole::Admin;
    match request {
        ExportRequest::Send if has_the_say => RequestDecision::Now,
        ExportRequest::Send if is_admin => RequestDecision::After(ANNOUNCED),
        ExportRequest::Stop if is_admin => RequestDecision::Now,
        ExportRequest::Send | ExportRequest::Stop => RequestDecision::Refused(RequestRefusal::NotAdmin),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn the_forms_of_forget_are_told_apart() {
        let read = |args: &str, is_reply| format!("{args:?} -> {:?}", ForgetRequest::parse(args, is_reply));
        let lines = [
            read("", true),
            read("", false),
            read("me", true),
            read(" Me  1h30m ", false),
            read("me soon", false),
            read("ALL", false),
            read("stop", false),
            read("https://t.me/c/1234567890/42", true),
            read("all of it", false),
        ];
        expect![[r#"
            "" -> Some(Message(RepliedTo))
            "" -> None
            "me" -> Some(Me { lately: None })
            " Me  1h30m " -> Some(Me { lately: Some(5400s) })
            "me soon" -> None
            "ALL" -> Some(All)
            "stop" -> Some(CancelAll)
            "https://t.me/c/1234567890/42" -> Some(Message(Place(Ids(ChatId(-1001234567890), MessageId(42)))))
            "all of it" -> None"#]]
        .assert_eq(&lines.join("\n"));
    }

    /// Checks the decision for each kind of asker: owner of the bot, creator, admin, author, member.
    #[track_caller]
    fn check(request: &ForgetRequest, expected: Expect) {
        let asker = |owns_the_bot, role, is_author| Asker { owns_the_bot, role, is_author };
        let verdicts = [
            asker(true, ChatRole::Outside, false),
            asker(false, ChatRole::Creator, false),
            asker(false, ChatRole::Admin, false),
            asker(false, ChatRole::Outside, true),
            asker(false, ChatRole::Member, false),
        ]
        .map(|asker| format!("{:?}", decide(request, asker)));
        expected.assert_eq(&verdicts.join(", "));
    }

    #[test]
    fn rights_follow_from_who_asks() {
        check(&ForgetRequest::Message(ForgetTarget::RepliedTo), expect!["Now, Now, Now, Now, Refused(NotTheirs)"]);
        check(&ForgetRequest::Me { lately: None }, expect!["Now, Now, Now, Now, Now"]);
        check(&ForgetRequest::All, expect!["Now, Now, After(86400s), Refused(NotAdmin), Refused(NotAdmin)"]);
        check(&ForgetRequest::CancelAll, expect!["Now, Now, Now, Refused(NotAdmin), Refused(NotAdmin)"]);
    }

    #[test]
    fn an_export_is_for_who_runs_the_chat() {
        let check = |request, expected: Expect| {
            let asker = |owns_the_bot, role| Asker { owns_the_bot, role, is_author: false };
            let verdicts = [
                asker(true, ChatRole::Member),
                asker(false, ChatRole::Creator),
                asker(false, ChatRole::Admin),
                asker(false, ChatRole::Member),
                asker(true, ChatRole::Outside),
                asker(true, ChatRole::Unknown),
            ]
            .map(|asker| format!("{:?}", decide_export(request, asker)));
            expected.assert_eq(&verdicts.join(", "));
        };
        check(
            ExportRequest::parse(""),
            expect!["Now, Now, After(86400s), Refused(NotAdmin), Refused(NotAdmin), Refused(NotAdmin)"],
        );
        check(
            ExportRequest::parse(" STOP "),
            expect!["Now, Now, Now, Refused(NotAdmin), Refused(NotAdmin), Refused(NotAdmin)"],
        );
    }
}
