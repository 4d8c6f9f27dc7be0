//! Has the model read an ask where the patterns are not sure, and choose among candidates. A failure costs nothing: the
//! patterns' reading stands, and the member is asked.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use crate::access::Allowance;
use crate::answer::followup::show::prompt_lines;
use crate::answer::followup::{Extracted, Outcome, Undecided, extraction_schema, parse_extracted};
use crate::answer::plain::{gist, without_fence};
use crate::answer::run::Answering;
use crate::answer::run::follow_up::count;
use crate::answer::run::question::Question;
use crate::answer::run::request::new_fence;
use crate::config::Redaction;
use crate::domain::{FollowUp, Intent};
use crate::gateway::run::Ask;
use crate::gateway::{Economy, Purpose};
use crate::llm::{AnswerFormat, Completion, Prompt, PromptMessage, PromptRole};
use crate::privacy::redact;
use crate::prompts::{ChooseValues, ExtractValues};

/// Messages before the ask that are read with it.
const LAST_MESSAGES: usize = 3;
/// Characters of one of them.
const MESSAGE_CHARS: usize = 300;
/// A member waits: reading an ask may not take longer than this.
const DEADLINE: Duration = Duration::from_secs(10);
/// Readings that are kept. They are in memory only: what is forgotten must not stay in a file.
const CACHED: usize = 256;

/// Readings of the model by a hash of the chat, the ask and the messages before it.
#[derive(Debug, Default)]
pub struct Readings(Mutex<HashMap<u64, Option<Extracted>>>);

impl Readings {
    fn get(&self, key: u64) -> Option<Option<Extracted>> {
        self.lock().get(&key).cloned()
    }

    fn keep(&self, key: u64, reading: Option<Extracted>) {
        let mut readings = self.lock();
        if readings.len() >= CACHED {
            readings.clear();
        }
        readings.insert(key, reading);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Option<Extracted>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The model's choice, from 1; 0 for none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    choice: usize,
}

impl Answering {
    /// What the model reads in the ask; none where it does not answer as asked.
    pub(super) async fn extract(&self, question: &mut Question) -> Option<Extracted> {
        let ask = question.history.ask.clone();
        let lines = last_lines(question);
        let mut hasher = DefaultHasher::new();
        (question.trigger().chat.0, &ask, &lines).hash(&mut hasher);
        let key = hasher.finish();
        if let Some(known) = self.readings_of_asks.get(key) {
            count("cache_hit");
            return known;
        }
        let fence = new_fence();
        let suggested = question.going_on.stored.as_ref().map(|stored| {
            let before =
                FollowUp { frame: stored.frame.clone(), excluded: stored.listed.clone(), ..FollowUp::default() };
            without_fence(&prompt_lines(&before), &fence).into_owned()
        });
        let values = ExtractValues {
            fence: &fence,
            suggested: suggested.as_deref(),
            lines: &without_fence(&lines, &fence),
            ask: &without_fence(&ask, &fence),
            intents: &Intent::ALL.map(Intent::as_str).join(", "),
        };
        let text = self.parts.prompts.extract(&values).ok()?;
        let format = AnswerFormat::Json { name: "reading", schema: extraction_schema() };
        let completion = self.ask_to_read(question, text, format).await?;
        let reading = parse_extracted(&completion.text);
        self.readings_of_asks.keep(key, reading.clone());
        reading
    }

    /// Has the model choose among the candidates. What it does not choose stays open.
    pub(super) async fn choose(&self, question: &mut Question, outcome: Outcome) -> Outcome {
        let Some(Undecided { said, candidates, .. }) = &outcome.undecided else { return outcome };
        let fence = new_fence();
        let list: Vec<String> = (1..).zip(candidates).map(|(place, name)| format!("{place}. {name}")).collect();
        let (lines, list) = (last_lines(question), list.join("\n"));
        let values = ChooseValues {
            fence: &fence,
            said: &gist(&without_fence(said, &fence), MESSAGE_CHARS),
            lines: &without_fence(&lines, &fence),
            ask: &without_fence(&question.history.ask, &fence),
            candidates: &without_fence(&list, &fence),
        };
        let Ok(text) = self.parts.prompts.choose(&values) else { return outcome };
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["choice"],
            "properties": {"choice": {"type": "integer"}},
        });
        count("model_fallback");
        let format = AnswerFormat::Json { name: "choice", schema };
        let Some(completion) = self.ask_to_read(question, text, format).await else { return outcome };
        let choice = completion.parse_json::<Choice>().and_then(|it| it.choice.checked_sub(1));
        match choice {
            Some(candidate) => outcome.chosen_by_model(candidate),
            None => outcome,
        }
    }

    /// What is read of an ask needs no mask of its own: nothing of it is shown.
    fn redacted(&self, text: String) -> String {
        if self.parts.redaction == Redaction::All { redact(&text) } else { text }
    }

    /// One call of the extracting model; none where it may not be asked or fails.
    async fn ask_to_read(&self, question: &mut Question, text: String, format: AnswerFormat) -> Option<Completion> {
        // Near a cap every token goes into the answer itself.
        if self.parts.gateway.is_offline() || self.parts.gateway.allowance(question.spent) != Allowance::Ample {
            return None;
        }
        let messages = vec![PromptMessage { role: PromptRole::User, content: self.redacted(text) }];
        let asked = Prompt::new(messages, Purpose::Extract.max_answer_tokens());
        // The model's client ends the call itself: the breaker and the ledger have to know of it.
        let until = Some(self.parts.clock.now().plus(DEADLINE));
        let prompt = Prompt { temperature: Some(0.0), format, until, ..asked };
        let watch = self.parts.clock.stopwatch();
        let ask = Ask {
            purpose: Purpose::Extract,
            conversation: question.trigger().conversation(),
            on_behalf_of: Some(question.asked_by),
            economy: Economy::Best,
            prompt: &prompt,
        };
        let asked = self.parts.gateway.ask_within_budget(ask).await;
        let ms = u64::try_from(watch.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::debug!(phase = "extract", ms, "chat.metrics");
        match asked {
            Ok((completion, bill)) => {
                question.bills.push(bill);
                Some(completion)
            }
            Err(error) => {
                tracing::warn!(error_type = error.kind(), %error, "chat.error: the model did not read the ask");
                None
            }
        }
    }
}

/// The last messages before the ask, a line each.
fn last_lines(question: &Question) -> String {
    let recent = question.history.recent.iter().rev().take(LAST_MESSAGES).rev();
    recent.map(|stored| gist(&stored.message.text, MESSAGE_CHARS)).collect::<Vec<_>>().join("\n")
}
