//! Commands that change what is kept of somebody, or who owns the bot.

use crate::commands::handlers::{Commands, Order};
use crate::commands::notice::Notice;
use chime_access::admission::is_owner;
use chime_core::texts::{Texts, texts};
use chime_core::{ChatKind, CommandName, Job, MessageAt};
use chime_jobs::worker::Outcome;
use chime_privacy::wording::{self, Reach};
use chime_store::consent::{self, Scope};
use chime_store::{chats, messages};

impl Commands {
    pub(super) async fn obey(&self, job: &Job, order: Order) -> chime_store::Result<Outcome> {
        match order.command {
            CommandName::Claim => self.welcome_owner(job, order).await?,
            CommandName::Privacy => self.explain_privacy(job, order).await?,
            CommandName::Optout => self.opt_out(job, order).await?,
            CommandName::Optin => self.opt_in(job, order).await?,
            CommandName::Forget => return self.forget_on_request(job, order).await,
            CommandName::Export => return self.export(job, order).await,
            CommandName::Memory => return self.remember(job, order).await,
            CommandName::Topics => return self.topics(job, order).await,
            CommandName::Recap => return self.recap(job, order).await,
            CommandName::Note => return self.note(job, order).await,
            CommandName::Notes => return self.list_notes(job, order).await,
            CommandName::Settings => return self.show_settings(job, order).await,
            CommandName::New => self.start_session(job, order).await?,
            // Questions and help are answered elsewhere.
            CommandName::Ask | CommandName::Why | CommandName::Concepts | CommandName::Help | CommandName::Start => {
                self.finish(job).await?
            }
        }
        Ok(Outcome::Finished)
    }

    /// The code was compared when the message came in; by now its sender is an owner, or it was wrong.
    async fn welcome_owner(&self, job: &Job, order: Order) -> chime_store::Result<()> {
        let (sender, access) = (order.message.message.sender.id, self.access.clone());
        let is_owner = self.store.read(move |conn| is_owner(conn, sender, &access)).await?;
        let texts = &order.texts().access;
        let markdown = match (order.chat.chat.kind, is_owner) {
            (ChatKind::Private, true) => &texts.claimed,
            (ChatKind::Private, false) => &texts.wrong_code,
            (ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel, _) => &texts.claim_in_private,
        };
        self.answer(job, &order.message, &Notice::Own(markdown.clone()), |_| Ok(())).await
    }

    async fn explain_privacy(&self, job: &Job, order: Order) -> chime_store::Result<()> {
        let (chat, sender) = (order.chat.key, order.message.message.sender.id);
        let (out, own_retention) = self
            .store
            .read(move |conn| Ok((consent::opted_out(conn, chat, sender)?, chats::own_retention(conn, chat)?)))
            .await?;
        let retention = own_retention.unwrap_or(self.promise.retention);
        let place = (order.chat.chat.kind, order.chat.speaks().code());
        let markdown = wording::privacy(&self.promise, retention, out.map(reach), place);
        self.answer(job, &order.message, &Notice::Own(markdown), |_| Ok(())).await
    }

    async fn opt_out(&self, job: &Job, order: Order) -> chime_store::Result<()> {
        if order.is_in_the_name_of_the_chat() {
            return self.say_anonymous(job, &order).await;
        }
        // It holds since the command was taken in.
        let markdown = wording::opted_out(reach(order.scope()), order.texts());
        self.answer(job, &order.message, &Notice::Own(markdown), |_| Ok(())).await
    }

    async fn opt_in(&self, job: &Job, order: Order) -> chime_store::Result<()> {
        if order.is_in_the_name_of_the_chat() {
            return self.say_anonymous(job, &order).await;
        }
        let (scope, sender, chat) = (order.scope(), order.message.message.sender.id, order.chat.key);
        let at = MessageAt::of(&order.message);
        let read = move |conn: &chime_store::Reader| {
            // Of who was out when the command came in, no more than a stub of it is kept.
            let was_out = messages::is_stub(conn, at.chat, at.message)?;
            Ok((consent::opted_out(conn, chat, sender)?, was_out))
        };
        let (out, was_out) = self.store.read(read).await?;
        // An opt-out of every chat is taken back where it was given.
        let still = out.filter(|out| *out == Scope::EveryChat && scope != Scope::EveryChat).map(reach);
        let told = Notice::Own(wording::opted_in(still, was_out, order.texts()));
        self.answer(job, &order.message, &told, |_| Ok(())).await
    }

    pub(super) async fn say_anonymous(&self, job: &Job, order: &Order) -> chime_store::Result<()> {
        self.answer(job, &order.message, &Notice::Own(order.texts().anonymous.clone()), |_| Ok(())).await
    }
}

impl Order {
    /// What the bot says of itself, in the language of the chat.
    pub(super) fn texts(&self) -> &'static Texts {
        texts(self.chat.speaks().code())
    }

    /// In private everything is about every chat.
    fn scope(&self) -> Scope {
        match self.chat.chat.kind {
            ChatKind::Private => Scope::EveryChat,
            ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel => Scope::Chat(self.chat.key),
        }
    }

    /// An anonymous admin: which of the chat's own messages are theirs cannot be told.
    pub(super) fn is_in_the_name_of_the_chat(&self) -> bool {
        let message = &self.message.message;
        message.sender.is_chat && message.sender.id.0 == message.chat.0
    }
}

fn reach(scope: Scope) -> Reach {
    match scope {
        Scope::Chat(_) => Reach::ThisChat,
        Scope::EveryChat => Reach::EveryChat,
    }
}
