//! Searches the web, if the operator and the chat allow it.

use std::time::Duration;

use chrono::NaiveDate;

use crate::answering::Answering;
use crate::answering::grounding::has_answer;
use crate::answering::question::QuestionContext;
use crate::read_text::ReadText;
use crate::tools::LookupResult;
use chime_access::Allowance;
use chime_core::chat_settings::WEB;
use chime_core::config::Redaction;
use chime_core::lang::web_query;
use chime_core::{Grounding, PieceLine, SourceId, SourceKind, clip};
use chime_links::{UnreadablePage, WebResult, WebSearch};
use chime_privacy::redact;
use chime_runtime::resilience::within;

const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of characters of a query.
const QUERY_CHARS: usize = 200;
/// A query of fewer words is about the message that the question replies to: "google this".
const FEWEST_WORDS: usize = 2;

impl Answering {
    /// Returns the search service if a question may use it: not in a strict chat, and not while the daily tokens run low.
    fn web(&self, question: &QuestionContext) -> Option<&WebSearch> {
        let is_allowed = question.chat.settings.get(WEB).unwrap_or(true) && question.grounding() == Grounding::Open;
        let has_model =
            || !self.parts.gateway.is_offline() && self.parts.gateway.allowance(question.spent) == Allowance::Ample;
        self.parts.web.as_ref().filter(|_| is_allowed && has_model())
    }

    /// Returns `true` if the web may be searched for a question: it asks for that, or the chat has no answer.
    pub(super) fn may_search_web(&self, question: &QuestionContext) -> bool {
        let is_needed = || web_query(&question.history.ask).is_some() || !has_answer(&self.parts, question);
        self.web(question).is_some() && is_needed()
    }

    /// Returns the query if the question plainly asks to search the web.
    pub(super) fn asked_web(&self, question: &QuestionContext) -> Option<String> {
        self.web(question)?;
        let asked = web_query(&question.history.ask)?;
        let anchor = question.window.anchor_entry().map(|entry| entry.shown.as_str());
        let is_short = asked.split_whitespace().count() < FEWEST_WORDS;
        let query = anchor.filter(|_| is_short).map_or(asked, str::to_owned);
        (!query.is_empty()).then_some(query)
    }

    pub(super) async fn results(&self, query: &str) -> Result<Vec<WebResult>, UnreadablePage> {
        let search = self.parts.web.as_ref().ok_or(UnreadablePage::Refused)?;
        let query = clip(query, QUERY_CHARS);
        let query = if self.parts.redaction == Redaction::Off { query.into_owned() } else { redact(&query) };
        let found = within(&self.parts.clock, PATIENCE, search.search(&query)).await;
        let found = found.unwrap_or(Err(UnreadablePage::TooSlow));
        found.inspect_err(|why| tracing::warn!(error_type = ?why, "the web could not be searched"))
    }

    /// Returns the results as lines of the prompt. A failed search is noted for the answer.
    pub(super) fn web_lines(
        &self,
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
        let now = self.parts.clock.now();
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
    pub(super) async fn search_web(&self, question: &mut QuestionContext, query: &str) -> LookupResult {
        if !self.may_search_web(question) {
            return LookupResult::Nothing("The web is not searched for this question.");
        }
        let found = self.results(query).await;
        let lines = self.web_lines(question, found);
        let sources: Vec<_> = lines.into_iter().filter_map(|line| line.source).collect();
        match sources.is_empty() {
            true => LookupResult::Nothing("The web gave nothing. Answer without it."),
            false => LookupResult::Sources(sources),
        }
    }
}
