//! The fake world of the tests.
//!
//! *Owns*: what stands in for Telegram, the model and the people in a chat.
//! *Never*: in a release build, nor a second implementation of anything.
//! *Entry*: [`updates::generate`] makes updates, [`updates::validate_request`] checks requests.

pub mod updates;
