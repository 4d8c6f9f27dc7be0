//! `/settings`: shows the panel with the chat's settings, and makes the changes of its buttons.

use crate::commands::handlers::forget::unless_unknown;
use crate::commands::handlers::{CommandRequest, Commands, chat_button};
use crate::commands::panel::{Panel, PanelPress, PanelScope, SettingChange, memory_question};
use chime_access::admission::is_owner;
use chime_answer::answering::format_own;
use chime_core::chat_settings::{CHAT_SETTINGS, DEFAULT, MEMORY, PERSONA, SettingEntry, SettingValue};
use chime_core::texts::{Texts, filled, notices, texts};
use chime_core::{Button, ChatKey, ChatKind, Conversation, ForumTopicId, Job, Press, Seq, Timestamp, UserId};
use chime_jobs::{JobError, JobResult};
use chime_privacy::ChatRole;
use chime_store::chat_settings::NewValue;
use chime_store::chats::ChatRow;
use chime_store::outbox::NewReply;
use chime_store::{Priority, Reader, Writer, button_presses, chat_settings, chats, consent, memory, outbox};

impl Commands {
    pub(super) async fn show_settings(&self, job: &Job, command: CommandRequest) -> JobResult {
        let message = &command.message.message;
        let usual = &notices(command.chat.speaks().code()).admins_only;
        let refusal = self.refusal_to_change(&command.chat, message.sender.id, usual).await?;
        if let Some(arguments) = WordedSetting::parse(&command.args, message.forum_topic, command.texts()) {
            return match (refusal, arguments) {
                (Some(refusal), _) => self.say(job, &command, refusal).await,
                (None, SettingArguments::Change(asked)) => self.set_by_words(job, &command, asked).await,
                (None, SettingArguments::Unknown) => self.say_unknown_setting(job, &command, None).await,
                (None, SettingArguments::NoTopic) => self.say(job, &command, &command.texts().settings.no_topic).await,
            };
        }
        let scope = PanelScope::default();
        let shown = self.panel(&command.chat, scope, message.forum_topic, refusal.as_deref(), 1).await?;
        let (markdown, mut buttons) = shown;
        if refusal.is_none() && command.chat.chat.kind == ChatKind::Private {
            let groups = self.groups_of(message.sender.id, ChatRole::is_admin).await?;
            buttons.extend(groups.iter().map(|group| {
                let scope = PanelScope { chat: Some(group.key), topic: None };
                let press = PanelPress { scope, change: SettingChange::Show(1) };
                chat_button(group, press.data())
            }));
        }
        self.offer(job, &command, &markdown, buttons).await
    }

    /// Replies to a command with a text and buttons.
    pub(super) async fn offer(
        &self,
        job: &Job,
        command: &CommandRequest,
        markdown: &str,
        buttons: Vec<Vec<Button>>,
    ) -> JobResult {
        self.settle(job, NewReply { buttons, ..command.reply(job, format_own(markdown)) }, |_| Ok(())).await
    }

