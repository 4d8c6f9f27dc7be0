//! Health and metrics of the daemon for other programs, at `/healthz` and `/metrics`. Requests change nothing, and the
//! responses contain nothing that members wrote.
//!
//! [`server::router`] answers the requests, and `report.rs` builds the responses.

mod report;
pub mod server;

pub use report::{Health, Status, Vitals};
