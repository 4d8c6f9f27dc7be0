//! Removal of members' words from every table. [`derived`] knows the data derived from single messages. This module
//! finds the copies of a message and the answers based on the message or its copies.
//!
//! [`derived`]: super::derived

use std::collections::{BTreeMap, BTreeSet};

use super::derived;
use super::family::Cause;
use super::sql::{Statements, params};
use super::{Result, Writer, answers, messages, outbox, quotes_and_forwards};
use chime_core::{AnswerId, AnswerRecord, ChatKey, Seq, StoredMessage, Timestamp};

#[derive(Debug, Clone, Copy)]
pub struct ForgetOptions {
    pub cause: Cause,
    pub replacement: Replacement,
    /// Function that returns `true` if its first text repeats its second one, the text of a forgotten message.
    pub repeats: fn(&str, &str) -> bool,
}

/// Decision about the row of a forgotten message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replacement {
    /// Leaves a stub without author and text. If a copy of the message arrives later, inside a reply, the stub prevents
    /// that it is stored.
    Stub,
    Nothing,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub messages: u64,
    /// Number of deleted answers in the chats of these messages. Answers in other chats are not counted, because the
    /// number would reveal something about those chats.
    pub answers: u64,
}

/// Deletes messages, with the quotes and answers made from them. If a member requested it
/// ([`Cause::Forgotten`]), also deletes forwards and quotes in other chats. If the messages expired, these stay,
/// because the other chat may keep messages longer.
pub fn messages(tx: &Writer<'_>, rows: &[(ChatKey, Seq)], options: ForgetOptions) -> Result<Forgotten> {
    let mut named = Vec::new();
    for (chat, seq) in rows {
        named.extend(messages::any_by_seq(tx, *chat, *seq)?);
    }
    let mut copies = Vec::new();
    if options.cause == Cause::Forgotten {
        for stored in &named {
            copies.extend(quotes_and_forwards::copies_of(tx, stored)?);
        }
    }
    let texts = texts_of(&named);
    let (answers, carriers) = resting_on(tx, named.iter().chain(&copies), &texts, options)?;
    let asked_in: BTreeSet<ChatKey> = named.iter().map(|stored| stored.chat).collect();
    let answers_there = remove_answers(tx, &answers, &carriers, options.cause)?;
    for copy in &copies {
        if !quotes_and_forwards::give_back(tx, copy)? {
            remove(tx, copy, Replacement::Stub, options.cause)?;
        }
    }
    for stored in &named {
        remove(tx, stored, options.replacement, options.cause)?;
    }
    let words = |stored: &&StoredMessage| !stored.message.sender.name.is_empty();
    let answers = answers_there.iter().filter(|chat| asked_in.contains(chat)).count();
    Ok(Forgotten { messages: named.iter().filter(words).count() as u64, answers: answers as u64 })
}

/// Deletes the answers that are based on messages whose author opted out. The messages themselves stay.
pub fn answers_on(tx: &Writer<'_>, rows: &[(ChatKey, Seq)], options: ForgetOptions) -> Result<()> {
    let mut named = Vec::new();
    for (chat, seq) in rows {
        named.extend(messages::any_by_seq(tx, *chat, *seq)?);
    }
    let (answers, carriers) = resting_on(tx, named.iter(), &texts_of(&named), options)?;
    remove_answers(tx, &answers, &carriers, options.cause).map(drop)
}

/// Makes the chat store messages sent up to `until` only as stubs from now on, for example copies inside a reply.
pub fn set_forgotten_until(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    tx.run(
        "UPDATE chat SET forgotten_until = max(coalesce(forgotten_until, 0), :until) WHERE chat_key = :chat",
        params! { ":chat": chat, ":until": until.secs() },
    )
}

/// Deletes a message, or replaces it by a stub, and deletes the data derived from it except answers.
pub(super) fn remove(tx: &Writer<'_>, stored: &StoredMessage, replacement: Replacement, cause: Cause) -> Result<()> {
    derived::words_gone(tx, stored, cause)?;
    match replacement {
        Replacement::Stub => messages::blank(tx, stored),
        Replacement::Nothing => messages::delete(tx, stored.chat, stored.seq),
    }
}

/// Deletes answers, and replaces the messages that show them by stubs. Returns the chat of each answer.
fn remove_answers(
    tx: &Writer<'_>,
    answers: &BTreeMap<AnswerId, ChatKey>,
    carriers: &Carriers,
    cause: Cause,
) -> Result<Vec<ChatKey>> {
    for answer in answers.keys() {
        answers::forget(tx, *answer)?;
    }
    for carrier in carriers.values() {
        remove(tx, carrier, Replacement::Stub, cause)?;
    }
    Ok(answers.values().copied().collect())
}

fn texts_of(named: &[StoredMessage]) -> Vec<&str> {
    named.iter().map(|stored| stored.message.text.trim()).filter(|text| !text.is_empty()).collect()
}

type Carriers = BTreeMap<(ChatKey, Seq), StoredMessage>;

