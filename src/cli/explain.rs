//! `chime explain`: shows which messages an answer to a stored message is based on. Does not call a model.

mod shown;

use std::io::Write;
use std::sync::Arc;

use crate::app::context_params;
use crate::cli::arguments::ExplainOptions;
use crate::cli::database;
use crate::cli::exit::{CommandError, CommandResult, Exit};
use chime_answer::explain::explain_choice;
use chime_core::config::{ContextConfig, EmbeddingConfig, StoreConfig, TimeConfig};
use chime_core::embed::Embedder;
use chime_core::{ChatId, MessageId, MessagePlace, parse_message_link};
use chime_memory::context::FeatureCache;
use chime_memory::recall::Recaller;
use chime_store::Store;

pub async fn run(options: ExplainOptions) -> CommandResult {
    let place = place(&options.chat, options.message);
    let place = place.ok_or_else(|| CommandError::new(NoPlace(options.chat), Exit::Usage))?;
    let environment = database::environment()?.with(options.with);
    let settings = environment.settings();
    let (store, context) = (StoreConfig::load(&settings), ContextConfig::load(&settings));
    let (embedding, zone) = (EmbeddingConfig::load(&settings), TimeConfig::load(&settings).zone);
    settings.finish(())?;
    let params = context_params(&context);
    // If the embedding model cannot be loaded, messages are chosen without it, as in the daemon.
    let embedder = Embedder::load(&embedding).ok().flatten().map(Arc::new);
    let recaller = Recaller::new(embedder.clone());
    let features = match embedding {
        EmbeddingConfig::OpenAi(model) => FeatureCache::with_stored_vectors(model.name),
        _ => FeatureCache::new(embedder),
    };
    let store = Store::open_to_read(&store.path)?;
    let decided = store.read(move |conn| explain_choice(conn, &place, &params, zone, &features, &recaller)).await?;
    let decision = decided.ok_or_else(|| CommandError::new(NotKept, Exit::Failed))?;
    print(&if options.json { shown::as_json(&decision).to_string() } else { shown::in_words(&decision) });
    Ok(Exit::Done)
}

#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no chat and message; write `chime explain -1001234567890 42`, or a link as Telegram copies it")]
struct NoPlace(String);

#[derive(Debug, thiserror::Error)]
#[error("this message is not kept: check the ids, and that DATABASE_PATH names the daemon's database")]
struct NotKept;

/// Parses the place of a message: a chat id and a message id, or only a link to the message.
fn place(chat: &str, message: Option<i64>) -> Option<MessagePlace> {
    match message {
        Some(message) => Some(MessagePlace::Ids(ChatId(chat.parse().ok()?), MessageId(message))),
        None => parse_message_link(chat),
    }
}

fn print(text: &str) {
    // Fails if the reader closed the pipe, as `head` does, which is not an error.
    let _ = writeln!(std::io::stdout(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(chat: &str, message: Option<i64>, expected: Option<MessagePlace>) {
        assert_eq!(place(chat, message), expected);
    }

    #[test]
    fn a_message_is_named_by_ids_or_by_its_link() {
        let known = Some(MessagePlace::Ids(ChatId(-1_001_234_567_890), MessageId(42)));
        check("-1001234567890", Some(42), known.clone());
        check("https://t.me/c/1234567890/42", None, known.clone());
        check("t.me/c/1234567890/7/42?single", None, known);
        let public = MessagePlace::Public { username: "rustlang".to_owned(), message: MessageId(42) };
        check("https://t.me/rustlang/42", None, Some(public));
        check("-1001234567890", None, None);
        check("https://example.org/42", None, None);
    }
}
