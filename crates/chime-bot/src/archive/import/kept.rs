//! Exports the stored data of a chat other than its messages and pages, as JSON: settings, notes, reminders, summaries and
//! topics.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use chime_core::chat_settings::PERSONA;
use chime_core::{Bullet, BulletKind, ChatKey, MessageId, Rolling, Seq, Timestamp, named};
use chime_store::{Reader, chat_settings, item_marks, notes, recaps, reminders, summaries, tags, topics};

/// Reads the stored data of one chat.
pub struct KeptReader<'a> {
    conn: &'a Reader,
    chat: ChatKey,
    /// Ids of the exported messages.
    ids: &'a BTreeMap<Seq, MessageId>,
    names: BTreeMap<u32, String>,
    done: BTreeMap<Seq, Timestamp>,
}

impl<'a> KeptReader<'a> {
    pub fn new(conn: &'a Reader, chat: ChatKey, ids: &'a BTreeMap<Seq, MessageId>) -> chime_store::Result<Self> {
        let (names, done) = (summaries::member_names(conn, chat)?, item_marks::done(conn, chat, None)?);
        Ok(Self { conn, chat, ids, names, done })
    }

    /// Returns all parts, each with its name.
    pub fn parts(&self) -> chime_store::Result<Vec<(&'static str, Value)>> {
        Ok(vec![
            ("settings", self.settings()?),
            ("recap", self.recap()?),
            ("notes", self.notes()?),
            ("reminders", self.reminders()?),
            ("sessions", self.sessions()?),
            ("recent", self.rolling(Rolling::Recent)?),
            ("history", self.rolling(Rolling::History)?),
            ("topics", self.topics()?),
        ])
    }

    /// Returns the settings without personas, which are shown to nobody.
    fn settings(&self) -> chime_store::Result<Value> {
        let set = chat_settings::of_chat(self.conn, self.chat)?.into_iter().filter(|(_, name, _)| name != PERSONA.key);
        Ok(set.map(|(topic, name, value)| json!({"topic": topic, "name": name, "value": value})).collect())
    }

    fn recap(&self) -> chime_store::Result<Value> {
        let subscribed = recaps::of_chat(self.conn, self.chat)?;
        let shown =
            |it: recaps::Subscription| json!({"topic": it.forum_topic, "at": clock(it.minute), "weekday": it.weekday});
        Ok(subscribed.map_or(Value::Null, shown))
    }

    fn notes(&self) -> chime_store::Result<Value> {
        let pieces = notes::pieces(self.conn, self.chat)?;
        let texts = |number| {
            let own = pieces.iter().filter(move |piece| piece.number == number);
            own.map(|piece| piece.text.as_str()).collect::<Vec<_>>().join("\n")
        };
        let note = |note: notes::Note| {
            json!({
                "number": note.number, "title": note.title, "text": texts(note.number), "saved": note.saved_at.secs(),
                "messages": self.messages(&note.sources),
            })
        };
        Ok(notes::of_chat(self.conn, self.chat)?.into_iter().map(note).collect())
    }

    fn reminders(&self) -> chime_store::Result<Value> {
        let reminder = |(_, it): (i64, reminders::Reminder)| {
            let repeat = it.repeat.map(|repeat| json!({"at": clock(repeat.minute), "weekday": repeat.weekday}));
            json!({
                "message": it.message, "from_id": it.asked_by, "topic": it.forum_topic, "due": it.due_at.secs(),
                "repeat": repeat, "until": it.until.map(Timestamp::secs),
            })
        };
        Ok(reminders::of_chat(self.conn, self.chat)?.into_iter().map(reminder).collect())
    }

    fn sessions(&self) -> chime_store::Result<Value> {
        let (first, last) = (Timestamp::from_secs(0), Timestamp::END);
        let mut shown = Vec::new();
        for (session, summary) in summaries::minis_between(self.conn, self.chat, first, last, u32::MAX)?.iter().rev() {
            let topics = tags::of_session(self.conn, session.id)?;
            shown.push(json!({
                "from": session.first.0.secs(), "to": session.last.0.secs(), "topic": session.forum_topic,
                "about": topics.into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
                "lines": self.lines(&summary.bullets),
            }));
        }
        Ok(shown.into())
    }

    fn rolling(&self, kind: Rolling) -> chime_store::Result<Value> {
        let kept = summaries::rolling(self.conn, self.chat, kind)?;
        Ok(self.lines(kept.as_ref().map_or(&[], |kept| &kept.summary.bullets)))
    }

    fn topics(&self) -> chime_store::Result<Value> {
        let mut shown = Vec::new();
        for tag in topics::tags(self.conn, self.chat, u32::MAX, 0)? {
            let summary = topics::summary(self.conn, tag.id)?;
            let lines = self.lines(summary.as_ref().map_or(&[], |kept| &kept.summary.bullets));
            shown.push(json!({"name": tag.name, "names": tag.forms, "lines": lines}));
        }
        Ok(shown.into())
    }

    fn lines(&self, bullets: &[Bullet]) -> Value {
        let line = |bullet: &Bullet| {
            let is_item = matches!(bullet.kind, BulletKind::Task | BulletKind::Question);
            let done = bullet.sources.first().filter(|_| is_item).and_then(|first| self.done.get(first));
            json!({
                "kind": bullet.kind.as_str(), "text": named(&bullet.text, &self.names),
                "messages": self.messages(&bullet.sources), "done": done.map(|at| at.secs()),
            })
        };
        bullets.iter().map(line).collect()
    }

    fn messages(&self, sources: &[Seq]) -> Vec<MessageId> {
        sources.iter().filter_map(|seq| self.ids.get(seq)).copied().collect()
    }
}

/// Formats minutes since midnight, such as `18:00`.
fn clock(minute: u16) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}
