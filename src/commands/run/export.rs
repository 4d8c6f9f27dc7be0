//! `/export`: all that is kept of a chat, as a file, to its creator in private.

use std::io::{self, Write};

use crate::access::run::is_owner;
use crate::archive::run::{ExportError, export};
use crate::commands::run::forget::Asked;
use crate::commands::run::{Commands, Order, of_telegram};
use crate::domain::{ChatId, ChatKind, Job};
use crate::privacy::Standing;
use crate::scheduler::run::Outcome;
use crate::store;
use crate::telegram::TelegramError;

/// The file is made in memory. What is larger is written by `chime export` on the machine of the bot.
const LARGEST_BYTES: usize = 20 * 1024 * 1024;

impl Commands {
    pub(super) async fn export(&self, job: &Job, order: Order) -> store::Result<Outcome> {
        let message = &order.message.message;
        let (chat, sender, access) = (message.chat, message.sender.id, self.access.clone());
        let owns_the_bot = self.store.read(move |conn| is_owner(conn, sender, &access)).await?;
        // An owner who is no member of the group learns nothing of it here.
        let may = match self.standing(chat, sender).await {
            Asked::Standing(Standing::Creator) => true,
            Asked::Standing(standing) => owns_the_bot && standing != Standing::Outside,
            Asked::NotNow(outcome) => return Ok(outcome),
        };
        if !may {
            return self.reply(job, &order, order.texts().export_who.clone()).await;
        }
        let mut file = Bounded::default();
        match export(&self.store, chat, &mut file).await {
            Ok(_) => {}
            Err(ExportError::Store(error)) => return Err(error),
            Err(ExportError::Io(_)) => return self.reply(job, &order, order.texts().export_large.clone()).await,
            Err(ExportError::NoSuchChat(_)) => return self.finish(job).await.map(|()| Outcome::Finished),
        }
        // A private chat has the number of its person.
        match self.telegram.send_file(ChatId(sender.0), "chat.json", file.bytes).await {
            Ok(()) if order.chat.chat.kind == ChatKind::Private => {
                self.finish(job).await?;
                Ok(Outcome::Finished)
            }
            Ok(()) => self.reply(job, &order, order.texts().export_sent.clone()).await,
            Err(TelegramError::Gone { .. } | TelegramError::Refused { .. }) => {
                self.reply(job, &order, order.texts().export_write_first.clone()).await
            }
            Err(error) => Ok(of_telegram(&error, "sending an export", self.now())),
        }
    }
}

/// Bytes up to a limit; then writing fails.
#[derive(Debug, Default)]
struct Bounded {
    bytes: Vec<u8>,
}

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + more.len() > LARGEST_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
