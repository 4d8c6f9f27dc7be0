//! Computes the features of a message together with an earlier one that it may reply to.
//!
//! Time is used in two forms: in seconds, capped at half an hour, and relative to the usual gaps of the chat, so that a
//! chat with one message a day and one with ten a minute look alike.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use crate::context::features::mentions::NamedInHistory;
use crate::context::features::message::MessageFeatures;
use crate::context::features::rhythm::{WINDOW, rhythm_of};
use crate::context::features::token::Quick;
use crate::context::replies::similarity::Similarity;
use chime_core::UserId;

pub const RAW: usize = 43;
/// Names of the features in the weights file, in the order of `PairContext::features`. In a name, `i` is the message
/// and `j` the earlier one.
pub const RAW_NAMES: [&str; RAW] = [
    "ld",
    "ldt",
    "lmg",
    "lgi",
    "d1",
    "same",
    "lbi",
    "lbj",
    "j_last_self",
    "j_last",
    "lcntj",
    "lcnti",
    "ld_own",
    "ldt_own",
    "nsp20",
    "lnauth",
    "alt",
    "i_men_j",
    "i_first_j",
    "j_men_i",
    "j_first_i",
    "same_target",
    "i_addr_other",
    "j_addr_other",
    "n_ij",
    "i_lasttarget_j",
    "j_lastaddr_i",
    "cosT",
    "RT",
    "ctxT",
    "cosE",
    "ctxE",
    "cosE_n",
    "q_i",
    "q_j",
    "len_i",
    "len_j",
    "i_first_msg",
    "bare",
    "gq_i",
    "mq",
    "rdt",
    "mq_own",
];

/// Upper bound of `ln(1 + seconds)`, reached at 1800 s: longer times make no difference to the model.
const TIME_CAP: f32 = 7.496_097;
/// Upper bound in seconds of a single gap in the mean gap of the chat, so that nights do not dominate the mean.
const SCALE_CAP: f64 = 21_600.0;
/// Number of messages before and after the earlier message in which other messages of its author are compared as well.
const NEIGHBOURS: usize = 3;
/// Value of the feature `mq_own` (longest silence since the author's last message, by rank) if the window has no
/// earlier message of the author.
const NEVER_MQ: f32 = 4.0;

/// Computes the features of `message` with each message of `past` (oldest first, at most [`WINDOW`]). Calls `each` with
/// the index in `past` and the features, newest first. `hearing` holds the members that each of these messages names.
/// If `bare`, the features of the words of `message` are 0.
pub fn pairs(
    message: &MessageFeatures,
    past: &[Arc<MessageFeatures>],
    hearing: &NamedInHistory,
    bare: bool,
    mut each: impl FnMut(usize, &[f32; RAW]),
) {
    let scene = PairContext::new(message, past, hearing, bare);
    let mut walk = BetweenMessages { longest: 0.0, longest_gap: 0.0, by: vec![0.0; scene.spoken.len()], distinct: 0.0 };
    for place in (0..past.len()).rev() {
        walk.meet(place, &scene);
        let raw = scene.features(place, &walk);
        each(place, &raw);
        walk.pass(place, &scene);
    }
}

/// Data of a message that is computed once and used for its features with every earlier message.
struct PairContext<'a> {
    message: &'a MessageFeatures,
    past: &'a [Arc<MessageFeatures>],
    bare: bool,
    /// Members that the message and each message before it name.
    hearing: &'a NamedInHistory,
    /// Seconds between each message of `past` and the one before it, 0 for the first. The last entry is the gap before
    /// `message`.
    gaps: Vec<f64>,
    /// `-ln(1.02 - q)` for each entry of `gaps`, where q is its rank among all gaps, from 0 to 1: high for long
    /// silences.
    rhythm: Vec<f32>,
    /// Typical number of seconds between messages of the chat, see [`scale`].
    scale: f64,
    texts: Similarity,
    /// Distance to the author's previous message.
    own: OwnDistance,
    /// Number of distinct authors of the last 20 messages.
    speakers: f32,
    /// Author number, from 0, of each message of `past`, and last of the message itself.
    authors: Vec<usize>,
    /// Number of messages in `past` of each author, indexed by author number.
    spoken: Vec<f32>,
    /// For each author number, how often that author named the message's author or was named by them.
    naming: Vec<f32>,
    /// For each author number, how often a message of that author and one of the message's author are neighbours.
    alternation: Vec<f32>,
    /// First member named in the latest earlier message of the author that names anybody.
    last_target: Option<UserId>,
    /// Index in `past` of the last message that names the message's author.
    last_addressed: Option<usize>,
}

/// Distance in messages and in time to the author's previous message. It is the same for all earlier messages.
struct OwnDistance {
    is_known: bool,
    ln_distance: f32,
    ln_seconds: f32,
    /// Longest silence since the author's previous message, as the highest entry of `rhythm`.
    longest_gap: f32,
}

