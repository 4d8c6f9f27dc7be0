//! Finds the forum topics of an exported chat. An export does not name a message's topic: its chain of replies must be
//! followed to the message that created the topic.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use chime_core::{ForumTopicId, MessageId};

/// Minimum number of replies from which on a message older than the export counts as the start of a forum topic.
const REPLIES: u64 = 3;
/// A chat counts as a forum if at least this many messages reply to such starts of topics.
const OF_FORUM: u64 = 10;
/// A chat counts as a forum only if at least one in this many of its messages replies to such a start.
const SHARE: u64 = 4;

/// Facts about a chat's forum topics, collected in the first pass over the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicHints {
    /// Id of the first message. Messages with lower ids are older than the export, because an export has no gaps.
    first: Option<i64>,
    last: i64,
    /// `true` if the ids do not always rise. Lower ids then do not show that a message is older than the export.
    is_mixed: bool,
    messages: u64,
    is_forum: bool,
    /// Number of replies to each message that is older than the export.
    replies: BTreeMap<i64, u64>,
}

impl TopicHints {
    pub fn count(&mut self, message: &Value) {
        let Some(id) = message["id"].as_i64().filter(|id| *id > 0) else { return };
        let first = *self.first.get_or_insert(id);
        self.is_mixed |= id < self.last;
        self.last = id;
        self.is_forum |= matches!(message["action"].as_str(), Some("topic_created" | "topic_edit"));
        self.messages += u64::from(message["type"].as_str() != Some("service"));
        if let Some(parent) = parent(message).filter(|parent| (1..first).contains(parent)) {
            *self.replies.entry(parent).or_default() += 1;
        }
    }

    /// Returns the forum topics that were created before the export begins.
    pub fn topics(&self) -> Topics {
        let often = self.replies.iter().filter(|(_, count)| **count >= REPLIES);
        let total: u64 = often.clone().map(|(_, count)| count).sum();
        let is_forum = self.is_forum || total >= OF_FORUM && total * SHARE >= self.messages;
        let roots = often.filter(|_| is_forum && !self.is_mixed).map(|(root, _)| *root).collect();
        Topics { roots, within: BTreeMap::new() }
    }
}

/// Forum topics of a chat, as known from the messages read so far.
#[derive(Debug, Default)]
pub struct Topics {
    /// Messages that created a topic.
    roots: BTreeSet<i64>,
    /// Topic of each message read so far that belongs to one.
    within: BTreeMap<i64, i64>,
}

impl Topics {
    /// Returns the topic of the next message, and the message that it replies to. A reply that only marks the topic is
    /// not returned.
    pub fn place(&mut self, id: i64, message: &Value) -> (Option<ForumTopicId>, Option<MessageId>) {
        if message["action"].as_str() == Some("topic_created") {
            self.roots.insert(id);
            return (Some(ForumTopicId(id)), None);
        }
        let parent = parent(message);
        let root = parent.filter(|parent| self.roots.contains(parent));
        let topic = root.or_else(|| parent.and_then(|parent| self.within.get(&parent).copied()));
        if let Some(topic) = topic {
            self.within.insert(id, topic);
        }
        (topic.map(ForumTopicId), parent.filter(|_| root.is_none()).map(MessageId))
    }
}

/// Returns `true` if a message replies to a message in a different chat.
pub fn replies_elsewhere(message: &Value) -> bool {
    !message["reply_to_peer_id"].is_null()
}

fn parent(message: &Value) -> Option<i64> {
    message["reply_to_message_id"].as_i64().filter(|_| !replies_elsewhere(message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the topics found for messages 100, 101, …. `parents` are the messages that they reply to, 0 for none.
    fn topics(parents: &[i64], more: &Value) -> Vec<i64> {
        let mut hints = TopicHints::default();
        for (id, parent) in (100..).zip(parents) {
            let reply = if *parent == 0 { json!(null) } else { json!(parent) };
            hints.count(&json!({"id": id, "type": "message", "reply_to_message_id": reply}));
        }
        hints.count(more);
        hints.topics().roots.into_iter().collect()
    }

    #[test]
    fn messages_of_a_forum_reply_to_what_created_their_topic() {
        let talk = [40, 41, 40, 41, 40, 41, 100, 40, 41, 40, 41, 7];
        assert_eq!(topics(&talk, &json!({})), [40, 41]);
        assert_eq!(topics(&[40, 40, 40], &json!({})), [0; 0], "too few to tell");
        let mut group = [0; 100];
        group[..12].fill(40);
        assert_eq!(topics(&group, &json!({})), [0; 0], "most of the talk is of no topic");
        assert_eq!(topics(&talk, &json!({"id": 99})), [0; 0], "the newest first");
    }

    #[test]
    fn a_chat_with_a_topic_is_a_forum() {
        let created = json!({"id": 110, "type": "service", "action": "topic_created"});
        assert_eq!(topics(&[40, 40, 40, 0, 7], &created), [40]);
        let elsewhere = json!({"id": 110, "reply_to_message_id": 40, "reply_to_peer_id": "channel9"});
        assert_eq!(topics(&[40, 40], &elsewhere), [0; 0]);
    }
}
