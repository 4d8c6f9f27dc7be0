//! A question together with all data that its answer is made from.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crate::answering::concepts::ConceptScope;
use crate::answering::enrich::{EnricherInput, enrich};
use crate::answering::follow_up::{self, FollowUpContext};
use crate::answering::load_trigger::LoadedTrigger;
use crate::answering::long_thread::OldestPart;
use crate::answering::services::Services;
use crate::lines::Style;
use crate::prompt::{BuiltPrompt, PresentMember};
use crate::recall::{self, fitting};
use crate::tools::LookedUp;
use chime_access::gateway::ModelPurpose;
use chime_access::gateway::ask::{Gateway, UsageRecord};
use chime_core::chat_settings::{GROUNDING, LANGUAGE, PERSONA, Persona};
use chime_core::lang::languages;
use chime_core::texts::{filled, texts};
use chime_core::{
    AnswerStatus, BotIdentity, ChatKind, Citable, Enrichment, FollowUp, FormattedText, Grounding, Language, Piece,
    PieceLine, Role, Seq, Slot, SourceId, SourceKind, Spent, StoredMessage, Timestamp, UserId, Zone, message_link,
    without_citations,
};
use chime_memory::context::{TriggerInput, gather, window_around};
use chime_memory::recall::{RankedRecall, RecallRequest};
use chime_relevance::context::{ContextWindow, Focused, History, Params};
use chime_relevance::retrieval::Recalled;
use chime_store::chats::ChatRow;
use chime_store::concepts::ContextKey;
use chime_store::{Reader, StoreError, consent, messages, topic_names, usage};

/// A member who wrote within this time counts as present.
const LATELY: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A trigger and the messages that it may be about, before the window is chosen from them.
pub struct Gathered {
    pub history: Arc<History>,
    /// Parameters for choosing the window, with its token budget corrected for the model.
    pub params: Params,
}

/// Data for an answer that does not depend on the window. It is read in parallel while the window is chosen.
pub struct TriggerFacts {
    /// Results of the search in older messages. `None` if the question only refers to the conversation ("thoughts?"),
    /// or if the search failed.
    looked: Option<RankedRecall>,
    enrichment: Enrichment,
    scope: ConceptScope,
    earliest: Option<Timestamp>,
    introduction: Option<FormattedText>,
    topic: Option<String>,
    spent: Spent,
}

pub struct PickedWindow {
    window: ContextWindow,
    oldest_part: OldestPart,
}

/// A photo that is attached to the prompt.
#[derive(Debug, Clone)]
pub struct ShownPhoto {
    pub seq: Seq,
    pub bytes: Arc<[u8]>,
}

pub struct QuestionContext {
    /// The trigger, its parsed question, and the messages that the window was chosen from.
    pub history: Arc<History>,
    pub chat: ChatRow,
    /// Calls the model that the chat chose.
    pub gateway: Gateway,
    /// `true` if nobody asked the bot: it answers a question to the chat, or stays silent.
    pub is_unasked: bool,
    /// Time at which work on the answer began.
    pub began_at: Timestamp,
    pub zone: Zone,
    /// Name of the trigger's forum topic.
    pub topic: Option<String>,
    /// Members who wrote in the conversation lately.
    pub people: Vec<PresentMember>,
    pub generic: bool,
    pub style: Style,
    pub window: ContextWindow,
    pub oldest_part: OldestPart,
    pub enrichment: Enrichment,
    /// Older messages and summaries relevant to the question, oldest first.
    pub recalled: Recalled,
    /// Token budget of the window, in tokens as our estimate counts them.
    pub room: usize,
    /// The earlier suggestion that the question may follow up on.
    pub going_on: FollowUpContext,
    pub scope: ConceptScope,
    /// Usage records of the model calls before the one that gave the answer. They are stored with the answer.
    pub bills: Vec<UsageRecord>,
    /// The question resolved as a follow-up on the suggestion in `going_on`.
    pub follow_up: FollowUp,
    pub looked_up: LookedUp,
    pub photos: Vec<ShownPhoto>,
    /// Number of results of web searches so far.
    pub web_results: u32,
    /// Sentences below the answer that tell what could not be read or was left out.
    pub remarks: Vec<String>,
    pub earliest: Option<Timestamp>,
    /// Privacy notice to append to the answer; `None` if the chat has already had it.
    pub introduction: Option<FormattedText>,
    /// Tokens spent today, before this answer.
    pub spent: Spent,
}

