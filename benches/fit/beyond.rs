//! Fits the choice of messages from before the window. The older part of each group is scattered among other groups of
//! its kind, at random distances, and triggers search there for messages on their subject.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::Arc;

use chime_core::{MessageId, Seq, StoredMessage, Timestamp, UserId, estimate_tokens};
use chime_eval::pack::PackQuery;
use chime_relevance::context::training::{
    ACCEPTED, BEYOND_FEATURES, BEYOND_NAMES, Candidate, OlderQuery, RerankWeights, beyond_values,
};
use chime_relevance::context::{History, Params, get_smart_context, without_bots};
use chime_relevance::retrieval::{Archive as Older, FoundMessage, Lexicon, Sought, by_words};
use chime_store::{Language, stems};

use crate::chats::Chat;
use crate::learn::{Examples, Restraint, Weighed, fit};
use crate::{Outcome, written};

/// Messages before a trigger that stay in place.
const POOL: usize = 30;
/// Least number of older messages that are worth scattering.
const OLDER: usize = 15;
/// Messages of the older part that stay together.
const TOGETHER: usize = 25;
/// Most messages examined for each word, as in the daemon.
const OF_A_WORD: usize = 200;

/// Trigger with its search further back.
struct Looked {
    /// Index of its chat.
    chat: usize,
    starts_new: bool,
    /// Number of messages on the trigger's subject, number of messages selected from the pool, and number of right ones
    /// among these.
    gold: usize,
    picked: usize,
    hits: usize,
    found: Vec<Spotted>,
    /// Messages found when exactly the right ones are selected from the pool. The fit uses these, since wrong
    /// selections lead to wrong messages.
    lessons: Vec<Spotted>,
}

/// Message that was found.
struct Spotted {
    features: [f64; BEYOND_FEATURES],
    is_right: bool,
}

/// Least probability for taking a message; chosen from the printed figures.
const THRESHOLD: f64 = 0.25;
/// Weight of a message; low, since there are hundreds for each trigger.
const WEIGHT: f32 = 0.1;

/// Fits the weights, prints their results on unseen chats, and returns the content of the file.
pub fn weights(chats: &[Chat], folds: usize) -> Outcome<String> {
    let words: Vec<Vec<HashSet<String>>> = chats.iter().map(words_of).collect();
    let looked: Vec<Looked> = (0..chats.len()).flat_map(|chat| looked(chats, &words, chat)).collect();
    let mut examples = Examples::new(BEYOND_NAMES.len());
    for (one, spotted) in looked.iter().flat_map(|one| one.lessons.iter().map(move |spotted| (one, spotted))) {
        let is_right = f32::from(u8::from(spotted.is_right));
        examples.row(spotted.features.iter().map(|value| *value as f32), is_right, 0.0);
        examples.close(Weighed { none: Some(1.0 - is_right), weight: WEIGHT, fold: chats[one.chat].fold });
    }
    let restraint = Restraint { ridge: 20.0, is_clamped: true, iterations: 150 };
    let written = |left_out| written::beyond(&fit(&examples, left_out, restraint), THRESHOLD, &BEYOND_NAMES);
    let of_folds = (0..folds).map(|fold| serde_json::from_str(&written(Some(fold))));
    let of_folds: Vec<RerankWeights> = of_folds.collect::<serde_json::Result<_>>()?;
    let found = looked.iter().filter(|one| one.found.iter().any(|spotted| spotted.is_right)).count();
    let all = looked.iter().flat_map(|one| &one.found).filter(|spotted| spotted.is_right).count();
    println!("{} tags, {} messages, {all} right, in {found} tags", looked.len(), examples.len());
    for percent in [0, 15, 20, 25, 30, 35, 40, 50] {
        println!("{}", report(chats, &looked, &of_folds, f64::from(percent) / 100.0));
    }
    Ok(written(None))
}

fn words_of(chat: &Chat) -> Vec<HashSet<String>> {
    let texts: Vec<String> = chat.prepared.messages.iter().map(|stored| stored.message.text.clone()).collect();
    let language = Language::judge(&texts).unwrap_or(Language::DEFAULT);
    texts.iter().map(|text| stems(text, language).into_iter().collect()).collect()
}

fn looked(chats: &[Chat], words: &[Vec<HashSet<String>>], chat: usize) -> Vec<Looked> {
    let it = &chats[chat];
    let tags = it.queries.iter().filter(|query| matches!(query.ask.variant.as_str(), "group" | "new"));
    tags.filter_map(|query| look(chats, words, chat, query)).collect()
}

