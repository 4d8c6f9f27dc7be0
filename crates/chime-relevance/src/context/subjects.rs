//! Links segments into subjects across silences. Each segment (`segment`) is compared with every earlier subject
//! (`subject`) by words, people and embeddings (`link`), and the subject that it continues is drawn at random by these
//! scores (`assign`).

pub mod assign;
pub mod link;
pub mod segment;
pub mod subject;
