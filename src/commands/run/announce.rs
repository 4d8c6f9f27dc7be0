//! A chat is told what is kept of it, once.

use crate::access::Access;
use crate::access::run::served;
use crate::commands::notice::Notice;
use crate::commands::run::{Commands, format, notices_of};
use crate::domain::{ChatId, ChatKey, ChatKind, Job, ReplyTarget, Timestamp, UserId, grouped};
use crate::privacy::{joined, joined_before, joined_in_private};
use crate::scheduler::run::Outcome;
use crate::store::outbox::{NewReply, Purpose};
use crate::store::{self, chats, memory};

impl Commands {
    /// Works on an `announce` job about a chat.
    pub async fn announce(&self, job: &Job, chat: ChatId) -> Outcome {
        match self.tell_what_is_kept(job, chat).await {
            Ok(()) => Outcome::Finished,
            Err(error) => Outcome::of_store(&error, job),
        }
    }

    /// Works on an `imported` job: a chat is told that its history from before is read too.
    pub async fn tell_imported(&self, job: &Job, chat: ChatId, count: u64) -> Outcome {
        let told = async {
            let notices = self.store.read(move |conn| notices_of(conn, chat)).await?;
            let now = self.clock.now();
            let to = ReplyTarget { chat, thread: None, reply_to: None };
            let key = format!("imported:{chat}:{}", now.millis());
            let parts = format(&Notice::Own(notices.imported(&grouped(count))));
            self.settle(job, NewReply::own(Purpose::Notice, key, to, parts), |_| Ok(())).await
        };
        match told.await {
            Ok(()) => Outcome::Finished,
            Err(error) => Outcome::of_store(&error, job),
        }
    }

    async fn tell_what_is_kept(&self, job: &Job, chat: ChatId) -> store::Result<()> {
        let (access, remembers) = (self.access.clone(), self.memory.is_on);
        let found = self
            .store
            .read(move |conn| {
                let Some(row) = chats::find(conn, chat)? else { return Ok(None) };
                let is_served = served(conn, &row.chat, UserId(chat.0), &access)? == Access::Allowed;
                let is_news = !chats::is_announced(conn, row.key)?;
                let knows_of_memory = memory::standing(conn, row.key)?.told_at.is_some();
                let own_retention = chats::own_retention(conn, row.key)?;
                let is_due = is_served && (is_news || remembers && !knows_of_memory);
                Ok(is_due.then_some((row, own_retention, is_news)))
            })
            .await?;
        let Some((row, own_retention, is_news)) = found else { return self.finish(job).await };
        let retention = own_retention.unwrap_or(self.promise.retention);
        let words = match (row.chat.kind, is_news) {
            (ChatKind::Private, _) => joined_in_private,
            (ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel, true) => joined,
            (ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel, false) => joined_before,
        };
        let notice = Notice::Own(words(&self.promise, retention, row.speaks().code()));
        let now = self.clock.now();
        let key = format!("announce:{}:{}", row.key, now.millis());
        let to = ReplyTarget { chat, thread: None, reply_to: None };
        let reply = NewReply::own(Purpose::Notice, key, to, format(&notice));
        self.settle(job, reply, move |tx| tell(tx, row.key, remembers, now)).await
    }
}

fn tell(tx: &store::Writer<'_>, chat: ChatKey, remembers: bool, now: Timestamp) -> store::Result<()> {
    chats::set_announced(tx, chat, now)?;
    if remembers { memory::set_told(tx, chat, now) } else { Ok(()) }
}
