//! Deletion of memory (sessions, summaries, tags and topics) when messages are forgotten or expire, members opt out, or
//! settings change. Data derived from a text is deleted in the same transaction as the text; the scheduler rebuilds it
//! from the remaining messages.

use super::chat_settings::NewValue;
use super::family::{Cause, Family, OptOutScope};
use super::sessions;
use super::sql::{Statements, params};
use super::{Reader, Result, Writer, chat_settings, concepts, item_marks, summaries, tags, thread_summaries, topics};
use chime_core::chat_settings::{MEMORY, SettingValue};
use chime_core::{ChatKey, Conversation, Rolling, Session, SessionId, StoredMessage, Timestamp, UserId};

pub(super) const FAMILY: Family = Family {
    tables: &[
        "session",
        "session_note",
        "session_cut",
        "mini_summary",
        "summary_member",
        "summary_vector",
        "tag",
        "conversation_topic",
        "active_topic",
        "topic_summary",
        "topic_session",
        "session_tag",
        "rolling_summary",
        "thread_summary",
        "thread_source",
    ],
    words_gone: |tx, stored, cause| match cause {
        Cause::Forgotten => forget_message(tx, stored),
        // Deletes only summaries of threads: other data is deleted when all messages of its session have expired.
        Cause::Expired => thread_summaries::forget(tx, stored.chat, stored.seq),
        Cause::Edited => {
            sessions::note(tx, stored.conversation(), stored.message.sent_at)?;
            thread_summaries::forget(tx, stored.chat, stored.seq)
        }
    },
    opted_out: forget_member,
    chat_gone: |tx, chat, _| forget_chat(tx, chat),
    // The messages are divided into sessions in the remaining chat.
    merged: |tx, chats| forget_chat(tx, chats.from),
    ..Family::UNTOUCHED
};

/// Returns `true` if the chat switched memory off.
pub fn is_off(conn: &Reader, chat: ChatKey) -> Result<bool> {
    Ok(chat_settings::get(conn, Conversation::whole(chat), MEMORY)? == Some(false))
}

/// Properties of a chat that decide if memory is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChatMemoryState {
    /// `true` if the chat switched memory off.
    pub is_off: bool,
    pub is_present: bool,
    /// Time at which the chat was notified that summaries are made in the background.
    pub told_at: Option<Timestamp>,
    /// Time of the last answer.
    pub asked_at: Option<Timestamp>,
}

pub fn memory_state(conn: &Reader, chat: ChatKey) -> Result<ChatMemoryState> {
    let is_off = is_off(conn, chat)?;
    let found = conn.map_first(
        "SELECT is_member, memory_told_at,
                (SELECT created_at FROM answer WHERE answer.chat_key = chat.chat_key
                 ORDER BY trigger_seq DESC LIMIT 1) AS asked_at
         FROM chat WHERE chat_key = :chat",
        params! { ":chat": chat },
        |raw| {
            Ok(ChatMemoryState {
                is_off,
                is_present: raw.get("is_member")?,
                told_at: raw.get("memory_told_at")?,
                asked_at: raw.get("asked_at")?,
            })
        },
    )?;
    Ok(found.unwrap_or_default())
}

/// Switches memory on or off in a chat. After it is switched on, the scheduler builds memory from the stored messages.
pub fn set(tx: &Writer<'_>, chat: ChatKey, is_on: bool) -> Result<()> {
    let value = NewValue { value: is_on.as_setting(), written: None };
    chat_settings::set(tx, Conversation::whole(chat), MEMORY.key, Some(&value))?;
    follow_settings(tx, chat)
}

/// Adapts the memory of a chat to its settings: deletes it if it was switched off, and checks the end of open sessions
/// again. Closed sessions do not change.
pub fn follow_settings(tx: &Writer<'_>, chat: ChatKey) -> Result<()> {
    if is_off(tx, chat)? {
        empty_chat(tx, chat)?;
        concepts::forget_chat(tx, chat)?;
    }
    tx.run("UPDATE session_note SET check_at = 0 WHERE chat_key = :chat", params! { ":chat": chat })
}

