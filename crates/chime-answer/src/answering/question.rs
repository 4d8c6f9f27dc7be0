//! A question together with all data that its answer is made from.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crate::answering::concepts::ConceptScope;
use crate::answering::enrich::enrich;
use crate::answering::follow_up::{self, FollowUpContext, FollowUpQuestion};
use crate::answering::introduction::due;
use crate::answering::load_trigger::{ClosedTrigger, LoadedTrigger, load_trigger};
use crate::answering::long_thread::OldestPart;
use crate::answering::services::Services;
use crate::lines::Style;
use crate::prompt::{self, BuiltPrompt, present_members};
use crate::recall::{self, fitting};
use crate::sources::Sourced;
use crate::tools::LookedUp;
use chime_access::gateway::ModelPurpose;
use chime_access::gateway::ask::{Gateway, UsageRecord};
use chime_core::chat_settings::{ChatSettings, GROUNDING, MODEL, PERSONA, Persona};
use chime_core::lang::languages;
use chime_core::texts::{filled, texts};
use chime_core::trigger::Languages;
use chime_core::{
    AnswerStatus, BotIdentity, ChatKind, Citable, Enrichment, FollowUp, FormattedText, Grounding, Language, Member,
    Message, MessageAt, MessageId, ParsedTrigger, Piece, PieceLine, Role, Seq, Slot, SourceId, SourceKind, Spent,
    StoredMessage, Timestamp, UserId, Zone, message_link, without_sent_citations,
};
use chime_memory::context::{gather, window_around};
use chime_memory::recall::RecallRequest;
use chime_memory::told::ToldLines;
use chime_relevance::context::{ContextWindow, History, Params};
use chime_relevance::retrieval::Recalled;
use chime_store::chats::ChatRow;
use chime_store::concepts::ContextKey;
use chime_store::{Reader, consent, messages, topic_names, usage};

/// Stand for a language that is not known for certain.
pub(super) const LANGUAGE_OF_QUESTION: &str = "the language and script of the question";
const LANGUAGE_OF_MESSAGES: &str = "the language and script of the messages";
/// A member who wrote within this time counts as present.
const LATELY: Duration = Duration::from_hours(7 * 24);

/// Age from which on a question that was not put to the bot is no longer answered, such as after a downtime.
const TOO_LATE: Duration = Duration::from_hours(3);

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
    pub settings: ChatSettings,
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
    pub people: Vec<Member>,
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
    /// Sentences below the answer that say what could not be read or was left out.
    pub remarks: Vec<String>,
    pub earliest: Option<Timestamp>,
    /// Privacy notice to append to the answer; `None` if the chat has already had it.
    pub introduction: Option<FormattedText>,
    /// Tokens spent today, before this answer.
    pub spent: Spent,
}

