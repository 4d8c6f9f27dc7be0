//! The kinds of jobs: what each carries and how it is treated. A new kind is a new entry here, and an arm where `app`
//! runs jobs.

use serde::{Deserialize, Serialize};

use super::policy::Policy;
use super::{MessageAt, ParsedTrigger};
use crate::{AnswerId, ChatId, ChatKey, CommandName, Conversation, Seq, SessionId, ThreadId, Timestamp, UserId};

/// Declares [`JobPayload`] and [`JobKind`] from one table. An entry reads: what the job does, its data, its name in the
/// database, the key (unique per kind), the lane, the policy.
macro_rules! job_kinds {
    ($(
        $(#[$doc:meta])+
        $kind:ident { $($(#[$attribute:meta])* $field:ident: $type:ty),* }
        = $name:literal, key $key:expr, lane $lane:expr, $policy:expr;
    )+) => {
        /// What a job is to do. Holds ids and numbers, and no word that anybody wrote.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum JobPayload {
            $($(#[$doc])+ $kind { $($(#[$attribute])* $field: $type),* },)+
        }

        /// The kind of a job, without its data.
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

            /// Unique among the jobs of this kind: the same work twice is one job.
            pub fn key(&self) -> String {
                match self {
                    $(Self::$kind { $($field),* } => {
                        $(let _ = $field;)*
                        $key.to_string()
                    })+
                }
            }

            /// The Telegram chat that the job works for, 0 for none.
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
        }
    };
}

job_kinds! {
    /// Answer a trigger.
    Answer { at: MessageAt, #[serde(default)] parsed: ParsedTrigger }
    = "answer", key at, lane at.chat.0, Policy::ASKING;

    /// See to a press on a button. `query` is the press's id at Telegram.
    Press { query: String, chat: ChatId }
    = "press", key query, lane chat.0, Policy::ANSWERING;

    /// Reply to an in-chat command.
    Command { at: MessageAt, name: CommandName, #[serde(default)] parsed: ParsedTrigger }
    = "command", key at, lane at.chat.0, Policy::ANSWERING;

    /// React to a mere thanks.
    Thank { at: MessageAt }
    = "thank", key at, lane at.chat.0, Policy::ANSWERING;

    /// Deliver the parts of one reply. `made_by` is the job that makes it anew when what it rests on is forgotten.
    Send { reply: String, chat: ChatId, #[serde(default)] made_by: Option<Box<JobPayload>> }
    = "send", key reply, lane chat.0, Policy::ANSWERING;

    /// Say once how many old triggers were left unanswered.
    Backlog { chat: ChatId }
    = "backlog", key chat, lane chat.0, Policy::ANSWERING;

    /// Tell that a trigger was one too many.
    Refusal { at: MessageAt }
    = "refusal", key at, lane at.chat.0, Policy::ANSWERING;

    /// Say once how to be allowed, and leave.
    Leave { chat: ChatId }
    = "leave", key chat, lane chat.0, Policy::ANSWERING;

    /// Tell a chat what is kept of it.
    Announce { chat: ChatId }
    = "announce", key chat, lane chat.0, Policy::ANSWERING;

    /// Tell a chat how many messages from before were imported.
    Imported { chat: ChatId, count: u64 }
    = "imported", key chat, lane chat.0, Policy::ANSWERING;

    /// Find the topic of a conversation, and make its summary where that is missing.
    Topic { chat: ChatId, key: ChatKey, thread: Option<ThreadId> }
    = "topic", key topic_key(*key, *thread), lane chat.0, Policy::BACKGROUND;

    /// Make the summary of a topic. `tag` is the row of its tag.
    TopicSummary { chat: ChatId, key: ChatKey, tag: i64 }
    = "topic_summary", key tag, lane chat.0, Policy::BACKGROUND;

    /// Tell what was said since a moment; `personal`: for whoever asked alone.
    Recap { at: MessageAt, since: Timestamp, personal: bool }
    = "recap", key at, lane at.chat.0, Policy::ASKING;

    /// Tell a conversation of a chat what was said, as the chat subscribed to it.
    ChatRecap { chat: ChatId, key: ChatKey, thread: Option<i64>, since: Timestamp, until: Timestamp }
    = "chat_recap", key format!("{key}:{}", until.millis()), lane chat.0, Policy::BACKGROUND;

    /// Transcribe a spoken message.
    Transcribe { at: MessageAt }
    = "transcribe", key at, lane at.chat.0, Policy { attempts: 6, ..Policy::BACKGROUND };

    /// Start the recaps that are due.
    Recaps {}
    = "recaps", key "", lane 0, Policy::PERIODIC;

    /// Delete what somebody asked in `chat` to have forgotten. `request` is the row of the request.
    Forget { request: i64, chat: ChatId }
    = "forget", key request, lane chat.0, Policy { ends_with_chat: false, ..Policy::ANSWERING };

    /// Send all that is kept of a chat to the admin who asked for it a day ago. `at` is the command.
    Export { at: MessageAt, thread: Option<ThreadId>, asked_by: UserId }
    = "export", key format!("{}:{asked_by}", at.chat), lane at.chat.0, Policy::ANSWERING;

    /// Clear the file of what deleted words left in it.
    Scrub {}
    = "scrub", key "", lane 0, Policy { ends_with_chat: false, ..Policy::BACKGROUND };

    /// Look for the concepts of one answer, right after it.
    Capture { chat: ChatId, answer: AnswerId }
    = "capture", key answer, lane chat.0, Policy::BACKGROUND;

    /// Look for the concepts of answers that have none yet.
    Concepts {}
    = "concepts", key "", lane 0, Policy::PERIODIC;

    /// Summarize a session that was closed, or that changed.
    Summary { chat: ChatId, session: SessionId }
    = "summary", key session.key(), lane chat.0, Policy::BACKGROUND;

    /// Tag a session by its summary.
    Tags { chat: ChatId, session: SessionId }
    = "tags", key session.key(), lane chat.0, Policy::BACKGROUND;

    /// Have a server make the vector of a session's summary.
    SummaryVector { chat: ChatId, session: SessionId }
    = "summary_vector", key session.key(), lane chat.0, Policy::BACKGROUND;

    /// Make Recent of a chat anew.
    Recent { chat: ChatId, key: ChatKey }
    = "recent", key key, lane chat.0, Policy::BACKGROUND;

    /// Fold sessions that aged into History of a chat.
    History { chat: ChatId, key: ChatKey }
    = "history", key key, lane chat.0, Policy::BACKGROUND;

    /// Sum up the oldest part of a long strand.
    Strand { chat: ChatId, key: ChatKey, thread: Option<ThreadId>, messages: Vec<Seq> }
    = "strand", key strand_key(*key, messages), lane chat.0, Policy::BACKGROUND;

    /// Divide conversations into sessions, and see to it that each gets its summary.
    Sessions {}
    = "sessions", key "", lane 0, Policy::PERIODIC;

    /// Fold what has aged, and make the vectors that are missing.
    MemoryUpkeep {}
    = "memory_upkeep", key "", lane 0, Policy::PERIODIC;

    /// Make the vectors that recall searches, and keep their index whole.
    Vectors {}
    = "vectors", key "", lane 0, Policy::PERIODIC;

    /// Delete what has been kept long enough.
    Retention {}
    = "retention", key "", lane 0, Policy::PERIODIC;
}

/// A strand is told by the first message of it.
fn strand_key(chat: ChatKey, messages: &[Seq]) -> String {
    format!("{chat}:{}", messages.first().copied().unwrap_or(Seq(0)))
}

fn topic_key(chat: ChatKey, thread: Option<ThreadId>) -> String {
    format!("{chat}:{}", thread.map_or(0, |id| id.0))
}

impl JobPayload {
    /// The job that finds the topic of a conversation of `chat`.
    pub fn topic(chat: ChatId, conversation: Conversation) -> Self {
        Self::Topic { chat, key: conversation.chat, thread: conversation.thread }
    }
}

impl JobKind {
    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == raw)
    }

    /// The kinds that `chosen` accepts, as a list for SQL: `'answer', 'send'`. Names are our own words.
    pub fn sql_list(chosen: impl Fn(&Policy) -> bool) -> String {
        let names = Self::ALL.into_iter().filter(|kind| chosen(&kind.policy())).map(Self::as_str);
        names.map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
    }
}
