//! Simulates days of a busy group on a moved clock: each day has eight talks and a question. A scripted model writes
//! the summaries. After each day the invariants of memory are checked.

use std::collections::BTreeSet;
use std::time::Duration;

use chime_core::{ChatKey, Conversation, MessageId, Rolling, Session, Timestamp};
use chime_sandbox::Post;
use chime_store::{Reader, chats, sessions, summaries};
use chime_testkit::Reply;
use chime_world::World;
use serde_json::Value;

/// Long timeouts, since the clock runs ahead of the model.
pub const SETTINGS: [(&str, &str); 4] =
    [("MEMORY", "on"), ("SESSION_IDLE", "60m"), ("MODEL_TIMEOUT", "1h"), ("ANSWER_DEADLINE", "1h")];
const TALKS_A_DAY: u32 = 8;
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
/// Age from which ended sessions belong to History.
const RECENT: Duration = Duration::from_hours(28 * 24);

const PEOPLE: [&str; 9] = ["ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal", "ida"];
const SAID: [&str; 8] = [
    "we decided to take the red tent and 3 ropes to the lake on Friday",
    "I'll book a table for nine people at the thai restaurant near the bridge",
    "the old projector in the club room shows everything in green again",
    "ok",
    "can somebody please bring the blue cable from the cupboard tomorrow at 18:30?",
    "the landlord wants 410 for the deposit, who pays it?",
    "I'd rather meet at the harbour, the ferry leaves at 7:15",
    "haha",
];

/// Figures of all days.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lived {
    pub sessions: usize,
    pub folded: usize,
    /// Highest token count of each kind of summary.
    pub recent_tokens: usize,
    pub history_tokens: usize,
    pub mini_tokens: usize,
    pub model_calls: usize,
    pub tokens: u64,
}

/// Simulates `days` days and checks memory after each.
///
/// # Panics
/// Panics if an invariant does not hold.
pub async fn live(w: &mut World, days: u32, messages_a_day: u32) -> Lived {
    w.model.improvise(improvised);
    let mut lived = Lived::default();
    for day in 0..days {
        say_all_of(w, day, messages_a_day).await;
        let question = w.say("ann", "@bot what did we decide about the tent?");
        w.answer_to(question).await;
        // Long enough for the last talk of the day to end and be summarized.
        w.quiet(2 * HOUR).await;
        lived.look(w).await;
    }
    lived.model_calls = w.model.requests().len();
    let sql = "SELECT coalesce(sum(prompt_tokens + completion_tokens), 0) FROM token_usage";
    lived.tokens = w.read_store(move |conn| Ok(conn.query_row(sql, [], |row| row.get(0))?)).await;
    lived
}

/// Posts eight talks, hours apart, each at its own time.
async fn say_all_of(w: &World, day: u32, messages: u32) {
    let begin = w.clock.now();
    w.clock.advance(DAY - 4 * HOUR);
    for number in 0..messages {
        let each = messages / TALKS_A_DAY;
        let (talk, place) = (number / each, number % each);
        let at = begin.plus(HOUR * 5 / 2 * talk + Duration::from_secs(u64::from(place) * 70));
        let at = at.min(w.clock.now());
        let from = w.member(PEOPLE[(number * 7 + day) as usize % PEOPLE.len()]);
        let said = SAID[(number * 5 + number / 8 + day) as usize % SAID.len()];
        w.telegram.say(w.chat, Post::new(from, format!("{said} ({day}, {talk})"), at));
    }
    w.telegram.all_confirmed().await;
}

impl Lived {
    async fn look(&mut self, w: &World) {
        let (chat, now, before) = (w.chat, w.clock.now(), self.sessions);
        let Lived { sessions, folded, recent_tokens, history_tokens, mini_tokens, .. } =
            w.read_store(move |conn| looked(conn, chat, now, before)).await;
        assert!(sessions > self.sessions, "no session was closed");
        assert!(folded >= self.folded, "what is in History stays there");
        (self.sessions, self.folded) = (sessions, folded);
        self.recent_tokens = self.recent_tokens.max(recent_tokens);
        self.history_tokens = self.history_tokens.max(history_tokens);
        self.mini_tokens = self.mini_tokens.max(mini_tokens);
    }
}

