//! Turns the results of checks into findings for the operator. Pure.

mod answers;
mod places;

use std::path::Path;
use std::time::Duration;

use crate::checkup::CheckFinding;
use chime_core::config::{AccessConfig, AllowedChats, Problem, Warning, format_duration, rounded_size};
use chime_core::embed::{EmbedError, Embedder};
use chime_core::{BotIdentity, Chat, span_in_words};
use chime_links::UnreadablePage;
use chime_llm::{Check, LlmError};
use chime_store::admission::Admitted;
use chime_store::disk::LEAST_FREE;
use chime_store::embedding_spaces::VectorCoverage;
use chime_store::jobs::ParkedJob;
use chime_store::{Inspection, StoreError};
use chime_telegram::{MemberStatus, TelegramError};

pub use answers::{Sampled, answers, unanswered};
pub use places::{Obstacle, PortState, backups, no_backups, obstacle, port_state, prompts};

/// Free disk space below which the next backup, migration or busy day may fill the disk.
const LITTLE_SPACE: u64 = 512 << 20;
/// Difference from Telegram's clock above which the ages of messages are visibly wrong.
const SKEW_SEEN: Duration = Duration::from_secs(10);
/// Difference from Telegram's clock above which certificates may look invalid.
const SKEW_HARMFUL: Duration = Duration::from_secs(300);
/// Maximum number of parked jobs that a finding lists one by one.
const JOBS_NAMED: usize = 3;

pub fn problem(problem: &Problem) -> CheckFinding {
    let found = problem.read.as_ref().map_or_else(|| "is not set".to_owned(), |read| format!("is {read}"));
    let hint = problem.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    let remedy = format!("set {}, for example {}", problem.allowed, problem.example);
    CheckFinding::fail("config", format!("{} {found}{hint}", problem.name), remedy)
}

pub fn warning(warning: &Warning) -> CheckFinding {
    CheckFinding::warn("config", format!("{} {}", warning.name, warning.what), warning.remedy.as_str())
}

/// Checks that somebody may use the bot. `admitted` counts the owners and chats that were admitted by commands in
/// Telegram alone; the others are in the configuration.
pub fn access(config: &AccessConfig, admitted: Admitted) -> CheckFinding {
    let owners = config.owners.len() as u64 + admitted.owners;
    let (is_closed, chats) = match &config.chats {
        AllowedChats::All => (false, "every chat".to_owned()),
        AllowedChats::Only(listed) => {
            let chats = listed.len() as u64 + admitted.chats;
            (chats == 0, chats.to_string())
        }
    };
    if is_closed && owners == 0 {
        return CheckFinding::warn(
            "access",
            "there is no owner and no allowed chat, so nobody can use the bot",
            "start `chime run` and send the bot the /claim line that it shows, or set OWNER_IDS to your Telegram id, or \
             ALLOWED_CHATS to the ids of your groups",
        );
    }
    CheckFinding::ok("access", format!("owners: {owners}, allowed chats: {chats}"))
}

