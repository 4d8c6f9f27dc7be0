//! Database with older messages: fifty chats, of which the first, where the mentions come, has a fifth of all messages.

use chime_eval::synthetic;
use chime_store::{Priority, Store, chats, messages};

use crate::Outcome;
use crate::scene::Scene;

const BATCH: u32 = 2_000;

pub async fn fill(scene: &Scene, count: usize) -> Outcome<()> {
    let count = u32::try_from(count)?;
    let now = scene.clock.now();
    let (store, _) = Store::open(&scene.database(), now)?;
    let (first, start) = (scene.chat, synthetic::start(count, now));
    for begin in (0..count).step_by(BATCH as usize) {
        let numbers = begin..count.min(begin + BATCH);
        store
            .write(Priority::Background, move |tx| {
                for number in numbers {
                    let chat = synthetic::chat_of(first, number);
                    let row = chats::upsert(tx, &chat)?;
                    let message = synthetic::message(chat.id, number, start);
                    messages::take_in(tx, &row, &message)?;
                    chats::upsert_member(tx, row.key, &message.sender)?;
                }
                Ok(())
            })
            .await?;
    }
    store.close().await;
    Ok(())
}
