//! Numbered migrations of the schema. There are none back to older versions. Those that a file lacks run in one
//! transaction. `PRAGMA user_version` contains the version of a file.

use rusqlite::Connection;

use super::{Result, StoreError, Writer, messages};

/// SQL of all migrations in order. The first one leads to version 1.
const MIGRATIONS: [&str; 8] = [
    include_str!("../../../migrations/0001_schema.sql"),
    include_str!("../../../migrations/0002_members_who_left.sql"),
    include_str!("../../../migrations/0003_recent_controls.sql"),
    include_str!("../../../migrations/0004_forgetting.sql"),
    include_str!("../../../migrations/0005_stems.sql"),
    include_str!("../../../migrations/0006_slavic_stems.sql"),
    include_str!("../../../migrations/0007_refused_sends.sql"),
    include_str!("../../../migrations/0008_details_in_search.sql"),
];

/// Schema version that this program writes, and the newest that it can read.
pub const KNOWN: u32 = MIGRATIONS.len() as u32;

pub fn version(conn: &Connection) -> Result<u32> {
    Ok(conn.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Runs the migrations that a database lacks. Afterwards it has version [`KNOWN`]. A migration that changes which words
/// are indexed leaves an empty index, which is built again.
pub fn migrate(conn: &mut Connection) -> Result<()> {
    let tx = conn.transaction()?;
    apply(&tx, &MIGRATIONS)?;
    messages::fill_empty_index(&tx)?;
    Ok(tx.commit()?)
}

fn apply(tx: &Writer<'_>, migrations: &[&str]) -> Result<()> {
    let from = version(tx)?;
    for (version, sql) in (1..).zip(migrations).skip(from as usize) {
        let run = || {
            tx.execute_batch(sql)?;
            tx.pragma_update(None, "user_version", version)
        };
        run().map_err(|source| StoreError::Migration { version, source })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chats::ChatRow;
    use crate::postings::Range;
    use crate::testkit::new_store;
    use crate::{Priority, Store, chats, postings, search};
    use chime_core::testkit::{CHAT, transcript};
    use chime_core::{Chat, ChatKey, ChatKind, Language, Seq, Timestamp, stems};

    #[test]
    fn only_newer_migrations_run_and_a_failed_one_changes_nothing() {
        let mut conn = Connection::open_in_memory().unwrap();
        let mut run = |migrations: &[&str]| {
            let tx = conn.transaction().unwrap();
            let is_applied = apply(&tx, migrations).is_ok();
            if is_applied { tx.commit() } else { tx.rollback() }.unwrap();
            let sum = conn.query_row("SELECT sum(a) FROM one", [], |row| row.get::<_, i64>(0)).unwrap();
            (is_applied, version(&conn).unwrap(), sum)
        };
        let first = "CREATE TABLE one (a INTEGER) STRICT; INSERT INTO one VALUES (1);";
        assert_eq!(run(&[first]), (true, 1, 1));
        let broken = "INSERT INTO one VALUES (2); INSERT INTO nowhere VALUES (3);";
        assert_eq!(run(&[first, broken]), (false, 1, 1));
        assert_eq!(run(&[first, "INSERT INTO one VALUES (4);"]), (true, 2, 5));
    }

    /// Stores a message in a chat whose language is `code`, indexes other words for it, and returns if the message is found
    /// by `word` after an older version was migrated.
    async fn is_found_after_migrating(code: &'static str, said: &str, word: &'static str) -> bool {
        const BEFORE: u32 = 4;
        let (folder, store) = new_store().await;
        let message = transcript(&format!("10:00 ann#1 {said}")).remove(0).message;
        let prepared = store.write(Priority::Background, move |tx| {
            let chat = Chat { id: CHAT, kind: ChatKind::Private, title: None, username: None };
            let row = chats::upsert(tx, &chat)?;
            let language = Language::from_code(code);
            messages::take_in(tx, &ChatRow { language, ..row }, &message)?;
            search::clear(tx)?;
            let other = search::Indexed { chat: row.key, seq: Seq(1), text: "other".into(), author: "ann", language };
            search::insert(tx, &other)?;
            // Later migrations run again too.
            tx.execute_batch("ALTER TABLE chat DROP COLUMN sending_refused_at")?;
            tx.pragma_update(None, "user_version", BEFORE)?;
            Ok(())
        });
        prepared.await.unwrap();
        store.close().await;
        let (store, opened) = Store::open(&folder.path().join("chime.db"), Timestamp::default()).unwrap();
        assert_eq!(opened.migrated, (BEFORE, KNOWN));
        let found = store.read(move |conn| {
            let range = Range { chat: ChatKey(1), from: Seq(0), before: Seq(9), limit: 9 };
            postings::of_stem(conn, &range, &stems(word, Language::from_code(code)).concat())
        });
        !found.await.unwrap().seqs.is_empty()
    }

    #[tokio::test]
    async fn an_index_of_other_words_is_built_anew() {
        assert!(is_found_after_migrating("ara", "الخيمة كبيرة", "خيمة").await);
        assert!(is_found_after_migrating("heb", "קניתי את המקרר", "מקרר").await);
        assert!(is_found_after_migrating("pol", "kto zapłaci kaucję?", "kaucja").await);
        assert!(is_found_after_migrating("ukr", "хтось бачив синю шапку?", "шапка").await);
        assert!(is_found_after_migrating("eng", "the tents are big", "tent").await);
    }

    #[test]
    fn every_file_in_the_folder_is_a_migration() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), MIGRATIONS.len());
    }
}
