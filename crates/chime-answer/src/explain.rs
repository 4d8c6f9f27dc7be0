//! Shows which messages an answer to a stored message is based on, with the reasons. Does not call a model.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::answering::asked;
use chime_core::trigger::{Rules, ask_of, find, is_generic};
use chime_core::{
    AddressedBy, BotIdentity, Entity, EntityKind, MessageId, MessagePlace, ParsedTrigger, Reason, SlotUse,
    StoredMessage, TokenCalibration, Zone, clip, utf16_slice,
};
use chime_memory::context::{FeatureCache, gather, window};
use chime_memory::recall::Recaller;
use chime_relevance::context::{ContextWindow, Entry, Explained, Feature, Params, explain};
use chime_store::{Reader, answers, chat_settings, chats, messages, usage};

/// Number of features shown for a message: those with the greatest influence. JSON has all features.
const TOLD: usize = 3;

/// Descriptions of the features, by name.
static MEANINGS: LazyLock<BTreeMap<String, String>> =
    // If the file cannot be parsed, there are no descriptions. A test checks that it can.
    LazyLock::new(|| toml::from_str(include_str!("explain_features.toml")).unwrap_or_default());

/// Messages chosen for the answer to a trigger, with the reasons.
#[derive(Debug)]
pub struct ContextExplanation {
    pub trigger: StoredMessage,
    pub window: ContextWindow,
    /// Candidates with their features and scores.
    explained: Vec<Explained>,
    /// Candidates with their authors and texts.
    said: BTreeMap<MessageId, String>,
    /// Parts of the prompt of the answer that the bot gave; empty if it gave none.
    pub slots: Vec<SlotUse>,
}

impl ContextExplanation {
    /// Returns the author and the beginning of a candidate's text.
    pub fn said(&self, id: MessageId) -> &str {
        self.said.get(&id).map(String::as_str).unwrap_or_default()
    }

    /// Returns a candidate with its features and score.
    pub fn candidate(&self, id: MessageId) -> Option<&Explained> {
        self.explained.iter().find(|it| it.id == id)
    }

    /// Returns the features that decided about a message in the prompt. If the message was chosen because of a link,
    /// such as a reply, that link is the only feature.
    pub fn features(&self, entry: &Entry) -> Vec<Feature> {
        let by_link = |name: &str| vec![Feature { name: name.to_owned(), value: 1.0, contribution: entry.score }];
        match entry.reason {
            Reason::Anchor | Reason::Quoted => by_link("reply"),
            Reason::Chain => by_link("chain"),
            Reason::Cluster => by_link("near"),
            Reason::Bridge => by_link("older"),
            Reason::Source => by_link("source"),
            Reason::Named => by_link("named"),
            Reason::Thread | Reason::Query | Reason::Nearby | Reason::Tool => {
                self.candidate(entry.message.message.id).map_or_else(Vec::new, |it| it.features.clone())
            }
        }
    }
}

/// Chooses the messages for an answer to a stored message once more. Returns `None` if the message is not kept.
pub fn explain_choice(
    conn: &Reader,
    place: &MessagePlace,
    params: &Params,
    zone: Zone,
    features: &FeatureCache,
    recaller: &Recaller,
) -> chime_store::Result<Option<ContextExplanation>> {
    let Some((chat, message)) = chats::ids_of(conn, place)? else { return Ok(None) };
    let Some(trigger) = messages::find(conn, chat, message)? else { return Ok(None) };
    let Some(row) = chats::by_key(conn, trigger.chat)? else { return Ok(None) };
    let zone = chat_settings::zone(conn, trigger.conversation(), zone)?;
    let (asked, _) = asked(conn, trigger.clone(), row.language, zone, &parsed(conn, &trigger)?)?;
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
pub fn in_a_line(stored: &StoredMessage) -> String {
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
        let rules = Rules { parent_is_answer: parent.is_some(), is_only_bot: false, said_before: None, called: None };
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
    let how = if cut.is_empty() { AddressedBy::Reply } else { AddressedBy::Mention };
    let mut parsed = ParsedTrigger { how, is_generic: false, cut };
    parsed.is_generic = is_generic(&ask_of(&trigger.message, &parsed));
    Ok(parsed)
}

/// Formats the most important features as `common words +1.20, time since -0.40`.
pub fn described(features: &[Feature]) -> String {
    let described = |feature: &Feature| format!("{} {:+.2}", meaning(&feature.name), feature.contribution);
    features.iter().take(TOLD).map(described).collect::<Vec<_>>().join(", ")
}

fn meaning(name: &str) -> String {
    match name {
        "reply" => return "the trigger replies to it".to_owned(),
        "chain" => return "linked by replies".to_owned(),
        "named" => return "the trigger names its time or author".to_owned(),
        "source" => return "an earlier answer rested on it".to_owned(),
        "older" => return "about the same, from further back".to_owned(),
        "near" => return "no long silence between".to_owned(),
        _ => {}
    }
    let known = |name: &str| MEANINGS.get(name).cloned();
    known(name).unwrap_or_else(|| {
        let Some((model, parts)) = name.split_once('.') else { return name.to_owned() };
        let parts = parts.split('*').map(|part| known(&format!("{model}.{part}")).unwrap_or_else(|| part.to_owned()));
        parts.collect::<Vec<_>>().join(" × ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_told_in_plain_words() {
        let feature = |name: &str, contribution| Feature { name: name.to_owned(), value: 1.0, contribution };
        let features = [feature("tag.minutes_since", 1.2), feature("pair.word_cosine", -0.4), feature("new.one", 0.1)];
        assert_eq!(described(&features), "time since +1.20, common words -0.40, one +0.10");
    }
}
