//! Panel of `/settings`: its text, its buttons, and the change that each button makes.

use chime_answer::sanitize::escape_markdown;
use chime_core::chat_settings::{CHAT_SETTINGS, ChatSettings, DEFAULT, MEMORY, OperatorDefaults, SettingEntry};
use chime_core::texts::{Texts, filled};
use chime_core::{Button, ChatKey, ChatKind, FNV_START, ForumTopicId, fnv1a};

/// Start of the data of each button on the panel.
const PREFIX: &str = "settings";
/// Pages of the panel.
const PAGES: [u8; 2] = [1, 2];
/// Name in a button's data for showing a page.
const SHOW: &str = "show";
/// Name in a button's data for the values of a topic as a whole.
const TOPIC: &str = "topic";
/// Value in a button's data for deleting the memory.
const DELETE: &str = "delete";
/// Mark at the start of the label of the current choice.
const CHOSEN: &str = "✓ ";
/// Largest number of buttons in one row.
const MOST_A_ROW: usize = 4;
/// Maximum number of buttons per row for a setting with more than [`MOST_A_ROW`] values: three names fit on a small
/// screen.
const MANY_A_ROW: usize = 3;

/// Chat or forum topic whose settings a panel shows. Both fields are `None` for the whole chat in which the panel is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PanelScope {
    /// Chat whose settings are shown, if the panel is in a private chat.
    pub chat: Option<ChatKey>,
    pub topic: Option<ForumTopicId>,
}

/// Settings of a chat or topic, as the panel shows them.
#[derive(Debug, Clone)]
pub struct Panel<'a> {
    pub scope: PanelScope,
    pub settings: &'a ChatSettings,
    pub defaults: &'a OperatorDefaults,
    pub kind: ChatKind,
    /// Title of the chat, if the panel is in another one.
    pub title: Option<&'a str>,
    /// Forum topic in which the panel is. A button switches to its settings.
    pub here: Option<ForumTopicId>,
    pub page: u8,
}

#[derive(Debug, Clone)]
pub struct PanelPress {
    pub scope: PanelScope,
    pub change: SettingChange,
}

/// Change that a button requests.
#[derive(Debug, Clone)]
pub enum SettingChange {
    /// Sets a value in the form in which it is stored; [`DEFAULT`] goes back to the operator's.
    Set(&'static SettingEntry, String),
    /// Turns memory off and deletes it. Sent by the button that confirms this.
    DeleteMemory,
    /// Removes all values of a forum topic.
    ClearTopic,
    /// Changes nothing and shows a page of the panel.
    Show(u8),
}

impl PanelPress {
    /// Encodes the press as button data, which [`Self::parse`] reads back: `settings@<chat>#<topic>:<setting>:<value>`.
    pub fn data(&self) -> String {
        let chat = self.scope.chat.map(|chat| format!("@{chat}")).unwrap_or_default();
        let topic = self.scope.topic.map(|topic| format!("#{topic}")).unwrap_or_default();
        let (setting, value) = match &self.change {
            SettingChange::Set(entry, value) => (entry.key, short(value)),
            SettingChange::DeleteMemory => (MEMORY.key, DELETE.to_owned()),
            SettingChange::ClearTopic => (TOPIC, DEFAULT.to_owned()),
            SettingChange::Show(page) => (SHOW, page.to_string()),
        };
        format!("{PREFIX}{chat}{topic}:{setting}:{value}")
    }

