//! Are two messages about the same? A classifier of pairs (`pairwise`, by what is said around each: `neighborhood`), and two
//! passes that look at what else goes with both (`refine`, on square matrices: `matrix`).

pub mod matrix;
pub mod neighborhood;
pub mod pairwise;
pub mod refine;
