//! The SQLite database.
//!
//! The crate contains the connections, the migrations, the full-text index, the file lock, and one file of SQL for each
//! family of tables. It makes no policy decisions. Most functions are free and synchronous. Their first parameter is a
//! [`Reader`] if they only read and a [`Writer`] if they write, so a write can only be called in a transaction. Start
//! at [`Store::open`], then [`Store::write`] and [`Store::read`].

pub mod admission;
pub mod announcements;
pub mod answers;
pub mod backlog;
pub mod backups;
pub mod button_presses;
pub mod chat_migration;
pub mod chat_settings;
pub mod chats;
pub mod concepts;
pub mod consent;
pub mod console;
pub mod deletions;
pub mod derived;
pub mod disk;
pub mod embedding_spaces;
pub mod family;
pub mod feedback;
pub mod follow_ups;
pub mod forget;
#[cfg(feature = "testkit")]
pub mod images;
pub mod inbox;
pub mod item_marks;
pub mod jobs;
pub mod memory;
pub mod menus;
pub mod messages;
pub mod notes;
pub mod numbering;
pub mod outbox;
pub mod pages;
pub mod passages;
pub mod postings;
pub mod quotes_and_forwards;
pub mod recaps;
pub mod refusals;
pub mod reminders;
pub mod reply_streams;
pub mod retention;
pub mod scrub;
pub mod search;
pub mod sessions;
pub mod summaries;
pub mod summary_vectors;
pub mod tags;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod thread_summaries;
pub mod topic_names;
pub mod topics;
pub mod usage;
pub mod vector_index;
pub mod vector_tables;
pub mod vectors;
#[cfg(feature = "testkit")]
pub mod watch;

mod answer_sources;
mod copy;
mod error;
mod handle;
mod migrate;
mod open;
mod row;
mod snapshot;
mod sql;
mod writer;

pub use chime_core::{Language, stems};
pub use copy::{TrialCopy, back_up, restore};
pub use error::StoreError;
pub use handle::{Priority, Store};
pub use open::{Inspection, Opened, amend, inspect, size};
pub use snapshot::{Copied, copy_to};
pub use writer::in_savepoint;

/// Connection for reading. All functions that only read take it.
pub type Reader = rusqlite::Connection;
/// Transaction of the single writer. Functions that take a [`Reader`] accept it too.
pub type Writer<'a> = rusqlite::Transaction<'a>;

pub type Result<T> = std::result::Result<T, StoreError>;
