//! Estimates which candidates share a subject: a classifier of pairs (`pairwise`), and two passes that also compare the
//! neighbours of both candidates (`refine`), on dense matrices (`matrix`).

pub mod matrix;
pub mod pairwise;
pub mod refine;
