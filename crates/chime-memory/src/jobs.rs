//! Background jobs of the memory. Each reads its input, asks the model if that is allowed, and marks itself done in the
//! transaction that stores its result.

mod delimiters;
mod divide;
mod error;
mod items;
mod load;
mod memory;
mod memory_lines;
mod model;
mod new_summary;
mod recap;
mod rolling;
mod session_summary;
mod tagging;
#[cfg(test)]
mod tests;
mod thread_summary;
mod topic_summary;
mod topics;

pub use items::{ItemList, item_pieces, items};
pub use load::{places, remembered};
pub use memory::Memory;
pub use memory_lines::pieces;
pub use model::SummaryModel;
pub use thread_summary::thread_summary;
pub use topic_summary::{active_topics, remembered_topics, topic_pieces};
