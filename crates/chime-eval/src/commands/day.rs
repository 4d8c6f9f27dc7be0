//! `chime-eval day`: a day of a made-up group, with memory, recaps and commands, played through the daemon with a real
//! model. Prints the texts that members see, and the calls and tokens of each kind of work.

mod recorder;

use std::collections::BTreeMap;
use std::io::Write;

use chime_core::{ChatKey, Rolling, Timestamp};
use chime_memory::members;
use chime_store::{Reader, chats, summaries, tags};

use crate::answers;
use crate::arguments::{EvalDayOptions, EvalServer};
use crate::commands::answers::CaseRunner;
use crate::commands::create;
use crate::commands::day::recorder::{ModelExchange, Recorder};
use chime::telemetry;
use chime_core::config::LogFormat;

/// Settings of the run; the environment may set others.
const SETTINGS: [(&str, &str); 2] = [("RATE_LIMIT", "off"), ("SESSION_IDLE", "60m")];
/// Maximum number of session summaries that are printed.
const SESSIONS: u32 = 100;

pub async fn run(options: &EvalDayOptions) -> Result<(), Box<dyn std::error::Error>> {
    telemetry::start_quietly(LogFormat::Auto);
    let file = options.json.as_deref().map(create).transpose()?;
    let lines = answers::read_day(&options.day)?;
    let (recorder, url) = Recorder::start(&options.server.url).await?;
    let server = EvalServer { url, model: options.server.model.clone() };
    let mut runner = CaseRunner::set(&server, &SETTINGS).await?;
    // Fails if the reader closed the pipe, as `head` does, which is not an error.
    let show = |text: String| drop(writeln!(std::io::stdout(), "{text}"));
    let played = runner.play_day(&lines, &show).await;
    let store = runner.store();
    show(store.read(|conn| Ok(remembered(conn)?.join("\n"))).await?);
    runner.close().await?;
    let exchanges = recorder.exchanges();
    if let Some(file) = file {
        serde_json::to_writer_pretty(file, &exchanges)?;
    }
    show(table(&exchanges));
    Ok(played?)
}

/// Returns lines about all session summaries with their tags, and about Recent.
fn remembered(conn: &Reader) -> chime_store::Result<Vec<String>> {
    let mut described = Vec::new();
    for key in chats::all(conn)?.into_iter().map(|chat| chat.key) {
        let (first, last) = (Timestamp::from_secs(0), Timestamp::from_secs(i64::MAX / 1000));
        let mut minis = summaries::minis_between(conn, key, first, last, SESSIONS)?;
        minis.reverse();
        for (session, summary) in minis {
            let tags: Vec<String> = tags::of_session(conn, session.id)?.into_iter().map(|(name, _)| name).collect();
            described.push(format!("SESSION of {} messages, tags {}", session.messages, tags.join(", ")));
            described.extend(shown(conn, key, &summary)?);
        }
        if let Some(rolling) = summaries::rolling(conn, key, Rolling::Recent)? {
            described.push("RECENT".to_owned());
            described.extend(shown(conn, key, &rolling.summary)?);
        }
    }
    Ok(described)
}

fn shown(conn: &Reader, chat: ChatKey, summary: &chime_core::Summary) -> chime_store::Result<Vec<String>> {
    let names = summaries::member_names(conn, chat)?;
    let line = |bullet: &chime_core::Bullet| {
        let sources: Vec<String> = bullet.sources.iter().map(ToString::to_string).collect();
        let text = members::named(&bullet.text, &names);
        format!("  {} {}: {text} [{}]", summary.method.as_str(), bullet.kind.as_str(), sources.join(", "))
    };
    Ok(summary.bullets.iter().map(line).collect())
}

/// Formats the calls and tokens of each kind of work, and the number of calls that ended before the server sent counts.
fn table(exchanges: &[ModelExchange]) -> String {
    let mut kinds: BTreeMap<&str, [u64; 5]> = BTreeMap::new();
    for exchange in exchanges {
        let ModelExchange { prompt_tokens, cached_tokens, answer_tokens, .. } = exchange;
        let figures = [1, *prompt_tokens, *cached_tokens, *answer_tokens, u64::from(exchange.answer_tokens == 0)];
        for kind in [exchange.kind.as_str(), "~ all"] {
            kinds.entry(kind).or_default().iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        }
    }
    let head = format!("{:<44} calls   prompt   cached   answer  uncounted", "prompt");
    let line = |(kind, [calls, prompt, cached, answer, cancelled]): (&&str, &[u64; 5])| {
        format!("{kind:<44} {calls:>5} {prompt:>8} {cached:>8} {answer:>8} {cancelled:>10}")
    };
    std::iter::once(head).chain(kinds.iter().map(line)).collect::<Vec<_>>().join("\n")
}
