//! What members are told about what is kept of them: the one place for it. All of it Markdown.

use std::time::Duration;

use crate::domain::{grouped, span_in_words};
use crate::privacy::Refusal;

/// What holds for every chat of this bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    /// The bot's own name, without `@`.
    pub username: String,
    /// The host to which text goes for answers; none where nothing leaves this machine.
    pub model_host: Option<String>,
    /// Whether every message goes to that host, and not only those that an answer needs.
    pub sends_all: bool,
    /// Whether talks are summarized in the background.
    pub remembers: bool,
    /// The operator's; none keeps messages for good.
    pub retention: Option<Duration>,
    pub contact: Option<String>,
}

/// How far an opt-out reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    ThisChat,
    EveryChat,
}

/// What was deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub messages: u64,
    /// Answers of the bot that rested on them.
    pub answers: u64,
}

/// Under the bot's name, where strangers look first: at most 120 characters, without formatting.
pub fn in_a_line(retention: Option<Duration>) -> String {
    let how_long = retention.map(|span| format!(" for {}", span_in_words(span))).unwrap_or_default();
    format!("Reads its chats, answers when tagged, with links. Keeps what it reads{how_long}: /privacy")
}

/// `/privacy`.
pub fn privacy(promise: &Promise, retention: Option<Duration>, out: Option<Reach>) -> String {
    let standing = match out {
        None => "",
        Some(Reach::ThisChat) => "**You opted out of this chat**: I keep nothing of what you write here.\n\n",
        Some(Reach::EveryChat) => "**You opted out of every chat**: I keep nothing of what you write.\n\n",
    };
    format!(
        "{standing}I keep the messages of the chats I work in: what was written, by whom and when, and what my answers \
         rested on. Each chat's stay in that chat.\n\n\
         - {}\n{}- {} What Telegram sent me word for word goes after 14 days at the latest. When I am removed from a chat, \
         everything of it goes after 30 days.\n\
         - Before an update of mine I copy the database: the newest three copies stay, for at most 30 days. When \
         something is forgotten, the copies that may hold it go at once.\n{}\n\
         - /optout: from then on I keep nothing of what you write, not even where others quote it. /optin takes it \
         back. In private: for every chat.\n\
         - /forget in a reply, or with a link: that message, if it is yours or you are an admin.\n\
         - /forget me, or /forget me 1h: what you wrote here, ever or lately. In private: in every chat.\n\
         - /forget all: everything of this chat. The creator at once; another admin after 24 hours, announced here.",
        whereto(promise),
        summaries(promise),
        how_long(retention),
        contact(promise),
    )
}

pub fn opted_out(reach: Reach, is_private: bool) -> String {
    let place = match reach {
        Reach::ThisChat => "in this chat",
        Reach::EveryChat => "in any chat",
    };
    let past = if is_private { "in every chat" } else { "here" };
    format!(
        "From now on I keep nothing of what you write {place}, and use nothing of what you wrote before. When you tag \
         me, I read that one message to answer it, and drop it.\n\n\
         What I kept so far is still there, unused. /forget me deletes it {past}; /optin takes the opt-out back."
    )
}

/// `still` is what goes on to hold.
pub fn opted_in(still: Option<Reach>) -> String {
    match still {
        None => "I read along with you again, from your next message on. What you wrote in between stays unread.",
        Some(_) => "You opted out of every chat, and that still holds here. Send me /optin in private to take it back.",
    }
    .to_owned()
}

pub fn in_the_name_of_the_chat() -> String {
    "You write in the name of this chat, so I cannot tell which of its messages are yours. Switch anonymity off for a \
     moment, and ask me again."
        .to_owned()
}

/// `/forget` that says nothing that could be done.
pub fn forget_what() -> String {
    "Reply to a message with /forget, or write:\n\n\
     - /forget and a link to a message\n\
     - /forget me, or /forget me 1h: what you wrote, ever or lately\n\
     - /forget all: everything of this chat, if you run it"
        .to_owned()
}

