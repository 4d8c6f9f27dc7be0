//! Topic segmentation and linking across silences. Each segment (`segment`) is compared with every earlier subject
//! (`subject`) by words, people and embeddings (`link`), and the subject that it continues is sampled (`assign`).
//! `lessons` makes the training examples for the weights.

pub mod assign;
pub mod lessons;
pub mod link;
pub mod segment;
pub mod subject;
