//! Runs a retriever over the questions of a pack.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::baselines::{self, Retriever};
use crate::context::Evaluated;
use crate::pack::{Pack, PackMessage, PackQuestion, QUESTION, QuestionAsk};
use crate::pack_store::RememberedPack;
use crate::score::{Prediction, QueryFigures, mean};
use chime_core::embed::Embedder;
use chime_core::{Language, Member, Timestamp, UserId, Zone};
use chime_relevance::retrieval::{
    Features, Frequencies, Lexicon, ParsedQuestion, Passage, QuestionFacts, Ranked, SESSION_SILENCE, SessionText,
    Weights, in_sessions, rank, rank_sessions,
};
use chime_runtime::clock::Clock;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum RankingUnit {
    /// Messages
    Turn,
    /// Sessions, each represented by its best message
    Session,
}

/// Number of ranks that a prediction contains.
const KEPT: usize = 200;
/// Number of messages from which a chat's language is detected.
const JUDGED: usize = 200;

impl Retriever {
    /// Returns the weights of the features; `None` if it does not score by features.
    fn weights(self) -> Option<Features> {
        let fitted = Weights::shipped().message;
        match self {
            Self::Fitted | Self::Exhaustive => Some(fitted),
            Self::Lexical => Some(Features { window_cosine: 0.0, wide_cosine: 0.0, sentence_cosine: 0.0, ..fitted }),
            Self::Vectors => Some(Features {
                window_cosine: fitted.window_cosine,
                wide_cosine: fitted.wide_cosine,
                sentence_cosine: fitted.sentence_cosine,
                ..Features::default()
            }),
            Self::SeedBlend | Self::Bm25 | Self::Tags => None,
        }
    }
}

/// Runs `retriever` over every question of the pack and calls `progress` after each.
///
/// # Errors
/// Fails if the store for the daemon's retriever fails.
pub async fn evaluate(
    pack: &Pack,
    retriever: Retriever,
    scope: RankingUnit,
    embedder: &Arc<Embedder>,
    k: usize,
    mut progress: impl FnMut(),
) -> anyhow::Result<Evaluated> {
    let remembered = match retriever {
        Retriever::Fitted => Some(RememberedPack::new(pack, embedder, &Clock::system()).await?),
        _ => None,
    };
    let mut chats: HashMap<&str, ReadChat<'_>> =
        pack.chats.iter().map(|(id, messages)| (id.as_str(), ReadChat::new(messages, embedder))).collect();
    let mut rows: BTreeMap<String, Vec<QueryFigures>> = BTreeMap::new();
    let mut predictions = Vec::new();
    for question in &pack.questions {
        let Some(chat) = chats.get_mut(question.ask.chat_id.as_str()) else { continue };
        let ranked = match &remembered {
            Some(remembered) => remembered.ranked(&question.ask).await?,
            None => chat.ranked_by(&question.ask, retriever),
        };
        let mut ranked = chat.returned(&question.ask, &ranked, scope);
        ranked.truncate(KEPT);
        let figures = score(question, &ranked, pack);
        for heading in [QUESTION.to_owned(), format!("{QUESTION}/category {}", question.gold.category)] {
            rows.entry(heading).or_default().push(figures.clone());
        }
        let selected = ranked.iter().copied().take(k).collect();
        let query_id = question.ask.query_id.clone();
        predictions.push(Prediction { query_id, given: Vec::new(), selected, ranked });
        progress();
    }
    let figures = rows.into_iter().map(|(heading, rows)| (heading, mean(&rows))).collect();
    Ok(Evaluated { figures, predictions })
}

/// Chat with its features, computed once for all questions.
struct ReadChat<'a> {
    texts: ChatTexts<'a>,
    language: Language,
    lexicon: Lexicon<'a>,
}

/// Messages of a chat with their vectors and sessions.
struct ChatTexts<'a> {
    messages: &'a [PackMessage],
    /// Index by message id.
    places: HashMap<i64, usize>,
    vectors: Vec<Vec<f32>>,
    sessions: Vec<usize>,
}

impl<'a> ReadChat<'a> {
    fn new(messages: &'a [PackMessage], embedder: &'a Embedder) -> Self {
        let newest = messages[messages.len().saturating_sub(JUDGED)..].iter();
        let texts: Vec<String> = newest.map(|message| message.text.clone()).collect();
        let language = Language::judge(&texts).unwrap_or(Language::DEFAULT);
        let times: Vec<Timestamp> = messages.iter().map(|message| Timestamp::from_secs(message.date)).collect();
        Self {
            texts: ChatTexts {
                messages,
                places: messages.iter().enumerate().map(|(place, message)| (message.message_id, place)).collect(),
                vectors: messages.iter().map(|message| embedder.embed(&message.text)).collect(),
                sessions: in_sessions(&times, SESSION_SILENCE),
            },
            language,
            lexicon: Lexicon::new(language, Some(embedder)),
        }
    }

    /// Returns the ids of ranked messages; in session scope, the best message of each session.
    fn returned(&mut self, ask: &QuestionAsk, ranked: &[(usize, f64)], scope: RankingUnit) -> Vec<i64> {
        let places = match scope {
            RankingUnit::Turn => ranked.iter().map(|(place, _)| *place).collect(),
            RankingUnit::Session => {
                let question = self.question(ask);
                best_of_sessions(&question, ranked, &self.texts.sessions, &mut self.lexicon)
            }
        };
        places.into_iter().map(|place| self.texts.messages[place].message_id).collect()
    }

