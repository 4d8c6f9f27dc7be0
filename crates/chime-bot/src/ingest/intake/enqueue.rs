//! Enqueues the jobs that a stored message starts.

use crate::commands::handlers::remind;
use crate::ingest::intake::admission::{self, JobRequest, Start, TriggerLimit};
use crate::ingest::intake::album::{self, AlbumJobState};
use crate::ingest::intake::batch::{Applied, BothClocks};
use crate::ingest::intake::consent_filter;
use crate::ingest::intake::settings::IntakeSettings;
use crate::ingest::intake::split_question;
use crate::ingest::{ArrivalKind, ArrivedMessage, TriggerAction, task_for};
use crate::recap::{RecapArguments, RecapQuestion};
use chime_access::Access;
use chime_access::admission::served;
use chime_core::chat_settings::{AMBIENT, ChatSettings, NAME, REPLIES};
use chime_core::trigger::{self, Languages, Rules, Trigger, TriggerKind};
use chime_core::{
    AddressedBy, Arrival, BACKLOG_SETTLES, ChatId, ChatKey, CommandLimits, CommandName, Conversation, JobPayload,
    Language, Message, MessageAt, Role, Timestamp, UNANSWERED_AFTER, Zone,
};
use chime_store::outbox::Purpose;
use chime_store::{Writer, backlog, chat_settings, chats, consent, jobs, messages, outbox, scrub};

/// Storage of the words that a job needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordStorage {
    Stored,
    /// The text is not stored permanently, since the author opted out. It is kept until the job is done.
    Held,
}

/// Facts about a message that was just stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredArrival {
    pub chat: ChatKey,
    pub came: ArrivalKind,
    pub words: WordStorage,
}

pub fn start_work(
    tx: &Writer<'_>,
    arrival: &Arrival,
    news: StoredArrival,
    setting: &IntakeSettings,
    at: BothClocks,
    applied: &mut Applied,
) -> chime_store::Result<()> {
    let StoredArrival { chat: chat_key, came, words } = news;
    let message = &arrival.message;
    let mut found = find_trigger(tx, message, arrival, setting)?;
    let tag = match came == ArrivalKind::New && words == WordStorage::Stored {
        true => tag_before(tx, found.as_ref(), chat_key, arrival, setting)?,
        false => None,
    };
    if tag.is_some() && found.is_none() {
        found = Some(split_question::trigger(message));
    }
    let at_message = MessageAt { chat: message.chat, message: message.id };
    if found.as_ref().is_some_and(is_only_for_bot) {
        messages::mark_trigger(tx, at_message)?;
    }
    match &found {
        // The edit removed the mention of the bot. If the answer is not cancelled, the whole text is the question.
        None if message.edited_at.is_some() => jobs::replace(tx, &album::answer_to(at_message))?,
        Some(Trigger { kind: TriggerKind::Command(CommandName::Remind, ask), .. }) if message.edited_at.is_some() => {
            applied.postponed |= remind::follow_edit(tx, message, ask, setting.config.time.zone, at.now)?;
        }
        Some(_) | None => {}
    }
    let said = ArrivedMessage { at: at_message, sent_at: message.sent_at, came };
    match task_for(found.as_ref(), said, at.there, setting.config.ingest.backlog_max_age) {
        TriggerAction::Nothing if came == ArrivalKind::New && words == WordStorage::Stored && found.is_none() => {
            applied.postponed |= watch_question(tx, arrival, chat_key, at)?;
        }
        TriggerAction::Nothing => {}
        // Only the asker sees it, and an answer would be for everybody.
        TriggerAction::Start(JobPayload::Answer { .. }) if message.id.ephemeral_number().is_some() => {}
        TriggerAction::Start(job @ JobPayload::Answer { .. }) if message.album.is_some() => {
            start_album(tx, arrival, news, job, setting, at, applied)?;
        }
        TriggerAction::CountAsOld if is_of_counted_album(tx, arrival, setting)? => {}
        TriggerAction::Start(job) => {
            let is_always_taken = match &found {
                Some(found) => is_always_taken(tx, arrival.chat.id, &found.kind)?,
                None => false,
            };
            let is_counted = tag.map_or(Ok(false), |tag| split_question::supersede(tx, tag))?;
            let limit = match setting.config.limits.rate {
                Some(rate) if !is_always_taken && !is_counted => TriggerLimit::Usual(rate),
                Some(_) if is_always_taken => TriggerLimit::Controls,
                Some(_) | None => TriggerLimit::Unlimited,
            };
            let settles = found.as_ref().is_some_and(|found| split_question::awaits_question(found, message));
            let due_at = if settles { at.now.plus(split_question::SETTLES) } else { at.now };
            match admission::start(tx, JobRequest { job, chat: chat_key, message }, limit, due_at)? {
                Start::Known => {}
                Start::Started => {
                    if let Some(Trigger { kind: TriggerKind::Command(command, _), .. }) = &found {
                        applied.postponed |= consent_filter::apply_command(tx, *command, arrival, chat_key, at.now)?;
                    }
                    hold(tx, message, words, at)?;
                    applied.started += 1;
                    applied.heard.insert(Conversation { chat: chat_key, forum_topic: message.forum_topic }, true);
                }
                Start::Refused(because) => {
                    applied.started += 1;
                    applied.refused.push((message.chat, because));
                }
            }
        }
        TriggerAction::CountAsOld => {
            backlog::count_one(tx, message.chat, message.forum_topic, at.now.plus(BACKLOG_SETTLES))?;
            applied.postponed = true;
        }
    }
    Ok(())
}