pub fn database(path: &Path, inspected: &Result<Inspection, StoreError>) -> CheckFinding {
    const NAME: &str = "database";
    let place = path.display();
    match inspected {
        Ok(Inspection { damage: Some(damage), .. }) => CheckFinding::fail(
            NAME,
            format!("{place} is damaged: {damage}"),
            "stop chime, move the file and its -wal away, then chime restore your newest backup",
        ),
        Ok(Inspection { is_writable: false, .. }) => CheckFinding::fail(
            NAME,
            format!("{place} cannot be written"),
            "give the user that runs chime the right to write the file and its folder",
        ),
        Ok(Inspection { version, known, .. }) if version < known => CheckFinding::warn(
            NAME,
            format!("{place} is of version {version}, this chime writes version {known}"),
            "start chime run: it makes a copy and migrates",
        ),
        Ok(Inspection { version, bytes, .. }) => {
            CheckFinding::ok(NAME, format!("{place} is sound, version {version}, {}", rounded_size(*bytes)))
        }
        Err(StoreError::Absent { .. }) => {
            CheckFinding::warn(NAME, format!("there is none at {place} yet"), "start chime run, or set DATABASE_PATH")
        }
        Err(StoreError::Missing { marker, .. }) => CheckFinding::fail(
            NAME,
            format!("{place} was here and is gone"),
            format!("chime restore a backup; or delete {} to start with an empty one", marker.display()),
        ),
        Err(StoreError::Emptied { marker, .. }) => CheckFinding::fail(
            NAME,
            format!("{place} was here and is empty now"),
            format!(
                "move it away, then chime restore a backup; or delete it and {} to start with an empty one",
                marker.display()
            ),
        ),
        Err(StoreError::Newer { found, known, .. }) => CheckFinding::fail(
            NAME,
            format!("{place} is of version {found}, this chime knows versions up to {known}"),
            "install the newer chime again",
        ),
        Err(StoreError::Full(_)) => CheckFinding::fail(
            NAME,
            format!("{place}: no space is left on its disk"),
            "free space on the disk, or move the database to another one",
        ),
        Err(StoreError::Foreign { .. }) => {
            CheckFinding::fail(NAME, format!("{place} is not a Chime database"), "set DATABASE_PATH to another file")
        }
        Err(StoreError::Corrupt(_)) => CheckFinding::fail(
            NAME,
            format!("{place} is damaged"),
            "stop chime, move the file and its -wal away, then chime restore your newest backup",
        ),
        Err(error) => {
            CheckFinding::fail(NAME, format!("{place}: {error}"), "set DATABASE_PATH to a file that chime may use")
        }
    }
}

pub fn disk(free: Option<u64>, database: u64) -> CheckFinding {
    const NAME: &str = "disk";
    const REMEDY: &str = "free space on the disk of the database, or move it to another one";
    match free {
        None => CheckFinding::warn(NAME, "the free space cannot be told", "create the folder of DATABASE_PATH"),
        Some(free) if free < LEAST_FREE => {
            CheckFinding::fail(NAME, format!("only {} are free", rounded_size(free)), REMEDY)
        }
        Some(free) if free < LITTLE_SPACE.max(database) => CheckFinding::warn(
            NAME,
            format!("{} are free, a backup or a migration may need more", rounded_size(free)),
            REMEDY,
        ),
        Some(free) => CheckFinding::ok(NAME, format!("{} are free", rounded_size(free))),
    }
}

/// Checks for parked jobs (jobs that failed permanently). `open` is the number of waiting or running jobs, `all_parked`
/// the number of parked ones, of which `parked` lists some.
pub fn jobs(open: u64, parked: &[ParkedJob], all_parked: u64) -> CheckFinding {
    const NAME: &str = "jobs";
    if all_parked == 0 {
        return CheckFinding::ok(NAME, format!("{open} open, none parked"));
    }
    let named: Vec<String> = parked
        .iter()
        .take(JOBS_NAMED)
        .map(|job| {
            let error = job.last_error.as_deref().unwrap_or("no reason kept");
            format!("#{} {} (attempt {}: {error})", job.id, job.kind, job.attempts)
        })
        .collect();
    let more = if all_parked > named.len() as u64 { ", …" } else { "" };
    let what = format!("{all_parked} parked: {}{more}", named.join(", "));
    CheckFinding::warn(NAME, what, "chime retry JOB with its number, or chime retry all")
}

/// Warns of updates of the last days that could not be stored.
pub fn updates(parked: u64) -> Option<CheckFinding> {
    let what = format!("{parked} of the last days could not be stored");
    (parked > 0).then(|| CheckFinding::warn("updates", what, "report it, with the lines \"update.parked\" of the log"))
}

/// Reports how many texts have vectors, which recall needs.
pub fn vectors(coverage: &VectorCoverage) -> CheckFinding {
    const NAME: &str = "vectors";
    let VectorCoverage { messages, summaries } = coverage;
    let shown =
        format!("{} of {} messages and {} of {} summaries have one", messages.0, messages.1, summaries.0, summaries.1);
    CheckFinding::ok(NAME, shown)
}

