//! `/memory` and `/new`.

use crate::commands::handlers::{CommandRequest, Commands, Shown};
use crate::commands::panel::{PanelScope, memory_question};
use chime_core::texts::Texts;
use chime_core::{ChatKey, ChatKind, CloseReason, Conversation, Job, MessagePlace, SessionCut, parse_message_link};
use chime_jobs::JobResult;
use chime_memory::jobs::{remembered, remembered_topics};
use chime_memory::wording::{self, Remembered};
use chime_privacy::ChatRole;
use chime_store::chats::ChatRow;
use chime_store::{chat_settings, chats, memory, sessions};

/// Arguments of `/memory`.
enum MemoryArguments {
    Show,
    /// Shows the memory of the chat that a message link points to.
    ShowOf(MessagePlace),
    Set(bool),
    Unclear,
}

fn request(args: &str) -> MemoryArguments {
    match args.trim().to_lowercase().as_str() {
        "" => MemoryArguments::Show,
        "on" => MemoryArguments::Set(true),
        "off" => MemoryArguments::Set(false),
        link => parse_message_link(link).map_or(MemoryArguments::Unclear, MemoryArguments::ShowOf),
    }
}

impl Commands {
    pub(super) async fn remember(&self, job: &Job, command: CommandRequest) -> JobResult {
        match request(&command.args) {
            MemoryArguments::Show => self.show_memory(job, &command, command.chat.clone()).await,
            MemoryArguments::ShowOf(place) if command.chat.chat.kind == ChatKind::Private => {
                self.show_memory_of(job, &command, place).await
            }
            MemoryArguments::Set(is_on) => self.set_memory(job, &command, is_on).await,
            MemoryArguments::ShowOf(_) | MemoryArguments::Unclear => {
                self.say(job, &command, &command.texts().memory.how).await
            }
        }
    }

    /// Handles `/new`: ends the current session at this command.
    pub(super) async fn start_session(&self, job: &Job, command: CommandRequest) -> JobResult {
        let message = &command.message.message;
        let cut = SessionCut { after: (message.sent_at, message.id), reason: CloseReason::New };
        let conversation = command.message.conversation();
        let also = move |tx: &chime_store::Writer<'_>| sessions::cut(tx, conversation, cut);
        self.answer(job, &command, &command.texts().memory.new_talk, also).await
    }

    /// Replies with the memory of `chat`. The caller must have checked that the sender is a member of it.
    async fn show_memory(&self, job: &Job, command: &CommandRequest, chat: ChatRow) -> JobResult {
        let (key, operators) = (chat.key, self.base.zone());
        let (conversation, rules, now) =
            (command.message.conversation(), self.base.config.memory.clone(), self.base.clock.now());
        if let Some(off) = self.memory_off(key, command.texts()).await? {
            return self.say(job, command, off).await;
        }
        let (found, topics) = self
            .base
            .store
            .read(move |conn| {
                let is_here = conversation.chat == key;
                let shown_in = if is_here { conversation } else { Conversation::whole(key) };
                let zone = chat_settings::zone(conn, shown_in, operators)?;
                let topics =
                    if is_here { remembered_topics(conn, conversation, &rules, zone, now)? } else { Vec::new() };
                Ok((remembered(conn, &chat, zone)?, topics))
            })
            .await?;
        self.answer_showing(job, command, shown(key, &found, &topics, command.texts())).await
    }

    /// Returns the text that says that memory is off; `None` if it is on.
    pub(super) async fn memory_off<'t>(&self, chat: ChatKey, texts: &'t Texts) -> chime_store::Result<Option<&'t str>> {
        let is_off = self.base.store.read(move |conn| memory::is_off(conn, chat)).await?;
        Ok(match (self.base.config.memory.is_on, is_off) {
            (false, _) => Some(&texts.memory.off_everywhere),
            (true, true) => Some(&texts.memory.off_here),
            (true, false) => None,
        })
    }

    /// Replies in private with the memory of another chat, if the sender is a member of it.
    async fn show_memory_of(&self, job: &Job, command: &CommandRequest, place: MessagePlace) -> JobResult {
        let found = self
            .base
            .store
            .read(move |conn| match place {
                MessagePlace::Ids(chat, _) => chats::find(conn, chat),
                MessagePlace::Public { username, .. } => chats::by_username(conn, &username),
            })
            .await?;
        match found {
            Some(chat) if self.has_role(command.message.message.sender.id, &chat, ChatRole::is_member).await? => {
                self.show_memory(job, command, chat).await
            }
            Some(_) | None => self.say(job, command, &command.texts().memory.only_members).await,
        }
    }

    async fn set_memory(&self, job: &Job, command: &CommandRequest, is_on: bool) -> JobResult {
        let (user, usual) = (command.message.message.sender.id, &command.texts().memory.only_admins);
        if let Some(refusal) = self.refusal_to_change(&command.chat, user, usual).await? {
            return self.say(job, command, refusal).await;
        }
        // Summaries may be in the making, so the question does not depend on them.
        if !is_on && self.memory_off(command.chat.key, command.texts()).await?.is_none() {
            let (question, buttons) = memory_question(PanelScope::default(), command.texts());
            return self.offer(job, command, question, buttons).await;
        }
        let texts = &command.texts().memory;
        let reply = if is_on { &texts.switched_on } else { &texts.switched_off };
        let key = command.chat.key;
        self.answer(job, command, reply, move |tx| memory::set(tx, key, is_on)).await
    }
}

fn shown(chat: ChatKey, found: &Remembered, topics: &[(String, Remembered)], texts: &Texts) -> Shown {
    let of_topics = topics.iter().map(|(slug, topic)| wording::topic_shown(slug, topic, texts));
    let markdown = std::iter::once(wording::shown(found, texts)).chain(of_topics).collect::<Vec<_>>().join("\n\n");
    let all = || std::iter::once(found).chain(topics.iter().map(|(_, topic)| topic));
    let rests_on = all().flat_map(Remembered::rests_on).collect();
    let links = all().flat_map(Remembered::links).collect();
    Shown { markdown, rests_on, links, ..Shown::of_chat(chat) }
}
