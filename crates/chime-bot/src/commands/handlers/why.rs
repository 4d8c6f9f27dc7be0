//! `/why`: shows which messages an answer used, and why.

use crate::commands::handlers::{CommandRequest, Commands, Shown};
use chime_answer::why::{self, UsedMessage, WhyExtras};
use chime_core::texts::Texts;
use chime_core::{AnswerRecord, Job, Role, Seq, StoredMessage, Zone, message_link};
use chime_jobs::JobResult;
use chime_store::{Reader, answers, chats, follow_ups, messages, outbox};

impl Commands {
    pub(super) async fn explain_answer(&self, job: &Job, command: CommandRequest) -> JobResult {
        let (message, zone, texts) =
            (command.message.clone(), command.settings.zone(self.base.zone()), command.texts());
        match self.base.store.read(move |conn| explain(conn, &message, zone, texts)).await? {
            Ok(shown) => self.answer_showing(job, &command, shown).await,
            Err(reply) => self.say(job, &command, reply).await,
        }
    }
}

/// Explains the bot's answer that `message` replies to. If there is none, returns the text that says so.
fn explain(
    conn: &Reader,
    message: &StoredMessage,
    zone: Zone,
    texts: &'static Texts,
) -> chime_store::Result<Result<Shown, &'static str>> {
    let Some(target) = message.message.reply_to else { return Ok(Err(&texts.why_what)) };
    let answer = outbox::by_message(conn, message.message.chat, target)?.and_then(|part| part.answer);
    let record = answer.map_or(Ok(None), |answer| answers::find(conn, answer))?;
    let (Some(answer), Some(record)) = (answer, record) else {
        if outbox::is_recap(conn, message.message.chat, target)? {
            return Ok(Err(&texts.why_recap));
        }
        // A forgotten answer leaves a stub, a row without content.
        let left = messages::find_any(conn, message.message.chat, target)?;
        let was_ours = left.is_some_and(|left| left.message.role == Role::Assistant);
        let is_gone = was_ours && messages::is_stub(conn, message.message.chat, target)?;
        return Ok(Err(if is_gone { &texts.why_gone } else { &texts.why_what }));
    };
    let used = used(conn, &record)?;
    let mut rests_on = answers::grounds(conn, answer)?;
    let concepts = labels_of(conn, &record)?;
    if !concepts.is_empty() {
        rests_on.extend(chime_store::concepts::grounds(conn, record.chat)?);
    }
    let extras = WhyExtras { follow_up: follow_ups::find(conn, answer)?.map(Box::new), concepts };
    let to = why::WhyReader { member: message.message.sender.id, zone, texts };
    let markdown = why::why(&record, &used, &extras, to);
    let links = used.into_iter().filter_map(|message| message.link).collect();
    Ok(Ok(Shown { markdown, links, rests_on, ..Shown::of_chat(record.chat) }))
}

/// Returns the names of the concepts that an answer used. Concepts that the chat has deleted are left out.
fn labels_of(conn: &Reader, record: &AnswerRecord) -> chime_store::Result<Vec<String>> {
    let referenced = chime_store::concepts::referenced(conn, record.id)?;
    if referenced.is_empty() {
        return Ok(Vec::new());
    }
    let known = chime_store::concepts::of_chat(conn, record.chat)?;
    let labels = referenced.iter().filter_map(|id| known.iter().find(|concept| concept.id == *id));
    Ok(labels.map(|concept| concept.label.clone()).collect())
}

fn used(conn: &Reader, record: &AnswerRecord) -> chime_store::Result<Vec<UsedMessage>> {
    let Some(row) = chats::by_key(conn, record.chat)? else { return Ok(Vec::new()) };
    // Source ids of summaries are `s` and the number of a message.
    let of_summaries = record.slots.iter().flat_map(|slot| &slot.sources).filter_map(|id| id.strip_prefix('s'));
    let mut seqs: Vec<Seq> = record.window.iter().map(|chosen| chosen.seq).collect();
    for seq in of_summaries.filter_map(|number| number.parse().ok().map(Seq)) {
        if !seqs.contains(&seq) {
            seqs.push(seq);
        }
    }
    let used = |StoredMessage { seq, message, .. }: StoredMessage| UsedMessage {
        seq,
        id: message.id,
        role: message.role,
        sent_at: message.sent_at,
        reply_to: message.reply_to,
        link: message_link(&row.chat, &message),
        text: message.rendered(),
        name: message.sender.name,
    };
    Ok(messages::by_seqs(conn, record.chat, seqs)?.into_iter().map(used).collect())
}
