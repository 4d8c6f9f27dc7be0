//! Privacy: removal of content that must not be stored, retention, redaction, privacy texts, and requests to forget or
//! export.
//!
//! Start with [`strip()`] for incoming messages, [`ForgetRequest`] for `/forget`, [`worker::RetentionWorker`] for
//! expired data. The SQL that deletes is in `chime_store::forget`.

mod facts;
mod notice;
mod redact;
mod repeats;
mod request;
mod retention;
mod strip;
pub mod wording;
pub mod worker;

pub use facts::PrivacyFacts;
pub use notice::{NoticeKind, group_notice, language_of_app, private_notice};
pub use redact::{Masks, redact};
pub use repeats::repeats;
pub use request::{
    Asker, ChatRole, ExportRequest, ForgetRequest, ForgetTarget, RequestDecision, RequestRefusal, decide, decide_export,
};
pub use retention::{Cutoffs, ExpiryClock, cutoffs, expiry_clock};
pub use strip::{Keep, Stripped, Withheld, strip, strip_message};
