//! Markdown, as models write it, to text with entities, as Telegram shows it.
//!
//! *Owns*: which Markdown means what in a chat; the shape of lists and tables as text.
//! *Never*: `parse_mode` - nothing that a model writes can make a send fail; a judgement on addresses (see `safety`).
//! *Entry*: [`to_entities`].

mod clean;
mod inline;
mod latex;
mod render;
mod source;
mod table;
mod writer;

pub use render::to_entities;

#[cfg(test)]
mod tests;
