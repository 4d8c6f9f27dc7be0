//! Follow-ups on a suggestion: "more", "cheaper", "what about the second one?", "something by the same author".
//!
//! Pure functions. [`classify`] reads the question with patterns from data files; [`resolve`] adds what the suggestion
//! that it continues says. What members asked for stays in their own words, for the model that answers. `items`
//! reads the suggestions of an answer, `show` renders a follow-up.

mod classify;
mod item_question;
mod items;
mod names;
mod price_limit;
mod references;
mod resolve;
pub mod show;
mod tables;
mod words;

pub use classify::{ClassifiedQuestion, ClassifierInput, classify};
pub use item_question::{item_with_word, names_items, surely_names_items};
pub use items::{
    is_of_members, is_of_messages, items, lists_names, lists_things, offered_items, offers_choice, only_item,
    repeats_title,
};
pub use resolve::{answered, choose, excluded, resolve};
pub use tables::FollowUpTables;
pub use words::fold;
