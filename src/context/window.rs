//! The one door, and the stages behind it: anchor, chain, cluster, fit.

mod picked;
mod surroundings;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::context::beyond::{About, Bridged, Found, Judged, Sought};
use crate::context::choose::Taken;
use crate::context::cluster::{self, End};
use crate::context::fit;
use crate::context::links::WINDOW;
use crate::context::pool::{Place, Pool};
use crate::context::reading::Evidence;
use crate::context::scorers::Scorers;
use crate::context::strands::{self, Asking};
use crate::context::window::picked::Picked;
use crate::domain::{Alternative, Chosen, MessageId, Omitted, Part, Reason, Seq, StoredMessage, span_in_words};

/// How far to look and how much to take.
#[derive(Debug, Clone)]
pub struct Params {
    /// Messages that a cluster may hold.
    pub lookback_limit: usize,
    /// The longest silence inside a cluster. A silence of exactly this length does not cut.
    pub time_threshold: Duration,
    /// Reply links that are followed from a member of the window.
    pub chain_depth: usize,
    /// Tokens for the whole window, counted by `estimate`.
    pub token_budget: usize,
    /// How many tokens a text takes.
    pub estimate: fn(&str) -> usize,
    pub picker: Picker,
    /// Messages that a strand may bring in.
    pub strand_limit: usize,
    /// What a strand is told by.
    pub scorers: Arc<Scorers>,
}

/// How the messages that no link leads to are picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picker {
    /// Whatever no long silence separates from the trigger: a baseline.
    Clusters,
    /// The strand that the trigger belongs to, however long it rested.
    Strands,
}

impl Params {
    /// Reply links that are followed.
    pub const CHAIN_DEPTH: usize = 20;
    /// Messages on either side of an old anchor that are candidates with it.
    pub const ANCHOR_BESIDE: usize = 20;

    pub fn new(estimate: fn(&str) -> usize) -> Self {
        Self {
            lookback_limit: 20,
            time_threshold: Duration::from_secs(60 * 60),
            chain_depth: Self::CHAIN_DEPTH,
            token_budget: 1600,
            estimate,
            picker: Picker::Strands,
            strand_limit: 20,
            scorers: Scorers::shipped(),
        }
    }

    pub fn clusters(estimate: fn(&str) -> usize) -> Self {
        Self { picker: Picker::Clusters, ..Self::new(estimate) }
    }
}

#[derive(Debug, Clone)]
pub struct History {
    pub trigger: StoredMessage,
    /// The trigger replies to words that may not be read, so that they are not among the messages.
    pub anchor_withheld: bool,
    /// The newest messages of the conversation up to and without the trigger, oldest first. Unbroken: what is
    /// missing between two of these is taken not to exist.
    pub recent: Vec<StoredMessage>,
    /// Messages of the same chat and of any age that reply links lead to, and the neighbours of an old anchor.
    pub linked: Vec<StoredMessage>,
    /// The trigger's words without the bot's name.
    pub ask: String,
    /// Whether the trigger tags the bot, rather than going on with the talk.
    pub is_tag: bool,
    /// What the window is to be about, where that was picked before and is asked for now.
    pub given: Option<Vec<Chosen>>,
    /// What an earlier answer of the bot rests on, which the trigger may be about.
    pub sources: Option<Sources>,
    pub evidence: Arc<Evidence>,
}

impl History {
    /// Before this message more may have been said than was fetched; none where the talk was fetched from its beginning on.
    /// By the number and not by the time: what is known of an old message from a reply to it was numbered when it was met.
    fn known_from(&self) -> Option<Seq> {
        self.recent.iter().map(|stored| stored.seq).min().filter(|_| self.recent.len() >= WINDOW)
    }

    /// A history with nothing known beside the messages; the whole text is the ask.
    pub fn new(trigger: StoredMessage, recent: Vec<StoredMessage>, linked: Vec<StoredMessage>) -> Self {
        let ask = trigger.message.text.clone();
        let evidence = Arc::default();
        Self {
            trigger,
            anchor_withheld: false,
            recent,
            linked,
            ask,
            is_tag: true,
            given: None,
            sources: None,
            evidence,
        }
    }
}

