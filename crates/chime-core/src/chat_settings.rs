//! Table of the settings that the admins of a chat may change. The panel of `/settings`, `/settings <name> <value>` and
//! `chime chats` read it; the texts of a setting are in the table `texts.settings.of.<name>` of each language.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::time::Duration;

use crate::config::{Config, ListedModel, SessionIdle, Streaming, format_duration, parse_amount, parse_duration};
use crate::lang::languages;
use crate::texts::{Texts, filled};
use crate::{Askers, ChatKind, Grounding, Language, LinkReading, Zone, grouped};

/// Largest number of characters of a persona.
const PERSONA_CHARS: usize = 600;
/// Value that stands for the operator's setting.
pub const DEFAULT: &str = "default";

#[derive(Debug, Clone, Copy)]
pub struct ChatSetting<T> {
    pub key: &'static str,
    value: PhantomData<fn() -> T>,
}

#[derive(Debug)]
pub struct SettingEntry {
    /// Name in the database, in buttons and after `/settings`.
    pub key: &'static str,
    pub page: u8,
    /// `true` if a forum topic can have a value of its own.
    pub in_topics: bool,
    /// `true` if the value is a text by a member, which is forgotten like a message and never shown.
    pub is_written: bool,
    /// Values that can be typed, where those that the panel offers are only some of them; else empty.
    range: &'static str,
    /// Returns the values that the panel offers as buttons.
    pub offered: fn(&OperatorDefaults) -> Vec<String>,
    /// Returns the value in chats of a kind that have set none; `None` if the setting does not exist there.
    pub default: fn(&OperatorDefaults, ChatKind) -> Option<String>,
    /// Returns a value in the form in which it is stored; `None` if it is invalid.
    pub parse: fn(&str, &OperatorDefaults) -> Option<String>,
    /// Formats a stored value for a sentence.
    pub shown: fn(&str, &Texts) -> String,
    /// Formats a stored value for a button.
    pub label: fn(&str, &Texts) -> String,
}

pub trait SettingValue: Sized {
    /// `true` if a member writes the value as free text: it is forgotten with its author.
    const IS_WRITTEN: bool = false;

    fn parse_setting(raw: &str) -> Option<Self>;
    /// Formats the value as [`parse_setting`](Self::parse_setting) reads it.
    fn as_setting(&self) -> String;
    fn shown(&self, _: &Texts) -> String {
        self.as_setting()
    }
    fn label(&self, texts: &Texts) -> String {
        self.shown(texts)
    }
}

/// Values of the operator, which hold where a chat has set none.
#[derive(Debug, Clone)]
pub struct OperatorDefaults {
    pub memory: bool,
    pub streaming: Streaming,
    pub links: LinkReading,
    /// `false` if the operator has chosen no service that searches the web.
    pub web: bool,
    pub idle: SessionIdle,
    pub zone: Zone,
    /// Tokens that a chat may take in a day at most.
    pub daily_tokens: Option<u64>,
    /// Models among which admins may choose.
    pub models: Vec<ListedModel>,
}

/// Settings of one conversation, by their keys. A missing one has the operator's value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatSettings(BTreeMap<String, String>);