/// Counts over the messages that lie between an earlier message and the message itself, updated from new to old.
struct BetweenMessages {
    longest: f32,
    longest_gap: f64,
    /// Number of messages between an earlier message and the message itself, by author number.
    by: Vec<f32>,
    distinct: f32,
}

impl BetweenMessages {
    /// Adds the gap that follows the earlier message at `place`, since it lies between that message and the message
    /// itself.
    fn meet(&mut self, place: usize, scene: &PairContext<'_>) {
        self.longest_gap = self.longest_gap.max(scene.gaps[place + 1]);
        self.longest = self.longest.max(scene.rhythm[place + 1]);
    }

    fn pass(&mut self, place: usize, scene: &PairContext<'_>) {
        let times = &mut self.by[scene.authors[place]];
        if *times == 0.0 {
            self.distinct += 1.0;
        }
        *times += 1.0;
    }
}

impl<'a> PairContext<'a> {
    fn new(
        message: &'a MessageFeatures,
        past: &'a [Arc<MessageFeatures>],
        hearing: &'a NamedInHistory,
        bare: bool,
    ) -> Self {
        let gaps = gaps(message, past);
        let rhythm = ranks(&gaps);
        let author = message.author;
        let (numbers, authors) = numbered(past.iter().map(|turn| turn.author).chain([author]));
        let count = numbers.len();
        let mut scene = Self {
            message,
            past,
            bare,
            own: OwnDistance::of(message, past, &rhythm),
            rhythm,
            scale: scale(&gaps),
            gaps,
            texts: if bare { Similarity::none(past.len()) } else { Similarity::of(message, past, &hearing.names) },
            speakers: distinct(past.iter().rev().take(20)),
            authors,
            spoken: vec![0.0; count],
            naming: vec![0.0; count],
            alternation: vec![0.0; count],
            last_target: None,
            // Only `past` is searched, since a message never names its own author.
            last_addressed: hearing.past.iter().rposition(|heard| heard.mentions.contains(&author)),
            hearing,
        };
        scene.count(&numbers);
        scene
    }

    fn count(&mut self, numbers: &Quick<UserId, usize>) {
        let author = self.authors[self.past.len()];
        for (place, heard) in self.hearing.past.iter().enumerate() {
            let speaker = self.authors[place];
            self.spoken[speaker] += 1.0;
            if speaker == author {
                // Members without messages in the window have no author number. They need none: no earlier message is
                // theirs.
                for named in heard.mentions.iter().filter_map(|named| numbers.get(named)) {
                    self.naming[*named] += 1.0;
                }
                self.last_target = heard.mentions.first().copied().or(self.last_target);
            } else if heard.mentions.contains(&self.message.author) {
                self.naming[speaker] += 1.0;
            }
            let before = place.checked_sub(1).map(|before| self.authors[before]);
            match before {
                Some(before) if before != speaker && speaker == author => self.alternation[before] += 1.0,
                Some(before) if before == author && speaker != author => self.alternation[speaker] += 1.0,
                Some(_) | None => {}
            }
        }
    }

    fn features(&self, place: usize, walk: &BetweenMessages) -> [f32; RAW] {
        let (i, j) = (self.message, &*self.past[place]);
        let (to, heard) = (&self.hearing.message, &self.hearing.past[place]);
        let distance = self.past.len() - place;
        let seconds = seconds_between(j, i);
        let (of_i, of_j) = (self.authors[self.past.len()], self.authors[place]);
        let same = of_j == of_i;
        let (between_i, between_j) = (walk.by[of_i], walk.by[of_j]);
        let names_j = !self.bare && to.mentions.contains(&j.author);
        let named_by_j = heard.mentions.contains(&i.author);
        let text = |value: f32| if self.bare { 0.0 } else { value };
        [
            (distance as f32).ln(),
            capped(seconds),
            capped(walk.longest_gap),
            capped(self.gaps[self.past.len()]),
            f32::from(distance == 1),
            f32::from(same),
            ln_after(between_i),
            ln_after(between_j),
            f32::from(same && between_i == 0.0),
            f32::from(between_j == 0.0),
            ln_after(self.spoken[of_j]),
            ln_after(self.spoken[of_i]),
            self.own.ln_distance,
            self.own.ln_seconds,
            self.speakers,
            ln_after(walk.distinct),
            ln_after(if same { 0.0 } else { self.alternation[of_j] }),
            f32::from(names_j),
            text(f32::from(to.first == Some(j.author))),
            f32::from(named_by_j),
            f32::from(heard.first == Some(i.author)),
            text(f32::from(to.mentions.iter().any(|named| heard.mentions.contains(named)))),
            text(f32::from(!to.mentions.is_empty() && !names_j)),
            f32::from(!heard.mentions.is_empty() && !named_by_j),
            ln_after(self.naming[of_j]),
            f32::from(self.last_target == Some(j.author)),
            f32::from(self.last_addressed == Some(place)),
            self.texts.words[place],
            self.texts.rarest[place],
            self.nearby(place, &self.texts.words),
            self.texts.meaning[place],
            self.nearby(place, &self.texts.meaning),
            text(self.texts.meaning[place] - self.texts.background),
            text(f32::from(i.is_question)),
            f32::from(j.is_question),
            text(ln_after(i.chars as f32)),
            ln_after(j.chars as f32),
            f32::from(!self.own.is_known),
            f32::from(self.bare),
            self.rhythm[self.past.len()],
            walk.longest,
            (((seconds + self.scale) / self.scale) as f32).ln(),
            self.own.longest_gap,
        ]
    }

