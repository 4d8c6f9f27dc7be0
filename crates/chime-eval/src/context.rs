//! Runs a selector over the queries of a pack.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::convert::Infallible;
use std::sync::Arc;

use crate::pack::{Pack, PackMessage, QueryAsk};
use crate::score::{Prediction, QueryFigures, headings, mean, score};
use crate::{Selector, SelectorLimits};
use chime_core::embed::Embedder;
use chime_core::trigger::is_generic;
use chime_core::{
    ChatId, ChatKey, Member, Message, MessageId, Role, Sender, Seq, StoredMessage, Timestamp, UserId, Zone, dot,
};
use chime_relevance::context::candidate_features::antecedents_by;
use chime_relevance::context::features::message::address;
use chime_relevance::context::{
    AskedSpan, CandidateFeatures, History, MessageFeatures, OlderQuery, OpenQuestion, Params, Past, ReplyModel,
    RerankWeights, Reranked, Scorers, asked_spans, read_question, rerank, said, without_bots,
};
use chime_relevance::retrieval::{Archive, Lexicon, NEAREST, Sought, Stretch, by_words, stretches};
use chime_store::{Language, stems};

/// Result of a run over a pack.
#[derive(Debug, Clone)]
pub struct Evaluated {
    /// Means for each variant, and for each slice of a variant.
    pub figures: BTreeMap<String, BTreeMap<String, f64>>,
    pub predictions: Vec<Prediction>,
}

/// Chat with its features, computed once for all queries.
#[derive(Debug, Clone)]
pub struct PreparedChat {
    pub messages: Vec<StoredMessage>,
    pub evidence: Arc<CandidateFeatures>,
    /// Characters of each message, by message id.
    pub lengths: HashMap<i64, usize>,
    /// Full-text stems of each message.
    stems: Arc<Vec<HashSet<String>>>,
    /// `true` if messages before the window of a query are candidates too.
    reaches_back: bool,
    language: Language,
}

/// Runs `selector` over every query of the pack and calls `progress` after each.
pub fn evaluate(
    pack: &Pack,
    selector: Selector,
    embedder: Option<&Arc<Embedder>>,
    limits: SelectorLimits,
    mut progress: impl FnMut(),
) -> Evaluated {
    let links = &Scorers::shipped().links;
    let chats: HashMap<&str, PreparedChat> = (pack.chats.iter())
        .map(|(id, messages)| {
            (id.as_str(), PreparedChat::read(messages, embedder).reaching_back(pack.reaches_back).with_links(links))
        })
        .collect();
    let mut rows: BTreeMap<String, Vec<QueryFigures>> = BTreeMap::new();
    let mut predictions = Vec::new();
    for query in &pack.queries {
        let Some(chat) = chats.get(query.ask.chat_id.as_str()) else { continue };
        let history = chat.history(&query.ask);
        let past = chat.past(&query.ask);
        let prediction = selector.select(&query.ask.query_id, &history, limits, &Scorers::shipped(), &past);
        let figures = score(query, &prediction, &chat.lengths, limits.k);
        for heading in headings(query) {
            rows.entry(heading).or_default().push(figures.clone());
        }
        predictions.push(prediction);
        progress();
    }
    let figures = rows.into_iter().map(|(heading, rows)| (heading, mean(&rows))).collect();
    Evaluated { figures, predictions }
}

impl PreparedChat {
    /// Computes the features of each message. Reply links are added by [`Self::with_links`].
    pub fn read(messages: &[PackMessage], embedder: Option<&Arc<Embedder>>) -> Self {
        let stored: Vec<StoredMessage> = (1..).zip(messages).map(|(seq, message)| to_stored(message, seq)).collect();
        let mut evidence = CandidateFeatures { embedder: embedder.cloned(), ..CandidateFeatures::default() };
        for one in &stored {
            let text = without_bots(&one.message.text);
            let vector = embedder.map_or_else(Vec::new, |embedder| embedder.embed(&text));
            let reading = MessageFeatures::of(&one.message, &text, vector);
            evidence.readings.insert((one.message.chat, one.message.id), Arc::new(reading));
        }
        let lengths = messages.iter().map(|message| (message.message_id, message.text.chars().count())).collect();
        let texts: Vec<String> = messages.iter().map(|message| message.text.clone()).collect();
        let language = Language::judge(&texts).unwrap_or(Language::DEFAULT);
        let all_stems =
            stored.iter().map(|stored| stems(&stored.message.text, language).into_iter().collect()).collect();
        Self {
            messages: stored,
            evidence: Arc::new(evidence),
            lengths,
            stems: Arc::new(all_stems),
            reaches_back: false,
            language,
        }
    }

    /// Sets whether messages from before the window of a query are candidates too.
    #[must_use]
    pub fn reaching_back(mut self, reaches_back: bool) -> Self {
        self.reaches_back = reaches_back;
        self
    }

