//! Stores a batch of updates: messages, jobs and the poll offset in one transaction.

use std::time::Duration;

use crate::ingest::ArrivalKind;
use crate::ingest::intake::batch::{Applied, BothClocks};
use crate::ingest::intake::enqueue::{StoredArrival, WordStorage, start_work, was_trigger};
use crate::ingest::intake::read::ReadUpdate;
use crate::ingest::intake::settings::IntakeSettings;
use crate::ingest::intake::{authorize, consent_filter, language, memory_jobs};
use chime_access::admission::{recent_controls, served};
use chime_access::{Access, CONTROLS, Decision, admit_control};
use chime_core::{
    Arrival, BotIdentity, ChatId, ChatKind, Conversation, Event, JobPayload, Membership, Message, Migration, PollState,
    Press, Reaction, Role, Sender, Timestamp,
};
use chime_privacy::{Keep, strip};
use chime_store::inbox::Received;
use chime_store::messages::TakenIn;
use chime_store::{
    StoreError, Writer, announcements, button_presses, chat_migration, chats, consent, feedback, inbox, jobs, messages,
    outbox, quotes_and_forwards, refusals, sessions, topic_names,
};

/// Delay before the vectors of new messages are requested, so that several messages share a request.
const VECTORS_AFTER: Duration = Duration::from_secs(1);

/// Stores `batch` and the offset after it. Must be called in the transaction that commits both.
pub fn apply(
    tx: &Writer<'_>,
    batch: &[ReadUpdate],
    offset: Option<i64>,
    setting: &IntakeSettings,
    at: BothClocks,
) -> chime_store::Result<Applied> {
    // First tries without a savepoint for each update, because each savepoint writes the full-text index. They are used
    // only after an update has failed.
    let together = chime_store::in_savepoint(tx, |tx| apply_each(tx, batch, setting, at, false));
    let mut applied = match together {
        Err(error) if !blames_the_file(&error) => apply_each(tx, batch, setting, at, true)?,
        together => together?,
    };
    if setting.fetches_vectors && !applied.heard.is_empty() {
        let soon = at.now.plus(VECTORS_AFTER);
        applied.postponed |= jobs::hasten(tx, &JobPayload::Vectors {}, at.now, soon)?;
    }
    if let Some(offset) = offset {
        inbox::set_next_offset(tx, offset, at.now)?;
    }
    Ok(applied)
}

/// Returns `true` if the error is one of the database itself, not of an update: the whole batch must then be tried
/// again.
fn blames_the_file(error: &StoreError) -> bool {
    error.is_fatal() || error.is_passing()
}

/// Stores each update of a batch, on request `in_savepoints`, so that an update that fails is parked and the others are
/// stored.
fn apply_each(
    tx: &Writer<'_>,
    batch: &[ReadUpdate],
    setting: &IntakeSettings,
    at: BothClocks,
    in_savepoints: bool,
) -> chime_store::Result<Applied> {
    let mut applied = Applied::default();
    for update in batch {
        if inbox::is_known(tx, update.id, at.now)? {
            continue;
        }
        let stored = match &update.events {
            Err(why) => Err(why.clone()),
            Ok(events) if !in_savepoints => Ok(take_in_all(tx, events, setting, at, &mut applied)?),
            Ok(events) => {
                match chime_store::in_savepoint(tx, |tx| take_in_all(tx, events, setting, at, &mut applied)) {
                    Err(error) if !blames_the_file(&error) => Err(error.to_string()),
                    stored => Ok(stored?),
                }
            }
        };
        let error = stored.err();
        inbox::add(tx, &Received { id: update.id, kind: &update.kind, at: at.now, error: error.as_deref() })?;
        applied.parked.extend(error.map(|why| (update.kind.clone(), why)));
        applied.stored += 1;
    }
    applied.touched.write(tx)?;
    let is_answered = |conversation: &Conversation| applied.heard.get(conversation) == Some(&true);
    applied.postponed |= applied.turns.write(tx, is_answered, at.now)?;
    Ok(applied)
}