/// Deletes memory derived from a message, and schedules its conversation for division into sessions again. Called
/// before the text of the message is deleted.
pub fn forget_message(tx: &Writer<'_>, stored: &StoredMessage) -> Result<()> {
    let message = &stored.message;
    let conversation = stored.conversation();
    sessions::note(tx, conversation, message.sent_at)?;
    thread_summaries::forget(tx, stored.chat, stored.seq)?;
    tags::drop_unsaid(tx, stored.chat, Some(stored))?;
    for id in item_marks::closed_in(tx, stored.chat, stored.seq)? {
        if let Some(session) = sessions::find(tx, id)? {
            sessions::note(tx, Conversation { chat: id.chat, forum_topic: session.forum_topic }, session.first.0)?;
            empty(tx, &session)?;
        }
    }
    match sessions::of_message(tx, conversation, (message.sent_at, message.id))? {
        Some(session) => empty(tx, &session),
        None => Ok(()),
    }
}

/// Deletes memory derived from a member's messages. Called when the member opts out, and also when the member opts in
/// again: memory is then rebuilt with these messages.
pub fn forget_member(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    let params = params! { ":user": user, ":chat": scope.chat() };
    let keys = tx.all(
        "SELECT session.id FROM session
         WHERE (:chat IS NULL OR chat_key = :chat)
               AND EXISTS (SELECT 1 FROM message
                           WHERE message.chat_key = session.chat_key AND message.forum_topic_id IS session.forum_topic_id
                                 AND ts BETWEEN started_at AND ended_at
                                 AND (user_id = :user OR (origin_user_id = :user AND forward_origin IS NOT NULL)))
         UNION SELECT session_id FROM item_mark JOIN message USING (chat_key, seq)
         WHERE session_id IS NOT NULL AND :user IN (user_id, origin_user_id) AND (:chat IS NULL OR chat_key = :chat)",
        params,
    )?;
    for key in keys {
        let Some(session) = sessions::find(tx, key)? else { continue };
        let conversation = Conversation { chat: session.id.chat, forum_topic: session.forum_topic };
        sessions::note(tx, conversation, session.first.0)?;
        empty(tx, &session)?;
    }
    let chats: Vec<ChatKey> =
        tx.all("SELECT chat_key FROM member WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat)", params)?;
    for chat in chats {
        tags::drop_unsaid(tx, chat, None)?;
    }
    tx.run(
        "DELETE FROM thread_summary WHERE id IN
         (SELECT summary_id FROM thread_source JOIN message USING (chat_key, seq)
          WHERE :user IN (user_id, origin_user_id) AND (:chat IS NULL OR chat_key = :chat))",
        params,
    )
}

/// Removes the link between a forgotten member and the number that replaces their name in summaries, in one chat or,
/// for `None`, in all.
pub fn forget_number(tx: &Writer<'_>, chat: Option<ChatKey>, user: UserId) -> Result<()> {
    tx.run(
        "UPDATE summary_member SET user_id = NULL WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat)",
        params! { ":user": user, ":chat": chat },
    )
}

/// Deletes the summary, tags and topics of a session, and the rolling summaries that include it. The session stays and
/// is summarised again.
fn empty(tx: &Writer<'_>, session: &Session) -> Result<()> {
    topics::forget(tx, session.id)?;
    for sql in [
        "DELETE FROM mini_summary WHERE session_id = :id",
        "DELETE FROM session_tag WHERE session_id = :id",
        "DELETE FROM item_mark WHERE session_id = :id",
        "UPDATE session SET summarized = NULL WHERE id = :id",
    ] {
        tx.run(sql, params! { ":id": session.id })?;
    }
    tags::drop_unused(tx, session.id.chat)?;
    drop_rolled(tx, session)
}

/// Deletes a session that no longer exists, because its messages were deleted or now belong to another session.
pub fn remove_session(tx: &Writer<'_>, session: &Session) -> Result<()> {
    // A session without a summary is not part of Recent. In a slow chat the next message often continues one.
    let has_summary = summaries::mini(tx, session.id)?.is_some();
    topics::forget(tx, session.id)?;
    sessions::remove(tx, session.id)?;
    tags::drop_unused(tx, session.id.chat)?;
    if has_summary || session.is_folded { drop_rolled(tx, session) } else { Ok(()) }
}

fn drop_rolled(tx: &Writer<'_>, session: &Session) -> Result<()> {
    if session.is_folded {
        summaries::reset_history(tx, session.id.chat)?;
    }
    summaries::drop_rolling(tx, session.id.chat, Rolling::Recent)
}