    /// Decodes button data. Returns `None` for values that no button offers, since a modified client can send anything.
    pub fn parse(data: &str, defaults: &OperatorDefaults) -> Option<Self> {
        let mut parts = data.strip_prefix(PREFIX)?.splitn(3, ':');
        let (scope, setting, value) = (parts.next()?, parts.next()?, parts.next()?);
        let (chat, topic) = scope.split_once('#').map_or((scope, None), |(chat, topic)| (chat, Some(topic)));
        let chat = match chat.strip_prefix('@') {
            Some(key) => Some(ChatKey(key.parse().ok()?)),
            None if chat.is_empty() => None,
            None => return None,
        };
        let topic = topic.map(|id| id.parse().map(ForumTopicId)).transpose().ok()?;
        let change = match (setting, value) {
            (SHOW, page) => SettingChange::Show(PAGES.into_iter().find(|number| number.to_string() == page)?),
            (TOPIC, DEFAULT) => SettingChange::ClearTopic,
            (setting, DELETE) if setting == MEMORY.key => SettingChange::DeleteMemory,
            (setting, value) => {
                let entry = CHAT_SETTINGS.iter().find(|entry| entry.key == setting)?;
                let offered = (entry.offered)(defaults).into_iter().find(|offered| short(offered) == value)?;
                SettingChange::Set(entry, offered)
            }
        };
        Some(Self { scope: PanelScope { chat, topic }, change })
    }
}

impl SettingChange {
    /// Returns `true` if the change turns memory off.
    pub fn ends_memory(&self) -> bool {
        matches!(self, Self::Set(entry, value) if entry.key == MEMORY.key && value == "off")
    }

    /// Returns the page of the panel that shows what was changed.
    pub fn page(&self) -> u8 {
        match self {
            Self::Set(entry, _) => entry.page,
            Self::Show(page) => *page,
            Self::DeleteMemory | Self::ClearTopic => PAGES[0],
        }
    }
}

impl Panel<'_> {
    /// Returns the value of a setting: the chat's, or else the operator's; `None` if there is none in this chat.
    pub fn value(&self, entry: &SettingEntry) -> Option<String> {
        let default = (entry.default)(self.defaults, self.kind)?;
        Some(self.settings.raw(entry.key).map_or(default, str::to_owned))
    }

    fn entries(&self) -> impl Iterator<Item = &'static SettingEntry> {
        let (page, in_topic) = (self.page, self.scope.topic.is_some());
        CHAT_SETTINGS.iter().filter(move |entry| entry.page == page && (entry.in_topics || !in_topic))
    }

    /// Returns the text above the buttons. It explains the buttons, or says with `refusal` why
    /// the reader gets none.
    pub fn markdown(&self, refusal: Option<&str>, texts: &Texts) -> String {
        let words = &texts.settings;
        let who = match (refusal, self.kind) {
            (Some(refusal), _) => refusal,
            (None, ChatKind::Private) => &words.you_change,
            (None, _) => &words.admins_change,
        };
        let head = match (self.scope.topic, self.title) {
            (Some(_), _) => words.head_topic.clone(),
            (None, Some(title)) => filled(&words.head_of, &[("chat", &escape_markdown(title))]),
            (None, None) => words.head.clone(),
        };
        let line = |entry: &SettingEntry| match self.value(entry) {
            Some(value) => Some(entry.line(&value, texts, self.defaults)),
            None => entry.text("nowhere", texts).cloned(),
        };
        let lines: Vec<String> = self.entries().filter_map(line).map(|line| format!("- {line}")).collect();
        format!("{head} {who}\n\n{}", lines.join("\n"))
    }

    /// Returns the buttons: a row for each setting, and several rows for one with many values.
    pub fn buttons(&self, texts: &Texts) -> Vec<Vec<Button>> {
        let words = &texts.settings;
        let button = |label: &str, scope: PanelScope, change: SettingChange| {
            vec![Button { label: label.to_owned(), data: PanelPress { scope, change }.data() }]
        };
        let other_page = if self.page == PAGES[0] { PAGES[1] } else { PAGES[0] };
        let label = if self.page == PAGES[0] { &words.more_button } else { &words.back_button };
        let turn = button(label, self.scope, SettingChange::Show(other_page));
        let topic = match (self.scope.topic, self.here) {
            (Some(_), _) => Some(button(&words.whole_button, self.scope, SettingChange::ClearTopic)),
            (None, Some(_)) => {
                let scope = PanelScope { topic: self.here, ..self.scope };
                Some(button(&words.topic_button, scope, SettingChange::Show(self.page)))
            }
            (None, None) => None,
        };
        self.entries().flat_map(|entry| self.rows(entry, texts)).chain([turn]).chain(topic).collect()
    }

    fn rows(&self, entry: &'static SettingEntry, texts: &Texts) -> Vec<Vec<Button>> {
        let Some(current) = self.value(entry) else { return Vec::new() };
        let buttons = (entry.offered)(self.defaults).into_iter().map(|value| {
            let mark = if value == current { CHOSEN } else { "" };
            let label = format!("{mark}{}", entry.button(&value, texts, self.defaults));
            Button { label, data: PanelPress { scope: self.scope, change: SettingChange::Set(entry, value) }.data() }
        });
        let mut buttons: Vec<Button> = buttons.collect();
        if buttons.len() <= MOST_A_ROW {
            return if buttons.is_empty() { Vec::new() } else { vec![buttons] };
        }
        let is_default = buttons[0].data.ends_with(&format!(":{DEFAULT}"));
        let rest = buttons.split_off(usize::from(is_default));
        let rest = rest.chunks(MANY_A_ROW).map(<[Button]>::to_vec);
        [buttons].into_iter().filter(|row| !row.is_empty()).chain(rest).collect()
    }
}

