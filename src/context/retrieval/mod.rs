//! Further back than the candidates: where the matter of a trigger began, if that was before all of them.
//!
//! In a group of five hundred messages a day the last two hundred are one afternoon. What was asked, and what was picked of
//! them, says which words to look for (`query`). The engine that recall uses finds the messages that say them, and `rerank`
//! tells which are about the same. Precision first: what is not clearly about the same is shown where there is room for it.

pub mod query;
pub mod rerank;
