//! Types that every other crate shares: ids, timestamps, messages, chats, formatted text, events and answer records.
//!
//! Start with [`Message`]. A Telegram update becomes an [`Event`], and an answer is stored as an [`AnswerRecord`]. This
//! crate has no SQL, no network code and no clock.

#[macro_use]
mod word_enum;

mod answer;
mod chat;
pub mod chat_settings;
mod command;
mod compounds;
mod concept;
pub mod config;
mod display;
pub mod embed;
mod event;
mod fences;
mod fnv;
mod follow_up;
mod grounding;
mod host;
mod ids;
mod item;
mod job;
mod json_fault;
pub mod lang;
mod language_evidence;
mod language_names;
mod message;
mod outgoing;
mod packed;
mod panics;
mod phrases;
pub mod prompts;
mod refusal;
mod repair;
pub mod rows;
mod sent_citations;
mod service_events;
mod session;
mod source;
mod stems;
#[cfg(feature = "testkit")]
pub mod testkit;
mod text;
pub mod texts;
mod time;
mod tokenize;
mod tokens;
pub mod trigger;
mod visible;
mod zone;

pub use answer::{
    AnswerRecord, AnswerStatus, Chosen, FoundSource, Omitted, Part, Reason, RetrieverScores, SlotUse, SourceRef, Spent,
    TokenUse,
};
pub use chat::{Announced, BotIdentity, Chat, ChatKind, Conversation, MessagePlace, message_link, parse_message_link};
pub use command::{Addressing, CommandLimits, CommandName, MenuScope};
pub use concept::{Captured, Concept, ConversationContext};
pub use display::{clip, grouped, span_in_words};
pub use event::{Arrival, Event, GuestQuestion, Membership, Migration, PollState, Press, Reaction, TopicName};
pub use fences::{Fence, Fences, behind_bullet, columns};
pub use fnv::{FNV_START, fnv1a};
pub use follow_up::{Clarification, Evidence, FollowUp, FoundBy, Frame, Intent, Reference, Reset, SuggestedList};
pub use grounding::{Grounding, LinkReading, Uncertainty};
pub use host::is_loopback;
pub use ids::{AnswerId, ChatId, ChatKey, ConceptId, ForumTopicId, JobId, MessageId, Seq, UpdateId, UserId};
pub use item::{Amount, Item, ItemId, Price, Suggested};
pub use job::{
    AddressedBy, BACKLOG_SETTLES, Class, Job, JobKind, JobPayload, MessageAt, ParsedTrigger, Policy, UNANSWERED_AFTER,
};
pub use json_fault::json_fault;
pub use message::{Borrowed, Kind, Member, Message, MessageFile, Origin, Role, Sender, StoredMessage, searched_text};
pub use outgoing::{Button, Outgoing, Poll, PollButton, ReplyTarget};
pub use packed::{add_share, dot, pack, packed_cosine, unpack};
pub use panics::unless_it_panics;
pub use phrases::{PhraseIndex, PhraseWord};
pub use refusal::{Askers, ExplainedRefusal, Refusal, RefusalNotice, RefusalReason};
pub use repair::{repair, repair_bytes};
pub use sent_citations::{source_labels, source_list, without_sent_citations};
pub use service_events::event_words;
pub use session::{
    Bullet, BulletKind, CloseReason, ItemState, Rolling, Session, SessionCut, SessionId, SessionMessage, Summary,
    SummaryMethod, TOPIC_CLOSED, named,
};
pub use source::{
    Citable, Enrichment, FULL_ANSWER_TOKENS, Piece, PieceLine, Slot, SourceId, SourceKind, SourceMessage,
};
pub use stems::{Language, WordStemmer, short_stem, stems};
pub use text::{
    Entity, EntityKind, FormattedText, UserRef, covered, escape_marks, has_spoiler, hidden_links, is_in_word,
    spoiler_bars, utf16_len, utf16_slice, with_marks,
};
pub use time::Timestamp;
pub use tokenize::{
    folded, is_right_to_left, is_unspaced, lower_words, pieces, search_words, sentence_ends, sentences, split_words,
    without_accents,
};
pub use tokens::{TokenCalibration, estimate_tokens};
pub use visible::{is_blank, is_invisible, is_removed};
pub use zone::Zone;

/// Compiles a regular expression that is a constant of the program.
#[expect(clippy::expect_used, reason = "tests compile each pattern")]
pub fn pattern(raw: &str) -> regex::Regex {
    regex::Regex::new(raw).expect("a valid pattern")
}