/// Returns a value as it is in a button's data, of which Telegram allows 64 bytes: a long one by its checksum.
fn short(value: &str) -> String {
    const LONG: usize = 20;
    if value.len() <= LONG {
        return value.to_owned();
    }
    format!("~{:016x}", fnv1a(FNV_START, value.as_bytes()))
}

/// Returns the question whether to delete the memory, and its buttons.
pub fn memory_question(scope: PanelScope, texts: &Texts) -> (&str, Vec<Vec<Button>>) {
    let words = &texts.settings;
    let button = |label: &String, change: SettingChange| {
        vec![Button { label: label.clone(), data: PanelPress { scope, change }.data() }]
    };
    let buttons = vec![
        button(&words.memory_off_confirm_button, SettingChange::DeleteMemory),
        button(&words.memory_keep_button, SettingChange::Show(PAGES[0])),
    ];
    (&words.memory_off_question, buttons)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use chime_core::config::{ListedModel, Prices, SessionIdle, Streaming};
    use chime_core::texts::texts;
    use chime_core::{LinkReading, Zone};

    fn defaults() -> OperatorDefaults {
        let hour = Duration::from_secs(3600);
        OperatorDefaults {
            memory: true,
            streaming: Streaming::Private,
            links: LinkReading::Asked,
            web: false,
            idle: SessionIdle { in_groups: hour, in_private: hour },
            zone: Zone::UTC,
            daily_tokens: Some(1_200_000),
            models: Vec::new(),
        }
    }

    fn panel<'a>(settings: &'a ChatSettings, defaults: &'a OperatorDefaults, page: u8) -> Panel<'a> {
        let (scope, kind) = (PanelScope::default(), ChatKind::Group);
        Panel { scope, settings, defaults, kind, title: None, here: None, page }
    }

    #[test]
    fn every_button_leads_to_its_change_and_marks_what_holds() {
        let (settings, defaults) = (ChatSettings::default(), defaults());
        let buttons = panel(&settings, &defaults, 1).buttons(texts("eng"));
        assert_eq!(buttons.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 3, 4, 2, 4, 1, 3, 3, 3, 3, 1]);
        for button in buttons.iter().flatten() {
            let press = PanelPress::parse(&button.data, &defaults);
            assert!(press.is_some_and(|press| press.data() == button.data), "{button:?}");
            assert!(button.data.len() <= 64);
        }
        let chosen: Vec<&str> =
            buttons.iter().flatten().filter_map(|button| button.label.strip_prefix(CHOSEN)).collect();
        let expected = [
            "Open answers",
            "Memory on",
            "Streaming off",
            "When asked",
            "60 min",
            "Everybody can ask",
            "Default",
            "Language of the chat",
        ];
        assert_eq!(chosen, expected);
    }

    #[test]
    fn a_value_may_be_typed_as_on_its_button_or_in_its_sentence() {
        let defaults = defaults();
        for file in chime_core::lang::languages() {
            let texts = texts(&file.code);
            for entry in CHAT_SETTINGS {
                for value in (entry.offered)(&defaults) {
                    let button = entry.button(&value, texts, &defaults);
                    assert_eq!(entry.worded(&button.to_lowercase(), texts, &defaults), Some(value), "{button}");
                }
            }
        }
        let typed = |key: &str, said: &str| {
            let entry = SettingEntry::find(key).expect("a setting");
            entry.worded(said, texts("deu"), &defaults).map(|value| (entry.key, value))
        };
        assert_eq!(typed("grounding", "streng"), Some(("grounding", "strict".to_owned())));
        assert_eq!(typed("memory", "aus"), Some(("memory", "off".to_owned())));
        assert_eq!(typed("length", "Kurz"), Some(("answer_length", "short".to_owned())));
        assert_eq!(typed("grounding", "blau"), None);
    }

    #[test]
    fn a_topic_of_another_chat_and_a_model_with_a_long_name_fit_into_the_data_of_a_button() {
        let name = "openrouter/anthropic/claude-sonnet-4.5-20260101:extended-thinking";
        let prices = Some(Prices { prompt: 2.0, completion: 8.5 });
        let models = vec![ListedModel { name: name.to_owned(), prices }];
        let (settings, defaults) = (ChatSettings::default(), OperatorDefaults { models, ..defaults() });
        let scope = PanelScope { chat: Some(ChatKey(u32::MAX)), topic: Some(ForumTopicId(i64::from(i32::MAX))) };
        let buttons = Panel { scope, ..panel(&settings, &defaults, 2) }.buttons(texts("eng"));
        for button in buttons.iter().flatten() {
            let press = PanelPress::parse(&button.data, &defaults).expect("a press");
            assert!(press.scope == scope && button.data.len() <= 64, "{button:?}");
        }
        let chosen = |press: PanelPress| matches!(press.change, SettingChange::Set(_, value) if value == name);
        let model =
            buttons.iter().flatten().find(|button| button.label == format!("{name} (2/8.5)")).expect("a button");
        assert!(PanelPress::parse(&model.data, &defaults).is_some_and(chosen));
        assert!(!buttons.iter().flatten().any(|button| button.data.contains("daily_tokens")), "of the whole chat only");
    }

    #[test]
    fn what_no_button_carries_changes_nothing() {
        for data in [
            "settings",
            "settings:1",
            "settings:session_idle:7m",
            "settings:memory:ON",
            "other",
            "settings:grounding:",
            "settings:language:lat",
            "settings:askers:nobody",
            "settings:daily_tokens:1",
            "settings:model:gpt-4.1",
            "settings:show:3",
            "settings@x:show:1",
            "settings#x:show:1",
            "settingsx:show:1",
        ] {
            assert!(PanelPress::parse(data, &defaults()).is_none(), "{data}");
        }
    }

    #[test]
    fn without_memory_anywhere_there_is_no_button_for_it() {
        let (settings, defaults) = (ChatSettings::default(), OperatorDefaults { memory: false, ..defaults() });
        let panel = panel(&settings, &defaults, 1);
        assert_eq!(panel.buttons(texts("eng")).len(), 12);
        assert!(panel.markdown(None, texts("eng")).contains("off in every chat"));
        assert!(panel.markdown(Some("Only admins"), texts("eng")).contains("Only admins"));
        let alone = Panel { kind: ChatKind::Private, ..panel };
        assert!(alone.markdown(None, texts("eng")).contains("You can change them"));
        assert!(!alone.markdown(None, texts("eng")).contains("Tags"), "nobody else is there");
        assert_eq!(alone.buttons(texts("eng")).len(), 11);
    }

    #[test]
    fn the_panel_speaks_the_language_of_the_chat() {
        let (settings, defaults) = (ChatSettings::default(), defaults());
        let panel = panel(&settings, &defaults, 1);
        let reply = panel.markdown(None, texts("deu"));
        assert!(
            reply.starts_with("Einstellungen dieses Chats.") && reply.contains("die Sprache des Chats."),
            "{reply}"
        );
        assert_eq!(panel.buttons(texts("deu"))[0][0].label, "✓ Mit Allgemeinwissen");
    }
}