/// Loads the facts about one question.
pub struct QuestionLoader {
    pub services: Services,
    /// Calls the model that the chat chose.
    pub gateway: Gateway,
    pub now: Timestamp,
    pub is_unasked: bool,
}

impl QuestionLoader {
    /// Reads the messages that the trigger may be about, and the token budget for the window.
    pub fn gather(&self, conn: &Reader, opened: &LoadedTrigger) -> chime_store::Result<Gathered> {
        let model = self.gateway.model_name(ModelPurpose::Answer);
        let wanted = self.gateway.talk_tokens(self.services.base.config.context.tokens);
        let token_budget = usage::calibration(conn, model)?.room(wanted);
        let params = Params { token_budget, ..self.services.params.clone() };
        let history = gather(conn, opened.asked.clone(), &params, &self.services.features)?;
        Ok(Gathered { history: Arc::new(history), params })
    }

    pub fn beside(&self, conn: &Reader, opened: &LoadedTrigger) -> chime_store::Result<TriggerFacts> {
        let LoadedTrigger { asked: TriggerInput { trigger, ask, .. }, chat: row, generic, .. } = opened;
        let asker = trigger.message.sender.id;
        let input =
            EnricherInput { chat: trigger.chat, conversation: trigger.conversation(), ask: ask.clone(), now: self.now };
        Ok(TriggerFacts {
            looked: if *generic { None } else { self.look(conn, opened, row.zone(self.services.base.zone())) },
            enrichment: enrich(conn, &self.services.enrichers, &input),
            scope: ConceptScope::load(
                conn,
                ContextKey {
                    bot: self.services.base.bot.id,
                    chat: trigger.chat,
                    forum_topic: trigger.message.forum_topic,
                },
            ),
            earliest: messages::earliest(conn, trigger.chat)?,
            introduction: match self.wants_no_introduction(conn, row, asker)? {
                true => None,
                false => self.services.introduction.due(conn, row)?,
            },
            topic: topic_names::find(conn, trigger.conversation())?,
            spent: usage::spent(conn, self.now, trigger.chat, asker)?,
        })
    }

    /// Returns `true` in a private chat with a member who opted out: nothing is stored there that needs a notice.
    fn wants_no_introduction(&self, conn: &Reader, row: &ChatRow, asker: UserId) -> chime_store::Result<bool> {
        Ok(row.chat.kind == ChatKind::Private && consent::opted_out(conn, row.key, asker)?.is_some())
    }

    /// Builds the window around the focus. If a long thread has a summary, it replaces the oldest part of the thread.
    pub fn window(&self, conn: &Reader, gathered: &Gathered, focused: Focused) -> PickedWindow {
        let Gathered { history, params } = gathered;
        let mut oldest_part = OldestPart::default();
        let window = window_around(conn, (history, focused), params, &self.services.recaller, |thread| {
            let long_threads = self.services.long_threads.as_ref()?;
            oldest_part = long_threads.find(conn, history.trigger.chat, thread);
            oldest_part.summarized(params.estimate)
        });
        PickedWindow { window, oldest_part }
    }

    pub fn complete(
        &self,
        conn: &Reader,
        opened: &LoadedTrigger,
        gathered: Gathered,
        windowed: PickedWindow,
        beside: TriggerFacts,
    ) -> chime_store::Result<QuestionContext> {
        let LoadedTrigger { chat: row, generic, .. } = opened;
        let generic = *generic;
        let Gathered { history, params } = gathered;
        let PickedWindow { window, oldest_part } = windowed;
        let style = Style::for_model(self.gateway.is_small(ModelPurpose::Answer));
        let TriggerFacts { looked, mut enrichment, scope, earliest, introduction, topic, spent } = beside;
        enrichment.pieces.extend(oldest_part.piece());
        enrichment.pieces.extend(row.settings.get(PERSONA).map(|Persona(text)| Piece {
            slot: Slot::Persona,
            topic: None,
            lines: vec![PieceLine { text, source: None }],
        }));
        let going_on = self.going_on(conn, &history, generic, row, &window);
        let recalled = looked.map_or_else(Recalled::default, |looked| self.recalled(conn, &looked, &window));
        let people = PresentMember::of_talk(&history.recent, history.trigger.message.sent_at.minus(LATELY));
        Ok(QuestionContext {
            history,
            zone: row.zone(self.services.base.zone()),
            chat: row.clone(),
            gateway: self.gateway.clone(),
            is_unasked: self.is_unasked,
            began_at: self.now,
            topic,
            people,
            generic,
            style,
            window,
            oldest_part,
            enrichment,
            recalled,
            room: params.token_budget,
            going_on,
            scope,
            bills: Vec::new(),
            follow_up: FollowUp::default(),
            looked_up: LookedUp::default(),
            photos: Vec::new(),
            web_results: 0,
            remarks: Vec::new(),
            earliest,
            introduction,
            spent,
        })
    }

