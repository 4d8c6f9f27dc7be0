//! Formats recaps, and replies about recaps, as Markdown.

use std::collections::BTreeMap;

use crate::recap::{A_SECOND, RecapTime};
use chime_core::texts::{Texts, filled};
use chime_core::{Bullet, Seq, SourceMessage, SummaryMethod, Timestamp, Zone, escape_marks};
use chime_memory::members;
use chime_memory::wording::{short_day, short_time, under_headings};

/// Maximum number of links per point.
const LINKS: usize = 3;

/// Recap with everything needed to format it.
#[derive(Debug, Clone, PartialEq)]
pub struct Recap {
    pub points: Vec<Bullet>,
    pub method: SummaryMethod,
    pub since: Timestamp,
    /// End of the period, excluded, if it is not the time of the request.
    pub until: Option<Timestamp>,
    pub now: Timestamp,
    pub zone: Zone,
    pub messages: usize,
    pub people: usize,
    /// `true` if the period has more messages than a recap reads, so that the recap begins later than requested.
    pub is_cut: bool,
    pub names: BTreeMap<u32, String>,
    pub places: BTreeMap<Seq, SourceMessage>,
    /// Title of the chat, if the recap is sent to another one; else `None`.
    pub title: Option<String>,
    pub texts: &'static Texts,
}

