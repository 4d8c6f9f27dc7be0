//! Reads an export from beginning to end, one message in memory at a time.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::archive::convert::person;
use crate::archive::run::ImportError;
use crate::archive::{ExportedChat, Topics, Unusable, converted};
use crate::domain::{Chat, Message, UserId};

/// Messages written in one transaction.
const BATCH: usize = 500;

/// Messages of one chat, and how far the file is read.
pub struct Batch {
    pub chat: Chat,
    pub messages: Vec<Message>,
    pub unreadable: u64,
    pub bytes: u64,
}

/// Reads the file and hands its messages over. Gives the chats that were left out.
pub fn read(path: &Path, bot: UserId, batches: &mpsc::Sender<Batch>) -> Result<Vec<(String, Unusable)>, ImportError> {
    let file = File::open(path).map_err(|source| ImportError::File { path: path.to_owned(), source })?;
    let bytes = Arc::new(AtomicU64::new(0));
    let counting = Counting { file, bytes: Arc::clone(&bytes) };
    let mut reading = Reading { bot, batches, bytes, left_out: Vec::new(), chats: 0 };
    let mut deserializer = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 20, counting));
    let outcome = Root(&mut reading).deserialize(&mut deserializer).and_then(|()| deserializer.end());
    match outcome {
        Ok(()) if reading.chats == 0 => Err(ImportError::Foreign { path: path.to_owned() }),
        Ok(()) => Ok(reading.left_out),
        Err(error) if error.is_io() => Err(ImportError::File { path: path.to_owned(), source: error.into() }),
        Err(_) if reading.chats == 0 => Err(ImportError::Foreign { path: path.to_owned() }),
        Err(error) => Err(ImportError::Damaged { path: path.to_owned(), line: error.line(), column: error.column() }),
    }
}

/// Reads as far as the first messages of a chat that can be imported, or to the end.
pub fn recognize(path: &Path, bot: UserId) -> Result<(), ImportError> {
    // Reading ends where nobody takes the first messages.
    let (batches, _) = mpsc::channel(1);
    match read(path, bot, &batches) {
        Err(error @ (ImportError::File { .. } | ImportError::Foreign { .. })) => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

struct Counting {
    file: File,
    bytes: Arc<AtomicU64>,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

struct Reading<'a> {
    bot: UserId,
    batches: &'a mpsc::Sender<Batch>,
    bytes: Arc<AtomicU64>,
    left_out: Vec<(String, Unusable)>,
    /// Lists of messages that were met.
    chats: usize,
}

/// The whole file: one chat, or the lists of all.
struct Root<'r, 'a>(&'r mut Reading<'a>);

impl<'de> DeserializeSeed<'de> for Root<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Root<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a chat, or an object that holds chats")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let mut chat = ExportedChat::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => chat.name = map.next_value::<Value>()?.as_str().map(str::to_owned),
                "type" => chat.kind = map.next_value::<Value>()?.as_str().unwrap_or_default().to_owned(),
                "id" => chat.id = map.next_value::<Value>()?.as_i64().unwrap_or_default(),
                "messages" => map.next_value_seed(Messages { chat: &chat, reading: self.0 })?,
                "chats" | "left_chats" => map.next_value_seed(Root(self.0))?,
                "list" => map.next_value_seed(Chats(self.0))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

struct Chats<'r, 'a>(&'r mut Reading<'a>);

impl<'de> DeserializeSeed<'de> for Chats<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Chats<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of chats")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<(), S::Error> {
        while seq.next_element_seed(Root(self.0))?.is_some() {}
        Ok(())
    }
}

struct Messages<'c, 'r, 'a> {
    chat: &'c ExportedChat,
    reading: &'r mut Reading<'a>,
}

impl<'de> DeserializeSeed<'de> for Messages<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Messages<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of messages")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<(), S::Error> {
        let Self { chat: exported, reading } = self;
        if exported.kind.is_empty() || exported.id == 0 {
            return Err(S::Error::custom("messages of no chat"));
        }
        reading.chats += 1;
        let mut chat = match exported.known_to_bot_as(reading.bot, None) {
            Ok(chat) => chat,
            Err(why) => {
                reading.left_out.push((exported.name.clone().unwrap_or_default(), why));
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(());
            }
        };
        let mut filling = Filling { messages: Vec::with_capacity(BATCH), unreadable: 0, topics: Topics::default() };
        loop {
            let next = match seq.next_element::<Value>() {
                // What was read before a damage is not lost.
                Err(error) => {
                    filling.hand_over(chat.as_ref(), reading)?;
                    return Err(error);
                }
                Ok(None) => break,
                Ok(Some(value)) => value,
            };
            if chat.is_none() {
                let partner = person(&next).filter(|id| *id != reading.bot);
                chat = exported.known_to_bot_as(reading.bot, partner).unwrap_or(None);
            }
            match chat.as_ref().and_then(|chat| converted(&next, chat.id, reading.bot, &mut filling.topics)) {
                Some(message) => filling.messages.push(message),
                None => filling.unreadable += 1,
            }
            if filling.messages.len() >= BATCH {
                filling.hand_over(chat.as_ref(), reading)?;
            }
        }
        filling.hand_over(chat.as_ref(), reading)
    }
}

struct Filling {
    messages: Vec<Message>,
    unreadable: u64,
    topics: Topics,
}

impl Filling {
    fn hand_over<E: Error>(&mut self, chat: Option<&Chat>, reading: &Reading<'_>) -> Result<(), E> {
        let Some(chat) = chat.filter(|_| !self.messages.is_empty() || self.unreadable > 0) else { return Ok(()) };
        let messages = std::mem::replace(&mut self.messages, Vec::with_capacity(BATCH));
        let bytes = reading.bytes.load(Ordering::Relaxed);
        let batch = Batch { chat: chat.clone(), messages, unreadable: std::mem::take(&mut self.unreadable), bytes };
        // Nobody who writes any more: the reason is told there.
        reading.batches.blocking_send(batch).map_err(|_| E::custom("the import ended"))
    }
}