/// Returns the answers that are based on any of `roots`, with the messages that show them. Includes later answers that
/// repeat their content: those that reply to or cite such a message, or that contain a text of `texts`.
fn resting_on<'a>(
    tx: &Writer<'_>,
    roots: impl Iterator<Item = &'a StoredMessage>,
    texts: &[&str],
    options: ForgetOptions,
) -> Result<(BTreeMap<AnswerId, ChatKey>, Carriers)> {
    let mut going = BTreeMap::new();
    let mut carriers = Carriers::new();
    let mut pending = Vec::new();
    for root in roots {
        pending.extend(answers::resting_on(tx, root.chat, root.seq)?.into_iter().map(|answer| (answer, root.chat)));
    }
    while let Some((answer, chat)) = pending.pop() {
        if going.insert(answer, chat).is_some() {
            continue;
        }
        for (place, id) in outbox::messages_of(tx, answer)? {
            let Some(carrier) = messages::find_any(tx, place, id)? else { continue };
            for later in answers::resting_on(tx, carrier.chat, carrier.seq)? {
                let passes_on = |record: &AnswerRecord| {
                    record.anchor == Some(carrier.message.id)
                        || record.sources.iter().any(|source| source.id == format!("m{}", carrier.seq))
                        || texts.iter().any(|text| says_again(record, text, options))
                };
                if answers::find(tx, later)?.as_ref().is_some_and(passes_on) {
                    pending.push((later, carrier.chat));
                }
            }
            carriers.insert((carrier.chat, carrier.seq), carrier);
        }
    }
    Ok((going, carriers))
}

fn says_again(record: &AnswerRecord, text: &str, options: ForgetOptions) -> bool {
    (options.repeats)(&record.text, text) || record.sources.iter().any(|source| (options.repeats)(&source.text, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbox::{NewReply, Purpose};
    use crate::testkit::new_store;
    use crate::{Priority, chats};
    use chime_core::testkit::{CHAT, transcript};
    use chime_core::{
        AnswerStatus, Chat, ChatKind, Chosen, FormattedText, Message, MessageId, Reason, ReplyTarget, TokenUse, UserId,
    };

    /// Stores an answer to message 1 that is based on message `used` and was sent as message `carrier`.
    fn answer(tx: &Writer<'_>, number: u128, used: u32, carrier: i64, text: &str) -> Result<AnswerId> {
        let id = AnswerId(ulid::Ulid(number));
        let used = Chosen { seq: Seq(used), id: MessageId(used.into()), reason: Reason::Cluster, score: 1.0 };
        let record = AnswerRecord {
            id,
            chat: ChatKey(1),
            forum_topic: None,
            trigger: Seq(90 + u32::try_from(number).unwrap()),
            asked_by: UserId(1),
            created_at: Timestamp::from_secs(1),
            status: AnswerStatus::Answered,
            text: text.to_owned(),
            anchor: None,
            window: vec![used],
            omitted: vec![],
            slots: vec![],
            sources: vec![],
            model: "test".to_owned(),
            tokens: TokenUse::default(),
            latency_ms: 1,
            uncertainty: None,
            guard_used: false,
            removed: Vec::new(),
        };
        answers::save(tx, &record)?;
        let to = ReplyTarget { chat: CHAT, forum_topic: None, reply_to: None };
        let parts = vec![FormattedText::plain(text)];
        let own = NewReply::own(Purpose::Answer, number.to_string(), to, parts);
        let reply = NewReply { answer: Some(id), ..own };
        outbox::add(tx, &reply, Timestamp::from_secs(1))?;
        let part = outbox::parts(tx, &reply.key)?.remove(0);
        outbox::mark_sent(tx, &part, MessageId(carrier))?;
        Ok(id)
    }

    #[tokio::test]
    async fn an_answer_goes_with_what_it_was_given_and_so_does_one_that_passes_it_on() {
        let (_folder, store) = new_store().await;
        let chat = Chat { id: CHAT, kind: ChatKind::Supergroup, title: None, username: None };
        let said: Vec<Message> = transcript(
            "
            10:00 ann#1 my new door code is 4711
            10:01 chime#2 [assistant] Ann has a new code.
            10:02 chime#3 [assistant] As I said, the new door code is 4711.
            10:03 chime#4 [assistant] The lake is warm.
            ",
        )
        .into_iter()
        .map(|stored| stored.message)
        .collect();
        let repeats = |text: &str, forgotten: &str| text.contains("door code") && forgotten.contains("door code");
        let (left, texts) = store
            .write(Priority::Answering, move |tx| {
                let row = chats::upsert(tx, &chat)?;
                for message in &said {
                    messages::take_in(tx, &row, message)?;
                }
                let given = answer(tx, 1, 1, 2, "Ann has a new code.")?;
                let passing_on = answer(tx, 2, 2, 3, "As I said, the new door code is 4711.")?;
                let unrelated = answer(tx, 3, 2, 4, "The lake is warm.")?;
                let options = ForgetOptions { cause: Cause::Forgotten, replacement: Replacement::Stub, repeats };
                let forgotten = super::messages(tx, &[(ChatKey(1), Seq(1))], options)?;
                assert_eq!(forgotten, Forgotten { messages: 1, answers: 2 });
                let mut left = Vec::new();
                for id in [given, passing_on, unrelated] {
                    left.push(answers::find(tx, id)?.is_some());
                }
                let texts: Vec<String> =
                    messages::all_of(tx, ChatKey(1))?.into_iter().map(|stored| stored.message.text).collect();
                Ok((left, texts))
            })
            .await
            .unwrap();
        assert_eq!(left, [false, false, true]);
        assert_eq!(texts, ["", "", "", "The lake is warm."]);
    }
}
