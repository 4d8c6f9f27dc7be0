//! Commands about privacy and ownership: `/privacy`, `/optout`, `/optin` and `/claim`.

use crate::commands::handlers::{CommandRequest, Commands, in_plain_words};
use chime_core::chat_settings::LINKS;
use chime_core::trigger::Languages;
use chime_core::{ChatKind, Job, LinkReading, MessageAt};
use chime_jobs::JobResult;
use chime_privacy::wording::{self, Reach};
use chime_store::consent;
use chime_store::family::OptOutScope;
use chime_store::{chats, messages};

impl Commands {
    /// Replies to `/claim`. The code was checked when the message arrived: if it was right, the sender is an owner by
    /// now.
    pub(super) async fn welcome_owner(&self, job: &Job, command: CommandRequest) -> JobResult {
        let is_owner = self.owns_the_bot(command.message.message.sender.id).await?;
        let texts = &command.texts().access;
        let markdown = match (command.chat.chat.kind, is_owner) {
            (ChatKind::Private, true) => &texts.claimed,
            (ChatKind::Private, false) => &texts.wrong_code,
            (ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel, _) => &texts.claim_in_private,
        };
        self.say(job, &command, markdown).await
    }

    pub(super) async fn explain_privacy(&self, job: &Job, command: CommandRequest) -> JobResult {
        let (chat, sender) = (command.chat.key, command.message.message.sender.id);
        let (out, own_retention) = self
            .base
            .store
            .read(move |conn| Ok((consent::opted_out(conn, chat, sender)?, chats::own_retention(conn, chat)?)))
            .await?;
        let retention = own_retention.unwrap_or(self.privacy_facts.retention);
        let (kind, code) = (command.chat.chat.kind, command.chat.speaks().code());
        let mut facts = self.privacy_facts.named(self.base.bot());
        facts.opens_links &= command.settings.get(LINKS) != Some(LinkReading::Off);
        // "Forget me" wants something done, "what do you store?" wants to know.
        let is_wish = in_plain_words(job).is_some() && !Languages::shipped().is_question(&command.args);
        let markdown = wording::privacy(&facts, retention, out.map(reach), kind, code, is_wish);
        self.say(job, &command, markdown).await
    }

    pub(super) async fn opt_out(&self, job: &Job, command: CommandRequest) -> JobResult {
        if command.is_in_the_name_of_the_chat() {
            return self.say_anonymous(job, &command).await;
        }
        // The opt-out took effect when the command arrived; only the reply is left.
        let markdown = wording::opted_out(reach(command.scope()), command.texts());
        self.say(job, &command, markdown).await
    }

    pub(super) async fn opt_in(&self, job: &Job, command: CommandRequest) -> JobResult {
        if command.is_in_the_name_of_the_chat() {
            return self.say_anonymous(job, &command).await;
        }
        let (scope, sender, chat) = (command.scope(), command.message.message.sender.id, command.chat.key);
        let at = MessageAt::of(&command.message);
        let read = move |conn: &chime_store::Reader| {
            // `true` if the command itself was stored without content, because its sender was opted out when it
            // arrived.
            let was_out = messages::is_stub(conn, at.chat, at.message)?;
            Ok((consent::opted_out(conn, chat, sender)?, was_out))
        };
        let (out, was_out) = self.base.store.read(read).await?;
        // An opt-in in a group does not end an opt-out of all chats, which must be ended in private: the reply says so.
        let still = out.filter(|out| *out == OptOutScope::EveryChat && scope != OptOutScope::EveryChat).map(reach);
        self.say(job, &command, wording::opted_in(still, was_out, command.texts())).await
    }

    pub(super) async fn say_anonymous(&self, job: &Job, command: &CommandRequest) -> JobResult {
        self.say(job, command, &command.texts().anonymous).await
    }
}

impl CommandRequest {
    /// Returns the chats that an opt-out or opt-in applies to: all chats if it was sent in private, else the chat
    /// itself.
    fn scope(&self) -> OptOutScope {
        match self.chat.chat.kind {
            ChatKind::Private => OptOutScope::EveryChat,
            ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel => OptOutScope::Chat(self.chat.key),
        }
    }

    /// Returns `true` if an anonymous admin sent the command. It is then unknown which person did, since all anonymous
    /// admins write as the chat.
    pub(super) fn is_in_the_name_of_the_chat(&self) -> bool {
        let message = &self.message.message;
        message.sender.is_chat && message.sender.id.0 == message.chat.0
    }
}

fn reach(scope: OptOutScope) -> Reach {
    match scope {
        OptOutScope::Chat(_) => Reach::ThisChat,
        OptOutScope::EveryChat => Reach::EveryChat,
    }
}