fn take_in_all(
    tx: &Writer<'_>,
    events: &[Event],
    setting: &IntakeSettings,
    at: BothClocks,
    applied: &mut Applied,
) -> chime_store::Result<()> {
    for event in events {
        match event {
            Event::Message(arrival) => take_in_message(tx, arrival, None, setting, at, applied)?,
            Event::Edit(arrival) => take_in_message(tx, arrival, arrival.message.edited_at, setting, at, applied)?,
            Event::Membership(membership) => note_membership(tx, membership, setting, at.now, applied)?,
            Event::Migration(migration) => follow_migration(tx, *migration, applied)?,
            Event::Press(press) => take_in_press(tx, press, setting, at.now, applied)?,
            Event::Poll(state) => take_in_poll(tx, state, at.there, applied)?,
            Event::Guest(question) => applied.guests.push(question.clone()),
            Event::Reaction(reaction) => take_in_feedback(tx, reaction, at.now, applied)?,
        }
    }
    Ok(())
}

/// Stores a button press until its job is done. Ignores presses beyond the limit.
fn take_in_press(
    tx: &Writer<'_>,
    press: &Press,
    setting: &IntakeSettings,
    now: Timestamp,
    applied: &mut Applied,
) -> chime_store::Result<()> {
    let Some(row) = chats::find(tx, press.chat)? else { return Ok(()) };
    if served(tx, &row.chat, press.by, &setting.config.access)? == Access::Allowed {
        if setting.config.limits.rate.is_some() {
            let recent = recent_controls(tx, Conversation::whole(row.key), press.by, now)?;
            if admit_control(now, &recent) != Decision::Allow {
                return Ok(());
            }
            refusals::add_control(tx, press.by, now, now.minus(CONTROLS.per))?;
        }
        button_presses::add(tx, press, now)?;
        let job = JobPayload::Press { query: press.query.clone(), chat: press.chat };
        applied.started += usize::from(jobs::add(tx, &job, now)?);
    }
    Ok(())
}

/// Stores the votes of a poll of the bot as the new text of its message.
fn take_in_poll(
    tx: &Writer<'_>,
    state: &PollState,
    there: Timestamp,
    applied: &mut Applied,
) -> chime_store::Result<()> {
    let sent = outbox::by_poll(tx, &state.id)?.and_then(|part| Some((part.outgoing.to.chat, part.message?)));
    if let Some((chat, message)) = sent
        && let (Some(row), Some(known)) = (chats::find(tx, chat)?, messages::find(tx, chat, message)?)
    {
        let voted = Message { text: state.poll.text(), edited_at: Some(there), ..known.message };
        messages::take_in(tx, &row, &voted)?;
        applied.touched.add(row.key, &voted);
    }
    Ok(())
}

/// Stores a thumbs-up or thumbs-down reaction on an answer of the bot as feedback. Ignores other reactions.
fn take_in_feedback(
    tx: &Writer<'_>,
    reaction: &Reaction,
    now: Timestamp,
    applied: &mut Applied,
) -> chime_store::Result<()> {
    let answer = outbox::by_message(tx, reaction.chat, reaction.message)?.and_then(|part| part.answer);
    if let (Some(answer), Some(by)) = (answer, reaction.by) {
        let chat = chats::find(tx, reaction.chat)?.map(|row| row.key);
        let is_out = chat.map_or(Ok(true), |chat| consent::opted_out(tx, chat, by).map(|out| out.is_some()))?;
        let is_good = reaction.emoji.iter().rev().find_map(|emoji| opinion(emoji)).filter(|_| !is_out);
        if feedback::set(tx, answer, by, is_good, now)? {
            applied.feedback.extend(is_good);
        }
    }
    Ok(())
}

fn opinion(emoji: &str) -> Option<bool> {
    match emoji {
        "👍" => Some(true),
        "👎" => Some(false),
        _ => None,
    }
}

