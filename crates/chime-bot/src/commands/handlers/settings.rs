//! `/settings`: shows the panel with the chat's settings and handles its buttons.

use crate::commands::handlers::forget::MembershipLookup;
use crate::commands::handlers::{CommandRequest, Commands};
use crate::commands::notice::Notice;
use crate::commands::panel::{Panel, SettingChange, memory_question};
use chime_access::admission::is_owner;
use chime_answer::answering::format_own;
use chime_answer::notices::notices;
use chime_answer::plain::escape_markdown;
use chime_core::texts::{filled, texts};
use chime_core::{
    Button, ChatId, ChatKey, ChatKind, Job, LinkReading, Press, ReplyTarget, Timestamp, UserId, Zone, clip,
};
use chime_jobs::JobOutcome;
use chime_privacy::ChatRole;
use chime_store::chats::ChatRow;
use chime_store::outbox::{NewReply, Purpose};
use chime_store::{Priority, Writer, button_presses, chat_settings, chats, memory};
use chime_telegram::TelegramError;

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
            Right::NotNow(outcome) => return Ok(outcome),
            Right::No => {
                let told = Notice::Own(panel.markdown(false, order.texts()));
                self.answer(job, &order.message, &told, |_| Ok(())).await?;
            }
            Right::Yes => {
                let markdown = panel.markdown(true, order.texts());
                self.offer(job, &order, &markdown, panel.buttons(order.texts())).await?;
            }
        }
        Ok(JobOutcome::Finished)
    }

    /// Replies to a command with a text and buttons.
    pub(super) async fn offer(
        &self,
        job: &Job,
        order: &CommandRequest,
        markdown: &str,
        buttons: Vec<Vec<Button>>,
    ) -> chime_store::Result<()> {
        let message = &order.message.message;
        let to = ReplyTarget { chat: message.chat, thread: message.thread, reply_to: Some(message.id) };
        let own = NewReply::own(Purpose::Command, job.payload.reply_key(), to, format_own(markdown));
        self.settle(job, NewReply { buttons, ..own }, |_| Ok(())).await
    }

    /// Sets the chat's time zone to the one with this IANA name. The name `default` sets it back to the operator's.
    async fn set_time_zone(&self, job: &Job, order: &CommandRequest, name: &str) -> chime_store::Result<JobOutcome> {
        let message = &order.message.message;
        match self.may_change(message.chat, message.sender.id).await? {
            Right::NotNow(outcome) => return Ok(outcome),
            Right::No => {
                let told = notices(order.chat.speaks().code()).admins_only.clone();
                return self.say(job, order, told).await;
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
        let (key, notice) = (order.chat.key, Notice::Own(told));
        self.answer(job, &order.message, &notice, move |tx| chat_settings::set_time_zone(tx, key, zone)).await?;
        Ok(JobOutcome::Finished)
    }

    /// Handles a `press` job: makes the change that a pressed button stands for.
    pub async fn press(&self, job: &Job, query: &str) -> JobOutcome {
        match self.pressed(job, query).await {
            Ok(outcome) => outcome,
            Err(error) => JobOutcome::of_store(&error, job),
        }
    }

    async fn pressed(&self, job: &Job, query: &str) -> chime_store::Result<JobOutcome> {
        let key = query.to_owned();
        let found = self.store.read(move |conn| {
            let Some(press) = button_presses::find(conn, &key)? else { return Ok(None) };
            Ok(chats::find(conn, press.chat)?.map(|chat| (press, chat)))
        });
        let Some((press, chat)) = found.await? else {
            self.finish(job).await?;
            return Ok(JobOutcome::Finished);
        };
        match SettingChange::parse(&press.data) {
            Some(change) => self.change(job, &press, &chat, change).await,
            None => {
                self.finish(job).await?;
                self.confirm(&press, Some(&notices(chat.speaks().code()).unknown_button)).await;
                Ok(JobOutcome::Finished)
            }
        }
    }

    async fn change(
        &self,
        job: &Job,
        press: &Press,
        chat: &ChatRow,
        change: SettingChange,
    ) -> chime_store::Result<JobOutcome> {
        let told = match self.may_change(press.chat, press.by).await? {
            Right::NotNow(outcome) => return Ok(outcome),
            Right::No => {
                self.finish(job).await?;
                Some(notices(chat.speaks().code()).admins_only.as_str())
            }
            Right::Yes if change == SettingChange::Memory(false) && self.has_memory(chat.key).await? => {
                let (question, buttons) = memory_question(texts(chat.speaks().code()));
                let again = self.edit(press, question, &buttons).await;
                return self.confirm_shown(job, press, again).await;
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
                return self.confirm_shown(job, press, again).await;
            }
        };
        self.confirm(press, told).await;
        Ok(JobOutcome::Finished)
    }

    /// Confirms a press, so that the button stops waiting. If Telegram asked for a pause before the panel can be
    /// edited, the job runs again at `again`; else it is finished.
    async fn confirm_shown(
        &self,
        job: &Job,
        press: &Press,
        again: Option<Timestamp>,
    ) -> chime_store::Result<JobOutcome> {
        if again.is_none() {
            self.finish(job).await?;
        }
        self.confirm(press, None).await;
        Ok(again.map_or(JobOutcome::Finished, JobOutcome::WaitUntil))
    }

    /// Returns `true` if turning memory off would delete anything.
    pub(super) async fn has_memory(&self, chat: ChatKey) -> chime_store::Result<bool> {
        self.store.read(move |conn| memory::is_kept(conn, chat)).await
    }

    async fn confirm(&self, press: &Press, told: Option<&str>) {
        if let Err(error) = self.telegram.answer_callback(&press.query, told).await {
            tracing::info!(%error, "a press was not confirmed");
        }
    }

    /// Edits the panel so that it shows the current settings. If Telegram asks for a pause, returns the time for the
    /// next attempt. Other errors are only logged, since the next press edits the panel again.
    async fn show_again(&self, press: &Press, chat: &ChatRow) -> chime_store::Result<Option<Timestamp>> {
        let panel = self.panel(chat).await?;
        let texts = texts(chat.speaks().code());
        Ok(self.edit(press, &panel.markdown(true, texts), &panel.buttons(texts)).await)
    }

    async fn edit(&self, press: &Press, markdown: &str, buttons: &[Vec<Button>]) -> Option<Timestamp> {
        let parts = format_own(markdown);
        match self.telegram.edit(press.chat, press.message, parts.first()?, buttons).await {
            Err(TelegramError::Throttled { retry_after }) => Some(self.clock.now().plus(retry_after)),
            Err(error) => {
                tracing::info!(%error, "the panel could not be shown again");
                None
            }
            Ok(()) => None,
        }
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
