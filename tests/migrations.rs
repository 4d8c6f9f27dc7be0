//! Every migration is run on a database with data, and must result in the schema of a new one.

#![expect(clippy::unwrap_used, reason = "a step that fails is the test failing")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rusqlite::Connection;

const SAMPLES: [&str; 37] = [
    include_str!("data/migrations/0001.sql"),
    include_str!("data/migrations/0002.sql"),
    include_str!("data/migrations/0003.sql"),
    include_str!("data/migrations/0004.sql"),
    include_str!("data/migrations/0005.sql"),
    include_str!("data/migrations/0006.sql"),
    include_str!("data/migrations/0007.sql"),
    include_str!("data/migrations/0008.sql"),
    include_str!("data/migrations/0009.sql"),
    include_str!("data/migrations/0010.sql"),
    include_str!("data/migrations/0011.sql"),
    include_str!("data/migrations/0012.sql"),
    include_str!("data/migrations/0013.sql"),
    include_str!("data/migrations/0014.sql"),
    include_str!("data/migrations/0015.sql"),
    include_str!("data/migrations/0016.sql"),
    include_str!("data/migrations/0017.sql"),
    include_str!("data/migrations/0018.sql"),
    include_str!("data/migrations/0019.sql"),
    include_str!("data/migrations/0020.sql"),
    include_str!("data/migrations/0021.sql"),
    include_str!("data/migrations/0022.sql"),
    include_str!("data/migrations/0023.sql"),
    include_str!("data/migrations/0024.sql"),
    include_str!("data/migrations/0025.sql"),
    include_str!("data/migrations/0026.sql"),
    include_str!("data/migrations/0027.sql"),
    include_str!("data/migrations/0028.sql"),
    include_str!("data/migrations/0029.sql"),
    include_str!("data/migrations/0030.sql"),
    include_str!("data/migrations/0031.sql"),
    include_str!("data/migrations/0032.sql"),
    include_str!("data/migrations/0033.sql"),
    include_str!("data/migrations/0034.sql"),
    include_str!("data/migrations/0035.sql"),
    include_str!("data/migrations/0036.sql"),
    include_str!("data/migrations/0037.sql"),
];
const MIGRATIONS: [&str; 37] = [
    include_str!("../migrations/0001_chats_and_messages.sql"),
    include_str!("../migrations/0002_inbox_and_jobs.sql"),
    include_str!("../migrations/0003_answers_and_outbox.sql"),
    include_str!("../migrations/0004_limits_and_budgets.sql"),
    include_str!("../migrations/0005_links.sql"),
    include_str!("../migrations/0006_privacy.sql"),
    include_str!("../migrations/0007_link_rows.sql"),
    include_str!("../migrations/0008_another_conversation.sql"),
    include_str!("../migrations/0009_token_calibration.sql"),
    include_str!("../migrations/0010_message_vectors.sql"),
    include_str!("../migrations/0011_held_until_sent.sql"),
    include_str!("../migrations/0012_fewer_index_segments.sql"),
    include_str!("../migrations/0013_memory.sql"),
    include_str!("../migrations/0014_typed_jobs.sql"),
    include_str!("../migrations/0015_talk_and_topics.sql"),
    include_str!("../migrations/0016_origins.sql"),
    include_str!("../migrations/0017_follow_ups.sql"),
    include_str!("../migrations/0018_vector_spaces.sql"),
    include_str!("../migrations/0019_time_zones.sql"),
    include_str!("../migrations/0020_parts_of_words.sql"),
    include_str!("../migrations/0021_recaps.sql"),
    include_str!("../migrations/0022_chat_settings.sql"),
    include_str!("../migrations/0023_notes_and_feedback.sql"),
    include_str!("../migrations/0024_strand_sources.sql"),
    include_str!("../migrations/0025_topics.sql"),
    include_str!("../migrations/0026_vector_index.sql"),
    include_str!("../migrations/0027_tool_refusals.sql"),
    include_str!("../migrations/0028_no_link_rows.sql"),
    include_str!("../migrations/0029_memory_indexes.sql"),
    include_str!("../migrations/0030_answer_uses.sql"),
    include_str!("../migrations/0031_suggestions_of_who_opted_out.sql"),
    include_str!("../migrations/0032_revisions.sql"),
    include_str!("../migrations/0033_answer_uses_by_block.sql"),
    include_str!("../migrations/0034_own_language.sql"),
    include_str!("../migrations/0035_own_budget_and_askers.sql"),
    include_str!("../migrations/0036_other_bots.sql"),
    include_str!("../migrations/0037_referenced_concepts.sql"),
];

/// Creates a database as an older Chime left it: migrated up to `version`, with sample data after each step.
fn database_of(path: &Path, version: usize) {
    let conn = Connection::open(path).unwrap();
    conn.pragma_update(None, "application_id", 0x4348_494d).unwrap();
    for (migration, sample) in MIGRATIONS.iter().zip(SAMPLES).take(version) {
        conn.execute_batch(&format!("BEGIN; {migration} COMMIT;")).unwrap();
        conn.execute_batch(sample).unwrap();
    }
    conn.pragma_update(None, "user_version", u32::try_from(version).unwrap()).unwrap();
}

