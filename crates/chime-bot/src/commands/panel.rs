//! Panel of `/settings`: its text, its buttons, and the change that each button makes.

use std::time::Duration;

use chime_core::lang::languages;
use chime_core::texts::{Texts, filled};
use chime_core::{Askers, Button, Grounding, Language, LinkReading, Zone, grouped};

/// Value in a button's data for following the language of the chat's messages.
const OF_CHAT: &str = "chat";
/// Start of the data of each button on the panel.
const PREFIX: &str = "settings";
/// Session timeouts that the panel offers.
const IDLES: [Duration; 4] = [
    Duration::from_secs(15 * 60),
    Duration::from_secs(30 * 60),
    Duration::from_secs(3600),
    Duration::from_secs(3 * 3600),
];
/// Daily token limits that the panel offers. A complete answer takes about 7,000 tokens.
const BUDGETS: [u64; 3] = [300_000, 100_000, 30_000];
/// Value in a button's data for removing the chat's own token limit.
const NO_CAP: &str = "none";
/// Number of language buttons per row: three names fit on a small screen.
const LANGUAGES_A_ROW: usize = 3;
/// Value in a button's data for deleting the memory.
const DELETE: &str = "delete";
/// Mark at the start of the label of the current choice.
const CHOSEN: &str = "✓ ";

/// Current settings of a chat, as the panel shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panel {
    pub grounding: Grounding,
    /// `true` if memory is on; `None` if the operator has turned it off for all chats.
    pub memory: Option<bool>,
    /// `true` if answers are shown while they are written.
    pub streaming: bool,
    /// When linked pages are read; `None` if the operator has turned it off for all chats.
    pub links: Option<LinkReading>,
    /// `true` if answers may search the web; `None` if the operator has chosen no service.
    pub web: Option<bool>,
    pub session_idle: Duration,
    /// Language of the bot's own texts; `None` to follow the language of the chat's messages.
    pub language: Option<Language>,
    /// Members who may ask. Not shown in a private chat.
    pub askers: Askers,
    /// Daily token limit that the chat has set; `None` for the operator's.
    pub daily_tokens: Option<u64>,
    /// Time zone in which times are shown.
    pub zone: Zone,
    pub is_private: bool,
}

/// Change that a button requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingChange {
    Grounding(Grounding),
    Memory(bool),
    /// Turns memory off and deletes it. Sent by the button that confirms this.
    DeleteMemory,
    Streaming(bool),
    Links(LinkReading),
    Web(bool),
    SessionIdle(Duration),
    /// `None` follows the language of the chat's messages.
    Language(Option<Language>),
    Askers(Askers),
    /// `None` removes the chat's own limit, so that the operator's applies.
    DailyTokens(Option<u64>),
    /// Changes nothing and shows the panel again.
    Nothing,
}

impl SettingChange {
    /// Encodes the change as button data, which [`Self::parse`] reads back.
    pub fn data(self) -> String {
        match self {
            Self::Grounding(grounding) => format!("{PREFIX}:grounding:{}", grounding.as_str()),
            Self::Memory(is_on) => format!("{PREFIX}:memory:{}", on_off(is_on)),
            Self::DeleteMemory => format!("{PREFIX}:memory:{DELETE}"),
            Self::Streaming(is_on) => format!("{PREFIX}:streaming:{}", on_off(is_on)),
            Self::Links(reading) => format!("{PREFIX}:links:{}", reading.as_str()),
            Self::Web(is_on) => format!("{PREFIX}:web:{}", on_off(is_on)),
            Self::SessionIdle(idle) => format!("{PREFIX}:idle:{}", idle.as_secs()),
            Self::Language(language) => format!("{PREFIX}:language:{}", language.map_or(OF_CHAT, Language::code)),
            Self::Askers(askers) => format!("{PREFIX}:askers:{}", askers.as_str()),
            Self::DailyTokens(None) => format!("{PREFIX}:tokens:{NO_CAP}"),
            Self::DailyTokens(Some(tokens)) => format!("{PREFIX}:tokens:{tokens}"),
            Self::Nothing => format!("{PREFIX}:show:again"),
        }
    }

    /// Decodes button data. Returns `None` for values that no button offers, since a modified client can send anything.
    pub fn parse(data: &str) -> Option<Self> {
        let (setting, value) = data.strip_prefix(PREFIX)?.strip_prefix(':')?.split_once(':')?;
        match setting {
            "grounding" => Grounding::parse(value).map(Self::Grounding),
            "memory" if value == DELETE => Some(Self::DeleteMemory),
            "memory" => parse_on_off(value).map(Self::Memory),
            "streaming" => parse_on_off(value).map(Self::Streaming),
            "links" => LinkReading::parse(value).map(Self::Links),
            "web" => parse_on_off(value).map(Self::Web),
            "language" if value == OF_CHAT => Some(Self::Language(None)),
            "language" => {
                let language = languages().iter().find(|language| language.code == value)?;
                Some(Self::Language(Some(Language::from_code(&language.code))))
            }
            "askers" => Askers::parse(value).map(Self::Askers),
            "tokens" if value == NO_CAP => Some(Self::DailyTokens(None)),
            "tokens" => {
                let tokens: u64 = value.parse().ok()?;
                BUDGETS.contains(&tokens).then_some(Self::DailyTokens(Some(tokens)))
            }
            "show" => (value == "again").then_some(Self::Nothing),
            "idle" => {
                let secs: u64 = value.parse().ok()?;
                IDLES.into_iter().find(|idle| idle.as_secs() == secs).map(Self::SessionIdle)
            }
            _ => None,
        }
    }
}

