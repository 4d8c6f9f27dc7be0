//! Topics: the tags that a conversation is about now, and a summary for each tag.

use super::row::forum_topic_key;
use super::sessions;
use super::sql::{FromRow, Statements, params};
use super::{Reader, Result, Writer, jobs, summaries};
use chime_core::{ChatId, ChatKey, Conversation, JobPayload, Seq, SessionId, Summary, Timestamp};

/// Number of members' messages in a session before its topic is determined for the first time.
const FIRST_LOOK: u32 = 3;

/// Topic of the session that is open in a conversation. Turns are messages of members, counted from the session's
/// start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicState {
    /// First message of the session. `None` if a member has set the topic and no session was checked since then.
    pub opener: Option<Seq>,
    /// Turn at which topics were last scored; 0 if never.
    pub evaluated_at: u32,
    pub adopted_at: u32,
    /// `true` if the local scores were inconclusive and no model was asked to decide.
    pub is_undecided: bool,
    /// Newest answered trigger when a model was last asked to decide. A model is asked again only after another answer.
    pub asked_for: Option<Seq>,
    /// Number of members' messages that must come before topics are scored again.
    pub turns_left: u32,
    /// Ids of the tags that are the topic now; two if they score equally.
    pub active: Vec<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicSummary {
    pub summary: Summary,
    pub sessions: u32,
    /// `true` if the session summaries that it was made from have changed, so that it must be made again.
    pub is_stale: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TopicTag {
    pub id: i64,
    /// Main name of the tag, in lower case with hyphens.
    pub name: String,
    /// Names of the tag and of its synonyms, its own name first.
    pub forms: Vec<String>,
    /// Newest sessions that have the tag, each with its end time.
    pub sessions: Vec<(SessionId, Timestamp)>,
}

pub fn state(conn: &Reader, conversation: Conversation) -> Result<Option<TopicState>> {
    let params = params! { ":chat": conversation.chat, ":forum_topic": forum_topic_key(conversation.forum_topic) };
    let found = conn.map_first(
        "SELECT nullif(opener, 0) AS opener, evaluated_at, adopted_at, is_undecided, nullif(asked_for, 0) AS asked_for,
                max(turns_left, 0) AS turns_left
         FROM conversation_topic WHERE chat_key = :chat AND forum_topic_id = :forum_topic",
        params,
        |raw| {
            Ok(TopicState {
                opener: raw.get("opener")?,
                evaluated_at: raw.get("evaluated_at")?,
                adopted_at: raw.get("adopted_at")?,
                is_undecided: raw.get("is_undecided")?,
                asked_for: raw.get("asked_for")?,
                turns_left: raw.get("turns_left")?,
                active: Vec::new(),
            })
        },
    )?;
    let Some(state) = found else { return Ok(None) };
    let active = conn.all(
        "SELECT tag_id FROM active_topic WHERE chat_key = :chat AND forum_topic_id = :forum_topic ORDER BY place",
        params,
    )?;
    Ok(Some(TopicState { active, ..state }))
}

pub fn save_state(tx: &Writer<'_>, conversation: Conversation, state: &TopicState) -> Result<()> {
    let (chat, forum_topic) = (conversation.chat, forum_topic_key(conversation.forum_topic));
    tx.run(
        "DELETE FROM conversation_topic WHERE chat_key = :chat AND forum_topic_id = :forum_topic",
        params! { ":chat": chat, ":forum_topic": forum_topic },
    )?;
    tx.run("INSERT INTO conversation_topic (chat_key, forum_topic_id, opener, evaluated_at, adopted_at, is_undecided, asked_for,
             turns_left)
         VALUES (:chat, :forum_topic, coalesce(:opener, 0), :evaluated_at, :adopted_at, :is_undecided,
             coalesce(:asked_for, 0), :turns_left)", params! {
        ":chat": chat, ":forum_topic": forum_topic, ":opener": state.opener, ":evaluated_at": state.evaluated_at,
        ":adopted_at": state.adopted_at, ":is_undecided": state.is_undecided, ":asked_for": state.asked_for,
        ":turns_left": state.turns_left,
    })?;
    for (place, tag) in (0_i64..).zip(&state.active) {
        tx.run(
            // Stores only tags that still exist, because one may have been deleted since the topics were scored.
            "INSERT INTO active_topic (chat_key, forum_topic_id, place, tag_id)
             SELECT :chat, :forum_topic, :place, id FROM tag WHERE id = :tag AND chat_key = :chat",
            params! { ":chat": chat, ":forum_topic": forum_topic, ":place": place, ":tag": tag },
        )?;
    }
    Ok(())
}

