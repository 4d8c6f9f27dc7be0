//! Retrieval of messages older than all candidates, for matters that began before them.
//!
//! In a group of five hundred messages a day the last two hundred are one afternoon. The ask and the picked messages make a query
//! (`query`), the engine of recall finds messages that hold its words, and `rerank` scores them. Those that are clearly about the
//! same join the focus; the others are surroundings, where there is room.

pub mod query;
pub mod rerank;