fn is_only_for_bot(found: &Trigger) -> bool {
    match found.how {
        AddressedBy::Private => false,
        // A reply to an answer may also correct it: "no, it was moved to Friday".
        AddressedBy::Reply => found.generic || Languages::shipped().is_question(&found.ask),
        AddressedBy::Mention | AddressedBy::Command => true,
    }
}

/// Enqueues a job that answers a question to the chat if it stays unanswered. The job is due when the question counts
/// as unanswered. Returns `false` if the admins have not switched this on or if the message is no such question.
fn watch_question(tx: &Writer<'_>, arrival: &Arrival, chat: ChatKey, at: BothClocks) -> chime_store::Result<bool> {
    let message = &arrival.message;
    let is_own = message.role == Role::User && !message.sender.is_bot && message.forward_origin.is_none();
    let is_question = message.text.contains(trigger::QUESTION_MARKS) && Languages::shipped().is_question(&message.text);
    if !is_own || !is_question || trigger::calls_bot(&message.text) {
        return Ok(false);
    }
    if chat_settings::get(tx, Conversation { chat, forum_topic: message.forum_topic }, AMBIENT)? != Some(true) {
        return Ok(false);
    }
    let job = JobPayload::Ambient { at: MessageAt { chat: message.chat, message: message.id } };
    jobs::add(tx, &job, at.now.plus(UNANSWERED_AFTER))
}

/// Enqueues the answer to an album, if no other message of the album has done so. The job is delayed until the whole
/// album has arrived.
fn start_album(
    tx: &Writer<'_>,
    arrival: &Arrival,
    StoredArrival { chat, words, .. }: StoredArrival,
    job: JobPayload,
    setting: &IntakeSettings,
    at: BothClocks,
    applied: &mut Applied,
) -> chime_store::Result<()> {
    let message = &arrival.message;
    let started = match album::begun(tx, message, at.now)? {
        AlbumJobState::Done => false,
        AlbumJobState::Wordless(..) if message.text.is_empty() => false,
        AlbumJobState::Wordless(wordless, due_at) => {
            album::take_over(tx, wordless, &job, due_at)?;
            true
        }
        AlbumJobState::Nothing => {
            let request = JobRequest { job, chat, message };
            match admission::start(tx, request, setting.config.limits.rate.into(), at.now.plus(album::SETTLES))? {
                Start::Known => false,
                Start::Started => true,
                Start::Refused(because) => {
                    applied.refused.push((message.chat, because));
                    applied.postponed = true;
                    false
                }
            }
        }
    };
    if started {
        hold(tx, message, words, at)?;
        applied.postponed = true;
        applied.heard.insert(Conversation { chat, forum_topic: message.forum_topic }, true);
    }
    Ok(())
}

/// Keeps words that must not be stored until the job that needs them is done. They are then deleted, and the scrub
/// overwrites what is left of them in the database files.
fn hold(tx: &Writer<'_>, message: &Message, words: WordStorage, at: BothClocks) -> chime_store::Result<()> {
    if words == WordStorage::Stored {
        return Ok(());
    }
    consent::hold(tx, message)?;
    scrub::want(tx, at.now)?;
    jobs::add_unless_due(tx, &JobPayload::Scrub {}, at.now.plus(scrub::HELD_FOR))
}