fn look(chats: &[Chat], words: &[Vec<HashSet<String>>], number: usize, query: &PackQuery) -> Option<Looked> {
    let chat = &chats[number];
    let place = chat.place_of(query.ask.message_id);
    let oldest = place.checked_sub(POOL).filter(|older| *older >= OLDER)?;
    let archive = Archive::of(chats, words, number, oldest, place);
    let mut recent = chat.prepared.messages[oldest..place].to_vec();
    recent.iter_mut().zip(archive.messages.len() as u32 + 1..).for_each(|(stored, seq)| stored.seq = Seq(seq));
    let mut trigger = chat.prepared.messages[place].clone();
    trigger.message.reply_to = query.ask.reply_to.map(MessageId);
    let ask = without_bots(&trigger.message.text).into_owned();
    let is_tag = ask != trigger.message.text;
    let evidence = Arc::clone(&chat.prepared.evidence);
    let history = History { ask, is_tag, evidence, ..History::new(trigger, recent, Vec::new()) };
    let window = get_smart_context(&history, &Params::new(estimate_tokens));
    let picked: HashMap<i64, f64> = window.focus().map(|entry| (entry.message.message.id.0, entry.score)).collect();
    let gold: HashSet<i64> = query.gold.context.iter().copied().collect();
    let found = archive.found(&history, &picked, &gold);
    let right: HashMap<i64, f64> = gold.iter().map(|id| (*id, 1.0)).collect();
    let lessons = archive.found(&history, &right, &gold);
    Some(Looked {
        chat: number,
        starts_new: query.ask.variant == "new",
        gold: gold.len(),
        picked: picked.len(),
        hits: picked.keys().filter(|id| gold.contains(id)).count(),
        found,
        lessons,
    })
}

/// All messages older than the pool: the older part of the group, scattered among other groups.
struct Archive {
    messages: Vec<StoredMessage>,
    /// Original id of each message of this chat; `None` for messages of other chats.
    own: Vec<Option<i64>>,
    said: HashMap<String, Vec<u32>>,
    language: Language,
}

impl Archive {
    fn of(chats: &[Chat], words: &[Vec<HashSet<String>>], number: usize, oldest: usize, place: usize) -> Self {
        let chat = &chats[number];
        let mut others: Vec<usize> =
            (0..chats.len()).filter(|other| *other != number && chats[*other].kind == chat.kind).collect();
        others.sort_by(|a, b| {
            chats[*a].chance(place, number as u64).total_cmp(&chats[*b].chance(place, number as u64)).then(a.cmp(b))
        });
        let mut blocks: Vec<(usize, usize, usize)> =
            others.into_iter().map(|other| (other, 0, chats[other].prepared.messages.len())).collect();
        // Places the older part, newest piece first, at random distances on a logarithmic scale.
        let mut back = 0;
        for end in (1..=oldest).rev().step_by(TOGETHER) {
            let room = (blocks.len() - back) as f64;
            let further = ((room + 1.0).ln() * chat.chance(end, place as u64)).exp() - 1.0;
            back = (back + further as usize).min(blocks.len());
            blocks.insert(blocks.len() - back, (number, end.saturating_sub(TOGETHER), end));
            back += 1;
        }
        let texts: Vec<String> = chat.prepared.messages.iter().map(|stored| stored.message.text.clone()).collect();
        let mut archive = Self {
            messages: Vec::new(),
            own: Vec::new(),
            said: HashMap::new(),
            language: Language::judge(&texts).unwrap_or(Language::DEFAULT),
        };
        let people: Vec<UserId> = chat.prepared.messages.iter().map(|stored| stored.message.sender.id).collect();
        let mut began = chat.prepared.messages[oldest].message.sent_at.secs();
        let mut pieces = Vec::new();
        for block in blocks.into_iter().rev() {
            let last = chats[block.0].prepared.messages[block.2 - 1].message.sent_at.secs();
            let first = chats[block.0].prepared.messages[block.1].message.sent_at.secs();
            let shift = began - 7200 - last;
            began = first + shift;
            pieces.push((block, shift));
        }
        for ((of, begin, end), shift) in pieces.into_iter().rev() {
            for (at, words) in words[of].iter().enumerate().take(end).skip(begin) {
                archive.add((&chats[of], of, at), words, shift, (of != number).then_some(&people));
            }
        }
        archive
    }

    fn add(
        &mut self,
        (chat, number, at): (&Chat, usize, usize),
        words: &HashSet<String>,
        shift: i64,
        people: Option<&Vec<UserId>>,
    ) {
        /// Offset that keeps ids of different chats apart.
        const APART: i64 = 1_000_000;
        let mut stored = chat.prepared.messages[at].clone();
        self.own.push(people.is_none().then_some(stored.message.id.0));
        let seq = self.messages.len() as u32 + 1;
        stored.seq = Seq(seq);
        stored.message.sent_at = Timestamp::from_secs(stored.message.sent_at.secs() + shift);
        stored.message.id = MessageId(stored.message.id.0 + APART * number as i64);
        stored.message.reply_to = stored.message.reply_to.map(|id| MessageId(id.0 + APART * number as i64));
        if let Some(people) = people {
            // Attributes the message to a member of this chat.
            let which = stored.message.sender.id.0.unsigned_abs() as usize % people.len();
            stored.message.sender.id = people[which];
        }
        words.iter().for_each(|word| self.said.entry(word.clone()).or_default().push(seq));
        self.messages.push(stored);
    }

