//! `/settings`: shows the panel with the chat's settings, and makes the changes of its buttons.

use crate::commands::handlers::forget::MembershipLookup;
use crate::commands::handlers::{CommandRequest, Commands};
use crate::commands::panel::{Panel, SettingChange, memory_question};
use chime_access::admission::is_owner;
use chime_answer::answering::format_own;
use chime_answer::plain::escape_markdown;
use chime_core::texts::{filled, notices, texts};
use chime_core::{Button, ChatId, ChatKey, ChatKind, Job, LinkReading, Press, Timestamp, UserId, Zone, clip};
use chime_jobs::JobOutcome;
use chime_privacy::ChatRole;
use chime_store::chats::ChatRow;
use chime_store::outbox::NewReply;
use chime_store::{Priority, Writer, button_presses, chat_settings, chats, memory};

/// Permission to change the settings of a chat.
pub(super) enum Right {
    Yes,
    No,
    NotNow(JobOutcome),
}

impl Commands {
    pub(super) async fn show_settings(&self, job: &Job, order: CommandRequest) -> chime_store::Result<JobOutcome> {
        if let Some(zone) = time_zone_asked(&order.args) {
            return self.set_time_zone(job, &order, zone).await;
        }
        let message = &order.message.message;
        let panel = self.panel(&order.chat).await?;
        match self.may_change(message.chat, message.sender.id).await? {
            Right::NotNow(outcome) => Ok(outcome),
            Right::No => self.say(job, &order, panel.markdown(false, order.texts())).await,
            Right::Yes => {
                let markdown = panel.markdown(true, order.texts());
                self.offer(job, &order, &markdown, panel.buttons(order.texts())).await
            }
        }
    }

    /// Replies to a command with a text and buttons.
    pub(super) async fn offer(
        &self,
        job: &Job,
        order: &CommandRequest,
        markdown: &str,
        buttons: Vec<Vec<Button>>,
    ) -> chime_store::Result<JobOutcome> {
        self.settle(job, NewReply { buttons, ..order.reply(job, format_own(markdown)) }, |_| Ok(())).await
    }

    /// Sets the chat's time zone to the one with this IANA name. The name `default` sets it back to the operator's.
    async fn set_time_zone(&self, job: &Job, order: &CommandRequest, name: &str) -> chime_store::Result<JobOutcome> {
        let message = &order.message.message;
        match self.may_change(message.chat, message.sender.id).await? {
            Right::NotNow(outcome) => return Ok(outcome),
            Right::No => {
                return self.say(job, order, &notices(order.chat.speaks().code()).admins_only).await;
            }
            Right::Yes => {}
        }
        let texts = &order.texts().settings;
        let zone = if name.eq_ignore_ascii_case(DEFAULT) { None } else { Zone::parse(name) };
        if zone.is_none() && !name.eq_ignore_ascii_case(DEFAULT) {
            let told = filled(&texts.time_zone_unknown, &[("name", &escape_markdown(&clip(name, LONGEST_NAME)))]);
            return self.say(job, order, told).await;
        }
        let told = filled(&texts.time_zone_set, &[("name", zone.unwrap_or(self.zone).name())]);
        let key = order.chat.key;
        self.answer(job, order, &told, move |tx| chat_settings::set_time_zone(tx, key, zone)).await
    }