/// Declares a constant for each setting, and the table of all. An entry gives: documentation, type of the value, name,
/// page of the panel, if forum topics can have their own value, bounds, perhaps in words, values that the panel offers, and
/// default.
macro_rules! chat_settings {
    ($(
        $(#[$doc:meta])+
        $name:ident: $type:ty = $key:literal, page $page:literal, in topics $in_topics:literal, if $bounds:expr,
        $(within $range:literal,)?
        offered $offered:expr, default $default:expr;
    )+) => {
        $($(#[$doc])+ pub const $name: ChatSetting<$type> = ChatSetting { key: $key, value: PhantomData };)+

        /// All settings, in the order of the panel.
        pub const CHAT_SETTINGS: &[SettingEntry] = &[$(SettingEntry {
            key: $key,
            page: $page,
            in_topics: $in_topics,
            is_written: <$type>::IS_WRITTEN,
            range: concat!("", $($range)?),
            offered: $offered,
            default: $default,
            parse: |raw, own| {
                let is_allowed: fn(&$type, &OperatorDefaults) -> bool = $bounds;
                let value = <$type>::parse_setting(raw).filter(|value| is_allowed(value, own));
                value.map(|value| value.as_setting())
            },
            shown: |raw, texts| <$type>::parse_setting(raw).map(|value| value.shown(texts)).unwrap_or_default(),
            label: |raw, texts| <$type>::parse_setting(raw).map(|value| value.label(texts)).unwrap_or_default(),
        }),+];
    };
}

chat_settings! {
    /// Knowledge that answers may use.
    GROUNDING: Grounding = "grounding", page 1, in topics true, if |_, _| true, offered |_| list(&["open", "strict"]),
    default |_, _| Some("open".to_owned());

    /// `true` if conversations are summarized.
    MEMORY: bool = "memory", page 1, in topics false, if |_, _| true, offered |_| list(&["on", "off"]),
    default |own, _| own.memory.then(|| true.as_setting());

    /// `true` if members see an answer while it is being written.
    STREAMING: bool = "streaming", page 1, in topics true, if |_, _| true, offered |_| list(&["on", "off"]),
    default |own, kind| Some(own.streaming.in_chats_of(kind).as_setting());

    /// Cases in which linked pages are read.
    LINKS: LinkReading = "links", page 1, in topics true, if |_, _| true, offered |_| list(&["off", "asked", "on"]),
    default |own, _| (own.links != LinkReading::Off).then(|| own.links.as_setting());

    /// `false` if answers must not search the web.
    WEB: bool = "web", page 1, in topics true, if |_, _| true, offered |_| list(&["on", "off"]),
    default |own, _| own.web.then(|| true.as_setting());

    /// Length of silence that ends a session.
    SESSION_IDLE: Duration = "session_idle", page 1, in topics true, if |idle, _| (60..=86_400).contains(&idle.as_secs()),
    within "1m–24h", offered |_| list(&["15m", "30m", "1h", "3h"]),
    default |own, kind| Some(own.idle.in_chats_of(kind).as_setting());

    /// Members who may ask.
    ASKERS: Askers = "askers", page 1, in topics true, if |_, _| true, offered |_| list(&["everybody", "admins"]),
    default |_, kind| (kind != ChatKind::Private).then(|| Askers::default().as_setting());

    /// Tokens that answers and summaries may take in a day. A complete answer takes about 7,000.
    DAILY_TOKENS: u64 = "daily_tokens", page 1, in topics false, if |tokens, _| *tokens > 0,
    within "30k, 300k, 2M, …", offered |_| list(&[DEFAULT, "300000", "100000", "30000"]),
    default |_, _| Some(DEFAULT.to_owned());

    /// Language of the bot's own texts; by default the language of the chat's messages.
    LANGUAGE: Language = "language", page 1, in topics false, if |_, _| true,
    offered |_| [DEFAULT.to_owned()].into_iter().chain(languages().iter().map(|file| file.code.clone())).collect(),
    default |_, _| Some(DEFAULT.to_owned());

    /// Time zone in which times are shown.
    TIME_ZONE: Zone = "time_zone", page 1, in topics true, if |_, _| true, offered |_| Vec::new(),
    default |own, _| Some(own.zone.as_setting());

    /// Manner in which the bot writes, in words of an admin.
    PERSONA: Persona = "persona", page 2, in topics true, if |persona, _| persona.0.chars().count() <= PERSONA_CHARS,
    offered |_| Vec::new(), default |_, _| Some(DEFAULT.to_owned());

    /// Model that answers, one of `MODELS`.
    MODEL: ModelName = "model", page 2, in topics true,
    if |model, own| own.models.iter().any(|listed| listed.name == model.0),
    offered |own| [DEFAULT].into_iter().chain(own.models.iter().map(|it| it.name.as_str())).map(str::to_owned).collect(),
    default |own, _| (!own.models.is_empty()).then(|| DEFAULT.to_owned());

    /// Length of answers.
    ANSWER_LENGTH: AnswerLength = "answer_length", page 2, in topics true, if |_, _| true,
    offered |_| list(&["short", "normal", "long"]), default |_, _| Some(AnswerLength::default().as_setting());

    /// Temperature of answers. Servers without one ignore it.
    TEMPERATURE: f32 = "temperature", page 2, in topics true, if |value, _| (0.0..=2.0).contains(value),
    within "0–2", offered |_| list(&[DEFAULT, "0", "0.5", "1"]), default |_, _| Some(DEFAULT.to_owned());

    /// `true` if a reply to an answer counts as a tag.
    REPLIES: bool = "replies", page 2, in topics true, if |_, _| true, offered |_| list(&["on", "off"]),
    default |_, kind| (kind != ChatKind::Private).then(|| true.as_setting());

    /// Name that counts as a tag at the beginning of a message.
    NAME: CalledName = "name", page 2, in topics true,
    if |name, _| (2..=32).contains(&name.0.chars().count()) && name.0.chars().all(|c| c.is_alphanumeric() || c == ' '),
    offered |_| list(&[DEFAULT]),
    default |_, kind| (kind != ChatKind::Private).then(|| DEFAULT.to_owned());

    /// `true` if the bot answers a question that nobody answered for an hour.
    AMBIENT: bool = "ambient", page 2, in topics true, if |_, _| true, offered |_| list(&["on", "off"]),
    default |_, kind| (kind != ChatKind::Private).then(|| false.as_setting());
}

impl SettingEntry {
    /// Finds a setting by its name in any spelling, or by its last word: `time_zone`, `Timezone`, `time-zone`, `zone`.
    pub fn find(name: &str) -> Option<&'static Self> {
        let plain = |name: &str| name.to_lowercase().replace(['_', '-'], "");
        let is_named = |entry: &&Self| plain(entry.key) == plain(name);
        let ends_so = |entry: &&Self| entry.key.split('_').next_back() == Some(plain(name).as_str());
        CHAT_SETTINGS.iter().find(is_named).or_else(|| CHAT_SETTINGS.iter().find(ends_so))
    }

    /// Finds the offered value that `said` names as its button does, or as the sentence behind the title does: "streng"
    /// in "**Antworten**: streng."
    pub fn worded(&self, said: &str, texts: &Texts, own: &OperatorDefaults) -> Option<String> {
        let plain = |text: &str| text.trim().trim_end_matches('.').to_lowercase();
        let state = |value: &str| {
            let (_, sentence) = self.text(value, texts)?.strip_prefix("**")?.split_once("**")?;
            let words = sentence.trim_start_matches(|c: char| c == ':' || c.is_whitespace());
            words.split(['.', ':', ',']).next().map(plain)
        };
        let is_meant = |value: &String| {
            plain(&self.button(value, texts, own)) == plain(said) || state(value).is_some_and(|it| it == plain(said))
        };
        (self.offered)(own).into_iter().find(is_meant)
    }

    /// Finds the setting whose title in the language of `texts` is at the beginning of a text: "Sprache en". Returns
    /// also the rest of the text. If one title begins with another, the longer one counts.
    pub fn titled<'a>(text: &'a str, texts: &Texts) -> Option<(&'static Self, &'a str)> {
        let named = CHAT_SETTINGS.iter().filter_map(|entry| {
            let mut rest = text;
            for word in entry.title(texts)?.split_whitespace() {
                let said = rest.split_whitespace().next().filter(|said| said.to_lowercase() == word.to_lowercase())?;
                rest = rest.trim_start().strip_prefix(said)?;
            }
            Some((entry, rest))
        });
        named.min_by_key(|(_, rest)| rest.len())
    }

    /// Returns the bold words with which the sentences about the setting begin.
    fn title<'a>(&self, texts: &'a Texts) -> Option<&'a str> {
        let sentences = texts.settings.of.get(self.key)?.values();
        let mut titles = sentences.filter_map(|sentence| Some(sentence.strip_prefix("**")?.split_once("**")?.0));
        titles.next()
    }

    /// Lists the values that can be typed.
    pub fn possible(&self, texts: &Texts, own: &OperatorDefaults) -> String {
        let named = |value: &String| if value == DEFAULT { value.clone() } else { (self.label)(value, texts) };
        let values = match self.range {
            "" => (self.offered)(own).iter().map(named).collect(),
            range => vec![range.to_owned(), DEFAULT.to_owned()],
        };
        values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
    }

    pub fn line(&self, value: &str, texts: &Texts, own: &OperatorDefaults) -> String {
        let is_above =
            |cap: &u64| self.key == DAILY_TOKENS.key && u64::parse_setting(value).is_some_and(|it| it > *cap);
        if let (Some(cap), Some(line)) = (own.daily_tokens.filter(is_above), self.text("capped", texts)) {
            return filled(line, &[("value", &grouped(cap))]);
        }
        match (self.text(value, texts), self.text("line", texts)) {
            (Some(line), _) => line.clone(),
            (None, Some(line)) => filled(line, &[("value", &(self.shown)(value, texts))]),
            (None, None) => (self.shown)(value, texts),
        }
    }

    pub fn button(&self, value: &str, texts: &Texts, own: &OperatorDefaults) -> String {
        let label = self.text(&format!("{value}_button"), texts).cloned().unwrap_or_else(|| (self.label)(value, texts));
        let listed = own.models.iter().find(|model| self.key == MODEL.key && model.name == value);
        match listed.and_then(|model| model.prices) {
            Some(prices) => format!("{label} ({}/{})", prices.prompt, prices.completion),
            None => label,
        }
    }

    pub fn text<'a>(&self, name: &str, texts: &'a Texts) -> Option<&'a String> {
        texts.settings.of.get(self.key)?.get(name)
    }
}

