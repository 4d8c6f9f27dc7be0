//! Finds old messages and sessions for a question. Recall uses this code to rank everything that a chat remembers, and
//! the picker uses it to search a conversation.
//!
//! Start at [`ParsedQuestion::read`], then [`rank()`] a few to a few thousand [`Passage`]s. Scores are sums of features
//! that are not relative to the other passages, so scores of different chats and questions are comparable.
//! [`rank_sessions`] ranks sessions by their best messages and their summaries, [`by_words()`] searches one
//! conversation by words. Nothing here fetches data.

pub mod archive;
pub mod by_words;
pub mod cues;
pub mod dates;
pub mod days;
pub mod features;
pub mod frequencies;
mod item_questions;
pub mod languages;
pub mod lexicon;
pub mod passage;
pub mod proposals;
pub mod question;
pub mod rank;
pub mod recalled;
pub mod reminder_times;
pub mod sessions;
pub mod similarity;
pub mod stretches;
pub mod weights;
pub mod words;

pub use archive::{Archive, Sought};
pub use by_words::{FoundMessage, WeightedWord, by_words};
pub use cues::{Cues, cues};
pub use dates::{TimeSpan, date_words, spans_alone, spans_named};
pub use days::days_named;
pub use features::Features;
pub use frequencies::Frequencies;
pub use item_questions::{ItemQuestion, item_question, item_subject};
pub use languages::{Tables, is_time_word};
pub use lexicon::Lexicon;
pub use passage::{Passage, SESSION_SILENCE, in_sessions};
pub use question::{ParsedQuestion, QuestionFacts, asks_number_or_time};
pub use rank::{Ranked, rank};
pub use recalled::{Recalled, RecalledBullet, RecalledMessage, RecalledSession};
pub use reminder_times::{
    AskedTime, ReminderTime, end_of_named_day, names_time, reminder_task, reminder_time, time_alone,
};
pub use sessions::{SessionScore, SessionText, SummaryReader, rank_sessions};
pub use stretches::{NEAREST, Stretch, stretches};
pub use weights::Weights;
