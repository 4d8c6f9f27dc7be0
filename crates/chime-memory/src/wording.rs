//! Formats a chat's memory as Markdown texts.

use std::collections::BTreeMap;

use crate::members;
use chime_core::texts::{Texts, filled};
use chime_core::{Bullet, BulletKind, Seq, SourceMessage, Summary, Timestamp, Zone, escape_marks};

/// Recent and History of a chat, with the names and links needed to show them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remembered {
    /// Summary of the last sessions, with the number of sessions in it.
    pub recent: Option<(Summary, u32)>,
    pub history: Option<(Summary, u32)>,
    pub names: BTreeMap<u32, String>,
    pub places: BTreeMap<Seq, SourceMessage>,
    pub zone: Zone,
    /// `true` if sessions wait for their summary, for example after an import or just after a message was forgotten.
    pub is_being_made: bool,
}

impl Remembered {
    /// Returns the source messages of all bullets: when one of them is forgotten, the shown text must be deleted.
    pub fn rests_on(&self) -> impl Iterator<Item = Seq> + '_ {
        let kept = [&self.recent, &self.history].into_iter().flatten();
        kept.flat_map(|(summary, _)| &summary.bullets).flat_map(|bullet| bullet.sources.iter().copied())
    }

    /// Returns the links of all source messages.
    pub fn links(&self) -> impl Iterator<Item = String> + '_ {
        self.places.values().filter_map(|place| place.link.clone())
    }
}

/// Renders `/memory`: sections with token counts, each bullet with a dated link.
pub fn shown(remembered: &Remembered, texts: &Texts) -> String {
    let own = &texts.memory;
    let sections = [
        (own.recent.as_str(), &own.recent_when, &remembered.recent),
        (own.history.as_str(), &own.history_when, &remembered.history),
    ];
    let rendered: Vec<String> = sections
        .into_iter()
        .filter_map(|(name, when, kept)| {
            kept.as_ref().map(|(summary, sessions)| section(remembered, name, when, summary, *sessions, texts))
        })
        .collect();
    let state = match (rendered.is_empty(), remembered.is_being_made) {
        (_, true) => Some(own.being_made.clone()),
        (true, false) => Some(own.none_yet.clone()),
        (false, false) => None,
    };
    rendered.into_iter().chain(state).collect::<Vec<_>>().join("\n\n")
}

/// Renders the topic of a conversation with its summary, whose bullets are in `remembered`.
pub fn topic_shown(slug: &str, remembered: &Remembered, texts: &Texts) -> String {
    let name = filled(&texts.memory.topic, &[("topic", &escape_marks(slug))]);
    let when = &texts.memory.topic_when;
    let of_topic = |(summary, sessions): &(Summary, u32)| section(remembered, &name, when, summary, *sessions, texts);
    remembered.recent.as_ref().map(of_topic).unwrap_or_default()
}

fn section(remembered: &Remembered, name: &str, when: &str, summary: &Summary, sessions: u32, texts: &Texts) -> String {
    let (all, texts) = (texts, &texts.memory);
    let sessions = match sessions {
        1 => texts.sessions_one.clone(),
        many => filled(&texts.sessions_many, &[("n", &many.to_string())]),
    };
    let how = if quotes(&summary.bullets) { texts.own_words.as_str() } else { "" };
    let tokens = summary.tokens.to_string();
    // The name is inserted last: words of members in it may look like placeholders, which must not be filled in.
    let blanks = [("when", when), ("sessions", &sessions), ("tokens", &tokens), ("how", how), ("name", name)];
    let head = filled(&texts.head, &blanks);
    let bullets = summary.bullets.iter().map(|bullet| format!("- {}", linked(bullet, remembered, all)));
    std::iter::once(head).chain(bullets).collect::<Vec<_>>().join("\n")
}

/// Formats a bullet with the date of its newest source, which links to the first one of that day.
fn linked(bullet: &Bullet, remembered: &Remembered, texts: &Texts) -> String {
    let text = escape_marks(&members::named(&bullet.text, &remembered.names));
    let places = || bullet.sources.iter().filter_map(|seq| remembered.places.get(seq));
    let newest = places().map(|place| place.sent_at).max();
    let is_of_that_day = |at: Timestamp| newest.is_some_and(|newest| remembered.zone.same_day(at, newest));
    let Some(SourceMessage { link, sent_at, .. }) = places().find(|place| is_of_that_day(place.sent_at)) else {
        return text;
    };
    let date = texts.date_of(*sent_at, remembered.zone);
    link.as_ref().map_or_else(|| format!("{text} ({date})"), |link| format!("{text} ([{date}]({link}))"))
}

/// Renders items as a numbered list with a heading for each kind, and then those that were done lately. `none` is shown
/// if there are none.
pub fn items_shown(found: &Remembered, none: &str, texts: &Texts) -> String {
    let mut number = 0;
    let mut lines = |kept: &Option<(Summary, u32)>| -> Vec<(BulletKind, String)> {
        let line = |bullet: &Bullet| {
            number += 1;
            (bullet.kind, format!("{number}. {}", linked(bullet, found, texts)))
        };
        kept.iter().flat_map(|(summary, _)| &summary.bullets).map(line).collect()
    };
    let (open, done) = (lines(&found.recent), lines(&found.history));
    let mut rendered = if open.is_empty() { none.to_owned() } else { under_headings(open, texts) };
    if !done.is_empty() {
        let lines: Vec<String> = done.into_iter().map(|(_, line)| line).collect();
        rendered.push_str(&format!("\n\n**{}**\n\n{}", texts.items.done, lines.join("\n")));
    }
    let shown = [&found.recent, &found.history].into_iter().flatten().flat_map(|(summary, _)| &summary.bullets);
    match quotes(shown) {
        true => format!("{rendered}\n\n{}", texts.recap.own_words),
        false => rendered,
    }
}

