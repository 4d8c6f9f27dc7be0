//! Kinds of jobs, each with its payload and policy. A new kind needs an entry here and a match arm in
//! `src/app/jobs.rs`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::policy::{Class, MINUTE, Policy};
use super::{MessageAt, ParsedTrigger};
use crate::{AnswerId, ChatId, ChatKey, CommandName, Conversation, ForumTopicId, Seq, SessionId, Timestamp, UserId};

const TEN_MINUTES: Duration = Duration::from_mins(10);
const HOUR: Duration = Duration::from_hours(1);

/// Declares [`JobPayload`] and [`JobKind`] from one table. An entry gives: documentation, payload fields, name in the
/// database, key (unique within the kind), lane and policy.
macro_rules! job_kinds {
    (@bare $kind:ident) => { Some(JobPayload::$kind {}) };
    (@bare $kind:ident $($field:ident)+) => { None };
    ($(
        $(#[$doc:meta])+
        $kind:ident { $($(#[$attribute:meta])* $field:ident: $type:ty),* }
        = $name:literal, key $key:expr, lane $lane:expr, $policy:expr;
    )+) => {
        /// Kind of a job with its data. Holds ids and numbers only, never text of members.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum JobPayload {
            $($(#[$doc])+ $kind { $($(#[$attribute])* $field: $type),* },)+
        }

        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum JobKind {
            $($(#[$doc])+ $kind,)+
        }

        impl JobPayload {
            pub fn kind(&self) -> JobKind {
                match self {
                    $(Self::$kind { .. } => JobKind::$kind,)+
                }
            }

            /// Returns the key, unique among the jobs of this kind: adding the same work twice gives one job.
            pub fn key(&self) -> String {
                match self {
                    $(Self::$kind { $($field),* } => {
                        $(let _ = $field;)*
                        $key.to_string()
                    })+
                }
            }

            /// Returns Telegram's id of the job's chat, or 0 if it has none.
            pub fn lane(&self) -> i64 {
                match self {
                    $(Self::$kind { $($field),* } => {
                        $(let _ = $field;)*
                        $lane
                    })+
                }
            }
        }

        impl JobKind {
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$kind),+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }

            pub fn policy(self) -> Policy {
                match self {
                    $(Self::$kind => $policy,)+
                }
            }

            /// Returns the payload of a kind whose jobs have no data.
            fn bare(self) -> Option<JobPayload> {
                match self {
                    $(Self::$kind => job_kinds!(@bare $kind $($field)*),)+
                }
            }
        }
    };
}

job_kinds! {
    /// Answers a trigger.
    Answer { at: MessageAt, #[serde(default)] parsed: ParsedTrigger }
    = "answer", key at, lane at.chat.0, Policy::ANSWERING;

    /// Handles a press on a button of the bot. `query` is Telegram's id of the callback query.
    Press { query: String, chat: ChatId }
    = "press", key query, lane chat.0, Policy::ANSWERING;

    /// Replies to a command such as `/privacy`.
    Command { at: MessageAt, name: CommandName, #[serde(default)] parsed: ParsedTrigger }
    = "command", key at, lane at.chat.0, Policy::ANSWERING;

    /// Reacts to a message that is only thanks.
    Thank { at: MessageAt }
    = "thank", key at, lane at.chat.0, Policy::ANSWERING;

    /// Sends a reply, which may have several parts. `reply` is its key. `made_by` is the job that composes the reply
    /// again if one of its sources was deleted before sending.
    Send { reply: String, chat: ChatId, #[serde(default)] made_by: Option<Box<JobPayload>> }
    = "send", key reply, lane chat.0, Policy::ANSWERING;

    /// Reports in one message how many triggers were not answered because they arrived too late.
    Backlog { chat: ChatId }
    = "backlog", key chat, lane chat.0, Policy::ANSWERING;

    /// Tells the asker why the trigger is not answered.
    Refusal { at: MessageAt }
    = "refusal", key at, lane at.chat.0, Policy::ANSWERING;

    /// Tells an unauthorised chat how to get access, then leaves it.
    Leave { chat: ChatId }
    = "leave", key chat, lane chat.0, Policy::ANSWERING;

    /// Sends a chat the privacy notice.
    Announce { chat: ChatId }
    = "announce", key chat, lane chat.0, Policy::ANSWERING;

    /// Tells a chat how many messages the operator imported.
    Imported { chat: ChatId, count: u64 }
    = "imported", key chat, lane chat.0, Policy::ANSWERING;

    /// Determines what a conversation is about now, and builds the summary of that topic if it is missing.
    Topic { chat: ChatId, key: ChatKey, forum_topic: Option<ForumTopicId> }
    = "topic", key topic_key(*key, *forum_topic), lane chat.0, Policy::BACKGROUND;

    /// Builds the summary of a topic. `tag` is the row id of the tag that names the topic.
    TopicSummary { chat: ChatId, key: ChatKey, tag: i64 }
    = "topic_summary", key tag, lane chat.0, Policy::BACKGROUND;

    /// Sends a recap of the messages since `since`, before `until` if that is given. A `personal` recap is for the asker only.
    Recap { at: MessageAt, since: Timestamp, #[serde(default)] until: Option<Timestamp>, personal: bool }
    = "recap", key at, lane at.chat.0, Policy::ANSWERING;

    /// Sends a chat the daily or weekly recap to which it subscribed.
    ChatRecap { chat: ChatId, key: ChatKey, forum_topic: Option<i64>, since: Timestamp, until: Timestamp }
    = "chat_recap", key format!("{key}:{}", until.millis()), lane chat.0, Policy::BACKGROUND;

    /// Transcribes a voice message or video note.
    Transcribe { at: MessageAt }
    = "transcribe", key at, lane at.chat.0, Policy { attempts: 6, ..Policy::BACKGROUND };

    /// Answers a question to the chat that nobody answered.
    Ambient { at: MessageAt }
    = "ambient", key at, lane at.chat.0, Policy { class: Class::Background, attempts: 3, per_lane: 1, ..Policy::ANSWERING };

    /// Sends the reminders that are due.
    Reminders {}
    = "reminders", key "", lane 0, Policy { class: Class::Answering, ..Policy::periodic(Duration::from_secs(20)) };

    /// Starts a [`ChatRecap`](Self::ChatRecap) for every chat whose recap is due.
    Recaps {}
    = "recaps", key "", lane 0, Policy::periodic(MINUTE);

    /// Carries out a `/forget` in `chat`. `request` is the row id of the request.
    Forget { request: i64, chat: ChatId }
    = "forget", key request, lane chat.0, Policy { ends_with_chat: false, ..Policy::ANSWERING };

    /// Sends all stored data of a chat to the admin `asked_by`. It runs a day after the chat got a notice of it. `at`
    /// is the command.
    Export { at: MessageAt, forum_topic: Option<ForumTopicId>, asked_by: UserId }
    = "export", key format!("{}:{asked_by}", at.chat), lane at.chat.0, Policy::ANSWERING;

    /// Removes the bytes of deleted text that remain in the database file.
    Scrub {}
    = "scrub", key "", lane 0, Policy { ends_with_chat: false, ..Policy::BACKGROUND };

    /// Extracts the concepts from one answer, right after it was sent.
    Capture { chat: ChatId, answer: AnswerId }
    = "capture", key answer, lane chat.0, Policy::BACKGROUND;

    /// Extracts the concepts from answers that were missed.
    Concepts {}
    = "concepts", key "", lane 0, Policy { first_after: TEN_MINUTES, ..Policy::periodic(TEN_MINUTES) };

    /// Summarizes a session that was closed, or whose messages changed since.
    Summary { chat: ChatId, session: SessionId }
    = "summary", key session.key(), lane chat.0, Policy::BACKGROUND;

    /// Assigns tags to a session from its summary.
    Tags { chat: ChatId, session: SessionId }
    = "tags", key session.key(), lane chat.0, Policy::BACKGROUND;

    /// Requests the embedding of a session's summary from the embedding server.
    SummaryVector { chat: ChatId, session: SessionId }
    = "summary_vector", key session.key(), lane chat.0, Policy::BACKGROUND;

    /// Builds the Recent summary of a chat again: the sessions of the last 28 days.
    Recent { chat: ChatId, key: ChatKey }
    = "recent", key key, lane chat.0, Policy::BACKGROUND;

    /// Merges sessions that became too old for the Recent summary into the History summary of a chat.
    History { chat: ChatId, key: ChatKey }
    = "history", key key, lane chat.0, Policy::BACKGROUND;

    /// Summarizes `messages`, the oldest part of a long thread.
    Thread { chat: ChatId, key: ChatKey, forum_topic: Option<ForumTopicId>, messages: Vec<Seq> }
    = "thread", key thread_key(*key, messages), lane chat.0, Policy::BACKGROUND;

    /// Divides conversations into sessions, and schedules their summaries.
    Sessions {}
    = "sessions", key "", lane 0, Policy::periodic(MINUTE);

    /// Schedules the update of Recent and History summaries whose sessions got older, and builds missing embeddings of
    /// summaries.
    MemoryUpkeep {}
    = "memory_upkeep", key "", lane 0, Policy { first_after: MINUTE, ..Policy::periodic(HOUR) };

    /// Builds missing embeddings of messages and summaries, and maintains the index with which recall searches them.
    /// The next question may need them, so they do not wait for summaries.
    Vectors {}
    = "vectors", key "", lane 0, Policy { class: Class::Answering, first_after: MINUTE, ..Policy::periodic(TEN_MINUTES) };

    /// Deletes data whose retention period is over.
    Retention {}
    = "retention", key "", lane 0, Policy { first_after: MINUTE, ..Policy::periodic(HOUR) };
}

/// Identifies a thread by its first message.
fn thread_key(chat: ChatKey, messages: &[Seq]) -> String {
    format!("{chat}:{}", messages.first().copied().unwrap_or(Seq(0)))
}

fn topic_key(chat: ChatKey, forum_topic: Option<ForumTopicId>) -> String {
    format!("{chat}:{}", forum_topic.map_or(0, |id| id.0))
}

impl JobPayload {
    pub fn topic(chat: ChatId, conversation: Conversation) -> Self {
        Self::Topic { chat, key: conversation.chat, forum_topic: conversation.forum_topic }
    }
}

impl JobKind {
    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == raw)
    }

    pub fn periodic() -> impl Iterator<Item = (JobPayload, Policy)> {
        Self::ALL.into_iter().filter_map(|kind| Some((kind.bare()?, kind.policy()))).filter(|(_, it)| it.is_periodic())
    }

    /// Returns the names of the kinds whose policy `chosen` accepts, as an SQL list: `'answer', 'send'`. The names are
    /// constants, so they need no escaping.
    pub fn sql_list(chosen: impl Fn(&Policy) -> bool) -> String {
        let names = Self::ALL.into_iter().filter(|kind| chosen(&kind.policy())).map(Self::as_str);
        names.map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
    }
}
