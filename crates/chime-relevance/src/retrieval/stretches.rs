//! Finds the stretches of a conversation that discuss a question: runs of neighbouring messages that together hold its
//! words. In a chat, the question is often in one message, its subject in the next, and the answer three messages
//! later.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use crate::retrieval::archive::{Archive, Sought};
use crate::retrieval::lexicon::Lexicon;
use crate::retrieval::passage::SESSION_SILENCE;
use chime_core::trigger::{Languages, calls_bot, consents, is_small_talk};
use chime_core::{Role, Seq, StoredMessage, dot};

/// Number of messages of a stretch, and number of them before the message that matched.
const LENGTH: u32 = 10;
const LEAD: u32 = 2;
/// Number of messages before and after the best stretch among which the rest of its talk is.
const TALK_BEFORE: u32 = 30;
const TALK_AFTER: u32 = 60;
/// Maximum number of stretches that are read, chosen by their words alone.
const READ: usize = 30;
/// Number of messages nearest to the question by vector. They start a stretch even without a word of the question.
pub const NEAREST: usize = 20;
/// Weight of the cosine between the question and the stretch, and bonus for a stretch from a time that the question
/// names. For comparison, the share of the words has weight 1.
const COSINE: f64 = 1.6;
const THEN: f64 = 0.6;

/// Neighbouring messages of members, oldest first, without small talk and questions to a bot.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    pub messages: Vec<StoredMessage>,
    /// First and last message with a searched word; `None` if the stretch was found by vectors only.
    pub words_in: Option<(Seq, Seq)>,
    /// Share of the searched words by idf (up to 2 if they are repeated) plus the weighted cosine and the bonus: about
    /// 0.5 if the stretch shares a word by chance, above 1 if it is about the same subject.
    pub score: f64,
    /// For the best stretch, the rest of its talk up to a silence of [`SESSION_SILENCE`], nearest first; else empty.
    pub rest_of_talk: Vec<StoredMessage>,
}

/// Returns the stretches of `archive` that fit `sought`, best first. They do not overlap. Fails only if reading the
/// archive fails.
pub fn stretches<A: Archive>(
    archive: &A,
    sought: &Sought<'_>,
    lexicon: &mut Lexicon<'_>,
) -> Result<Vec<Stretch>, A::Error> {
    let mut words = SoughtWords::find(archive, sought, lexicon)?;
    let embedder = lexicon.embedder();
    let embed = |text: &str| embedder.map(|embedder| embedder.embed(text)).unwrap_or_default();
    let asked = embed(sought.text);
    for near in archive.nearest(sought, &asked)? {
        words.held.entry(near.0).or_default();
    }
    let is_then =
        |it: &StoredMessage| sought.spans.iter().any(|span| (span.from..span.to).contains(&it.message.sent_at));
    let mut found = Vec::new();
    for begun in words.best() {
        let (from, to) = (begun.saturating_sub(LEAD), (begun + LENGTH - LEAD).min(sought.before.0));
        for messages in unbroken(archive.between((Seq(from), Seq(to - 1)))?) {
            let (first, last) = (messages[0].seq.0, messages[messages.len() - 1].seq.0);
            let mut holding = words.held.range(first..=last).map(|(seq, _)| Seq(*seq)).peekable();
            let Some(first_word) = holding.peek().copied() else { continue };
            let words_in = words.worth(first, last + 1) > 0.0;
            let last_word = holding.last().unwrap_or(first_word);
            let messages = telling(messages);
            let text: Vec<&str> =
                messages.iter().filter(|it| says_something(it)).map(|it| it.message.text.as_str()).collect();
            let vector = embed(&text.join("\n"));
            let cosine = if vector.is_empty() || asked.is_empty() { 0.0 } else { f64::from(dot(&vector, &asked)) };
            let then = if messages.iter().any(is_then) { THEN } else { 0.0 };
            let score = words.worth(first, last + 1) / words.total() + COSINE * cosine + then;
            let words_in = words_in.then_some((first_word, last_word));
            found.push(Stretch { messages, words_in, score, rest_of_talk: Vec::new() });
        }
    }
    found.retain(|stretch| !stretch.messages.is_empty());
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    // A question about a time is about all that was said then, not about one talk.
    if let Some(best) = found.first_mut().filter(|_| sought.spans.is_empty()) {
        best.rest_of_talk = rest_of_talk(archive, &best.messages, sought.before)?;
    }
    Ok(found)
}

