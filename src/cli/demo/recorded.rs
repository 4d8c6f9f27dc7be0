//! Records the first messages of a chat in the database, up to the bot's last one, as if the daemon had handled them.
//! Members can then refer to suggestions of the bot.

use std::path::Path;

use crate::cli::demo::chat::{ChatFile, ChatFileMessage};
use chime_answer::followup::{ClassifierInput, classify, items, resolve};
use chime_core::{
    AnswerId, AnswerRecord, AnswerStatus, Chat, ChatKind, FormattedText, Message, MessageId, ReplyTarget, Role, Sender,
    StoredMessage, Timestamp, TokenUse, UserId,
};
use chime_store::follow_ups::NewFollowUp;
use chime_store::outbox::{NewReply, Purpose};
use chime_store::{Priority, Store, Writer, answers, chats, follow_ups, messages, outbox};

/// Name of the bot in a chat file.
pub const BOT: &str = "bot";

/// Returns the number of messages to record before the daemon starts: all up to the bot's last one.
pub fn length(file: &ChatFile) -> usize {
    file.messages.iter().rposition(|line| line.name == BOT).map_or(0, |last| last + 1)
}

/// Line of a chat file with its ids in the embedded Telegram.
#[derive(Debug, Clone)]
pub struct RecordedMessage {
    pub line: ChatFileMessage,
    pub id: MessageId,
    pub from: UserId,
    pub reply_to: Option<MessageId>,
}

/// Records the messages `said` in the database at `path`. Does not change rows that exist already.
///
/// # Errors
/// Returns the errors of the store.
pub async fn record(path: &Path, chat: Chat, said: Vec<RecordedMessage>, now: Timestamp) -> chime_store::Result<()> {
    if said.is_empty() {
        return Ok(());
    }
    let (store, _) = Store::open(path, now)?;
    record_in(&store, chat, said).await
}

/// Records the messages `said` in a store that may be in use.
///
/// # Errors
/// Returns the errors of the store.
pub async fn record_in(store: &Store, chat: Chat, said: Vec<RecordedMessage>) -> chime_store::Result<()> {
    store.write(Priority::Answering, move |tx| write(tx, &chat, &said)).await
}

fn write(tx: &Writer<'_>, chat: &Chat, said: &[RecordedMessage]) -> chime_store::Result<()> {
    let row = chats::upsert(tx, chat)?;
    for it in said {
        messages::take_in(tx, &row, &message(chat, it))?;
    }
    for answer in said.iter().filter(|it| it.line.name == BOT) {
        let asked = said.iter().find(|it| Some(it.id) == answer.reply_to);
        let stored = asked.map_or(Ok(None), |asked| messages::find(tx, chat.id, asked.id))?;
        if let (Some(asked), Some(trigger)) = (asked, stored) {
            suggest(tx, &trigger, asked, answer)?;
        }
    }
    Ok(())
}

/// Records a message of the bot as an answer, with the suggestions in it.
fn suggest(
    tx: &Writer<'_>,
    trigger: &StoredMessage,
    asked: &RecordedMessage,
    answer: &RecordedMessage,
) -> chime_store::Result<()> {
    if answers::to_trigger(tx, trigger.chat, trigger.seq)?.is_some() {
        return Ok(());
    }
    // Makes the id unique also if several chats have messages of the same time.
    let random = u128::from(trigger.chat.0) << 32 | u128::from(trigger.seq.0);
    let id = AnswerId(answer.line.sent_at.ulid(random));
    let record = AnswerRecord {
        id,
        chat: trigger.chat,
        forum_topic: None,
        trigger: trigger.seq,
        asked_by: asked.from,
        created_at: answer.line.sent_at,
        status: AnswerStatus::Answered,
        text: answer.line.text.clone(),
        anchor: None,
        window: Vec::new(),
        omitted: Vec::new(),
        slots: Vec::new(),
        sources: Vec::new(),
        model: "recorded".to_owned(),
        tokens: TokenUse::default(),
        latency_ms: 0,
        uncertainty: None,
        guard_used: false,
        removed: Vec::new(),
    };
    answers::save(tx, &record)?;
    let to = ReplyTarget { chat: trigger.message.chat, forum_topic: None, reply_to: answer.reply_to };
    let parts = vec![FormattedText::plain(answer.line.text.as_str())];
    let key = format!("answer:{}:{}", trigger.message.chat, asked.id);
    let reply = NewReply { answer: Some(id), ..NewReply::own(Purpose::Answer, key, to, parts) };
    outbox::add(tx, &reply, answer.line.sent_at)?;
    for part in outbox::parts(tx, &reply.key)? {
        outbox::mark_sent(tx, &part, answer.id)?;
    }
    let ask = asked.line.text.trim_start_matches("@bot").trim();
    let reading = classify(&ClassifierInput { text: ask, generic: false, shown: None, language: None });
    let mut resolved = resolve(ask, &reading, None);
    resolved.frame.is_offer = true;
    let items = items(&record.text, resolved.frame.kind.as_deref());
    let new = NewFollowUp {
        answer: id,
        chat: trigger.chat,
        forum_topic: None,
        created_at: record.created_at,
        resolved,
        items,
    };
    follow_ups::save(tx, &new)
}

fn message(chat: &Chat, said: &RecordedMessage) -> Message {
    let is_bot = said.line.name == BOT;
    let sender = Sender { is_bot, ..Sender::person(said.from, said.line.name.clone()) };
    Message {
        role: if is_bot { Role::Assistant } else { Role::User },
        text: said.line.text.clone(),
        reply_to: said.reply_to,
        ..Message::new(chat.id, said.id, sender, said.line.sent_at)
    }
}

/// Returns the group of the demo as the daemon sees it.
pub fn group(id: chime_core::ChatId, title: &str) -> Chat {
    Chat { id, kind: ChatKind::Supergroup, title: Some(title.to_owned()), username: None }
}
