//! Reads case files; `data/answers/README.md` describes the format.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, anyhow};
use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::labelled;
use crate::pack::PackMessage;
use chime_core::pattern;

/// Seconds from the last line to the question.
const ASKED_AFTER: i64 = 120;
const DAY: i64 = 24 * 60 * 60;
/// Seconds between two lines that were written in the same minute.
const BURST: i64 = 5;
/// Folders with histories: relative to the case file's folder, and to the working folder.
const HISTORIES: [&str; 2] = ["../chats", "data/chats"];

static LINE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:-(\d{1,4})d )?(\d\d):(\d\d) ([^:>]+?)(?: > (\d+))?: (.*)$"));

/// Kind of question in a case, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseKind {
    Bare,
    Reply,
    Own,
    FollowUp,
    Long,
    Unknown,
    World,
    Writing,
    Private,
}

// The names in case files.
chime_core::words!(CaseKind {
    Bare = "bare", Reply = "reply", Own = "own", FollowUp = "follow_up", Long = "long", Unknown = "unknown",
    World = "world", Writing = "writing", Private = "private",
});

/// Question in a chat, with the expected content of a right answer.
#[derive(Debug, Clone)]
pub struct Case {
    pub id: String,
    pub kind: CaseKind,
    /// ISO 639-1 code of the expected answer's language.
    pub language: String,
    pub title: Option<String>,
    /// The messages before the question, oldest first.
    pub lines: Vec<CaseLine>,
    pub asker: String,
    pub ask: String,
    /// Time of the question, in seconds after midnight of its day.
    pub asked_at: i64,
    /// The number of the line that the question replies to.
    pub reply_to: Option<i64>,
    pub facts: Vec<Regex>,
    pub never: Vec<Regex>,
    /// Numbers of the lines that a right answer may link to; empty if no source is expected.
    pub sources: Vec<i64>,
}

impl Case {
    pub fn line(&self, number: i64) -> Option<&CaseLine> {
        self.lines.iter().find(|line| line.number == number)
    }
}

/// A message of a case's chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseLine {
    pub number: i64,
    /// Seconds after midnight of the question's day, negative for earlier days.
    pub at: i64,
    pub name: String,
    pub reply_to: Option<i64>,
    pub text: String,
}

impl CaseLine {
    /// Returns `true` if the bot wrote the line.
    pub fn is_of_bot(&self) -> bool {
        self.name == "Bot"
    }
}

/// Reads case files, and every `*.toml` of folders, in the order of their names.
///
/// # Errors
/// Fails if a file cannot be read or a case is not well formed.
pub fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut ids = HashSet::new();
    for path in files(paths)? {
        for written in parse(&path)? {
            let id = written.id.clone();
            let problem = |what: String| anyhow!("{}: case {id}: {what}", path.display());
            if !ids.insert(id.clone()) {
                return Err(problem("another case has this id".to_owned()));
            }
            let history = match &written.history {
                Some(name) => labelled::read_chat(&history_file(&path, name))?.messages,
                None => Vec::new(),
            };
            cases.push(written.case(&history).map_err(problem)?);
        }
    }
    Ok(cases)
}

/// Reads the messages of a day, in the format of a case's chat.
///
/// # Errors
/// Fails if the file cannot be read, or a line is not well formed.
pub fn read_day(path: &Path) -> anyhow::Result<Vec<CaseLine>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    chat(&text, 1).map_err(|error| anyhow!("{}: {error}", path.display()))
}

fn files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let unread = || format!("cannot read {}", path.display());
        let entries: std::io::Result<Vec<_>> = std::fs::read_dir(path).with_context(unread)?.collect();
        let inside = entries.with_context(unread)?.into_iter().map(|entry| entry.path());
        let mut inside: Vec<PathBuf> =
            inside.filter(|file| file.extension().is_some_and(|extension| extension == "toml")).collect();
        inside.sort();
        files.append(&mut inside);
    }
    Ok(files)
}

