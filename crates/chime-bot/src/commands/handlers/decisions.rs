//! `/decisions` and `/open`: lists what was decided and what is still open, and marks items as done.

use crate::commands::handlers::{CommandRequest, Commands, Shown};
use crate::commands::search::day;
use chime_answer::answering::format_parts;
use chime_core::chat_settings::{ASKERS, ChatSettings};
use chime_core::texts::{notices, texts};
use chime_core::{Askers, Button, Job, Press, Seq, Timestamp, Zone};
use chime_jobs::JobResult;
use chime_memory::jobs::{ItemList, items};
use chime_memory::wording;
use chime_store::chats::ChatRow;
use chime_store::{Priority, button_presses, item_marks};

/// Start of the data of each button.
const PREFIX: &str = "item";
const BUTTONS_IN_ROW: usize = 5;

/// Button that marks an item as done, or opens it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ItemButton {
    /// First of the messages that the item is based on.
    item: Seq,
    /// `true` marks the item as done, `false` as open; `None` only shows the list again.
    is_done: Option<bool>,
}

impl ItemButton {
    fn data(self) -> String {
        let mark = self.is_done.map_or("show", |is_done| if is_done { "done" } else { "open" });
        format!("{PREFIX}:{}:{mark}", self.item)
    }

    pub(super) fn parse(data: &str) -> Option<Self> {
        let (item, state) = data.strip_prefix(PREFIX)?.strip_prefix(':')?.split_once(':')?;
        let is_done = match state {
            "done" => Some(true),
            "open" => Some(false),
            _ => None,
        };
        Some(Self { item: Seq(item.parse().ok()?), is_done })
    }
}

impl Commands {
    pub(super) async fn list_decisions(&self, job: &Job, command: CommandRequest) -> JobResult {
        let zone = command.settings.zone(self.base.zone());
        let since = match command.args.trim() {
            "" => Some(Timestamp::from_secs(0)),
            args => day(args, command.chat.language, command.message.message.sent_at, zone).map(|(from, _)| from),
        };
        let Some(since) = since else { return self.say(job, &command, &command.texts().items.how).await };
        self.list_items(job, &command, ItemList::Decisions(since)).await
    }

    pub(super) async fn list_open(&self, job: &Job, command: CommandRequest) -> JobResult {
        self.list_items(job, &command, ItemList::Open(self.base.clock.now())).await
    }

    async fn list_items(&self, job: &Job, command: &CommandRequest, list: ItemList) -> JobResult {
        if let Some(off) = self.memory_off(command.chat.key, command.texts()).await? {
            return self.say(job, command, off).await;
        }
        let shown = self.items_of(&command.chat, command.settings.zone(self.base.zone()), list).await?;
        self.answer_showing(job, command, shown).await
    }

    async fn items_of(&self, chat: &ChatRow, zone: Zone, list: ItemList) -> chime_store::Result<Shown> {
        let row = chat.clone();
        let found = self.base.store.read(move |conn| items(conn, &row, zone, list)).await?;
        let texts = texts(chat.speaks().code());
        let (none, with_buttons) = match list {
            ItemList::Decisions(_) => (&texts.items.no_decisions, None),
            ItemList::Open(_) => (&texts.items.none_open, Some([(&found.recent, true), (&found.history, false)])),
        };
        let mut buttons: Vec<Button> = Vec::new();
        for (kept, is_done) in with_buttons.into_iter().flatten() {
            for bullet in kept.iter().flat_map(|(summary, _)| &summary.bullets) {
                let label = format!("{} {}", if is_done { '✓' } else { '↩' }, buttons.len() + 1);
                let item = bullet.sources.first().copied().unwrap_or(Seq(0));
                buttons.push(Button { label, data: ItemButton { item, is_done: Some(is_done) }.data() });
            }
        }
        Ok(Shown {
            markdown: wording::items_shown(&found, none, texts),
            links: found.links().collect(),
            rests_on: found.rests_on().collect(),
            buttons: buttons.chunks(BUTTONS_IN_ROW).map(<[Button]>::to_vec).collect(),
            ..Shown::of_chat(chat.key)
        })
    }

    /// Handles a press that marks an item. Any member who may ask the bot may do this. The list is shown again.
    pub(super) async fn mark_item(
        &self,
        job: &Job,
        press: &Press,
        chat: &ChatRow,
        settings: &ChatSettings,
        button: ItemButton,
    ) -> JobResult {
        let usual = &notices(chat.speaks().code()).admins_ask;
        if settings.get(ASKERS) == Some(Askers::Admins)
            && let Some(refusal) = self.refusal_to_change(chat, press.by, usual).await?
        {
            return self.refuse(job, press, &refusal).await;
        }
        let (key, now) = (chat.key, self.base.clock.now());
        let (query, again) = (press.query.clone(), ItemButton { is_done: None, ..button }.data());
        let mark = move |tx: &chime_store::Writer<'_>| match button.is_done {
            // If the job runs twice, its second run must not undo a later press.
            Some(is_done) => {
                item_marks::mark(tx, key, button.item, is_done, now)?;
                button_presses::replace_data(tx, &query, &again)
            }
            None => Ok(()),
        };
        self.base.store.write(Priority::Answering, mark).await?;
        let shown = self.items_of(chat, settings.zone(self.base.zone()), ItemList::Open(now)).await?;
        let again = self.edit(press, &format_parts(&shown.markdown, &shown.urls(), &[]), &shown.buttons).await;
        self.confirm_shown(job, press, again).await
    }
}