fn schema(path: &Path) -> Vec<String> {
    let conn = Connection::open(path).unwrap();
    let mut statement =
        conn.prepare("SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn open(path: &Path) -> chime_store::Result<chime_store::Opened> {
    let now = chime_core::Timestamp::from_secs(1_700_000_000);
    chime_store::Store::open(path, now).map(|(_, opened)| opened)
}

#[test]
fn every_file_in_the_folder_is_a_migration_with_sample_data() {
    let count = |folder: &str| std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap().count();
    assert_eq!(count("migrations"), MIGRATIONS.len());
    assert_eq!(count("tests/data/migrations"), SAMPLES.len());
}

#[test]
fn an_older_database_with_data_becomes_what_a_fresh_one_is() {
    let folder = tempfile::tempdir().unwrap();
    let fresh = folder.path().join("fresh.db");
    let opened = open(&fresh).unwrap();
    assert!(opened.created && opened.backup.is_none());
    for version in 1..=MIGRATIONS.len() {
        let path = folder.path().join(format!("v{version}.db"));
        database_of(&path, version);
        let opened = open(&path).unwrap();
        assert_eq!(opened.migrated, (version as u32, MIGRATIONS.len() as u32));
        assert_eq!(schema(&path), schema(&fresh), "from version {version}");
        assert_eq!(opened.backup.is_some(), version < MIGRATIONS.len(), "a migration makes a copy first");
        if let Some(backup) = opened.backup {
            let kept = Connection::open(backup).unwrap();
            let found: u32 = kept.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
            assert_eq!(found as usize, version);
        }
        let conn = Connection::open(&path).unwrap();
        let messages: u32 = conn.query_row("SELECT count(*) FROM message", [], |row| row.get(0)).unwrap();
        assert_eq!(messages, 3, "migrating loses nothing");
        let broken: i64 = conn.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |r| r.get(0)).unwrap();
        assert_eq!(broken, 0);
    }
}

/// An impatient service manager starts it twice in a second.
#[test]
fn a_start_after_one_that_was_killed_before_it_migrated_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v12.db");
    database_of(&path, 12);
    let now = chime_core::Timestamp::from_secs(1_700_000_000);
    let copy = chime_store::backups::before_migration(&path, 13, now);
    std::fs::copy(&path, &copy).unwrap();
    let opened = open(&path).unwrap();
    assert_eq!((opened.backup, opened.migrated.0), (Some(copy), 12));
}

#[test]
fn what_was_suggested_to_who_had_opted_out_goes_and_that_of_others_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v30.db");
    database_of(&path, 30);
    let conn = Connection::open(&path).unwrap();
    // User 12, who opted out everywhere, asked for the answer in the sample data; 14 never did.
    conn.execute_batch(
        "CREATE TEMP TABLE other AS SELECT * FROM answer LIMIT 1;
         UPDATE other SET id = '01HF7YAT00000000000000000F', trigger_seq = 77, asked_by = 14;
         INSERT INTO answer SELECT * FROM other;
         INSERT INTO follow_up VALUES ('01HF7YAT00000000000000000F', 1, NULL, '01HF7YAT00000000000000000B', 1, '{}');",
    )
    .unwrap();
    drop(conn);
    open(&path).unwrap();
    let conn = Connection::open(&path).unwrap();
    let left: String = conn.query_row("SELECT group_concat(answer_id) FROM follow_up", [], |row| row.get(0)).unwrap();
    assert_eq!(left, "01HF7YAT00000000000000000F");
    let hung_on_it = "SELECT (SELECT count(*) FROM frame) + (SELECT count(*) FROM item)";
    assert_eq!(conn.query_row(hung_on_it, [], |row| row.get::<_, u32>(0)).unwrap(), 0);
}

#[test]
fn what_an_answer_rests_on_is_kept_in_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v32.db");
    database_of(&path, 32);
    let conn = Connection::open(&path).unwrap();
    let id = "01HF7YAT00000000000000000F";
    conn.execute_batch(&format!(
        "INSERT INTO answer_use VALUES (1, 1, '{id}'), (1, 63, '{id}'), (1, 64, '{id}'), (1, 200, '{id}')"
    ))
    .unwrap();
    drop(conn);
    open(&path).unwrap();
    let conn = Connection::open(&path).unwrap();
    let mut statement = conn.prepare("SELECT block, bits FROM answer_use WHERE answer_id = ?1 ORDER BY block").unwrap();
    let blocks = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let blocks: Vec<(i64, i64)> = blocks.map(Result::unwrap).collect();
    assert_eq!(blocks, [(0, i64::MIN + 2), (1, 1), (3, 1 << 8)]);
}

#[test]
fn a_fresh_database_and_what_is_beside_it_are_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chime.db");
    open(&path).unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    for name in ["chime.db", "chime.db-wal", "chime.db-shm"] {
        let mode = std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_newer_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("newer.db");
    database_of(&path, MIGRATIONS.len());
    let conn = Connection::open(&path).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    let before = std::fs::read(&path).unwrap();
    let error = open(&path).unwrap_err().to_string();
    assert!(error.contains("version 99"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_of_somebody_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let error = open(&path).unwrap_err().to_string();
    assert!(error.contains("not a Chime database"), "{error}");
}

#[test]
fn a_database_that_is_gone_is_not_silently_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chime.db");
    open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let error = open(&path).unwrap_err().to_string();
    assert!(error.contains("is gone"), "{error}");
}

#[test]
fn a_second_daemon_on_the_same_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chime.db");
    let now = chime_core::Timestamp::from_secs(1_700_000_000);
    let (first, _) = chime_store::Store::open(&path, now).unwrap();
    let error = open(&path).unwrap_err().to_string();
    assert!(error.contains("another chime"), "{error}");
    drop(first);
}
