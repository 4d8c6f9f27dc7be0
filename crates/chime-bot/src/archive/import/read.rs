//! Reads an export twice, with one message in memory at a time: first to find its chats and their forum topics, then
//! for the messages.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::archive::import::error::ImportError;
use crate::archive::import::source::{locate, open};
use crate::archive::{Conversion, ExportedChat, TopicHints, Unusable};
use chime_core::{Chat, Message, UserId};

/// Number of messages per batch, which is written in one transaction.
const BATCH: usize = 500;

/// Export whose chats are known from the first pass.
#[derive(Debug)]
pub struct ExportFile {
    pub(super) path: PathBuf,
    /// Chats in file order.
    outlines: Vec<ExportOutline>,
}

/// Facts about a chat that are needed before its first message. The file may have them after the messages.
#[derive(Debug, Default)]
struct ExportOutline {
    chat: ExportedChat,
    hints: TopicHints,
}

/// Messages of one chat, with the number of bytes of the file read so far.
pub struct ImportBatch {
    pub chat: Chat,
    pub messages: Vec<Message>,
    pub unreadable: u64,
    pub bytes: u64,
}

/// Result of the second pass: skipped chats with the reasons, and the error that ended it early, if any.
pub struct ReadOutcome {
    pub left_out: Vec<(String, Unusable)>,
    pub outcome: Result<(), ImportError>,
}

/// Scans a file, or the only export in a folder. Does not report damage in the file: [`read`] does, after the messages
/// before it.
///
/// # Errors
/// Fails if there is no such file, or if it is not an export.
pub fn look_through(path: &Path) -> Result<ExportFile, ImportError> {
    let path = locate(path)?;
    let mut reading = ExportReader { pass: Pass::Outline, outlines: Vec::new(), met: 0, left_out: Vec::new() };
    match reading.pass_over(&path, Arc::default()) {
        Err(error @ ImportError::File { .. }) => return Err(error),
        Ok(()) if !reading.outlines.iter().any(|outline| outline.chat.is_known()) => {
            return Err(ImportError::Foreign { path });
        }
        Err(_) if reading.outlines.is_empty() => return Err(ImportError::Foreign { path }),
        Ok(()) | Err(_) => {}
    }
    Ok(ExportFile { path, outlines: reading.outlines })
}

/// Reads the file again and sends its messages in batches. Ends early if the receiver is dropped.
pub fn read(file: ExportFile, bot: UserId, batches: &mpsc::Sender<ImportBatch>) -> ReadOutcome {
    let ExportFile { path, outlines } = file;
    let bytes = Arc::new(AtomicU64::new(0));
    let pass = Pass::Messages { bot, batches, bytes: Arc::clone(&bytes) };
    let mut reading = ExportReader { pass, outlines, met: 0, left_out: Vec::new() };
    let outcome = reading.pass_over(&path, bytes);
    ReadOutcome { left_out: reading.left_out, outcome }
}

enum Pass<'a> {
    Outline,
    Messages { bot: UserId, batches: &'a mpsc::Sender<ImportBatch>, bytes: Arc<AtomicU64> },
}

struct ExportReader<'a> {
    pass: Pass<'a>,
    outlines: Vec<ExportOutline>,
    /// Number of chats that this pass has reached.
    met: usize,
    left_out: Vec<(String, Unusable)>,
}

impl ExportReader<'_> {
    fn pass_over(&mut self, path: &Path, bytes: Arc<AtomicU64>) -> Result<(), ImportError> {
        let mut deserializer = serde_json::Deserializer::from_reader(open(path, bytes)?);
        let whole = Part { reading: self, chat: None };
        let outcome = whole.deserialize(&mut deserializer).and_then(|()| deserializer.end());
        outcome.map_err(|error| match error.is_io() {
            true => ImportError::File { path: path.to_owned(), source: error.into() },
            false => ImportError::Damaged { path: path.to_owned(), line: error.line(), column: error.column() },
        })
    }

    /// Reads the messages of a chat, which is described by the fields that come before them in the file.
    fn messages<'de, S: SeqAccess<'de>>(&mut self, chat: &ExportedChat, mut seq: S) -> Result<(), S::Error> {
        let place = self.met;
        self.met += 1;
        let (bot, batches, bytes) = match &self.pass {
            Pass::Outline => {
                self.outlines.push(ExportOutline { chat: chat.clone(), hints: TopicHints::default() });
                while let Some(message) = seq.next_element::<Value>()? {
                    self.outlines[place].hints.count(&message);
                }
                return Ok(());
            }
            Pass::Messages { bot, batches, bytes } => (*bot, *batches, bytes),
        };
        let ExportOutline { chat: exported, hints } =
            self.outlines.get_mut(place).map(std::mem::take).unwrap_or_default();
        let chat = match exported.known_to_bot_as(bot, None) {
            Ok(chat) => chat,
            Err(why) => {
                self.left_out.push((exported.name.unwrap_or_default(), why));
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(());
            }
        };
        let conversion = Conversion::new(bot, &exported, &hints);
        let messages = Vec::new();
        BatchCollector { exported, bot, conversion, chat, messages, unreadable: 0, batches, bytes }.fill(seq)
    }
}

