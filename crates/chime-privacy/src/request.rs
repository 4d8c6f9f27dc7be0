//! Requests to `/forget` and `/export`, and who may make them.

use std::time::Duration;

use chime_core::config::parse_duration;
use chime_core::{MessagePlace, parse_message_link};

/// Delay of a request to empty or export the whole chat by an admin who is not the creator. The chat gets a notice
/// first.
const ANNOUNCED: Duration = Duration::from_secs(24 * 60 * 60);

/// Request to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// One message.
    Message(Target),
    /// Messages of the asker: recent ones, or all if `lately` is `None`.
    Me { lately: Option<Duration> },
    /// Everything in the chat.
    All,
    /// Cancels an announced [`Request::All`].
    Keep,
}

/// Message to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The message that the command replies to.
    RepliedTo,
    Place(MessagePlace),
}

impl Request {
    /// Parses the arguments of `/forget`; `None` if they are invalid.
    pub fn parse(args: &str, is_reply: bool) -> Option<Self> {
        let words: Vec<String> = args.split_whitespace().map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            [] => is_reply.then_some(Self::Message(Target::RepliedTo)),
            ["me"] => Some(Self::Me { lately: None }),
            ["me", span] => Some(Self::Me { lately: Some(parse_duration(span)?) }),
            ["all"] => Some(Self::All),
            ["stop"] => Some(Self::Keep),
            // Public names are case-insensitive, so lower-casing does not break a link.
            [link] => parse_message_link(link).map(|place| Self::Message(Target::Place(place))),
            _ => None,
        }
    }
}

/// Role in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Creator,
    Admin,
    Member,
    Outside,
}

/// Rights of the asker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asker {
    pub owns_the_bot: bool,
    /// Role in the chat in question. In a private chat the person counts as its creator.
    pub standing: Standing,
    /// `true` if the asker wrote the message in question.
    pub is_author: bool,
}

/// Decision about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Now,
    /// Granted after this delay; announced in the chat.
    After(Duration),
    Refused(Refusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Somebody else wrote the message.
    NotTheirs,
    /// Only admins may do this.
    NotAdmin,
}

pub fn decide(request: &Request, asker: Asker) -> Verdict {
    let has_the_say = asker.owns_the_bot || asker.standing == Standing::Creator;
    let is_admin = has_the_say || asker.standing == Standing::Admin;
    match request {
        Request::Me { .. } => Verdict::Now,
        Request::Message(_) if asker.is_author || is_admin => Verdict::Now,
        Request::Message(_) => Verdict::Refused(Refusal::NotTheirs),
        Request::All if has_the_say => Verdict::Now,
        Request::All if is_admin => Verdict::After(ANNOUNCED),
        Request::Keep if is_admin => Verdict::Now,
        Request::All | Request::Keep => Verdict::Refused(Refusal::NotAdmin),
    }
}

/// Request to export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportRequest {
    Send,
    /// Cancels announced exports.
    Stop,
}

impl ExportRequest {
    /// Parses the arguments of `/export`.
    pub fn parse(args: &str) -> Self {
        if args.trim().eq_ignore_ascii_case("stop") { Self::Stop } else { Self::Send }
    }
}

/// Decides about an export. An owner of the bot who is not in the chat must learn nothing about it.
pub fn decide_export(request: ExportRequest, asker: Asker) -> Verdict {
    let owns_and_belongs = asker.owns_the_bot && asker.standing != Standing::Outside;
    let has_the_say = owns_and_belongs || asker.standing == Standing::Creator;
    let is_admin = has_the_say || asker.standing == Standing::Admin;
    match request {
        ExportRequest::Send if has_the_say => Verdict::Now,
        ExportRequest::Send if is_admin => Verdict::After(ANNOUNCED),
        ExportRequest::Stop if is_admin => Verdict::Now,
        ExportRequest::Send | ExportRequest::Stop => Verdict::Refused(Refusal::NotAdmin),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn the_forms_of_forget_are_told_apart() {
        let read = |args: &str, is_reply| format!("{args:?} -> {:?}", Request::parse(args, is_reply));
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
            "stop" -> Some(Keep)
            "https://t.me/c/1234567890/42" -> Some(Message(Place(Ids(ChatId(-1001234567890), MessageId(42)))))
            "all of it" -> None"#]]
        .assert_eq(&lines.join("\n"));
    }

    /// Checks the decision for each kind of asker: owner of the bot, creator, admin, author, member.
    #[track_caller]
    fn check(request: &Request, expected: Expect) {
        let asker = |owns_the_bot, standing, is_author| Asker { owns_the_bot, standing, is_author };
        let verdicts = [
            asker(true, Standing::Outside, false),
            asker(false, Standing::Creator, false),
            asker(false, Standing::Admin, false),
            asker(false, Standing::Outside, true),
            asker(false, Standing::Member, false),
        ]
        .map(|asker| format!("{:?}", decide(request, asker)));
        expected.assert_eq(&verdicts.join(", "));
    }

    #[test]
    fn rights_follow_from_who_asks() {
        check(&Request::Message(Target::RepliedTo), expect!["Now, Now, Now, Now, Refused(NotTheirs)"]);
        check(&Request::Me { lately: None }, expect!["Now, Now, Now, Now, Now"]);
        check(&Request::All, expect!["Now, Now, After(86400s), Refused(NotAdmin), Refused(NotAdmin)"]);
        check(&Request::Keep, expect!["Now, Now, Now, Refused(NotAdmin), Refused(NotAdmin)"]);
    }

    #[test]
    fn an_export_is_for_who_runs_the_chat() {
        let check = |request, expected: Expect| {
            let asker = |owns_the_bot, standing| Asker { owns_the_bot, standing, is_author: false };
            let verdicts = [
                asker(true, Standing::Member),
                asker(false, Standing::Creator),
                asker(false, Standing::Admin),
                asker(false, Standing::Member),
                asker(true, Standing::Outside),
            ]
            .map(|asker| format!("{:?}", decide_export(request, asker)));
            expected.assert_eq(&verdicts.join(", "));
        };
        check(ExportRequest::parse(""), expect!["Now, Now, After(86400s), Refused(NotAdmin), Refused(NotAdmin)"]);
        check(ExportRequest::parse(" STOP "), expect!["Now, Now, Now, Refused(NotAdmin), Refused(NotAdmin)"]);
    }
}
