//! Runs rounds of tool calls: the model asks for messages of the chat, gets them, and answers in the end.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crate::answer_steps::{ModelAttempt, ModelFailure, WindowSize};
use crate::answering::ask::{ask, model_request};
use crate::answering::fetch_text::kept_lines;
use crate::answering::log;
use crate::answering::pages::{may_open_posted, open_posted};
use crate::answering::question::QuestionContext;
use crate::answering::services::Services;
use crate::answering::web::{may_search_web, search_web};
use crate::lines::{PromptTranscript, Style};
use crate::prompt::BuiltPrompt;
use crate::tools::{
    BadCall, ClockSpan, LookedUp, LookedUpMessage, LookupCall, LookupResult, LookupTool, MOST_CALLS, MOST_MESSAGES,
    until_silence,
};
use chime_access::Allowance;
use chime_access::gateway::ModelPreference;
use chime_access::gateway::ask::UsageRecord;
use chime_core::trigger::Languages;
use chime_core::{
    Bullet, Citable, Job, MessageId, PieceLine, Seq, SourceId, SourceMessage, Spent, StoredMessage, Summary, Timestamp,
    TokenUse, Zone, stems,
};
use chime_llm::{Completion, ToolRound};
use chime_memory::extract::is_stale;
use chime_memory::recall::{RankedRecall, RecallRequest, Recaller, item_state};
use chime_memory::{members, tags};
use chime_store::chats::ChatRow;
use chime_store::{Reader, chats, item_marks, messages, summaries, tags as tag_rows, topic_names};

/// Maximum number of reply links followed upwards from a message, and of replies read to each message below it.
const CHAIN: usize = 10;
/// Maximum number of files that are named if a search finds nothing.
const MOST_FILES: u32 = 3;
/// Note that a search does not look into files that were never opened.
const FILES_NOT_SEARCHED: &str =
    "Files that were never opened were not searched. The answer may be in one: open_link_or_file opens it.";
/// Maximum number of sessions whose summaries are searched.
const SESSIONS: u32 = 300;
const MOST_SESSIONS: usize = 5;
/// Maximum number of messages read for a search limited to an author or a time span.
const NEWEST: usize = 1000;

/// Asks the model, and runs its tool calls, until it answers.
pub(super) async fn converse(
    services: &Services,
    job: &Job,
    question: &mut QuestionContext,
    built: &mut BuiltPrompt,
    asking: ModelAttempt,
) -> Result<(Completion, UsageRecord), ModelFailure> {
    let until = services.base.clock.now().plus(services.base.config.llm.deadline);
    let mut prompt = model_request(question, built, asking.window);
    question.looked_up = LookedUp::default();
    let mut spent = TokenUse::default();
    loop {
        let is_open = may_look_up(asking, prompt.tools.rounds.len(), services.base.config.llm.tool_rounds)
            && services.base.clock.now() < until
            && question.gateway.allowance(after(question.spent, spent)) == Allowance::Ample;
        let outside =
            OutsideTools { posted: may_open_posted(services, question), web: may_search_web(services, question) };
        prompt.tools.offered = if is_open { offered(question.is_all_shown(), outside) } else { Vec::new() };
        // The request does not describe the tools if the model is small, since small models use them badly, or if the
        // prompt already shows the whole chat.
        prompt.tools.is_silent = question.style == Style::Plain || question.is_all_shown() && !outside.is_any();
        let (completion, bill) = ask(services, job, question, built, &prompt, asking.choice).await?;
        spent = TokenUse {
            prompt: spent.prompt + completion.tokens.prompt,
            completion: spent.completion + completion.tokens.completion,
        };
        if completion.calls.is_empty() {
            return Ok((Completion { tokens: spent, ..completion }, bill));
        }
        question.bills.push(bill);
        let Completion { text: said, calls, .. } = completion;
        let results = look_up(services, question, built, &calls).await;
        prompt.tools.rounds.push(ToolRound { said, calls, results });
    }
}

