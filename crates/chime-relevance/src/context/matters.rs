//! Topic segmentation and linking across silences. Each segment (`segment`) is compared with every matter before it (`matter`) by
//! words, people and embeddings (`link`), and the matter that it continues is sampled (`assign`). `lessons` makes the examples that
//! the weights are fitted on.

pub mod assign;
pub mod lessons;
pub mod link;
pub mod matter;
pub mod segment;
