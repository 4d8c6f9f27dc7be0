//! `/search`: finds messages and notes by their words, without a model.

use crate::commands::handlers::{CommandRequest, Commands, Shown, chat_button};
use crate::commands::search::{ChatSearch, SearchMistake, SearchPage, SearchRequest, own_words, shown};
use chime_access::Access;
use chime_access::admission::served;
use chime_answer::answering::format_parts;
use chime_core::chat_settings::ChatSettings;
use chime_core::texts::{Texts, notices, texts};
use chime_core::trigger::Languages;
use chime_core::{Button, ChatKind, Conversation, Job, Press, StoredMessage, UserId};
use chime_jobs::{JobError, JobResult};
use chime_privacy::ChatRole;
use chime_store::chats::ChatRow;
use chime_store::{chat_settings, chats, consent};

/// Maximum number of chats of a member that are offered in private.
const CHATS: u32 = 10;

impl Commands {
    pub(super) async fn search(&self, job: &Job, invocation: CommandRequest) -> JobResult {
        let is_private = invocation.chat.chat.kind == ChatKind::Private;
        // Words for days are in the language of the group, which is chosen later.
        let is_for_group = is_private && !invocation.args.trim().is_empty();
        let request = self.search_request(&invocation.message, &invocation.chat, &invocation.settings);
        if let Some(mistake) = request.err().filter(|_| !is_for_group) {
            return self.say(job, &invocation, mistake.shown(invocation.texts())).await;
        }
        let (command, here) = (invocation.message.message.id, invocation.chat.key);
        let page = |chat| SearchPage { command, chat, number: 0 };
        if is_private {
            let member = invocation.message.message.sender.id;
            let groups = self.groups_of(member, ChatRole::is_member).await?;
            if !groups.is_empty() {
                let texts = &invocation.texts().search;
                let here = vec![Button { label: texts.here_button.clone(), data: page(here).data() }];
                let buttons = groups.iter().map(|group| chat_button(group, page(group.key).data()));
                let buttons = buttons.chain([here]).collect();
                return self.offer(job, &invocation, &texts.which, buttons).await;
            }
        }
        let texts = invocation.texts();
        let (message, chat) = (invocation.message.clone(), invocation.chat.clone());
        let mut shown = self.page(message, chat, &invocation.settings, page(here), texts).await?;
        if command.ephemeral_number().is_some() && !shown.buttons.is_empty() {
            // The words of the command are not stored, so the search cannot be repeated for another page.
            shown.buttons.clear();
            shown.markdown = format!("{}\n\n{}", shown.markdown, texts.search.rest);
        }
        self.answer_showing(job, &invocation, shown).await
    }

    /// Handles a press that asks for a page, which replaces the one shown.
    pub(super) async fn turn_page(&self, job: &Job, press: &Press, chat: &ChatRow, page: SearchPage) -> JobResult {
        let at = press.chat;
        let read = move |conn: &chime_store::Reader| {
            let (command, target) = (consent::for_job(conn, at, page.command)?, chats::by_key(conn, page.chat)?);
            let asked_in =
                command.as_ref().map(StoredMessage::conversation).filter(|asked_in| asked_in.chat == page.chat);
            let settings = chat_settings::load(conn, asked_in.unwrap_or(Conversation::whole(page.chat)))?;
            Ok((command, target, settings))
        };
        let (command, target, settings) = self.base.store.read(read).await?;
        let (texts, unknown) = (texts(chat.speaks().code()), &notices(chat.speaks().code()).unknown_button);
        let (Some(command), Some(target)) = (command, target) else { return self.refuse(job, press, unknown).await };
        if target.key != chat.key {
            if chat.chat.kind != ChatKind::Private {
                return self.refuse(job, press, unknown).await;
            }
            if !self.has_role(press.by, &target, ChatRole::is_member).await? {
                return self.refuse(job, press, &texts.memory.only_members).await;
            }
        }
        let shown = self.page(command, target, &settings, page, texts).await?;
        let parts = format_parts(&shown.markdown, &shown.urls(), &[]);
        let again = self.edit(press, &parts, &shown.buttons).await;
        self.confirm_shown(job, press, again).await
    }

    async fn page(
        &self,
        command: StoredMessage,
        chat: ChatRow,
        settings: &ChatSettings,
        page: SearchPage,
        texts: &'static Texts,
    ) -> chime_store::Result<Shown> {
        let request = match self.search_request(&command, &chat, settings) {
            Ok(request) => request,
            Err(mistake) => return Ok(Shown { markdown: mistake.shown(texts), ..Shown::of_chat(chat.key) }),
        };
        let zone = settings.zone(self.base.zone());
        let work = move |conn: &chime_store::Reader| {
            let search = ChatSearch { conn, chat: &chat, zone, request: &request, command: &command };
            Ok(shown(&search.find()?, &search, page, texts))
        };
        self.base.store.read(work).await
    }

    fn search_request(
        &self,
        command: &StoredMessage,
        chat: &ChatRow,
        settings: &ChatSettings,
    ) -> Result<SearchRequest, SearchMistake> {
        let text = own_words(&command.message.text, self.base.bot(), settings);
        let sought = Languages::shipped().searched(&text).unwrap_or(&text);
        SearchRequest::parse(sought, chat.language, command.message.sent_at, settings.zone(self.base.zone()))
    }

    /// Returns the groups in which the member's role satisfies `enough`.
    pub(super) async fn groups_of(
        &self,
        member: UserId,
        enough: fn(ChatRole) -> bool,
    ) -> Result<Vec<ChatRow>, JobError> {
        let mut groups = Vec::new();
        for group in self.base.store.read(move |conn| chats::groups_of(conn, member, CHATS)).await? {
            if self.has_role(member, &group, enough).await? {
                groups.push(group);
            }
        }
        Ok(groups)
    }

    /// Returns `true` if the current role of `user` in the chat satisfies `enough`, and the chat may use the bot.
    pub(super) async fn has_role(
        &self,
        user: UserId,
        chat: &ChatRow,
        enough: fn(ChatRole) -> bool,
    ) -> Result<bool, JobError> {
        let (row, access) = (chat.chat.clone(), self.base.config.access.clone());
        if self.base.store.read(move |conn| served(conn, &row, user, &access)).await? != Access::Allowed {
            return Ok(false);
        }
        Ok(enough(self.role_of(chat.chat.id, user).await?))
    }
}
