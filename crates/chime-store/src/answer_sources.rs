//! Messages that each answer is based on. To save space, one row represents a block of 64 messages, with one bit for
//! each.

use std::collections::BTreeMap;

use super::sql::{Statements, params, rows};
use super::{Result, Writer};
use chime_core::{AnswerId, ChatKey, Seq};

/// Number of messages in a block.
pub(super) const BLOCK: u32 = i64::BITS;

/// Messages of one block that an answer is based on. Bit `n` stands for message `64 * block + n`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    block: u32,
    bits: i64,
}

rows! {
    Block { block, bits }
}

/// Returns the messages of all blocks, each once, in ascending order.
pub(super) fn seqs(blocks: Vec<Block>) -> Vec<Seq> {
    let mut all: Vec<Seq> = blocks
        .into_iter()
        .flat_map(|it| {
            (0..64).filter(move |place| it.bits >> place & 1 == 1).map(move |place| Seq(64 * it.block + place))
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn blocks(seqs: &[Seq]) -> BTreeMap<u32, i64> {
    let mut blocks = BTreeMap::new();
    for seq in seqs {
        *blocks.entry(seq.0 >> 6).or_insert(0) |= 1_i64 << (seq.0 & 63);
    }
    blocks
}

/// Records further messages that an answer is based on.
pub(super) fn note(tx: &Writer<'_>, chat: ChatKey, answer: AnswerId, seqs: &[Seq]) -> Result<()> {
    for (block, bits) in blocks(seqs) {
        tx.run(
            "INSERT INTO answer_use (chat_key, block, answer_id, bits) VALUES (:chat, :block, :id, :bits)
             ON CONFLICT DO UPDATE SET bits = bits | excluded.bits",
            params! { ":chat": chat, ":block": block, ":id": answer, ":bits": bits },
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_hold_just_the_messages_that_were_put_in(mut given in prop::collection::vec(1_u32..1000, 0..100)) {
            let all: Vec<Seq> = given.iter().copied().map(Seq).collect();
            let found = seqs(blocks(&all).into_iter().map(|(block, bits)| Block { block, bits }).collect());
            given.sort_unstable();
            given.dedup();
            prop_assert_eq!(found, given.into_iter().map(Seq).collect::<Vec<_>>());
        }
    }
}
