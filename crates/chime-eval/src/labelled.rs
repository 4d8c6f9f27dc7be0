//! Reads hand-labelled chats from text files; `data/chats/README.md` describes the format.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, anyhow};
use chrono::NaiveDateTime;
use regex::Regex;

use crate::pack::{Pack, PackMessage, PackQuery, PackQuestion, QueryAsk, QueryGold, QuestionAsk, QuestionGold, Slice};
use chime_core::pattern;

/// Number of messages before a trigger that are its window. Relevant messages before the window count as far.
const WINDOW: usize = 200;
/// Most words of a trigger without a question of its own.
const BARE_WORDS: usize = 5;
/// Mark of a trigger, before its subject.
const TAG: &str = "Q:";
/// Subject of a trigger that refers to nothing said earlier.
const NEW: &str = "new";
const BOT: &str = "Bot";
/// Seconds from the last message to the questions about the chat.
const ASKED_AFTER: i64 = 3_600;

static USER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^#\s*user\s+(.+?)\s+@(\S+)"));
static NAMED: LazyLock<Regex> = LazyLock::new(|| pattern(r"@\S+"));
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\w+"));

/// Chat with the subjects of each message.
#[derive(Debug, Clone)]
pub struct LabelledChat {
    pub name: String,
    /// Code of the chat's only or first language.
    pub language: String,
    pub is_english: bool,
    pub messages: Vec<PackMessage>,
    /// Subjects of each message; there may be several or none.
    pub subjects: Vec<Vec<String>>,
    pub queries: Vec<PackQuery>,
    /// Questions about the chat that use other words than the chat.
    pub questions: Vec<PackQuestion>,
}

struct LabelledMessage {
    message: PackMessage,
    subjects: Vec<String>,
    is_tag: bool,
}

/// Reads every `*.txt` of a folder, in the order of their names.
pub fn read(folder: &Path) -> anyhow::Result<Vec<LabelledChat>> {
    let unread = || format!("cannot read {}", folder.display());
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(unread)? {
        let path = entry.with_context(unread)?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| read_chat(path)).collect()
}

/// Converts chats into a pack, each under its name.
pub fn as_pack(name: String, chats: Vec<LabelledChat>) -> Pack {
    let queries = chats.iter().flat_map(|chat| chat.queries.iter().cloned()).collect();
    let questions = chats.iter().flat_map(|chat| chat.questions.iter().cloned()).collect();
    let chats = chats.into_iter().map(|chat| (chat.name, chat.messages)).collect();
    Pack { name, chats, queries, reaches_back: true, questions, conversations: HashMap::new() }
}

pub fn read_chat(path: &Path) -> anyhow::Result<LabelledChat> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    chat(name, &text).map_err(|(line, what)| anyhow!("{}, line {line}: {what}", path.display()))
}

/// Parses one chat. An error has the line number.
fn chat(name: String, text: &str) -> Result<LabelledChat, (usize, String)> {
    let mut usernames: HashMap<&str, &str> = HashMap::new();
    let (mut language, mut is_english) = (String::new(), false);
    let mut lines: Vec<LabelledMessage> = Vec::new();
    let mut asked_later: Vec<(String, Vec<i64>)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        if line.starts_with('#') {
            if let Some(languages) = line.strip_prefix("# lang ") {
                is_english = languages.trim() == "en";
                language = languages.split([',', ' ']).next().unwrap_or_default().to_owned();
            }
            if let Some((_, [user, username])) = USER.captures(line).map(|found| found.extract()) {
                usernames.insert(user, username);
            }
            continue;
        }
        if let Some(asked) = line.strip_prefix("R |") {
            asked_later.push(recalled(asked).map_err(|what| (number, what))?);
            continue;
        }
        let read = message(&name, line, &usernames).map_err(|what| (number, what))?;
        in_order(&lines, &read.message).map_err(|what| (number, what))?;
        lines.push(read);
    }
    let queries = (1..lines.len()).filter(|place| lines[*place].is_tag).map(|place| query(&lines, place)).collect();
    let (messages, subjects): (Vec<PackMessage>, _) =
        lines.into_iter().map(|line| (line.message, line.subjects)).unzip();
    let date = messages.last().map_or(0, |last| last.date) + ASKED_AFTER;
    let question = |(number, (question, context)): (usize, (String, Vec<i64>))| PackQuestion {
        ask: QuestionAsk { query_id: format!("{name}:r{number}"), chat_id: name.clone(), question, date },
        gold: QuestionGold { context, sessions: Vec::new(), category: 0 },
    };
    let questions = asked_later.into_iter().enumerate().map(question).collect();
    Ok(LabelledChat { language, is_english, messages, subjects, queries, questions, name })
}

/// Parses `question | 3,5`.
fn recalled(line: &str) -> Result<(String, Vec<i64>), String> {
    let (question, ids) = line.rsplit_once('|').ok_or("a question without its messages")?;
    let ids = ids.split(',').map(|id| id.trim().parse().map_err(|_| format!("{id:?} is no number of a message")));
    Ok((question.trim().to_owned(), ids.collect::<Result<_, _>>()?))
}