    pub(super) async fn change(
        &self,
        job: &Job,
        press: &Press,
        chat: &ChatRow,
        change: SettingChange,
    ) -> chime_store::Result<JobOutcome> {
        match self.may_change(press.chat, press.by).await? {
            Right::NotNow(outcome) => Ok(outcome),
            Right::No => self.refuse(job, press, &notices(chat.speaks().code()).admins_only).await,
            Right::Yes if change == SettingChange::Memory(false) && self.has_memory(chat.key).await? => {
                let (question, buttons) = memory_question(texts(chat.speaks().code()));
                let again = self.edit(press, &format_own(question), &buttons).await;
                self.confirm_shown(job, press, again).await
            }
            Right::Yes => {
                let (key, query) = (chat.key, press.query.clone());
                // Change and end of the job are one transaction: if the job ran twice, its second run could undo a
                // later press.
                let written = move |tx: &Writer<'_>| {
                    match change {
                        SettingChange::Grounding(grounding) => chat_settings::set_grounding(tx, key, grounding)?,
                        SettingChange::Memory(is_on) => memory::set(tx, key, is_on)?,
                        SettingChange::DeleteMemory => memory::set(tx, key, false)?,
                        SettingChange::Streaming(is_on) => chat_settings::set_streaming(tx, key, is_on)?,
                        SettingChange::Links(reading) => chat_settings::set_links(tx, key, reading)?,
                        SettingChange::SessionIdle(idle) => memory::set_own_idle(tx, key, Some(idle))?,
                        SettingChange::Language(language) => chat_settings::set_language(tx, key, language)?,
                        SettingChange::Askers(askers) => chat_settings::set_askers(tx, key, askers)?,
                        SettingChange::DailyTokens(tokens) => chat_settings::set_daily_tokens(tx, key, tokens)?,
                        SettingChange::Nothing => {}
                    }
                    button_presses::ask_for(tx, &query, &SettingChange::Nothing.data())
                };
                self.store.write(Priority::Answering, written).await?;
                // Loads the chat again, because the change may have been its language.
                let chat = self.store.read(move |conn| chats::by_key(conn, key)).await?.unwrap_or_else(|| chat.clone());
                let again = self.show_again(press, &chat).await?;
                self.confirm_shown(job, press, again).await
            }
        }
    }

    /// Returns `true` if turning memory off would delete anything.
    pub(super) async fn has_memory(&self, chat: ChatKey) -> chime_store::Result<bool> {
        self.store.read(move |conn| memory::is_kept(conn, chat)).await
    }

    /// Edits the panel so that it shows the current settings. If Telegram asks for a pause, returns the time for the
    /// next attempt. Other errors are only logged, since the next press edits the panel again.
    async fn show_again(&self, press: &Press, chat: &ChatRow) -> chime_store::Result<Option<Timestamp>> {
        let panel = self.panel(chat).await?;
        let texts = texts(chat.speaks().code());
        Ok(self.edit(press, &format_own(&panel.markdown(true, texts)), &panel.buttons(texts)).await)
    }

    async fn panel(&self, chat: &ChatRow) -> chime_store::Result<Panel> {
        let key = chat.key;
        let own = self.store.read(move |conn| chat_settings::load(conn, key)).await?;
        Ok(Panel {
            grounding: own.grounding.unwrap_or_default(),
            memory: self.memory.is_on.then(|| own.memory.unwrap_or(true)),
            streaming: own.streaming.unwrap_or_else(|| self.streaming.in_chats_of(chat.chat.kind)),
            links: (self.links != LinkReading::Off).then(|| own.links.unwrap_or(self.links)),
            language: chat.own_language,
            session_idle: own.session_idle.unwrap_or_else(|| self.memory.idle.in_chats_of(chat.chat.kind)),
            askers: chat.askers,
            daily_tokens: own.daily_tokens,
            zone: chat.zone(self.zone),
            is_private: chat.chat.kind == ChatKind::Private,
        })
    }

    pub(super) async fn may_change(&self, chat: ChatId, user: UserId) -> chime_store::Result<Right> {
        let access = self.access.clone();
        if self.store.read(move |conn| is_owner(conn, user, &access)).await? {
            return Ok(Right::Yes);
        }
        Ok(match self.standing(chat, user).await {
            MembershipLookup::Role(ChatRole::Creator | ChatRole::Admin) => Right::Yes,
            MembershipLookup::Role(ChatRole::Member | ChatRole::Outside) => Right::No,
            MembershipLookup::NotNow(outcome) => Right::NotNow(outcome),
        })
    }
}

/// Maximum length of an unknown name that the reply repeats, in characters.
const LONGEST_NAME: usize = 60;
/// Name that a member types for the operator's time zone.
const DEFAULT: &str = "default";

/// Returns the name after `timezone` in the arguments of `/settings timezone Europe/Paris`, or `None` if they have
/// another form.
fn time_zone_asked(args: &str) -> Option<&str> {
    let (first, name) = args.trim().split_once(char::is_whitespace)?;
    let first = first.to_lowercase().replace('_', "");
    let name = if first == "time" { name.trim().strip_prefix("zone")? } else { name };
    matches!(first.as_str(), "timezone" | "time" | "tz").then(|| name.trim()).filter(|name| !name.is_empty())
}
