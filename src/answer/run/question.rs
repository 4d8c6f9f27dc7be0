//! A question as it stands when its job is taken up: the trigger, what it asks, and everything that its answer is made
//! from.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crate::access::Access;
use crate::access::run::served;
use crate::answer::prompt::Person;
use crate::answer::recall::{self, fitting};
use crate::answer::run::concepts::Scope;
use crate::answer::run::enrich::{Enricher, Subject, enrich};
use crate::answer::run::follow_up::{self, GoingOn};
use crate::answer::run::introduction::Introduction;
use crate::answer::run::long_strand::{LongStrands, OldestPart};
use crate::answer::tools::LookedUp;
use crate::config::{AccessConfig, SessionIdle};
use crate::context::run::{Asked, Readings, gather, window_around};
use crate::context::{ContextWindow, Focused, History, Params};
use crate::domain::{
    Alternative, BotIdentity, Citable, Enrichment, FollowUp, FormattedText, Grounding, How, Matter, MessageAt,
    ParsedTrigger, Seq, Slot, SourceId, Spent, StoredMessage, Timestamp, UserId, Zone, message_link,
};
use crate::gateway::run::Bill;
use crate::retrieval::Recalled;
use crate::retrieval::run::{Looked, RecallRequest, Recaller};
use crate::store::chat_settings::ChatSettings;
use crate::store::chats::{self, ChatRow};
use crate::store::concepts::ContextKey;
use crate::store::{self, Reader, StoreError, answers, chat_settings, consent, messages, usage};
use crate::trigger::{self, Languages, own_run};

/// Messages before a tag that are looked at for a question of its author.
const IN_A_ROW: usize = 6;
/// Who spoke within this time is here.
const LATELY: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What is known when the job is taken up.
pub enum Found<T> {
    Gone,
    Answered,
    /// The trigger waited too long, in a crash or a downtime.
    Old(Box<StoredMessage>),
    Ready(Box<T>),
}

/// A trigger with the messages it may be about, before any of them is picked.
#[derive(Clone)]
pub struct Gathered {
    pub history: Arc<History>,
    /// With the room that there is for the window.
    pub params: Params,
    chat: ChatRow,
    matter: Matter,
    asked_by: UserId,
    /// The ask only points at the conversation; `is_bare` where the tag alone does, and a question before it does not.
    generic: bool,
    is_bare: bool,
}

/// What belongs to a trigger whatever it turns out to be about: it is read while that is worked out.
pub struct Beside {
    /// None where the ask only points at the conversation, or nothing could be read.
    looked: Option<Looked>,
    enrichment: Enrichment,
    scope: Scope,
    earliest: Option<Timestamp>,
    settings: ChatSettings,
    introduction: Option<FormattedText>,
    topic: Option<String>,
    spent: Spent,
}

/// The window that an answer is made from.
pub struct Windowed {
    window: ContextWindow,
    /// The oldest part of the trigger's strand, where that is long.
    oldest_part: OldestPart,
}

/// A trigger with everything its answer is made from.
pub struct Question {
    /// The trigger, how it is read, and what the window was picked from. Kept until the answer is sent: to let go of two
    /// hundred messages takes a while.
    pub history: Arc<History>,
    pub chat: ChatRow,
    /// In which the chat is told times.
    pub zone: Zone,
    pub grounding: Grounding,
    /// Whether the chat wants its answers shown while they are written, where it says so itself.
    pub streams: Option<bool>,
    /// What the forum topic is called that the trigger stands in.
    pub topic: Option<String>,
    /// Who spoke in the conversation lately.
    pub people: Vec<Person>,
    pub generic: bool,
    pub window: ContextWindow,
    /// The oldest part of the trigger's strand, where that is long.
    pub oldest_part: OldestPart,
    /// What other rooms add to the prompt.
    pub enrichment: Enrichment,
    /// Older messages and summaries that bear on the ask, oldest first.
    pub recalled: Recalled,
    /// Room for the window, in tokens as we estimate them.
    pub room: usize,
    pub matter: Matter,
    /// Who wants this answer: the author of the trigger, or whoever pressed the button for the other matter.
    pub asked_by: UserId,
    /// The suggestion that the ask goes on with.
    pub going_on: GoingOn,
    /// The concepts that the conversation has in scope.
    pub scope: Scope,
    /// Calls of the model before the answer, to be written down with it.
    pub bills: Vec<Bill>,
    /// What was worked out of it, once that is done.
    pub follow_up: FollowUp,
    /// What the model looked up on its way to the answer.
    pub looked_up: LookedUp,
    pub earliest: Option<Timestamp>,
    /// What the chat was not told yet.
    pub introduction: Option<FormattedText>,
    /// Of the day, before this answer.
    pub spent: Spent,
}

