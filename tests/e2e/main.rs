//! End-to-end tests of the whole daemon: one binary, with one file for each area.
//!
//! The first line of each file says what it tests. `process` and `site` are helpers: the daemon as a separate process,
//! and a web server. Tests start in the order of their names, so the longest one (`busy_group`) starts early.

#![expect(clippy::expect_used, clippy::panic, reason = "a story that cannot go on fails its test")]

mod access;
mod answering;
mod backups;
mod budgets;
mod busy_group;
mod concepts;
mod consent;
mod console;
mod costs;
mod criteria;
mod decisions;
mod dialogue;
mod dialogues;
mod documents;
mod embedding;
mod ephemeral;
mod export;
mod faults;
mod follow_up;
mod follow_up_table;
mod grounding;
mod guest;
mod images;
mod injection;
mod kills;
mod languages;
mod limits;
mod links;
mod memory;
mod notes;
mod operator;
mod photos;
mod picture;
mod polls;
mod privacy;
mod process;
mod provenance;
mod recall;
mod recap;
mod reminders;
mod resilience;
mod search;
mod server;
mod sessions;
mod settings;
mod showcase;
mod site;
mod size;
mod streaming;
mod subject;
mod time_zone;
mod tools;
mod topics;
mod trust;
mod updates;
mod voice;
mod web_search;
