//! What a talk is about, across silences: fragments of strands that take up the same matter days apart.
//!
//! *Owns*: the words that carry a matter, the features of a fragment and an earlier matter, of a tag and what it hangs on,
//! of two messages of one matter; the fitted weights; whether a trigger takes anything up at all.
//! *Never*: IO; a constant that is not in `weights.json` or documented beside its use.
//! *Entry*: [`Drawing::world`] groups the candidates of one world; [`anchors`] says what a tag hangs on, [`Circle`] what
//! belongs to it; [`starts_new`] and [`waste`].
//!
//! In reading order: `words`, `weights`, `ground` (the candidates made ready), `tables`, `fragment`, `matter`, `bridge`
//! (the features of the two), `draw`, `together` (what the worlds agree on), `bursts` (what is said around a message),
//! `anchor`, `kin`, `circle` (the second and third look at who is kin), `grid` (numbers about any two), `gate`, and
//! `lessons` (what a bridge is fitted on).

mod anchor;
mod bridge;
mod bursts;
mod circle;
mod draw;
mod fragment;
mod gate;
mod grid;
mod ground;
mod kin;
mod lessons;
mod matter;
mod tables;
mod together;
mod weights;
mod words;

pub use anchor::{
    BestMatch, NAMES as ANCHOR_NAMES, Scene, Tag, Values as AnchorValues, anchor_columns, anchors, best_match,
    features as anchor_features,
};
pub use bridge::NAMES as BRIDGE_NAMES;
pub use bursts::Meanings;
pub use circle::{Circle, NAMES as AGAIN_NAMES};
pub use draw::{Drawing, fragments};
pub use gate::{NAMES as GATE_NAMES, OF_TAG as GATE_OF_TAG, Opening, features as gate_features, starts_new, waste};
pub use ground::{Ground, Remark, slowness};
pub use kin::{Kinship, NAMES as KIN_NAMES};
pub use lessons::{Lesson, lessons};
pub use together::{Partitions, Together};
pub use weights::Weights;
pub use words::{says_little, stems, stems_of_name, words_of};
