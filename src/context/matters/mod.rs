//! What a talk is about, across silences: fragments of strands that take up the same matter days apart.
//!
//! *Owns*: the words that carry a matter, the features of a fragment and an earlier matter, the fitted weights, whether a
//! trigger takes anything up at all.
//! *Never*: IO; a constant that is not in `weights.json` or documented beside its use.
//! *Entry*: [`Drawing::world`] groups the candidates of one world; [`starts_new`].
//!
//! In reading order: `words`, `weights`, `ground` (the candidates made ready), `tables`, `fragment`, `matter`, `kinship`
//! (the features of the two), `draw`, `gate`.

mod draw;
mod fragment;
mod gate;
mod ground;
mod kinship;
mod matter;
mod tables;
mod weights;
mod words;

pub use draw::Drawing;
pub use gate::{Opening, starts_new};
pub use ground::{Ground, Remark, slowness};
pub use weights::Weights;
pub use words::{says_little, stems};
