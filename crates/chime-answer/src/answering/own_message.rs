//! Stores the bot's own messages as part of the chat.

use chime_core::{
    AnswerRecord, AnswerStatus, BotIdentity, Kind, Message, MessageId, Role, Sender, Timestamp, utf16_len,
};
use chime_store::outbox::{Purpose, ReplyPart};
use chime_store::{Reader, Writer, answers, chats, consent, messages, outbox};

pub fn own_message(bot: &BotIdentity, part: &ReplyPart, id: MessageId, now: Timestamp) -> Message {
    let to = part.outgoing.to;
    let sender =
        Sender { username: Some(bot.username().to_owned()), is_bot: true, ..Sender::person(bot.id, bot.name.clone()) };
    Message {
        forum_topic: to.forum_topic,
        role: match (part.purpose, &part.outgoing.poll) {
            (Purpose::Answer, _) => Role::Assistant,
            // A poll counts as words of the members: its text will hold their votes.
            (_, Some(_)) => Role::User,
            // Notices and the output of commands are not part of the conversation.
            (_, None) => Role::System,
        },
        kind: if part.outgoing.poll.is_some() { Kind::Poll } else { Kind::Text },
        text: part.outgoing.content.text.clone(),
        entities: part.outgoing.content.entities.clone(),
        reply_to: to.reply_to,
        ..Message::new(to.chat, id, sender, now)
    }
}

/// Stores the message for a part that was sent. If the answer was deleted since, or its asker opted out, the message is
/// stored without text, which would reveal the question.
pub fn keep(tx: &Writer<'_>, own: Message, part: &ReplyPart) -> chime_store::Result<()> {
    let answer = part.answer.map(|id| answers::find(tx, id)).transpose()?.flatten();
    let own = as_talk(tx, own, part, answer.as_ref())?;
    match chats::find(tx, own.chat)? {
        Some(row) if outbox::is_forgotten(tx, part.id)? || is_for_who_opted_out(tx, answer.as_ref())? => {
            messages::insert_stub(tx, &row, &own).map(drop)
        }
        Some(row) => messages::take_in(tx, &row, &own).map(drop),
        None => Ok(()),
    }
}

fn is_for_who_opted_out(conn: &Reader, answer: Option<&AnswerRecord>) -> chime_store::Result<bool> {
    Ok(match answer {
        Some(answer) => consent::opted_out(conn, answer.chat, answer.asked_by)?.is_some(),
        None => false,
    })
}

/// Prepares a message of the bot for the chat's history. Removes the privacy notice below the answer. Digests,
/// apologies, refusals and parts with only the notice get the role `System`, so that they do not count as answers.
fn as_talk(
    conn: &Reader,
    mut own: Message,
    part: &ReplyPart,
    answer: Option<&AnswerRecord>,
) -> chime_store::Result<Message> {
    let talk_end = outbox::talk_end(conn, part.id)?;
    if let Some(end) = talk_end {
        own.text.truncate(own.text.floor_char_boundary(end));
        let units = utf16_len(&own.text);
        own.entities.retain(|entity| entity.offset + entity.length <= units);
    }
    if talk_end == Some(0) || answer.is_some_and(|answer| answer.status != AnswerStatus::Answered || answer.guard_used)
    {
        own.role = Role::System;
    }
    Ok(own)
}
