//! What a recap says, and what is said about recaps. All of it Markdown.

use std::collections::BTreeMap;

use crate::domain::{Bullet, Seq, SummaryMethod, Timestamp, Zone};
use crate::memory::members;
use crate::memory::wording::{Place, escaped};
use crate::recap::RecapTime;

/// Links behind one point.
const LINKS: usize = 3;

/// A recap with what it takes to show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Recap {
    pub points: Vec<Bullet>,
    pub method: SummaryMethod,
    pub since: Timestamp,
    pub now: Timestamp,
    pub zone: Zone,
    pub messages: usize,
    pub people: usize,
    /// More was said than is looked at: this begins later than was asked for.
    pub is_cut: bool,
    pub names: BTreeMap<u32, String>,
    pub places: BTreeMap<Seq, Place>,
    /// Of the chat, where the recap is shown elsewhere.
    pub title: Option<String>,
}

/// A recap: a point a line, each with links to the messages that say it.
pub fn shown(recap: &Recap) -> String {
    let points = recap.points.iter().map(|point| {
        let text = escaped(&members::named(&point.text, &recap.names));
        let links: Vec<String> = point
            .sources
            .iter()
            .filter_map(|seq| recap.places.get(seq))
            .take(LINKS)
            .map(|place| link(recap, place))
            .collect();
        format!("- {text} {}", links.join(" "))
    });
    let head = std::iter::once(head(recap));
    let foot = match recap.method {
        SummaryMethod::Model => None,
        SummaryMethod::Extract => Some("In the members' own words: no model was at hand.".to_owned()),
    };
    let body = head.chain(points).collect::<Vec<_>>().join("\n");
    [Some(body), foot].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn head(recap: &Recap) -> String {
    let count = |number: usize, one: &str, many: &str| match number {
        1 => format!("1 {one}"),
        number => format!("{number} {many}"),
    };
    let of = recap.title.as_ref().map(|title| format!(" of {}", escaped(title))).unwrap_or_default();
    let newest = if recap.is_cut { "the newest " } else { "" };
    format!(
        "**Recap**{of} since {}: {newest}{} by {}",
        recap.zone.short_time(recap.since, recap.now),
        count(recap.messages, "message", "messages"),
        count(recap.people, "member", "members"),
    )
}

fn link(recap: &Recap, Place { link, at, by }: &Place) -> String {
    let when = recap.zone.short_time(*at, recap.now);
    match link {
        Some(link) => format!("[{when}]({link})"),
        None => format!("({} {when})", escaped(by)),
    }
}

pub fn nothing_said() -> String {
    "Nothing was said since then that is worth a recap.".to_owned()
}

pub fn sent_in_private() -> String {
    "I sent it to you in private.".to_owned()
}

/// Below a recap for one member that could not go to them in private.
pub fn could_be_private() -> String {
    "Start a private chat with me, and I send you what you missed there.".to_owned()
}

pub fn not_kept() -> String {
    "I do not keep the message that you reply to, so I do not know since when.".to_owned()
}

pub fn never_here() -> String {
    "I know of nothing that you wrote here before. Try /recap 1d.".to_owned()
}

pub fn only_admins() -> String {
    "Only admins decide about recaps of this chat.".to_owned()
}

/// The answer to `/recap daily 18:00`. `next` is when the first one comes.
pub fn subscribed(time: RecapTime, next: Option<Timestamp>, zone: Zone, now: Timestamp) -> String {
    let next = next.map(|at| format!(" The first one comes {}.", zone.short_time(at, now))).unwrap_or_default();
    format!(
        "From now on a recap comes here {time} ({}), unless nothing happened.{next} /recap off ends it.",
        escaped(zone.name())
    )
}

pub fn unsubscribed(was_there: bool) -> String {
    match was_there {
        true => "No more recaps come by themselves.",
        false => "No recaps come by themselves here.",
    }
    .to_owned()
}

/// What `/recap` can do; with the chat's own recaps, where it has some.
pub fn how_to_ask(time: Option<RecapTime>) -> String {
    let now = time.map(|time| format!(" A recap comes here {time}.")).unwrap_or_default();
    format!(
        "/recap 2h, /recap today, /recap in a reply: since that message. /recap since I was here: what you missed, in private \
         if you have a private chat with me. Admins: /recap daily 18:00, /recap weekly mon 9:00, /recap off.{now}"
    )
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testkit::moment;

    #[test]
    fn a_recap_leads_to_the_messages_that_say_it() {
        let place = |id: Option<u32>, at: &str| Place {
            link: id.map(|id| format!("https://t.me/c/1/{id}")),
            at: moment(at),
            by: "Ana".to_owned(),
        };
        let point = |text: &str, sources: &[u32]| Bullet {
            text: text.to_owned(),
            sources: sources.iter().copied().map(Seq).collect(),
        };
        let recap = Recap {
            points: vec![point("{u1} takes the *red* tent", &[3, 4]), point("{u2} packs", &[5])],
            method: SummaryMethod::Extract,
            since: moment("-3d 09:00"),
            now: moment("15:00"),
            zone: Zone::UTC,
            messages: 41,
            people: 1,
            is_cut: true,
            names: BTreeMap::from([(1, "Ana".to_owned())]),
            places: BTreeMap::from([
                (Seq(3), place(Some(30), "14:02")),
                (Seq(4), place(Some(40), "14:03")),
                (Seq(5), place(None, "-3d 10:00")),
            ]),
            title: Some("The lake".to_owned()),
        };
        expect![[r#"
            **Recap** of The lake since 2 Jan 09:00 UTC: the newest 41 messages by 1 member
            - Ana takes the \*red\* tent [14:02 UTC](https://t.me/c/1/30) [14:03 UTC](https://t.me/c/1/40)
            - somebody packs (Ana 2 Jan 10:00 UTC)

            In the members' own words: no model was at hand."#]]
        .assert_eq(&shown(&recap));
    }
}
