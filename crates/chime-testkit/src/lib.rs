//! Test doubles for everything outside the process: model server, Telegram updates, exports of Telegram Desktop.
//!
//! They are strict: an unexpected call fails the test.

mod exports;
mod model;
mod reply;
pub mod updates;

pub use exports::Export;
pub use model::ModelServer;
pub use reply::Reply;
