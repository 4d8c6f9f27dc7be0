//! Interface to the messages of a conversation that can be searched, and the terms of a search.

use crate::retrieval::dates::TimeSpan;
use chime_core::{Seq, StoredMessage};

/// Search terms of a question.
#[derive(Debug, Clone, Copy)]
pub struct Sought<'a> {
    /// Content words of the question.
    pub words: &'a [String],
    /// Words of the question that name members; they are not among `words`.
    pub names: &'a [String],
    /// Text that is embedded, to find messages of similar meaning.
    pub text: &'a str,
    pub spans: &'a [TimeSpan],
    /// Only messages before this one are searched.
    pub before: Seq,
}

/// Messages of a conversation that can be searched by words and by vectors.
pub trait Archive {
    type Error;

    /// Returns the number of messages in the conversation.
    fn count(&self) -> Result<f64, Self::Error>;
    /// Returns the newest messages before `before` that have the stem, as a word or in a compound, and the number of
    /// all messages before it that have it.
    fn holding(&self, stem: &str, before: Seq) -> Result<(Vec<Seq>, f64), Self::Error>;
    /// Returns the newest messages before `before` that name a person by this stem or were written by such a person,
    /// and the number of all such messages before it.
    fn naming(&self, stem: &str, before: Seq) -> Result<(Vec<Seq>, f64), Self::Error>;
    /// Returns the messages whose vectors are nearest to `vector`; empty if messages have no vectors.
    fn nearest(&self, sought: &Sought<'_>, vector: &[f32]) -> Result<Vec<Seq>, Self::Error>;
    /// Returns the messages of a range of numbers, both ends included, oldest first.
    fn between(&self, range: (Seq, Seq)) -> Result<Vec<StoredMessage>, Self::Error>;
}

#[cfg(test)]
pub(super) mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Archive of the messages of a transcript. It has no vectors, and reports a large number of messages, so that
    /// every word is rare.
    pub struct TranscriptArchive(pub Vec<StoredMessage>);

    impl Archive for TranscriptArchive {
        type Error = Infallible;

        fn count(&self) -> Result<f64, Infallible> {
            Ok(10_000.0)
        }

        fn holding(&self, stem: &str, before: Seq) -> Result<(Vec<Seq>, f64), Infallible> {
            let holds = |it: &&StoredMessage| it.seq < before && it.message.text.to_lowercase().contains(stem);
            let seqs: Vec<Seq> = self.0.iter().rev().filter(holds).map(|it| it.seq).collect();
            let held = seqs.len() as f64;
            Ok((seqs, held))
        }

        fn naming(&self, stem: &str, before: Seq) -> Result<(Vec<Seq>, f64), Infallible> {
            let names = |it: &&StoredMessage| it.seq < before && it.message.sender.name.contains(stem);
            let seqs: Vec<Seq> = self.0.iter().filter(names).map(|it| it.seq).collect();
            let held = seqs.len() as f64;
            Ok((seqs, held))
        }

        fn nearest(&self, _: &Sought<'_>, _: &[f32]) -> Result<Vec<Seq>, Infallible> {
            Ok(Vec::new())
        }

        fn between(&self, (from, to): (Seq, Seq)) -> Result<Vec<StoredMessage>, Infallible> {
            Ok(self.0.iter().filter(|it| (from..=to).contains(&it.seq)).cloned().collect())
        }
    }
}
