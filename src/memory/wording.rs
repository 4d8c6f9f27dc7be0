//! What members are shown of a chat's memory, and what they are told about it. All of it Markdown.

use std::collections::BTreeMap;

use crate::domain::{Rolling, Seq, Summary, SummaryMethod, Timestamp, Zone};
use crate::memory::members;

/// A message that a bullet rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Where Telegram has links.
    pub link: Option<String>,
    pub at: Timestamp,
    /// Who wrote it.
    pub by: String,
}

/// Recent and History of a chat with what it takes to show them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remembered {
    /// With how many sessions each rests on.
    pub recent: Option<(Summary, u32)>,
    pub history: Option<(Summary, u32)>,
    pub names: BTreeMap<u32, String>,
    pub places: BTreeMap<Seq, Place>,
    pub zone: Zone,
}

impl Remembered {
    /// The messages behind what is shown.
    pub fn rests_on(&self) -> impl Iterator<Item = Seq> + '_ {
        let kept = [&self.recent, &self.history].into_iter().flatten();
        kept.flat_map(|(summary, _)| &summary.bullets).flat_map(|bullet| bullet.sources.iter().copied())
    }

    /// The addresses that stand under dates.
    pub fn links(&self) -> impl Iterator<Item = String> + '_ {
        self.places.values().filter_map(|place| place.link.clone())
    }
}

/// `/memory`: by section, with tokens, each bullet with a link to the first message that it rests on.
pub fn shown(remembered: &Remembered) -> String {
    let sections = [
        (Rolling::Recent, "Recent", "the last 28 days", &remembered.recent),
        (Rolling::History, "History", "before that", &remembered.history),
    ];
    let told: Vec<String> = sections
        .into_iter()
        .filter_map(|(_, name, when, kept)| kept.as_ref().map(|kept| section(remembered, name, when, kept)))
        .collect();
    if told.is_empty() {
        return "I remember nothing of this chat yet. A talk is summarized when it has been quiet for a while."
            .to_owned();
    }
    told.join("\n\n")
}

/// The topic of a conversation below them.
pub fn topic_shown(slug: &str, remembered: &Remembered) -> String {
    let of_topic = |kept| section(remembered, &format!("Topic {}", escaped(slug)), "of this conversation", kept);
    remembered.recent.as_ref().map(of_topic).unwrap_or_default()
}

fn section(remembered: &Remembered, name: &str, when: &str, (summary, sessions): &(Summary, u32)) -> String {
    let plural = if *sessions == 1 { "" } else { "s" };
    let how = match summary.method {
        SummaryMethod::Model => "",
        SummaryMethod::Extract => ", in the members' own words",
    };
    let head = format!("**{name}** ({when}: {sessions} session{plural}, {} tokens{how})", summary.tokens);
    let bullets = summary.bullets.iter().map(|bullet| {
        let text = escaped(&members::named(&bullet.text, &remembered.names));
        let place = bullet.sources.first().and_then(|seq| remembered.places.get(seq));
        match place {
            Some(Place { link: Some(link), at, .. }) => format!("- {text} [{}]({link})", remembered.zone.date(*at)),
            Some(Place { link: None, at, .. }) => format!("- {text} ({})", remembered.zone.date(*at)),
            None => format!("- {text}"),
        }
    });
    std::iter::once(head).chain(bullets).collect::<Vec<_>>().join("\n")
}

/// Text that reads the same after Markdown has been through it.
pub fn escaped(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~')
                .then_some('\\')
                .into_iter()
                .chain([c])
        })
        .collect()
}

/// `/memory` where it is off.
pub fn off_here() -> String {
    "Memory is off in this chat: nothing is summarized here. An admin switches it on with /memory on.".to_owned()
}

/// `/memory` where the operator switched it off.
pub fn off_everywhere() -> String {
    "Memory is switched off by whoever runs me: nothing is summarized.".to_owned()
}

/// The answer to `/memory on` and `/memory off`.
pub fn switched(is_on: bool) -> String {
    if is_on {
        "Memory is on: from now on I summarize the talks of this chat in the background, the past ones too.".to_owned()
    } else {
        "Memory is off: I deleted all summaries of this chat and make no new ones. The messages stay, as /privacy says."
            .to_owned()
    }
}

pub fn only_admins() -> String {
    "Only admins switch memory on or off.".to_owned()
}

pub fn only_members() -> String {
    "A chat's memory is for its members.".to_owned()
}

pub fn how_to_ask() -> String {
    "/memory shows what I remember of this chat. Admins: /memory on, /memory off. In private: /memory and a link to any \
     message of the chat."
        .to_owned()
}

/// `/new`.
pub fn new_session() -> String {
    "What comes next is a new talk.".to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::domain::Bullet;

    #[test]
    fn memory_is_shown_by_section_with_links() {
        let bullet = |text: &str, seq| Bullet { text: text.to_owned(), sources: vec![Seq(seq)] };
        let summary = Summary {
            bullets: vec![bullet("{u1}: the red tent comes_along", 3), bullet("{u2} packs", 9)],
            tokens: 17,
            method: SummaryMethod::Extract,
            model: String::new(),
            built_at: Timestamp::default(),
        };
        let at = Timestamp::from_secs(1_767_621_720);
        let remembered = Remembered {
            recent: Some((summary, 1)),
            history: None,
            names: BTreeMap::from([(1, "Ana".to_owned())]),
            places: BTreeMap::from([(
                Seq(3),
                Place { link: Some("https://t.me/c/1/3".to_owned()), at, by: "Ana".to_owned() },
            )]),
            ..Remembered::default()
        };
        expect![[r#"
            **Recent** (the last 28 days: 1 session, 17 tokens, in the members' own words)
            - Ana: the red tent comes\_along [5 Jan 2026](https://t.me/c/1/3)
            - somebody packs"#]]
        .assert_eq(&shown(&remembered));
        assert!(shown(&Remembered::default()).starts_with("I remember nothing"));
    }
}