/// Executes the calls and returns a result for each. A failing call does not affect the others.
async fn look_up(
    services: &Services,
    question: &mut QuestionContext,
    built: &mut BuiltPrompt,
    calls: &[chime_llm::ToolCall],
) -> Vec<String> {
    let mut transcript = PromptTranscript::resume(
        &services.base.bot().name,
        &built.fence,
        question.zone,
        question.style,
        built.labels.clone(),
    );
    let mut results = Vec::new();
    for (place, call) in calls.iter().enumerate() {
        let lookup = match place {
            ..MOST_CALLS => LookupCall::parse(&call.name, &call.arguments, &built.labels),
            _ => Err(BadCall::TooMany),
        };
        let result = match lookup {
            Ok(lookup) => {
                let (words, found_before) = (lookup.words().map(str::to_owned), question.looked_up.uses.len());
                let shown_before = question.looked_up.messages.len();
                let sought = match &lookup {
                    LookupCall::Search { query, .. } => query.clone(),
                    _ => None,
                };
                let finding = match lookup {
                    LookupCall::OpenPosted { message, n } => open_posted(services, question, message, n).await,
                    LookupCall::SearchWeb(query) => search_web(services, question, &query).await,
                    lookup => find_in_chat(services, question, lookup).await,
                };
                let estimate = services.params.estimate;
                let mut output = question.looked_up.take_in(&call.name, finding, &mut transcript, estimate);
                let mut found = question.looked_up.uses.len() > found_before;
                if let Some(sought) = sought {
                    let kept = kept_lines(services, question, &sought, 1).await;
                    found |= !kept.is_empty();
                    let found_messages = question.looked_up.messages.len() > shown_before;
                    let texts = show_texts(services, question, kept, found_messages, &mut transcript).await;
                    output.extend(texts.into_iter().flat_map(|texts| ["\n".to_owned(), texts]));
                }
                question.looked_up.searched.extend(words.filter(|_| found));
                log::looked_up(&call.name, question.looked_up.messages.len());
                output
            }
            Err(bad) => bad.to_string(),
        };
        results.push(result);
    }
    built.labels = transcript.into_labels();
    results
}

/// Returns the pieces of texts that a search found, for the model. If it found neither pieces nor messages, the model
/// gets the newest files.
async fn show_texts(
    services: &Services,
    question: &mut QuestionContext,
    kept: Vec<PieceLine>,
    found_messages: bool,
    transcript: &mut PromptTranscript<'_>,
) -> Option<String> {
    if kept.is_empty() && found_messages {
        return None;
    }
    let (chat, before) = (question.chat.key, question.trigger().seq);
    let newest = services.base.store.read(move |conn| messages::documents(conn, chat, before, MOST_FILES)).await;
    let newest = newest.inspect_err(|error| tracing::warn!(%error, "cannot list the newest files")).unwrap_or_default();
    let files = newest.into_iter().map(|message| LookedUpMessage { message, topic: None }).collect::<Vec<_>>();
    let (note, tool, finding) = match (kept.is_empty(), files.is_empty()) {
        (false, _) => ("In the text of files and pages:", LookupTool::Search, LookupResult::Text(kept)),
        (true, true) => return None,
        (true, false) => (FILES_NOT_SEARCHED, LookupTool::Messages, LookupResult::Messages(files)),
    };
    let shown = question.looked_up.take_in(tool.as_str(), finding, transcript, services.params.estimate);
    Some(format!("{note}\n{shown}"))
}

async fn find_in_chat(services: &Services, question: &QuestionContext, lookup: LookupCall) -> LookupResult {
    let place = LookupScope {
        trigger: question.trigger().clone(),
        chat: question.chat.clone(),
        zone: question.zone,
        recaller: Arc::clone(&services.recaller),
    };
    let found = services.base.store.read(move |conn| place.find(conn, lookup)).await;
    found.unwrap_or_else(|error| {
        tracing::warn!(%error, "a tool found nothing");
        LookupResult::Messages(Vec::new())
    })
}

/// Returns `true` if the model may use tools in this attempt: not near the daily cap, not after a prompt was too long
/// or an answer could not be shown, and not after `most` rounds.
fn may_look_up(asking: ModelAttempt, rounds: usize, most: usize) -> bool {
    rounds < most && asking.choice == ModelPreference::Best && asking.window == WindowSize::Full
}

fn after(spent: Spent, tokens: TokenUse) -> Spent {
    let more = tokens.prompt + tokens.completion;
    Spent { total: spent.total + more, of_chat: spent.of_chat + more, of_member: spent.of_member + more, ..spent }
}

/// Tools that read something outside of the chat's messages: files and linked pages, the web.
#[derive(Debug, Clone, Copy)]
struct OutsideTools {
    posted: bool,
    web: bool,
}

impl OutsideTools {
    fn is_any(self) -> bool {
        self.posted || self.web
    }
}

