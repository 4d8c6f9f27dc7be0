//! Decides in strict chats if any source is relevant enough for an answer.

use crate::answering::parts::AnsweringParts;
use crate::answering::question::QuestionContext;
use crate::extractive_ranking::shared_words;
use crate::grounding::{GroundingEvidence, Guard, Measure, guard, has_anchor_or_thread, is_talked_about};
use chime_core::Grounding;
use chime_core::embed::{Embedder, SHIPPED_NAME};

/// Returns the reason why `question` is not answered in a strict chat or unasked; `None` if it is answered.
pub(super) fn unanswerable(parts: &AnsweringParts, question: &QuestionContext) -> Option<Guard> {
    if question.grounding() == Grounding::Open && !question.is_unasked {
        return None;
    }
    let embedder = parts.features.embedder();
    // Without an embedding model, the score of the best match is lower and not comparable.
    let is_talked_about = embedder.is_none() || is_talked_about(&question.window);
    // Other forum topics were not searched for it.
    let here = question.history.trigger.conversation();
    let said = question.shown().filter(|stored| is_talked_about || stored.conversation() != here);
    let said = said.map(|stored| stored.message.rendered());
    let texts = said.chain(question.remembered(&[]).into_iter().map(|source| source.text));
    let added = question.enrichment.pieces.iter().flat_map(|piece| &piece.lines).map(|line| line.text.clone());
    let texts: Vec<String> = texts.chain(added).collect();
    let (similarities, measure) = similarities(&question.history.ask, &texts, embedder);
    let similarity = similarities.into_iter().reduce(f64::max);
    let has_anchor_or_thread = has_anchor_or_thread(&question.window, is_talked_about);
    guard(GroundingEvidence { has_anchor_or_thread, similarity, measure })
}

/// Returns the similarity of each text to `ask`, and the method of measuring: by embeddings, or by shared words if
/// there is no model.
pub fn similarities(ask: &str, texts: &[String], embedder: Option<&Embedder>) -> (Vec<f64>, Measure) {
    similarities_by(ask, texts, embedder, |embedder, text| embedder.embed(text))
}

/// Does the same as [`similarities`], but gets the embeddings of the texts from `vector_of`, which may cache them.
pub fn similarities_by(
    ask: &str,
    texts: &[String],
    embedder: Option<&Embedder>,
    mut vector_of: impl FnMut(&Embedder, &str) -> Vec<f32>,
) -> (Vec<f64>, Measure) {
    let vector = embedder.map(|embedder| embedder.embed(ask)).unwrap_or_default();
    let Some(embedder) = embedder.filter(|_| !vector.is_empty()) else {
        return (texts.iter().map(|text| shared_words(ask, text)).collect(), Measure::Words);
    };
    let cosine =
        |text: &String| -> f64 { vector_of(embedder, text).iter().zip(&vector).map(|(a, b)| f64::from(a * b)).sum() };
    let measure = if embedder.name() == SHIPPED_NAME { Measure::Shipped } else { Measure::OtherModel };
    (texts.iter().map(cosine).collect(), measure)
}
