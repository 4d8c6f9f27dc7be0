//! What other programs may ask the daemon: whether it is well, and how much it has done.
//!
//! *Owns*: `/healthz`, `/metrics`, when red is red.
//! *Never*: changes anything; shows what members wrote.
//! *Entry*: [`server::HealthServer`] answers, `report.rs` says with what.

mod report;
pub mod server;

pub use report::{Health, Status, Vitals};
