//! Choice of a conversation's topic: scores, thresholds, hysteresis. A turn is a message of a member.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;

use crate::words;

const DAY: Duration = Duration::from_hours(24);
/// Turn at which topics are scored first. From then on they are scored after every `EVERY` turns.
const FIRST_TURN: u32 = 3;
const EVERY: u32 = 5;
/// Minimum score to adopt a topic.
const ADOPT: f64 = 0.70;
/// Minimum lead in score over the current topic to replace it.
const LEAD: f64 = 0.15;
/// The model is asked if the best score or its lead is below its threshold by at most this much.
const BORDERLINE: f64 = 0.15;
/// Largest difference of two scores that count as equal; both topics may then be adopted.
const EQUAL: f64 = 0.02;
/// Largest share of common sessions of two topics that count as distinct.
const DISTINCT: f64 = 0.2;
/// A tag counts as mentioned by the members from this score in the model's answer on.
const SURE: f64 = 0.5;
/// Maximum number of candidates that [`ranked`] returns.
pub const MOST: usize = 6;
/// Age after which the summary of a topic is updated.
pub const KEPT: Duration = DAY.saturating_mul(7);
/// Number of messages with the topic's words at which the score by mentions reaches `WORDS`.
const SURE_MENTIONS: f64 = 2.0;
/// Maximum score by mentions alone (`WORDS`), and by cosine alone (`MEANING`).
const WORDS: f64 = 0.85;
const MEANING: f64 = 0.8;
/// Cosine of the latest messages and a topic's summaries that gives score 0 (and below), and that gives `MEANING` (and
/// above).
const COSINE: (f64, f64) = (0.25, 0.65);
/// Minimum cosine between a session and the mean vector of a topic's sessions for the session to count as similar, and
/// maximum number of such sessions.
const NEIGHBOUR: f64 = 0.7;
const NEIGHBOURS: usize = 10;

/// Evidence that a conversation is about a topic, apart from the model's opinion.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Signals {
    /// Number of the latest messages that mention the topic.
    pub mentions: u32,
    /// Highest cosine between the text of the latest messages and a summary of the topic's sessions.
    pub cosine: f64,
    /// Share of the mentioned tags that are on at least one of the topic's sessions, 0 to 1.
    pub tag_overlap: f64,
    /// Time since the newest of its sessions ended.
    pub age: Duration,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TopicCandidate {
    pub tag: i64,
    pub signals: Signals,
    /// Score from [`local_score`], or the model's score if the model was asked.
    pub score: f64,
    pub sessions: BTreeSet<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopicDecision {
    Keep,
    /// Sets these tags as the new topics, best first: one, or two of equal score.
    Adopt(Vec<i64>),
}

/// Returns `true` if topics must be scored at `turn`: at turns 3, 8, 13, …, or later if such a turn was missed.
/// `evaluated_at` is the turn of the last scoring.
pub fn is_due(turn: u32, evaluated_at: u32) -> bool {
    let window = |turn: u32| turn.checked_sub(FIRST_TURN).map(|turns| turns / EVERY);
    match (window(turn), window(evaluated_at)) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(now), Some(then)) => now > then,
    }
}

/// Returns the number of turns until topics are scored again.
pub fn turns_left(turn: u32) -> u32 {
    match turn.checked_sub(FIRST_TURN) {
        None => FIRST_TURN - turn,
        Some(turns) => EVERY - turns % EVERY,
    }
}

/// Combines mentions and cosine to a score from 0 to 1, without a model.
pub fn local_score(signals: &Signals) -> f64 {
    let words = (f64::from(signals.mentions) / SURE_MENTIONS).min(1.0) * WORDS;
    let meaning = ((signals.cosine - COSINE.0) / (COSINE.1 - COSINE.0)).clamp(0.0, 1.0) * MEANING;
    1.0 - (1.0 - words) * (1.0 - meaning)
}

pub fn recency_boost(age: Duration) -> f64 {
    match age {
        age if age <= DAY * 28 => 1.0,
        age if age <= DAY * 180 => 0.6,
        _ => 0.3,
    }
}

impl TopicCandidate {
    pub fn final_score(&self) -> f64 {
        0.6 * self.score + 0.25 * self.signals.tag_overlap + 0.15 * recency_boost(self.signals.age)
    }
}

/// Sets each candidate's `tag_overlap`: the share of the tags in `queried` that are its own tag or share a session with
/// it.
pub fn set_overlap(candidates: &mut [TopicCandidate], queried: &BTreeSet<i64>) {
    let asked: Vec<(i64, BTreeSet<u32>)> =
        candidates.iter().filter(|one| queried.contains(&one.tag)).map(|one| (one.tag, one.sessions.clone())).collect();
    for one in candidates {
        let carried =
            asked.iter().filter(|(tag, sessions)| *tag == one.tag || !sessions.is_disjoint(&one.sessions)).count();
        one.signals.tag_overlap = if asked.is_empty() { 0.0 } else { carried as f64 / asked.len() as f64 };
    }
}