/// Returns the tools for a prompt: for one that shows the whole chat only those that read outside of it, if there are
/// any.
fn offered(is_all_shown: bool, outside: OutsideTools) -> Vec<chime_llm::Tool> {
    let is_offered = |tool: &LookupTool| match tool {
        LookupTool::OpenPosted => outside.posted,
        LookupTool::SearchWeb => outside.web,
        _ => !(is_all_shown && outside.is_any()),
    };
    LookupTool::ALL.into_iter().filter(is_offered).filter_map(LookupTool::definition).collect()
}

/// Scope of a lookup: the chat of the trigger, and only messages before it.
struct LookupScope {
    trigger: StoredMessage,
    chat: ChatRow,
    /// Time zone of the days that a search names.
    zone: Zone,
    recaller: Arc<Recaller>,
}

impl LookupScope {
    fn find(&self, conn: &Reader, lookup: LookupCall) -> chime_store::Result<LookupResult> {
        let found = match lookup {
            LookupCall::Messages(ids) => messages::by_seqs(conn, self.chat.key, ids)?,
            LookupCall::ReplyChain(of) => self.reply_chain(conn, of)?,
            LookupCall::SmartContext { anchor: id, before: end, max_gap } => {
                let (anchor, before) = (self.message(conn, id)?, self.message(conn, end)?);
                if id.is_some() && anchor.is_none() || end.is_some() && before.is_none() {
                    return Ok(LookupResult::Nothing("This message does not exist any more."));
                }
                self.smart_context(conn, anchor, before, max_gap)?
            }
            LookupCall::Search { query: Some(query), from: None, span } if span.is_open() => {
                return self.search(conn, &query);
            }
            LookupCall::Search { query, from, span } => {
                let found = self.search_within(conn, query.as_deref(), from.as_deref(), span)?;
                if let Some(from) = from.filter(|_| found.is_empty())
                    && !self.has_member(conn, &from)?
                {
                    return Ok(LookupResult::Nothing("No member has this name."));
                }
                found
            }
            LookupCall::OpenPosted { .. } | LookupCall::SearchWeb(_) => Vec::new(),
            LookupCall::Summaries { about, tag, span } => {
                return self.summaries(conn, about.as_deref(), tag.as_deref(), span);
            }
        };
        let mut output = Vec::new();
        for message in found.into_iter().filter(|stored| self.is_before(stored)) {
            let topic = topic_names::find_other(conn, message.conversation(), self.trigger.conversation())?;
            output.push(LookedUpMessage { message, topic });
        }
        Ok(LookupResult::Messages(output))
    }

    fn is_before(&self, stored: &StoredMessage) -> bool {
        let moment = |stored: &StoredMessage| (stored.message.sent_at, stored.message.id);
        moment(stored) < moment(&self.trigger)
    }

    fn message(&self, conn: &Reader, id: Option<Seq>) -> chime_store::Result<Option<StoredMessage>> {
        id.map_or(Ok(None), |id| messages::by_seq(conn, self.chat.key, id))
    }

    /// Returns the message, up to [`CHAIN`] messages above it by reply links, and the replies below it, level by level
    /// and up to [`CHAIN`] to each message, until there are more than [`MOST_MESSAGES`].
    fn reply_chain(&self, conn: &Reader, of: Seq) -> chime_store::Result<Vec<StoredMessage>> {
        let Some(start) = messages::by_seq(conn, self.chat.key, of)? else { return Ok(Vec::new()) };
        let mut parent = start.message.reply_to;
        let mut seen: HashSet<MessageId> = HashSet::from([start.message.id]);
        let mut found = vec![start];
        for _ in 0..CHAIN {
            let Some(id) = parent.filter(|id| seen.insert(*id)) else { break };
            let Some(above) = messages::find(conn, found[0].message.chat, id)? else { break };
            parent = above.message.reply_to;
            found.push(above);
        }
        let mut next = 0;
        let mut below = vec![found[0].clone()];
        while next < below.len() && below.len() <= MOST_MESSAGES {
            let replies = messages::replies_to(conn, below[next].message.chat, below[next].message.id, CHAIN)?;
            below.extend(replies.into_iter().filter(|stored| seen.insert(stored.message.id)));
            next += 1;
        }
        found.extend(below.into_iter().skip(1));
        Ok(found)
    }

