//! `/remind` and `/reminders`: sets, lists, cancels and sends reminders.

use std::time::Duration;

use chrono::{Datelike, Timelike, Weekday};

use crate::commands::handlers::{CommandRequest, Commands, Shown, in_plain_words, reply_to};
use crate::commands::search::own_words;
use crate::recap::RecapTime;
use crate::recap::wording::in_words;
use chime_access::Access;
use chime_access::admission::served;
use chime_answer::answering::{format_own, format_parts};

use chime_answer::sanitize::{escape_markdown, one_line};
use chime_core::chat_settings::ChatSettings;
use chime_core::texts::{ReminderTexts, Texts, filled, notices, texts};
use chime_core::trigger::Languages;
use chime_core::{
    Button, ChatId, Conversation, Job, Message, MessageId, ReplyTarget, Sender, StoredMessage, Timestamp, Zone,
    message_link, stems,
};
use chime_jobs::{Base, JobOutcome, JobResult};
use chime_relevance::retrieval::reminder_times::Repeat;
use chime_relevance::retrieval::{AskedTime, ReminderTime, reminder_task, reminder_time};
use chime_store::chats::ChatRow;
use chime_store::outbox::{NewReply, Purpose};
use chime_store::reminders::{self, Reminder, RepeatTime};
use chime_store::{Priority, Reader, Writer, chat_settings, chats, consent, messages, outbox};

/// Maximum number of reminders of a member in all chats.
const MOST: usize = 20;
/// Maximum number of reminders in a list.
const LISTED: usize = 20;
/// A reminder that is sent later than this after its time says so.
const LATE: Duration = Duration::from_secs(2 * 60);
/// Maximum number of characters shown of a reminder, and of one in a list.
const SHOWN_CHARS: usize = 1000;
const LISTED_CHARS: usize = 120;
/// Start of the data of each button.
const PREFIX: &str = "reminder";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CancelButton {
    id: i64,
    /// `true` if it is below a list, which is then shown again.
    is_in_list: bool,
}

impl CancelButton {
    fn data(self) -> String {
        format!("{PREFIX}:{}:{}", self.id, if self.is_in_list { "list" } else { "one" })
    }

    pub(super) fn parse(data: &str) -> Option<Self> {
        let (id, place) = data.strip_prefix(PREFIX)?.strip_prefix(':')?.split_once(':')?;
        Some(Self { id: id.parse().ok()?, is_in_list: place == "list" })
    }
}

/// Returns `true` for "delete 1", "cancel" and "off", which set no reminder.
fn asks_to_cancel(ask: &str) -> bool {
    const OTHERS: [&str; 3] = ["cancel", "stop", "off"];
    let mut words = ask.split_whitespace();
    let first = words.next().unwrap_or_default().to_lowercase();
    let is_cancel = OTHERS.contains(&first.as_str()) || Languages::shipped().without_delete(&first).is_some();
    is_cancel && words.nth(1).is_none()
}