/// Checks this machine's clock. `ahead` and `behind` are its lead and its lag against Telegram's clock.
pub fn clock(ahead: Duration, behind: Duration) -> CheckFinding {
    const NAME: &str = "clock";
    const REMEDY: &str = "set the clock, for example with systemctl enable --now systemd-timesyncd";
    let (off, direction) = if ahead > behind { (ahead, "ahead of") } else { (behind, "behind") };
    let what = format!("{} {direction} Telegram's", format_duration(Duration::from_secs(off.as_secs())));
    match off {
        off if off < SKEW_SEEN => CheckFinding::ok(NAME, "agrees with Telegram's"),
        off if off < SKEW_HARMFUL => CheckFinding::warn(NAME, what, REMEDY),
        _ => CheckFinding::fail(NAME, what, REMEDY),
    }
}

pub fn telegram(met: &Result<BotIdentity, TelegramError>) -> CheckFinding {
    const NAME: &str = "telegram";
    match met {
        Ok(bot) => CheckFinding::ok(NAME, format!("the token belongs to @{}", bot.username())),
        Err(TelegramError::Unauthorized) => CheckFinding::fail(
            NAME,
            "Telegram refuses the bot token: it is wrong or was revoked",
            "copy it from @BotFather (/token) and set TELEGRAM_BOT_TOKEN",
        ),
        Err(TelegramError::Throttled { retry_after }) => CheckFinding::warn(
            NAME,
            "Telegram asks to slow down",
            format!("check again in {}", format_duration(*retry_after)),
        ),
        Err(TelegramError::LoggedOut) => CheckFinding::fail(
            NAME,
            "the bot is logged out at this Bot API server: it was moved to another one",
            "set TELEGRAM_API_URL to the server at which it works, or wait ten minutes after the move",
        ),
        Err(error @ TelegramError::Refused { .. }) => {
            CheckFinding::fail(NAME, format!("the Bot API server answers: {error}"), "check TELEGRAM_API_URL")
        }
        Err(error) => CheckFinding::fail(
            NAME,
            format!("Telegram cannot be reached: {error}"),
            "check the network, a proxy or firewall, CA certificates and TELEGRAM_API_URL",
        ),
    }
}

/// Checks that no webhook is set, since Telegram then refuses polling. `host` is the webhook's host, if there is one.
pub fn webhook(host: &Result<Option<String>, TelegramError>) -> CheckFinding {
    const NAME: &str = "webhook";
    match host {
        Ok(None) => CheckFinding::ok(NAME, "none is set, so chime may poll"),
        Ok(Some(host)) => CheckFinding::fail(
            NAME,
            format!("updates go to a webhook at {host} instead of chime"),
            "open https://api.telegram.org/bot<TOKEN>/deleteWebhook once, with your token in it",
        ),
        Err(error) => {
            CheckFinding::warn(NAME, format!("it cannot be told whether one is set: {error}"), "check again later")
        }
    }
}

/// Checks that the bot gets all messages of its groups: the bot's privacy mode must be off, or it must be an admin.
/// `groups` are its groups with its status there, if known.
pub fn privacy(bot: &BotIdentity, groups: &[(Chat, Option<MemberStatus>)]) -> Vec<CheckFinding> {
    const NAME: &str = "privacy";
    const REMEDY: &str = "send /setprivacy to @BotFather, choose Disable, then remove the bot from the group and add it \
                          again; or make it an admin there";
    let outside = groups.iter().filter(|(_, status)| *status == Some(MemberStatus::Outside)).map(|(chat, _)| {
        CheckFinding::warn(
            NAME,
            format!("the bot is no longer in {}", named(chat)),
            "add it again if it should be there",
        )
    });
    let deaf = groups.iter().filter(|(_, status)| *status == Some(MemberStatus::Member)).map(|(chat, _)| {
        let what =
            format!("privacy mode is on and the bot is no admin in {}: it sees no plain mentions there", named(chat));
        CheckFinding::fail(NAME, what, REMEDY)
    });
    if bot.reads_all_group_messages {
        let seen = CheckFinding::ok(NAME, "privacy mode is off: the bot reads its groups");
        return std::iter::once(seen).chain(outside).collect();
    }
    let mut findings: Vec<CheckFinding> = deaf.chain(outside).collect();
    if findings.is_empty() {
        findings.push(match groups.iter().filter(|(_, status)| status.is_some_and(MemberStatus::is_admin)).count() {
            0 => CheckFinding::warn(NAME, "privacy mode is on: in groups the bot sees no plain mentions", REMEDY),
            admin => {
                CheckFinding::ok(NAME, format!("privacy mode is on, and the bot is an admin in all {admin} groups"))
            }
        });
    }
    findings
}

