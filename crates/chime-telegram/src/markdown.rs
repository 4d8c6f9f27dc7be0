//! Converts Markdown, as models write it, to text with Telegram entities. Start with [`to_entities`].
//!
//! Never uses `parse_mode`, so that nothing in a model's text can make a send fail. Addresses are checked in `safety`.

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
