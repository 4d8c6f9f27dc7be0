//! Running a selector over a pack.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::context::{Evidence, History, LinkModel, Reading, Scorers, antecedent_rows, without_bots};
use crate::domain::{
    ChatId, ChatKey, Kind, Message, MessageId, Origin, Role, Sender, Seq, StoredMessage, Timestamp, UserId,
};
use crate::embed::Embedder;
use crate::eval::Selector;
use crate::eval::pack::{Pack, PackMessage, QueryAsk};
use crate::eval::score::{Figures, Prediction, headings, mean, score};

/// What a run over a pack came to.
#[derive(Debug, Clone)]
pub struct Evaluated {
    /// Means by variant, and by variant and slice.
    pub figures: BTreeMap<String, BTreeMap<String, f64>>,
    pub predictions: Vec<Prediction>,
}

/// A chat made ready once for all of its queries.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub messages: Vec<StoredMessage>,
    pub evidence: Arc<Evidence>,
    /// Characters of each message, by its id.
    pub lengths: HashMap<i64, usize>,
}

/// Runs `selector` over every query of the pack; calls `progress` after each.
pub fn evaluate(
    pack: &Pack,
    selector: Selector,
    embedder: Option<&Embedder>,
    k: usize,
    mut progress: impl FnMut(),
) -> Evaluated {
    let links = &Scorers::shipped().links;
    let chats: HashMap<&str, Prepared> = (pack.chats.iter())
        .map(|(id, messages)| (id.as_str(), Prepared::read(messages, embedder).with_links(links)))
        .collect();
    let mut rows: BTreeMap<String, Vec<Figures>> = BTreeMap::new();
    let mut predictions = Vec::new();
    for query in &pack.queries {
        let Some(chat) = chats.get(query.ask.chat_id.as_str()) else { continue };
        let history = chat.history(&query.ask);
        let prediction = selector.select(&query.ask.query_id, &history, k, &Scorers::shipped());
        let figures = score(query, &prediction, &chat.lengths, k);
        for heading in headings(query) {
            rows.entry(heading).or_default().push(figures.clone());
        }
        predictions.push(prediction);
        progress();
    }
    let figures = rows.into_iter().map(|(heading, rows)| (heading, mean(&rows))).collect();
    Evaluated { figures, predictions }
}

impl Prepared {
    /// Reads what each message says; which goes on from which is [`Self::with_links`].
    pub fn read(messages: &[PackMessage], embedder: Option<&Embedder>) -> Self {
        let stored: Vec<StoredMessage> = (1..).zip(messages).map(|(seq, message)| to_stored(message, seq)).collect();
        let mut evidence = Evidence::default();
        for one in &stored {
            let text = without_bots(&one.message.text);
            let vector = embedder.map_or_else(Vec::new, |embedder| embedder.embed(&text));
            let reading = Reading::of(&one.message, &text, vector);
            evidence.readings.insert((one.message.chat, one.message.id), Arc::new(reading));
        }
        let lengths = messages.iter().map(|message| (message.message_id, message.text.chars().count())).collect();
        Self { messages: stored, evidence: Arc::new(evidence), lengths }
    }

    /// The same with the antecedents that a table of links gives.
    #[must_use]
    pub fn with_links(mut self, links: &LinkModel) -> Self {
        let antecedents = antecedent_rows(&self.messages, &self.evidence, links);
        let Evidence { readings, earlier, .. } = Arc::unwrap_or_clone(self.evidence);
        self.evidence = Arc::new(Evidence { readings, antecedents, earlier, foreseen: None });
        self
    }

    /// What the daemon would have fetched for this trigger: the window, and nothing that the variant hides.
    pub fn history(&self, ask: &QueryAsk) -> History {
        let bare = ask.variant.starts_with("bare");
        let has_links = !matches!(ask.variant.as_str(), "plain" | "bare" | "reply");
        let find = |id: i64| self.messages.partition_point(|stored| stored.message.id.0 < id);
        let (start, end) = (find(ask.window.0), find(ask.message_id));
        let mut recent = self.messages[start..end].to_vec();
        if !has_links {
            recent.iter_mut().for_each(|stored| stored.message.reply_to = None);
        }
        let mut trigger = self.messages[end].clone();
        trigger.message.reply_to = ask.reply_to.map(MessageId);
        if bare {
            trigger.message.text = String::new();
        }
        let ask = without_bots(&trigger.message.text).into_owned();
        let is_tag = ask != trigger.message.text;
        let evidence = Arc::clone(&self.evidence);
        History { ask, is_tag, evidence, ..History::new(trigger, recent, Vec::new()) }
    }
}

fn to_stored(message: &PackMessage, seq: u32) -> StoredMessage {
    StoredMessage {
        chat: ChatKey(1),
        seq: Seq(seq),
        message: Message {
            chat: ChatId(-1),
            id: MessageId(message.message_id),
            thread: None,
            sender: Sender {
                id: UserId(message.from_id),
                name: message.from_name.clone(),
                username: message.username.clone(),
                is_bot: message.is_bot,
                is_chat: false,
            },
            role: if message.is_bot { Role::Assistant } else { Role::User },
            sent_at: Timestamp::from_secs(message.date),
            edited_at: None,
            kind: Kind::Text,
            detail: None,
            text: message.text.clone(),
            entities: Vec::new(),
            reply_to: message.reply_to.map(MessageId),
            quote: None,
            snapshot: None,
            forward_origin: None,
            borrowed: None,
            album: None,
            via_bot: None,
            origin: Origin::Update,
        },
    }
}