/// What an answer of the bot was given, as far as it may be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// The message that carries the answer.
    pub of: MessageId,
    /// Each with whether the answer cites it.
    pub used: Vec<(Seq, bool)>,
}

/// The messages that one answer is given, in order of time, each with the reason why it is there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextWindow {
    /// The message that the trigger replies to. Always among the entries.
    pub anchor: Option<MessageId>,
    /// The trigger replies to words that may not be read: their author opted out, or had them forgotten.
    pub anchor_withheld: bool,
    /// The part of the anchor that the member marked.
    pub quoted: Option<String>,
    /// Never the trigger itself.
    pub entries: Vec<Entry>,
    /// What was considered and left out, for people to read: the nearest few.
    pub omitted: Vec<Omitted>,
    /// Every message of the conversation that is known and left out, ascending.
    pub left_out: Vec<Seq>,
    /// Of what is older than this message only what was picked is known, and not how much is left out.
    pub known_from: Option<Seq>,
    /// Everything that was considered, the likeliest first.
    pub ranked: Vec<MessageId>,
    /// Where two matters are truly open: which one is taken, and what belongs to the other.
    pub alternative: Option<Alternative>,
    /// What was found further back, the likeliest first, taken or not.
    pub further_back: Vec<Judged>,
}

/// A message of the window.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub message: StoredMessage,
    pub reason: Reason,
    /// How sure the choice was, 0 to 1.
    pub score: f64,
    /// What the message says, perhaps shortened in the middle.
    pub shown: String,
}

impl ContextWindow {
    /// What the picker takes as the matter of the trigger.
    pub fn focus(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.part() == Part::Focus)
    }

    pub fn anchor_entry(&self) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.reason.is_anchor())
    }

    pub fn chosen(&self) -> Vec<Chosen> {
        self.entries
            .iter()
            .map(|entry| Chosen {
                seq: entry.message.seq,
                id: entry.message.message.id,
                reason: entry.reason,
                score: entry.score,
            })
            .collect()
    }
}

impl Entry {
    pub fn part(&self) -> Part {
        self.reason.part()
    }
}

/// A talk of fewer messages than this has no strands to tell apart: all of it that no long silence cuts off comes in, and
/// what is no more than possible; unless replies say what belongs together.
const FEW: usize = 8;
/// Messages that do not belong are given less than half of this, as a rule.
const POSSIBLE: f32 = 0.15;
const OMITTED_SHOWN: usize = 20;
const ANCHOR_SCORE: f64 = 1.0;
/// Tokens of surroundings for a trigger that starts something new.
const NEW_MATTER_TOKENS: usize = 400;

/// Picks the messages that a trigger is about.
///
/// The message it replies to always, what reply links lead to, and the run of messages before the trigger (and around
/// an old anchor) that no long silence interrupts, as far as the token budget goes.
pub fn get_smart_context(history: &History, params: &Params) -> ContextWindow {
    get_smart_context_with(history, params, |_| Found::default())
}

