//! Loads messages to summarize, and stored summaries to display.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::bullets::cost;
use crate::extract::SummaryMessage;
use crate::jobs::memory::Memory;
use crate::lines::spoken;
use crate::members::NumberedNames;
use crate::policy::RECENT_CAPS;
use crate::policy::{self, SummaryConditions};
use crate::recall::VectorSource;
use crate::wording::Remembered;
use crate::words;
use chime_access::gateway::ModelPurpose;
use chime_core::embed::Embedder;
use chime_core::trigger::Languages;
use chime_core::{
    Bullet, ChatKey, Conversation, Member, MessageId, Role, Rolling, Seq, Session, SessionId, SourceMessage,
    StoredMessage, Summary, Timestamp, UserId, WordStemmer, Zone, estimate_tokens, split_words,
};
use chime_store::chats::ChatRow;
use chime_store::{Priority, Reader, Writer, chat_settings, chats, memory, messages, sessions, summaries, usage};

/// Minimum length of a name that is recognised in lower case and with endings.
const NAME_CHARS: usize = 4;

pub(super) struct SessionRead {
    pub session: Session,
    pub chat: ChatRow,
    pub spoken: Vec<SummaryMessage>,
    pub has_substance: bool,
}

impl Memory {
    /// Loads the facts that decide whether and how a chat's summaries are made.
    pub(super) async fn conditions(&self, chat: ChatKey) -> chime_store::Result<SummaryConditions> {
        let kept = self.store.read(move |conn| memory::memory_state(conn, chat)).await?;
        let now = self.clock.now();
        let spent = self.store.read(move |conn| usage::spent(conn, now, chat, UserId(0))).await?;
        Ok(SummaryConditions {
            is_wanted: self.config.is_on && !kept.is_off,
            is_present: kept.is_present,
            has_model: self.model.can_write(ModelPurpose::Summary).await,
            was_asked_lately: kept.asked_at.is_some_and(|at| now.since(at) < policy::ASKED_LATELY),
            was_told: !self.announces || kept.told_at.is_some(),
            has_room: self.model.has_room(spent),
        })
    }

    pub(super) async fn zone_of(&self, conversation: Conversation) -> chime_store::Result<Zone> {
        let operators = self.zone;
        self.store.read(move |conn| chat_settings::zone(conn, conversation, operators)).await
    }

    /// Loads the messages of a session as summary input. Returns `None` if the session does not exist.
    pub(super) async fn read_session(&self, id: SessionId) -> chime_store::Result<Option<SessionRead>> {
        let found = self
            .store
            .read(move |conn| {
                let (session, chat) = (sessions::find(conn, id)?, chats::by_key(conn, id.chat)?);
                let (Some(session), Some(chat)) = (session, chat) else { return Ok(None) };
                let said = sessions::messages_of(conn, &session)?;
                Ok(Some((session, chat, said)))
            })
            .await?;
        let Some((session, chat, said)) = found else { return Ok(None) };
        let spoken = self.summary_lines(id.chat, said).await?;
        let humans = spoken.iter().filter(|it| it.by.is_some()).count();
        let tokens = spoken.iter().filter(|it| it.by.is_some()).map(|it| estimate_tokens(&it.text)).sum();
        Ok(Some(SessionRead { session, chat, spoken, has_substance: policy::has_substance(humans, tokens) }))
    }

    /// Converts messages of a chat to summary input. Each member of the chat is given a number, under which summaries
    /// refer to them.
    pub(super) async fn summary_lines(
        &self,
        chat: ChatKey,
        said: Vec<StoredMessage>,
    ) -> chime_store::Result<Vec<SummaryMessage>> {
        let senders: Vec<UserId> = said.iter().filter(|it| is_human(it)).map(|it| it.message.sender.id).collect();
        let numbered = move |tx: &Writer<'_>| {
            let people = chats::members(tx, chat)?;
            let users = senders.into_iter().chain(people.iter().map(|member| member.id));
            Ok((numbers(tx, chat, users)?, people))
        };
        let (numbers, people) = self.store.write(Priority::Background, numbered).await?;
        let embedder = match &self.vectors {
            VectorSource::Local(embedder) => Some(Arc::clone(embedder)),
            VectorSource::Off | VectorSource::Server(_) => None,
        };
        // Embedding is slow, so it runs on a reader's thread.
        let lines =
            move |conn: &Reader| Ok(summary_lines(&said, &people, &numbers, &seqs(conn, &said)?, embedder.as_deref()));
        self.store.read(lines).await
    }
}

pub(super) fn is_human(stored: &StoredMessage) -> bool {
    stored.message.role == Role::User && !stored.message.sender.is_bot
}

