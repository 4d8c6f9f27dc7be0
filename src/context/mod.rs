//! What is being talked about: from a trigger and the messages before it to the window that an answer is given.
//!
//! *Owns*: which messages a tag is about, and why each message is in or out of a prompt.
//! *Never*: IO, a clock, SQL or a model outside its driver. The same history gives the same window, byte for byte.
//! *Entry*: [`run::gather`] fetches; [`get_smart_context`] picks.
//!
//! For somebody who knows information retrieval, in the order of a tag's way:
//!
//! 1. **Fetch** (`run`): the last 200 messages of the conversation, what reply links lead to from the tag and from the newest,
//!    what surrounds an old anchor, what an earlier answer rested on (`history`), with features that were worked out when each
//!    message came in (`run/cache`, `run/precomputed`, `run/warm`; `evidence`). `candidates` makes one set of it.
//! 2. **Features** (`features`): words as stems with one idf over the candidates, embeddings without what is usual here, names,
//!    days that are named, silences by their rank in this chat.
//! 3. **Reply structure** (`replies`): a linear model with a softmax says from which message each goes on, or that it starts
//!    something new; explicit replies are all but certain. Twelve forests are sampled from it. Their trees are *strands*; cut at
//!    silences of two hours and behind answers of the bot they are *segments* (`strands`); segments that take up each other are
//!    *matters* (`matters`). How often two candidates share one, over all forests, is the consensus.
//! 4. **Focus** (`focus`): which candidates a tag points at, a softmax over candidates: by place in the talk for a bare tag, by
//!    words, embeddings (`meanings`), names and days for one with a question. A reply points at its anchor.
//! 5. **Relatedness** (`relatedness`): a pairwise classifier says which candidates are about the same as each of those, refined
//!    twice by what else goes with both. In a busy chat strands take its place.
//! 6. **Novelty** (`novelty`): how likely a tag takes up nothing at all; the more, the dearer each token.
//! 7. **Selection** (`select`): the set with the highest expected F1 over these guesses is the *focus* of the window; where two
//!    matters are as likely, the second is kept beside it. `pick` ties 3 to 7 together.
//! 8. **Further back** (`retrieval`): with what was asked and picked as a query, the engine of recall finds messages older than
//!    all candidates, and a classifier reranks them by its features.
//! 9. **Surroundings** (`window/surroundings`): what the same ranking puts next, with recency as a nudge, and what was said last.
//! 10. **Budget** (`budget`): packed by part and score into `CONTEXT_TOKENS`; `window` is the door that runs 8 to 10.
//!
//! `seed` is the first design's rule (a time gap and an anchor), kept as a baseline and a feature.
//! `explain` takes the same steps and writes down what each feature added (`contributions`). All weights are linear (`linear`,
//! `weights`) and fitted by `benches/fit` with rows from `pick/training`.

mod budget;
mod candidates;
mod context_window;
mod contributions;
mod evidence;
mod explain;
mod features;
mod focus;
mod history;
mod index_set;
mod linear;
mod long_strand;
mod matters;
mod meanings;
mod novelty;
mod params;
mod pick;
mod relatedness;
mod replies;
mod retrieval;
pub mod run;
mod seed;
mod select;
mod strands;
mod weights;
mod window;

pub use context_window::{ContextWindow, Entry};
pub use contributions::Feature;
pub use evidence::{Evidence, antecedent_rows};
pub use explain::{Explained, explain};
pub use features::message::{MessageFeatures, without_bots};
pub use history::{History, Sources, Summarized};
pub use long_strand::{MAX_STRAND_TOKENS, StrandLimits, StrandMessage, oldest_part};
pub use params::Params;
pub use pick::training;
pub use replies::antecedents::{Antecedent, Antecedents};
pub use replies::model::ReplyModel;
pub use retrieval::query::Sought;
pub use retrieval::rerank::{Judged, Weights as FurtherBackWeights, judged};
pub use seed::SeedRule;
pub use weights::Scorers;
pub use window::{Focused, get_smart_context, get_smart_context_with};

#[cfg(test)]
mod tests;
