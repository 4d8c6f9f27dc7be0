//! From a context window to the words that go out, and their way there.
//!
//! *Owns*: the answer job and the delivery as state machines, the prompt and its slots, citations, the answer without a
//! model, and every other sentence of an answer.
//! *Never*: teloxide or rusqlite types; choosing messages (that is `context`).
//! *Entry*: [`answering::Answering`] works on a trigger, [`answering::Delivery`] on a reply.
//!
//! In reading order: `job` (what happens to a trigger), `prompt` (the slots), `recall` (old messages beside the window), `notes`,
//! `tools` (what the model may look up), `reader` (how much is asked of a small model),
//! `lines` (the window as text), `citations` (with `tags`, their forms), `sources` and
//! `support` (what each sentence rests on), `grounding` (what a strict chat asks of an answer), `uncertainty`, `used`
//! (what of memory an answer repeats), `echo` (a prompt that is repeated), `concepts`, `telling` (the messages to show
//! when there is no model), `digest`, `wording`, `why`, `notices` (what is short,
//! in the chat's language), `plain` (members' words made safe to show), `stream` (what is shown of an unfinished answer),
//! `delivery` (what becomes of a send), `press` (what becomes of a press on a button), `followup` (asks that go on with a
//! suggestion).

#![recursion_limit = "256"]

pub mod answering;
mod bare;
pub mod citations;
pub mod concepts;
pub mod delivery;
pub mod digest;
pub mod echo;
mod fences;
pub mod followup;
pub mod grounding;
pub mod job;
mod lines;
pub mod material;
pub mod notes;
pub mod notices;
mod own_list;
pub mod plain;
pub mod prompt;
pub mod reader;
pub mod recall;
mod sources;
pub mod stream;
pub mod support;
mod tags;
mod telling;
pub mod tools;
pub mod uncertainty;
mod used;
pub mod voice;
pub mod why;
pub mod wording;

pub use telling::shared_words;
