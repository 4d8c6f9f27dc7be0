//! Writes the points of a recap with a model, in parts if the messages exceed one prompt, or extracts them without one.

use std::time::Duration;

use crate::bullets;
use crate::extract::{self, SummaryMessage};
use crate::jobs::delimiters::{fence, fenced};
use crate::jobs::error::StepError;
use crate::jobs::memory::Memory;
use crate::jobs::model::ModelRequest;
use crate::lines::{self, NumberedLines};
use crate::policy::{Caps, RECAP};
use chime_access::gateway::{AskError, ModelPurpose};
use chime_core::prompts::{SummaryValues, Template};
use chime_core::{
    Bullet, BulletKind, Conversation, StoredMessage, SummaryMethod, Timestamp, UserId, Zone, estimate_tokens,
};
use chime_jobs::JobError;
use chime_llm::AnswerFormat;

/// Maximum number of tokens of messages per model call.
const PART_TOKENS: usize = 4000;
const PART: Caps = Caps { bullets: 8, tokens: 400 };
/// Time after it was asked for in which a recap gives way to answers. Then it is made without the model.
const GIVES_WAY: Duration = Duration::from_hours(1);

impl Memory {
    /// Returns the points of a recap of `said` (messages up to `until`, oldest first), each with its source messages,
    /// and the method by which they were made. Makes an extract if there is no model or if it fails. `asked_at` is when the
    /// recap was asked for or was due.
    ///
    /// # Errors
    /// Fails if nobody waits for the recap and answers need the model: the recap is then made later.
    pub async fn recap(
        &self,
        conversation: Conversation,
        on_behalf_of: Option<UserId>,
        said: Vec<StoredMessage>,
        until: Timestamp,
        asked_at: Timestamp,
    ) -> Result<(Vec<Bullet>, SummaryMethod), JobError> {
        let spoken = self.summary_lines(conversation.chat, said).await?;
        let zone = self.zone_of(conversation).await?;
        if self.model.can_write(ModelPurpose::Summary).await {
            match self.recap_by_model(conversation, on_behalf_of, &spoken).await {
                Ok(points) if !points.is_empty() => {
                    return Ok((without_past_tasks(points, &spoken, until, zone), SummaryMethod::Model));
                }
                Ok(_) => tracing::warn!("no point of the recap rests on what was given"),
                Err(error @ StepError::Later(..)) if self.clock.now() < asked_at.plus(GIVES_WAY) => {
                    return Err(error.into());
                }
                Err(error) => tracing::warn!(%error, "a recap is made without the model"),
            }
        }
        let points = extract::session(&spoken, RECAP, estimate_tokens);
        let points = extract::still_open(points, &spoken);
        Ok((without_past_tasks(points, &spoken, until, zone), SummaryMethod::Extract))
    }

    async fn recap_by_model(
        &self,
        conversation: Conversation,
        on_behalf_of: Option<UserId>,
        spoken: &[SummaryMessage],
    ) -> Result<Vec<Bullet>, StepError> {
        let zone = self.zone_of(conversation).await?;
        let room = self.model.material_tokens(PART_TOKENS);
        let (whole, part_caps) = (self.model.limit(RECAP), self.model.limit(PART));
        let mut parts = lines::parts(spoken, room, estimate_tokens, zone);
        let (mut points, mut merges) = (Vec::new(), false);
        loop {
            let is_last = parts.len() == 1;
            let caps = if is_last { whole } else { part_caps };
            points.clear();
            for part in &parts {
                let found = self.points_of(conversation, on_behalf_of, part, merges).await?;
                points.extend(bullets::capped(found, caps.bullets, caps.tokens, estimate_tokens));
            }
            let merged = lines::bullet_parts(&points, room, estimate_tokens);
            // Merging would never end if it did not make the points fewer. They are used as they are, within the caps.
            if is_last || points.is_empty() || merges && merged.len() >= parts.len() {
                break;
            }
            (parts, merges) = (merged, true);
        }
        Ok(bullets::capped(points, whole.bullets, whole.tokens, estimate_tokens))
    }

    async fn points_of(
        &self,
        conversation: Conversation,
        on_behalf_of: Option<UserId>,
        input: &NumberedLines,
        merges: bool,
    ) -> Result<Vec<Bullet>, StepError> {
        let fence = fence();
        let values = SummaryValues { fence: &fence, merges, ..SummaryValues::default() };
        let task = self.prompts.summary(Template::Recap, &values)?;
        let material = fenced(&input.text, &fence);
        let request = ModelRequest {
            conversation,
            on_behalf_of,
            purpose: ModelPurpose::Summary,
            format: AnswerFormat::Text,
            task,
            material: &material,
        };
        match self.model.ask_for(request, &self.clock).await {
            Ok(written) => Ok(bullets::parse(&written.text, &input.grounds)),
            Err(error @ AskError::GaveWay { .. }) => Err(StepError::of_ask(&error)),
            Err(error) => Err(StepError::Model(error.to_string())),
        }
    }
}

/// Makes facts of the tasks and questions whose time has passed `until` then.
fn without_past_tasks(mut points: Vec<Bullet>, spoken: &[SummaryMessage], until: Timestamp, zone: Zone) -> Vec<Bullet> {
    for point in &mut points {
        let said = spoken.iter().find(|line| point.sources.contains(&line.seq));
        if extract::is_item(point) && said.is_some_and(|line| extract::is_stale(point, line.at, until, zone)) {
            point.kind = BulletKind::Fact;
        }
    }
    points
}