impl Panel {
    /// Returns the text above the buttons. It explains the buttons only if the reader `may_change` settings.
    pub fn markdown(&self, may_change: bool, texts: &Texts) -> String {
        let words = &texts.settings;
        let who = match (may_change, self.is_private) {
            (true, true) => &words.you_change,
            (true, false) => &words.admins_change,
            (false, _) => &words.only_admins,
        };
        let memory = match self.memory {
            None => &words.memory_nowhere,
            Some(true) => &words.memory_on,
            Some(false) => &words.memory_off,
        };
        let grounding = match self.grounding {
            Grounding::Open => &words.open,
            Grounding::Strict => &words.strict,
        };
        let streaming = if self.streaming { &words.streaming_on } else { &words.streaming_off };
        let links = self.links.map(|reading| match reading {
            LinkReading::Off => words.links_off.clone(),
            LinkReading::Asked => words.links_asked.clone(),
            LinkReading::On => words.links_on.clone(),
        });
        let web = self.web.map(|is_on| if is_on { words.web_on.clone() } else { words.web_off.clone() });
        let sessions = filled(&words.sessions, &[("idle", &shown(self.session_idle, texts))]);
        let language = match self.language {
            None => words.language_of_chat.clone(),
            Some(language) => {
                filled(&words.language, &[("name", language.file().map_or(language.english_name(), |file| &file.name))])
            }
        };
        let askers = match self.askers {
            Askers::Everybody => &words.everybody_asks,
            Askers::Admins => &words.admins_ask,
        };
        let askers = (!self.is_private).then(|| askers.clone());
        let budget = match self.daily_tokens {
            None => words.no_budget.clone(),
            Some(tokens) => filled(&words.budget, &[("n", &grouped(tokens))]),
        };
        let lines =
            [Some(grounding.clone()), Some(memory.clone()), Some(streaming.clone()), links, web, Some(sessions)];
        let zone = filled(&words.time_zone, &[("name", self.zone.name())]);
        let lines = lines.into_iter().chain([askers, Some(budget), Some(language), Some(zone)]).flatten();
        let lines: Vec<String> = lines.map(|line| format!("- {line}")).collect();
        format!("{} {who}\n\n{}", words.head, lines.join("\n"))
    }

    /// Returns the buttons: a row for each setting, and for languages several rows.
    pub fn buttons(&self, texts: &Texts) -> Vec<Vec<Button>> {
        let words = &texts.settings;
        let button = |label: &str, change: SettingChange, holds: bool| Button {
            label: format!("{}{label}", if holds { CHOSEN } else { "" }),
            data: change.data(),
        };
        let grounding = Grounding::ALL.map(|grounding| {
            let label = match grounding {
                Grounding::Open => &words.open_button,
                Grounding::Strict => &words.strict_button,
            };
            button(label, SettingChange::Grounding(grounding), grounding == self.grounding)
        });
        let memory = self.memory.map(|holds| {
            [(true, &words.memory_on_button), (false, &words.memory_off_button)]
                .map(|(is_on, label)| button(label, SettingChange::Memory(is_on), is_on == holds))
        });
        let streaming = [(true, &words.streaming_on_button), (false, &words.streaming_off_button)]
            .map(|(is_on, label)| button(label, SettingChange::Streaming(is_on), is_on == self.streaming));
        let links = self.links.map(|holds| {
            let labels = [&words.links_off_button, &words.links_asked_button, &words.links_on_button];
            let choices = LinkReading::ALL.into_iter().zip(labels);
            choices.map(|(reading, label)| button(label, SettingChange::Links(reading), reading == holds)).collect()
        });
        let web = self.web.map(|holds| {
            [(true, &words.web_on_button), (false, &words.web_off_button)]
                .map(|(is_on, label)| button(label, SettingChange::Web(is_on), is_on == holds))
        });
        let web = web.map(|row| row.to_vec());
        let idle =
            IDLES.map(|idle| button(&shown(idle, texts), SettingChange::SessionIdle(idle), idle == self.session_idle));
        let memory = memory.map(|row| row.to_vec());
        let askers = [(Askers::Everybody, &words.everybody_asks_button), (Askers::Admins, &words.admins_ask_button)]
            .map(|(askers, label)| button(label, SettingChange::Askers(askers), askers == self.askers));
        let askers = (!self.is_private).then(|| askers.to_vec());
        let budgets = BUDGETS.map(|tokens| (Some(tokens), format!("{}k", tokens / 1000)));
        let budgets = [(None, words.no_budget_button.clone())].into_iter().chain(budgets);
        let budgets = budgets
            .map(|(tokens, label)| button(&label, SettingChange::DailyTokens(tokens), tokens == self.daily_tokens))
            .collect();
        let of_chat = button(&words.language_button, SettingChange::Language(None), self.language.is_none());
        let named = languages().iter().map(|file| {
            let language = Some(Language::from_code(&file.code));
            button(&file.name, SettingChange::Language(language), self.language == language)
        });
        let named: Vec<Button> = named.collect();
        [Some(grounding.to_vec()), memory, Some(streaming.to_vec()), links, web, Some(idle.to_vec())]
            .into_iter()
            .chain([askers, Some(budgets), Some(vec![of_chat])])
            .flatten()
            .chain(named.chunks(LANGUAGES_A_ROW).map(<[Button]>::to_vec))
            .collect()
    }
}