    /// Sets a setting to a value that an admin typed. `default` or nothing goes back to the operator's value.
    async fn set_by_words(
        &self,
        job: &Job,
        command: &CommandRequest,
        WordedSetting { topic, entry, value }: WordedSetting<'_>,
    ) -> JobResult {
        let texts = command.texts();
        let is_default = value.is_empty() || value.eq_ignore_ascii_case(DEFAULT);
        let worded = || entry.worded(value, texts, &self.defaults);
        let chosen = match is_default {
            true => Some(DEFAULT.to_owned()),
            false => (entry.parse)(value, &self.defaults).or_else(worded),
        };
        let default_in = |kind| (entry.default)(&self.defaults, kind);
        let is_elsewhere = default_in(ChatKind::Group).is_some();
        let Some(default) = default_in(command.chat.chat.kind).filter(|_| topic.is_none() || entry.in_topics) else {
            let nowhere = entry.text("nowhere", texts).unwrap_or(&texts.settings.nowhere);
            return match is_elsewhere {
                true => self.say_unknown_setting(job, command, topic).await,
                false => self.say(job, command, nowhere).await,
            };
        };
        let Some(chosen) = chosen else {
            let unknown = entry.text("unknown", texts).unwrap_or(&texts.settings.unknown);
            let possible = entry.possible(texts, &self.defaults);
            return self.say(job, command, filled(unknown, &[("values", &possible)])).await;
        };
        let (chat, author) = (command.chat.key, command.message.message.sender.id);
        let is_out = move |conn: &Reader| Ok(consent::opted_out(conn, chat, author)?.is_some());
        if entry.is_written && !is_default && self.base.store.read(is_out).await? {
            return self.say(job, command, &texts.notes.opted_out).await;
        }
        let change = SettingChange::Set(entry, chosen.clone());
        let scope = PanelScope { chat: None, topic };
        if change.ends_memory() && self.memory_off(command.chat.key, texts).await?.is_none() {
            let (question, buttons) = memory_question(scope, texts);
            return self.offer(job, command, question, buttons).await;
        }
        let current = if is_default { default } else { chosen };
        let words = match entry.text("set", texts) {
            Some(words) => filled(words, &[("value", &(entry.shown)(&current, texts))]),
            None => entry.line(&current, texts, &self.defaults),
        };
        let conversation = Conversation { chat: command.chat.key, forum_topic: topic };
        let by = entry.is_written.then_some((command.message.message.sender.id, command.message.seq));
        let key = job.payload.reply_key();
        let also = move |tx: &Writer<'_>| {
            write(tx, conversation, &change, by)?;
            // The reply may show the text.
            outbox::note_uses(tx, &key, chat, by.map(|(_, seq)| seq))
        };
        self.answer(job, command, &words, also).await
    }

    /// Replies with the names of the settings of the chat, or of a forum topic.
    async fn say_unknown_setting(&self, job: &Job, command: &CommandRequest, topic: Option<ForumTopicId>) -> JobResult {
        let kind = command.chat.chat.kind;
        let exists = |entry: &&SettingEntry| {
            (entry.default)(&self.defaults, kind).is_some() && (topic.is_none() || entry.in_topics)
        };
        let names: Vec<String> = CHAT_SETTINGS.iter().filter(exists).map(|entry| format!("`{}`", entry.key)).collect();
        let words = filled(&command.texts().settings.unknown_name, &[("names", &names.join(", "))]);
        self.say(job, command, words).await
    }

    pub(super) async fn change(
        &self,
        job: &Job,
        press: &Press,
        chat: &ChatRow,
        PanelPress { scope, change }: PanelPress,
    ) -> JobResult {
        let notices = notices(chat.speaks().code());
        let target = match scope.chat.filter(|key| *key != chat.key) {
            None => chat.clone(),
            Some(key) => match self.base.store.read(move |conn| chats::by_key(conn, key)).await? {
                Some(target) if chat.chat.kind == ChatKind::Private => target,
                Some(_) | None => return self.refuse(job, press, &notices.unknown_button).await,
            },
        };
        if let Some(refusal) = self.refusal_to_change(&target, press.by, &notices.admins_only).await? {
            return self.refuse(job, press, &refusal).await;
        }
        let words = texts(chat.speaks().code());
        if change.ends_memory() && self.memory_off(target.key, words).await?.is_none() {
            let (question, buttons) = memory_question(scope, words);
            let again = self.edit(press, &format_own(question), &buttons).await;
            return self.confirm_shown(job, press, again).await;
        }
        let (query, shown) = (press.query.clone(), change.page());
        let conversation = Conversation { chat: target.key, forum_topic: scope.topic };
        let again = PanelPress { scope, change: SettingChange::Show(shown) }.data();
        // Change and end of the job are one transaction: if the job ran twice, its second run could undo a later press.
        let written = move |tx: &Writer<'_>| {
            write(tx, conversation, &change, None)?;
            button_presses::replace_data(tx, &query, &again)
        };
        self.base.store.write(Priority::Answering, written).await?;
        let again = self.show_again(press, chat.key, scope, shown).await?;
        self.confirm_shown(job, press, again).await
    }

    /// Edits the panel so that it shows the current settings. If Telegram asks for a pause, returns the time for the
    /// next attempt. Other errors are only logged, since the next press edits the panel again.
    async fn show_again(
        &self,
        press: &Press,
        here: ChatKey,
        scope: PanelScope,
        page: u8,
    ) -> chime_store::Result<Option<Timestamp>> {
        let (at, message) = (press.chat, press.message);
        let read = move |conn: &Reader| {
            let part = outbox::by_message(conn, at, message)?;
            Ok((chats::by_key(conn, here)?, part.and_then(|part| part.outgoing.to.forum_topic)))
        };
        // Loads the chat again, because the change may have been its language.
        let (Some(chat), forum_topic) = self.base.store.read(read).await? else { return Ok(None) };
        let (markdown, buttons) = self.panel(&chat, scope, forum_topic, None, page).await?;
        Ok(self.edit(press, &format_own(&markdown), &buttons).await)
    }

    /// Returns the text and the buttons of a panel in `chat`. `here` is the forum topic in which it is. `refusal` tells
    /// a reader who may not change anything why.
    async fn panel(
        &self,
        chat: &ChatRow,
        scope: PanelScope,
        here: Option<ForumTopicId>,
        refusal: Option<&str>,
        page: u8,
    ) -> chime_store::Result<(String, Vec<Vec<Button>>)> {
        let (other, key) = (scope.chat.filter(|key| *key != chat.key), scope.chat.unwrap_or(chat.key));
        let read = move |conn: &Reader| {
            let other = other.map_or(Ok(None), |key| chats::by_key(conn, key))?;
            Ok((other, chat_settings::load(conn, Conversation { chat: key, forum_topic: scope.topic })?))
        };
        let (other, settings) = self.base.store.read(read).await?;
        let shown = other.as_ref().unwrap_or(chat);
        let title = other.as_ref().map(|other| other.chat.title.as_deref().unwrap_or("?"));
        let (defaults, kind) = (&self.defaults, shown.chat.kind);
        let panel = Panel { scope, settings: &settings, defaults, kind, title, here, page };
        let texts = texts(chat.speaks().code());
        let buttons = if refusal.is_none() { panel.buttons(texts) } else { Vec::new() };
        Ok((panel.markdown(refusal, texts), buttons))
    }

    pub(super) async fn owns_the_bot(&self, user: UserId) -> chime_store::Result<bool> {
        let access = self.base.config.access.clone();
        self.base.store.read(move |conn| is_owner(conn, user, &access)).await
    }

    /// Returns `None` if `user` may change the settings of a chat: an admin, or an owner of the bot. Else returns the
    /// reply: `usual`, or another one if Telegram does not tell who is an admin.
    pub(super) async fn refusal_to_change(
        &self,
        chat: &ChatRow,
        user: UserId,
        usual: &str,
    ) -> Result<Option<String>, JobError> {
        if self.owns_the_bot(user).await? {
            return Ok(None);
        }
        let role = self.role_of(chat.chat.id, user).await?;
        Ok((!role.is_admin()).then(|| unless_unknown(role, usual, chat.speaks())))
    }
}

