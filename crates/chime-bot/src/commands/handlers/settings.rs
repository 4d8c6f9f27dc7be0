//! `/settings`: shows the panel with the chat's settings, and makes the changes of its buttons.

use crate::commands::handlers::{CommandRequest, Commands, reply_to};
use crate::commands::panel::{Panel, SettingChange, memory_question};
use chime_access::admission::is_owner;
use chime_answer::answering::format_own;
use chime_answer::plain::escape_markdown;
use chime_core::chat_settings::{DEFAULT, MEMORY, SettingEntry};
use chime_core::texts::{filled, notices, texts};
use chime_core::{Button, ChatId, ChatKey, Conversation, Job, Press, Timestamp, UserId, clip};
use chime_jobs::{JobError, JobResult};
use chime_store::chats::ChatRow;
use chime_store::outbox::NewReply;
use chime_store::{Priority, Writer, button_presses, chat_settings, chats, memory};

impl Commands {
    pub(super) async fn show_settings(&self, job: &Job, order: CommandRequest) -> JobResult {
        let message = &order.message.message;
        let may_change = self.may_change(message.chat, message.sender.id).await?;
        if let Some((entry, value)) = setting_asked(&order.args) {
            if !may_change {
                return self.say(job, &order, &notices(order.chat.speaks().code()).admins_only).await;
            }
            return self.set_by_words(job, &order, entry, value).await;
        }
        let panel = self.panel(&order.chat);
        let buttons = if may_change { panel.buttons(order.texts()) } else { Vec::new() };
        self.offer(job, &order, &panel.markdown(may_change, order.texts()), buttons).await
    }

    /// Replies to a command with a text and buttons.
    pub(super) async fn offer(
        &self,
        job: &Job,
        order: &CommandRequest,
        markdown: &str,
        buttons: Vec<Vec<Button>>,
    ) -> JobResult {
        let own = reply_to(job, &order.message, format_own(markdown));
        self.settle(job, NewReply { buttons, ..own }, |_| Ok(())).await
    }

    /// Sets a setting to a value that an admin typed. The value `default` goes back to the operator's.
    async fn set_by_words(
        &self,
        job: &Job,
        order: &CommandRequest,
        entry: &'static SettingEntry,
        value: &str,
    ) -> JobResult {
        let texts = order.texts();
        let default = (entry.default)(&self.defaults, order.chat.chat.kind);
        let is_default = value.eq_ignore_ascii_case(DEFAULT);
        let (Some(default), Some(chosen)) =
            (default, if is_default { Some(DEFAULT.to_owned()) } else { (entry.parse)(value) })
        else {
            let told = entry.text("unknown", texts).unwrap_or(&texts.settings.unknown);
            let told = filled(told, &[("value", &escape_markdown(&clip(value, LONGEST_VALUE)))]);
            return self.say(job, order, told).await;
        };
        let change = SettingChange::Set(entry, chosen.clone());
        if change.ends_memory() && self.has_memory(order.chat.key).await? {
            let (question, buttons) = memory_question(texts);
            return self.offer(job, order, question, buttons).await;
        }
        let current = if is_default { default } else { chosen };
        let told = match entry.text("set", texts) {
            Some(told) => filled(told, &[("value", &(entry.shown)(&current, texts))]),
            None => entry.line(&current, texts),
        };
        let key = order.chat.key;
        self.answer(job, order, &told, move |tx| write(tx, key, &change)).await
    }

    pub(super) async fn change(&self, job: &Job, press: &Press, chat: &ChatRow, change: SettingChange) -> JobResult {
        if !self.may_change(press.chat, press.by).await? {
            return self.refuse(job, press, &notices(chat.speaks().code()).admins_only).await;
        }
        if change.ends_memory() && self.has_memory(chat.key).await? {
            let (question, buttons) = memory_question(texts(chat.speaks().code()));
            let again = self.edit(press, &format_own(question), &buttons).await;
            return self.confirm_shown(job, press, again).await;
        }
        let (key, query) = (chat.key, press.query.clone());
        // Change and end of the job are one transaction: if the job ran twice, its second run could undo a later press.
        let written = move |tx: &Writer<'_>| {
            write(tx, key, &change)?;
            button_presses::ask_for(tx, &query, &SettingChange::Nothing.data())
        };
        self.store.write(Priority::Answering, written).await?;
        // Loads the chat again, because the change may have been its language.
        let chat = self.store.read(move |conn| chats::by_key(conn, key)).await?.unwrap_or_else(|| chat.clone());
        let again = self.show_again(press, &chat).await?;
        self.confirm_shown(job, press, again).await
    }

    /// Returns `true` if turning memory off would delete anything.
    pub(super) async fn has_memory(&self, chat: ChatKey) -> chime_store::Result<bool> {
        self.store.read(move |conn| memory::is_kept(conn, chat)).await
    }

    /// Edits the panel so that it shows the current settings. If Telegram asks for a pause, returns the time for the
    /// next attempt. Other errors are only logged, since the next press edits the panel again.
    async fn show_again(&self, press: &Press, chat: &ChatRow) -> chime_store::Result<Option<Timestamp>> {
        let panel = self.panel(chat);
        let texts = texts(chat.speaks().code());
        Ok(self.edit(press, &format_own(&panel.markdown(true, texts)), &panel.buttons(texts)).await)
    }

    fn panel<'a>(&'a self, chat: &'a ChatRow) -> Panel<'a> {
        Panel { settings: &chat.settings, defaults: &self.defaults, kind: chat.chat.kind }
    }

    pub(super) async fn owns_the_bot(&self, user: UserId) -> chime_store::Result<bool> {
        let access = self.access.clone();
        self.store.read(move |conn| is_owner(conn, user, &access)).await
    }

    /// Returns `true` if `user` may change the settings of a chat: an admin, or an owner of the bot.
    pub(super) async fn may_change(&self, chat: ChatId, user: UserId) -> Result<bool, JobError> {
        Ok(self.owns_the_bot(user).await? || self.standing(chat, user).await?.is_admin())
    }
}

/// Maximum length of an unknown value that the reply repeats, in characters.
const LONGEST_VALUE: usize = 60;

/// Returns the setting and the value in the arguments of `/settings timezone Europe/Paris`, or `None` if they have
/// another form.
fn setting_asked(args: &str) -> Option<(&'static SettingEntry, &str)> {
    let (first, rest) = args.trim().split_once(char::is_whitespace)?;
    let (second, value) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
    let found = SettingEntry::find(&format!("{first}{second}")).map(|entry| (entry, value));
    found.or_else(|| Some((SettingEntry::find(first)?, rest))).map(|(entry, value)| (entry, value.trim()))
}

fn write(tx: &Writer<'_>, chat: ChatKey, change: &SettingChange) -> chime_store::Result<()> {
    let (key, value) = match change {
        SettingChange::Set(entry, value) => (entry.key, Some(value.as_str()).filter(|value| *value != DEFAULT)),
        SettingChange::DeleteMemory => (MEMORY.key, Some("off")),
        SettingChange::Nothing => return Ok(()),
    };
    chat_settings::set(tx, Conversation { chat, thread: None }, key, value)?;
    memory::follow_settings(tx, chat)
}
