//! Numbered migrations, forward only, each in one transaction. `PRAGMA user_version` holds the version of a file.

use rusqlite::Connection;

use super::{Result, StoreError};

/// In order; the number of a migration is its place, counted from 1.
const MIGRATIONS: [&str; 37] = [
    include_str!("../../../migrations/0001_chats_and_messages.sql"),
    include_str!("../../../migrations/0002_inbox_and_jobs.sql"),
    include_str!("../../../migrations/0003_answers_and_outbox.sql"),
    include_str!("../../../migrations/0004_limits_and_budgets.sql"),
    include_str!("../../../migrations/0005_links.sql"),
    include_str!("../../../migrations/0006_privacy.sql"),
    include_str!("../../../migrations/0007_link_rows.sql"),
    include_str!("../../../migrations/0008_another_conversation.sql"),
    include_str!("../../../migrations/0009_token_calibration.sql"),
    include_str!("../../../migrations/0010_message_vectors.sql"),
    include_str!("../../../migrations/0011_held_until_sent.sql"),
    include_str!("../../../migrations/0012_fewer_index_segments.sql"),
    include_str!("../../../migrations/0013_memory.sql"),
    include_str!("../../../migrations/0014_typed_jobs.sql"),
    include_str!("../../../migrations/0015_talk_and_topics.sql"),
    include_str!("../../../migrations/0016_origins.sql"),
    include_str!("../../../migrations/0017_follow_ups.sql"),
    include_str!("../../../migrations/0018_vector_spaces.sql"),
    include_str!("../../../migrations/0019_time_zones.sql"),
    include_str!("../../../migrations/0020_parts_of_words.sql"),
    include_str!("../../../migrations/0021_recaps.sql"),
    include_str!("../../../migrations/0022_chat_settings.sql"),
    include_str!("../../../migrations/0023_notes_and_feedback.sql"),
    include_str!("../../../migrations/0024_strand_sources.sql"),
    include_str!("../../../migrations/0025_topics.sql"),
    include_str!("../../../migrations/0026_vector_index.sql"),
    include_str!("../../../migrations/0027_tool_refusals.sql"),
    include_str!("../../../migrations/0028_no_link_rows.sql"),
    include_str!("../../../migrations/0029_memory_indexes.sql"),
    include_str!("../../../migrations/0030_answer_uses.sql"),
    include_str!("../../../migrations/0031_suggestions_of_who_opted_out.sql"),
    include_str!("../../../migrations/0032_revisions.sql"),
    include_str!("../../../migrations/0033_answer_uses_by_block.sql"),
    include_str!("../../../migrations/0034_own_language.sql"),
    include_str!("../../../migrations/0035_own_budget_and_askers.sql"),
    include_str!("../../../migrations/0036_other_bots.sql"),
    include_str!("../../../migrations/0037_referenced_concepts.sql"),
];

/// Schema version that this program writes.
pub const KNOWN: u32 = MIGRATIONS.len() as u32;

pub fn version(conn: &Connection) -> Result<u32> {
    Ok(conn.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

pub fn migrate_to(conn: &mut Connection, target: u32) -> Result<()> {
    let from = version(conn)?;
    for (version, sql) in (1..).zip(MIGRATIONS).skip(from as usize).take_while(|(version, _)| *version <= target) {
        let apply = |conn: &mut Connection| {
            let tx = conn.transaction()?;
            tx.execute_batch(sql)?;
            tx.pragma_update(None, "user_version", version)?;
            tx.commit()
        };
        apply(conn).map_err(|source| StoreError::Migration { version, source })?;
    }
    Ok(())
}