    /// Adds the antecedents of each message, as predicted by `links`.
    #[must_use]
    pub fn with_links(mut self, links: &ReplyModel) -> Self {
        let read = self.messages.iter().map(|stored| self.evidence.reading(stored));
        let readings: Vec<Arc<MessageFeatures>> = read.collect();
        let rows = (0..readings.len()).map(|place| Arc::new(antecedents_by(links, &readings, place)));
        let antecedents = self.messages.iter().map(address).zip(rows).collect();
        self.evidence = Arc::new(CandidateFeatures { antecedents, ..Arc::unwrap_or_clone(self.evidence) });
        self
    }

    /// Returns the history that the daemon would load for this trigger. The variants `plain`, `bare` and `reply` have
    /// no reply links; in `bare…` the trigger has no words.
    pub fn history(&self, ask: &QueryAsk) -> History {
        let bare = ask.variant.starts_with("bare");
        let has_links = !matches!(ask.variant.as_str(), "plain" | "bare" | "reply");
        let find = |id: i64| self.messages.partition_point(|stored| stored.message.id.0 < id);
        let end = find(if ask.trigger.is_some() { ask.window.1 + 1 } else { ask.message_id });
        let start = find(ask.window.0);
        let mut recent = self.messages[start..end].to_vec();
        if !has_links {
            recent.iter_mut().for_each(|stored| stored.message.reply_to = None);
        }
        let mut trigger = match &ask.trigger {
            Some(message) => to_stored(message, end as u32 + 1),
            None => self.messages[end].clone(),
        };
        trigger.message.reply_to = ask.reply_to.map(MessageId);
        if bare {
            trigger.message.text = String::new();
        }
        let ask = without_bots(&trigger.message.text).into_owned();
        let is_tag = ask != trigger.message.text;
        let evidence = Arc::clone(&self.evidence);
        let ask_from = self.messages.get(start).map_or(i64::MAX, |stored| stored.message.id.0);
        let mut linked = if self.reaches_back { self.around_anchor(&trigger, start) } else { Vec::new() };
        let earlier = &self.messages[..end];
        let mut seen = HashSet::new();
        let people: Vec<Member> = (earlier.iter().map(|stored| &stored.message.sender))
            .filter(|sender| seen.insert(sender.id))
            .map(Member::of)
            .collect();
        let asked = read_question(&trigger, &ask, self.language, Zone::UTC, &people);
        let reaches = if self.reaches_back { earlier } else { recent.as_slice() };
        let is_meant = |stored: &&StoredMessage, wanted: &AskedSpan| match wanted {
            AskedSpan::Newest => true,
            AskedSpan::Within(span) => (span.from..span.to).contains(&stored.message.sent_at),
        };
        let wanted = asked_spans(&asked, &trigger);
        let meant: Vec<StoredMessage> =
            reaches.iter().filter(|stored| wanted.iter().any(|one| is_meant(stored, one))).cloned().collect();
        let given = said(&asked, &trigger, &meant, &evidence);
        linked.extend(meant.into_iter().filter(|stored| stored.message.id.0 < ask_from));
        let question = OpenQuestion::of(&trigger, asked).filter(|_| !is_generic(&ask));
        History { ask, is_tag, given, question, evidence, ..History::new(trigger, recent, linked) }
    }

    /// Returns the messages around an anchor before the window that the daemon would load: its ancestors and
    /// neighbours.
    fn around_anchor(&self, trigger: &StoredMessage, start: usize) -> Vec<StoredMessage> {
        let place = |id: MessageId| self.messages.binary_search_by_key(&id, |stored| stored.message.id).ok();
        let chain = std::iter::successors(trigger.message.reply_to.and_then(place), |at| {
            self.messages[*at].message.reply_to.and_then(place)
        });
        let mut places: BTreeSet<usize> = chain.take(Params::CHAIN_DEPTH).collect();
        if let Some(anchor) = trigger.message.reply_to.and_then(place) {
            places.extend(anchor.saturating_sub(Params::ANCHOR_BESIDE)..=anchor + Params::ANCHOR_BESIDE);
        }
        places.into_iter().filter(|at| *at < start).map(|at| self.messages[at].clone()).collect()
    }

    /// Returns the messages before the window as the daemon can search them.
    pub fn past<'a>(&'a self, ask: &'a QueryAsk) -> PackPast<'a> {
        PackPast { chat: self, ask }
    }
}

/// Past of a pack's chat, as of one query.
pub struct PackPast<'a> {
    chat: &'a PreparedChat,
    ask: &'a QueryAsk,
}