/// Returns the other messages of the talk of which `stretch` is a part, nearest first: two later ones for each earlier
/// one, since an answer comes after its question.
fn rest_of_talk<A: Archive>(
    archive: &A,
    stretch: &[StoredMessage],
    before: Seq,
) -> Result<Vec<StoredMessage>, A::Error> {
    let (first, last) = (stretch[0].seq, stretch[stretch.len() - 1].seq);
    let around =
        archive.between((Seq(first.0.saturating_sub(TALK_BEFORE)), Seq((last.0 + TALK_AFTER).min(before.0 - 1))))?;
    let talk = unbroken(around).into_iter().find(|part| part.iter().any(|stored| stored.seq == first));
    let talk = telling(talk.unwrap_or_default());
    let (mut earlier, others): (Vec<_>, Vec<_>) = talk.into_iter().partition(|stored| stored.seq < first);
    let mut later = others.into_iter().filter(|stored| stored.seq > last);
    let mut nearest = Vec::new();
    loop {
        let next: Vec<StoredMessage> = later.by_ref().take(2).chain(earlier.pop()).collect();
        if next.is_empty() {
            return Ok(nearest);
        }
        nearest.extend(next);
    }
}

/// Searched words, with the messages that have them.
struct SoughtWords {
    /// For each message, by its number, the indices of the words that it has; empty for a message found by vectors
    /// only.
    held: BTreeMap<u32, Vec<usize>>,
    idfs: Vec<f64>,
}

impl SoughtWords {
    fn find<A: Archive>(archive: &A, sought: &Sought<'_>, lexicon: &mut Lexicon<'_>) -> Result<Self, A::Error> {
        let all = archive.count()?;
        let mut words = Self { held: BTreeMap::new(), idfs: Vec::new() };
        let called = sought.words.iter().map(|word| (word, false)).chain(sought.names.iter().map(|name| (name, true)));
        for (word, is_name) in called {
            let id = lexicon.id(word);
            let stem = &lexicon.word(id).stem;
            let (seqs, held) =
                if is_name { archive.naming(stem, sought.before)? } else { archive.holding(stem, sought.before)? };
            for seq in seqs {
                words.held.entry(seq.0).or_default().push(words.idfs.len());
            }
            words.idfs.push((all / (held + 1.0)).ln_1p());
        }
        Ok(words)
    }

    fn total(&self) -> f64 {
        self.idfs.iter().sum::<f64>().max(1e-6)
    }

    /// Returns the summed idf of the words in the messages from `from` to before `before`. Repetitions of a word add
    /// less and less.
    fn worth(&self, from: u32, before: u32) -> f64 {
        let mut times = vec![0.0; self.idfs.len()];
        self.held.range(from..before).flat_map(|(_, words)| words).for_each(|word| times[*word] += 1.0);
        times.iter().zip(&self.idfs).map(|(times, idf)| idf * 2.0 * times / (times + 1.0)).sum()
    }

