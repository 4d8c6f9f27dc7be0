//! What a talk is about, across silences: fragments of strands that take up the same matter days apart.
//!
//! *Owns*: the words that carry a matter, the features of a fragment and an earlier matter, the fitted weights, whether a
//! trigger takes anything up at all.
//! *Never*: IO; a constant that is not in `weights.json` or documented beside its use.
//! *Entry*: [`Matters::draw`] groups the candidates of one world; [`Gate::starts_new`].
//!
//! In reading order: `words`, `weights`, `ground` (the candidates made ready), `kinship` (the features), `draw`, `gate`.

mod draw;
mod gate;
mod ground;
mod kinship;
mod weights;
mod words;

pub use draw::Matters;
pub use gate::{Opening, starts_new};
pub use ground::{Ground, Remark, slowness};
pub use weights::Weights;
pub use words::{says_little, stems};