/// The same, and what `look` finds further back than the history reaches, if anything older may belong to it.
pub fn get_smart_context_with(
    history: &History,
    params: &Params,
    look: impl FnOnce(&Sought) -> Found,
) -> ContextWindow {
    let pool = Pool::new(history, &[]);
    let quoted = pool.trigger.message.quote.clone().filter(|quote| !quote.trim().is_empty());
    let anchor = pool.anchor();

    let before = cluster::before_trigger(&pool, params);
    let mut picked = Picked::default();
    if let Some(anchor) = anchor {
        picked.add(anchor, if quoted.is_some() { Reason::Quoted } else { Reason::Anchor }, ANCHOR_SCORE);
    }
    let sources = history.sources.as_ref().filter(|_| history.given.is_none());
    picked.add_sources(&pool, anchor, sources);
    let strand = match params.picker {
        Picker::Strands => strand(&pool, history, params),
        Picker::Clusters => strands::Picked::default(),
    };
    let alternative = match (&history.given, params.picker) {
        (Some(given), _) => {
            picked.add_given(&pool, given);
            None
        }
        (None, Picker::Clusters) => {
            pick_clusters(&mut picked, &pool, anchor, &before.places, params);
            None
        }
        (None, Picker::Strands) => {
            pick_strand(&mut picked, &pool, &strand);
            if is_short_talk(&pool) {
                picked.add_cluster(&before.places);
            }
            alternative(&strand, history, &pool)
        }
    };
    if anchor.is_none() {
        picked.add_sources(&pool, picked.likeliest(), sources);
    }
    picked.complete_albums(&pool);

    let is_by_matter = history.given.is_some() || params.picker == Picker::Strands && !is_short_talk(&pool);
    let elsewhere = if is_by_matter { "about something else".to_owned() } else { not_reached(before.ended, params) };
    let found = sought(history, params, &pool, &picked).map_or_else(Found::default, |sought| look(&sought));
    let mut likely: BTreeMap<Seq, f32> =
        (strand.marginals.iter()).map(|(place, share)| (pool.messages[pool.candidates[*place]].seq, *share)).collect();
    likely.extend(found.nearby.iter().map(|one| (one.message.seq, one.probability as f32)));
    let ranked = ranked(&strand.marginals, &pool);
    let further_back: Vec<Bridged> = found.bridged.iter().chain(&found.nearby).cloned().collect();
    let wider = (!further_back.is_empty()).then(|| Pool::new(history, &further_back));
    let (pool, mut picked) = match wider {
        Some(wider) => {
            let picked = picked.with_bridged(&pool, &wider, &found.bridged);
            (wider, picked)
        }
        None => (pool, picked),
    };
    let is_new = picked.is_empty();
    if params.picker == Picker::Strands {
        picked.add_surroundings(&pool, &likely);
    }
    let budget = params.token_budget.min(if is_new { NEW_MATTER_TOKENS } else { usize::MAX });
    let (entries, no_room) = fit::pack(&pool, picked.into_picks(&pool), params, budget);
    let left_out = left_out(&pool, &entries);
    ContextWindow {
        anchor: pool.anchor().map(|place| pool.messages[place].message.id),
        anchor_withheld: history.anchor_withheld,
        quoted,
        omitted: omitted(&pool, &left_out, &no_room, &elsewhere),
        left_out: left_out.iter().map(|place| pool.messages[*place].seq).collect::<BTreeSet<_>>().into_iter().collect(),
        entries,
        known_from: history.known_from(),
        ranked,
        alternative,
        further_back: found.judged,
    }
}

/// Why the walk back from the trigger did not reach a message.
fn not_reached(ended: End, params: &Params) -> String {
    match ended {
        End::Silence(silence) => format!("before a silence of {}", span_in_words(silence)),
        End::Limit | End::Exhausted => format!("further back than the newest {}", params.lookback_limit),
    }
}

/// What to look for further back: only where the history does not reach back to the beginning of the talk.
fn sought(history: &History, params: &Params, pool: &Pool<'_>, picked: &Picked) -> Option<Sought> {
    let is_asked = history.given.is_none() && params.picker == Picker::Strands;
    let before = history.known_from().filter(|_| is_asked)?;
    let conversation = pool.talk();
    let readings: Vec<_> = conversation.iter().map(|stored| history.evidence.reading(stored)).collect();
    let place_of = |(place, share)| Some((pool.candidates.binary_search(&place).ok()?, share));
    let places: Vec<(usize, f64)> = picked.shares().filter_map(place_of).collect();
    Sought::of(&About {
        trigger: &history.trigger,
        ask: &history.ask,
        candidates: &conversation,
        readings: &readings,
        picked: &places,
        before,
    })
}

/// The seed's rule: the run of messages that no long silence interrupts, before the trigger and around an old anchor, and
/// whatever replies lead to.
fn pick_clusters(picked: &mut Picked, pool: &Pool<'_>, anchor: Option<Place>, before: &[Place], params: &Params) {
    let old_anchor = anchor.filter(|anchor| !before.contains(anchor));
    let around = old_anchor.map(|anchor| cluster::around(pool, anchor, params)).unwrap_or_default();
    if let Some(anchor) = anchor {
        picked.add_linked(pool, &[anchor], params);
    }
    picked.add_cluster(before);
    picked.add_cluster(&around);
    picked.add_linked(pool, &[before, &around].concat(), params);
}

