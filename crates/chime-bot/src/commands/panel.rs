//! Panel of `/settings`: its text, its buttons, and the change that each button makes.

use chime_core::chat_settings::{CHAT_SETTINGS, ChatSettings, DEFAULT, MEMORY, OperatorDefaults, SettingEntry};
use chime_core::texts::Texts;
use chime_core::{Button, ChatKind};

/// Start of the data of each button on the panel.
const PREFIX: &str = "settings";
/// Value in a button's data for deleting the memory.
const DELETE: &str = "delete";
/// Mark at the start of the label of the current choice.
const CHOSEN: &str = "✓ ";
/// Largest number of buttons in one row.
const MOST_A_ROW: usize = 4;
/// Number of buttons per row of a setting with more: three names fit on a small screen.
const MANY_A_ROW: usize = 3;

/// Current settings of a chat, as the panel shows them.
#[derive(Debug, Clone)]
pub struct Panel<'a> {
    pub settings: &'a ChatSettings,
    pub defaults: &'a OperatorDefaults,
    pub kind: ChatKind,
}

/// Change that a button requests.
#[derive(Debug, Clone)]
pub enum SettingChange {
    /// Sets a value in the form in which it is stored; [`DEFAULT`] goes back to the operator's.
    Set(&'static SettingEntry, String),
    /// Turns memory off and deletes it. Sent by the button that confirms this.
    DeleteMemory,
    /// Changes nothing and shows the panel again.
    Nothing,
}

impl SettingChange {
    /// Encodes the change as button data, which [`Self::parse`] reads back.
    pub fn data(&self) -> String {
        match self {
            Self::Set(entry, value) => format!("{PREFIX}:{}:{value}", entry.key),
            Self::DeleteMemory => format!("{PREFIX}:{}:{DELETE}", MEMORY.key),
            Self::Nothing => format!("{PREFIX}:show:again"),
        }
    }

    /// Decodes button data. Returns `None` for values that no button offers, since a modified client can send anything.
    pub fn parse(data: &str, defaults: &OperatorDefaults) -> Option<Self> {
        let (setting, value) = data.strip_prefix(PREFIX)?.strip_prefix(':')?.split_once(':')?;
        if (setting, value) == ("show", "again") {
            return Some(Self::Nothing);
        }
        if (setting, value) == (MEMORY.key, DELETE) {
            return Some(Self::DeleteMemory);
        }
        let entry = CHAT_SETTINGS.iter().find(|entry| entry.key == setting)?;
        let offered = (entry.offered)(defaults).into_iter().find(|offered| offered == value)?;
        Some(Self::Set(entry, offered))
    }

    /// Returns `true` if the change turns memory off.
    pub fn ends_memory(&self) -> bool {
        matches!(self, Self::Set(entry, value) if entry.key == MEMORY.key && value == "off")
    }
}

impl Panel<'_> {
    /// Returns the value of a setting: the chat's, or else the operator's; `None` if there is none in this chat.
    pub fn value(&self, entry: &SettingEntry) -> Option<String> {
        let default = (entry.default)(self.defaults, self.kind)?;
        Some(self.settings.raw(entry.key).map_or(default, str::to_owned))
    }

    /// Returns the text above the buttons. It explains the buttons only if the reader `may_change` settings.
    pub fn markdown(&self, may_change: bool, texts: &Texts) -> String {
        let words = &texts.settings;
        let who = match (may_change, self.kind) {
            (true, ChatKind::Private) => &words.you_change,
            (true, _) => &words.admins_change,
            (false, _) => &words.only_admins,
        };
        let line = |entry: &SettingEntry| match self.value(entry) {
            Some(value) => Some(entry.line(&value, texts)),
            None => entry.text("nowhere", texts).cloned(),
        };
        let lines: Vec<String> = CHAT_SETTINGS.iter().filter_map(line).map(|line| format!("- {line}")).collect();
        format!("{} {who}\n\n{}", words.head, lines.join("\n"))
    }

    /// Returns the buttons: a row for each setting, and several rows for one with many values.
    pub fn buttons(&self, texts: &Texts) -> Vec<Vec<Button>> {
        CHAT_SETTINGS.iter().flat_map(|entry| self.rows(entry, texts)).collect()
    }

    fn rows(&self, entry: &'static SettingEntry, texts: &Texts) -> Vec<Vec<Button>> {
        let Some(current) = self.value(entry) else { return Vec::new() };
        let buttons = (entry.offered)(self.defaults).into_iter().map(|value| {
            let mark = if value == current { CHOSEN } else { "" };
            let label = format!("{mark}{}", entry.button(&value, texts));
            Button { label, data: SettingChange::Set(entry, value).data() }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use chime_core::config::{SessionIdle, Streaming};
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
        }
    }

    #[test]
    fn every_button_leads_to_its_change_and_marks_what_holds() {
        let (settings, defaults) = (ChatSettings::default(), defaults());
        let buttons = Panel { settings: &settings, defaults: &defaults, kind: ChatKind::Group }.buttons(texts("eng"));
        assert_eq!(buttons.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 3, 4, 2, 4, 1, 3, 3, 3, 3]);
        for button in buttons.iter().flatten() {
            let change = SettingChange::parse(&button.data, &defaults);
            assert!(change.is_some_and(|change| change.data() == button.data), "{button:?}");
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
        ] {
            assert!(SettingChange::parse(data, &defaults()).is_none(), "{data}");
        }
    }

    #[test]
    fn without_memory_anywhere_there_is_no_button_for_it() {
        let (settings, defaults) = (ChatSettings::default(), OperatorDefaults { memory: false, ..defaults() });
        let panel = Panel { settings: &settings, defaults: &defaults, kind: ChatKind::Group };
        assert_eq!(panel.buttons(texts("eng")).len(), 11);
        assert!(panel.markdown(true, texts("eng")).contains("off in every chat"));
        assert!(panel.markdown(false, texts("eng")).contains("Only admins"));
        let alone = Panel { kind: ChatKind::Private, ..panel };
        assert!(alone.markdown(true, texts("eng")).contains("You can change them"));
        assert!(!alone.markdown(true, texts("eng")).contains("Tags"), "nobody else is there");
        assert_eq!(alone.buttons(texts("eng")).len(), 10);
    }

    #[test]
    fn the_panel_speaks_the_language_of_the_chat() {
        let (settings, defaults) = (ChatSettings::default(), defaults());
        let panel = Panel { settings: &settings, defaults: &defaults, kind: ChatKind::Group };
        let told = panel.markdown(true, texts("deu"));
        assert!(told.starts_with("Einstellungen dieses Chats.") && told.contains("die Sprache des Chats."), "{told}");
        assert_eq!(panel.buttons(texts("deu"))[0][0].label, "✓ Offene Antworten");
    }
}
