//! Same-topic classification of pairs (`pairwise`), and two passes of collective classification that add features of
//! the neighbors of both candidates (`refine`), on dense matrices (`matrix`).

pub mod matrix;
pub mod pairwise;
pub mod refine;