/// Part of the file: a chat, lists of chats, which are searched recursively, or the messages of a chat.
struct Part<'c, 'r, 'a> {
    reading: &'r mut ExportReader<'a>,
    /// Chat whose messages the part lists, as described by the fields that come before them in the file.
    chat: Option<&'c ExportedChat>,
}

impl<'de> DeserializeSeed<'de> for Part<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.chat {
            Some(_) => deserializer.deserialize_seq(self),
            None => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Part<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a chat, or a list of chats or messages")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let reading = self.reading;
        let mut chat = ExportedChat::default();
        let mut own = None;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => chat.name = map.next_value::<Value>()?.as_str().map(str::to_owned),
                "type" => chat.kind = map.next_value::<Value>()?.as_str().unwrap_or_default().to_owned(),
                "id" => chat.id = number(&map.next_value::<Value>()?).unwrap_or_default(),
                "messages" => {
                    own = Some(reading.met);
                    map.next_value_seed(Part { reading, chat: Some(&chat) })?;
                }
                "chats" | "left_chats" | "list" => map.next_value_seed(Part { reading, chat: None })?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if let (Pass::Outline, Some(outline)) = (&reading.pass, own.and_then(|own| reading.outlines.get_mut(own))) {
            outline.chat = chat;
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<(), S::Error> {
        let reading = self.reading;
        if let Some(chat) = self.chat {
            return reading.messages(chat, seq);
        }
        while seq.next_element_seed(Part { reading, chat: None })?.is_some() {}
        Ok(())
    }
}

fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// Collects the messages of one chat and sends them in batches.
struct BatchCollector<'a> {
    exported: ExportedChat,
    bot: UserId,
    conversion: Conversion,
    /// Chat as the bot knows it; `None` in a private chat until the first message of the bot's partner.
    chat: Option<Chat>,
    messages: Vec<Message>,
    unreadable: u64,
    batches: &'a mpsc::Sender<ImportBatch>,
    bytes: &'a AtomicU64,
}

impl BatchCollector<'_> {
    fn fill<'de, S: SeqAccess<'de>>(mut self, mut seq: S) -> Result<(), S::Error> {
        let end = loop {
            let next = match seq.next_element::<Value>() {
                Ok(Some(value)) => value,
                end => break end.map(drop),
            };
            if self.chat.is_none() {
                let partner = self.conversion.person(&next);
                self.chat = self.exported.known_to_bot_as(self.bot, partner).unwrap_or(None);
            }
            match self.chat.as_ref().and_then(|chat| self.conversion.convert(&next, chat.id)) {
                Some(message) => self.messages.push(message),
                None => self.unreadable += 1,
            }
            if self.messages.len() >= BATCH {
                self.hand_over()?;
            }
        };
        // Also after damage, so that the messages before it are imported.
        self.hand_over()?;
        end
    }

    fn hand_over<E: Error>(&mut self) -> Result<(), E> {
        let Some(chat) = self.chat.as_ref().filter(|_| !self.messages.is_empty() || self.unreadable > 0) else {
            return Ok(());
        };
        let messages = std::mem::replace(&mut self.messages, Vec::with_capacity(BATCH));
        let bytes = self.bytes.load(Ordering::Relaxed);
        let batch =
            ImportBatch { chat: chat.clone(), messages, unreadable: std::mem::take(&mut self.unreadable), bytes };
        // The receiver was dropped because writing has failed; the receiver reports that error.
        self.batches.blocking_send(batch).map_err(|_| E::custom("the import ended"))
    }
}