impl Commands {
    /// Sets a reminder. A request in plain words that names no time is a question, which gets an answer.
    pub(super) async fn remind(&self, job: &Job, command: CommandRequest) -> JobResult {
        let (message, zone) = (&command.message.message, command.settings.zone(self.base.zone()));
        let texts = &command.texts().reminders;
        let (ask, language) = (&command.args, command.chat.language);
        let is_list = |texts: &ReminderTexts| ask.trim().to_lowercase() == texts.list;
        if is_list(texts) || is_list(&chime_core::texts::texts("eng").reminders) {
            return self.list_reminders(job, command).await;
        }
        let time = match reminder_time(ask, language, message.sent_at, zone) {
            AskedTime::Time(time) => time,
            AskedTime::Unsupported => {
                return self.say(job, &command, format!("{} {}", texts.unsupported, texts.how)).await;
            }
            AskedTime::Unreadable => {
                return self.say(job, &command, format!("{} {}", texts.unreadable, texts.how)).await;
            }
            AskedTime::Past => return self.say(job, &command, format!("{} {}", texts.past, texts.how)).await,
            // "/remind cancel".
            AskedTime::None if in_plain_words(job).is_none() && asks_to_cancel(ask) => {
                return self.list_reminders(job, command).await;
            }
            AskedTime::None => {
                return match in_plain_words(job) {
                    Some(answer) => self.hand_on(job, answer).await,
                    None => self.say(job, &command, &texts.how).await,
                };
            }
        };
        let (chat, sender) = (command.chat.key, message.sender.id);
        let read =
            move |conn: &Reader| Ok((consent::opted_out(conn, chat, sender)?, reminders::count_of(conn, sender)?));
        let (out, count) = self.base.store.read(read).await?;
        if out.is_some() {
            return self.say(job, &command, &texts.opted_out).await;
        }
        if count >= MOST {
            return self.say(job, &command, filled(&texts.full, &[("n", &MOST.to_string())])).await;
        }
        let reminder = reminder_of(&command.message, time, zone);
        self.confirm_reminder(job, &command, reminder, confirmation(&time, &reminder, zone, command.texts())).await
    }

    /// Stores the reminder, its job and the confirmation in one transaction.
    async fn confirm_reminder(
        &self,
        job: &Job,
        command: &CommandRequest,
        reminder: Reminder,
        sentence: String,
    ) -> JobResult {
        let reply = reply_to(job, &command.message, format_own(&sentence));
        let (label, now) = (command.texts().reminders.cancel_button.clone(), self.base.clock.now());
        self.finish_with(job, move |tx| {
            let id = reminders::set(tx, &reminder)?;
            let data = CancelButton { id, is_in_list: false }.data();
            outbox::add(tx, &NewReply { buttons: vec![vec![Button { label, data }]], ..reply }, now)
        })
        .await
    }

    pub(super) async fn list_reminders(&self, job: &Job, command: CommandRequest) -> JobResult {
        let named = Languages::shipped().reminder_named(&command.args);
        let shown = self.reminders_of(&command.chat, &command.settings, named).await?;
        if shown.rests_on.is_empty() {
            return self.say(job, &command, &command.texts().reminders.none).await;
        }
        self.answer_showing(job, &command, shown).await
    }

    /// Returns the list of reminders that have words of `named`, or of all if none has any.
    async fn reminders_of(&self, chat: &ChatRow, settings: &ChatSettings, named: String) -> chime_store::Result<Shown> {
        let (row, base, zone) = (chat.clone(), self.base.clone(), settings.zone(self.base.zone()));
        let texts = texts(chat.speaks().code());
        let work = move |conn: &Reader| {
            let mut shown = Shown::of_chat(row.key);
            let mut lines = vec![format!("{}\n", texts.reminders.head)];
            let named = stems(&named, row.language);
            let mut found = Vec::new();
            for (id, reminder) in reminders::of_chat(conn, row.key)? {
                let words = task(conn, &base, &row, &reminder)?;
                let said = stems(&words, row.language);
                found.push((named.iter().filter(|stem| said.contains(stem)).count(), id, reminder, words));
            }
            let most = found.iter().map(|(shared, ..)| *shared).max();
            found.retain(|(shared, ..)| Some(*shared) == most);
            for (number, (_, id, reminder, words)) in (1..).zip(found).take(LISTED) {
                let words = escape_markdown(&one_line(&words, LISTED_CHARS));
                let link = link(&row, &reminder, reminder.began);
                let time = format!("{} {}", texts.date_of(reminder.due_at, zone), zone.told_time(reminder.due_at));
                let time = link.as_ref().map_or_else(|| time.clone(), |link| format!("[{time}]({link})"));
                lines.push(format!("{number}. {time}{}: {words}", repetition(&reminder, zone, texts)));
                let data = CancelButton { id, is_in_list: true }.data();
                shown.buttons.push(vec![Button { label: format!("{} {number}", texts.reminders.cancel_button), data }]);
                shown.links.extend(link);
                shown.rests_on.push(reminder.seq);
            }
            shown.markdown = if lines.len() > 1 { lines.join("\n") } else { texts.reminders.none.clone() };
            Ok(shown)
        };
        self.base.store.read(work).await
    }

