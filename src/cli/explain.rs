//! `chime explain`: shows which messages an answer to a stored message is based on. Does not call a model.

mod shown;

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use crate::app::context_params;
use crate::cli::arguments::ExplainOptions;
use crate::cli::exit::{Exit, report};
use chime_answer::answering::asked;
use chime_core::config::{ContextConfig, EmbeddingConfig, Environment, StoreConfig, TimeConfig};
use chime_core::embed::Embedder;
use chime_core::trigger::{Languages, Rules, ask_of, find, is_generic};
use chime_core::{
    BotIdentity, ChatId, Entity, EntityKind, How, MessageId, MessagePlace, ParsedTrigger, SlotUse, StoredMessage,
    TokenCalibration, Zone, clip, parse_message_link, utf16_slice,
};
use chime_memory::context::{FeatureCache, gather, window};
use chime_memory::recall::Recaller;
use chime_relevance::context::{ContextWindow, Explained, Params, explain};
use chime_store::{Reader, Store, answers, chats, messages, usage};

/// Messages chosen for the answer to a trigger, with the reasons.
struct ContextExplanation {
    trigger: StoredMessage,
    window: ContextWindow,
    /// Candidates with their features and scores.
    explained: Vec<Explained>,
    /// Candidates with their authors and texts.
    said: BTreeMap<MessageId, String>,
    /// Parts of the prompt of the answer that the bot gave; empty if it gave none.
    slots: Vec<SlotUse>,
}

pub async fn run(options: ExplainOptions) -> Exit {
    let Some(place) = place(&options.chat, options.message) else {
        return report(&NoPlace(options.chat), Exit::Usage);
    };
    let environment = match std::env::current_dir() {
        Ok(folder) => Environment::read(&folder).with(options.with),
        Err(error) => return report(&error, Exit::Failed),
    };
    let settings = environment.settings();
    let (store, context, embedding, zone) = match settings.finish(StoreConfig::load(&settings).and_then(|store| {
        let (context, embedding) = (ContextConfig::load(&settings), EmbeddingConfig::load(&settings));
        Ok((store, context?, embedding?, TimeConfig::load(&settings)?.zone))
    })) {
        Ok((loaded, _)) => loaded,
        Err(error) => return report(&error, Exit::Configuration),
    };
    let params = context_params(&context);
    // If the embedding model cannot be loaded, messages are chosen without it, as in the daemon.
    let embedder = Embedder::load(&embedding).ok().flatten().map(Arc::new);
    let recaller = Recaller::new(embedder.clone());
    let features = match embedding {
        EmbeddingConfig::OpenAi(model) => FeatureCache::with_stored_vectors(model.name),
        _ => FeatureCache::new(embedder),
    };
    let decided = match Store::open_to_read(&store.path) {
        Ok(store) => store.read(move |conn| decide(conn, &place, &params, zone, &features, &recaller)).await,
        Err(error) => Err(error),
    };
    match decided {
        Ok(Some(decision)) => {
            print(&if options.json { shown::as_json(&decision).to_string() } else { shown::in_words(&decision) });
            Exit::Done
        }
        Ok(None) => report(&NotKept, Exit::Failed),
        Err(error) => report(&error, Exit::of_store(&error)),
    }
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

fn decide(
    conn: &Reader,
    place: &MessagePlace,
    params: &Params,
    zone: Zone,
    features: &FeatureCache,
    recaller: &Recaller,
) -> chime_store::Result<Option<ContextExplanation>> {
    let (chat, message) = match place {
        MessagePlace::Ids(chat, message) => (*chat, *message),
        MessagePlace::Public { username, message } => match chats::by_username(conn, username)? {
            Some(row) => (row.chat.id, *message),
            None => return Ok(None),
        },
    };
    let Some(trigger) = messages::find(conn, chat, message)? else { return Ok(None) };
    let Some(row) = chats::by_key(conn, trigger.chat)? else { return Ok(None) };
    let (asked, _) = asked(conn, trigger.clone(), &row, zone, &parsed(conn, &trigger)?)?;
    let answer = answers::to_trigger(conn, trigger.chat, trigger.seq)?;
    let calibration = match &answer {
        Some(answer) => usage::calibration(conn, &answer.model)?,
        None => TokenCalibration::default(),
    };
    let params = &Params { token_budget: calibration.room(params.token_budget), ..params.clone() };
    let history = gather(conn, asked, params, features)?;
    let (window, explained) = (window(conn, &history, params, recaller), explain(&history, params));
    let slots = answer.map_or_else(Vec::new, |record| record.slots);
    let chosen = window.entries.iter().map(|entry| &entry.message);
    let said = history.recent.iter().chain(chosen).map(|stored| (stored.message.id, in_a_line(stored))).collect();
    Ok(Some(ContextExplanation { trigger, window, explained, said, slots }))
}

/// Formats a message as `Ana: "We should look at the restaurant"`.
fn in_a_line(stored: &StoredMessage) -> String {
    /// Maximum length of the text, in characters, so that it fits on the line.
    const CHARS: usize = 60;
    let words = stored.message.rendered();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}: \"{}\"", stored.message.sender.name, clip(&words, CHARS))
}

/// Parses the message as the daemon does. If it does not address the bot, or if the bot's name is unknown because it
/// has never answered in this chat, the question is the text without mentions and without a command at its start.
fn parsed(conn: &Reader, trigger: &StoredMessage) -> chime_store::Result<ParsedTrigger> {
    let (own, row) = (messages::own_sender(conn, trigger.chat)?, chats::by_key(conn, trigger.chat)?);
    if let (Some(own), Some(row)) = (own, row) {
        let usernames = own.username.into_iter().collect();
        let bot = BotIdentity { id: own.id, usernames, name: own.name, reads_all_group_messages: true };
        let parent = match trigger.message.reply_to {
            Some(parent) => messages::find(conn, trigger.message.chat, parent)?.map(|stored| stored.message),
            None => None,
        };
        let rules = Rules {
            parent_is_answer: parent.is_some(),
            languages: Languages::shipped(),
            is_only_bot: false,
            said_before: None,
            called: None,
        };
        if let Some(found) = find(&trigger.message, parent.as_ref(), &bot, row.chat.kind, &rules) {
            return Ok(found.parsed());
        }
    }
    let text = &trigger.message.text;
    let is_call = |entity: &&Entity| match entity.kind {
        EntityKind::Mention => true,
        EntityKind::BotCommand => entity.offset == 0,
        _ => false,
    };
    let cut: Vec<Range<usize>> = (trigger.message.entities.iter().filter(is_call))
        .map(|entity| {
            utf16_slice(text, 0, entity.offset).len()..utf16_slice(text, 0, entity.offset + entity.length).len()
        })
        .collect();
    let how = if cut.is_empty() { How::Reply } else { How::Mention };
    let mut parsed = ParsedTrigger { how, is_generic: false, cut };
    parsed.is_generic = is_generic(&ask_of(&trigger.message, &parsed), Languages::shipped());
    Ok(parsed)
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