/// What it takes to read a trigger and what it is about.
pub struct Reading {
    pub params: Params,
    /// In which times are told where a chat has none of its own.
    pub zone: Zone,
    /// None: long strands are taken as they are.
    pub strands: Option<LongStrands>,
    /// The model that is asked, whose way of counting tokens may be known.
    pub model: String,
    pub bot: UserId,
    pub idle: SessionIdle,
    pub readings: Arc<Readings>,
    pub recaller: Arc<Recaller>,
    pub enrichers: Vec<Enricher>,
    pub introduction: Introduction,
    pub access: AccessConfig,
    /// Triggers older than this are told of in one line, and not answered.
    pub max_age: Duration,
    pub now: Timestamp,
    /// The same by Telegram's clock, which dates the messages.
    pub there: Timestamp,
}

impl Reading {
    /// Reads the message `at` and what may belong to it, for an answer about `matter`.
    pub fn gather(
        &self,
        conn: &Reader,
        at: MessageAt,
        parsed: &ParsedTrigger,
        matter: Matter,
    ) -> store::Result<Found<Gathered>> {
        let (Some(trigger), Some(row)) = (consent::for_job(conn, at.chat, at.message)?, chats::find(conn, at.chat)?)
        else {
            return Ok(Found::Gone);
        };
        // It was allowed when the trigger came in; the operator may have changed that since.
        if served(conn, &row.chat, trigger.message.sender.id, &self.access)? == Access::Refused {
            return Ok(Found::Gone);
        }
        let asked_at = trigger.message.edited_at.unwrap_or(trigger.message.sent_at);
        if matter == Matter::First && self.there.since(asked_at) > self.max_age {
            return Ok(Found::Old(Box::new(trigger)));
        }
        if answers::to_trigger(conn, trigger.chat, trigger.seq, matter)?.is_some() {
            return Ok(Found::Answered);
        }
        let (given, asked_by) = match matter {
            Matter::First => (None, trigger.message.sender.id),
            Matter::Second => match other_matter(conn, &trigger)? {
                Some(it) => (Some(it.other), it.asked_by.unwrap_or(trigger.message.sender.id)),
                None => return Ok(Found::Gone),
            },
        };
        let (asked, generic) = asked(conn, trigger, parsed)?;
        let room = usage::calibration(conn, &self.model)?.room(self.params.token_budget);
        let params = Params { token_budget: room, ..self.params.clone() };
        let history = Arc::new(History { given, ..gather(conn, asked, &params, &self.readings)? });
        let is_bare = parsed.is_generic;
        Ok(Found::Ready(Box::new(Gathered { history, params, chat: row, matter, asked_by, generic, is_bare })))
    }