/// Returns the question whether to delete the memory, and its buttons.
pub fn memory_question(texts: &Texts) -> (&str, Vec<Vec<Button>>) {
    let words = &texts.settings;
    let button = |label: &String, change: SettingChange| vec![Button { label: label.clone(), data: change.data() }];
    let buttons = vec![
        button(&words.memory_off_confirm_button, SettingChange::DeleteMemory),
        button(&words.memory_keep_button, SettingChange::Nothing),
    ];
    (&words.memory_off_question, buttons)
}

fn on_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

fn parse_on_off(raw: &str) -> Option<bool> {
    [true, false].into_iter().find(|is_on| on_off(*is_on) == raw)
}

fn shown(span: Duration, texts: &Texts) -> String {
    let (unit, number) = match span.as_secs() / 60 {
        minutes if minutes >= 120 && minutes % 60 == 0 => (&texts.why.hours, minutes / 60),
        minutes => (&texts.why.minutes, minutes),
    };
    filled(unit, &[("n", &number.to_string())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::texts::texts;

    const PANEL: Panel = Panel {
        grounding: Grounding::Open,
        memory: Some(true),
        streaming: false,
        links: Some(LinkReading::Asked),
        web: None,
        session_idle: Duration::from_secs(3600),
        language: None,
        askers: Askers::Everybody,
        daily_tokens: None,
        zone: Zone::UTC,
        is_private: false,
    };

    #[test]
    fn every_button_leads_to_its_change_and_marks_what_holds() {
        let buttons = PANEL.buttons(texts("eng"));
        assert_eq!(buttons.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 3, 4, 2, 4, 1, 3, 3, 3, 3]);
        for button in buttons.iter().flatten() {
            assert!(
                SettingChange::parse(&button.data).is_some_and(|change| change.data() == button.data),
                "{button:?}"
            );
            assert!(button.data.len() <= 64);
        }
        let chosen: Vec<&str> =
            buttons.iter().flatten().filter_map(|button| button.label.strip_prefix(CHOSEN)).collect();
        assert_eq!(
            chosen,
            [
                "Open answers",
                "Memory on",
                "Streaming off",
                "When asked",
                "60 min",
                "Everybody can ask",
                "Default",
                "Language of the chat"
            ]
        );
    }

    #[test]
    fn what_no_button_carries_changes_nothing() {
        for data in [
            "settings",
            "settings:1",
            "settings:idle:7",
            "settings:memory:ON",
            "other",
            "settings:grounding:",
            "settings:language:lat",
            "settings:askers:nobody",
            "settings:tokens:1",
        ] {
            assert_eq!(SettingChange::parse(data), None, "{data}");
        }
    }

    #[test]
    fn without_memory_anywhere_there_is_no_button_for_it() {
        let panel = Panel { memory: None, ..PANEL };
        assert_eq!(panel.buttons(texts("eng")).len(), 11);
        assert!(panel.markdown(true, texts("eng")).contains("off in every chat"));
        assert!(panel.markdown(false, texts("eng")).contains("Only admins"));
        let alone = Panel { is_private: true, ..panel };
        assert!(alone.markdown(true, texts("eng")).contains("You can change them"));
        assert!(!alone.markdown(true, texts("eng")).contains("Tags"), "nobody else is there");
        assert_eq!(alone.buttons(texts("eng")).len(), 10);
    }

    #[test]
    fn the_panel_speaks_the_language_of_the_chat() {
        let told = PANEL.markdown(true, texts("deu"));
        assert!(told.starts_with("Einstellungen dieses Chats.") && told.contains("die Sprache des Chats."), "{told}");
        assert_eq!(PANEL.buttons(texts("deu"))[0][0].label, "✓ Offene Antworten");
    }
}
