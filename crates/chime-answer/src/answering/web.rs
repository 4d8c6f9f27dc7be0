//! Searches the web, if the operator and the chat allow it.

use std::time::Duration;

use chrono::NaiveDate;

use crate::answering::question::QuestionContext;
use crate::answering::services::Services;
use crate::extractive_ranking::shared_word_ratio;
use crate::grounding::{min_similarity, similarities};
use crate::read_text::ReadText;
use crate::tools::LookupResult;
use chime_access::Allowance;
use chime_core::chat_settings::WEB;
use chime_core::config::Redaction;
use chime_core::lang::web_query;
use chime_core::trigger::{Languages, is_for_bot};
use chime_core::{Grounding, PieceLine, Role, SourceId, SourceKind, StoredMessage, clip};
use chime_links::{UnreadablePage, WebResult, WebSearch};
use chime_privacy::redact;
use chime_runtime::resilience::within;

const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of characters of a query.
const QUERY_CHARS: usize = 200;
/// A query of fewer words, such as "google this", is about the message that the question replies to.
const FEWEST_WORDS: usize = 2;
/// Minimum share of the question's content words in a statement that probably answers it.
const ANSWERING_WORDS: f64 = 0.6;

/// Returns the search service if a question may use it: not in a strict chat, and not while the daily tokens run low.
fn search_service<'a>(services: &'a Services, question: &QuestionContext) -> Option<&'a WebSearch> {
    let is_allowed = question.settings.get(WEB).unwrap_or(true) && question.grounding() == Grounding::Open;
    let has_model = || !services.gateway.is_offline() && services.gateway.allowance(question.spent) == Allowance::Ample;
    services.web.as_ref().filter(|_| is_allowed && has_model())
}

/// Returns `true` if the web may be searched for a question: it asks for that, or the chat has no answer.
pub(super) fn may_search_web(services: &Services, question: &QuestionContext) -> bool {
    let is_needed = || web_query(&question.history.ask).is_some() || !has_answer(services, question);
    search_service(services, question).is_some() && is_needed()
}

/// Returns `true` if the chat probably has the answer to `question`: the prompt holds a statement by another member, a
/// summary, a note or a document that is about the same and has most of its words. The message that the question
/// replies to does not count, as in "is it true that …?"
fn has_answer(services: &Services, question: &QuestionContext) -> bool {
    let (ask, embedder) = (&question.history.ask, services.features.embedder());
    let (asker, anchor) = (question.asker(), question.trigger().message.reply_to);
    let is_said = |stored: &&StoredMessage| {
        let message = &stored.message;
        let is_by_another = message.role == Role::User && message.sender.id != asker && Some(message.id) != anchor;
        is_by_another && !is_for_bot(message)
    };
    let lines = question.enrichment.pieces.iter().flat_map(|piece| &piece.lines);
    let given: Vec<_> = lines.filter_map(|line| line.source.clone()).collect();
    let of_chat = question.remembered(&given).into_iter().filter(|source| source.id.kind != SourceKind::Web);
    let said = question.shown().filter(is_said).map(|stored| stored.message.rendered());
    let texts = said.chain(of_chat.map(|source| source.text));
    let statements: Vec<String> = texts.filter(|text| !Languages::shipped().is_question(text)).collect();
    let (similarities, measure) = similarities(ask, &statements, embedder);
    let is_answer = |(similarity, text): (f64, &String)| {
        similarity >= min_similarity(measure) && shared_word_ratio(ask, text) >= ANSWERING_WORDS
    };
    similarities.into_iter().zip(&statements).any(is_answer)
}

/// Returns the query if the question plainly asks to search the web.
pub(super) fn asked_web(services: &Services, question: &QuestionContext) -> Option<String> {
    search_service(services, question)?;
    let asked = web_query(&question.history.ask)?;
    let anchor = question.window.anchor_entry().map(|entry| entry.shown.as_str());
    let is_short = asked.split_whitespace().count() < FEWEST_WORDS;
    let query = anchor.filter(|_| is_short).map_or(asked, str::to_owned);
    (!query.is_empty()).then_some(query)
}

pub(super) async fn search_results(services: &Services, query: &str) -> Result<Vec<WebResult>, UnreadablePage> {
    let search = services.web.as_ref().ok_or(UnreadablePage::Refused)?;
    let query = clip(query, QUERY_CHARS);
    let query =
        if services.base.config.memory.redaction == Redaction::Off { query.into_owned() } else { redact(&query) };
    let found = within(&services.base.clock, PATIENCE, search.search(&query)).await;
    let found = found.unwrap_or(Err(UnreadablePage::TooSlow));
    found.inspect_err(|why| tracing::warn!(error_type = ?why, "the web could not be searched"))
}

/// Returns the results as lines of the prompt. If the search fails, the answer mentions it.
pub(super) fn web_lines(
    services: &Services,
    question: &mut QuestionContext,
    found: Result<Vec<WebResult>, UnreadablePage>,
) -> Vec<PieceLine> {
    let Ok(found) = found else {
        question.remark(question.texts().unread.no_search.clone());
        return vec![PieceLine { text: "(The web could not be searched.)".to_owned(), source: None }];
    };
    if found.is_empty() {
        return vec![PieceLine { text: "(A search of the web found nothing.)".to_owned(), source: None }];
    }
    let now = services.base.clock.now();
    let lines = found.into_iter().map(|result| {
        question.web_results += 1;
        let day = result.day.as_deref().and_then(|day| day.parse::<NaiveDate>().ok());
        let source = ReadText {
            id: SourceId::new(SourceKind::Web, question.web_results),
            title: result.title,
            dated: result.day.unwrap_or_default(),
            text: String::new(),
            is_cut: false,
            is_asked: true,
            at: day.map_or(now, |day| question.zone.moment(day.into())),
            link: Some(result.address),
            posted: Vec::new(),
        };
        source.line(None, &result.snippet)
    });
    lines.collect()
}

/// Searches the web for the model.
pub(super) async fn search_web(services: &Services, question: &mut QuestionContext, query: &str) -> LookupResult {
    if !may_search_web(services, question) {
        return LookupResult::Nothing("The web is not searched for this question.");
    }
    let found = search_results(services, query).await;
    let lines = web_lines(services, question, found);
    match lines.iter().any(|line| line.source.is_some()) {
        true => LookupResult::Text(lines),
        false => LookupResult::Nothing("The web gave nothing. Answer without it."),
    }
}
