//! End-to-end tests of the whole daemon: one binary, with one file for each area.
//!
//! `answering` speaks with it, `updates` pours everything into it that Telegram might send,
//! `faults` breaks what is around it, `kills` ends it at the worst moments, as a process of its own, and `images` in the
//! middle of every kind of background work; `resilience` has the model fail while it is watched, `server` has it slow and small. `dialogue` goes on
//! with the talk, `dialogues` plays some in several languages, `matter` asks what a tag is about, `limits` and `budgets` ask too much of it, `access` asks who may come
//! in, `privacy`, `consent` and `provenance` who wants to be forgotten, `trust` looks at what is posted of what a model wrote,
//! `operator` looks after it, `console` opens its page, `showcase` types into the demo, `embedding` has a server make its vectors, `follow_up` goes on with
//! suggestions, `concepts` keeps named things in mind, `recap` tells what was said, `tools` looks things up, `time_zone` reads
//! the clock, `size` weighs the file, `languages` listens, `voice` hears what is spoken, `photos` looks at what is shown, `grounding` asks for sources, `streaming` watches
//! answers being written, `links` reads what members link to, `documents` the files that they post, `web_search` asks a search service (`site` is a web server for both), `injection` tries to make the bot act for others, `notes` saves texts, `search` finds messages, `reminders` come in time, `decisions` are found and tasks done, `settings` change how it answers, `polls` are held, `ephemeral` answers are for one, `guest` is asked elsewhere, `memory`, `sessions` and
//! `topics` remember what was said long before, `busy_group` lives through five weeks (the longest test, which begins early
//! since tests start in the order of their names), and `criteria` holds the promises of the chat workflow.

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