impl OperatorDefaults {
    pub fn of(config: &Config) -> Self {
        Self {
            memory: config.memory.is_on,
            streaming: config.answer.streaming,
            links: config.answer.links,
            web: config.answer.web.is_some(),
            idle: config.memory.idle,
            zone: config.time.zone,
            daily_tokens: [config.limits.daily_tokens.total, config.limits.daily_tokens.per_chat]
                .into_iter()
                .flatten()
                .min(),
            models: config.llm.models.clone(),
        }
    }
}

impl ChatSettings {
    pub fn get<T: SettingValue>(&self, setting: ChatSetting<T>) -> Option<T> {
        T::parse_setting(self.raw(setting.key)?)
    }

    /// Returns a value as it is stored.
    pub fn raw(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Returns the time zone in which times are shown: the conversation's own, or else the operator's.
    pub fn zone(&self, operators: Zone) -> Zone {
        self.get(TIME_ZONE).unwrap_or(operators)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

impl FromIterator<(String, String)> for ChatSettings {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl SettingValue for bool {
    fn parse_setting(raw: &str) -> Option<Self> {
        [true, false].into_iter().find(|is_on| is_on.as_setting() == raw)
    }

    fn as_setting(&self) -> String {
        if *self { "on" } else { "off" }.to_owned()
    }
}

macro_rules! word_values {
    ($($type:ty),+) => {
        $(impl SettingValue for $type {
            fn parse_setting(raw: &str) -> Option<Self> {
                Self::parse(raw)
            }

            fn as_setting(&self) -> String {
                self.as_str().to_owned()
            }
        })+
    };
}
word_values!(Grounding, LinkReading, Askers, AnswerLength);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnswerLength {
    Short,
    #[default]
    Normal,
    Long,
}

words!(AnswerLength { Short = "short", Normal = "normal", Long = "long" });

/// Text of an admin about the manner in which the bot writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persona(pub String);

impl SettingValue for Persona {
    const IS_WRITTEN: bool = true;

    fn parse_setting(raw: &str) -> Option<Self> {
        parse_words(raw).map(Self)
    }

    fn as_setting(&self) -> String {
        self.0.clone()
    }

    /// Shows the number of characters only.
    fn shown(&self, _: &Texts) -> String {
        self.0.chars().count().to_string()
    }
}

macro_rules! text_values {
    ($($(#[$doc:meta])+ $type:ident is_written $is_written:literal),+) => {
        $($(#[$doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $type(pub String);

        impl SettingValue for $type {
            const IS_WRITTEN: bool = $is_written;

            fn parse_setting(raw: &str) -> Option<Self> {
                parse_words(raw).map(Self)
            }

            fn as_setting(&self) -> String {
                self.0.clone()
            }
        })+
    };
}
text_values!(
    /// Name of a model, as its server knows it.
    ModelName is_written false,
    /// Name that members call the bot by.
    CalledName is_written true
);

fn parse_words(raw: &str) -> Option<String> {
    Some(raw.trim().to_owned()).filter(|words| !words.is_empty())
}

impl SettingValue for f32 {
    fn parse_setting(raw: &str) -> Option<Self> {
        raw.replace(',', ".").parse().ok().filter(|value: &Self| value.is_finite())
    }

    fn as_setting(&self) -> String {
        self.to_string()
    }
}

impl SettingValue for Duration {
    fn parse_setting(raw: &str) -> Option<Self> {
        parse_duration(raw)
    }

    fn as_setting(&self) -> String {
        format_duration(*self)
    }

    fn shown(&self, texts: &Texts) -> String {
        let (unit, number) = match self.as_secs() / 60 {
            minutes if minutes >= 120 && minutes.is_multiple_of(60) => (&texts.why.hours, minutes / 60),
            minutes => (&texts.why.minutes, minutes),
        };
        filled(unit, &[("n", &number.to_string())])
    }
}

/// Number of tokens.
impl SettingValue for u64 {
    fn parse_setting(raw: &str) -> Option<Self> {
        parse_amount(raw)
    }

    fn as_setting(&self) -> String {
        self.to_string()
    }

    fn shown(&self, _: &Texts) -> String {
        grouped(*self)
    }

    fn label(&self, _: &Texts) -> String {
        format!("{}k", self / 1000)
    }
}

impl SettingValue for Language {
    fn parse_setting(raw: &str) -> Option<Self> {
        let file = languages().iter().find(|file| [&file.code, &file.short].contains(&&raw.to_lowercase()))?;
        Some(Self::from_code(&file.code))
    }

    fn as_setting(&self) -> String {
        self.code().to_owned()
    }

    fn shown(&self, _: &Texts) -> String {
        self.file().map_or(self.english_name(), |file| &file.name).to_owned()
    }
}

impl SettingValue for Zone {
    fn parse_setting(raw: &str) -> Option<Self> {
        Self::parse(raw)
    }

    fn as_setting(&self) -> String {
        self.name().to_owned()
    }
}

fn list(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}