impl QuestionContext {
    /// Chooses the messages that the trigger is about, and reads everything else that its answer needs.
    fn load(
        conn: &Reader,
        services: &Services,
        loaded: LoadedTrigger,
        now: Timestamp,
        is_unasked: bool,
    ) -> chime_store::Result<Self> {
        let LoadedTrigger { asked, chat, settings, generic } = loaded;
        let gateway = services.gateway.with_model(settings.get(MODEL));
        let wanted = gateway.talk_tokens(services.base.config.context.tokens);
        let room = usage::calibration(conn, gateway.model_name(ModelPurpose::Answer))?.room(wanted);
        let params = Params { token_budget: room, ..services.params.clone() };
        let history = Arc::new(gather(conn, asked, &params, &services.features)?);
        let (window, oldest_part) = window(conn, services, &history, &params);
        let (trigger, zone) = (&history.trigger, settings.zone(services.base.zone()));
        let conversation = trigger.conversation();
        let (asker, forum_topic) = (trigger.message.sender.id, conversation.forum_topic);
        let style = Style::for_model(gateway.is_small(ModelPurpose::Answer));
        let mut enrichment = enrich(conn, services, &history, zone, now);
        // A question such as "thoughts?" only refers to the conversation.
        let recalled = match generic {
            true => Recalled::default(),
            false => {
                let lines = enrichment.pieces.iter().filter(|piece| prompt::shows(style, piece.slot));
                let lines = lines.flat_map(|piece| &piece.lines).filter_map(|line| line.source.as_ref());
                recalled(conn, services, &history, zone, &window, &ToldLines::of(lines))
            }
        };
        enrichment.pieces.extend(oldest_part.piece());
        enrichment.pieces.extend(settings.get(PERSONA).map(|Persona(text)| Piece {
            slot: Slot::Persona,
            topic: None,
            lines: vec![PieceLine { text, source: None }],
        }));
        let key = ContextKey { bot: services.base.bot().id, chat: trigger.chat, forum_topic };
        Ok(Self {
            topic: topic_names::find(conn, conversation)?,
            people: present_members(&history.recent, trigger.message.sent_at.minus(LATELY)),
            style,
            recalled,
            going_on: going_on(conn, services, &history, &chat, generic, &window),
            scope: ConceptScope::load(conn, key, services.base.config.memory.is_on),
            earliest: messages::earliest(conn, trigger.chat)?,
            introduction: match is_out_in_private(conn, &chat, asker)? {
                true => None,
                false => due(conn, services, &chat)?,
            },
            spent: usage::spent(conn, now, trigger.chat, asker)?,
            history,
            chat,
            settings,
            gateway,
            is_unasked,
            began_at: now,
            zone,
            generic,
            window,
            oldest_part,
            enrichment,
            room,
            bills: Vec::new(),
            follow_up: FollowUp::default(),
            looked_up: LookedUp::default(),
            photos: Vec::new(),
            web_results: 0,
            remarks: Vec::new(),
        })
    }

    pub fn trigger(&self) -> &StoredMessage {
        &self.history.trigger
    }

    /// Returns the knowledge that the answer may use.
    pub fn grounding(&self) -> Grounding {
        self.settings.get(GROUNDING).unwrap_or_default()
    }

    pub fn asker(&self) -> UserId {
        self.trigger().message.sender.id
    }

