//! Chats of the packs, prepared by the daemon's own code, with their true subjects.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use chime_core::StoredMessage;
use chime_core::embed::Embedder;
use chime_eval::context::PreparedChat;
use chime_eval::labelled::{self, LabelledChat};
use chime_eval::pack::PackQuery;
use chime_eval::pack_file::read_pack;
use chime_relevance::context::training::{PickInput, SeedRule};
use chime_relevance::context::{MessageFeatures, Scorers};

use crate::Outcome;
use crate::truth::{self, Truth};

/// Most messages before a message that are examined.
pub const WINDOW: usize = 200;

/// Kinds of chats. A fit for one kind may fail on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Hand-written groups with triggers.
    English,
    Others,
    /// The same, longer than the window.
    Long,
    /// Groups in which several members ask in a row, each about another subject.
    Rows,
    /// IRC, a busy channel and smaller ones.
    Dense,
    Calm,
    /// Chats with topics that pause for hours and days.
    Slow,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::English => "english",
            Self::Others => "others",
            Self::Long => "long",
            Self::Rows => "rows",
            Self::Dense => "dense",
            Self::Calm => "calm",
            Self::Slow => "slow",
        }
    }

    /// Returns `true` if members of such chats mention a bot.
    pub fn has_tags(self) -> bool {
        matches!(self, Self::English | Self::Others | Self::Long | Self::Rows)
    }

    /// Returns the number of the group of kinds that are left out together.
    pub fn family(self) -> usize {
        match self {
            Self::English => 0,
            Self::Others | Self::Long | Self::Rows => 1,
            Self::Dense | Self::Calm => 2,
            Self::Slow => 3,
        }
    }
}

/// Pack argument of the command line: `KIND=FOLDER`.
#[derive(Debug, Clone)]
pub struct PackName {
    pub kind: Kind,
    pub folder: PathBuf,
}

impl FromStr for PackName {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let (kind, folder) = written.split_once('=').ok_or("a pack is written KIND=FOLDER")?;
        let kinds = [Kind::English, Kind::Others, Kind::Dense, Kind::Calm, Kind::Slow];
        let known = kinds.into_iter().find(|known| known.name() == kind);
        let kind = known.ok_or_else(|| format!("no kind `{kind}`: {}", kinds.map(Kind::name).join(", ")))?;
        Ok(Self { kind, folder: PathBuf::from(folder) })
    }
}

/// Chat with all data for fitting.
pub struct Chat {
    pub kind: Kind,
    /// Fold of the chat; it is scored with weights that did not see this fold.
    pub fold: usize,
    /// `true` if the chat is not used for fitting.
    pub is_test: bool,
    pub id: String,
    pub prepared: PreparedChat,
    pub truth: Truth,
    pub queries: Vec<PackQuery>,
    /// Questions about the chat in other words than its own.
    pub questions: Vec<String>,
    /// Code of the chat's language; empty for a chat of a pack.
    pub language: String,
}

impl Chat {
    pub fn readings(&self) -> Vec<Arc<MessageFeatures>> {
        self.prepared.messages.iter().map(|stored| self.prepared.evidence.reading(stored)).collect()
    }

    pub fn place_of(&self, id: i64) -> usize {
        self.prepared.messages.partition_point(|stored| stored.message.id.0 < id)
    }

    /// Returns the messages that the message at `place` may be about.
    pub fn before(&self, place: usize) -> Vec<&StoredMessage> {
        self.prepared.messages[place.saturating_sub(WINDOW)..place].iter().collect()
    }

    /// Returns the message at `place` as if it mentioned the bot with these words.
    pub fn asking<'a>(&'a self, place: usize, text: &'a str) -> PickInput<'a> {
        PickInput {
            message: &self.prepared.messages[place],
            text,
            is_tag: true,
            seed: SeedRule::default(),
            sources: None,
        }
    }

    #[must_use]
    pub fn linked(mut self, scorers: &Scorers) -> Self {
        self.prepared = self.prepared.with_links(&scorers.links);
        self
    }

    /// Returns a random number for a message, the same in every run.
    pub fn chance(&self, place: usize, what: u64) -> f64 {
        let bytes = self.id.bytes().map(u64::from).chain([place as u64, what]);
        let mixed = bytes.fold(0x9e37_79b9_7f4a_7c15_u64, |state, byte| {
            let mixed = (state ^ byte).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed ^ (mixed >> 29)
        });
        (mixed.wrapping_mul(0x94d0_49bb_1331_11eb) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Reads labelled chats in the order of their names and assigns them to `folds` folds.
pub fn read_labelled(folder: &Path, embedder: &Arc<Embedder>, folds: usize) -> Outcome<Vec<Chat>> {
    let chat = |(number, chat): (usize, LabelledChat)| Chat {
        kind: match (chat.messages.len() > WINDOW, chat.is_english) {
            _ if chat.name.starts_with("row_") => Kind::Rows,
            (true, _) => Kind::Long,
            (false, true) => Kind::English,
            (false, false) => Kind::Others,
        },
        fold: number % folds,
        is_test: false,
        prepared: PreparedChat::read(&chat.messages, Some(embedder)).reaching_back(true),
        truth: Truth::of_subjects(&chat.subjects, WINDOW),
        queries: chat.queries,
        questions: chat.questions.into_iter().map(|question| question.ask.question).collect(),
        language: chat.language,
        id: chat.name,
    };
    Ok(labelled::read(folder)?.into_iter().enumerate().map(chat).collect())
}

/// Question to the bot that belongs to no chat.
pub struct Question {
    pub language: String,
    /// `true` if it has nothing to do with a chat, `false` if it can only be about the chat that it is asked in.
    pub is_new: bool,
    pub text: String,
}

/// Reads questions, one a line: `en | new | how tall is Everest?`.
pub fn read_questions(file: &Path) -> Outcome<Vec<Question>> {
    let text = std::fs::read_to_string(file)?;
    let question = |line: &str| {
        let fields: Vec<&str> = line.splitn(3, " | ").collect();
        let [language, kind @ ("new" | "own"), text] = fields[..] else {
            return Err(format!("no question: {line}").into());
        };
        Ok(Question { language: language.to_owned(), is_new: kind == "new", text: text.to_owned() })
    };
    text.lines().filter(|line| !line.starts_with('#')).map(question).collect()
}

/// Reads a pack and assigns its chats, in the order of their names, to `folds` folds.
pub fn read(name: &PackName, embedder: &Arc<Embedder>, folds: usize, is_test: bool) -> Outcome<Vec<Chat>> {
    let pack = read_pack(&name.folder)?;
    let has_subjects = name.kind.has_tags() || name.kind == Kind::Slow;
    let mut truths = truth::read(&name.folder, has_subjects, WINDOW)?;
    let mut ids: Vec<&String> = pack.chats.keys().collect();
    ids.sort();
    let chat = |(number, id): (usize, &String)| Chat {
        kind: name.kind,
        fold: if is_test { folds } else { number % folds },
        is_test,
        id: id.clone(),
        prepared: PreparedChat::read(&pack.chats[id], Some(embedder)),
        truth: truths.remove(id).unwrap_or_default(),
        queries: pack.queries.iter().filter(|query| query.ask.chat_id == *id).cloned().collect(),
        questions: Vec::new(),
        language: String::new(),
    };
    Ok(ids.into_iter().enumerate().map(chat).collect())
}
