//! Text embeddings with the small static model that is compiled into the program.
//!
//! Start with [`Embedder::shipped`], then [`Embedder::embed`]. Texts in a language that the model does not cover get no
//! vector.

mod coverage;
mod model;
mod table;
mod vocabulary;
mod words;

pub use model::{EmbedError, Embedder, SHIPPED_NAME};