    /// Returns the sources that the answer may cite: the messages of the window, and the recalled and looked-up ones.
    pub fn citable(&self) -> Vec<Citable> {
        let cite = |stored: &StoredMessage| Citable {
            id: SourceId::message(stored.seq.0),
            name: stored.message.sender.name.clone(),
            is_own: stored.message.role == Role::Assistant,
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

    /// Returns the sources from memory: `given` (from the slots of memory and notes), the recalled messages and summaries, and
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
        own.map(|entry| without_sent_citations(&entry.message.message.text))
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

    /// Returns `true` if a language is named by the question, or by an earlier one whose answer it is about ("shorter").
    pub fn names_language(&self) -> bool {
        /// Up to this number of words, a request right after an answer may be about the answer without replying to it.
        const FEW_WORDS: usize = 5;
        let History { recent, linked, .. } = &*self.history;
        let by_id = |id: MessageId| recent.iter().chain(linked).find(|stored| stored.message.id == id);
        let earlier = |asked: &StoredMessage| {
            let text = &asked.message.text;
            let may_continue =
                || text.split_whitespace().count() <= FEW_WORDS && !Languages::shipped().is_question(text);
            let before = || recent.iter().rfind(|stored| stored.seq < asked.seq).filter(|_| may_continue());
            let answer = asked.message.reply_to.map_or_else(before, by_id)?;
            let is_answer = answer.message.role == Role::Assistant;
            answer.message.reply_to.filter(|_| is_answer).and_then(by_id).filter(|it| it.seq < asked.seq)
        };
        Language::is_named_in(&self.history.ask)
            || std::iter::successors(earlier(self.trigger()), |asked| earlier(asked))
                .any(|asked| Language::is_named_in(&asked.message.text))
    }

    /// Returns the language to answer in, as the prompt names it; `None` if a question names one.
    pub fn language_in_prompt(&self) -> Option<&'static str> {
        let is_bare = !self.history.ask.contains(char::is_alphabetic);
        let unknown = if is_bare { LANGUAGE_OF_MESSAGES } else { LANGUAGE_OF_QUESTION };
        (!self.names_language()).then(|| self.language().map_or(unknown, Language::name_in_prompt))
    }

    /// Returns the language to answer in; `None` if a question names one, or it is not known for certain.
    pub fn language(&self) -> Option<Language> {
        /// Up to this number of words, a question is read by the asker's own messages, if they are enough.
        const FEW_WORDS: usize = 3;
        let ask = &self.history.ask;
        if self.names_language() {
            return None;
        }
        if let Some(language) = self.going_on.reading.whole_in() {
            return Some(language);
        }
        if ask.split_whitespace().count() <= FEW_WORDS {
            let recent = self.history.recent.iter().map(|stored| &stored.message);
            let own = member_texts(recent.filter(|message| message.sender.id == self.asker()));
            if let Some(usual) = Language::judge(&own) {
                return Language::of_question(ask, &own.join("\n"), usual);
            }
        }
        let talk = member_texts(self.window.entries.iter().map(|entry| &entry.message.message));
        Language::of_question(ask, &talk.join("\n"), self.chat.language)
    }

    /// Returns the language of a reply that no model wrote, and of the notices below it: the language set for the chat,
    /// else the question's if there are texts in it, else the chat's.
    pub fn notice_language(&self) -> Language {
        let asked = || self.language().filter(|asked| languages().iter().any(|known| known.code == asked.code()));
        self.chat.chosen_language.or_else(asked).unwrap_or(self.chat.language)
    }

    /// Returns the sentence that says how many messages of the subject did not fit into the prompt; `None` if these
    /// are too few to matter, or if the question does not ask for the talk as a whole.
    pub fn left_out(&self, language: Language) -> Option<String> {
        const FEW: usize = 2;
        let is_about_talk = self.generic || self.window.anchor.is_some();
        let count = self.window.omitted.iter().filter(|omitted| omitted.why == "no room").count();
        (count > FEW && is_about_talk && !self.follow_up.frame.intent.suggests())
            .then(|| filled(&texts(language.code()).digest.left_out, &[("n", &count.to_string())]))
    }

    /// Returns which sentences without a citation get one in the answer `text` of a model.
    pub fn sourced(&self, text: &str) -> Sourced {
        /// A shorter answer to a request is not a text to be copied, but a fact or "understood, no nuts".
        const SOME_TEXT: usize = 8;
        let must_cite = self.style == Style::Numbered;
        let suggests = self.follow_up.frame.intent.suggests() || self.follow_up.wants_others;
        let is_text = must_cite && self.is_request() && text.split_whitespace().count() > SOME_TEXT;
        match self.is_general_knowledge() || must_cite && suggests {
            true => Sourced::None,
            false if is_text => Sourced::Listed,
            false => Sourced::IfNoneIsCited,
        }
    }

    /// Returns `true` if the question is new to the chat, and nothing else was found for it.
    fn is_general_knowledge(&self) -> bool {
        let is_found = |piece: &Piece| matches!(piece.slot, Slot::Recall | Slot::Material);
        let has_sources = !self.looked_up.uses.is_empty() || self.enrichment.pieces.iter().any(is_found);
        self.window.is_new && self.recalled == Recalled::default() && !has_sources
    }

    /// Returns `true` if the member asks for a text, in some words but not as a question. If a model that has to cite writes
    /// it without citations, it will be copied.
    fn is_request(&self) -> bool {
        /// "ferry time" asks for a fact.
        const SOME_WORDS: usize = 4;
        let ask = &self.history.ask;
        let is_long = ask.split_whitespace().count() >= SOME_WORDS;
        is_long && !self.generic && !Languages::shipped().is_question(ask)
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

/// Loads the trigger `at` and everything that its answer needs, and chooses the messages that it is about.
pub(super) async fn load_question(
    services: &Services,
    at: MessageAt,
    parsed: &ParsedTrigger,
    is_unasked: bool,
) -> chime_store::Result<Result<Box<QuestionContext>, ClosedTrigger>> {
    let (loading, parsed, now) = (services.clone(), parsed.clone(), services.base.clock.now());
    let max_age = if is_unasked { TOO_LATE } else { services.base.config.ingest.backlog_max_age };
    let load = move |conn: &_| match load_trigger(conn, &loading, now, max_age, at, &parsed)? {
        Ok(loaded) => Ok(Ok(Box::new(QuestionContext::load(conn, &loading, loaded, now, is_unasked)?))),
        Err(closed) => Ok(Err(closed)),
    };
    services.base.store.read(load).await
}

/// Chooses the window again with half of the token budget, or with what fits into the context that a refusal showed, and
/// drops the recalled messages.
pub(super) async fn halve(services: &Services, question: &mut QuestionContext) -> chime_store::Result<()> {
    let (fitting, name) = (
        question.gateway.talk_tokens(services.base.config.context.tokens),
        question.gateway.model_name(ModelPurpose::Answer).to_owned(),
    );
    let calibration = services.base.store.read(move |conn| usage::calibration(conn, &name)).await?;
    let budget = calibration.room(fitting).min(question.room / 2);
    let params = Params { token_budget: budget, ..services.params.clone() };
    let summarized = question.oldest_part.summarized(params.estimate);
    let (history, recaller) = (Arc::clone(&question.history), Arc::clone(&services.recaller));
    let window = move |conn: &_| Ok(window_around(conn, &history, &params, &recaller, |_| summarized));
    question.window = services.base.store.read(window).await?;
    // Recalled messages matter less than the window, so they are dropped altogether.
    question.recalled = Recalled::default();
    Ok(())
}

/// Chooses the messages that the trigger is about. If a long thread has a summary, it replaces the oldest part of the
/// thread.
fn window(conn: &Reader, services: &Services, history: &History, params: &Params) -> (ContextWindow, OldestPart) {
    let mut oldest_part = OldestPart::default();
    let window = window_around(conn, history, params, &services.recaller, |thread| {
        oldest_part = OldestPart::find(conn, &services.base.config.memory, history.trigger.chat, thread);
        oldest_part.summarized(params.estimate)
    });
    (window, oldest_part)
}

/// Searches older messages and summaries for the question. Returns the best results that are neither in the window nor
/// in the lines `told`, as many as fit into the token cap of the recall slot. An error is logged, and nothing is
/// recalled.
fn recalled(
    conn: &Reader,
    services: &Services,
    history: &History,
    zone: Zone,
    window: &ContextWindow,
    told: &ToldLines,
) -> Recalled {
    let trigger = &history.trigger;
    let request = RecallRequest {
        conversation: trigger.conversation(),
        text: &history.ask,
        now: trigger.message.sent_at,
        zone,
        by: trigger.message.sender.id,
        before: trigger.seq,
    };
    let shown: HashSet<Seq> = window.entries.iter().map(|entry| entry.message.seq).collect();
    let found = services.recaller.look(conn, &request).and_then(|looked| looked.best(conn, &shown, told));
    let found = found.inspect_err(|error| tracing::warn!(%error, "nothing older is recalled")).unwrap_or_default();
    fitting(found, Slot::Recall.cap().unwrap_or(0), services.params.estimate)
}

fn member_texts<'m>(messages: impl Iterator<Item = &'m Message>) -> Vec<String> {
    messages.filter(|message| message.role == Role::User).map(|message| message.text.clone()).collect()
}

/// Returns the suggestion that the question follows up on. An error is logged, and the question is then answered
/// without one.
fn going_on(
    conn: &Reader,
    services: &Services,
    history: &History,
    chat: &ChatRow,
    generic: bool,
    window: &ContextWindow,
) -> FollowUpContext {
    let asked = FollowUpQuestion {
        trigger: &history.trigger,
        ask: &history.ask,
        generic,
        language: chat.language,
        window,
        is_offline: services.gateway.is_offline(),
    };
    follow_up::find(conn, &asked).unwrap_or_else(|error| {
        tracing::warn!(error_type = "follow_up", %error, "chat.error: no earlier suggestion could be read");
        FollowUpContext::default()
    })
}

/// Returns `true` in a private chat with a member who opted out: nothing is stored there that needs a notice.
fn is_out_in_private(conn: &Reader, chat: &ChatRow, asker: UserId) -> chime_store::Result<bool> {
    Ok(chat.chat.kind == ChatKind::Private && consent::opted_out(conn, chat.key, asker)?.is_some())
}
