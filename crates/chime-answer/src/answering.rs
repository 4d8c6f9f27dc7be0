//! Runs the IO of an answer: reads the store, asks the model, stores and sends the reply.

mod ask;
mod askers;

mod capture;
mod concepts;
mod deliver;
mod documents;
mod draft;
mod enrich;
mod follow_up;
mod grounding;
mod guest;
mod introduction;
mod load_question;
mod load_trigger;
mod log;
mod long_thread;
mod notes;
mod own_message;
mod owners;
mod pages;
mod photos;
mod question;
mod recheck;
mod record;
mod reply;
mod request;
mod stream;
mod tool_rounds;
mod traffic;
mod transcribe;
mod typing;
mod unanswered;

pub use ask::{Answering, AnsweringParts};
pub use capture::Capturing;
pub use deliver::Delivery;
pub use enrich::{Enricher, Subject};
pub(crate) use grounding::similarities;
pub use guest::Guests;
pub use introduction::Introduction;
pub use load_trigger::asked;
pub use long_thread::LongThreads;
pub use notes::note_enricher;
pub use reply::{format_own, format_parts};
pub use traffic::Lanes;
pub use typing::keep_typing;
