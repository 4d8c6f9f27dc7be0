//! Are two messages about the same? A classifier of pairs (`pairwise`), and two passes that look at what else goes with both
//! (`refine`), on dense matrices (`matrix`).

pub mod matrix;
pub mod pairwise;
pub mod refine;