/// Returns `true` if the rate limit has already counted another message of the same album.
fn is_of_counted_album(tx: &Writer<'_>, arrival: &Arrival, setting: &IntakeSettings) -> chime_store::Result<bool> {
    let Some(album) = &arrival.message.album else { return Ok(false) };
    for mate in messages::album(tx, arrival.message.chat, album)? {
        let is_other = mate.message.id != arrival.message.id;
        if is_other && find_trigger(tx, &mate.message, arrival, setting)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the earlier message that only mentions the bot and to which this message, in which the trigger was `found`,
/// adds the question, if there is one.
fn tag_before(
    tx: &Writer<'_>,
    found: Option<&Trigger>,
    chat: ChatKey,
    arrival: &Arrival,
    setting: &IntakeSettings,
) -> chime_store::Result<Option<MessageAt>> {
    let conversation = Conversation { chat, forum_topic: arrival.message.forum_topic };
    let as_trigger = |earlier: &Message| find_trigger(tx, earlier, arrival, setting);
    match found {
        None => split_question::tag_before(tx, &arrival.message, conversation, as_trigger),
        Some(found) if split_question::asks(found) => {
            split_question::bare_tag_before(tx, &arrival.message, conversation, as_trigger)
        }
        Some(_) => Ok(None),
    }
}

/// Returns `true` if an edited message was a trigger before the edit.
pub fn was_trigger(tx: &Writer<'_>, arrival: &Arrival, setting: &IntakeSettings) -> chime_store::Result<bool> {
    match messages::find_any(tx, arrival.message.chat, arrival.message.id)? {
        Some(known) => Ok(find_trigger(tx, &known.message, arrival, setting)?.is_some()),
        None => Ok(false),
    }
}

/// Returns the trigger in `message`, or `None`. `message` is the arriving one, or another of the same chat with the
/// same parent.
fn find_trigger(
    tx: &Writer<'_>,
    message: &Message,
    arrival: &Arrival,
    setting: &IntakeSettings,
) -> chime_store::Result<Option<Trigger>> {
    if let Some((channel, _)) = message.copied_post()
        && let Some(row) = chats::find(tx, channel)?.filter(|row| row.is_present)
        && served(tx, &row.chat, message.sender.id, &setting.config.access)? == Access::Allowed
    {
        // The bot gets the post itself too, and answers that.
        return Ok(None);
    }
    let parent = arrival.parent.as_ref();
    // An ephemeral command was sent to this bot alone.
    let is_only_bot = message.id.ephemeral_number().is_some() || !chats::has_other_bots(tx, arrival.chat.id)?;
    let settings = match chats::find(tx, arrival.chat.id)? {
        Some(row) => chat_settings::load(tx, Conversation { chat: row.key, forum_topic: message.forum_topic })?,
        None => ChatSettings::default(),
    };
    let called = settings.get(NAME).map(|name| name.0);
    let rules = Rules {
        parent_is_answer: settings.get(REPLIES).unwrap_or(true) && is_answer(tx, parent)?,
        is_only_bot,
        said_before: None,
        called: called.as_deref(),
    };
    let found = trigger::find(message, parent, setting.bot, arrival.chat.kind, &rules);
    let is_wordless = |ask: &str| !ask.is_empty() && !ask.contains(char::is_alphanumeric);
    let depends = |found: &Trigger| found.kind == TriggerKind::Thanks || is_wordless(&found.ask);
    if !found.as_ref().is_some_and(|found| depends(found) && message.reply_to.is_none()) {
        return Ok(found);
    }
    // What looks like thanks may be the reply to a question that the bot asked, and an emoji is thanks after its answer.
    let said_before = answer_before(tx, message)?;
    let rules = Rules { said_before: said_before.as_ref(), ..rules };
    Ok(trigger::find(message, parent, setting.bot, arrival.chat.kind, &rules))
}

/// Returns the answer that the bot gave just before the message. A short message that is no reply may refer to it.
fn answer_before(tx: &Writer<'_>, message: &Message) -> chime_store::Result<Option<Message>> {
    /// Number of messages searched: in a group others may have written since the answer.
    const JUST_BEFORE: usize = 3;
    let Some(row) = chats::find(tx, message.chat)? else { return Ok(None) };
    let conversation = Conversation { chat: row.key, forum_topic: message.forum_topic };
    let before = messages::before(tx, conversation, (message.sent_at, message.id), JUST_BEFORE)?;
    let own = before.into_iter().map(|stored| stored.message).filter(|said| said.role == Role::Assistant);
    let Some(last) = own.max_by_key(|said| said.id.0) else { return Ok(None) };
    Ok(if is_answer(tx, Some(&last))? { Some(last) } else { None })
}

/// Returns `true` if the parent is an answer or a recap by the bot. Notices and replies to other commands do not count.
fn is_answer(tx: &Writer<'_>, parent: Option<&Message>) -> chime_store::Result<bool> {
    let Some(parent) = parent else { return Ok(false) };
    let part = outbox::by_message(tx, parent.chat, parent.id)?;
    match part.map(|part| part.purpose) {
        Some(Purpose::Answer) => Ok(true),
        Some(Purpose::Command) => outbox::is_recap(tx, parent.chat, parent.id),
        Some(Purpose::Notice | Purpose::Reminder) | None => Ok(false),
    }
}

/// Returns `true` if the usual rate limit does not apply to the trigger.
fn is_always_taken(tx: &Writer<'_>, chat: ChatId, kind: &TriggerKind) -> chime_store::Result<bool> {
    Ok(match kind {
        // A subscription is a setting of admins, a recap is not.
        TriggerKind::Command(CommandName::Recap, args) => {
            let row = chats::find(tx, chat)?;
            let languages = row.map_or([Language::DEFAULT; 2], |row| [row.speaks(), row.language]);
            // Whether it subscribes does not depend on the time.
            let asked =
                RecapQuestion { languages, asked_at: Timestamp::from_secs(0), zone: Zone::UTC, is_reply: false };
            let args = RecapArguments::parse(args, asked);
            matches!(args, RecapArguments::Subscribe(_) | RecapArguments::Unsubscribe)
        }
        TriggerKind::Command(command, _) => command.limits() != CommandLimits::Limited,
        TriggerKind::Ask | TriggerKind::Thanks => false,
    })
}