/// Request in the words after `/settings`.
enum SettingArguments<'a> {
    Change(WordedSetting<'a>),
    /// A name that no setting has.
    Unknown,
    /// "topic" where there is no forum topic.
    NoTopic,
}

/// Setting and value in the arguments of `/settings timezone Europe/Paris`.
struct WordedSetting<'a> {
    /// Forum topic of `/settings topic timezone Europe/Paris`.
    topic: Option<ForumTopicId>,
    entry: &'static SettingEntry,
    value: &'a str,
}

impl<'a> WordedSetting<'a> {
    /// Parses the arguments of a command in the forum topic `here`. A setting may be named by its key, or by its title
    /// in the language of `texts`. Returns `None` if there are none, or only the name of a setting that needs a value.
    fn parse(args: &'a str, here: Option<ForumTopicId>, texts: &Texts) -> Option<SettingArguments<'a>> {
        let first_word = |text: &'a str| {
            let text = text.trim();
            text.split_once(char::is_whitespace).unwrap_or((text, ""))
        };
        let (first, rest) = first_word(args);
        if first.eq_ignore_ascii_case("topic") {
            let in_topic = |arguments| match arguments {
                SettingArguments::Change(asked) => SettingArguments::Change(Self { topic: here, ..asked }),
                other => other,
            };
            return if here.is_some() {
                Self::parse(rest, None, texts).map(in_topic)
            } else {
                Some(SettingArguments::NoTopic)
            };
        }
        let (second, after) = first_word(rest);
        let two_words = SettingEntry::find(&format!("{first}{second}")).filter(|_| !second.is_empty());
        let found = two_words.map(|entry| (entry, after));
        let found = found.or_else(|| Some((SettingEntry::find(first)?, rest)));
        let Some((entry, value)) = found.or_else(|| SettingEntry::titled(args, texts)) else {
            return Some(SettingArguments::Unknown).filter(|_| !first.is_empty());
        };
        let value = value.trim();
        let is_change = entry.key == PERSONA.key || !value.is_empty();
        is_change.then_some(SettingArguments::Change(Self { topic: None, entry, value }))
    }
}

/// Makes a change. `by` are the author and the command of a text that a member wrote.
fn write(
    tx: &Writer<'_>,
    conversation: Conversation,
    change: &SettingChange,
    by: Option<(UserId, Seq)>,
) -> chime_store::Result<()> {
    let (key, value) = match change {
        SettingChange::Set(entry, value) => (entry.key, Some(value).filter(|value| *value != DEFAULT).cloned()),
        SettingChange::DeleteMemory => (MEMORY.key, Some(false.as_setting())),
        SettingChange::ClearTopic => return chat_settings::clear_topic(tx, conversation),
        SettingChange::Show(_) => return Ok(()),
    };
    let value = value.map(|value| NewValue { value, written: by });
    chat_settings::set(tx, conversation, key, value.as_ref())?;
    memory::follow_settings(tx, conversation.chat)
}
