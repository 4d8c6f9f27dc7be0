//! What is being talked about: from a trigger and the messages before it to the window that an answer is given.
//!
//! *Owns*: which messages a trigger is about, and why each message is in or out of a prompt.
//! *Never*: IO, a clock, SQL or a model outside its driver. The same history gives the same window, byte for byte.
//! *Entry*: [`get_smart_context`] picks; `chime-memory` fetches.
//!
//! The steps, in the order in which a trigger takes them:
//!
//! 1. **Fetch** (`run`): the last 200 messages of the conversation, the ancestors of the tag and of the newest messages by reply
//!    links, the messages around an old anchor, the sources of an earlier answer (`history`), and features that were computed when
//!    each message came in (`run/cache`, `run/precomputed`, `run/warm`; `evidence`). `candidates` makes one set of them.
//! 2. **Features** (`features`): stems with one idf over the candidates, embeddings centred on their mean (`meanings`), names, days
//!    that are named, silences by their rank in this chat.
//! 3. **Reply structure** (`replies`): a linear model with a softmax gives each message a distribution over antecedents, "starts
//!    something new" among them; reply links are all but certain. Twelve reply forests are sampled. Their trees are *strands*; cut at
//!    silences of two hours and behind answers of the bot they are *segments* (`strands`); segments about the same thing are linked
//!    into *matters* (`matters`). The share of forests in which two candidates are in one segment is their consensus.
//! 4. **Focus** (`focus`): the candidate that a tag points at, as a softmax over all of them: by position and reply structure for a
//!    bare tag, by words, embeddings, names and days as well for one with a question. A reply points at its anchor.
//! 5. **Relatedness** (`relatedness`): a pairwise classifier scores which candidates are about the same as each of those; two passes
//!    of collective classification refine it. In a busy chat strands take its place.
//! 6. **Novelty** (`novelty`): the probability that a tag starts something new; the higher it is, the more each token costs.
//! 7. **Selection** (`select`): the set with the highest expected F1, less that cost, is the *focus* of the window; where two matters
//!    are about as likely, the second is noted. `pick` runs 3 to 7.
//! 8. **Further back** (`retrieval`): with the ask and the focus as a query, the engine of recall finds messages older than all
//!    candidates, and a classifier reranks them.
//!    For a question of its own (`open_question`) the whole conversation is searched for stretches that hold its words (`past`):
//!    up to six tenths of the window, and in a conversation longer than the candidates the best of them is the focus.
//! 9. **Surroundings** (`window/surroundings`): the next messages of the same ranking, with a small bonus for recency, and the last
//!    three that members said.
//! 10. **Budget** (`budget`): all of it is packed by part and score into `CONTEXT_TOKENS`. `window` runs all steps but the first.
//!
//! Where an ask names a time, a talk or a member and nothing else, the focus is not picked: it is what was said then or by them (`said`),
//! the most telling of it (`central`).
//! `seed` is the first design's rule (a time gap and an anchor), kept as a baseline and a feature. `explain` picks once more and
//! notes what each feature added (`contributions`). All models are linear (`linear`, `weights`) and fitted by `benches/fit` on rows
//! from `pick/training`.

pub mod budget;
pub mod candidates;
pub mod central;
pub mod context_window;
pub mod contributions;
pub mod evidence;
pub mod explain;
pub mod features;
pub mod focus;
pub mod history;
pub mod index_set;
pub mod linear;
pub mod long_strand;
pub mod matters;
pub mod meanings;
pub mod novelty;
pub mod open_question;
pub mod params;
pub mod past;
pub mod pick;
pub mod relatedness;
pub mod replies;
pub mod retrieval;
pub mod said;
pub mod seed;
pub mod select;
pub mod strands;
pub mod weights;
pub mod window;

pub use context_window::{ContextWindow, Entry};
pub use contributions::Feature;
pub use evidence::{Evidence, antecedent_rows};
pub use explain::{Explained, explain};
pub use features::message::{MessageFeatures, without_bots};
pub use history::{History, Sources, Summarized};
pub use long_strand::{MAX_STRAND_TOKENS, StrandLimits, StrandMessage, oldest_part};
pub use open_question::{OpenQuestion, read as read_question};
pub use params::Params;
pub use past::Past;
pub use pick::training;
pub use replies::antecedents::{Antecedent, Antecedents};
pub use replies::model::ReplyModel;
pub use retrieval::query::OlderQuery;
pub use retrieval::rerank::{Reranked, Weights as FurtherBackWeights, rerank};
pub use said::{AskedSpan, said, told};
pub use seed::SeedRule;
pub use weights::Scorers;
pub use window::{Focused, get_smart_context, get_smart_context_with};

#[cfg(test)]
mod tests;