/// Stores a message and starts its jobs. `edited_at` is the time of the edit if the message arrived as an edit.
fn take_in_message(
    tx: &Writer<'_>,
    arrival: &Arrival,
    edited_at: Option<Timestamp>,
    setting: &IntakeSettings,
    at: BothClocks,
    applied: &mut Applied,
) -> chime_store::Result<()> {
    let own = own_post(tx, arrival, setting)?;
    let arrival = own.as_ref().unwrap_or(arrival);
    let Arrival { chat, message, .. } = arrival;
    if authorize::admit(tx, arrival, setting, at.now)? == Access::Refused {
        return reject_message(tx, arrival, setting, at, applied);
    }
    let row = authorize::keep_chat(tx, chat)?;
    if chat.kind == ChatKind::Private {
        authorize::set_language_of_app(tx, row.key, arrival.language.as_deref())?;
    }
    // A message shows that the bot is in the chat. A message whose service part names the bot does not: it may report
    // that the bot was removed.
    if !row.is_present && !arrival.named.contains(&setting.bot.id) {
        chats::set_present(tx, row.key)?;
    }
    if shows_another_bot(arrival, setting.bot) {
        chats::set_other_bots(tx, row.key)?;
    }
    let was_for_us = edited_at.is_some() && was_trigger(tx, arrival, setting)?;
    let kept = strip(arrival, consent_filter::withheld(tx, &row, arrival)?);
    let is_parent_news = match &kept.parent {
        Some(Keep::Whole(parent)) => !matches!(messages::take_in(tx, &row, parent)?, TakenIn::Known(_)),
        Some(Keep::Stub(parent)) => messages::insert_stub(tx, &row, parent)?,
        None => false,
    };
    if let Some(parent) = arrival.parent.as_ref().filter(|_| is_parent_news) {
        applied.touched.add(row.key, parent);
    }
    let conversation = Conversation { chat: row.key, forum_topic: message.forum_topic };
    applied.heard.insert(conversation, false);
    if let (Some(forum_topic), Some(topic)) = (message.forum_topic, &arrival.topic) {
        match consent::is_withheld(tx, row.key, topic.given_in.as_deref().unwrap_or(message))? {
            true => topic_names::remove(tx, row.key, forum_topic, &topic.name)?,
            false => topic_names::set(tx, row.key, forum_topic, topic)?,
        }
    }
    let (is_news, words) = match &kept.message {
        Keep::Whole(message) => {
            let taken = messages::take_in(tx, &row, message)?;
            quotes_and_forwards::note_named(tx, row.key, taken.message().seq, &arrival.named)?;
            chats::upsert_member(tx, row.key, &message.sender)?;
            language::judge_as_it_grows(tx, &row, &taken)?;
            if setting.config.llm.transcribes() && memory_jobs::start_transcript(tx, &taken, at.now)? {
                applied.postponed = true;
            }
            if matches!(taken, TakenIn::New(_)) {
                applied.turns.add(row.key, message);
            }
            memory_jobs::cut_closed_topic(tx, row.key, message)?;
            (matches!(taken, TakenIn::New(_)), WordStorage::Stored)
        }
        Keep::Stub(message) => {
            consent::note_name(tx, &message.sender)?;
            (messages::insert_stub(tx, &row, message)?, WordStorage::Held)
        }
    };
    if let Some(left) = arrival.left {
        chats::set_left(tx, row.key, left)?;
    }
    if is_news || edited_at.is_some() {
        applied.touched.add(row.key, message);
    }
    let came = match (edited_at, is_news) {
        (Some(at), _) => ArrivalKind::Edited { at, was_for_us },
        (None, true) => ArrivalKind::New,
        (None, false) => ArrivalKind::Again,
    };
    let news = StoredArrival { chat: row.key, came, words };
    start_work(tx, arrival, news, setting, at, applied)?;
    if applied.heard.get(&conversation) == Some(&true) {
        language::judge_before_answering(tx, &row)?;
    }
    Ok(())
}