    /// Returns at most [`READ`] messages from which a stretch starts: those with the most words around them, best
    /// first, and of equal ones the newest. No two are so close that their stretches overlap.
    fn best(&self) -> Vec<u32> {
        let around = |begun: u32| self.worth(begun.saturating_sub(LEAD), begun.saturating_add(LENGTH - LEAD));
        let mut ranked: Vec<(f64, u32)> = self.held.keys().map(|begun| (around(*begun), *begun)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        let mut taken: Vec<u32> = Vec::new();
        for (_, begun) in ranked {
            if taken.len() < READ && taken.iter().all(|other| other.abs_diff(begun) >= LENGTH) {
                taken.push(begun);
            }
        }
        taken
    }
}

/// Splits messages, oldest first, at silences of more than [`SESSION_SILENCE`].
pub fn unbroken<T: Borrow<StoredMessage>>(messages: impl IntoIterator<Item = T>) -> Vec<Vec<T>> {
    let mut parts: Vec<Vec<T>> = Vec::new();
    for stored in messages {
        let at = stored.borrow().message.sent_at;
        let is_near = |last: &T| at.since(last.borrow().message.sent_at) <= SESSION_SILENCE;
        match parts.last_mut() {
            Some(part) if part.last().is_some_and(is_near) => part.push(stored),
            Some(_) | None => parts.push(vec![stored]),
        }
    }
    parts
}

/// Removes small talk, the bot's messages and those to it. An "agreed" right after a question stays.
fn telling(mut messages: Vec<StoredMessage>) -> Vec<StoredMessage> {
    let (languages, mut is_asked) = (Languages::shipped(), false);
    messages.retain(|stored| {
        let text = &stored.message.text;
        let answers = is_asked && stored.message.role == Role::User && consents(text);
        is_asked = languages.is_question(text);
        answers || says_something(stored)
    });
    messages
}

fn says_something(stored: &StoredMessage) -> bool {
    let text = &stored.message.text;
    stored.message.role == Role::User && !calls_bot(text) && !is_small_talk(&stored.message.rendered())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::archive::tests::TranscriptArchive;
    use chime_core::Language;
    use chime_core::testkit::transcript;

    fn found(chat: &str, words: &[&str], names: &[&str]) -> Vec<Vec<u32>> {
        let said = TranscriptArchive(transcript(chat));
        let own = |of: &[&str]| of.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let (words, names) = (own(words), own(names));
        let sought = Sought { words: &words, names: &names, text: "", spans: &[], before: Seq(1_000) };
        let found = stretches(&said, &sought, &mut Lexicon::new(Language::DEFAULT, None)).unwrap();
        found.iter().map(|stretch| stretch.messages.iter().map(|it| it.seq.0).collect()).collect()
    }

    const CHAT: &str = "
        08:00 ann#1 the boat leaves at nine
        08:01 ben#2 thanks!
        11:00 ann#3 does anybody know a plumber?
        11:01 cat#4 mine is good, he came on a sunday
        11:02 cat#5 haha
        11:03 ben#6 ask for Aldo, 60 an hour
        15:00 cat#7 the plumber will be on the boat too";

    #[test]
    fn a_stretch_has_what_stands_beside_the_words_and_no_small_talk() {
        assert_eq!(found(CHAT, &["plumber"], &[]), [vec![3, 4, 6], vec![7]]);
        assert_eq!(found(CHAT, &["plumber"], &["cat"])[0], [3, 4, 6]);
    }

    #[test]
    fn the_best_stretch_has_the_rest_of_its_talk() {
        let said = |nth: u32| format!("11:{nth:02} ann#{nth} line {nth} of the rehearsal\n");
        let before: String = (1..=20).map(said).collect();
        let chat = format!("{before}11:21 ben#21 the plumber is ill\n11:22 ann#22 oh\n12:50 ann#23 dinner is ready\n");
        let said = TranscriptArchive(transcript(&chat));
        let words = vec!["plumber".to_owned()];
        let sought = Sought { words: &words, names: &[], text: "", spans: &[], before: Seq(1_000) };
        let found = stretches(&said, &sought, &mut Lexicon::new(Language::DEFAULT, None)).unwrap();
        assert_eq!(found[0].messages.iter().map(|it| it.seq.0).collect::<Vec<_>>(), [19, 20, 21]);
        let rest: Vec<u32> = found[0].rest_of_talk.iter().map(|it| it.seq.0).collect();
        assert_eq!(rest[..3], [18, 17, 16]);
        assert_eq!(rest.len(), 18);
    }

    #[test]
    fn an_agreement_to_a_question_stays() {
        const PLAN: &str = "
            11:00 ann#1 shall we book the chapel for june?
            11:01 cat#2 agreed
            11:02 ben#3 hello everyone";
        assert_eq!(found(PLAN, &["chapel"], &[]), [vec![1, 2]]);
    }

    #[test]
    fn a_silence_ends_a_stretch_and_nothing_is_found_without_a_word() {
        assert_eq!(found(CHAT, &["boat"], &[]), [vec![1], vec![7]]);
        assert_eq!(found(CHAT, &["roof"], &[]), [] as [Vec<u32>; 0]);
    }
}