pub fn refused(refusal: Refusal) -> String {
    match refusal {
        Refusal::NotTheirs => "That message is not yours: its author can have it forgotten, and so can an admin.",
        Refusal::NotAdmin => "Only the admins of this chat can say that. /forget me deletes what you wrote.",
    }
    .to_owned()
}

pub fn not_kept() -> String {
    "I keep no such message.".to_owned()
}

/// That everything goes in a day.
pub fn announced(wait: Duration) -> String {
    /// Hours are told rounded to the nearest.
    const HALF_AN_HOUR: Duration = Duration::from_secs(30 * 60);
    format!(
        "In {} I forget everything of this chat, because an admin asked for it. Until then any admin can call it off \
         with /forget stop, and the creator can have it done at once with /forget all.",
        span_in_words(wait + HALF_AN_HOUR)
    )
}

pub fn called_off(was_pending: bool) -> String {
    if was_pending { "Called off: I keep what I have." } else { "Nothing is about to be forgotten." }.to_owned()
}

/// That an announced deletion did not happen.
pub fn no_longer_admin() -> String {
    "Whoever asked me to forget this chat is no admin of it any more, so I keep what I have.".to_owned()
}

/// That it is done.
pub fn forgotten(counts: Counts) -> String {
    let Counts { messages, answers } = counts;
    match (messages, answers) {
        (0, 0) => "I kept nothing of that.".to_owned(),
        (messages, 0) => format!("Forgotten: {}.", counted(messages, "message")),
        (messages, answers) => format!(
            "Forgotten: {}, and {} of mine that rested on them.",
            counted(messages, "message"),
            counted(answers, "answer"),
        ),
    }
}

fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count))
}

fn whereto(promise: &Promise) -> String {
    match &promise.model_host {
        Some(host) if promise.sends_all => format!(
            "Every message goes to `{host}`, so that I can tell what belongs together, and for answers; nothing goes \
             anywhere else."
        ),
        Some(host) if promise.remembers => {
            format!(
                "For an answer and for summaries, the messages they need go to `{host}`; nothing goes anywhere else."
            )
        }
        Some(host) => format!("For an answer, the messages it needs go to `{host}`; nothing goes anywhere else."),
        None => "Nothing leaves the machine I run on.".to_owned(),
    }
}

fn summaries(promise: &Promise) -> String {
    if !promise.remembers {
        return String::new();
    }
    let without = match &promise.model_host {
        Some(host) => format!(
            " Where nobody tagged me for a week they are made here, without `{host}`. E-mail addresses, phone and card \
             numbers, keys and the like are taken out before anything is sent for them, unless my operator switched that off."
        ),
        None => String::new(),
    };
    format!(
        "- I summarize talks in the background, to know later what was said: /memory shows it.{without} What rests on a \
         forgotten message is emptied at once and made anew without it. Admins switch it off with {} off.\n",
        command(promise, "memory"),
    )
}

fn how_long(retention: Option<Duration>) -> String {
    match retention {
        Some(span) => format!("I keep messages for {}.", span_in_words(span)),
        None => "I keep messages until somebody has them forgotten.".to_owned(),
    }
}

fn contact(promise: &Promise) -> String {
    promise.contact.as_ref().map(|contact| format!("- I am run by {}.\n", escaped(contact))).unwrap_or_default()
}

/// A command with our name behind it, since the bare one is every bot's in a group.
pub(super) fn command(promise: &Promise, name: &str) -> String {
    format!("/{name}@{}", escaped(&promise.username))
}

pub(super) fn escaped(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>').then_some('\\').into_iter().chain([c])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn what_was_forgotten_is_counted() {
        let told = |messages, answers| forgotten(Counts { messages, answers });
        expect![[r#"
            I kept nothing of that.
            Forgotten: 1 message.
            Forgotten: 1,204 messages, and 1 answer of mine that rested on them."#]]
        .assert_eq(&[told(0, 0), told(1, 0), told(1204, 1)].join("\n"));
    }
}
