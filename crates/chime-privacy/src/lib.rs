//! What may be kept of whom, and what goes when somebody says so.
//!
//! *Owns*: what an opt-out leaves of an arrival, which members and messages a raw update holds, what counts as a
//! repetition of a forgotten text, what a request to forget or to export asks for and who may ask it, how long things are kept, and
//! every sentence about it.
//! *Never*: IO outside its driver; deletes anything itself (that is `store::forget`).
//! *Entry*: [`strip`] for what comes in, [`Request`] for what is to go, [`worker::Keeper`] for what has aged.

mod joined;
mod leftover;
mod redact;
mod repeats;
mod request;
mod retention;
mod strip;
mod traces;
pub mod wording;
pub mod worker;

pub use joined::{News, joined, joined_in_private, language_of_app};
pub use leftover::leftover;
pub use redact::{Masks, redact};
pub use repeats::repeats;
pub use request::{Asker, ExportRequest, Refusal, Request, Standing, Target, Verdict, decide, decide_export};
pub use retention::{Cutoffs, Reckoning, cutoffs, reckon};
pub use strip::{Keep, Stripped, Withheld, strip, strip_message};
pub use traces::{Traces, traces};