/// Sets the topic that a member chose for a conversation. The next check of the open session takes it over.
pub fn set_by_hand(tx: &Writer<'_>, conversation: Conversation, tag: i64) -> Result<()> {
    save_state(tx, conversation, &TopicState { turns_left: FIRST_LOOK, active: vec![tag], ..TopicState::default() })
}

/// Subtracts `turns` new messages of members from the countdown to the next scoring of topics. Returns `true` once the
/// countdown is over and topics must be scored. Always returns `false` in a chat without tags.
pub fn count_turns(tx: &Writer<'_>, conversation: Conversation, turns: u32) -> Result<bool> {
    let is_due = tx.first(
        "INSERT INTO conversation_topic (chat_key, forum_topic_id, opener, evaluated_at, adopted_at, turns_left)
         SELECT :chat, :forum_topic, 0, 0, 0, :first - :turns WHERE EXISTS (SELECT 1 FROM tag WHERE chat_key = :chat)
         ON CONFLICT (chat_key, forum_topic_id) DO UPDATE SET turns_left = turns_left - :turns
         RETURNING turns_left <= 0 AS is_due",
        params! {
            ":chat": conversation.chat, ":forum_topic": forum_topic_key(conversation.forum_topic), ":first": FIRST_LOOK, ":turns": turns,
        },
    )?;
    Ok(is_due.unwrap_or(false))
}

/// Restarts the countdown to the next scoring at `turns` messages, when a scoring was due but was not made.
pub fn wait(tx: &Writer<'_>, conversation: Conversation, turns: u32) -> Result<()> {
    tx.run(
        "UPDATE conversation_topic SET turns_left = :turns WHERE chat_key = :chat AND forum_topic_id = :forum_topic",
        params! {
            ":chat": conversation.chat, ":forum_topic": forum_topic_key(conversation.forum_topic), ":turns": turns,
        },
    )
}

/// Adds the job that determines the topic of a conversation, unless it is due already. Returns `false`, and adds no
/// job, if the chat has no tags.
pub fn look_again(tx: &Writer<'_>, chat: ChatId, conversation: Conversation, now: Timestamp) -> Result<bool> {
    let has_tags =
        tx.any("SELECT 1 FROM tag WHERE chat_key = :chat LIMIT 1", params! { ":chat": conversation.chat })?;
    if has_tags {
        jobs::add_unless_due(tx, &JobPayload::topic(chat, conversation), now)?;
    }
    Ok(has_tags)
}

/// Deletes the topic of a session that ended. A topic that a member set stays if no session has taken it over yet: it
/// is meant for the next session.
pub fn end_session(tx: &Writer<'_>, conversation: Conversation, opener: Seq) -> Result<()> {
    tx.run(
        "DELETE FROM conversation_topic
         WHERE chat_key = :chat AND forum_topic_id = :forum_topic
               AND (opener = :opener
                    OR opener = 0 AND NOT EXISTS (SELECT 1 FROM active_topic
                                                  WHERE chat_key = :chat AND forum_topic_id = :forum_topic))",
        params! {
            ":chat": conversation.chat, ":forum_topic": forum_topic_key(conversation.forum_topic), ":opener": opener,
        },
    )
}

/// Returns the newest answered trigger of a conversation, not before `from`, or `None` if there is none.
pub fn newest_answered(conn: &Reader, conversation: Conversation, from: Seq) -> Result<Option<Seq>> {
    conn.one(
        "SELECT max(trigger_seq) AS seq FROM answer
         WHERE chat_key = :chat AND trigger_seq >= :from AND forum_topic_id IS :forum_topic AND status = 'answered'",
        params! {
            ":chat": conversation.chat, ":forum_topic": conversation.forum_topic, ":from": from,
        },
    )
}