fn named(chat: &Chat) -> String {
    match &chat.title {
        Some(title) => format!("\"{title}\" ({})", chat.id),
        None => format!("chat {}", chat.id),
    }
}

pub fn no_model() -> CheckFinding {
    CheckFinding::warn(
        "model",
        "none is set: answers are digests of the conversation",
        "set OPENAI_BASE_URL or OPENAI_API_KEY, and MODEL",
    )
}

/// Names of the settings of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSettings {
    pub model: &'static str,
    pub address: String,
    pub key: String,
}

impl ModelSettings {
    /// Returns the settings of a model that `setting` names. `has_server`: with a server of its own.
    pub fn of(setting: &'static str, has_server: bool) -> Self {
        match has_server {
            true => {
                Self { model: setting, address: format!("the address in {setting}"), key: format!("{setting}_KEY") }
            }
            false => Self { model: setting, address: "OPENAI_BASE_URL".to_owned(), key: "OPENAI_API_KEY".to_owned() },
        }
    }
}

/// Reports whether `model` answered a tiny question, and how fast.
pub fn model(model: &str, settings: &ModelSettings, asked: Result<Duration, &LlmError>) -> CheckFinding {
    const NAME: &str = "model";
    let remedy = asked.err().map(|error| model_remedy(error, settings)).unwrap_or_default();
    match asked {
        Ok(took) => CheckFinding::ok(NAME, format!("{model} answers in {}", format_duration(took))),
        // A reasoning model may use up the few tokens of this question before it writes any text.
        Err(LlmError::Empty) => {
            CheckFinding::warn(NAME, format!("{model} answers without text"), "ask it something in a chat to be sure")
        }
        Err(LlmError::NoRoom) => {
            CheckFinding::warn(NAME, format!("{model} thinks longer than an answer may be"), remedy)
        }
        Err(LlmError::Refused { reason, .. }) => {
            CheckFinding::fail(NAME, format!("{model}: the server refuses ({reason})"), remedy)
        }
        Err(error) => CheckFinding::fail(NAME, format!("{model}: {error}"), remedy),
    }
}

/// Reports that summaries are extracts, since `model`, which would write them, is small.
pub fn small_summary_model(model: &str) -> CheckFinding {
    CheckFinding::ok("summaries", format!("in the members' own words, since {model} is a small model"))
}

/// Reports whether the server made a vector. A failure is only a warning, since messages can be compared by words.
pub fn embeddings(model: &str, dimension: Result<usize, &LlmError>, took: Duration) -> CheckFinding {
    const NAME: &str = "embedding";
    match dimension {
        Ok(dimension) => {
            CheckFinding::ok(NAME, format!("{model} makes vectors of {dimension} numbers in {}", format_duration(took)))
        }
        Err(error) => CheckFinding::warn(
            NAME,
            format!("{model}: {error}; messages are compared by their words alone"),
            "set EMBEDDING to local, or to a model with which its server makes vectors",
        ),
    }
}

pub fn transcriptions(model: &str, heard: Result<(), &LlmError>, took: Duration) -> CheckFinding {
    const NAME: &str = "voice";
    match heard {
        Ok(()) => {
            CheckFinding::ok(NAME, format!("{model} transcribes, a second of silence in {}", format_duration(took)))
        }
        Err(error) => CheckFinding::warn(
            NAME,
            format!("{model}: {error}; what is spoken stays `[voice 0:12]`"),
            "set MODEL_TRANSCRIBE to a model with which its server transcribes, or leave it out",
        ),
    }
}

