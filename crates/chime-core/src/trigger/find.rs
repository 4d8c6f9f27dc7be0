//! Rules that decide if a message addresses the bot.

use std::ops::Range;

use crate::lang::web_query;
use crate::trigger::address::{Address, Addressee, Call, address, called_at_start};
use crate::trigger::ask::without;
use crate::trigger::generic::{
    asks_about_privacy, asks_for_reminders, asks_for_summary, asks_what_was_missed, consents, is_generic, is_thanks,
    is_thanks_by_name,
};
use crate::trigger::languages::Languages;
use crate::trigger::words::words;
use crate::{
    AddressedBy, Addressing, BotIdentity, ChatKind, CommandName, Kind, Message, ParsedTrigger, Role, source_list,
};

/// A message that addresses the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trigger {
    pub kind: TriggerKind,
    pub how: AddressedBy,
    /// The question: the text without the bot's name and the command.
    pub ask: String,
    /// `true` if the question has no subject of its own, such as "thoughts?": see [`is_generic`].
    pub generic: bool,
    /// Byte ranges of the text that are not part of the question, such as the bot's name.
    pub cut: Vec<Range<usize>>,
}

impl Trigger {
    /// Returns the trigger without the text, for the payload of a job.
    pub fn parsed(&self) -> ParsedTrigger {
        ParsedTrigger { how: self.how, is_generic: self.generic, cut: self.cut.clone() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriggerKind {
    /// Question to answer. Includes `/ask`, with [`AddressedBy::Command`].
    Ask,
    /// Any other command, with its arguments. Includes requests in plain words: for a recap ("what did I miss?"), a
    /// search or a reminder, or to be deleted ("forget me").
    Command(CommandName, String),
    /// Only thanks or emoji, to which the bot answers with a reaction.
    Thanks,
}

/// Facts about a message and its chat that the message itself does not contain.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// `true` if the message replies to an answer or recap of the bot, not to a notice or the output of a command.
    /// Always `false` in chats where replies do not count as triggers.
    pub parent_is_answer: bool,
    /// `true` if no other bot is known in the chat, so that a command without a bot's name is for this one.
    pub is_only_bot: bool,
    /// The bot's answer shortly before the message, if the message is not a reply.
    pub said_before: Option<&'a Message>,
    /// Name that counts as a tag at the beginning of a message.
    pub called: Option<&'a str>,
}

/// Returns the trigger if `message` addresses the bot. `parent` is the message it replies to, if known.
pub fn find(
    message: &Message,
    parent: Option<&Message>,
    bot: &BotIdentity,
    chat_kind: ChatKind,
    rules: &Rules<'_>,
) -> Option<Trigger> {
    if !is_from_a_person(message, bot) {
        return None;
    }
    // Forwarded text and text of an inline bot were not written to this bot, even if they contain its name.
    let is_own = message.forward_origin.is_none() && message.via_bot.is_none();
    let mut address = if is_own { address(message, bot) } else { Address::default() };
    let name = rules.called.filter(|_| is_own && !address.is_named && address.command.is_none());
    if let Some(cut) = name.and_then(|name| called_at_start(&message.text, name)) {
        address.name(cut);
    }
    let mut ask = without(&message.text, &address.cut);
    let may_be_word = address.is_named || chat_kind == ChatKind::Private;
    if let Some(word) =
        address.command.take_if(|call| may_be_word && is_word(call) && Languages::shipped().is_question(&ask))
    {
        address.cut.retain(|cut| *cut != word.range);
        ask = without(&message.text, &address.cut);
    }
    if let Some(call) = &address.command {
        let to = if call.to == Addressee::Anyone && is_ours(call, &address, &message.text) {
            Addressee::Us
        } else {
            call.to
        };
        let found = called(&Call { to, ..call.clone() }, chat_kind, ask, rules)?;
        return Some(Trigger { cut: address.cut, ..found });
    }
    let is_reply = rules.parent_is_answer && is_from_the_bot(parent, bot);
    let how = how(&address, is_reply, chat_kind)?;
    let is_thanks = match how {
        AddressedBy::Mention if !is_reply => is_thanks_by_name(&ask, rules.said_before.is_some()),
        AddressedBy::Mention | AddressedBy::Reply | AddressedBy::Private | AddressedBy::Command => {
            is_mere_reaction(message, &ask)
        }
    };
    // "Yes" in reply to "Shall I list them?" is not thanks.
    let answered = if is_reply { parent } else { rules.said_before };
    let is_consent = answered.is_some_and(asks) && consents(&ask);
    if is_thanks && !is_consent {
        return Some(Trigger { kind: TriggerKind::Thanks, how, ask, generic: false, cut: address.cut });
    }
    if asks_about_privacy(&ask) {
        // Only explained: plain words delete nothing.
        let kind = TriggerKind::Command(CommandName::Privacy, ask.clone());
        return Some(Trigger { kind, how, ask, generic: false, cut: address.cut });
    }
    let is_about_talk = chat_kind != ChatKind::Private && !is_reply_to_talk(message, parent);
    // The handler answers the question if the time is none.
    let asks_since = || !Languages::shipped().missed_since(&ask).is_empty();
    if is_about_talk && (asks_what_was_missed(&ask) || asks_since()) {
        let kind = TriggerKind::Command(CommandName::Recap, ask.clone());
        return Some(Trigger { kind, how, ask, generic: false, cut: address.cut });
    }
    // "Search the web for …" is a question, not a search of the chat.
    let searched = Languages::shipped().searched(&ask).filter(|_| web_query(&ask).is_none());
    let reminder_prefix_len = Languages::shipped().reminder_prefix_len(&ask);
    // "Remind me tomorrow to cancel the reminder" asks for one, "cancel the reminder" does not.
    let begins_reminder = reminder_prefix_len.is_some_and(|count| (1..words(&ask).len()).contains(&count));
    let command = match searched {
        Some(_) => Some(CommandName::Search),
        None if !begins_reminder && asks_for_reminders(&ask) => Some(CommandName::Reminders),
        // The handler answers the question if there is a model.
        None if is_about_talk && asks_for_summary(&ask) => Some(CommandName::Recap),
        // The handler answers the question if it names no time.
        None => reminder_prefix_len.map(|_| CommandName::Remind),
    };
    if let Some(command) = command {
        let kind = TriggerKind::Command(command, ask.clone());
        return Some(Trigger { cut: address.cut, kind, ..asked(how, ask) });
    }
    Some(Trigger { cut: address.cut, ..asked(how, ask) })
}

/// Returns `true` for a word that only looks like a command: "/etc is gone, @bot where is the key?".
fn is_word(call: &Call) -> bool {
    call.to == Addressee::Anyone && CommandName::parse(&call.name).is_none()
}

/// Returns `true` if the bot's name stands before a command, or directly after one that the bot knows: "@bot /help" and
/// "/help @bot" have the same meaning as "/help@bot".
fn is_ours(call: &Call, address: &Address, text: &str) -> bool {
    let follows = |cut: &Range<usize>| text.get(call.range.end..cut.start).is_some_and(|gap| gap.trim().is_empty());
    let is_known = CommandName::parse(&call.name).is_some();
    address.cut.iter().any(|cut| cut.end <= call.range.start || is_known && follows(cut))
}

fn is_reply_to_talk(message: &Message, parent: Option<&Message>) -> bool {
    message.reply_to.is_some() && parent.is_none_or(|parent| parent.kind != Kind::Service)
}

/// Returns `true` if an answer ends with a question mark, not counting the line that lists its sources.
fn asks(answer: &Message) -> bool {
    let paragraphs = answer.text.split("\n\n").map(str::trim_end);
    paragraphs
        .take_while(|paragraph| source_list(paragraph).is_none())
        .last()
        .is_some_and(crate::trigger::ends_like_question)
}

fn is_from_a_person(message: &Message, bot: &BotIdentity) -> bool {
    !message.sender.is_bot
        && message.sender.id != bot.id
        && message.role != Role::Assistant
        && message.kind != Kind::Service
}

/// Returns `true` if the bot wrote the parent, or it is unknown. Service messages do not count: in a forum topic,
/// Telegram makes every message a reply to the one that opened the topic, and the bot may have opened it.
fn is_from_the_bot(parent: Option<&Message>, bot: &BotIdentity) -> bool {
    parent.is_none_or(|parent| parent.sender.id == bot.id && parent.kind != Kind::Service)
}

fn how(address: &Address, is_reply: bool, chat_kind: ChatKind) -> Option<AddressedBy> {
    match chat_kind {
        ChatKind::Private => Some(AddressedBy::Private),
        ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel => match (address.is_named, is_reply) {
            (true, _) => Some(AddressedBy::Mention),
            (false, true) => Some(AddressedBy::Reply),
            (false, false) => None,
        },
    }
}

/// Returns the trigger of a text that begins with a command, if the command is for this bot.
fn called(call: &Call, chat_kind: ChatKind, args: String, rules: &Rules<'_>) -> Option<Trigger> {
    let is_private = chat_kind == ChatKind::Private;
    let is_ours = |name: CommandName| rules.is_only_bot || name.addressing() == Addressing::OursWhenBare;
    let name = match (CommandName::parse(&call.name), call.to) {
        (_, Addressee::AnotherBot) => return None,
        (Some(name), Addressee::Us) => name,
        (Some(name), Addressee::Anyone) if is_private || is_ours(name) => name,
        // An unknown command that is clearly for this bot gets the help text.
        (None, Addressee::Us) => CommandName::Help,
        (None, Addressee::Anyone) if is_private => CommandName::Help,
        (_, Addressee::Anyone) => return None,
    };
    Some(match name {
        CommandName::Ask => asked(AddressedBy::Command, args),
        name => Trigger {
            kind: TriggerKind::Command(name, args.clone()),
            how: AddressedBy::Command,
            ask: args,
            generic: false,
            cut: Vec::new(),
        },
    })
}

fn asked(how: AddressedBy, ask: String) -> Trigger {
    Trigger { kind: TriggerKind::Ask, how, generic: is_generic(&ask), ask, cut: Vec::new() }
}

/// Returns `true` for thanks or emoji, typed or as a sticker.
fn is_mere_reaction(message: &Message, ask: &str) -> bool {
    match message.kind {
        Kind::Text => is_thanks(ask),
        Kind::Sticker | Kind::Animation | Kind::Dice => ask.is_empty() || is_thanks(ask),
        _ => false,
    }
}

#[cfg(test)]
pub(super) mod tests;