    /// Reads what belongs to a trigger whatever it is about.
    pub fn beside(&self, conn: &Reader, gathered: &Gathered) -> store::Result<Beside> {
        let Gathered { history, chat: row, asked_by, generic, .. } = gathered;
        let trigger = &history.trigger;
        let subject = Subject {
            chat: trigger.chat,
            conversation: trigger.conversation(),
            trigger: trigger.clone(),
            ask: history.ask.clone(),
            now: self.now,
        };
        Ok(Beside {
            looked: if *generic { None } else { self.look(conn, history, row.zone(self.zone)) },
            enrichment: enrich(conn, &self.enrichers, &subject),
            scope: Scope::load(conn, ContextKey { bot: self.bot, chat: trigger.chat, thread: trigger.message.thread }),
            earliest: messages::earliest(conn, trigger.chat)?,
            settings: chat_settings::load(conn, trigger.chat)?,
            introduction: self.introduction.due(conn, row)?,
            topic: chats::topic_name(conn, trigger.conversation())?,
            spent: usage::spent(conn, self.now, trigger.chat, *asked_by)?,
        })
    }

    /// The window around what was picked. The oldest part of a long strand is left to a summary where there is one.
    pub fn window(&self, conn: &Reader, gathered: &Gathered, focused: Focused) -> Windowed {
        let Gathered { history, params, .. } = gathered;
        let mut oldest_part = OldestPart::default();
        let window = window_around(conn, (history, focused), params, &self.recaller, |strand| {
            let strands = self.strands.as_ref()?;
            oldest_part = strands.find(conn, history.trigger.chat, strand);
            oldest_part.summarized(params.estimate)
        });
        Windowed { window, oldest_part }
    }

    /// Reads the rest, now that all else is known.
    pub fn complete(
        &self,
        conn: &Reader,
        gathered: Gathered,
        windowed: Windowed,
        beside: Beside,
    ) -> store::Result<Question> {
        let Gathered { history, params, chat: row, matter, asked_by, generic, is_bare } = gathered;
        let Windowed { window, oldest_part } = windowed;
        let Beside { looked, mut enrichment, scope, earliest, settings, introduction, topic, spent } = beside;
        enrichment.pieces.extend(oldest_part.piece());
        let going_on = self.going_on(conn, &history, (generic, is_bare), &row, &window, asked_by);
        let recalled = looked.map_or_else(Recalled::default, |looked| self.recalled(conn, &looked, &window));
        let people = Person::of_talk(&history.recent, history.trigger.message.sent_at.minus(LATELY));
        Ok(Question {
            history,
            zone: row.zone(self.zone),
            chat: row,
            grounding: settings.grounding.unwrap_or_default(),
            streams: settings.streaming,
            topic,
            people,
            generic,
            window,
            oldest_part,
            enrichment,
            recalled,
            room: params.token_budget,
            matter,
            asked_by,
            going_on,
            scope,
            bills: Vec::new(),
            follow_up: FollowUp::default(),
            looked_up: LookedUp::default(),
            earliest,
            introduction,
            spent,
        })
    }
}

impl Reading {
    /// What the chat said before about the ask. It only enriches: where it cannot be read, there is nothing.
    fn look(&self, conn: &Reader, history: &History, zone: Zone) -> Option<Looked> {
        let (trigger, vectors) = (&history.trigger, history.vectors());
        let request = RecallRequest {
            conversation: trigger.conversation(),
            text: &history.ask,
            now: trigger.message.sent_at,
            utc_offset: zone.ahead_secs(trigger.message.sent_at),
            by: trigger.message.sender.id,
            before: trigger.seq,
            vectors: &vectors,
        };
        self.recaller.look(conn, &request).inspect_err(not_recalled).ok()
    }

    /// The best of it that the window does not hold, as far as there is room.
    fn recalled(&self, conn: &Reader, looked: &Looked, window: &ContextWindow) -> Recalled {
        let shown: HashSet<Seq> = window.entries.iter().map(|entry| entry.message.seq).collect();
        let found = looked.best(conn, &shown).inspect_err(not_recalled).unwrap_or_default();
        fitting(found, Slot::Recall.cap().unwrap_or(0), self.params.estimate)
    }
}

fn not_recalled(error: &StoreError) {
    tracing::warn!(%error, "nothing older is recalled");
}