/// Replaces the scores of candidates by the model's. `forms` returns the slugs of a tag; slugs that no candidate has
/// are ignored. Candidates with a high model score are added to the `mentioned` tags, and all overlaps are computed
/// again.
pub fn apply<'a>(
    candidates: &mut [TopicCandidate],
    inferred: &[Inferred],
    mentioned: &BTreeSet<i64>,
    forms: impl Fn(i64) -> &'a [String],
) {
    let mut queried = mentioned.clone();
    for one in candidates.iter_mut() {
        if let Some(found) = inferred.iter().find(|found| forms(one.tag).contains(&found.slug)) {
            one.score = found.score;
            if found.score >= SURE {
                queried.insert(one.tag);
            }
        }
    }
    set_overlap(candidates, &queried);
}

/// Returns the best candidates, at most [`MOST`], best first.
pub fn ranked(mut candidates: Vec<TopicCandidate>) -> Vec<TopicCandidate> {
    candidates.sort_by(|a, b| b.final_score().total_cmp(&a.final_score()).then(a.tag.cmp(&b.tag)));
    candidates.truncate(MOST);
    candidates
}

/// Returns `true` if the model could change the choice: the best score or its lead is just below its threshold.
pub fn is_borderline(ranked: &[TopicCandidate], active: Option<f64>) -> bool {
    let Some(best) = ranked.first().map(TopicCandidate::final_score) else { return false };
    let nearly = |value: f64, wanted: f64| value < wanted && value >= wanted - BORDERLINE;
    nearly(best, ADOPT) || best >= ADOPT && active.is_some_and(|active| best > active && best - active < LEAD)
}

/// Returns `true` if a candidate could be the topic, or a model could find that it is.
pub fn is_likely(candidate: &TopicCandidate) -> bool {
    candidate.final_score() >= ADOPT - BORDERLINE
}

/// Decides whether to adopt other topics at `turn`. `active` has the current topics and the score of the first;
/// `adopted_at` is the turn at which they were adopted.
pub fn choose(ranked: &[TopicCandidate], active: (&[i64], f64), adopted_at: u32, turn: u32) -> TopicDecision {
    let (tags, score) = active;
    let Some(best) = ranked.first().filter(|best| best.final_score() >= ADOPT) else { return TopicDecision::Keep };
    if tags.contains(&best.tag) {
        return TopicDecision::Keep;
    }
    let may_swap = turn.saturating_sub(adopted_at) >= EVERY && best.final_score() - score >= LEAD;
    if !tags.is_empty() && !may_swap {
        return TopicDecision::Keep;
    }
    let is_equal = |other: &&TopicCandidate| {
        best.final_score() - other.final_score() <= EQUAL && other.final_score() >= ADOPT && are_distinct(best, other)
    };
    let second = ranked.get(1).filter(is_equal).map(|other| other.tag);
    TopicDecision::Adopt(std::iter::once(best.tag).chain(second).collect())
}

fn are_distinct(one: &TopicCandidate, other: &TopicCandidate) -> bool {
    let common = one.sessions.intersection(&other.sessions).count() as f64;
    common <= DISTINCT * one.sessions.union(&other.sessions).count() as f64
}

/// Returns `true` if `stems` (the stems of a text) contain the stems of all words of one of the tag's forms.
pub fn mentions(stems: &BTreeSet<String>, forms: &[String]) -> bool {
    forms.iter().any(|form| {
        let wanted = words::stems(&form.replace('-', " "));
        !wanted.is_empty() && wanted.is_subset(stems)
    })
}

/// Topic with its score, as in the model's answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Inferred {
    pub slug: String,
    pub score: f64,
}

#[derive(Deserialize)]
struct InferredList {
    candidates: Vec<Inferred>,
}

/// Parses the model's answer, `{"candidates": [{"slug", "label", "score", "rationale"}]}`, with or without text around
/// it. Returns `None` for any other format.
pub fn parse_inferred(answer: &str) -> Option<Vec<Inferred>> {
    let (start, end) = (answer.find('{')?, answer.rfind('}')?);
    let list: InferredList = serde_json::from_str(answer.get(start..=end)?).ok()?;
    Some(list.candidates.into_iter().filter(|one| (0.0..=1.0).contains(&one.score)).take(MOST).collect())
}

