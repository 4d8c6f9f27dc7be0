//! `chime import` and `chime export`: read a Telegram Desktop export, and write a chat's messages as JSON.

use std::fs::{self, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use secrecy::ExposeSecret;

use crate::cli::arguments::{ExportOptions, ImportOptions};
use crate::cli::database;
use crate::cli::exit::{CommandError, CommandResult, Exit};
use crate::cli::progress::ProgressBar;
use chime_bot::archive::Tally;
use chime_bot::archive::import::{
    ExportError, Import, ImportProgress, Imported, export as write_export, import as read_export, open as look_through,
};
use chime_core::config::{AccessConfig, PrivacyConfig, StoreConfig, TelegramConfig};
use chime_core::{ChatId, UserId, grouped};
use chime_runtime::clock::Clock;
use chime_store::{Store, TrialCopy};

pub async fn import(options: ImportOptions) -> CommandResult {
    let environment = database::environment()?;
    let settings = environment.settings();
    let (store, access) = (StoreConfig::load(&settings), AccessConfig::load(&settings));
    let (privacy, telegram) = (PrivacyConfig::load(&settings), TelegramConfig::load(&settings));
    settings.finish(())?;
    let number = telegram.token.expose_secret().split(':').next().and_then(|id| id.parse().ok());
    let no_token = || CommandError::new("TELEGRAM_BOT_TOKEN does not begin with the bot's id", Exit::Configuration);
    let bot = number.map(UserId).ok_or_else(no_token)?;
    let clock = Clock::system();
    let file = look_through(&options.file).await?;
    let trial = if options.dry_run { Some(TrialCopy::of(&store.path, clock.now())?) } else { None };
    let store = match &trial {
        Some(copy) => copy.store.clone(),
        None => Store::open(&store.path, clock.now())?.0,
    };
    let mut bar = ProgressBar::start();
    let show = |ImportProgress { bytes, total, messages }: ImportProgress| {
        bar.show(bytes, total, &format!("{} messages", grouped(messages)));
    };
    let retention = privacy.retention;
    let task = Import { store: store.clone(), clock, file, bot, access, retention };
    let outcome = read_export(task, show).await;
    store.close().await;
    bar.end();
    let Imported { tally, outcome } = outcome?;
    tell(&tally, options.dry_run);
    outcome.map_err(|error| CommandError::new(error, Exit::Failed))?;
    Ok(Exit::Done)
}

pub async fn export(options: ExportOptions) -> CommandResult {
    let store = Store::open_to_read(&database::path()?)?;
    let chat = ChatId(options.chat);
    let written = match &options.out {
        None => write_export(&store, chat, &mut BufWriter::new(std::io::stdout())).await,
        Some(to) => match write_file(&store, chat, to).await {
            Err(ExportError::Io(error)) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let what = format!("{} is there already; nothing is overwritten", to.display());
                return Err(CommandError::new(what, Exit::Failed));
            }
            written => written,
        },
    };
    match written {
        Ok(count) => {
            let _ = writeln!(std::io::stderr(), "{} messages of chat {chat}", grouped(count));
            Ok(Exit::Done)
        }
        // The reader closed the pipe, which is not an error.
        Err(ExportError::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(error) => Err(error.into()),
    }
}

/// Writes an export to a new file that only its owner can read, like the database. Deletes the file if writing fails.
async fn write_file(store: &Store, chat: ChatId, to: &Path) -> Result<u64, ExportError> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    let written = write_export(store, chat, &mut BufWriter::new(file)).await;
    if written.is_err() {
        // An error of deleting is ignored, since the first error is the one to report.
        let _ = fs::remove_file(to);
    }
    written
}

fn tell(tally: &Tally, is_dry: bool) {
    let mut out = std::io::stdout();
    let verb = if is_dry { "would be imported" } else { "imported" };
    for (id, chat) in &tally.chats {
        let name = chat.title.as_deref().unwrap_or("a chat without a title");
        let mut parts =
            vec![format!("{} {verb}", grouped(chat.added)), format!("{} known already", grouped(chat.known))];
        for (count, what) in [
            (chat.stubs, "without words, since their author opted out or they were forgotten"),
            (chat.expired, "left out, since they are older than messages are kept (RETENTION_DAYS)"),
            (chat.unreadable, "could not be read"),
        ] {
            if count > 0 {
                parts.push(format!("{} {what}", grouped(count)));
            }
        }
        let _ = writeln!(out, "{name} ({id}): {}", parts.join(", "));
    }
    for (name, why) in &tally.left_out {
        let _ = writeln!(out, "{name}: left out, {why}");
    }
    if tally.chats.is_empty() && tally.left_out.is_empty() {
        let _ = writeln!(out, "the file holds no messages");
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use chime_core::{Chat, ChatKind, Timestamp};
    use chime_store::{Priority, chats};

    const CHAT: ChatId = ChatId(-1_001);
    const NOW: Timestamp = Timestamp::from_secs(1_767_621_720);

    #[tokio::test]
    async fn an_export_is_for_its_owner_alone_and_one_that_failed_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = Store::open(&folder.path().join("chime.db"), NOW).unwrap();
        let chat = Chat { id: CHAT, kind: ChatKind::Supergroup, title: None, username: None };
        store.write(Priority::Answering, move |tx| chats::upsert(tx, &chat).map(drop)).await.unwrap();
        let to = folder.path().join("chat.json");
        assert!(matches!(write_file(&store, ChatId(-1_002), &to).await, Err(ExportError::NoSuchChat(_))));
        assert!(!to.exists());
        assert_eq!(write_file(&store, CHAT, &to).await.unwrap(), 0);
        assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
        // An existing file is neither overwritten nor deleted.
        assert!(matches!(write_file(&store, CHAT, &to).await, Err(ExportError::Io(_))));
        assert!(to.exists());
        store.close().await;
    }
}
