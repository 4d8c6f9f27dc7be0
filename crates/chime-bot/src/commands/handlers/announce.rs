//! Sends a chat the notice about stored data, and the notice about imported messages.

use crate::commands::handlers::{Commands, notices_of};
use chime_access::Access;
use chime_access::admission::served;
use chime_answer::answering::format_own;
use chime_core::texts::texts;
use chime_core::{Announced, Chat, ChatId, ChatKind, Job, ReplyTarget, UserId, grouped};
use chime_jobs::JobResult;
use chime_privacy::{NoticeKind, group_notice, private_notice};
use chime_store::outbox::{NewReply, Purpose};
use chime_store::{announcements, chats, memory};

impl Commands {
    /// Handles an `announce` job: sends the privacy notice, once per chat.
    pub async fn announce(&self, job: &Job, chat: ChatId) -> JobResult {
        let access = self.base.config.access.clone();
        let Announced { memory: remembers, voice: transcribes } = self.privacy_facts.announces();
        let found = self
            .base
            .store
            .read(move |conn| {
                let Some(row) = chats::find(conn, chat)? else { return Ok(None) };
                let is_served = served(conn, &row.chat, UserId(chat.0), &access)? == Access::Allowed;
                let is_news = !announcements::is_told(conn, row.key)?;
                let knows_of_memory = memory::memory_state(conn, row.key)?.told_at.is_some();
                let knows_of_voice = announcements::is_told_of_voice(conn, row.key)?;
                let own_retention = chats::own_retention(conn, row.key)?;
                let is_memory_news = remembers && !knows_of_memory;
                let news = match (is_news, is_memory_news) {
                    (true, _) => NoticeKind::Everything,
                    (false, true) => NoticeKind::Memory,
                    (false, false) => NoticeKind::Voice,
                };
                let is_due = is_served && (is_news || is_memory_news || transcribes && !knows_of_voice);
                Ok(is_due.then_some((row, own_retention, news)))
            })
            .await?;
        let Some((row, own_retention, news)) = found else { return self.finish(job).await };
        let retention = own_retention.unwrap_or(self.privacy_facts.retention);
        let (facts, code) = (&self.privacy_facts.named(self.base.bot()), row.speaks().code());
        let notice = match row.chat.kind {
            ChatKind::Private => private_notice(facts, retention, code),
            ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel => group_notice(facts, retention, news, code),
        };
        let notice = match self.hears_little(&row.chat).await {
            true => format!("{notice}\n\n{}", texts(code).privacy_notice.hears_little),
            false => notice,
        };
        let now = self.base.clock.now();
        let key = format!("announce:{}:{}", row.key, now.millis());
        let to = ReplyTarget { chat, forum_topic: None, reply_to: None };
        let reply = NewReply::own(Purpose::Notice, key, to, format_own(&notice));
        let announced = self.privacy_facts.announces();
        self.settle(job, reply, move |tx| announcements::write(tx, row.key, announced, now)).await
    }

    /// Returns `true` if Telegram shows the bot only commands and replies in a group: its privacy mode is on, and it is
    /// no admin. Returns `false` if Telegram cannot be asked.
    async fn hears_little(&self, chat: &Chat) -> bool {
        let is_group = matches!(chat.kind, ChatKind::Group | ChatKind::Supergroup);
        if !is_group || self.base.bot().reads_all_group_messages || self.base.refresh_bot().await.is_err() {
            return false;
        }
        let bot = self.base.bot();
        let status = self.base.telegram.member_status(chat.id, bot.id).await;
        !bot.reads_all_group_messages && status.is_ok_and(|status| !status.is_admin())
    }

    /// Handles an `imported` job: reports that `count` older messages were imported.
    pub async fn tell_imported(&self, job: &Job, chat: ChatId, count: u64) -> JobResult {
        let notices = self.base.store.read(move |conn| notices_of(conn, chat)).await?;
        let key = format!("imported:{chat}:{}", self.base.clock.now().millis());
        let to = ReplyTarget { chat, forum_topic: None, reply_to: None };
        let parts = format_own(&notices.imported(&grouped(count)));
        let settled = self.settle(job, NewReply::own(Purpose::Notice, key, to, parts), |_| Ok(())).await?;
        tracing::info!(chat.id = chat.0, count, "imported {count} older messages of chat {chat}");
        Ok(settled)
    }
}