/// Returns `true` if there are bullets, and all of them quote members, whoever selected them. Bullets of a summary that
/// was made without a model may come from summaries that a model wrote.
fn quotes<'a>(bullets: impl IntoIterator<Item = &'a Bullet>) -> bool {
    let mut bullets = bullets.into_iter().peekable();
    bullets.peek().is_some() && bullets.all(|bullet| members::has_author(&bullet.text))
}

/// Joins lines by kind, in their order, with a heading for each kind. Facts alone have no heading.
pub fn under_headings(mut lines: Vec<(BulletKind, String)>, texts: &Texts) -> String {
    let kind = |kind: BulletKind| if kind == BulletKind::Done { BulletKind::Fact } else { kind };
    lines.sort_by_key(|(of, _)| kind(*of));
    let groups = lines.chunk_by(|(one, _), (other, _)| kind(*one) == kind(*other));
    let group = |group: &[(BulletKind, String)]| {
        let heading = match kind(group[0].0) {
            BulletKind::Decision => &texts.items.decisions,
            BulletKind::Task => &texts.items.tasks,
            BulletKind::Question => &texts.items.questions,
            BulletKind::Done | BulletKind::Fact => &texts.items.also,
        };
        let rendered: Vec<&str> = group.iter().map(|(_, line)| line.as_str()).collect();
        match group.len() == lines.len() && kind(group[0].0) == BulletKind::Fact {
            true => rendered.join("\n"),
            false => format!("**{heading}**\n\n{}", rendered.join("\n")),
        }
    };
    groups.map(group).collect::<Vec<_>>().join("\n\n")
}

/// Formats a time: `14:02` on the day of `now`, else `2 Jan 14:02`, with the year added if the day alone is ambiguous.
pub fn short_time(at: Timestamp, now: Timestamp, zone: Zone, texts: &Texts) -> String {
    let time = zone.told_time(at);
    match short_day(at, now, zone, texts) {
        Some(day) => format!("{day} {time}"),
        None => time,
    }
}

/// Formats a day, such as `2 Jan`, with the year added if the day alone is ambiguous. Returns `None` for the day of
/// `now`.
pub fn short_day(at: Timestamp, now: Timestamp, zone: Zone, texts: &Texts) -> Option<String> {
    if zone.same_day(at, now) {
        return None;
    }
    let (day, month, _) = zone.day(at);
    Some(if zone.needs_year(at, now) { texts.date_of(at, zone) } else { texts.day_of(day, month) })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use chime_core::SummaryMethod;
    use chime_core::texts::texts;

    #[test]
    fn memory_is_shown_by_section_with_links() {
        let bullet = |text: &str, seq| Bullet::fact(text, vec![Seq(seq)]);
        let summary = Summary {
            bullets: vec![
                bullet("{u1}: the red tent comes_along", 3),
                bullet("{u2}: I pack", 9),
                Bullet::fact("{u1}: I pack too", vec![Seq(3), Seq(7), Seq(8)]),
            ],
            tokens: 17,
            method: SummaryMethod::Extract,
            model: String::new(),
            built_at: Timestamp::default(),
        };
        let day = Timestamp::from_secs(1_767_621_720);
        let place = |(number, at)| {
            let (message, link) = (Seq(number), Some(format!("https://t.me/c/1/{number}")));
            (message, SourceMessage { message, name: "Ana".to_owned(), is_own: false, sent_at: at, link })
        };
        let hours = |hours: u64| day.plus(std::time::Duration::from_secs(hours * 3600));
        let remembered = Remembered {
            recent: Some((summary, 1)),
            history: None,
            names: BTreeMap::from([(1, "Ana".to_owned())]),
            places: [(3, day), (7, hours(24)), (8, hours(25))].into_iter().map(place).collect(),
            ..Remembered::default()
        };
        expect![[r#"
            **Recent** (the last 28 days: 1 conversation, 17 tokens, in the members' own words)
            - Ana: the red tent comes\_along ([5 Jan 2026](https://t.me/c/1/3))
            - somebody: I pack
            - Ana: I pack too ([6 Jan 2026](https://t.me/c/1/7))"#]]
        .assert_eq(&shown(&remembered, texts("eng")));
        let mut written = remembered.clone();
        if let Some((summary, _)) = &mut written.recent {
            summary.bullets[1].text = "{u2} packs".to_owned();
        }
        assert!(!shown(&written, texts("eng")).contains("own words"), "a line is a model's");
        assert!(shown(&Remembered::default(), texts("eng")).starts_with("I don't remember anything"));
        let anew = Remembered { is_being_made: true, ..Remembered::default() };
        assert!(shown(&anew, texts("eng")).contains("I am summarizing this chat right now"));
    }
}