    fn question(&self, ask: &QuestionAsk) -> ParsedQuestion {
        let mut seen = BTreeSet::new();
        let people: Vec<Member> = (self.texts.messages.iter())
            .filter(|message| !message.is_bot && seen.insert(message.from_id))
            .map(|message| Member {
                id: UserId(message.from_id),
                name: message.from_name.clone(),
                username: message.username.clone(),
            })
            .collect();
        let now = Timestamp::from_secs(ask.date);
        let asked = QuestionFacts { language: self.language, now, zone: Zone::UTC, by: None, people: &people };
        ParsedQuestion::read(&ask.question, &asked)
    }

    fn ranked_by(&mut self, ask: &QuestionAsk, retriever: Retriever) -> Vec<(usize, f64)> {
        if let Some(weights) = retriever.weights() {
            return self.ranked(ask, &weights).iter().map(|one| (one.index, one.score)).collect();
        }
        let question = self.question(ask);
        let Self { texts, lexicon, .. } = self;
        baselines::ranked(retriever, &question, &texts.passages(), lexicon)
    }

    fn ranked(&mut self, ask: &QuestionAsk, weights: &Features) -> Vec<Ranked> {
        let question = self.question(ask);
        let Self { texts, lexicon, .. } = self;
        rank(&question, &texts.passages(), None, lexicon, weights)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionChat {
    OwnChat,
    /// Next chat of the pack, in which no message answers the question.
    OtherChat,
}

/// Features of every message for a question, with `true` if the message answers it.
#[derive(Debug, Clone)]
pub struct QuestionRows {
    pub chat: String,
    pub rows: Vec<(Features, bool)>,
}

/// Computes the features of every message for every question of the pack, as input for fitting weights.
pub fn rows(pack: &Pack, embedder: &Embedder, place: QuestionChat) -> Vec<QuestionRows> {
    let ids: Vec<&str> = pack.chats.keys().map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect();
    let mut chats: HashMap<&str, ReadChat<'_>> =
        pack.chats.iter().map(|(id, messages)| (id.as_str(), ReadChat::new(messages, embedder))).collect();
    let mut found = Vec::new();
    for question in &pack.questions {
        let own = question.ask.chat_id.as_str();
        let asked_in = match place {
            QuestionChat::OwnChat => own,
            QuestionChat::OtherChat => ids.iter().position(|id| *id == own).map_or(own, |at| ids[(at + 1) % ids.len()]),
        };
        let Some(chat) = chats.get_mut(asked_in) else { continue };
        let ranked = chat.ranked(&question.ask, &Weights::shipped().message);
        let is_right = |index: usize| {
            place == QuestionChat::OwnChat && question.gold.context.contains(&chat.texts.messages[index].message_id)
        };
        let rows = ranked.iter().map(|one| (one.features, is_right(one.index))).collect();
        found.push(QuestionRows { chat: own.to_owned(), rows });
    }
    found
}

impl ChatTexts<'_> {
    fn passages(&self) -> Vec<Passage<'_>> {
        (0..self.messages.len()).map(|place| self.passage(place)).collect()
    }

    fn passage(&self, place: usize) -> Passage<'_> {
        let message = &self.messages[place];
        let beside = |other: usize| (self.sessions.get(other) == Some(&self.sessions[place])).then_some(other);
        Passage {
            author: UserId(message.from_id),
            sent_at: Timestamp::from_secs(message.date),
            text: &message.text,
            vector: &self.vectors[place],
            is_own: message.is_bot,
            before: place.checked_sub(1).and_then(beside),
            after: beside(place + 1),
            replies_to: message.reply_to.and_then(|id| self.places.get(&id).copied()),
        }
    }
}

/// Returns the best message of each session, best session first.
fn best_of_sessions(
    question: &ParsedQuestion,
    ranked: &[(usize, f64)],
    sessions: &[usize],
    lexicon: &mut Lexicon<'_>,
) -> Vec<usize> {
    let count = sessions.last().map_or(0, |last| last + 1);
    let mut best: Vec<Option<usize>> = vec![None; count];
    for (place, _) in ranked {
        best[sessions[*place]].get_or_insert(*place);
    }
    let ranked: Vec<Ranked> = (ranked.iter())
        .map(|(index, score)| Ranked { index: *index, score: *score, features: Features::default() })
        .collect();
    let texts = vec![SessionText { summary: "" }; count];
    let session_of = |index: usize| sessions.get(index).copied();
    rank_sessions(question, &ranked, session_of, &texts, &Frequencies::default(), lexicon)
        .into_iter()
        .filter_map(|session| best[session.index])
        .collect()
}

/// Computes the scores of a ranking, under the names that the packs' own scorer uses.
fn score(question: &PackQuestion, ranked: &[i64], pack: &Pack) -> QueryFigures {
    let evidence: BTreeSet<i64> = question.gold.context.iter().copied().collect();
    let sessions: BTreeSet<&str> = question.gold.sessions.iter().map(String::as_str).collect();
    let mut figures = QueryFigures::new();
    for (depth, turn, all, sess) in
        [(5, "turn@5", "all@5", "sess@5"), (10, "turn@10", "all@10", "sess@10"), (20, "turn@20", "all@20", "sess@20")]
    {
        let top: BTreeSet<i64> = ranked.iter().copied().take(depth).collect();
        let found = evidence.intersection(&top).count();
        let conversation = |id: &i64| pack.conversations.get(&(question.ask.chat_id.clone(), *id)).map(String::as_str);
        let met: BTreeSet<&str> = top.iter().filter_map(conversation).collect();
        figures.insert(turn, found as f64 / evidence.len().max(1) as f64);
        figures.insert(all, f64::from(u8::from(found == evidence.len())));
        figures.insert(sess, sessions.intersection(&met).count() as f64 / sessions.len().max(1) as f64);
    }
    figures
}