    /// Searches older messages and summaries for the question. An error is logged and gives `None`.
    fn look(&self, conn: &Reader, opened: &LoadedTrigger, zone: Zone) -> Option<RankedRecall> {
        let TriggerInput { trigger, ask, .. } = &opened.asked;
        let request = RecallRequest {
            conversation: trigger.conversation(),
            text: ask,
            now: trigger.message.sent_at,
            utc_offset: zone.ahead_secs(trigger.message.sent_at),
            by: trigger.message.sender.id,
            before: trigger.seq,
        };
        self.services.recaller.look(conn, &request).inspect_err(not_recalled).ok()
    }

    /// Returns the best search results that are not in the window, as many as fit into the token cap of the recall
    /// slot.
    fn recalled(&self, conn: &Reader, looked: &RankedRecall, window: &ContextWindow) -> Recalled {
        let shown: HashSet<Seq> = window.entries.iter().map(|entry| entry.message.seq).collect();
        let found = looked.best(conn, &shown).inspect_err(not_recalled).unwrap_or_default();
        fitting(found, Slot::Recall.cap().unwrap_or(0), self.services.params.estimate)
    }

    /// Returns the suggestion that the question follows up on. An error is logged, and the question is then answered
    /// without one.
    fn going_on(
        &self,
        conn: &Reader,
        history: &History,
        generic: bool,
        row: &ChatRow,
        window: &ContextWindow,
    ) -> FollowUpContext {
        let asked = follow_up::FollowUpQuestion {
            trigger: &history.trigger,
            ask: &history.ask,
            generic,
            language: row.language,
            usual_idle: self.services.base.config.memory.idle.in_chats_of(row.chat.kind),
            window,
            member: history.trigger.message.sender.id,
            now: self.now,
        };
        follow_up::find(conn, &asked).unwrap_or_else(|error| {
            tracing::warn!(error_type = "follow_up", %error, "chat.error: no earlier suggestion could be read");
            FollowUpContext::default()
        })
    }
}

fn not_recalled(error: &StoreError) {
    tracing::warn!(%error, "nothing older is recalled");
}

impl QuestionContext {
    pub fn trigger(&self) -> &StoredMessage {
        &self.history.trigger
    }

    /// Returns the knowledge that the answer may use.
    pub fn grounding(&self) -> Grounding {
        self.chat.settings.get(GROUNDING).unwrap_or_default()
    }

    pub fn asker(&self) -> UserId {
        self.trigger().message.sender.id
    }

    /// Returns the sources that the answer may cite: the messages of the window, and the recalled and looked-up ones.
    pub fn citable(&self) -> Vec<Citable> {
        let cite = |stored: &StoredMessage| Citable {
            id: SourceId::message(stored.seq.0),
            name: stored.message.sender.name.clone(),
            sent_at: stored.message.sent_at,
            text: stored.message.rendered(),
            link: message_link(&self.chat.chat, &stored.message),
            rests_on: Vec::new(),
        };
        let remembered = self.remembered(&[]);
        self.shown().map(cite).chain(remembered).collect()
    }

    /// Returns all sources that the answer may cite: [`citable`](Self::citable), and those in the slots of the prompt.
    pub fn given(&self, built: &BuiltPrompt) -> Vec<Citable> {
        self.citable().into_iter().chain(built.citable.clone()).collect()
    }

    /// Returns the sources from memory: `given` (from the enrichers' slots), the recalled messages and summaries, and
    /// the summaries that were looked up.
    pub fn remembered(&self, given: &[Citable]) -> Vec<Citable> {
        let looked_up = self.looked_up.sources.iter().cloned();
        given
            .iter()
            .cloned()
            .chain(recall::citable(&self.recalled, &self.chat.chat, self.zone))
            .chain(looked_up)
            .collect()
    }

