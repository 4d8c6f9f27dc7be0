//! Text to vectors, with the small model that ships inside the program.
//!
//! *Owns*: the static embedding model, how it reads a text, its centre, and which texts it does not cover.
//! *Never*: knows what is embedded or why.
//! *Entry*: [`Embedder::shipped`], then [`Embedder::embed`].
//!
//! In reading order: `words`, `vocabulary`, `table`, `coverage`, `model`.

mod coverage;
mod model;
mod table;
mod vocabulary;
mod words;

pub use model::{EmbedError, Embedder, SHIPPED_NAME};