/// Returns the oldest sessions that ended before `cutoff`, at most `limit`. All their messages have expired.
pub fn expired(conn: &Reader, chat: ChatKey, cutoff: Timestamp, limit: u32) -> Result<Vec<SessionId>> {
    conn.all(
        "SELECT id FROM session WHERE chat_key = :chat AND ended_at < :cutoff ORDER BY ended_at LIMIT :limit",
        params! { ":chat": chat, ":cutoff": cutoff.secs(), ":limit": limit },
    )
}

/// Deletes the sessions that [`expired`] returns, with their memory. Returns their number.
pub fn drop_expired(tx: &Writer<'_>, chat: ChatKey, cutoff: Timestamp, limit: u32) -> Result<usize> {
    let gone = expired(tx, chat, cutoff, limit)?;
    let mut was_folded = false;
    for id in &gone {
        was_folded |= sessions::find(tx, *id)?.is_some_and(|session| session.is_folded);
        topics::forget(tx, *id)?;
        sessions::remove(tx, *id)?;
    }
    if !gone.is_empty() {
        tags::drop_unused(tx, chat)?;
    }
    // Reset only once for all deleted sessions, because History is rebuilt after each reset.
    if was_folded {
        summaries::reset_history(tx, chat)?;
    }
    if summaries::rests_on_what_is_gone(tx, chat, Rolling::Recent)? {
        summaries::drop_rolling(tx, chat, Rolling::Recent)?;
    }
    Ok(gone.len())
}

/// Deletes all memory of a chat but keeps its sessions.
fn empty_chat(tx: &Writer<'_>, chat: ChatKey) -> Result<()> {
    for sql in [
        "DELETE FROM mini_summary WHERE session_id BETWEEN :chat << 32 AND (:chat << 32) | 4294967295",
        "DELETE FROM conversation_topic WHERE chat_key = :chat",
        "DELETE FROM tag WHERE chat_key = :chat",
        "DELETE FROM rolling_summary WHERE chat_key = :chat",
        "DELETE FROM thread_summary WHERE chat_key = :chat",
        "UPDATE session SET summarized = NULL, history_included_at = NULL WHERE chat_key = :chat",
    ] {
        tx.run(sql, params! { ":chat": chat })?;
    }
    Ok(())
}

/// Deletes all memory of a chat, including its sessions. Messages that remain, such as later ones, are divided into
/// sessions again.
pub fn forget_chat(tx: &Writer<'_>, chat: ChatKey) -> Result<()> {
    empty_chat(tx, chat)?;
    for sql in [
        "DELETE FROM session WHERE chat_key = :chat",
        "DELETE FROM session_note WHERE chat_key = :chat",
        "DELETE FROM session_cut WHERE chat_key = :chat",
        "DELETE FROM summary_member WHERE chat_key = :chat",
        "INSERT OR IGNORE INTO session_note (chat_key, forum_topic_id, ts, check_at)
         SELECT chat_key, coalesce(forum_topic_id, 0), min(ts), 0 FROM message WHERE chat_key = :chat
         GROUP BY coalesce(forum_topic_id, 0)",
    ] {
        tx.run(sql, params! { ":chat": chat })?;
    }
    Ok(())
}

/// Returns the chats that have sessions without a current summary, the chat with the newest such session first.
pub fn chats_to_summarize(conn: &Reader) -> Result<Vec<ChatKey>> {
    conn.all(
        "SELECT chat_key, max(ended_at) AS newest FROM session WHERE summarized IS NOT fingerprint
         GROUP BY chat_key ORDER BY newest DESC",
        &[],
    )
}

/// Returns the chats with summaries that were made without a model, except summaries that `model` has already tried and
/// failed to write.
pub fn chats_with_extracts(conn: &Reader, model: &str) -> Result<Vec<ChatKey>> {
    conn.all(
        "SELECT DISTINCT session_id >> 32 AS chat_key FROM mini_summary WHERE method = 'extract' AND model <> :model",
        params! { ":model": model },
    )
}

/// Returns the sessions of a chat, those to summarize first, with a summary that was made without a model and that
/// `model` has not yet tried and failed to write. At most `limit`.
pub fn extracts_of(conn: &Reader, chat: ChatKey, model: &str, limit: u32) -> Result<Vec<Session>> {
    let keys = conn.all(
        &format!(
            "SELECT session_id FROM mini_summary JOIN session ON session.id = session_id
             WHERE chat_key = :chat AND method = 'extract' AND mini_summary.model <> :model
             ORDER BY {} LIMIT :limit",
            sessions::SUMMARY_ORDER
        ),
        params! { ":chat": chat, ":model": model, ":limit": limit },
    )?;
    keys.into_iter().filter_map(|id| sessions::find(conn, id).transpose()).collect()
}

