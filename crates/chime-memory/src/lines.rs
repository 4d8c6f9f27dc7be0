//! Formats messages and bullets as numbered lines of a prompt.

use crate::bullets::{CitableText, CitableTexts, tidy};
use crate::extract::SummaryMessage;
use crate::members::{self, NumberedNames};
use chime_core::trigger::is_for_bot;
use chime_core::{Bullet, BulletKind, Role, Seq, StoredMessage, Zone, covered, without_sent_citations};

/// Maximum length of a message in a prompt, in characters.
const LINE_CHARS: usize = 1200;

/// Lines of a prompt, with the texts that the model may cite by their number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NumberedLines {
    pub text: String,
    pub grounds: CitableTexts,
    /// `true` if there are lines of items of earlier sessions.
    pub has_open: bool,
    /// Topic to which the summary of the lines is limited; empty if there is none.
    pub topic: String,
}

/// Prepares a message for a summary, which everybody may see: its spoilers are covered. `by` is the author's number in
/// summaries. Such numbers replace the names in `names`.
pub fn spoken(
    stored: &StoredMessage,
    by: Option<u32>,
    names: &NumberedNames,
    reply_to: Option<Seq>,
    vector: Vec<f32>,
) -> SummaryMessage {
    let rendered = covered(&stored.message.rendered()).into_owned();
    let said = match stored.message.role {
        Role::Assistant => without_sent_citations(&rendered),
        Role::User | Role::System | Role::SystemSummary => rendered,
    };
    let text = members::without_names(&said, &names.called);
    let masked = members::without_mentions(&text, &names.written);
    let is_for_bot = is_for_bot(&stored.message);
    SummaryMessage { seq: stored.seq, at: stored.message.sent_at, text, masked, by, is_for_bot, reply_to, vector }
}

/// Formats messages in parts of at most `tokens` each. A message longer than that is a part of its own.
pub fn parts(spoken: &[SummaryMessage], tokens: usize, estimate: fn(&str) -> usize, zone: Zone) -> Vec<NumberedLines> {
    let mut parts: Vec<NumberedLines> = Vec::new();
    let (mut spent, mut before) = (0, None);
    for one in spoken {
        let mut line = dated_line(one, before, zone);
        let mut cost = estimate(&line);
        if parts.is_empty() || spent + cost > tokens {
            parts.push(NumberedLines::default());
            line = dated_line(one, None, zone);
            (spent, cost) = (0, estimate(&line));
        }
        spent += cost;
        before = Some(one);
        if let Some(part) = parts.last_mut() {
            let ground = CitableText { text: one.masked.clone(), by: one.by, sources: vec![one.seq] };
            part.add(line, one.seq.0, ground);
        }
    }
    parts
}

/// Formats a message, after a line with its day if the message `before` is of another one.
fn dated_line(one: &SummaryMessage, before: Option<&SummaryMessage>, zone: Zone) -> String {
    let line = message_line(one, zone);
    match before {
        Some(before) if zone.same_day(before.at, one.at) => line,
        Some(_) | None => format!("({})\n{line}", zone.day_in_words(one.at)),
    }
}

fn message_line(one: &SummaryMessage, zone: Zone) -> String {
    let by = one.by.map_or_else(|| "bot".to_owned(), members::marker);
    let reply = one.reply_to.map_or_else(String::new, |seq| format!(" · → m{seq}"));
    let text: String = tidy_long(&one.masked);
    format!("[m{} · {by} · {}{reply}] {text}", one.seq, zone.clock_time(one.at))
}

fn tidy_long(text: &str) -> String {
    let plain: Vec<&str> = text.split_whitespace().collect();
    chime_core::clip(&plain.join(" "), LINE_CHARS).into_owned()
}

/// Formats bullets of older summaries as lines, numbered from 1. Each has a label: the date of its session, or
/// `profile` for a bullet of History.
pub fn told_bullets<'a>(bullets: impl Iterator<Item = (&'a str, &'a Bullet)>) -> NumberedLines {
    let mut shown = NumberedLines::default();
    for (number, (label, bullet)) in (1..).zip(bullets) {
        let ground = CitableText { text: bullet.text.clone(), by: None, sources: bullet.sources.clone() };
        let kind = bullet.kind.in_head();
        shown.add(format!("[m{number} · {label}{kind}] {}", tidy(&bullet.text)), number, ground);
    }
    shown
}

/// Formats bullets that a model is to merge, in parts of at most `tokens` each.
pub fn bullet_parts(bullets: &[Bullet], tokens: usize, estimate: fn(&str) -> usize) -> Vec<NumberedLines> {
    let (mut parts, mut first, mut spent) = (Vec::new(), 0, 0);
    for (place, bullet) in bullets.iter().enumerate() {
        // The number and the label of a line cost tokens too.
        let cost = estimate(&bullet.text) + estimate("[m10 · part] ");
        if spent + cost > tokens && place > first {
            parts.push(&bullets[first..place]);
            (first, spent) = (place, 0);
        }
        spent += cost;
    }
    parts.push(&bullets[first..]);
    parts.into_iter().map(|part| told_bullets(part.iter().map(|bullet| ("part", bullet)))).collect()
}

