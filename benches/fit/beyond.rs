//! What is further back: every group's older part is hidden among other groups of its kind, as far back as chance has it,
//! and the tags that may be about it look for it there.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chime::context::training::{
    About, BESIDE, BEYOND_FEATURES, BEYOND_NAMES, BeyondWeights, MOST_OF_A_WORD, ReadSpan, Said, Sought, Span, Word,
    around, beside, compared, spans,
};
use chime::context::{History, MessageFeatures, Params, Scorers, get_smart_context, without_bots};
use chime::domain::{MessageId, Seq, StoredMessage, Timestamp, UserId, estimate_tokens};
use chime::eval::pack::PackQuery;
use chime::store::{Language, stems};

use crate::chats::Chat;
use crate::learn::{Examples, Restraint, Weighed, fit};
use crate::{Outcome, written};

/// Messages before a tag that stay where they are.
const POOL: usize = 30;
/// Fewer older ones are not worth hiding.
const OLDER: usize = 15;
/// Messages of the older part that stay together.
const TOGETHER: usize = 25;
/// Messages on either side of a hit that may belong with it, as in the daemon.
const AROUND: usize = 8;

/// A tag that looked further back.
struct Looked {
    /// The place of its chat.
    chat: usize,
    starts_new: bool,
    /// How many messages it is about, and of those that were picked of the pool how many, and how many right.
    gold: usize,
    picked: usize,
    hits: usize,
    spans: Vec<Spotted>,
    /// The same had just the right ones been picked: what is fitted on, since what was picked wrongly leads to what is wrong.
    lessons: Vec<Spotted>,
}

struct Spotted {
    features: Vec<f64>,
    /// The share of the hits that the tag is about.
    share: f64,
    /// What comes with it: how many messages, how many of them right.
    size: usize,
    right: usize,
}

/// What is less likely to be about the same is not taken: set by the figures that are printed.
const THRESHOLD: f64 = 0.35;

/// Fits what is taken from further back, prints how it does on chats that it did not see, and gives the file.
pub fn weights(chats: &[Chat], folds: usize) -> Outcome<String> {
    let words: Vec<Vec<HashSet<String>>> = chats.iter().map(words_of).collect();
    let looked: Vec<Looked> = (0..chats.len()).flat_map(|chat| looked(chats, &words, chat)).collect();
    let mut examples = Examples::new(BEYOND_NAMES.len());
    for (one, span) in looked.iter().flat_map(|one| one.lessons.iter().map(move |span| (one, span))) {
        examples.row(span.features.iter().map(|value| *value as f32), span.share as f32, 0.0);
        let none = Some((1.0 - span.share) as f32);
        examples.close(Weighed { none, weight: 1.0, fold: chats[one.chat].fold });
    }
    let restraint = Restraint { ridge: 20.0, is_clamped: true, iterations: 150 };
    let written = |left_out| written::beyond(&fit(&examples, left_out, restraint), THRESHOLD, &BEYOND_NAMES);
    let of_folds = (0..folds).map(|fold| serde_json::from_str(&written(Some(fold))));
    let of_folds: Vec<BeyondWeights> = of_folds.collect::<serde_json::Result<_>>()?;
    let found = looked.iter().filter(|one| one.spans.iter().any(|span| span.share > 0.3)).count();
    let all = looked.iter().flat_map(|one| &one.spans).filter(|span| span.share > 0.3).count();
    println!("{} tags, {} spans, {all} right, in {found} tags", looked.len(), examples.len());
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
    let picked: HashMap<i64, f64> =
        window.entries.iter().map(|entry| (entry.message.message.id.0, entry.score)).collect();
    let gold: HashSet<i64> = query.gold.context.iter().copied().collect();
    let spans = archive.spans(&history, &picked, &gold);
    let right: HashMap<i64, f64> = gold.iter().map(|id| (*id, 1.0)).collect();
    let lessons = archive.spans(&history, &right, &gold);
    Some(Looked {
        chat: number,
        starts_new: query.ask.variant == "new",
        gold: gold.len(),
        picked: picked.len(),
        hits: picked.keys().filter(|id| gold.contains(id)).count(),
        spans,
        lessons,
    })
}