/// Returns sessions similar to those in `carriers` (sessions with a tag), nearest to their mean vector first. Never
/// returns the carriers themselves.
pub fn neighbours<K: Copy + Ord>(carriers: &BTreeSet<K>, vectors: &[(K, Vec<f32>)]) -> Vec<K> {
    let mut middle: Vec<f32> = Vec::new();
    for (_, vector) in vectors.iter().filter(|(id, _)| carriers.contains(id)) {
        middle.resize(vector.len().max(middle.len()), 0.0);
        middle.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
    }
    let mut near: Vec<(K, f64)> = vectors
        .iter()
        .filter(|(id, _)| !carriers.contains(id))
        .map(|(id, vector)| (*id, cosine(&middle, vector)))
        .filter(|(_, cosine)| *cosine >= NEIGHBOUR)
        .collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    near.into_iter().take(NEIGHBOURS).map(|(id, _)| id).collect()
}

/// Returns the cosine of two vectors, or 0 if their dimensions differ or one of them is zero.
pub fn cosine(one: &[f32], other: &[f32]) -> f64 {
    if one.len() != other.len() {
        return 0.0;
    }
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let lengths = (product(one, one) * product(other, other)).sqrt();
    if lengths > 0.0 { product(one, other) / lengths } else { 0.0 }
}

/// Returns up to `most` pairs of slugs that may be the same word, for an admin to merge: one is a prefix of the other,
/// or they differ in one letter.
pub fn near_pairs<'a>(slugs: &[&'a str], most: usize) -> Vec<(&'a str, &'a str)> {
    const SHORTEST: usize = 4;
    /// Maximum number of letters of an ending: "bill", "bills".
    const ENDING: usize = 3;
    /// With fewer letters, words that differ by one are usually different ones: "rain", "main".
    const SHORTEST_MISTYPED: usize = 6;
    let mut pairs = Vec::new();
    for (place, one) in slugs.iter().enumerate() {
        for other in &slugs[place + 1..] {
            let is_shorter = one.chars().count() <= other.chars().count();
            let (short, long) = if is_shorter { (*one, *other) } else { (*other, *one) };
            let (letters, more) = (short.chars().count(), long.chars().count() - short.chars().count());
            let is_form = letters >= SHORTEST && more <= ENDING && long.starts_with(short);
            let is_near = is_form || letters >= SHORTEST_MISTYPED && differ_by_one(short, long);
            if is_near && pairs.len() < most {
                pairs.push((long, short));
            }
        }
    }
    pairs
}