/// Formats the summary of a thread so far and the messages to add to it. Messages have their own numbers, bullets
/// follow after the highest.
pub fn thread(so_far: &[Bullet], spoken: &[SummaryMessage], zone: Zone) -> NumberedLines {
    let mut shown = NumberedLines::default();
    let last = spoken.iter().map(|one| one.seq.0).max().unwrap_or(0);
    for (number, bullet) in (last + 1..).zip(so_far) {
        let ground = CitableText { text: bullet.text.clone(), by: None, sources: bullet.sources.clone() };
        shown.add(format!("[m{number} · so far] {}", tidy(&bullet.text)), number, ground);
    }
    let mut before = None;
    for one in spoken {
        let ground = CitableText { text: one.masked.clone(), by: one.by, sources: vec![one.seq] };
        shown.add(dated_line(one, before, zone), one.seq.0, ground);
        before = Some(one);
    }
    shown
}

impl NumberedLines {
    /// Adds lines of open tasks and questions and of decisions of earlier sessions, with the numbers of their first
    /// messages.
    pub fn add_open(&mut self, items: &[Bullet]) {
        for item in items {
            let Some(first) = item.sources.first() else { continue };
            let ground = CitableText { text: item.text.clone(), by: None, sources: vec![*first] };
            let state = if item.kind == BulletKind::Decision { "earlier" } else { "open" };
            let line = format!("[m{first} · {state} {}] {}", item.kind.as_str(), tidy(&item.text));
            self.add(line, first.0, ground);
            self.has_open = true;
        }
    }

    fn add(&mut self, line: String, number: u32, ground: CitableText) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&line);
        self.grounds.insert(number, ground);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use expect_test::expect;

    use super::*;
    use chime_core::estimate_tokens;
    use chime_core::testkit::transcript;

    #[test]
    fn messages_are_lines_with_numbers_for_members() {
        let names = NumberedNames {
            called: BTreeMap::from([("@bob".to_owned(), 2)]),
            written: BTreeMap::from([("Dan".to_owned(), 4)]),
        };
        let said: Vec<SummaryMessage> = transcript(
            "23:59 ann#1 @bob the code?\n    | now\nday 2\n00:01 bob#2>1 [photo] there\n00:02 ann#3 ta, Dan too",
        )
        .iter()
        .zip([(1, None), (2, Some(Seq(1))), (1, None)])
        .map(|(stored, (by, reply))| spoken(stored, Some(by), &names, reply, Vec::new()))
        .collect();
        let whole = parts(&said, 1000, estimate_tokens, Zone::UTC);
        expect![[r#"
            (Monday 5 January 2026)
            [m1 · {u1} · 23:59] {u2} the code? now
            (Tuesday 6 January 2026)
            [m2 · {u2} · 00:01 · → m1] [photo] there
            [m3 · {u1} · 00:02] ta, {u4} too"#]]
        .assert_eq(&whole[0].text);
        assert_eq!(thread(&[], &said, Zone::UTC).text, whole[0].text);
        let each = parts(&said, 10, estimate_tokens, Zone::UTC);
        assert_eq!(each[2].text, "(Tuesday 6 January 2026)\n[m3 · {u1} · 00:02] ta, {u4} too", "each part has its day");
        assert_eq!(whole[0].grounds[&2].sources, [Seq(2)]);
    }

    #[test]
    fn the_bots_own_answers_are_read_without_their_sources() {
        let mut said = transcript("10:00 ann#1 Ben does [1], with tape [2].");
        said[0].message.role = Role::Assistant;
        said[0].message.text.push_str("\n\nSources: [1] Ann 14:02 · [2] Ben 14:03");
        let spoken = spoken(&said[0], None, &NumberedNames::default(), None, Vec::new());
        assert_eq!(spoken.text, "Ben does, with tape.");
    }

    #[test]
    fn bullets_that_are_too_much_for_one_prompt_are_merged_in_parts() {
        let bullets: Vec<Bullet> = (1..=9).map(|n| Bullet::fact(format!("the code is {n}"), vec![Seq(n)])).collect();
        let sizes = |tokens| {
            let parts = bullet_parts(&bullets, tokens, estimate_tokens);
            parts.iter().map(|part| part.grounds.len()).collect::<Vec<_>>()
        };
        assert_eq!(sizes(10_000), [9]);
        assert_eq!(sizes(1), [1; 9], "one at a time where nothing fits");
        assert_eq!(sizes(40).iter().sum::<usize>(), 9, "none is lost");
        assert!(sizes(40).len() > 1);
    }

    #[test]
    fn bullets_are_numbered_anew_and_keep_their_sources() {
        let bullet = Bullet::fact("the code is 4711", vec![Seq(9), Seq(12)]);
        let shown = told_bullets([("14 Oct", &bullet)].into_iter());
        assert_eq!(shown.text, "[m1 · 14 Oct] the code is 4711");
        assert_eq!(shown.grounds[&1].sources, [Seq(9), Seq(12)]);
    }
}
