//! Text to vectors, with the small model that ships inside the program.
//!
//! *Owns*: the static embedding model, its centre, and which texts it does not cover.
//! *Never*: knows what is embedded or why.
//! *Entry*: [`Embedder::shipped`], then [`Embedder::embed`].

mod coverage;
mod model;

pub use model::{EmbedError, Embedder};