/// Checks all sessions and returns their figures. `before` is the number of sessions whose summaries were checked
/// earlier and have not changed.
fn looked(conn: &Reader, chat: chime_core::ChatId, now: Timestamp, before: usize) -> chime_store::Result<Lived> {
    let key = chats::find(conn, chat)?.map_or(ChatKey(0), |row| row.key);
    let from = (Timestamp::default(), MessageId(i64::MIN));
    let all: Vec<Session> = sessions::begun_from(conn, Conversation { chat: key, forum_topic: None }, from, 100_000)?;
    let mut lived = Lived { sessions: all.len(), ..Lived::default() };
    let mut seen = BTreeSet::new();
    for (place, session) in all.iter().enumerate() {
        assert!(seen.insert(session.first), "two sessions begin with {:?}", session.first);
        assert!(!session.is_folded || session.last.0 < now.minus(RECENT), "{session:?} was folded too early");
        lived.folded += usize::from(session.is_folded);
        // Upkeep comes by the hour.
        let should_be_folded = !session.is_folded && session.last.0 < now.minus(RECENT + HOUR);
        if place < before && !should_be_folded {
            continue;
        }
        if let Some(summary) = summaries::mini(conn, session.id)? {
            assert!(!should_be_folded, "{session:?} is not folded at {now:?}");
            assert!(summary.tokens <= 300 && summary.bullets.len() <= 15, "{summary:?}");
            lived.mini_tokens = lived.mini_tokens.max(summary.tokens);
        }
    }
    let stale = sessions::stale(conn, key, 1)?;
    assert!(stale.is_empty(), "{stale:?} has no summary");
    for (kind, tokens, cap, bullets) in
        [(Rolling::Recent, &mut lived.recent_tokens, 800, 10), (Rolling::History, &mut lived.history_tokens, 1200, 14)]
    {
        let Some(rolled) = summaries::rolling(conn, key, kind)? else { continue };
        assert!(rolled.summary.tokens <= cap && rolled.summary.bullets.len() <= bullets, "{kind:?}: {rolled:?}");
        *tokens = rolled.summary.tokens;
        if kind == Rolling::History {
            assert_eq!(rolled.sessions as usize, lived.folded, "each session is in History once");
        }
    }
    Ok(lived)
}

/// Returns a plausible model reply: bullets of the lines in the prompt, tags, or an answer.
pub fn improvised(request: &Value) -> Reply {
    match request["response_format"]["json_schema"]["name"].as_str() {
        Some("tags") => {
            return Reply::text(
                r#"{"tags":[{"tag":"tent","conf":0.9},{"tag":"lake","conf":0.8},{"tag":"deposit","conf":0.7}]}"#,
            );
        }
        Some("topics") => return Reply::text(r#"{"topics":[]}"#),
        Some("concepts") => return Reply::text(r#"{"concepts":[]}"#),
        Some(_) | None => {}
    }
    let all = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_summary = all.first().is_some_and(|first| !first["content"].to_string().contains("@bot"));
    let shown = all.last().and_then(|last| last["content"].as_str()).unwrap_or_default();
    let bullets: Vec<String> = shown
        .lines()
        .filter_map(|line| {
            let (head, text) = line.trim().strip_prefix("[m")?.split_once("] ")?;
            let number: u32 = head.split(' ').next()?.parse().ok()?;
            (text.len() > 30).then(|| format!("- {text} [m{number}]"))
        })
        .collect();
    // Picks lines evenly over the prompt; sometimes the reply is too long, as from a real model.
    let step = (bullets.len() / 12).max(1);
    let bullets: Vec<String> = bullets.into_iter().step_by(step).take(14).collect();
    Reply::text(if is_summary && !bullets.is_empty() { bullets.join("\n") } else { "The red one.".to_owned() })
}