/// All that is older than the pool: the older part of the group, and other groups around it.
struct Archive {
    messages: Vec<StoredMessage>,
    readings: Vec<Arc<MessageFeatures>>,
    /// The id in its own chat, of what is of this chat.
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
        // The older part, newest piece first: each as far back as chance has it, near ones as likely as far ones.
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
            readings: Vec::new(),
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
        /// Ids of one chat are not those of another.
        const APART: i64 = 1_000_000;
        let mut stored = chat.prepared.messages[at].clone();
        self.own.push(people.is_none().then_some(stored.message.id.0));
        let seq = self.messages.len() as u32 + 1;
        stored.seq = Seq(seq);
        stored.message.sent_at = Timestamp::from_secs(stored.message.sent_at.secs() + shift);
        stored.message.id = MessageId(stored.message.id.0 + APART * number as i64);
        stored.message.reply_to = stored.message.reply_to.map(|id| MessageId(id.0 + APART * number as i64));
        if let Some(people) = people {
            // It is said by the people here.
            let which = stored.message.sender.id.0.unsigned_abs() as usize % people.len();
            stored.message.sender.id = people[which];
        }
        self.readings.push(chat.prepared.evidence.reading(&chat.prepared.messages[at]));
        words.iter().for_each(|word| self.said.entry(word.clone()).or_default().push(seq));
        self.messages.push(stored);
    }

    fn spans(&self, history: &History, picked: &HashMap<i64, f64>, gold: &HashSet<i64>) -> Vec<Spotted> {
        let pool: Vec<&StoredMessage> = history.recent.iter().collect();
        let readings: Vec<Arc<MessageFeatures>> = pool.iter().map(|stored| history.evidence.reading(stored)).collect();
        let places: Vec<(usize, f64)> = (pool.iter().enumerate())
            .filter_map(|(place, stored)| Some((place, *picked.get(&stored.message.id.0)?)))
            .collect();
        let before = pool[0].seq;
        let about = About {
            trigger: &history.trigger,
            ask: &history.ask,
            candidates: &pool,
            readings: &readings,
            picked: &places,
            before,
        };
        let Some(sought) = Sought::of(&about) else { return Vec::new() };
        let said: Vec<Said> = sought.words.iter().map(|word| self.newest(word)).collect();
        let read: Vec<ReadSpan> = spans(&said, before).into_iter().map(|span| self.hear(span)).collect();
        let is_right = |at: usize| self.own[at].is_some_and(|id| gold.contains(&id));
        let spotted = |(features, read): ([f64; BEYOND_FEATURES], ReadSpan)| {
            let hits: Vec<usize> = read.span.hits.iter().map(|seq| seq.0 as usize - 1).collect();
            let (begin, end) =
                (hits[0].saturating_sub(AROUND), self.messages.len().min(hits[hits.len() - 1] + AROUND + 1));
            let of_hits: Vec<Seq> = read.span.hits.clone();
            let links = &Scorers::shipped().links;
            let taken = around(&self.messages[begin..end], &self.readings[begin..end], &of_hits, links);
            Spotted {
                features: features.to_vec(),
                share: hits.iter().filter(|at| is_right(**at)).count() as f64 / hits.len() as f64,
                size: taken.len(),
                right: taken.iter().filter(|at| is_right(begin + **at)).count(),
            }
        };
        compared(&sought, &read).into_iter().zip(read).map(spotted).collect()
    }

    fn newest(&self, word: &Word) -> Said {
        let stems = stems(&word.text, self.language);
        let [stem] = stems.as_slice() else { return Said::default() };
        let at = self.said.get(stem).map_or(&[][..], Vec::as_slice);
        Said { newest: at.iter().rev().take(MOST_OF_A_WORD).map(|seq| Seq(*seq)).collect(), weight: word.weight }
    }

    fn hear(&self, span: Span) -> ReadSpan {
        let at = |seq: &Seq| seq.0 as usize - 1;
        let (Some(first), Some(last)) = (span.hits.first(), span.hits.last()) else {
            return ReadSpan { span, messages: Vec::new(), stems: Vec::new() };
        };
        let near = BESIDE as usize;
        let range = at(first).saturating_sub(near)..self.messages.len().min(at(last) + near + 1);
        let messages = beside(self.messages[range].to_vec(), &span.hits);
        let stems = messages.iter().map(|stored| self.readings[at(&stored.seq)].stems.clone()).collect();
        ReadSpan { span, messages, stems }
    }
}

/// F1 without and with what is further back, in English and others; of tags that are about nothing older; messages spent on
/// tags that start something new.
fn report(chats: &[Chat], looked: &[Looked], of_folds: &[BeyondWeights], threshold: f64) -> String {
    let f1 = |hits: usize, size: usize, gold: usize| 2.0 * hits as f64 / (size + gold).max(1) as f64;
    let mut sums: HashMap<&str, (f64, f64, f64)> = HashMap::new();
    let (mut taken, mut right, mut accepted, mut good) = (0, 0, 0, 0);
    for one in looked {
        let weights = &of_folds[chats[one.chat].fold];
        let mut likely: Vec<(f64, &Spotted)> = (one.spans.iter())
            .map(|span| (weights.probability(&std::array::from_fn(|at| span.features[at])), span))
            .filter(|(probability, _)| *probability >= threshold && threshold > 0.0)
            .collect();
        likely.sort_by(|a, b| b.0.total_cmp(&a.0));
        likely.truncate(2);
        let size: usize = likely.iter().map(|(_, span)| span.size).sum();
        let more: usize = likely.iter().map(|(_, span)| span.right).sum();
        (taken, right) = (taken + size, right + more);
        accepted += likely.len();
        good += likely.iter().filter(|(_, span)| span.share > 0.0).count();
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
    format!("{threshold:.2}: {}; {accepted} spans, {good} good; {taken} messages, {right} right", lines.join(", "))
}