/// Formats a recap, one point per line with its time and links to its messages.
pub fn shown(recap: &Recap) -> String {
    let points = recap.points.iter().map(|point| {
        let text = escape_marks(&members::named(&point.text, &recap.names));
        let places: Vec<&SourceMessage> =
            point.sources.iter().filter_map(|seq| recap.places.get(seq)).take(LINKS).collect();
        (point.kind, format!("- {text} ({})", place(recap, &places)))
    });
    let points = under_headings(points.collect(), recap.texts);
    // A list follows the head at once, a heading after a blank line.
    let between = if points.starts_with("**") { "\n\n" } else { "\n" };
    let foot = match recap.method {
        SummaryMethod::Model => None,
        SummaryMethod::Extract => Some(recap.texts.recap.own_words.clone()),
    };
    let body = format!("{}{between}{points}", head(recap));
    [Some(body), foot].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn head(recap: &Recap) -> String {
    let texts = &recap.texts.recap;
    let count = |number: usize, one: &str, many: &str| match number {
        1 => one.to_owned(),
        number => filled(many, &[("n", &number.to_string())]),
    };
    let of =
        recap.title.as_ref().map(|title| filled(&texts.of, &[("title", &escape_marks(title))])).unwrap_or_default();
    let messages = count(recap.messages, &texts.messages_one, &texts.messages_many);
    let messages = if recap.is_cut { filled(&texts.newest, &[("messages", &messages)]) } else { messages };
    let members = count(recap.people, &texts.members_one, &texts.members_many);
    let period = period(recap.since, recap.until, recap.now, recap.zone, recap.texts);
    // The title is inserted last: words of members in it may look like placeholders, which must not be filled in.
    filled(&texts.head, &[("period", &period), ("messages", &messages), ("members", &members), ("of", &of)])
}

/// Formats the period of a recap: "since 2 Jan 09:00 UTC", "from 7 Jan 00:00 UTC to 9 Jan 23:59 UTC".
pub fn period(since: Timestamp, until: Option<Timestamp>, now: Timestamp, zone: Zone, texts: &Texts) -> String {
    let time = |at: Timestamp| short_time(at, now, zone, texts);
    match until {
        None => filled(&texts.recap.since, &[("since", &time(since))]),
        Some(until) => {
            let until = time(until.minus(A_SECOND));
            filled(&texts.recap.between, &[("since", &time(since)), ("until", &until)])
        }
    }
}

/// Formats the sources of a point: the time of the first one, with a link, and "+1" and "+2" as links to the others.
/// The time zone is in the head.
fn place(recap: &Recap, places: &[&SourceMessage]) -> String {
    let Some((first, others)) = places.split_first() else { return String::new() };
    let clock = recap.zone.clock_time(first.sent_at);
    let when = match short_day(first.sent_at, recap.now, recap.zone, recap.texts) {
        Some(day) => format!("{day} {clock}"),
        None => clock,
    };
    let shown = match &first.link {
        Some(link) => format!("[{when}]({link})"),
        None => format!("{} {when}", escape_marks(&first.name)),
    };
    let more = (1..).zip(others).filter_map(|(number, place)| Some(format!("[+{number}]({})", place.link.as_ref()?)));
    std::iter::once(shown).chain(more).collect::<Vec<_>>().join(", ")
}

/// Formats a schedule, such as `daily at 18:00` or `every Monday at 09:00`.
pub fn in_words(time: RecapTime, texts: &Texts) -> String {
    let clock = format!("{:02}:{:02}", time.minute / 60, time.minute % 60);
    match time.weekday {
        None => filled(&texts.recap.daily, &[("time", &clock)]),
        Some(day) => {
            let day = &texts.recap.days[day.num_days_from_monday() as usize];
            filled(&texts.recap.weekly, &[("day", day), ("time", &clock)])
        }
    }
}

/// Returns the reply to `/recap daily 18:00` and similar commands. `next` is the time of the first recap.
pub fn subscribed(time: RecapTime, next: Option<Timestamp>, zone: Zone, now: Timestamp, texts: &Texts) -> String {
    let next = next.map(|at| {
        let time = zone.told_time(at);
        let at = match short_day(at, now, zone, texts) {
            Some(day) => filled(&texts.recap.next_on, &[("day", &day), ("time", &time)]),
            None => filled(&texts.recap.next_today, &[("time", &time)]),
        };
        filled(&texts.recap.next, &[("at", &at)])
    });
    let next = next.unwrap_or_default();
    let (time, zone) = (in_words(time, texts), escape_marks(zone.name()));
    filled(&texts.recap.subscribed, &[("time", &time), ("zone", &zone), ("next", &next)])
}

pub fn unsubscribed(was_there: bool, texts: &Texts) -> String {
    if was_there { texts.recap.unsubscribed.clone() } else { texts.recap.not_subscribed.clone() }
}

/// Returns the reply to arguments that name no time: the help for `/recap`, and the chat's own schedule if it has one.
pub fn unclear(time: Option<RecapTime>, texts: &Texts) -> String {
    let now = time.map(|time| filled(&texts.recap.comes, &[("time", &in_words(time, texts))])).unwrap_or_default();
    format!("{} {}{now}", texts.recap.unclear, texts.recap.how)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use chime_core::testkit::moment;
    use chime_core::texts::texts;

    #[test]
    fn times_are_told_in_the_language_of_the_chat() {
        let sentence = |weekday, minute, code| in_words(RecapTime { weekday, minute }, texts(code));
        assert_eq!(sentence(Some(chrono::Weekday::Mon), 540, "eng"), "every Monday at 09:00");
        assert_eq!(sentence(None, 1085, "eng"), "daily at 18:05");
        assert_eq!(sentence(Some(chrono::Weekday::Wed), 540, "rus"), "каждую среду в 09:00");
    }

    #[test]
    fn the_first_recap_is_told_with_its_day_where_that_is_another() {
        let sentence = |at, code| {
            let time = RecapTime { weekday: None, minute: 1080 };
            subscribed(time, Some(moment(at)), Zone::UTC, moment("15:00"), texts(code))
        };
        assert!(sentence("18:00", "eng").contains("The first one comes at 18:00 UTC."), "{}", sentence("18:00", "eng"));
        let other_day = sentence("-3d 18:00", "eng");
        assert!(other_day.contains("The first one comes on 2 Jan at 18:00 UTC."), "{other_day}");
        assert!(sentence("18:00", "fra").contains("Le premier arrive à 18:00 UTC."), "{}", sentence("18:00", "fra"));
    }

    #[test]
    fn a_recap_leads_to_the_messages_that_say_it() {
        let place = |message: u32, id: Option<u32>, at: &str| SourceMessage {
            message: Seq(message),
            name: "Ana".to_owned(),
            is_own: false,
            sent_at: moment(at),
            link: id.map(|id| format!("https://t.me/c/1/{id}")),
        };
        let point = |text: &str, sources: &[u32]| Bullet::fact(text, sources.iter().copied().map(Seq).collect());
        let recap = Recap {
            points: vec![point("{u1} takes the *red* tent", &[3, 4]), point("{u2} packs", &[5])],
            method: SummaryMethod::Extract,
            since: moment("-3d 09:00"),
            until: None,
            now: moment("15:00"),
            zone: Zone::UTC,
            messages: 41,
            people: 1,
            is_cut: true,
            names: BTreeMap::from([(1, "Ana".to_owned())]),
            places: BTreeMap::from([
                (Seq(3), place(3, Some(30), "14:02")),
                (Seq(4), place(4, Some(40), "14:03")),
                (Seq(5), place(5, None, "-3d 10:00")),
            ]),
            title: Some("The lake".to_owned()),
            texts: texts("eng"),
        };
        expect![[r#"
            **Recap** of The lake since 2 Jan 09:00 UTC (the newest 41 messages by 1 member)
            - Ana takes the \*red\* tent ([14:02](https://t.me/c/1/30), [+1](https://t.me/c/1/40))
            - somebody packs (Ana 2 Jan 10:00)

            In the members' own words."#]]
        .assert_eq(&shown(&recap));
        let until = Some(moment("-1d 00:00"));
        let head = head(&Recap { until, is_cut: false, ..recap });
        assert_eq!(head, "**Recap** of The lake from 2 Jan 09:00 UTC to 3 Jan 23:59 UTC (41 messages by 1 member)");
    }
}
