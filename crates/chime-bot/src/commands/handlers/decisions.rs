//! `/decisions` and `/open`: lists what was decided and what is still open, and marks items as done.

use crate::commands::handlers::{CommandRequest, Commands, Shown};
use crate::commands::search::day;
use chime_answer::answering::format_parts;
use chime_core::chat_settings::ASKERS;
use chime_core::texts::{notices, texts};
use chime_core::{Askers, Button, Job, Press, Seq, Timestamp};
use chime_jobs::JobResult;
use chime_memory::jobs::{ItemList, items};
use chime_memory::wording;
use chime_store::chats::ChatRow;
use chime_store::{Priority, item_marks, outbox};

/// Start of the data of each button.
const PREFIX: &str = "item";
const BUTTONS_IN_ROW: usize = 5;

/// Button that marks an item as done, or opens it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ItemButton {
    /// First message that the item rests on.
    item: Seq,
    is_done: bool,
}

impl ItemButton {
    fn data(self) -> String {
        format!("{PREFIX}:{}:{}", self.item, if self.is_done { "done" } else { "open" })
    }

    pub(super) fn parse(data: &str) -> Option<Self> {
        let (item, state) = data.strip_prefix(PREFIX)?.strip_prefix(':')?.split_once(':')?;
        Some(Self { item: Seq(item.parse().ok()?), is_done: state == "done" })
    }
}

impl Commands {
    pub(super) async fn list_decisions(&self, job: &Job, order: CommandRequest) -> JobResult {
        let zone = order.chat.zone(self.zone);
        let since = match order.args.trim() {
            "" => Some(Timestamp::from_secs(0)),
            args => day(args, order.chat.language, order.message.message.sent_at, zone).map(|(from, _)| from),
        };
        let Some(since) = since else { return self.say(job, &order, &order.texts().items.how).await };
        self.list_items(job, &order, ItemList::Decisions(since)).await
    }

    pub(super) async fn list_open(&self, job: &Job, order: CommandRequest) -> JobResult {
        self.list_items(job, &order, ItemList::Open(self.clock.now())).await
    }

    async fn list_items(&self, job: &Job, order: &CommandRequest, list: ItemList) -> JobResult {
        let shown = self.items_of(&order.chat, list).await?;
        self.answer_showing(job, order, shown).await
    }

    async fn items_of(&self, chat: &ChatRow, list: ItemList) -> chime_store::Result<Shown> {
        let (row, zone) = (chat.clone(), self.zone);
        let found = self.store.read(move |conn| items(conn, &row, zone, list)).await?;
        let texts = texts(chat.speaks().code());
        let (none, has_buttons) = match list {
            ItemList::Decisions(_) => (&texts.items.no_decisions, false),
            ItemList::Open(_) => (&texts.items.none_open, true),
        };
        let button = |(number, bullet): (usize, &chime_core::Bullet), is_done: bool| {
            let sign = if is_done { '✓' } else { '↩' };
            let item = *bullet.sources.first()?;
            Some(Button { label: format!("{sign} {number}"), data: ItemButton { item, is_done }.data() })
        };
        let open = found.recent.iter().flat_map(|(summary, _)| &summary.bullets).map(|bullet| (bullet, true));
        let done = found.history.iter().flat_map(|(summary, _)| &summary.bullets).map(|bullet| (bullet, false));
        let all = (1..).zip(open.chain(done)).filter(|_| has_buttons);
        let buttons: Vec<Button> =
            all.filter_map(|(number, (bullet, is_done))| button((number, bullet), is_done)).collect();
        Ok(Shown {
            markdown: wording::items_shown(&found, none, texts),
            links: found.links().collect(),
            rests_on: found.rests_on().collect(),
            buttons: buttons.chunks(BUTTONS_IN_ROW).map(<[Button]>::to_vec).collect(),
            ..Shown::of_chat(chat.key)
        })
    }

    /// Handles a press that marks an item, which any member may do who may ask. The list is shown again.
    pub(super) async fn mark_item(&self, job: &Job, press: &Press, chat: &ChatRow, button: ItemButton) -> JobResult {
        let only_admins = chat.settings.get(ASKERS) == Some(Askers::Admins);
        if only_admins && !self.may_change(press.chat, press.by).await? {
            return self.refuse(job, press, &notices(chat.speaks().code()).admins_ask).await;
        }
        let (key, now) = (chat.key, self.clock.now());
        let mark = move |tx: &chime_store::Writer<'_>| item_marks::mark(tx, key, button.item, button.is_done, now);
        self.store.write(Priority::Answering, mark).await?;
        let shown = self.items_of(chat, ItemList::Open(now)).await?;
        let (rests_on, at) = (shown.rests_on.clone(), (press.chat, press.message));
        let note = move |tx: &chime_store::Writer<'_>| outbox::note_more_uses(tx, at, key, rests_on);
        self.store.write(Priority::Answering, note).await?;
        let again = self.edit(press, &format_parts(&shown.markdown, &shown.urls(), &[]), &shown.buttons).await;
        self.confirm_shown(job, press, again).await
    }
}