fn numbers(
    tx: &Writer<'_>,
    chat: ChatKey,
    users: impl Iterator<Item = UserId>,
) -> chime_store::Result<BTreeMap<UserId, u32>> {
    let (mut found, _) = summaries::member_numbers(tx, chat)?;
    for user in users {
        if let Entry::Vacant(unknown) = found.entry(user) {
            unknown.insert(summaries::member_number(tx, chat, user)?);
        }
    }
    Ok(found)
}

/// Returns the numbers of messages and of those that they reply to, which may be in an earlier session.
pub(super) fn seqs(conn: &Reader, said: &[StoredMessage]) -> chime_store::Result<BTreeMap<MessageId, Seq>> {
    let mut seqs: BTreeMap<MessageId, Seq> = said.iter().map(|it| (it.message.id, it.seq)).collect();
    for (chat, parent) in said.iter().filter_map(|it| Some((it.message.chat, it.message.reply_to?))) {
        if !seqs.contains_key(&parent)
            && let Some(found) = messages::find(conn, chat, parent)?
        {
            seqs.insert(parent, found.seq);
        }
    }
    Ok(seqs)
}

pub(super) fn summary_lines(
    said: &[StoredMessage],
    people: &[Member],
    numbers: &BTreeMap<UserId, u32>,
    seqs: &BTreeMap<MessageId, Seq>,
    embedder: Option<&Embedder>,
) -> Vec<SummaryMessage> {
    let names = names_of(said, people, numbers);
    said.iter()
        .filter(|it| !it.message.rendered().trim().is_empty())
        .map(|it| {
            let by = is_human(it).then(|| numbers.get(&it.message.sender.id).copied()).flatten();
            let reply_to = it.message.reply_to.and_then(|parent| seqs.get(&parent).copied());
            let vector = embedder.map(|embedder| embedder.embed(&it.message.text)).unwrap_or_default();
            spoken(it, by, &names, reply_to, vector)
        })
        .collect()
}

/// Returns the names by which members may be called: usernames, names and first names. If several members have one, it
/// is of the one who wrote here, or of none of them. Usernames without `@`, which may be any word, and names that are
/// also everyday words of these messages, such as "Will", are recognised only where they call somebody.
fn names_of(said: &[StoredMessage], people: &[Member], numbers: &BTreeMap<UserId, u32>) -> NumberedNames {
    let authors = said.iter().map(|it| &it.message.sender).map(|it| (it.id, &it.name, &it.username));
    let others = people.iter().map(|it| (it.id, &it.name, &it.username));
    let said_words: HashSet<&str> = said.iter().flat_map(|it| split_words(&it.message.text)).collect();
    let with_article: HashSet<&str> = said.iter().flat_map(|it| words::after_articles(&it.message.text)).collect();
    let is_ordinary =
        |lower: &str| lower.chars().count() < NAME_CHARS || words::is_everyday(lower) || with_article.contains(lower);
    let is_word = |name: &str| match name.to_lowercase() {
        lower if lower == name => Languages::shipped().is_stop_word_in(name, name),
        lower => said_words.contains(lower.as_str()) && is_ordinary(&lower),
    };
    let mut names = NumberedNames::default();
    for people in [authors.collect::<Vec<_>>(), others.collect()] {
        let mut found: BTreeMap<String, BTreeSet<(u32, String, bool)>> = BTreeMap::new();
        for (id, name, username) in people {
            let Some(number) = numbers.get(&id) else { continue };
            let usernames = username.iter().flat_map(|name| [format!("@{name}"), name.clone()]);
            let first = name.split_whitespace().take(1).map(str::to_owned);
            let own: Vec<String> = first.chain([name.clone()]).collect();
            for name in usernames.chain(own.iter().cloned()) {
                let is_own = own.contains(&name);
                found.entry(name.to_lowercase()).or_default().insert((*number, name, is_own));
            }
        }
        for (called, of) in found {
            let number = of.first().map(|(number, ..)| *number).filter(|one| of.iter().all(|(it, ..)| it == one));
            if let Some(number) = number.filter(|_| !names.called.contains_key(&called)) {
                let written = of.into_iter().filter(|(_, name, is_own)| *is_own && !is_word(name));
                names.written.extend(written.map(|(number, name, _)| (name, number)));
                names.called.insert(called, number);
            }
        }
    }
    let texts: Vec<&str> = said.iter().map(|it| it.message.text.as_str()).collect();
    let language = words::language_of(&texts.join("\n"));
    let stemmer = words::inflects_names(language).then(|| WordStemmer::new(language));
    let forms = forms_of_names(&names.written, &said_words, stemmer.as_ref(), is_ordinary);
    names.written.extend(forms);
    names
}

