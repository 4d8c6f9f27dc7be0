//! Decides if any source is relevant enough for an answer: in strict chats, and before the web is searched.

use crate::answering::parts::AnsweringParts;
use crate::answering::question::QuestionContext;
use crate::extractive_ranking::shared_words;
use crate::grounding::{GroundingEvidence, Guard, Measure, guard, has_anchor_or_thread, min_similarity};
use chime_core::embed::{Embedder, SHIPPED_NAME};
use chime_core::trigger::{Languages, is_for_bot};
use chime_core::{Grounding, Role, SourceKind, StoredMessage};

/// Minimum share of the question's content words in a statement that probably answers it.
const ANSWERING_WORDS: f64 = 0.6;

/// Returns the reason why `question` is not answered in a strict chat or unasked; `None` if it is answered.
pub(super) fn unanswerable(parts: &AnsweringParts, question: &QuestionContext) -> Option<Guard> {
    if question.grounding() == Grounding::Open && !question.is_unasked {
        return None;
    }
    let embedder = parts.features.embedder();
    let texts = question.citable().into_iter().map(|source| source.text);
    let added = question.enrichment.pieces.iter().flat_map(|piece| &piece.lines).map(|line| line.text.clone());
    let texts: Vec<String> = texts.chain(added).collect();
    let (similarities, measure) = similarities(&question.history.ask, &texts, embedder);
    let similarity = similarities.into_iter().reduce(f64::max);
    let has_anchor_or_thread = has_anchor_or_thread(&question.window);
    guard(GroundingEvidence { has_anchor_or_thread, similarity, measure })
}

/// Returns `true` if the chat probably has the answer to `question`: the prompt holds a statement by a member, a summary, a
/// note or a document that is about the same and has most of its words.
pub(super) fn has_answer(parts: &AnsweringParts, question: &QuestionContext) -> bool {
    let (ask, embedder) = (&question.history.ask, parts.features.embedder());
    let is_said = |stored: &&StoredMessage| stored.message.role == Role::User && !is_for_bot(&stored.message);
    let lines = question.enrichment.pieces.iter().flat_map(|piece| &piece.lines);
    let given: Vec<_> = lines.filter_map(|line| line.source.clone()).collect();
    let of_chat = question.remembered(&given).into_iter().filter(|source| source.id.kind != SourceKind::Web);
    let said = question.shown().filter(is_said).map(|stored| stored.message.rendered());
    let texts = said.chain(of_chat.map(|source| source.text));
    let statements: Vec<String> = texts.filter(|text| !Languages::shipped().is_question(text)).collect();
    let (similarities, measure) = similarities(ask, &statements, embedder);
    let is_answer = |(similarity, text): (f64, &String)| {
        similarity >= min_similarity(measure) && shared_words(ask, text) >= ANSWERING_WORDS
    };
    similarities.into_iter().zip(&statements).any(is_answer)
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