    /// Handles a press on a button that cancels a reminder.
    pub(super) async fn cancel_reminder(
        &self,
        job: &Job,
        press: &chime_core::Press,
        chat: &ChatRow,
        settings: &ChatSettings,
        button: CancelButton,
    ) -> JobResult {
        let texts = texts(chat.speaks().code());
        let found = self.base.store.read(move |conn| reminders::find(conn, button.id)).await?;
        // The id in the data may be of another chat.
        let found = found.filter(|reminder| reminder.chat == chat.key);
        if let Some(reminder) = found {
            if reminder.asked_by != press.by
                && let Some(refusal) = self.refusal_to_change(chat, press.by, &texts.reminders.only_theirs).await?
            {
                return self.refuse(job, press, &refusal).await;
            }
            self.base.store.write(Priority::Answering, move |tx| reminders::remove(tx, button.id)).await?;
        } else if !button.is_in_list {
            return self.refuse(job, press, &notices(chat.speaks().code()).unknown_button).await;
        }
        let shown = if button.is_in_list {
            self.reminders_of(chat, settings, String::new()).await?
        } else {
            Shown::of_chat(chat.key)
        };
        let parts = match button.is_in_list {
            true => format_parts(&shown.markdown, &shown.urls(), &[]),
            false => format_own(&texts.reminders.cancelled),
        };
        let again = self.edit(press, &parts, &shown.buttons).await;
        self.confirm_shown(job, press, again).await
    }

    /// Handles the periodic `reminders` job: sends the reminders that are due and sets their next times. In a chat that
    /// the bot has left, they wait until it comes back.
    pub async fn send_due_reminders(&self) -> JobResult {
        let now = self.base.clock.now();
        for (id, reminder) in self.base.store.read(move |conn| reminders::due(conn, now)).await? {
            let base = self.base.clone();
            let read = move |conn: &Reader| {
                let Some(chat) = chats::by_key(conn, reminder.chat)? else { return Ok(None) };
                if served(conn, &chat.chat, reminder.asked_by, &base.config.access)? == Access::Refused {
                    return Ok(None);
                }
                let conversation = Conversation { chat: reminder.chat, forum_topic: reminder.forum_topic };
                let zone = chat_settings::zone(conn, conversation, base.zone())?;
                let words = task(conn, &base, &chat, &reminder)?;
                let member = chats::members(conn, reminder.chat)?.into_iter().find(|it| it.id == reminder.asked_by);
                Ok(Some((chat, zone, words, member.map(|member| member.name).unwrap_or_default())))
            };
            let Some((chat, zone, words, name)) = self.base.store.read(read).await? else { continue };
            let (markdown, links) = due_text(&reminder, &chat, zone, &words, &name, now);
            let urls: Vec<&str> = links.iter().map(String::as_str).collect();
            // In a chat with a new id, the message has another one too.
            let reply_to = (chat.chat.id == reminder.asked_in).then_some(reminder.message);
            let to = ReplyTarget { chat: chat.chat.id, forum_topic: reminder.forum_topic, reply_to };
            let key = format!("reminder:{id}:{}", reminder.due_at.millis());
            let reply = NewReply::own(Purpose::Reminder, key, to, format_parts(&markdown, &urls, &[]));
            let next = next(&reminder, now, zone);
            self.base.store.write(Priority::Answering, move |tx| send(tx, id, &reminder, &reply, next, now)).await?;
            self.base.wake.wake();
        }
        Ok(JobOutcome::UntilNextRun)
    }
}