/// Returns the arrival with the bot as its author if Telegram copied a post of the bot from a channel into its group.
fn own_post(tx: &Writer<'_>, arrival: &Arrival, setting: &IntakeSettings) -> chime_store::Result<Option<Arrival>> {
    let Some((channel, post)) = arrival.message.copied_post() else { return Ok(None) };
    let Some(part) = outbox::by_message(tx, channel, post)? else { return Ok(None) };
    let mut own = arrival.clone();
    let bot = setting.bot;
    let me = Sender::person(bot.id, bot.name.clone());
    own.message.sender = Sender { username: Some(bot.username().to_owned()), is_bot: true, ..me };
    own.message.role = if part.answer.is_some() { Role::Assistant } else { Role::System };
    Ok(Some(own))
}

/// Stores a message from an unauthorised chat without its content, and schedules the notice to the chat.
fn reject_message(
    tx: &Writer<'_>,
    arrival: &Arrival,
    setting: &IntakeSettings,
    at: BothClocks,
    applied: &mut Applied,
) -> chime_store::Result<()> {
    let chat = arrival.chat.id;
    applied.refused_chats.insert(chat.0);
    if let Some(key) = authorize::store_stub(tx, arrival, setting)? {
        // The text is stored only until this job is done, as for a member who opted out.
        let news = StoredArrival { chat: key, came: ArrivalKind::New, words: WordStorage::Held };
        start_work(tx, arrival, news, setting, at, applied)?;
    }
    authorize::reject(tx, chat, at.now)?;
    applied.postponed = true;
    Ok(())
}

/// Telegram's lower limit for the usernames of bots, in characters. `/help@bot` names none.
const SHORTEST_USERNAME: usize = 5;

/// Returns `true` if a message shows that another bot is in the chat: the other bot was added, wrote, or was addressed
/// by a command such as `/help@other_bot`.
fn shows_another_bot(arrival: &Arrival, own: &BotIdentity) -> bool {
    let message = &arrival.message;
    let names_another = |word: &str| {
        let name = word.strip_prefix('/').and_then(|command| command.split_once('@')).map(|(_, name)| name);
        let is_bot = |name: &str| name.len() >= SHORTEST_USERNAME && name.to_lowercase().ends_with("bot");
        name.is_some_and(|name| is_bot(name) && !own.is_called(name))
    };
    arrival.joined_bots.iter().any(|joined| *joined != own.id)
        || (message.sender.is_bot && message.sender.id != own.id)
        || message.text.split_whitespace().any(names_another)
}

/// Schedules the privacy notice in a chat that the bot has joined. A chat gets it only once.
fn announce(
    tx: &Writer<'_>,
    chat: ChatId,
    setting: &IntakeSettings,
    now: Timestamp,
    applied: &mut Applied,
) -> chime_store::Result<()> {
    let Some(row) = chats::find(tx, chat)? else { return Ok(()) };
    if setting.config.privacy.announces && !announcements::is_told(tx, row.key)? {
        jobs::add_unless_due(tx, &JobPayload::Announce { chat }, now)?;
        applied.postponed = true;
    }
    Ok(())
}

fn note_membership(
    tx: &Writer<'_>,
    membership: &Membership,
    setting: &IntakeSettings,
    now: Timestamp,
    applied: &mut Applied,
) -> chime_store::Result<()> {
    if !membership.is_member {
        // When a group becomes a supergroup, the bot leaves the old id, but the chat continues under the new one and
        // must not count as left.
        if let Some(row) = chats::find(tx, membership.chat.id)?.filter(|row| row.chat.id == membership.chat.id) {
            chats::set_removed(tx, row.key, now)?;
            sessions::cut_all(tx, row.key, now)?;
            // The bot cannot send to this chat any more.
            jobs::end_all_of(tx, membership.chat.id)?;
        }
        return Ok(());
    }
    applied.postponed = true;
    match authorize::enter(tx, membership, setting, now)? {
        Access::Allowed => {
            if let Some(row) = chats::find(tx, membership.chat.id)? {
                chats::set_present(tx, row.key)?;
                // The bot may have become an admin, or may send again.
                chats::set_ephemeral_refused(tx, membership.chat.id, None)?;
                chats::set_sending_refused(tx, membership.chat.id, (!membership.may_send).then_some(now))?;
                authorize::set_language_of_app(tx, row.key, membership.language.as_deref())?;
                announce(tx, membership.chat.id, setting, now, applied)?;
            }
        }
        Access::Refused => {
            applied.refused_chats.insert(membership.chat.id.0);
        }
    }
    Ok(())
}

