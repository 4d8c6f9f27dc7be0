//! Similarity of a message to earlier ones: by shared words, weighted by idf, and by embeddings.

use std::sync::Arc;

use crate::context::features::lexical::{holding, rarity};
use crate::context::features::mentions::Names;
use crate::context::features::message::MessageFeatures;
use crate::context::features::token::{Quick, Token};
use chime_core::dot;

/// Similarities of the message to each earlier message, by index.
pub struct Similarity {
    /// Idf-weighted cosine of the stems.
    pub words: Vec<f32>,
    /// Idf of the rarest shared stem, scaled to 0 to 1; 0 if no stem is shared.
    pub rarest: Vec<f32>,
    /// Cosine of the embeddings.
    pub meaning: Vec<f32>,
    /// Mean of `meaning` over the last 50 messages: the similarity that unrelated messages of this chat have.
    pub background: f32,
}

impl Similarity {
    pub fn none(count: usize) -> Self {
        Self { words: vec![0.0; count], rarest: vec![0.0; count], meaning: vec![0.0; count], background: 0.0 }
    }

    pub fn of(message: &MessageFeatures, past: &[Arc<MessageFeatures>], names: &Names) -> Self {
        let idf = Rarity::of(message, past, names);
        let own = idf.length(&message.stems);
        let compare =
            |one: &Arc<MessageFeatures>| if idf.share(one) { idf.compare(own, &one.stems) } else { (0.0, 0.0) };
        let (words, rarest) = past.iter().map(compare).unzip();
        let meaning: Vec<f32> = past.iter().map(|one| dot(&message.vector, &one.vector)).collect();
        let recent = &meaning[meaning.len().saturating_sub(50)..];
        let background = if recent.is_empty() { 0.0 } else { recent.iter().sum::<f32>() / recent.len() as f32 };
        Self { words, rarest, meaning, background }
    }
}

/// Idf of stems among a message and the messages before it. Stems of members' names are ignored.
struct Rarity<'a> {
    /// Stems of the message, ascending.
    own: Vec<Token>,
    count: usize,
    documents: Quick<Token, f64>,
    names: &'a Names,
}

impl<'a> Rarity<'a> {
    fn of(message: &MessageFeatures, past: &[Arc<MessageFeatures>], names: &'a Names) -> Self {
        let own = message.stems.iter().copied().filter(|stem| !names.has(*stem)).collect();
        let mut rarity = Self { own, count: past.len() + 1, documents: Quick::default(), names };
        // The idf is needed only for messages that share a stem with this one: all others have the similarity 0.
        let sharing = past.iter().map(|one| &**one).filter(|one| rarity.share(one)).chain([message]);
        let compared = sharing.flat_map(|one| one.stems.iter().copied());
        rarity.documents = holding(compared, past.iter().map(|one| &one.stems));
        rarity
    }

    fn share(&self, message: &MessageFeatures) -> bool {
        message.stems.iter().any(|stem| self.own.binary_search(stem).is_ok())
    }

    fn idf(&self, stem: Token) -> f32 {
        rarity(self.count, self.documents.get(&stem).copied().unwrap_or(0.0)) as f32
    }

    fn length(&self, stems: &[Token]) -> f32 {
        let squares = stems.iter().filter(|stem| !self.names.has(**stem)).map(|stem| self.idf(*stem).powi(2));
        squares.sum::<f32>().sqrt().max(f32::MIN_POSITIVE)
    }

    /// Returns the cosine between the stems of this message and the stems `others` of another one, and the idf of the
    /// rarest shared stem, scaled to 0 to 1. `own` is the norm of this message's stems.
    fn compare(&self, own: f32, others: &[Token]) -> (f32, f32) {
        let shared = others.iter().filter(|stem| self.own.binary_search(stem).is_ok()).map(|stem| self.idf(*stem));
        let (product, rarest) = shared.fold((0.0, 0.0_f32), |(sum, most), idf| (sum + idf * idf, most.max(idf)));
        (product / (own * self.length(others)), rarest / rarity(self.count, 0.0) as f32)
    }
}
