//! Chooses the messages that a trigger is about. Input: a trigger (a message that asks the bot) and the messages before
//! it. Output: the context window of the answer.
//!
//! Start at [`get_smart_context`]. The code does no IO and reads no clock: `chime-memory` fetches the messages, and the
//! same history always gives the same window, byte for byte.
//!
//! The steps, in the order in which a trigger takes them:
//!
//! 1. **Fetch** (`chime-memory`): the last 200 messages of the conversation, the ancestors of the trigger and of the
//!    newest messages by reply links, the messages around an old anchor, the sources of an earlier answer (`history`),
//!    and their features (`candidate_features`). `candidates` merges them into one set.
//! 2. **Features** (`features`): stems with their idf among the candidates, embeddings minus their mean (`meanings`),
//!    names of members and days, and silences by their rank in this chat.
//! 3. **Reply structure** (`replies`): a linear model with a softmax gives each message a distribution over
//!    antecedents, including "starts something new"; a reply link is nearly certain. Twelve reply forests are sampled.
//!    Their trees are *threads*; threads cut at silences of two hours and after answers of the bot are *segments*
//!    (`threads`); segments about the same thing are linked into *subjects* (`subjects`). The consensus of two
//!    candidates is the share of forests that put them in one segment.
//! 4. **Focus** (`focus`): a softmax over all candidates for the one that the trigger refers to. A trigger without
//!    words is scored by position and reply structure, a question also by words, embeddings, names and days. A reply
//!    refers to its anchor.
//! 5. **Relatedness** (`relatedness`): a pairwise classifier scores which candidates share the subject of each such
//!    target; two passes that compare the neighbours of both refine the scores. In a busy chat, threads replace this
//!    step.
//! 6. **Novelty** (`novelty`): the probability that the trigger starts a new subject. If it is high, the focus is empty
//!    and the window short.
//! 7. **Selection** (`expected_f1`): the set with the highest expected F1 is the *focus* of the window. `pick` runs
//!    steps 3 to 7.
//! 8. **Further back** (`older_messages`): with the question and the focus as a query, the retrieval engine finds
//!    messages older than all candidates, and a classifier reranks them. For a standalone question (`open_question`) the whole
//!    conversation is searched for stretches that hold its words (`past`): they fill up to six tenths of the window.
//!    In a conversation longer than the candidates, the best one joins the focus if it fits the question well.
//! 9. **Surroundings** (`window/surroundings`): the next messages of the same ranking, with a small bonus for recency,
//!    and the last three messages of members.
//! 10. **Budget** (`window_size`): everything is packed by part and score into `CONTEXT_TOKENS`. `window` runs all
//!     steps but the first.
//!
//! A question that names only a time, a conversation or a member skips the picker: its focus is what was said then or
//! by that member (`by_time_or_member`), ranked by `central`. `seed` is the first design's rule (a time gap and an
//! anchor), kept as a baseline for measurements and as a feature. `explain` runs the picker again and records the
//! contribution of each feature (`contributions`). All models are linear (`linear`, `weights`) and fitted by
//! `benches/fit` on rows from `pick/training`.

pub mod by_time_or_member;
pub mod candidate_features;
pub mod candidates;
pub mod central;
pub mod context_window;
pub mod contributions;
pub mod expected_f1;
pub mod explain;
pub mod features;
pub mod focus;
pub mod history;
pub mod index_set;
pub mod linear;
pub mod long_thread;
pub mod meanings;
pub mod novelty;
pub mod older_messages;
pub mod open_question;
pub mod params;
pub mod past;
pub mod pick;
mod program_output;
pub mod relatedness;
pub mod replies;
pub mod seed;
pub mod subjects;
pub mod threads;
pub mod weights;
pub mod window;
pub mod window_size;

pub use by_time_or_member::{AskedSpan, asked_spans, said};
pub use candidate_features::CandidateFeatures;
pub use central::{TalkLine, is_talk, lasting_worth, ranked, worth};
pub use context_window::{ContextWindow, Entry};
pub use contributions::Feature;
pub use explain::{Explained, explain};
pub use features::message::{MessageFeatures, without_bots};
pub use history::{History, Sources, Summarized};
pub use long_thread::{MAX_THREAD_TOKENS, ThreadLimits, ThreadMessage, oldest_part};
pub use older_messages::query::OlderQuery;
pub use older_messages::rerank::{RerankWeights, Reranked, rerank};
pub use open_question::{OpenQuestion, read as read_question};
pub use params::Params;
pub use past::Past;
pub use pick::training;
pub use program_output::is_output;
pub use replies::antecedents::{Antecedent, Antecedents};
pub use replies::model::ReplyModel;
pub use seed::SeedRule;
pub use weights::Scorers;
pub use window::{Focused, get_smart_context, get_smart_context_with};

#[cfg(test)]
mod tests;
