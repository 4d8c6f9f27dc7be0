//! Rebuilds a part of a chat's memory: `chime memory --rebuild`, and the button of the page.

use std::str::FromStr;

use chime_answer::concepts::MAX_ACTIVE;
use chime_core::{JobPayload, Rolling, Timestamp};
use chime_memory::tags::normalized;
use chime_store::chats::ChatRow;
use chime_store::{Writer, concepts, jobs, messages, summaries, tags, topics};

/// Part of a chat's memory that can be rebuilt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebuilt {
    Recent,
    History,
    /// The summary of this topic.
    Topic(String),
    /// Concepts that are in use in each conversation, found again from the concepts of its answers. Answers whose
    /// concepts are not known yet are processed.
    Concepts,
}

impl FromStr for Rebuilt {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        match raw.split_once(':') {
            None if raw == "recent" => Ok(Self::Recent),
            None if raw == "history" => Ok(Self::History),
            None if raw == "concepts" => Ok(Self::Concepts),
            Some(("topic", slug)) if !slug.is_empty() => Ok(Self::Topic(slug.to_owned())),
            None | Some(_) => Err("there are recent, history, topic:<slug> and concepts".to_owned()),
        }
    }
}

/// Schedules a rebuild. Returns `false` if the chat has no such topic.
pub fn rebuild(tx: &Writer<'_>, row: &ChatRow, what: &Rebuilt, now: Timestamp) -> chime_store::Result<bool> {
    let (chat, key) = (row.chat.id, row.key);
    match what {
        Rebuilt::Recent => {
            summaries::drop_rolling(tx, key, Rolling::Recent)?;
            jobs::add_or_move(tx, &JobPayload::Recent { chat, key }, now)?;
        }
        Rebuilt::History => {
            summaries::reset_history(tx, key)?;
            jobs::add_or_move(tx, &JobPayload::History { chat, key }, now)?;
        }
        Rebuilt::Topic(slug) => {
            let found = normalized(slug, 1.0).map(|tag| tags::find(tx, key, &tag.key)).transpose()?.flatten();
            let Some(tag) = found else { return Ok(false) };
            topics::drop_summary(tx, tag.id)?;
            jobs::add_or_move(tx, &JobPayload::TopicSummary { chat, key, tag: tag.id }, now)?;
        }
        Rebuilt::Concepts => {
            // Without a message by the bot there are no answers to find concepts in.
            if let Some(bot) = messages::own_sender(tx, key)? {
                concepts::rebuild(tx, bot.id, key, MAX_ACTIVE, now)?;
                jobs::add_or_move(tx, &JobPayload::Concepts {}, now)?;
            }
        }
    }
    Ok(true)
}