    /// Returns the highest similarity of the message at `place` and of the messages by the same author up to
    /// [`NEIGHBOURS`] before or after it.
    fn nearby(&self, place: usize, similarity: &[f32]) -> f32 {
        let author = self.past[place].author;
        let near = place.saturating_sub(NEIGHBOURS)..(place + NEIGHBOURS + 1).min(self.past.len());
        near.filter(|near| self.past[*near].author == author)
            .map(|near| similarity[near])
            .fold(similarity[place], f32::max)
    }
}

impl OwnDistance {
    fn of(message: &MessageFeatures, past: &[Arc<MessageFeatures>], rhythm: &[f32]) -> Self {
        match past.iter().rposition(|turn| turn.author == message.author) {
            Some(own) => Self {
                is_known: true,
                ln_distance: ((past.len() - own) as f32).ln(),
                ln_seconds: capped(seconds_between(&past[own], message)),
                longest_gap: rhythm[own + 1..].iter().copied().fold(0.0, f32::max),
            },
            None => Self {
                is_known: false,
                ln_distance: (WINDOW as f32 + 1.0).ln(),
                ln_seconds: TIME_CAP,
                longest_gap: NEVER_MQ,
            },
        }
    }
}

/// Gives each author a number from 0, so that counts can be arrays. Returns the number of each author, and for each
/// message the number of its author.
fn numbered(authors: impl Iterator<Item = UserId>) -> (Quick<UserId, usize>, Vec<usize>) {
    let mut numbers = Quick::default();
    let of_each = authors
        .map(|author| {
            let next = numbers.len();
            *numbers.entry(author).or_insert(next)
        })
        .collect();
    (numbers, of_each)
}

/// Returns the seconds between each message and the one before it, at the index of the later one: 0 at index 0, and the
/// gap before `message` at index `past.len()`.
fn gaps(message: &MessageFeatures, past: &[Arc<MessageFeatures>]) -> Vec<f64> {
    let turns = || past.iter().map(|one| &**one).chain([message]);
    let between = turns().zip(turns().skip(1)).map(|(earlier, later)| seconds_between(earlier, later));
    std::iter::once(0.0).chain(between).collect()
}

/// Returns `-ln(1.02 - q)` for each gap, where q is its rank among the gaps of the window, from 0 to 1. Ranks are moved
/// towards the middle, since few gaps are weak evidence.
fn ranks(gaps: &[f64]) -> Vec<f32> {
    // Leaves out the first gap, which is unknown, and the last one: it belongs to the message itself and is ranked
    // among the others.
    let known = gaps.get(1..gaps.len().saturating_sub(1)).unwrap_or_default();
    let mut sorted = known.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = |gap: &f64| {
        let below = sorted.partition_point(|other| other < gap);
        let ties = sorted.partition_point(|other| other <= gap) - below;
        let quantile = (below as f32 + ties as f32 / 2.0 + 5.0) / (sorted.len() as f32 + 10.0);
        rhythm_of(quantile)
    };
    gaps.iter().map(rank).collect()
}

/// Returns the mean number of seconds between messages, at least 1, with long gaps capped. Ten gaps of a minute are
/// added, so that the mean of few messages is not extreme.
fn scale(gaps: &[f64]) -> f64 {
    let known = gaps.get(1..gaps.len().saturating_sub(1)).unwrap_or_default();
    let sum: f64 = known.iter().map(|gap| gap.min(SCALE_CAP)).sum();
    ((sum + 600.0) / (known.len() as f64 + 10.0)).max(1.0)
}

fn distinct<'a>(messages: impl Iterator<Item = &'a Arc<MessageFeatures>>) -> f32 {
    messages.map(|one| one.author).collect::<HashSet<_>>().len() as f32
}

fn seconds_between(earlier: &MessageFeatures, later: &MessageFeatures) -> f64 {
    later.at.since(earlier.at).as_secs_f64()
}

fn capped(seconds: f64) -> f32 {
    (seconds.ln_1p() as f32).min(TIME_CAP)
}

/// Returns ln(1 + count), from a table for small counts, since it is called thousands of times for each message.
fn ln_after(count: f32) -> f32 {
    static SMALL: LazyLock<Vec<f32>> = LazyLock::new(|| (0..1024_u16).map(|count| f32::from(count).ln_1p()).collect());
    SMALL.get(count as usize).copied().unwrap_or_else(|| count.ln_1p())
}