    /// Returns the sources other than messages that an answer may rest on. A text that no model wrote uses no recalled
    /// sources, but may cite a page or a document.
    pub fn rested_on(&self, status: AnswerStatus, given: &[Citable]) -> Vec<Citable> {
        match status {
            AnswerStatus::Answered => self.remembered(given),
            AnswerStatus::Offline | AnswerStatus::Apologised | AnswerStatus::MadeUp => {
                self.material().cloned().collect()
            }
        }
    }

    /// Returns the pieces of pages and documents in the prompt, those that answer the question best first.
    pub fn material(&self) -> impl Iterator<Item = &Citable> {
        let pieces = self.enrichment.pieces.iter().filter(|piece| piece.slot == Slot::Material);
        pieces.flat_map(|piece| &piece.lines).filter_map(|line| line.source.as_ref())
    }

    /// Returns the pieces of notes in the prompt, the most relevant first.
    pub fn notes(&self) -> impl Iterator<Item = &Citable> {
        let lines = self.enrichment.pieces.iter().flat_map(|piece| &piece.lines);
        lines.filter_map(|line| line.source.as_ref()).filter(|source| source.id.kind == SourceKind::Note)
    }

    pub fn asker_name(&self) -> &str {
        &self.trigger().message.sender.name
    }

    /// Returns `true` if `answer` repeats an earlier answer of the bot word for word. `false` for short answers, such
    /// as "Yes.", which may recur.
    pub fn is_repeated_by(&self, answer: &str) -> bool {
        const SHORT: usize = 8;
        let words = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
        let own = self.window.entries.iter().filter(|entry| entry.message.message.role == Role::Assistant);
        own.map(|entry| without_citations(&entry.message.message.text))
            .any(|own| words(&own).len() >= SHORT && words(&own) == words(answer))
    }

    /// Leaves only the messages of the window and the question, and selects the plain prompt. Used after the model gave
    /// nothing usable.
    pub fn leave_extras_out(&mut self) {
        self.style = Style::Plain;
        self.recalled = Recalled::default();
        self.enrichment = Enrichment::default();
        self.follow_up = FollowUp::default();
    }

    /// Returns the language to answer in, or `None` if the question names one itself.
    pub fn language(&self) -> Option<Language> {
        let ask = &self.history.ask;
        if Language::is_named_in(ask) {
            return None;
        }
        if let Some(language) = self.going_on.reading.whole_in() {
            return Some(language);
        }
        let talk = self.window.entries.iter().map(|entry| &entry.message.message);
        let talk: Vec<&str> =
            talk.filter(|message| message.role == Role::User).map(|message| message.text.as_str()).collect();
        Language::of_question(ask, &talk.join("\n"), self.chat.language)
    }

    /// Returns the language of an answer without a model: the language set for the chat, else the question's if there
    /// are texts in it.
    pub fn notice_language(&self) -> Language {
        let asked = || self.language().filter(|asked| languages().iter().any(|known| known.code == asked.code()));
        self.chat.settings.get(LANGUAGE).or_else(asked).unwrap_or(self.chat.language)
    }

    /// Returns the sentence that tells how many messages of the subject did not fit into the prompt; `None` if these
    /// are too few to matter.
    pub fn left_out(&self, language: Language) -> Option<String> {
        const FEW: usize = 2;
        let count = self.window.omitted.iter().filter(|omitted| omitted.why == "no room").count();
        (count > FEW).then(|| filled(&texts(language.code()).digest.left_out, &[("n", &count.to_string())]))
    }

    /// Returns `true` if the prompt shows every message of the chat before the question.
    pub fn is_all_shown(&self) -> bool {
        self.window.entries.len() + 1 >= usize::try_from(self.trigger().seq.0).unwrap_or(usize::MAX)
    }

    /// Returns the messages of the window, and the recalled and looked-up ones.
    pub(super) fn shown(&self) -> impl Iterator<Item = &StoredMessage> {
        let recalled = self.recalled.messages.iter().map(|one| &one.message);
        self.window.entries.iter().map(|entry| &entry.message).chain(recalled).chain(&self.looked_up.messages)
    }

    /// Returns the usernames that the answer may mention: of the authors shown, and of the bot.
    pub fn names<'a>(&'a self, bot: &'a BotIdentity) -> Vec<&'a str> {
        self.shown()
            .filter_map(|stored| stored.message.sender.username.as_deref())
            .chain(bot.usernames.iter().map(String::as_str))
            .collect()
    }
}