fn parse(path: &Path) -> anyhow::Result<Vec<WrittenCase>> {
    #[derive(Deserialize)]
    struct CaseFile {
        case: Vec<WrittenCase>,
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file: CaseFile = toml::from_str(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    Ok(file.case)
}

fn history_file(cases: &Path, name: &str) -> PathBuf {
    let beside = cases.parent().map(|folder| folder.join(HISTORIES[0])).unwrap_or_default();
    let file = format!("{name}.txt");
    let found = [beside.join(&file), Path::new(HISTORIES[1]).join(&file)].into_iter().find(|path| path.exists());
    found.unwrap_or_else(|| beside.join(&file))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCase {
    id: String,
    kind: CaseKind,
    language: String,
    title: Option<String>,
    history: Option<String>,
    #[serde(default)]
    chat: String,
    asker: String,
    ask: String,
    reply_to: Option<i64>,
    facts: Vec<String>,
    #[serde(default)]
    never: Vec<String>,
    #[serde(default)]
    sources: Vec<i64>,
}

impl WrittenCase {
    fn case(self, history: &[PackMessage]) -> Result<Case, String> {
        let first = history.last().map_or(0, |last| last.message_id) + 1;
        let mut lines = chat(&self.chat, first)?;
        lines.splice(0..0, before(history, lines.first().map_or(DAY, |line| line.at)));
        let last = lines.last().ok_or("there is no line before the question")?;
        let (asked_at, facts, never) = (last.at + ASKED_AFTER, patterns(&self.facts)?, patterns(&self.never)?);
        if facts.is_empty() {
            return Err("there is no fact to judge by".to_owned());
        }
        let numbers: HashSet<i64> = lines.iter().map(|line| line.number).collect();
        let missing = self.sources.iter().chain(&self.reply_to).find(|number| !numbers.contains(number));
        if let Some(number) = missing {
            return Err(format!("there is no line {number}"));
        }
        Ok(Case {
            id: self.id,
            kind: self.kind,
            language: self.language,
            title: self.title,
            lines,
            asker: self.asker,
            ask: self.ask,
            asked_at,
            reply_to: self.reply_to,
            facts,
            never,
            sources: self.sources,
        })
    }
}

fn patterns(written: &[String]) -> Result<Vec<Regex>, String> {
    written.iter().map(|pattern| Regex::new(pattern).map_err(|error| error.to_string())).collect()
}

/// Parses `[-Nd ]HH:MM Name[ > number]: text` lines, numbered from `first`.
fn chat(written: &str, first: i64) -> Result<Vec<CaseLine>, String> {
    let mut lines: Vec<CaseLine> = Vec::new();
    let said = written.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    for (number, raw) in (first..).zip(said) {
        let found = LINE.captures(raw).ok_or_else(|| format!("`{raw}` is no line of a chat"))?;
        let digits = |group: usize| found.get(group).and_then(|digits| digits.as_str().parse::<i64>().ok());
        let minute = digits(2).zip(digits(3)).map_or(0, |(hours, minutes)| (hours * 60 + minutes) * 60);
        let mut at = minute - digits(1).unwrap_or(0) * DAY;
        if let Some(last) = lines.last() {
            if at < last.at - last.at.rem_euclid(60) {
                return Err(format!("line {number} is older than the one above it"));
            }
            at = at.max(last.at + BURST);
        }
        let text = found.get(6).map_or("", |text| text.as_str()).replace("\\n", "\n");
        let name = found.get(4).map_or("", |name| name.as_str()).to_owned();
        lines.push(CaseLine { number, at, name, reply_to: digits(5), text });
    }
    Ok(lines)
}

/// Moves a history by whole days so that it ends as late as possible before `until`, and not after the question's day.
fn before(history: &[PackMessage], until: i64) -> Vec<CaseLine> {
    let Some(last) = history.last() else { return Vec::new() };
    let time = last.date.rem_euclid(DAY);
    let day = (until - 1 - time).div_euclid(DAY).min(0);
    let shift = time + day * DAY - last.date;
    let line = |message: &PackMessage| CaseLine {
        number: message.message_id,
        at: message.date + shift,
        name: message.from_name.clone(),
        reply_to: message.reply_to,
        text: message.text.clone(),
    };
    history.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::language;
    use chime_core::Language;

    const ONE: &str = r#"
        [[case]]
        id = "de-key"
        kind = "own"
        language = "de"
        chat = '''
        -2d 09:12 Lena: Wer hat den Kellerschlüssel?
        -2d 09:12 Paul > 1: Liegt unter der Fußmatte:\nvorne

        # a comment
        18:40 Bot > 2: Unter der Matte.
        '''
        asker = "Lena"
        ask = "@bot wo ist der Schlüssel?"
        reply_to = 2
        facts = ['(?i)matte']
        sources = [2]
    "#;

    fn read_text(text: &str) -> anyhow::Result<Vec<Case>> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("one.toml"), text).unwrap();
        std::fs::write(folder.path().join("README.md"), "no case").unwrap();
        read(&[folder.path().to_owned()])
    }

    #[test]
    fn lines_are_numbered_and_dated_by_the_day_of_the_question() {
        let case = read_text(ONE).unwrap().remove(0);
        let shown: Vec<_> = case.lines.iter().map(|line| (line.number, line.at, line.reply_to)).collect();
        let morning = 9 * 3600 + 12 * 60 - 2 * DAY;
        let evening = 18 * 3600 + 40 * 60;
        assert_eq!(shown, [(1, morning, None), (2, morning + BURST, Some(1)), (3, evening, Some(2))]);
        assert_eq!(case.lines[1].text, "Liegt unter der Fußmatte:\nvorne");
        assert!(case.lines[2].is_of_bot());
        assert_eq!((case.asked_at, case.reply_to), (evening + 120, Some(2)));
    }

    #[test]
    fn what_is_not_well_formed_names_its_case() {
        let check = |from: &str, to: &str, expected: &str| {
            let problem = read_text(&ONE.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(problem.contains(expected), "{problem}");
        };
        check("sources = [2]", "sources = [7]", "case de-key: there is no line 7");
        check("18:40 Bot > 2", "Bot", "is no line of a chat");
        check("18:40", "-3d 18:40", "line 3 is older than the one above it");
        check("facts = ['(?i)matte']", "facts = []", "no fact");
        check("'(?i)matte'", "'(matte'", "unclosed group");
        check("asker", "aske", "aske");
        check("[[case]]", &format!("{ONE}\n[[case]]"), "another case has this id");
    }

    #[test]
    fn a_history_ends_before_the_chat_and_keeps_its_hours() {
        let message = |id, date| PackMessage {
            chat_id: String::new(),
            message_id: id,
            date,
            from_id: 1,
            from_name: "Ana".to_owned(),
            username: None,
            is_bot: false,
            text: String::new(),
            reply_to: None,
        };
        let history = [message(1, 5 * DAY + 3600), message(2, 7 * DAY + 20 * 3600)];
        let times = |until| before(&history, until).iter().map(|line| line.at).collect::<Vec<_>>();
        assert_eq!(times(21 * 3600), [3600 - 2 * DAY, 20 * 3600]);
        assert_eq!(times(10 * 3600), [3600 - 3 * DAY, 20 * 3600 - DAY]);
        assert_eq!(times(DAY), times(21 * 3600));
    }

    #[test]
    fn the_language_to_answer_in_is_told_for_nearly_every_case() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/answers");
        let cases = read(&[folder.clone(), folder.join("blind"), folder.join("changing")]).expect("the cases");
        let wrong: Vec<String> = cases
            .iter()
            .filter_map(|case| {
                let ask = case.ask.replace("@bot", "");
                let talk: Vec<&str> = case.lines.iter().map(|line| line.text.as_str()).collect();
                let described = Language::of_question(&ask, &talk.join("\n"), Language::DEFAULT)?;
                let is_right = language::is(described.code(), &case.language) || Language::is_named_in(&ask);
                (!is_right).then(|| format!("{}: {}", case.id, described.english_name()))
            })
            .collect();
        assert!(wrong.len() * 50 <= cases.len(), "{wrong:?}");
    }
}
