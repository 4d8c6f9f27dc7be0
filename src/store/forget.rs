//! Taking words out of every table that holds them. A new table that holds what members wrote gets its line here, and
//! its marker in the test that searches every byte.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::named_params;

use super::{Result, Writer, answers, inbox, links, messages, outbox};
use crate::domain::{AnswerId, AnswerRecord, ChatId, ChatKey, MessageAt, MessageId, Seq, StoredMessage, Timestamp};

/// How messages are forgotten.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    pub leave: Leave,
    /// Whether a text repeats a forgotten one.
    pub repeats: fn(&str, &str) -> bool,
}

/// What stays of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// A stub of nobody: should a reply enclose the message later, its words do not come back.
    Stub,
    Nothing,
}

/// What was taken out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub messages: u64,
    pub answers: u64,
}

/// Forgets messages, and with them: quotes of them, copies that others forwarded or quoted from elsewhere, raw updates
/// that hold any of these, and the answers that rest on them.
pub fn messages(tx: &Writer<'_>, rows: &[(ChatKey, Seq)], manner: Manner) -> Result<Forgotten> {
    let mut named = Vec::new();
    for (chat, seq) in rows {
        named.extend(messages::any_by_seq(tx, *chat, *seq)?);
    }
    let texts: Vec<&str> =
        named.iter().map(|stored| stored.message.text.trim()).filter(|text| !text.is_empty()).collect();
    let copies = copies_of(tx, &texts)?;
    let (answers, carriers) = resting_on(tx, named.iter().chain(&copies), &texts, manner)?;
    for answer in &answers {
        answers::forget(tx, *answer)?;
    }
    for stored in copies.iter().chain(carriers.values()) {
        remove(tx, stored, Leave::Stub)?;
    }
    for stored in &named {
        remove(tx, stored, manner.leave)?;
    }
    let words = |stored: &&StoredMessage| !stored.message.sender.name.is_empty();
    Ok(Forgotten { messages: named.iter().filter(words).count() as u64, answers: answers.len() as u64 })
}

/// Forgets what hangs on a chat beside its messages, once these are gone. `until` is when that was asked for.
pub fn rest_of_chat(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    for sql in [
        "UPDATE inbox SET raw = NULL WHERE raw IS NOT NULL AND received_at <= :until AND (update_id, received_day) IN
             (SELECT update_id, received_day FROM inbox_message
              WHERE telegram_chat_id IN (SELECT telegram_chat_id FROM chat_alias WHERE chat_key = :chat))",
        "DELETE FROM outbox WHERE created_at <= :until AND state IN ('sent', 'failed')
             AND telegram_chat_id IN (SELECT telegram_chat_id FROM chat_alias WHERE chat_key = :chat)
             AND answer_id IS NULL",
        // Today's counts stay until the day is over: forgetting buys no new budget.
        "DELETE FROM token_usage WHERE chat_key = :chat AND day < :until / 86400000",
        "DELETE FROM member WHERE chat_key = :chat AND :until > 0",
        "DELETE FROM backlog WHERE :until > 0
             AND telegram_chat_id IN (SELECT telegram_chat_id FROM chat_alias WHERE chat_key = :chat)",
        "UPDATE chat SET title = NULL, username = NULL WHERE chat_key = :chat AND :until > 0",
    ] {
        tx.prepare_cached(sql)?.execute(named_params! { ":chat": chat.0, ":until": until.millis() })?;
    }
    Ok(())
}

/// From now on whatever brings a message from before `until` back makes a stub.
pub fn set_forgotten_until(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    tx.prepare_cached(
        "UPDATE chat SET forgotten_until = max(coalesce(forgotten_until, 0), :until) WHERE chat_key = :chat",
    )?
    .execute(named_params! { ":chat": chat.0, ":until": until.secs() })?;
    Ok(())
}

fn remove(tx: &Writer<'_>, stored: &StoredMessage, leave: Leave) -> Result<()> {
    let (chat, id) = (stored.message.chat, stored.message.id);
    inbox::forget(tx, chat, id)?;
    tx.prepare_cached(
        "UPDATE message SET quote_text = NULL
         WHERE telegram_chat_id = :chat AND reply_to_id = :id AND quote_text IS NOT NULL",
    )?
    .execute(named_params! { ":chat": chat.0, ":id": id.0 })?;
    links::forget(tx, stored.chat, stored.seq)?;
    tx.prepare_cached("DELETE FROM held_text WHERE key = :key")?
        .execute(named_params! { ":key": MessageAt { chat, message: id }.to_string() })?;
    match leave {
        Leave::Stub => messages::blank(tx, stored),
        Leave::Nothing => messages::delete(tx, stored.chat, stored.seq),
    }
}

/// Fewer characters say too little to know a copy by.
const TELLING_CHARS: usize = 8;