/// Parses `id | date | author | reply or - | subjects | text`.
fn message(chat: &str, line: &str, usernames: &HashMap<&str, &str>) -> Result<LabelledMessage, String> {
    let fields: Vec<&str> = line.splitn(6, " | ").map(str::trim).collect();
    let [id, date, author, reply, subjects, text] = fields[..] else {
        return Err(format!("{} fields instead of 6", fields.len()));
    };
    let number = |field: &str| field.parse::<i64>().map_err(|_| format!("`{field}` is no number"));
    let date = NaiveDateTime::parse_from_str(date, "%Y-%m-%d %H:%M:%S").map_err(|error| format!("{date}: {error}"))?;
    let is_tag = subjects.starts_with(TAG);
    let subjects = subjects.trim_start_matches(TAG).split('+');
    Ok(LabelledMessage {
        message: PackMessage {
            chat_id: chat.to_owned(),
            message_id: number(id)?,
            date: date.and_utc().timestamp(),
            from_id: author_id(author),
            from_name: author.to_owned(),
            username: usernames.get(author).map(|username| (*username).to_owned()),
            is_bot: author == BOT,
            text: text.replace("\\n", "\n"),
            reply_to: if reply == "-" { None } else { Some(number(reply)?) },
        },
        subjects: subjects.filter(|subject| !matches!(*subject, "-" | "")).map(str::to_owned).collect(),
        is_tag,
    })
}

/// Returns the same id for the same name, in every chat.
fn author_id(name: &str) -> i64 {
    // FNV-1a: short, stable, and spread well enough for a chat.
    i64::from(name.bytes().fold(2_166_136_261_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619)))
}

fn in_order(before: &[LabelledMessage], next: &PackMessage) -> Result<(), String> {
    let known = |id: i64| before.iter().any(|line| line.message.message_id == id);
    match (before.last().map(|line| &line.message), next.reply_to) {
        (Some(last), _) if last.message_id >= next.message_id || last.date > next.date => {
            Err("not in order".to_owned())
        }
        (_, Some(parent)) if !known(parent) => Err(format!("replies to {parent}, which is not before it")),
        _ => Ok(()),
    }
}

fn query(lines: &[LabelledMessage], place: usize) -> PackQuery {
    let LabelledMessage { message, subjects, .. } = &lines[place];
    let wanted: BTreeSet<&String> = subjects.iter().filter(|subject| *subject != NEW).collect();
    let about = |line: &&LabelledMessage| line.subjects.iter().any(|subject| wanted.contains(subject));
    let ids = |lines: &[LabelledMessage]| -> Vec<i64> {
        lines.iter().filter(about).map(|line| line.message.message_id).collect()
    };
    let first = place.saturating_sub(WINDOW);
    let (far, context) = (ids(&lines[..first]), ids(&lines[first..place]));
    let variant = if context.is_empty() { NEW } else { "group" };
    let kind = match WORD.find_iter(&NAMED.replace_all(&message.text, " ")).count() {
        _ if message.reply_to.is_some() => "reply",
        words if words <= BARE_WORDS => "bare",
        _ => "specific",
    };
    PackQuery {
        ask: QueryAsk {
            query_id: format!("{}:{}:{variant}", message.chat_id, message.message_id),
            variant: variant.to_owned(),
            chat_id: message.chat_id.clone(),
            message_id: message.message_id,
            reply_to: message.reply_to,
            window: (lines[first].message.message_id, lines[place - 1].message.message_id),
            trigger: None,
        },
        gold: QueryGold {
            context,
            far,
            related: Vec::new(),
            slice: Slice { kind: Some(kind.to_owned()), ..Slice::default() },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: &str = "\
# lang en
# user Ann B @ann_b
1 | 2026-03-02 08:00:00 | Ann B | - | trip | Cornwall | again?
2 | 2026-03-02 08:01:00 | Ben | 1 | trip+dog | with the dog\\nyes
3 | 2026-03-02 08:02:00 | Cat | - | - | haha
4 | 2026-03-02 08:03:00 | Ann B | - | Q:trip | @bot ^
5 | 2026-03-02 08:04:00 | Bot | 4 | trip | Cornwall, it seems.
6 | 2026-03-02 08:05:00 | Cat | - | Q:new | @bot what is the capital of Mongolia then?
R | where to? | 1";

    #[test]
    fn a_chat_is_read_with_its_tags() {
        let chat = chat("x".to_owned(), CHAT).expect("it is well formed");
        assert!(chat.is_english);
        let first = &chat.messages[0];
        assert_eq!((first.text.as_str(), first.username.as_deref()), ("Cornwall | again?", Some("ann_b")));
        assert_eq!((chat.messages[1].text.as_str(), chat.messages[4].is_bot), ("with the dog\nyes", true));
        assert_eq!(chat.subjects[1], ["trip", "dog"]);
        let shown: Vec<(&str, Option<&str>, &[i64])> = (chat.queries.iter())
            .map(|query| (query.ask.variant.as_str(), query.gold.slice.kind.as_deref(), &query.gold.context[..]))
            .collect();
        assert_eq!(shown, [("group", Some("bare"), &[1, 2][..]), ("new", Some("specific"), &[])]);
    }

    #[test]
    fn a_mistake_comes_with_its_line() {
        let refused = |line: &str| chat("x".to_owned(), &format!("{CHAT}\n{line}")).map(|_| ()).expect_err("refused");
        assert_eq!(refused("7 | 2026-03-02 08:06:00 | Ann | - | text"), (10, "5 fields instead of 6".to_owned()));
        assert_eq!(refused("6 | 2026-03-02 08:06:00 | Ann | - | - | text"), (10, "not in order".to_owned()));
        let (_, what) = refused("7 | 2026-03-02 08:06:00 | Ann | 9 | - | text");
        assert_eq!(what, "replies to 9, which is not before it");
    }
}