/// The ask of a tag that says nothing by itself: the question that its author wrote just before it, in one message or
/// several. Also whether there was none. A tag in a reply points at the message it replies to instead.
fn in_pieces(conn: &Reader, trigger: &StoredMessage, ask: String) -> store::Result<(String, bool)> {
    if trigger.message.reply_to.is_some() {
        return Ok((ask, true));
    }
    let moment = (trigger.message.sent_at, trigger.message.id);
    let before = messages::before(conn, trigger.conversation(), moment, IN_A_ROW)?;
    let run = own_run(&before, trigger);
    let question = run.iter().position(|stored| Languages::shipped().is_question(&stored.message.text));
    let Some(question) = question else { return Ok((ask, true)) };
    let pieces = run[question..].iter().map(|stored| stored.message.text.as_str()).chain([ask.as_str()]);
    Ok((pieces.filter(|piece| !piece.trim().is_empty()).collect::<Vec<_>>().join("\n"), false))
}

impl Reading {
    /// The suggestion that the ask goes on with. What goes wrong with it costs the memory of it and not the answer.
    fn going_on(
        &self,
        conn: &Reader,
        history: &History,
        (generic, is_bare): (bool, bool),
        row: &ChatRow,
        window: &ContextWindow,
        member: UserId,
    ) -> GoingOn {
        let asked = follow_up::Asked {
            trigger: &history.trigger,
            ask: &history.ask,
            generic,
            is_bare,
            language: row.language,
            usual_idle: self.idle.in_chats_of(row.chat.kind),
            window,
            member,
            now: self.now,
        };
        follow_up::find(conn, &asked).unwrap_or_else(|error| {
            tracing::warn!(error_type = "follow_up", %error, "chat.error: no earlier suggestion could be read");
            GoingOn::default()
        })
    }
}

/// What the first answer to `trigger` left open.
fn other_matter(conn: &Reader, trigger: &StoredMessage) -> store::Result<Option<Alternative>> {
    let first = answers::to_trigger(conn, trigger.chat, trigger.seq, Matter::First)?;
    Ok(first.and_then(|first| first.alternative))
}

/// A trigger as it is read for an answer, and whether its ask only points at the conversation.
pub fn asked(conn: &Reader, trigger: StoredMessage, parsed: &ParsedTrigger) -> store::Result<(Asked, bool)> {
    let ask = trigger::ask_of(&trigger.message.text, parsed);
    let (ask, generic) = match parsed.is_generic {
        true => in_pieces(conn, &trigger, ask)?,
        false => (ask, false),
    };
    Ok((Asked { trigger, ask, is_tag: parsed.how == How::Mention }, generic))
}

impl Question {
    pub fn trigger(&self) -> &StoredMessage {
        &self.history.trigger
    }

    /// What the answer may cite: the messages of the window, what was recalled, and what was looked up.
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

    /// What is remembered and may be cited: of the slots that other rooms fill, as `given`, of what was recalled, and of what
    /// was looked up.
    pub fn remembered(&self, given: &[Citable]) -> Vec<Citable> {
        let looked_up = self.looked_up.summaries.iter().cloned();
        given
            .iter()
            .cloned()
            .chain(recall::citable(&self.recalled, &self.chat.chat, self.zone))
            .chain(looked_up)
            .collect()
    }

    /// The messages that the model was shown.
    fn shown(&self) -> impl Iterator<Item = &StoredMessage> {
        let recalled = self.recalled.messages.iter().map(|one| &one.message);
        self.window.entries.iter().map(|entry| &entry.message).chain(recalled).chain(&self.looked_up.messages)
    }

    /// Usernames that the answer may mention: of those in the window, and our own.
    pub fn names<'a>(&'a self, bot: &'a BotIdentity) -> Vec<&'a str> {
        self.shown()
            .filter_map(|stored| stored.message.sender.username.as_deref())
            .chain(bot.usernames.iter().map(String::as_str))
            .collect()
    }
}