/// Messages of others that carry one of `texts` as a forward or as a quote from another chat.
fn copies_of(tx: &Writer<'_>, texts: &[&str]) -> Result<Vec<StoredMessage>> {
    let telling: BTreeSet<&str> = texts.iter().copied().filter(|text| text.chars().count() >= TELLING_CHARS).collect();
    if telling.is_empty() {
        return Ok(Vec::new());
    }
    let mut borrowing = tx.prepare_cached(
        "SELECT telegram_chat_id, message_id, text, forward_origin IS NOT NULL AS is_forward,
                coalesce(context_snapshot, '') AS snapshot
         FROM message WHERE forward_origin IS NOT NULL OR context_snapshot IS NOT NULL",
    )?;
    let mut rows = borrowing.query([])?;
    let mut found = Vec::new();
    while let Some(raw) = rows.next()? {
        let (text, snapshot): (String, String) = (raw.get("text")?, raw.get("snapshot")?);
        let is_forward: bool = raw.get("is_forward")?;
        if is_forward && telling.contains(text.trim()) || telling.iter().any(|text| snapshot.contains(text)) {
            found.push((ChatId(raw.get("telegram_chat_id")?), MessageId(raw.get("message_id")?)));
        }
    }
    let found: Result<Vec<_>> = found.into_iter().map(|(chat, id)| messages::find_any(tx, chat, id)).collect();
    Ok(found?.into_iter().flatten().collect())
}

type Carriers = BTreeMap<(ChatKey, Seq), StoredMessage>;

/// The answers that were given any of `roots`, the messages that carry them, and the later answers that pass on what
/// those said: they cite one, reply to one, or repeat a forgotten text.
fn resting_on<'a>(
    tx: &Writer<'_>,
    roots: impl Iterator<Item = &'a StoredMessage>,
    texts: &[&str],
    manner: Manner,
) -> Result<(BTreeSet<AnswerId>, Carriers)> {
    let mut going = BTreeSet::new();
    let mut carriers = Carriers::new();
    let mut pending = Vec::new();
    for root in roots {
        pending.extend(answers::resting_on(tx, root.chat, root.seq)?);
    }
    while let Some(answer) = pending.pop() {
        if !going.insert(answer) {
            continue;
        }
        for (chat, id) in outbox::messages_of(tx, answer)? {
            let Some(carrier) = messages::find_any(tx, chat, id)? else { continue };
            for later in answers::resting_on(tx, carrier.chat, carrier.seq)? {
                let passes_on = |record: &AnswerRecord| {
                    record.anchor == Some(carrier.message.id)
                        || record.sources.iter().any(|source| source.id == format!("m{}", carrier.seq))
                        || texts.iter().any(|text| says_again(record, text, manner))
                };
                if answers::find(tx, later)?.as_ref().is_some_and(passes_on) {
                    pending.push(later);
                }
            }
            carriers.insert((carrier.chat, carrier.seq), carrier);
        }
    }
    Ok((going, carriers))
}

fn says_again(record: &AnswerRecord, text: &str, manner: Manner) -> bool {
    (manner.repeats)(&record.text, text) || record.sources.iter().any(|source| (manner.repeats)(&source.text, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        AnswerStatus, Chat, ChatKind, Chosen, FormattedText, Matter, Message, Reason, ReplyTarget, TokenUse, UserId,
    };
    use crate::store::outbox::{NewReply, Purpose};
    use crate::store::{Priority, Store, chats};
    use crate::testkit::{CHAT, transcript};

    /// An answer to message 1 that was given the message `used` and went out as message `carrier`.
    fn answer(tx: &Writer<'_>, number: u128, used: u32, carrier: i64, text: &str) -> Result<AnswerId> {
        let id = AnswerId(ulid::Ulid(number));
        let used = Chosen { seq: Seq(used), id: MessageId(used.into()), reason: Reason::Cluster, score: 1.0 };
        let record = AnswerRecord {
            id,
            chat: ChatKey(1),
            thread: None,
            trigger: Seq(90 + u32::try_from(number).unwrap()),
            matter: Matter::First,
            asked_by: UserId(1),
            created_at: Timestamp::from_secs(1),
            status: AnswerStatus::Answered,
            text: text.to_owned(),
            anchor: None,
            window: vec![used],
            omitted: vec![],
            alternative: None,
            slots: vec![],
            sources: vec![],
            model: "test".to_owned(),
            tokens: TokenUse::default(),
            latency_ms: 1,
        };
        answers::save(tx, &record)?;
        let to = ReplyTarget { chat: CHAT, thread: None, reply_to: None };
        let parts = vec![FormattedText::plain(text)];
        let own = NewReply::own(Purpose::Answer, number.to_string(), to, parts);
        let reply = NewReply { answer: Some(id), ..own };
        outbox::add(tx, &reply, Timestamp::from_secs(1))?;
        let part = outbox::parts(tx, &reply.key)?.remove(0);
        outbox::mark_sent(tx, part.id, MessageId(carrier))?;
        Ok(id)
    }

    #[tokio::test]
    async fn an_answer_goes_with_what_it_was_given_and_so_does_one_that_passes_it_on() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = Store::open(&folder.path().join("chime.db"), Timestamp::from_secs(1)).unwrap();
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
                let manner = Manner { leave: Leave::Stub, repeats };
                let forgotten = super::messages(tx, &[(ChatKey(1), Seq(1))], manner)?;
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