/// Returns the chats with a summarised session that ended before `until` and is not yet part of History.
pub fn chats_to_fold(conn: &Reader, until: Timestamp) -> Result<Vec<ChatKey>> {
    conn.all(
        "SELECT chat_key FROM chat
         WHERE EXISTS (SELECT 1 FROM session JOIN mini_summary ON session_id = session.id
                       WHERE session.chat_key = chat.chat_key AND ended_at < :until AND history_included_at IS NULL
                             AND summarized = fingerprint)",
        params! { ":until": until.secs() },
    )
}

/// Returns the chats that have no Recent summary although a summarised session ended at or after `from`.
pub fn chats_without_recent(conn: &Reader, from: Timestamp) -> Result<Vec<ChatKey>> {
    conn.all(
        "SELECT chat_key FROM chat
         WHERE EXISTS (SELECT 1 FROM session JOIN mini_summary ON session_id = session.id
                       WHERE session.chat_key = chat.chat_key AND ended_at >= :from AND mini_summary.bullets <> '[]')
               AND NOT EXISTS (SELECT 1 FROM rolling_summary
                               WHERE rolling_summary.chat_key = chat.chat_key AND kind = 'recent')",
        params! { ":from": from.secs() },
    )
}

/// Returns the texts of a chat's newest session summaries. They are used to find rare words.
pub fn newest_texts(conn: &Reader, chat: ChatKey, limit: u32) -> Result<Vec<String>> {
    conn.all(
        "SELECT (SELECT group_concat(value ->> 'text', char(10)) FROM json_each(bullets)) AS text FROM mini_summary
         WHERE session_id BETWEEN :chat << 32 AND (:chat << 32) | 4294967295 AND bullets <> '[]'
         ORDER BY session_id DESC LIMIT :limit",
        params! { ":chat": chat, ":limit": limit },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summaries::RollingSummary;
    use crate::tags::NewTag;
    use crate::testkit::new_store;
    use crate::{Priority, chats, messages, summary_vectors};
    use chime_core::testkit::{CHAT, CHAT_KEY, DAY_ONE, transcript};
    use chime_core::{Bullet, Chat, ChatKind, CloseReason, Message, MessageId, Seq, Summary, SummaryMethod};

    const NOW: Timestamp = Timestamp::from_secs(1_767_700_000);

    fn session(first: u32, last: u32, times: (&str, &str)) -> Session {
        let at = |time| chime_core::testkit::moment(time);
        Session {
            id: SessionId { chat: CHAT_KEY, first: Seq(first) },
            forum_topic: None,
            first: (at(times.0), MessageId(first.into())),
            last: (at(times.1), MessageId(last.into())),
            messages: last - first + 1,
            reason: CloseReason::Silence,
            closed_at: NOW,
            fingerprint: 7,
            is_folded: false,
        }
    }

    fn summary(text: &str, source: u32) -> Summary {
        let bullets = vec![Bullet::fact(text, vec![Seq(source)])];
        Summary { bullets, tokens: 4, method: SummaryMethod::Extract, model: String::new(), built_at: NOW }
    }

    /// Creates two sessions with all kinds of memory; the first is in History.
    fn remember(tx: &Writer<'_>) -> Result<[Session; 2]> {
        let chat = Chat { id: CHAT, kind: ChatKind::Supergroup, title: None, username: None };
        let row = chats::upsert(tx, &chat)?;
        let said: Vec<Message> = transcript(
            "
            10:00 ann#1 the door code is 4711
            10:01 ben#2 thanks
            14:00 cat#3 the grill goes to the lake
            ",
        )
        .into_iter()
        .map(|stored| stored.message)
        .collect();
        for message in &said {
            messages::take_in(tx, &row, message)?;
        }
        let both = [session(1, 2, ("10:00", "10:01")), session(3, 3, ("14:00", "14:00"))];
        for (session, text) in both.iter().zip(["a door code", "a grill"]) {
            sessions::save(tx, session)?;
            assert!(summaries::save_mini(tx, session, &summary(text, session.id.first.0))?);
            let tag = NewTag { name: text.replace(' ', "-"), key: text.to_owned(), confidence: 0.9 };
            tags::save(tx, session.id, &[tag])?;
            assert!(summary_vectors::save(tx, session.id, NOW, "small", &[0.6, 0.8])?);
        }
        let rolled = RollingSummary { summary: summary("a door code", 1), sessions: 1 };
        assert!(summaries::fold(tx, CHAT_KEY, &both[..1], None, &rolled)?);
        summaries::save_rolling(tx, CHAT_KEY, Rolling::Recent, &rolled)?;
        Ok(both)
    }

    async fn in_store(work: impl FnOnce(&Writer<'_>) -> Result<()> + Send + 'static) {
        let (_folder, store) = new_store().await;
        store.write(Priority::Background, work).await.unwrap();
    }

    fn is_there(conn: &Reader, session: &Session) -> Result<[bool; 3]> {
        let vectors = summary_vectors::of_chat(conn, CHAT_KEY, "small")?;
        Ok([
            summaries::mini(conn, session.id)?.is_some(),
            !tags::of_session(conn, session.id)?.is_empty(),
            vectors.iter().any(|(id, _)| *id == session.id),
        ])
    }

    #[tokio::test]
    async fn what_rests_on_a_forgotten_message_is_emptied_and_the_rest_stays() {
        in_store(|tx| {
            let [first, second] = remember(tx)?;
            let forgotten = messages::find(tx, CHAT, MessageId(2))?.unwrap();
            forget_message(tx, &forgotten)?;
            assert_eq!((is_there(tx, &first)?, is_there(tx, &second)?), ([false; 3], [true; 3]));
            assert_eq!(tags::inventory(tx, CHAT_KEY, 9)?.len(), 1, "a tag that nobody carries is a word that is kept");
            assert_eq!(summaries::rolling(tx, CHAT_KEY, Rolling::History)?, None);
            assert_eq!(summaries::rolling(tx, CHAT_KEY, Rolling::Recent)?, None);
            assert_eq!(sessions::stale(tx, CHAT_KEY, 9)?.len(), 1);
            assert_eq!(sessions::noted(tx, NOW, 9)?, [Conversation { chat: CHAT_KEY, forum_topic: None }]);
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn sessions_of_the_last_sixty_days_are_summarized_oldest_first() {
        in_store(|tx| {
            let [first, second] = remember(tx)?;
            let ago = |number: u32, days: u64| {
                let at = first.first.0.minus(std::time::Duration::from_secs(days * 24 * 3600));
                let id = SessionId { chat: CHAT_KEY, first: Seq(number) };
                Session { id, first: (at, first.first.1), last: (at, first.last.1), ..first.clone() }
            };
            for session in [ago(10, 70), ago(11, 90), ago(12, 50)] {
                sessions::save(tx, &session)?;
            }
            let order = |sessions: Vec<Session>| sessions.iter().map(|it| it.id.first.0).collect::<Vec<_>>();
            assert_eq!(order(sessions::stale(tx, CHAT_KEY, 9)?), [12, 10, 11]);
            let changed = Session { fingerprint: 8, ..second };
            sessions::save(tx, &changed)?;
            assert_eq!(order(sessions::stale(tx, CHAT_KEY, 9)?), [12, 3, 10, 11]);
            assert_eq!(order(extracts_of(tx, CHAT_KEY, "another", 9)?), [1, 3]);
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn a_tag_of_words_that_are_forgotten_goes_from_every_session() {
        in_store(|tx| {
            let [first, second] = remember(tx)?;
            let tag = |name: &str| NewTag { name: name.to_owned(), key: name.to_owned(), confidence: 0.9 };
            tags::save(tx, first.id, &[tag("door-codes"), tag("lake")])?;
            tags::save(tx, second.id, &[tag("door-codes"), tag("lake"), tag("travel")])?;
            let forgotten = messages::find(tx, CHAT, MessageId(1))?.unwrap();
            forget_message(tx, &forgotten)?;
            let left = |conn: &Reader| -> Result<Vec<String>> {
                Ok(tags::of_session(conn, second.id)?.into_iter().map(|(name, _)| name).collect())
            };
            assert_eq!(left(tx)?, ["lake", "travel"]);

            let row = chats::find(tx, CHAT)?.unwrap();
            let cat = chime_core::Sender::person(chime_core::testkit::user("cat"), "cat");
            chats::upsert_member(tx, row.key, &cat)?;
            crate::consent::opt_out(tx, OptOutScope::EveryChat, &cat, NOW)?;
            tags::save(tx, first.id, &[tag("lake"), tag("travel")])?;
            tags::drop_unsaid(tx, CHAT_KEY, None)?;
            let names: Vec<String> = tags::of_session(tx, first.id)?.into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, ["travel"]);
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn a_summary_without_bullets_has_no_text() {
        in_store(|tx| {
            let [first, _] = remember(tx)?;
            assert!(summaries::save_mini(tx, &first, &Summary { bullets: Vec::new(), ..summary("", 1) })?);
            assert_eq!(newest_texts(tx, CHAT_KEY, 9)?, ["a grill"]);
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn bullets_are_json_and_one_of_an_unknown_kind_is_a_fact() {
        in_store(|tx| {
            let [first, _] = remember(tx)?;
            assert!(tx.run("UPDATE mini_summary SET bullets = '['", &[]).is_err());
            tx.run(r#"UPDATE mini_summary SET bullets = '[{"kind":"rumour","text":"a grill","sources":[1]}]'"#, &[])?;
            let found = summaries::mini(tx, first.id)?.expect("a summary");
            assert_eq!(found.bullets, [Bullet::fact("a grill", vec![Seq(1)])]);
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn an_opt_out_empties_the_sessions_of_the_member() {
        in_store(|tx| {
            let [first, second] = remember(tx)?;
            forget_member(tx, OptOutScope::EveryChat, chime_core::testkit::user("cat"))?;
            assert_eq!((is_there(tx, &first)?, is_there(tx, &second)?), ([true; 3], [false; 3]));
            assert!(summaries::rolling(tx, CHAT_KEY, Rolling::History)?.is_some(), "it rests on the other session");
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn a_session_goes_when_all_of_it_was_kept_long_enough() {
        in_store(|tx| {
            let [first, second] = remember(tx)?;
            assert_eq!(
                drop_expired(tx, CHAT_KEY, chime_core::testkit::moment("10:01"), 9)?,
                0,
                "one message is still kept"
            );
            assert_eq!(drop_expired(tx, CHAT_KEY, chime_core::testkit::moment("12:00"), 9)?, 1);
            assert_eq!((sessions::find(tx, first.id)?, is_there(tx, &second)?), (None, [true; 3]));
            assert_eq!(summaries::rolling(tx, CHAT_KEY, Rolling::History)?, None);
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn a_session_is_folded_once() {
        in_store(|tx| {
            let [first, second] = remember(tx)?;
            let before = summaries::rolling(tx, CHAT_KEY, Rolling::History)?;
            let after = RollingSummary { summary: summary("a door code and a grill", 3), sessions: 2 };
            assert!(!summaries::fold(tx, CHAT_KEY, &[first], before.as_ref(), &after)?, "it is folded");
            let changed = Session { fingerprint: 8, ..second.clone() };
            assert!(!summaries::fold(tx, CHAT_KEY, &[changed], before.as_ref(), &after)?, "it was read before an edit");
            assert!(
                !summaries::fold(tx, CHAT_KEY, std::slice::from_ref(&second), None, &after)?,
                "History went on meanwhile"
            );
            assert!(summaries::fold(tx, CHAT_KEY, &[second], before.as_ref(), &after)?);
            assert_eq!(summaries::rolling(tx, CHAT_KEY, Rolling::History)?, Some(after));
            assert!(summaries::to_fold(tx, CHAT_KEY, NOW, 9)?.is_empty());
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn a_chat_that_wants_no_memory_keeps_none() {
        in_store(|tx| {
            let [first, second] = remember(tx)?;
            set(tx, CHAT_KEY, false)?;
            assert_eq!((is_there(tx, &first)?, is_there(tx, &second)?), ([false; 3], [false; 3]));
            assert!(is_off(tx, CHAT_KEY)?);
            assert_eq!(chats_to_summarize(tx)?, [CHAT_KEY], "it can be made again");
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn a_vector_is_of_the_summary_that_it_was_made_of() {
        in_store(|tx| {
            let [first, _] = remember(tx)?;
            assert!(!summary_vectors::save(tx, first.id, DAY_ONE, "small", &[1.0, 0.0])?, "of an older summary");
            assert!(!summary_vectors::save(tx, first.id, NOW, "small", &[0.0, 0.0])?, "pointing nowhere");
            assert!(!summary_vectors::save(tx, first.id, NOW, "small", &[f32::NAN, 1.0])?, "no number");
            assert_eq!(summary_vectors::missing(tx, "another", 9)?, [], "the vectors of the former model go first");
            Ok(())
        })
        .await;
    }
}
