//! Asks the model a question about a made-up chat, with the same prompt as for a real answer.

use std::time::Duration;

use crate::checkup::CheckFinding;
use crate::checkup::judge::{self, Sampled};
use crate::checkup::probes::Checkup;
use crate::checkup::sample::{self, SampleLanguage};
use chime_access::gateway::talk_tokens;
use chime_answer::prompt::Style;
use chime_core::Timestamp;
use chime_core::config::{ContextConfig, ContextTokens, PromptConfig};
use chime_core::prompts::Prompts;
use chime_llm::{Completion, LlmError, OpenAi, Prompt};

/// Maximum time for all questions together.
const LONGEST: Duration = Duration::from_secs(60);

impl Checkup<'_> {
    /// Asks a question whose answer is known. If the answer is right, asks the same question in German.
    pub(super) async fn answers(&self, server: &OpenAi) -> Option<CheckFinding> {
        let prompts = self.prompts()?;
        server.discover(&self.clock).await;
        let style = Style::for_model(server.is_small());
        let (watch, until) = (self.clock.stopwatch(), self.clock.now().plus(LONGEST));
        let ask = async |asked| self.ask(server, &prompts, style, asked, until).await;
        let answered = ask(SampleLanguage::English).await;
        let took = watch.elapsed();
        let Completion { text: answer, tokens, .. } = match answered {
            Ok(completion) => completion,
            Err(error) => return Some(judge::unanswered(&error, took)),
        };
        let is_right = sample::is_right(&answer, SampleLanguage::English);
        let in_german = match is_right {
            true => {
                Some(ask(SampleLanguage::German).await.map(|said| sample::is_right(&said.text, SampleLanguage::German)))
            }
            false => None,
        };
        let context_tokens = self.valid(ContextConfig::load).map_or(ContextTokens::Auto, |config| config.tokens);
        let facts = server.facts();
        let (cited, talk_tokens) = (sample::cited(&answer, style), talk_tokens(facts));
        let sampled = Sampled { answer, is_right, in_german, cited, took, tokens, facts, context_tokens, talk_tokens };
        Some(judge::answers(&sampled))
    }

    async fn ask(
        &self,
        server: &OpenAi,
        prompts: &Prompts,
        style: Style,
        asked: SampleLanguage,
        until: Timestamp,
    ) -> Result<Completion, LlmError> {
        let built = sample::prompt(prompts, style, asked);
        // This error only ends the check: broken templates have a finding of their own.
        let prompt = built.map_err(|_| LlmError::NotConfigured("a template of the prompts does not render"))?;
        server.probe_answer(&Prompt { until: Some(until), ..prompt }, &self.clock).await
    }

    /// Returns the operator's prompt templates, or the built-in ones if the operator has none or they cannot be used.
    fn prompts(&self) -> Option<Prompts> {
        let folder = self.valid(PromptConfig::load).and_then(|config| config.dir);
        Prompts::load(folder.as_deref()).or_else(|_| Prompts::load(None)).ok()
    }
}
