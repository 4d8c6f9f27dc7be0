//! Segments that take up each other across silences: topic segmentation and linking. A segment's words, people and meaning
//! (`segment`) are compared with those of each matter before it (`matter`, `link`), and sampled (`assign`). `lessons` are what
//! the weights are fitted on.

pub mod assign;
pub mod lessons;
pub mod link;
pub mod matter;
pub mod segment;