fn reminder_of(request: &StoredMessage, time: ReminderTime, zone: Zone) -> Reminder {
    let (message, local) = (&request.message, zone.local(time.at));
    let minute = u16::try_from(local.hour() * 60 + local.minute()).unwrap_or(0);
    let weekday = |day: Weekday| u8::try_from(day.num_days_from_monday()).unwrap_or(0);
    Reminder {
        chat: request.chat,
        forum_topic: message.forum_topic,
        asked_by: message.sender.id,
        seq: request.seq,
        asked_in: message.chat,
        message: message.id,
        began: message.reply_to.unwrap_or(message.id),
        due_at: time.at,
        repeat: time.repeat.map(|repeat| match repeat {
            Repeat::Daily => RepeatTime { weekday: None, minute },
            Repeat::Weekly(day) => RepeatTime { weekday: Some(weekday(day)), minute },
        }),
        until: time.until,
    }
}

/// Moves a reminder to the time that its edited request `ask` names, and confirms it with a message. The old time stays
/// if the request names none that can be read. Returns `true` if it was moved.
pub fn follow_edit(
    tx: &Writer<'_>,
    edited: &Message,
    ask: &str,
    operators_zone: Zone,
    now: Timestamp,
) -> chime_store::Result<bool> {
    let Some(request) = messages::find(tx, edited.chat, edited.id)? else { return Ok(false) };
    let Some((id, old)) = reminders::of_message(tx, request.chat, request.seq)? else { return Ok(false) };
    let Some(chat) = chats::by_key(tx, request.chat)? else { return Ok(false) };
    let zone = chat_settings::zone(tx, request.conversation(), operators_zone)?;
    let AskedTime::Time(time) = reminder_time(ask, chat.language, edited.sent_at, zone) else {
        return Ok(false);
    };
    let reminder = reminder_of(&request, time, zone);
    let due_at = if time.at > now { Some(time.at) } else { next(&reminder, now, zone) };
    let Some(due_at) = due_at else { return Ok(false) };
    let (time, reminder) = (ReminderTime { at: due_at, ..time }, Reminder { due_at, ..reminder });
    if reminder == old {
        return Ok(false);
    }
    reminders::set_time(tx, id, &reminder)?;
    let texts = texts(chat.speaks().code());
    let to = ReplyTarget { chat: edited.chat, forum_topic: edited.forum_topic, reply_to: Some(edited.id) };
    let key = format!("reminder:{id}:edited:{}:{}", now.millis(), due_at.millis());
    let parts = format_own(&confirmation(&time, &reminder, zone, texts));
    let label = texts.reminders.cancel_button.clone();
    let buttons = vec![vec![Button { label, data: CancelButton { id, is_in_list: false }.data() }]];
    outbox::add(tx, &NewReply { buttons, ..NewReply::own(Purpose::Command, key, to, parts) }, now)?;
    Ok(true)
}

/// Returns the text of a due reminder and the links in it.
fn due_text(
    reminder: &Reminder,
    chat: &ChatRow,
    zone: Zone,
    words: &str,
    name: &str,
    now: Timestamp,
) -> (String, Vec<String>) {
    let texts = texts(chat.speaks().code());
    let words = escape_markdown(&one_line(words, SHOWN_CHARS));
    let is_late = now.since(reminder.due_at) > LATE;
    let text = if is_late { &texts.reminders.late } else { &texts.reminders.due };
    let (day, time) = (texts.date_of(reminder.due_at, zone), zone.told_time(reminder.due_at));
    // The words are inserted last: they may look like placeholders.
    let blanks = [("day", day.as_str()), ("time", &time), ("name", &escape_markdown(name)), ("words", words.as_str())];
    let sentence = filled(text, &blanks);
    match link(chat, reminder, reminder.began) {
        Some(link) => (format!("{sentence}\n\n[{}]({link})", texts.reminders.began), vec![link]),
        None => (sentence, Vec::new()),
    }
}