/// Returns the tags of a chat as candidate topics, those with the most sessions first, at most `limit`. Each has its
/// newest sessions, at most `sessions`.
pub fn tags(conn: &Reader, chat: ChatKey, limit: u32, sessions: u32) -> Result<Vec<TopicTag>> {
    let inventory = super::tags::inventory(conn, chat, limit)?;
    let names = "SELECT name FROM tag WHERE id = :tag OR same_as = :tag ORDER BY id = :tag DESC, name";
    let mut found = Vec::new();
    for tag in inventory {
        let forms = conn.all(names, params! { ":tag": tag.id })?;
        let mut of = Vec::new();
        for id in super::tags::sessions_with(conn, tag.id, sessions)? {
            if let Some(session) = sessions::find(conn, id)? {
                of.push((id, session.last.0));
            }
        }
        found.push(TopicTag { id: tag.id, name: tag.name, forms, sessions: of });
    }
    Ok(found)
}

/// Returns the main name of a tag, or `None` if the tag was deleted.
pub fn name(conn: &Reader, tag: i64) -> Result<Option<String>> {
    conn.first("SELECT name FROM tag WHERE id = :tag", params! { ":tag": tag })
}

pub fn summary(conn: &Reader, tag: i64) -> Result<Option<TopicSummary>> {
    conn.map_first(
        "SELECT bullets, tokens, method, model, built_at, is_stale,
                (SELECT count(*) FROM topic_session WHERE topic_session.tag_id = topic_summary.tag_id) AS sessions
         FROM topic_summary WHERE tag_id = :tag",
        params! { ":tag": tag },
        |row| {
            let summary = Summary::from_row(row)?;
            Ok(TopicSummary { summary, is_stale: row.get("is_stale")?, sessions: row.get("sessions")? })
        },
    )
}

/// Stores the summary of a topic, made from the summaries of `sessions`. Does nothing if the tag was deleted since.
pub fn save_summary(tx: &Writer<'_>, tag: i64, summary: &Summary, sessions: &[SessionId]) -> Result<()> {
    tx.run("DELETE FROM topic_summary WHERE tag_id = :tag", params! { ":tag": tag })?;
    let kept = tx.changed(
        "INSERT INTO topic_summary (tag_id, bullets, tokens, method, model, built_at)
         SELECT id, :bullets, :tokens, :method, :model, :built_at FROM tag WHERE id = :tag",
        params! {
            ":tag": tag, ":bullets": summaries::facts(summary), ":tokens": summary.tokens,
            ":method": summary.method, ":model": summary.model, ":built_at": summary.built_at,
        },
    )?;
    if kept == 0 {
        return Ok(());
    }
    for id in sessions {
        tx.run(
            "INSERT OR IGNORE INTO topic_session (tag_id, session_id) VALUES (:tag, :session)",
            params! { ":tag": tag, ":session": id },
        )?;
    }
    Ok(())
}

/// Marks the summaries of all topics of a session as stale. Called after the session's summary or tags changed.
pub fn touch(tx: &Writer<'_>, session: SessionId) -> Result<()> {
    tx.run(
        "UPDATE topic_summary SET is_stale = 1 WHERE tag_id IN
         (SELECT tag_id FROM topic_session WHERE session_id = :id
          UNION SELECT coalesce(tag.same_as, tag.id) FROM session_tag JOIN tag ON tag.id = session_tag.tag_id
          WHERE session_id = :id)",
        params! { ":id": session },
    )
}

/// Deletes all topic summaries that were made from a session. Called when content of the session is forgotten.
pub fn forget(tx: &Writer<'_>, session: SessionId) -> Result<()> {
    tx.run(
        "DELETE FROM topic_summary WHERE tag_id IN (SELECT tag_id FROM topic_session WHERE session_id = :id)",
        params! { ":id": session },
    )
}

/// Deletes the summary of a topic, so that it is made again.
pub fn drop_summary(tx: &Writer<'_>, tag: i64) -> Result<()> {
    tx.run("DELETE FROM topic_summary WHERE tag_id = :tag", params! { ":tag": tag })
}