impl Past for PackPast<'_> {
    fn older(&self, query: &OlderQuery) -> Vec<Reranked> {
        if !self.chat.reaches_back {
            return Vec::new();
        }
        let start = self.chat.messages.partition_point(|stored| stored.message.id.0 < self.ask.window.0);
        let older = Older {
            messages: &self.chat.messages[..start],
            language: self.chat.language,
            stems: &self.chat.stems[..start],
            from: Seq(0),
            evidence: &self.chat.evidence,
        };
        let mut lexicon = Lexicon::new(self.chat.language, None);
        match by_words(&older, self.chat.language, &query.words, query.before, &mut lexicon) {
            Ok(found) => rerank(query, found, RerankWeights::shipped()),
            Err(never) => match never {},
        }
    }

    fn stretches(&self, question: &OpenQuestion) -> Option<Vec<Stretch>> {
        let first = if self.chat.reaches_back { i64::MIN } else { self.ask.window.0 };
        let from = Seq(self.chat.messages.partition_point(|stored| stored.message.id.0 < first) as u32 + 1);
        let end = self.chat.messages.partition_point(|stored| stored.message.id.0 <= self.ask.window.1);
        let older = Older {
            messages: &self.chat.messages[..end],
            language: self.chat.language,
            stems: &self.chat.stems[..end],
            from,
            evidence: &self.chat.evidence,
        };
        let mut lexicon = Lexicon::new(self.chat.language, self.chat.evidence.embedder.as_deref());
        match stretches(&older, &question.sought(), &mut lexicon) {
            Ok(found) => Some(found),
            Err(never) => match never {},
        }
    }
}

/// Messages before the window of a query, in memory, numbered from 1.
pub struct Older<'a> {
    pub messages: &'a [StoredMessage],
    pub language: Language,
    /// Stems of each message.
    pub stems: &'a [HashSet<String>],
    /// First message that may be found.
    pub from: Seq,
    pub evidence: &'a CandidateFeatures,
}

impl Archive for Older<'_> {
    type Error = Infallible;

    fn count(&self) -> Result<f64, Infallible> {
        Ok(self.messages.len() as f64)
    }

    fn holding(&self, stem: &str, before: Seq) -> Result<(Vec<Seq>, f64), Infallible> {
        let is_held = |word: &str| self.language.is_word_or_compound(stem, word);
        let places = (1..)
            .map(Seq)
            .zip(self.stems)
            .filter(|(seq, held)| (self.from..before).contains(seq) && held.iter().any(|word| is_held(word)));
        let mut newest: Vec<Seq> = places.map(|(seq, _)| seq).collect();
        newest.reverse();
        let held = newest.len() as f64;
        Ok((newest, held))
    }

    fn naming(&self, stem: &str, before: Seq) -> Result<(Vec<Seq>, f64), Infallible> {
        let (mut seqs, _) = self.holding(stem, before)?;
        let is_by = |name: &str| stems(name, Language::DEFAULT).iter().any(|it| it == stem);
        let said = self.messages.iter().filter(|it| (self.from..before).contains(&it.seq));
        seqs.extend(said.filter(|it| is_by(&it.message.sender.name)).map(|it| it.seq));
        seqs.sort_unstable_by(|a, b| b.cmp(a));
        seqs.dedup();
        let held = seqs.len() as f64;
        Ok((seqs, held))
    }

    fn nearest(&self, sought: &Sought<'_>, vector: &[f32]) -> Result<Vec<Seq>, Infallible> {
        let said = self.messages.iter().filter(|it| (self.from..sought.before).contains(&it.seq));
        let mut near: Vec<(f32, Seq)> = said
            .filter_map(|it| {
                let reading = self.evidence.readings.get(&(it.message.chat, it.message.id))?;
                (reading.vector.len() == vector.len() && !vector.is_empty())
                    .then(|| (dot(&reading.vector, vector), it.seq))
            })
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(near.into_iter().map(|(_, seq)| seq).take(NEAREST).collect())
    }

    fn between(&self, span: (Seq, Seq)) -> Result<Vec<StoredMessage>, Infallible> {
        let from = span.0.max(self.from).0.saturating_sub(1) as usize;
        let to = (span.1.0 as usize).min(self.messages.len());
        Ok(self.messages.get(from..to).unwrap_or_default().to_vec())
    }
}

pub(super) fn to_stored(message: &PackMessage, seq: u32) -> StoredMessage {
    let sender = Sender {
        username: message.username.clone(),
        is_bot: message.is_bot,
        ..Sender::person(UserId(message.from_id), message.from_name.clone())
    };
    let message = Message {
        role: if message.is_bot { Role::Assistant } else { Role::User },
        text: message.text.clone(),
        reply_to: message.reply_to.map(MessageId),
        ..Message::new(ChatId(-1), MessageId(message.message_id), sender, Timestamp::from_secs(message.date))
    };
    StoredMessage { chat: ChatKey(1), seq: Seq(seq), message }
}