/// Returns the words of a request for a reminder, without the time behind `/remind`; none if the request is not stored.
fn task(conn: &Reader, base: &Base, chat: &ChatRow, reminder: &Reminder) -> chime_store::Result<String> {
    let Some(asked) = messages::by_seq(conn, reminder.chat, reminder.seq)? else { return Ok(String::new()) };
    let settings = chat_settings::load(conn, asked.conversation())?;
    let words = own_words(&asked.message.text, base.bot(), &settings);
    Ok(reminder_task(&words, chat.language, asked.message.sent_at, settings.zone(base.zone())).to_owned())
}

/// Stores the text of a due reminder for sending, and its next time, unless it was cancelled or forgotten meanwhile.
fn send(
    tx: &Writer<'_>,
    id: i64,
    reminder: &Reminder,
    reply: &NewReply,
    next: Option<Timestamp>,
    now: Timestamp,
) -> chime_store::Result<()> {
    if reminders::find(tx, id)?.as_ref() != Some(reminder) {
        return Ok(());
    }
    outbox::note_uses(tx, &reply.key, reminder.chat, [reminder.seq])?;
    outbox::add(tx, reply, now)?;
    match next {
        Some(next) => reminders::set_due(tx, id, next),
        None => reminders::remove(tx, id),
    }
}

/// Returns how a reminder repeats, to follow its next time: ", every Monday at 09:00 – 1 Jun 2027".
fn repetition(reminder: &Reminder, zone: Zone, texts: &Texts) -> String {
    let Some(repeat) = reminder.repeat else { return String::new() };
    let last = reminder.until.map(|until| format!(" – {}", last_day(until, zone, texts)));
    format!(", {}{}", in_words(recap_time(repeat), texts), last.unwrap_or_default())
}

/// Returns the last day of a repetition that ends before `until`.
fn last_day(until: Timestamp, zone: Zone, texts: &Texts) -> String {
    texts.date_of(until.minus(Duration::from_secs(60 * 60)), zone)
}

fn recap_time(repeat: RepeatTime) -> RecapTime {
    RecapTime { weekday: repeat.weekday.and_then(|day| Weekday::try_from(day).ok()), minute: repeat.minute }
}

/// Returns the time after `now` at which a reminder is due again. Times that were missed are skipped.
fn next(reminder: &Reminder, now: Timestamp, zone: Zone) -> Option<Timestamp> {
    let next = recap_time(reminder.repeat?).next(now.max(reminder.due_at), zone)?;
    reminder.until.is_none_or(|until| next < until).then_some(next)
}

/// Returns the line that confirms a reminder, with its time written out.
fn confirmation(time: &ReminderTime, reminder: &Reminder, zone: Zone, texts: &Texts) -> String {
    let own = &texts.reminders;
    let (text, every) = match reminder.repeat.map(|repeat| repeat.weekday) {
        None => (&own.set, ""),
        Some(None) => (&own.set_daily, ""),
        Some(Some(day)) => (&own.set_weekly, texts.recap.days[usize::from(day) % 7].as_str()),
    };
    let (clock, zone_name) = (zone.clock_time(time.at), zone.name());
    let day_of_week = zone.local(time.at).weekday().num_days_from_monday() as usize;
    let weekday = own.weekdays[day_of_week % 7].as_str();
    let day = texts.date_of(time.at, zone);
    let blanks = [("every", every), ("weekday", weekday), ("day", &day), ("time", &clock), ("zone", zone_name)];
    let sentence = filled(text, &blanks);
    match time.until {
        Some(until) => format!("{sentence} {}", filled(&own.last_day, &[("day", &last_day(until, zone, texts))])),
        None => sentence,
    }
}

/// Returns the link to a message of the chat in which the reminder was requested. `None` if the chat has had another id
/// since.
fn link(chat: &ChatRow, reminder: &Reminder, message: MessageId) -> Option<String> {
    let at: ChatId = reminder.asked_in;
    let sender = Sender::person(reminder.asked_by, "");
    let message = Message { forum_topic: reminder.forum_topic, ..Message::new(at, message, sender, reminder.due_at) };
    message_link(&chat.chat, &message)
}