fn follow_migration(tx: &Writer<'_>, migration: Migration, applied: &mut Applied) -> chime_store::Result<()> {
    let before = chats::find(tx, migration.to)?;
    chat_migration::migrate(tx, migration)?;
    if let (Some(ended), Some(into)) = (before, chats::find(tx, migration.to)?) {
        applied.touched.move_to(ended.key, into.key);
    }
    outbox::redirect(tx, migration.from, migration.to)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::intake::read::read_batch;
    use chime_core::config::{Config, Settings};
    use chime_core::{ChatId, MessageId, UserId};
    use chime_store::Priority;
    use chime_store::testkit::new_store;
    use chime_telegram::RawUpdate;
    use std::sync::Arc;

    const NOW: Timestamp = Timestamp::from_secs(1_750_000_000);

    fn setting() -> IntakeSettings {
        let read = |name: &str| match name {
            "TELEGRAM_BOT_TOKEN" => Some("7:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned()),
            "ALLOWED_CHATS" => Some("*".to_owned()),
            _ => None,
        };
        let config = Config::load(&Settings::new(read)).unwrap();
        IntakeSettings {
            bot: Box::leak(Box::new(BotIdentity {
                id: UserId(7),
                usernames: vec!["bot".to_owned()],
                name: "Bot".to_owned(),
                reads_all_group_messages: true,
            })),
            config: Arc::new(config),
            claim: None,
            fetches_vectors: false,
        }
    }

    fn batch(texts: &[&str]) -> Vec<ReadUpdate> {
        let update = |(id, text): (usize, &&str)| {
            RawUpdate::parse(&format!(
                r#"{{"update_id":{id},"message":{{"message_id":{id},"date":1750000000,"text":"{text}",
                    "chat":{{"id":-100,"type":"supergroup","title":"Deploys"}},"from":{{"id":1,"first_name":"ann"}},
                    "entities":[{{"type":"mention","offset":0,"length":4}}]}}}}"#
            ))
        };
        read_batch((1..).zip(texts).map(update).collect(), UserId(7))
    }

    #[tokio::test]
    async fn an_update_that_cannot_be_stored_takes_no_other_with_it() {
        let (_folder, store) = new_store().await;
        let applied = store
            .write(Priority::Answering, |tx| {
                tx.execute_batch(
                    "CREATE TRIGGER poison BEFORE INSERT ON message WHEN new.text = 'poison'
                     BEGIN SELECT RAISE(FAIL, 'cannot be stored'); END",
                )?;
                apply(
                    tx,
                    &batch(&["first", "poison", "@bot last"]),
                    Some(4),
                    &setting(),
                    BothClocks { now: NOW, there: NOW },
                )
            })
            .await
            .unwrap();
        assert_eq!((applied.stored, applied.started, applied.parked.len()), (3, 1, 1));
        let kept = store
            .read(|conn| {
                let text = |id| messages::find(conn, ChatId(-100), MessageId(id));
                let texts = [text(1)?, text(2)?, text(3)?];
                Ok((texts.map(|found| found.map(|stored| stored.message.text)), inbox::counts(conn)?))
            })
            .await
            .unwrap();
        assert_eq!(kept, ([Some("first".to_owned()), None, Some("@bot last".to_owned())], (3, 1)));
    }
}