/// Returns the other forms of members' names among `words`: in lower case ("ask rika"), and with `stemmer` those with the
/// endings of the chat's language ("у Светы"). Forms that may be ordinary words are left out.
fn forms_of_names(
    names: &BTreeMap<String, u32>,
    words: &HashSet<&str>,
    stemmer: Option<&WordStemmer>,
    is_ordinary: impl Fn(&str) -> bool,
) -> Vec<(String, u32)> {
    let lower = names.iter().map(|(name, number)| (name.to_lowercase(), *number));
    let long = lower.filter(|(name, _)| name.chars().count() >= NAME_CHARS);
    let stemmed = |word: &str| stemmer.map_or_else(|| word.to_owned(), |stemmer| stemmer.stem(word).into_owned());
    let named: Vec<(String, String, u32)> = long.map(|(name, number)| (name.clone(), stemmed(&name), number)).collect();
    let number = |word: &str| {
        let (lower, is_capital) = (word.to_lowercase(), word.starts_with(char::is_uppercase));
        let stem = stemmed(&lower);
        let is_form = |name: &str, of: &str| match is_capital {
            // The stem alone may be a word: "свет" is light.
            true if lower == name => true,
            // The stemmer shortens "Иван", but "Ивану" only to "иван".
            true => {
                (stem == of || stem == name)
                    && !words.contains(&*lower)
                    && lower.chars().count() >= name.chars().count()
            }
            false => lower == name && !is_ordinary(name),
        };
        named.iter().find(|(name, of, _)| is_form(name, of)).map(|(.., number)| *number)
    };
    words.iter().filter_map(|word| Some(((*word).to_owned(), number(word)?))).collect()
}

/// Loads Recent and History of a chat for display in `zone`. If neither exists yet, the newest session summaries take
/// their place.
pub fn remembered(conn: &Reader, chat: &ChatRow, zone: Zone) -> chime_store::Result<Remembered> {
    let rolled = |kind| -> chime_store::Result<OfSessions> {
        let kept = summaries::rolling(conn, chat.key, kind)?.filter(|kept| !kept.summary.bullets.is_empty());
        Ok(kept.map(|kept| (kept.summary, kept.sessions)))
    };
    let (recent, history) = (rolled(Rolling::Recent)?, rolled(Rolling::History)?);
    // After an import, Recent is missing until all sessions are summarized; this shows what is done so far.
    let recent = if recent.is_none() && history.is_none() { newest_talks(conn, chat.key)? } else { recent };
    let found = with_places(conn, chat, zone, recent, history)?;
    let is_empty = found.recent.is_none() && found.history.is_none();
    let is_being_made = !sessions::stale(conn, chat.key, 1)?.is_empty()
        || is_empty && !memory::newest_texts(conn, chat.key, 1)?.is_empty();
    Ok(Remembered { is_being_made, ..found })
}

/// Returns the newest session summaries, with at most as many bullets as Recent, all as facts like there, and the number of
/// sessions. `None` if there are none.
fn newest_talks(conn: &Reader, chat: ChatKey) -> chime_store::Result<OfSessions> {
    let (first, last) = (Timestamp::from_secs(0), Timestamp::END);
    let minis = summaries::minis_between(conn, chat, first, last, RECENT_CAPS.bullets as u32)?;
    let Some((_, newest)) = minis.first() else { return Ok(None) };
    let mut lines = 0;
    let fits = |(_, mini): &&(Session, Summary)| {
        lines += mini.bullets.len();
        lines == mini.bullets.len() || lines <= RECENT_CAPS.bullets
    };
    let kept: Vec<&(Session, Summary)> = minis.iter().take_while(fits).collect();
    let told = kept.iter().rev().flat_map(|(_, mini)| &mini.bullets);
    let bullets: Vec<_> = told.map(|bullet| Bullet::fact(&bullet.text, bullet.sources.clone())).collect();
    let tokens = cost(&bullets, estimate_tokens);
    Ok(Some((Summary { bullets, tokens, ..newest.clone() }, u32::try_from(kept.len()).unwrap_or(u32::MAX))))
}

/// Summary, with the number of sessions that it covers.
type OfSessions = Option<(Summary, u32)>;

/// Loads the source messages of bullets, with their links.
pub fn places(
    conn: &Reader,
    chat: &ChatRow,
    sources: BTreeSet<Seq>,
) -> chime_store::Result<BTreeMap<Seq, SourceMessage>> {
    let found = messages::by_seqs(conn, chat.key, sources)?;
    Ok(found.iter().map(|stored| (stored.seq, SourceMessage::of(&chat.chat, stored))).collect())
}

/// Adds the names of members and the links of source messages, which displaying needs.
pub(super) fn with_places(
    conn: &Reader,
    chat: &ChatRow,
    zone: Zone,
    recent: OfSessions,
    history: OfSessions,
) -> chime_store::Result<Remembered> {
    let bullets = recent.iter().chain(&history).flat_map(|(summary, _)| &summary.bullets);
    let sources: BTreeSet<Seq> = bullets.flat_map(|bullet| &bullet.sources).copied().collect();
    let places = places(conn, chat, sources)?;
    let names = summaries::member_names(conn, chat.key)?;
    Ok(Remembered { recent, history, names, places, zone, is_being_made: false })
}