/// Reports how many pages the search service `host` found for one word. A failure is only a warning, since questions
/// are answered without the web too.
pub fn web_search(host: &str, found: Result<usize, UnreadablePage>, took: Duration) -> CheckFinding {
    const NAME: &str = "web search";
    const REMEDY: &str =
        "correct WEB_SEARCH and WEB_SEARCH_KEY; SearXNG must have json among the formats of its settings";
    match found {
        Ok(0) => CheckFinding::warn(NAME, format!("{host} finds nothing"), "look at the search service's own log"),
        Ok(count) => CheckFinding::ok(
            NAME,
            format!("{host} answers in {}, results for one word: {count}", format_duration(took)),
        ),
        Err(UnreadablePage::NoPage) => CheckFinding::warn(NAME, format!("{host} answers without results"), REMEDY),
        Err(error) => CheckFinding::warn(NAME, format!("{host}: {error}"), REMEDY),
    }
}

/// Reports on the folder of an embedding model that the operator has named. Chime does not start without that model.
pub fn model_of_folder(folder: &Path, loaded: &Result<Option<Embedder>, EmbedError>) -> CheckFinding {
    const NAME: &str = "embedding";
    match loaded {
        Ok(_) => CheckFinding::ok(NAME, format!("{} holds a model", folder.display())),
        Err(error) => CheckFinding::fail(
            NAME,
            error.to_string(),
            "set EMBEDDING to local, or to model2vec: and a folder with model.safetensors and tokenizer.json",
        ),
    }
}

fn model_remedy(error: &LlmError, ModelSettings { model, address, key }: &ModelSettings) -> String {
    match error {
        LlmError::Refused { check: Check::Key, .. } => format!("set {key} to a key of this server"),
        // A 404 without a text may also mean that there is no API at this address.
        LlmError::Refused { check: Check::Model, reason } if reason == "HTTP 404" => {
            format!(
                "correct {address}, which usually ends in /v1, or set {model} to a name that the server lists at \
                 {address}/models"
            )
        }
        LlmError::Refused { check: Check::Model, .. } => {
            format!("set {model} to a name that the server lists at {address}/models")
        }
        LlmError::Refused { check, .. } => {
            format!("check {check}").replace("OPENAI_API_KEY", key).replace("OPENAI_BASE_URL", address)
        }
        LlmError::Throttled { retry_after } => format!(
            "check again in {}, or raise the account's limits",
            retry_after.map_or_else(|| "a minute".to_owned(), span_in_words)
        ),
        LlmError::Unreachable(_) => format!("start the model server, or correct {address}"),
        LlmError::TimedOut => "use a faster model, or raise MODEL_TIMEOUT".to_owned(),
        LlmError::Malformed { .. } => format!("correct {address}: it usually ends in /v1"),
        LlmError::OnlyThoughts => {
            "start the model server without its reasoning parser, or let the model think".to_owned()
        }
        LlmError::Noise => "update the model server and the driver of its GPU, or try another model".to_owned(),
        LlmError::NoRoom => "use a model that thinks less, or switch its thinking off at the server".to_owned(),
        LlmError::Unavailable { status: 400..500, .. } => {
            "load the model at the model server, whose own log says more".to_owned()
        }
        LlmError::Unavailable { .. } | LlmError::BrokeOff => "look at the model server's own log".to_owned(),
        LlmError::PromptTooLong | LlmError::Filtered | LlmError::Empty | LlmError::NotConfigured(_) => {
            format!("try another {model}")
        }
    }
}

/// Ability that a model may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    Tools,
    Streaming,
}

pub fn ability(ability: Ability, can: &Result<bool, LlmError>) -> CheckFinding {
    let (name, yes, no) = match ability {
        Ability::Tools => ("tools", "the model calls tools", "the model does not call tools"),
        Ability::Streaming => ("streaming", "the server streams", "the server does not stream"),
    };
    let without = match ability {
        Ability::Tools => {
            "nothing if answers please you: what is lost is that it looks further into the chat's past by itself; else try another \
             MODEL, or start the server with tool support"
        }
        Ability::Streaming => "nothing: answers come in one piece",
    };
    match can {
        Ok(true) => CheckFinding::ok(name, yes),
        Ok(false) => CheckFinding::warn(name, no, without),
        Err(error) => CheckFinding::warn(name, format!("{no}: {error}"), without),
    }
}

#[cfg(test)]
mod tests;
