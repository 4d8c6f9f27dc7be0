//! Scripted stand-ins for what is outside the process: a model server, Telegram's updates, exports of Telegram Desktop.
//!
//! Stand-ins are strict: an unexpected call fails the test.

mod exports;
mod model;
mod reply;
pub mod updates;

pub use exports::Export;
pub use model::ModelServer;
pub use reply::Reply;