/// Returns `true` if one letter was changed or added. `long` must not be shorter than `short`.
fn differ_by_one(short: &str, long: &str) -> bool {
    let (short, long): (Vec<char>, Vec<char>) = (short.chars().collect(), long.chars().collect());
    let same = short.iter().zip(&long).take_while(|(a, b)| a == b).count();
    match long.len() - short.len() {
        0 => short.get(same + 1..) == long.get(same + 1..),
        1 => short.get(same..) == long.get(same + 1..),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(tag: i64, score: f64) -> TopicCandidate {
        let signals = Signals { tag_overlap: 1.0, ..Signals::default() };
        TopicCandidate { tag, signals, score, sessions: BTreeSet::from([tag.unsigned_abs() as u32]) }
    }

    #[test]
    fn topics_are_scored_at_turns_three_eight_thirteen() {
        let mut evaluated_at = 0;
        let mut at = Vec::new();
        for turn in 0..=20 {
            if is_due(turn, evaluated_at) {
                at.push(turn);
                evaluated_at = turn;
            }
        }
        assert_eq!(at, [3, 8, 13, 18]);
        assert!(is_due(11, 3) && !is_due(12, 11), "what was missed is made up for once");
        assert_eq!([0, 2, 3, 7, 8, 12].map(turns_left), [3, 1, 5, 1, 5, 1]);
    }

    #[test]
    fn the_score_is_the_seeds_formula() {
        let one = TopicCandidate {
            signals: Signals { age: DAY * 100, tag_overlap: 0.5, ..Signals::default() },
            ..candidate(1, 0.8)
        };
        assert!((one.final_score() - (0.6 * 0.8 + 0.25 * 0.5 + 0.15 * 0.6)).abs() < 1e-9);
        assert_eq!([28, 29, 180, 181].map(|days| recency_boost(DAY * days)), [1.0, 0.6, 0.6, 0.3]);
    }

    #[test]
    fn two_mentions_are_enough_and_one_is_a_case_for_the_model() {
        let score = |mentions, cosine| local_score(&Signals { mentions, cosine, ..Signals::default() });
        let of = |score| ranked(vec![candidate(1, score)]);
        assert_eq!(choose(&of(score(2, 0.0)), (&[], 0.0), 0, 3), TopicDecision::Adopt(vec![1]));
        assert!(is_borderline(&of(score(1, 0.0)), None));
        assert_eq!(choose(&of(score(1, 0.0)), (&[], 0.0), 0, 3), TopicDecision::Keep);
        assert!(score(1, 0.6) > score(1, 0.0) && score(9, 1.0) <= 1.0 && score(0, -1.0) == 0.0);
    }

    #[test]
    fn no_swap_within_five_turns_or_with_a_small_lead() {
        let best = ranked(vec![candidate(2, 0.9), candidate(1, 0.3)]);
        let score = best[1].final_score();
        assert_eq!(choose(&best, (&[1], score), 8, 12), TopicDecision::Keep, "within five turns");
        assert_eq!(choose(&best, (&[1], score), 8, 13), TopicDecision::Adopt(vec![2]));
        let close = ranked(vec![candidate(2, 0.9), candidate(1, 0.7)]);
        assert_eq!(choose(&close, (&[1], close[1].final_score()), 3, 13), TopicDecision::Keep, "a lead of .12");
        assert!(is_borderline(&close, Some(close[1].final_score())));
        assert_eq!(choose(&best, (&[2], best[0].final_score()), 3, 13), TopicDecision::Keep, "it is the topic");
    }

    #[test]
    fn what_the_model_is_sure_of_is_in_question_too() {
        let mut found = vec![candidate(1, 0.2), candidate(2, 0.4), candidate(3, 0.1)];
        set_overlap(&mut found, &BTreeSet::from([1]));
        assert_eq!(found.iter().map(|one| one.signals.tag_overlap).collect::<Vec<_>>(), [1.0, 0.0, 0.0]);
        let inferred = |slug: &str, score| Inferred { slug: slug.to_owned(), score };
        let forms = [vec!["tent".to_owned()], vec!["boiler".to_owned(), "heating".to_owned()], Vec::new()];
        let given = [inferred("heating", 0.9), inferred("submarine", 1.0)];
        apply(&mut found, &given, &BTreeSet::new(), |tag| &forms[usize::try_from(tag).unwrap() - 1]);
        assert_eq!(found.iter().map(|one| one.score).collect::<Vec<_>>(), [0.2, 0.9, 0.1]);
        assert_eq!(choose(&ranked(found), (&[], 0.0), 0, 3), TopicDecision::Adopt(vec![2]));
    }

    #[test]
    fn neighbours_are_near_the_middle_of_the_sessions_of_a_tag() {
        let vectors = [
            (1, vec![1.0, 0.0]),
            (2, vec![0.8, 0.6]),
            (3, vec![0.9, 0.4]),
            (4, vec![0.0, 1.0]),
            (5, vec![1.0, 0.0, 0.0]),
            (6, vec![0.95, 0.3]),
        ];
        assert_eq!(neighbours(&BTreeSet::from([1, 2]), &vectors), [6, 3]);
        assert_eq!(neighbours(&BTreeSet::from([7]), &vectors), [0_i32; 0], "a tag without vectors has none");
    }

    #[test]
    fn two_topics_are_adopted_where_they_are_equal_and_distinct() {
        let both = ranked(vec![candidate(1, 0.9), candidate(2, 0.9)]);
        assert_eq!(choose(&both, (&[], 0.0), 0, 3), TopicDecision::Adopt(vec![1, 2]));
        let same = TopicCandidate { sessions: both[0].sessions.clone(), ..candidate(2, 0.9) };
        assert_eq!(choose(&[both[0].clone(), same], (&[], 0.0), 0, 3), TopicDecision::Adopt(vec![1]));
    }

    #[test]
    fn a_tag_is_mentioned_by_any_form_of_its_words() {
        let said = words::stems("who packs the red tents?");
        assert!(
            mentions(&said, &["red-tent".to_owned()]) && mentions(&said, &["shelter".to_owned(), "tent".to_owned()])
        );
        assert!(!mentions(&said, &["green-tent".to_owned()]) && !mentions(&said, &[]));
    }

    #[test]
    fn the_models_candidates_are_read_and_near_slugs_are_pointed_out() {
        let answer = "```json\n{\"candidates\":[{\"slug\":\"tent\",\"label\":\"Tent\",\"score\":0.82,\"rationale\":\"x\"},{\"slug\":\"b\",\"score\":7}]}\n```";
        assert_eq!(parse_inferred(answer), Some(vec![Inferred { slug: "tent".to_owned(), score: 0.82 }]));
        assert_eq!(parse_inferred("tent"), None);
        assert_eq!(
            near_pairs(&["tent", "tents", "invoice", "invoise", "rope"], 9),
            [("tents", "tent"), ("invoise", "invoice")]
        );
        assert_eq!(near_pairs(&["lake", "lame", "shabbat", "shabbat-box"], 9), []);
        // One has more bytes, the other more letters.
        assert_eq!(near_pairs(&["gläser", "brigade"], 9), []);
    }
}