fn is_short_talk(pool: &Pool<'_>) -> bool {
    let is_reply = |place: &Place| pool.messages[*place].message.reply_to.is_some();
    pool.anchor().is_none() && pool.conversation.len() < FEW && !pool.conversation.iter().any(is_reply)
}

fn strand(pool: &Pool<'_>, history: &History, params: &Params) -> strands::Picked {
    let asking = Asking { message: &history.trigger, text: &history.ask, is_tag: history.is_tag, older: pool.older };
    strands::pick(asking, &pool.talk(), &history.evidence, &params.scorers, params.strand_limit)
}

fn pick_strand(picked: &mut Picked, pool: &Pool<'_>, strand: &strands::Picked) {
    for taken in &strand.taken {
        picked.add(pool.candidates[taken.place], Reason::Strand, f64::from(taken.probability));
    }
    let oldest = strand.taken.iter().map(|taken| taken.place).min();
    if let Some(oldest) = oldest.filter(|_| is_short_talk(pool)) {
        let possible = |(place, probability): &&(usize, f32)| *place > oldest && *probability >= POSSIBLE;
        for (place, probability) in strand.marginals.iter().filter(possible) {
            picked.add(pool.candidates[*place], Reason::Strand, f64::from(*probability));
        }
    }
}

fn ranked(marginals: &[(usize, f32)], pool: &Pool<'_>) -> Vec<MessageId> {
    let mut ranked = marginals.to_vec();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    ranked.into_iter().map(|(place, _)| pool.messages[pool.candidates[place]].message.id).collect()
}

/// What else the trigger may mean. A reply says what it is about, and all of a short talk is there anyway.
fn alternative(strand: &strands::Picked, history: &History, pool: &Pool<'_>) -> Option<Alternative> {
    let is_clear = history.trigger.message.reply_to.is_some() || is_short_talk(pool);
    let rivals = strand.rivals.as_ref().filter(|_| !is_clear)?;
    let conversation = pool.talk();
    let mut taken: Vec<Seq> = rivals.first.iter().map(|one| conversation[one.place].seq).collect();
    taken.sort_unstable();
    let chosen = |one: &Taken| Chosen {
        seq: conversation[one.place].seq,
        id: conversation[one.place].message.id,
        reason: Reason::Strand,
        score: f64::from(one.probability),
    };
    let mut other: Vec<Chosen> = rivals.second.iter().map(chosen).collect();
    other.sort_unstable_by_key(|chosen| chosen.seq);
    Some(Alternative { margin: f64::from(rivals.margin), taken, other, asked_by: None })
}

fn left_out(pool: &Pool<'_>, entries: &[Entry]) -> Vec<Place> {
    let shown: BTreeSet<Seq> = entries.iter().map(|entry| entry.message.seq).collect();
    pool.conversation.iter().copied().filter(|place| !shown.contains(&pool.messages[*place].seq)).collect()
}

/// The nearest of what was left out with the reason in plain words, oldest first. What found no room comes before
/// what was never picked, which is told by `elsewhere`: it was the closer call.
fn omitted(pool: &Pool<'_>, left_out: &[Place], no_room: &[Place], elsewhere: &str) -> Vec<Omitted> {
    let lacked_room: BTreeSet<Place> = no_room.iter().copied().collect();
    let never_picked = left_out.iter().rev().copied().filter(|place| !lacked_room.contains(place));
    let mut nearest: Vec<Place> = lacked_room.iter().rev().copied().chain(never_picked).take(OMITTED_SHOWN).collect();
    nearest.sort_unstable();
    nearest
        .into_iter()
        .map(|place| Omitted {
            id: pool.messages[place].message.id,
            why: if lacked_room.contains(&place) { "no room" } else { elsewhere }.to_owned(),
        })
        .collect()
}