    /// Returns the run of messages around `anchor`. Without `anchor`, returns the run just before the message `before`,
    /// or before the trigger.
    fn smart_context(
        &self,
        conn: &Reader,
        anchor: Option<StoredMessage>,
        before: Option<StoredMessage>,
        max_gap: Duration,
    ) -> chime_store::Result<Vec<StoredMessage>> {
        let start = anchor.as_ref().or(before.as_ref()).unwrap_or(&self.trigger);
        let (conversation, moment) = (start.conversation(), (start.message.sent_at, start.message.id));
        // One more than fit, so that the result shows whether the run goes on.
        let mut earlier = messages::before(conn, conversation, moment, MOST_MESSAGES + 1)?;
        earlier.reverse();
        // There may be a long silence just before the message `before`, which must not end the run at once.
        let from = match (&anchor, &before) {
            (None, Some(_)) => earlier.first().map_or(moment.0, |stored| stored.message.sent_at),
            (Some(_), _) | (None, None) => moment.0,
        };
        let earlier = until_silence(from, earlier, max_gap);
        let Some(anchor) = anchor else { return Ok(earlier) };
        let later = until_silence(moment.0, messages::after(conn, conversation, moment, MOST_MESSAGES)?, max_gap);
        let mut found = vec![anchor];
        // Earlier and later messages alternate, so that the nearest to the anchor stay if the result is cut.
        let (mut earlier, mut later) = (earlier.into_iter(), later.into_iter());
        loop {
            let pair = (earlier.next(), later.next());
            if let (None, None) = pair {
                return Ok(found);
            }
            found.extend(pair.0.into_iter().chain(pair.1));
        }
    }

