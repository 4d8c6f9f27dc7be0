//! Views: each loads what it shows in one read of the store, then renders it.

pub mod answer;
pub mod chat;
pub mod memory;
pub mod overview;
pub mod privacy;
pub mod settings;