/// Makes the tag `from`, with its synonyms, a synonym of `into`. Replaces it where it is the active topic, and deletes
/// the topic summaries of both. Sessions keep their original tag, so a synonym is deleted with the last session that
/// has it.
pub fn merge(tx: &Writer<'_>, from: i64, into: i64) -> Result<()> {
    let params = params! { ":from": from, ":into": into };
    for sql in [
        "UPDATE tag SET same_as = :into WHERE id = :from OR same_as = :from",
        "DELETE FROM topic_summary WHERE tag_id IN (:from, :into)",
        "DELETE FROM active_topic
         WHERE tag_id = :from AND EXISTS (SELECT 1 FROM active_topic AS other
                                          WHERE other.chat_key = active_topic.chat_key
                                                AND other.forum_topic_id = active_topic.forum_topic_id AND other.tag_id = :into)",
        "UPDATE active_topic SET tag_id = :into WHERE tag_id = :from",
    ] {
        tx.run(sql, params)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tags::{self, NewTag};
    use crate::testkit::new_store;
    use crate::{Priority, chats, memory};
    use chime_core::testkit::{CHAT, CHAT_KEY};
    use chime_core::{Bullet, Chat, ChatKind, CloseReason, MessageId, Session, SummaryMethod};

    const NOW: Timestamp = Timestamp::from_secs(1_767_700_000);
    const HERE: Conversation = Conversation { chat: CHAT_KEY, forum_topic: None };

    fn summary(text: &str, source: u32) -> Summary {
        let bullets = vec![Bullet::fact(text, vec![Seq(source)])];
        Summary { bullets, tokens: 4, method: SummaryMethod::Extract, model: String::new(), built_at: NOW }
    }

    fn session(first: u32) -> Session {
        let at = |secs: u32| Timestamp::from_secs(1_767_600_000 + i64::from(first) * 7200 + i64::from(secs));
        Session {
            id: SessionId { chat: CHAT_KEY, first: Seq(first) },
            forum_topic: None,
            first: (at(0), MessageId(first.into())),
            last: (at(60), MessageId(first.into())),
            messages: 1,
            reason: CloseReason::Silence,
            closed_at: NOW,
            fingerprint: 7,
            is_folded: false,
        }
    }

    fn remember(tx: &Writer<'_>, first: u32, tag_names: &[&str]) -> Result<Session> {
        let session = session(first);
        sessions::save(tx, &session)?;
        assert!(summaries::save_mini(tx, &session, &summary("the tent", first))?);
        let new = |name: &&str| NewTag { name: (*name).to_owned(), key: (*name).to_owned(), confidence: 0.9 };
        tags::save(tx, session.id, &tag_names.iter().map(new).collect::<Vec<_>>())?;
        Ok(session)
    }

    fn id(conn: &Reader, name: &str) -> Result<i64> {
        Ok(tags::find(conn, CHAT_KEY, name)?.map_or(0, |tag| tag.id))
    }

    fn inventory(conn: &Reader) -> Result<String> {
        let tags = tags::inventory(conn, CHAT_KEY, 9)?;
        Ok(tags.iter().map(|tag| format!("{} {}", tag.name, tag.sessions)).collect::<Vec<_>>().join(", "))
    }

    async fn in_store(test: impl FnOnce(&Writer<'_>) -> Result<()> + Send + 'static) {
        let (_folder, store) = new_store().await;
        let run = move |tx: &Writer<'_>| {
            chats::upsert(tx, &Chat { id: CHAT, kind: ChatKind::Supergroup, title: None, username: None })?;
            test(tx)
        };
        store.write(Priority::Answering, run).await.unwrap();
    }

    #[tokio::test]
    async fn a_merged_tag_counts_as_the_other_in_what_is_stored_and_in_what_comes() {
        in_store(|tx| {
            remember(tx, 1, &["tent", "lake"])?;
            remember(tx, 2, &["shelter"])?;
            let (shelter, tent) = (id(tx, "shelter")?, id(tx, "tent")?);
            save_state(tx, HERE, &TopicState { active: vec![tent, shelter], ..TopicState::default() })?;
            merge(tx, shelter, tent)?;
            assert_eq!(inventory(tx)?, "tent 2, lake 1");
            assert_eq!((id(tx, "shelter")?, state(tx, HERE)?.unwrap().active), (tent, vec![tent]));
            remember(tx, 3, &["shelter", "tent"])?;
            assert_eq!(inventory(tx)?, "tent 3, lake 1");
            let of_third = tags::of_session(tx, SessionId { chat: CHAT_KEY, first: Seq(3) })?;
            assert_eq!(of_third.len(), 1, "{of_third:?}");
            assert_eq!(super::tags(tx, CHAT_KEY, 9, 9)?[0].forms, ["tent", "shelter"]);
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn a_form_goes_with_the_last_session_that_carries_it_and_another_takes_its_place() {
        in_store(|tx| {
            let first = remember(tx, 1, &["zqtent"])?;
            remember(tx, 2, &["shelter"])?;
            remember(tx, 3, &["hut"])?;
            let (main, shelter, hut) = (id(tx, "zqtent")?, id(tx, "shelter")?, id(tx, "hut")?);
            merge(tx, shelter, main)?;
            merge(tx, hut, main)?;
            save_state(tx, HERE, &TopicState { active: vec![main], ..TopicState::default() })?;
            memory::remove_session(tx, &first)?;
            assert_eq!((inventory(tx)?, id(tx, "zqtent")?), ("shelter 2".to_owned(), 0));
            assert_eq!((id(tx, "hut")?, state(tx, HERE)?.unwrap().active), (shelter, vec![shelter]));
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn a_summary_is_stale_when_a_session_is_touched_and_goes_when_one_is_forgotten_or_expires() {
        in_store(|tx| {
            let made = |tx: &Writer<'_>| -> Result<(Session, i64)> {
                let one = remember(tx, 1, &["tent"])?;
                remember(tx, 2, &["tent"])?;
                let tent = id(tx, "tent")?;
                save_summary(tx, tent, &summary("a red tent", 1), &[one.id])?;
                Ok((one, tent))
            };
            let (one, tent) = made(tx)?;
            assert!(!super::summary(tx, tent)?.unwrap().is_stale);
            touch(tx, SessionId { chat: CHAT_KEY, first: Seq(2) })?;
            assert!(super::summary(tx, tent)?.unwrap().is_stale, "a session with the tag changed");
            forget(tx, SessionId { chat: CHAT_KEY, first: Seq(2) })?;
            assert!(super::summary(tx, tent)?.is_some(), "it does not rest on that one");
            forget(tx, one.id)?;
            assert_eq!(super::summary(tx, tent)?, None);
            let (one, tent) = made(tx)?;
            memory::drop_expired(tx, CHAT_KEY, one.last.0.plus(std::time::Duration::from_secs(1)), 9)?;
            assert_eq!((super::summary(tx, tent)?, inventory(tx)?), (None, "tent 1".to_owned()));
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn turns_are_counted_in_chats_with_tags_and_a_session_takes_its_topic_along() {
        in_store(|tx| {
            assert!(!count_turns(tx, HERE, 9)?, "a chat without tags has no topics");
            assert_eq!(state(tx, HERE)?, None);
            remember(tx, 1, &["tent"])?;
            assert_eq!([count_turns(tx, HERE, 2)?, count_turns(tx, HERE, 1)?], [false, true]);
            let found =
                TopicState { opener: Some(Seq(5)), turns_left: 5, active: vec![id(tx, "tent")?], ..Default::default() };
            save_state(tx, HERE, &found)?;
            assert_eq!([count_turns(tx, HERE, 4)?, count_turns(tx, HERE, 1)?], [false, true]);
            end_session(tx, HERE, Seq(4))?;
            assert_eq!(state(tx, HERE)?, Some(TopicState { turns_left: 0, ..found.clone() }), "it is of another");
            end_session(tx, HERE, Seq(5))?;
            assert_eq!(state(tx, HERE)?, None);
            set_by_hand(tx, HERE, found.active[0])?;
            end_session(tx, HERE, Seq(5))?;
            assert!(state(tx, HERE)?.is_some(), "what a member set is for the session that comes");
            memory::forget_chat(tx, CHAT_KEY)?;
            assert_eq!(state(tx, HERE)?, None);
            Ok(())
        })
        .await;
    }
}