    fn request<'a>(&self, text: &'a str) -> RecallRequest<'a> {
        RecallRequest {
            conversation: self.trigger.conversation(),
            text,
            now: self.trigger.message.sent_at,
            zone: self.zone,
            by: self.trigger.message.sender.id,
            before: self.trigger.seq,
        }
    }

    fn search(&self, conn: &Reader, query: &str) -> chime_store::Result<LookupResult> {
        let found = self.recaller.recall(conn, &self.request(query))?.messages;
        let found = found.into_iter().map(|one| LookedUpMessage { message: one.message, topic: one.topic });
        Ok(LookupResult::Messages(found.collect()))
    }

    /// Returns messages by an author or of a time span: those that answer `query` best, then the newest others with a
    /// word of it.
    fn search_within(
        &self,
        conn: &Reader,
        query: Option<&str>,
        from: Option<&str>,
        span: ClockSpan,
    ) -> chime_store::Result<Vec<StoredMessage>> {
        let (since, until) = self.moments(span);
        let author: Option<Vec<String>> = from.map(words_of);
        let is_wanted = |stored: &StoredMessage| {
            let message = &stored.message;
            let sender = &message.sender;
            let is_author = author.as_ref().is_none_or(|it| is_called(it, &sender.name, sender.username.as_deref()));
            since <= message.sent_at && message.sent_at < until && is_author
        };
        let mut found = Vec::new();
        let request = query.map(|query| self.request(query));
        let looked = request.map(|request| self.recaller.look(conn, &request)).transpose()?;
        for seq in looked.iter().flat_map(RankedRecall::matching) {
            found.extend(messages::by_seq(conn, self.chat.key, seq)?.filter(is_wanted));
            if found.len() > MOST_MESSAGES {
                return Ok(found);
            }
        }
        let wanted = query.map(|query| self.stems(query));
        let says = |stored: &StoredMessage| {
            wanted.as_ref().is_none_or(|wanted| self.count_said(wanted, &self.stems(&stored.message.text)) > 0)
        };
        let newest = messages::newest_between(conn, self.chat.key, since, until, NEWEST)?;
        let known: HashSet<Seq> = found.iter().map(|stored| stored.seq).collect();
        let is_news = |stored: &StoredMessage| !known.contains(&stored.seq);
        let others = newest.into_iter().filter(|stored| is_news(stored) && is_wanted(stored) && says(stored));
        found.extend(others.take(MOST_MESSAGES + 1));
        Ok(found)
    }

    fn has_member(&self, conn: &Reader, name: &str) -> chime_store::Result<bool> {
        let (wanted, members) = (words_of(name), chats::members(conn, self.chat.key)?);
        Ok(members.iter().any(|member| is_called(&wanted, &member.name, member.username.as_deref())))
    }

    /// Converts a span in the chat's time zone to timestamps. It ends with the trigger at the latest.
    fn moments(&self, span: ClockSpan) -> (Timestamp, Timestamp) {
        let now = self.trigger.message.sent_at.plus(Duration::from_secs(1));
        let since = span.since.map_or(Timestamp::from_secs(0), |at| self.zone.moment(at));
        (since, span.until.map_or(now, |at| self.zone.moment(at).min(now)))
    }

    /// Returns lines of the newest sessions' summaries, or of those summaries that contain most words of `about`.
    fn summaries(
        &self,
        conn: &Reader,
        about: Option<&str>,
        tag: Option<&str>,
        span: ClockSpan,
    ) -> chime_store::Result<LookupResult> {
        let (since, until) = self.moments(span);
        let mut minis = summaries::minis_between(conn, self.chat.key, since, until, SESSIONS)?;
        if let Some(tag) = tag {
            let key = tags::normalized(tag, 1.0).map(|tag| tag.key).unwrap_or_default();
            let tagged = match tag_rows::find(conn, self.chat.key, &key)? {
                Some(tag) => tag_rows::sessions_with(conn, tag.id, SESSIONS)?,
                None => Vec::new(),
            };
            minis.retain(|(session, _)| tagged.contains(&session.id));
        }
        let telling = |about: &str| {
            let is_stop_word = |word: &str| Languages::shipped().is_stop_word_in(&word.to_lowercase(), about);
            let words = about.split_whitespace().filter(|word| !is_stop_word(word));
            self.stems(&words.collect::<Vec<_>>().join(" "))
        };
        let wanted: HashSet<String> = about.map(telling).unwrap_or_default();
        let mut ranked: Vec<(usize, Timestamp, Summary)> = Vec::new();
        for (session, summary) in minis {
            let said: HashSet<String> = summary.bullets.iter().flat_map(|bullet| self.stems(&bullet.text)).collect();
            let common = self.count_said(&wanted, &said);
            if about.is_none() || common > 0 {
                ranked.push((common, session.last.0, summary));
            }
        }
        // The sort is stable: among equal ones, the newest come first.
        ranked.sort_by_key(|(common, ..)| std::cmp::Reverse(*common));
        let names = summaries::member_names(conn, self.chat.key)?;
        let done = item_marks::done(conn, self.chat.key, None)?;
        let mut lines = Vec::new();
        for (_, ended_at, Summary { bullets, .. }) in ranked.into_iter().take(MOST_SESSIONS) {
            for bullet in &bullets {
                let is_old = is_stale(bullet, ended_at, self.trigger.message.sent_at, self.zone);
                let state = item_state(bullet, bullets.iter(), &done, is_old);
                let told = Bullet { text: members::named(&bullet.text, &names), ..bullet.clone() };
                lines.extend(self.citable(conn, state.labelled(&told), &bullet.sources)?);
            }
        }
        Ok(LookupResult::Sources(lines))
    }

    fn stems(&self, text: &str) -> HashSet<String> {
        stems(text, self.chat.language).into_iter().collect()
    }

    /// Returns how many of the words `wanted` are among the words `said`, alone or in compounds.
    fn count_said(&self, wanted: &HashSet<String>, said: &HashSet<String>) -> usize {
        let is_said = |stem: &&String| said.iter().any(|word| self.chat.language.is_word_or_compound(stem, word));
        wanted.iter().filter(is_said).count()
    }

    /// Returns a line of a summary as a source; `None` if none of its messages is still stored.
    fn citable(&self, conn: &Reader, text: String, sources: &[Seq]) -> chime_store::Result<Option<Citable>> {
        let stored = messages::by_seqs(conn, self.chat.key, sources.iter().copied())?;
        let rests_on: Vec<_> = stored.iter().map(|stored| SourceMessage::of(&self.chat.chat, stored)).collect();
        let Some(first) = rests_on.first() else { return Ok(None) };
        // The id of a summary line is the number of its first message, as in the other summaries in the prompt.
        let (id, sent_at) = (SourceId::summary(first.message.0), first.sent_at);
        Ok(Some(Citable { id, name: "Summary".to_owned(), is_own: false, sent_at, text, link: None, rests_on }))
    }
}

/// Returns `true` if each of the `words` begins a word of the name, or the username: "Ross" is called RossMar.
fn is_called(words: &[String], name: &str, username: Option<&str>) -> bool {
    let names: Vec<String> = words_of(name).into_iter().chain(username.map(str::to_lowercase)).collect();
    words.iter().all(|word| names.iter().any(|name| name.starts_with(word)))
}

fn words_of(name: &str) -> Vec<String> {
    name.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}
