//! Size of a chat in the database.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use chime_sandbox::Post;
use chime_world::World;
use rusqlite::Connection;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MESSAGES: usize = 10_000;
const MEMBERS: usize = 20;
/// Characters of a typical message.
const LENGTH: usize = 59;
const FRESH_BYTES: u64 = 6_000_000;
const LATER_BYTES: u64 = 3_700_000;
const VECTOR_BYTES: u64 = 2_600_000;

/// Ten thousand messages: while ids of updates are kept, and afterwards without and with their vectors. `cargo test
/// --test e2e size -- --nocapture` prints the sizes by table.
#[tokio::test]
async fn ten_thousand_messages_take_a_few_megabytes() {
    World::with(&[("OPENAI_BASE_URL", ""), ("MODEL", "")], async |w| {
        let members: Vec<_> = (0..MEMBERS).map(|number| w.member(&format!("member{number}"))).collect();
        for number in 0..MESSAGES {
            let from = members[number * 7 % MEMBERS];
            w.telegram.say(w.chat, Post::new(from, said(number), w.clock.now()));
        }
        w.settled().await;
        let fresh = taken(w).await;
        assert!(fresh <= FRESH_BYTES, "{fresh} bytes while ids of updates are kept:\n{}", by_table(w));
        w.clock.advance(DAY * 15);
        w.until("the ids are gone", |conn| Ok(chime_store::inbox::counts(conn)?.0 == 0)).await;
        w.settled().await;
        let later = taken(w).await;
        let vectors = of_vectors(w);
        assert!(later - vectors <= LATER_BYTES, "{later} bytes afterwards, {vectors} of vectors:\n{}", by_table(w));
        assert!(vectors <= VECTOR_BYTES, "{vectors} bytes of vectors:\n{}", by_table(w));
        let shown = format!("{fresh} bytes, {later} afterwards, {vectors} of vectors\n{}\n", by_table(w));
        std::io::stdout().write_all(shown.as_bytes()).expect("told");
    })
    .await;
}

const WORDS: [&str; 64] = [
    "the", "and", "you", "that", "was", "for", "are", "with", "his", "they", "this", "have", "from", "one", "had",
    "word", "but", "not", "what", "all", "were", "when", "your", "can", "said", "there", "use", "each", "which", "she",
    "how", "their", "will", "other", "about", "out", "many", "then", "them", "these", "some", "her", "would", "make",
    "like", "him", "into", "time", "has", "look", "two", "more", "write", "see", "number", "way", "could", "people",
    "than", "first", "water", "been", "call", "who",
];

/// Returns words with a frequency as in a language: few are frequent, most are rare.
fn said(number: usize) -> String {
    let mut text = String::new();
    let mut state = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    while text.len() < LENGTH {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let rank = (1u64 << (state % 12)) + state / 7 % (1 << (state % 12));
        match WORDS.get(rank as usize) {
            Some(word) => text.push_str(word),
            None => drop(write!(text, "w{rank:x}")),
        }
        text.push(' ');
    }
    text.truncate(LENGTH);
    text
}

/// Returns the bytes in use in the database file, after a checkpoint.
async fn taken(w: &World) -> u64 {
    let conn = Connection::open(w.database()).expect("open");
    let number =
        |pragma: &str| conn.query_row(&format!("PRAGMA {pragma}"), [], |raw| raw.get::<_, u64>(0)).expect(pragma);
    let _ = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |raw| raw.get::<_, i64>(0));
    (number("page_count") - number("freelist_count")) * number("page_size")
}

/// Returns the bytes of the tables with vectors and of their indexes.
fn of_vectors(w: &World) -> u64 {
    let conn = Connection::open(w.database()).expect("open");
    let sum = "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name GLOB '*_vector*' OR name GLOB 'vec_*'";
    conn.query_row(sum, [], |raw| raw.get(0)).expect("dbstat")
}

fn by_table(w: &World) -> String {
    let conn = Connection::open(w.database()).expect("open");
    let mut statement = conn
        .prepare("SELECT name, sum(pgsize), sum(unused) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 24")
        .expect("dbstat");
    let rows = statement.query_map([], |raw| {
        Ok(format!("{:>9} ({:>8} unused) {}", raw.get::<_, u64>(1)?, raw.get::<_, u64>(2)?, raw.get::<_, String>(0)?))
    });
    rows.expect("rows").collect::<Result<Vec<_>, _>>().expect("rows").join("\n")
}