    /// Returns the messages found when these messages, with their probabilities, are selected.
    fn found(&self, history: &History, picked: &HashMap<i64, f64>, gold: &HashSet<i64>) -> Vec<Spotted> {
        let candidate = |stored| -> Candidate<'_> {
            let StoredMessage { message, .. }: &StoredMessage = stored;
            (stored, history.evidence.reading(stored), picked.get(&message.id.0).copied().unwrap_or(0.0))
        };
        let talk: Vec<Candidate<'_>> = history.recent.iter().map(candidate).collect();
        let Some(query) = OlderQuery::of(&history.trigger, &history.ask, &talk, talk[0].0.seq) else {
            return Vec::new();
        };
        let mut lexicon = Lexicon::new(self.language, None);
        let found = match by_words(self, self.language, &query.words, query.before, &mut lexicon) {
            Ok(found) => found,
            Err(never) => match never {},
        };
        let spotted = |met: FoundMessage| Spotted {
            features: beyond_values(&query, &met),
            is_right: self.own[met.message.seq.0 as usize - 1].is_some_and(|id| gold.contains(&id)),
        };
        found.into_iter().map(spotted).collect()
    }
}

impl Older for Archive {
    type Error = Infallible;

    fn count(&self) -> Result<f64, Infallible> {
        Ok(self.messages.len() as f64)
    }

    fn holding(&self, stem: &str, before: Seq) -> Result<(Vec<Seq>, f64), Infallible> {
        let at = self.said.get(stem).map_or(&[][..], Vec::as_slice);
        let newest = at.iter().rev().map(|seq| Seq(*seq)).filter(|seq| *seq < before);
        Ok((newest.take(OF_A_WORD).collect(), at.len() as f64))
    }

    fn naming(&self, stem: &str, before: Seq) -> Result<(Vec<Seq>, f64), Infallible> {
        self.holding(stem, before)
    }

    fn nearest(&self, _: &Sought<'_>, _: &[f32]) -> Result<Vec<Seq>, Self::Error> {
        Ok(Vec::new())
    }

    fn between(&self, (from, to): (Seq, Seq)) -> Result<Vec<StoredMessage>, Infallible> {
        let (from, to) = (from.0.saturating_sub(1) as usize, (to.0 as usize).min(self.messages.len()));
        Ok(self.messages.get(from..to).unwrap_or_default().to_vec())
    }
}

/// Formats F1 without and with messages from further back, for English, other languages and triggers without an older
/// subject, and the number of messages spent on triggers that start a new subject.
fn report(chats: &[Chat], looked: &[Looked], of_folds: &[RerankWeights], threshold: f64) -> String {
    let f1 = |hits: usize, size: usize, gold: usize| 2.0 * hits as f64 / (size + gold).max(1) as f64;
    let mut sums: HashMap<&str, (f64, f64, f64)> = HashMap::new();
    let (mut taken, mut right) = (0, 0);
    for one in looked {
        let weights = &of_folds[chats[one.chat].fold];
        let mut likely: Vec<(f64, &Spotted)> = (one.found.iter())
            .filter(|spotted| weights.is_sure(&spotted.features, threshold) && threshold > 0.0)
            .map(|spotted| (weights.probability(&spotted.features), spotted))
            .collect();
        likely.sort_by(|a, b| b.0.total_cmp(&a.0));
        likely.truncate(ACCEPTED);
        let (size, more) = (likely.len(), likely.iter().filter(|(_, spotted)| spotted.is_right).count());
        (taken, right) = (taken + size, right + more);
        let kind = if one.starts_new { "new" } else { chats[one.chat].kind.name() };
        let (without, with) = match kind {
            "new" => (0.0, size as f64),
            _ => (f1(one.hits, one.picked, one.gold), f1(one.hits + more, one.picked + size, one.gold)),
        };
        let sum = sums.entry(kind).or_default();
        *sum = (sum.0 + without, sum.1 + with, sum.2 + 1.0);
    }
    let mut lines: Vec<String> = (sums.iter())
        .map(|(kind, (without, with, count))| format!("{kind} {:.4} -> {:.4} ({count})", without / count, with / count))
        .collect();
    lines.sort();
    format!("{threshold:.2}: {}; {taken} messages, {right} right", lines.join(", "))
}
