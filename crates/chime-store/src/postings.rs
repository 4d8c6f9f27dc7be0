//! Posting lists: the messages of one chat that contain a word. A lookup reads a limited number of rows, however common
//! the word is, and only rows of this chat. The ranking of FTS5 is not used, because it counts over all chats.

use super::row::row_id;
use super::sql::{Statements, params};
use super::{Reader, Result, search};
use chime_core::{ChatKey, Language, Seq, stems};

/// Range of messages to search.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    pub chat: ChatKey,
    /// First message to search.
    pub from: Seq,
    /// Message before which the search ends.
    pub before: Seq,
    /// Maximum number of messages to return, newest first.
    pub limit: u32,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Postings {
    /// Messages that contain the word, newest first.
    pub seqs: Vec<Seq>,
    /// Number of messages that contain the word: exact if `is_complete`, otherwise estimated from the density among the
    /// newest.
    pub held: f64,
    pub is_complete: bool,
}

pub fn of_stem(conn: &Reader, range: &Range, stem: &str) -> Result<Postings> {
    read(conn, STEMS, range, &format!("text : {}", quoted(stem)))
}

/// Finds messages that contain one of the stems.
pub fn of_any(conn: &Reader, range: &Range, stems: &[String]) -> Result<Postings> {
    let stems: Vec<String> = stems.iter().map(|stem| quoted(stem)).collect();
    read(conn, STEMS, range, &format!("text : ({})", stems.join(" OR ")))
}

/// Finds messages that contain a stem, as a word or in a compound.
pub fn of_word(conn: &Reader, range: &Range, stem: &str, language: Language) -> Result<Postings> {
    read(conn, STEMS, range, &format!("text : {}", word_or_compound(stem, language)))
}

/// Finds messages that contain a stem in their text or in the name of their author.
pub fn of_name(conn: &Reader, range: &Range, stem: &str) -> Result<Postings> {
    read(conn, STEMS, range, &format!("{{text author}} : {}", quoted(stem)))
}

/// Finds messages that contain a stem, as a word or in a compound, and all words of `author` in the name of their
/// author.
pub fn of_stem_by(conn: &Reader, range: &Range, stem: &str, author: &str, language: Language) -> Result<Postings> {
    let author: Vec<String> = stems(author, language).iter().map(|word| quoted(word)).collect();
    if author.is_empty() {
        return Ok(Postings::default());
    }
    let word = word_or_compound(stem, language);
    read(conn, STEMS, range, &format!("text : {word} AND author : ({})", author.join(" AND ")))
}

/// Finds messages that contain all of the stems in their text, as words or in compounds of a language.
pub fn of_all(conn: &Reader, range: &Range, stems: &[&str], compounds: Option<Language>) -> Result<Postings> {
    let word = |stem: &&str| compounds.map_or_else(|| quoted(stem), |language| word_or_compound(stem, language));
    let words: Vec<String> = stems.iter().map(word).collect();
    read(conn, STEMS, range, &format!("text : ({})", words.join(" AND ")))
}

/// Minimum number of letters that are searched for. `ENDING_CHARS` letters at the end of a longer word are ignored,
/// because inflection may change them.
const PART_CHARS: usize = 3;
const ENDING_CHARS: usize = 2;
/// Maximum number of letters that are searched for.
const MOST_PART_CHARS: usize = 64;

/// Finds messages with a word that contains the beginning of `word`. Finds nothing in languages that have a stemmer,
/// because only messages in the others are indexed by parts of words.
pub fn of_part(conn: &Reader, range: &Range, word: &str) -> Result<Postings> {
    let letters = word.chars().filter(|c| c.is_alphanumeric());
    let count = letters.clone().count();
    if count < PART_CHARS {
        return Ok(Postings::default());
    }
    let part: String = letters.take(count.saturating_sub(ENDING_CHARS).clamp(PART_CHARS, MOST_PART_CHARS)).collect();
    read(conn, PARTS, range, &quoted(&part))
}

const STEMS: &str = "SELECT rowid & 4294967295 AS seq FROM message_fts
    WHERE message_fts MATCH :query AND rowid BETWEEN :from AND :to ORDER BY rowid DESC LIMIT :limit";
const PARTS: &str = "SELECT rowid & 4294967295 AS seq FROM message_part_fts
    WHERE message_part_fts MATCH :query AND rowid BETWEEN :from AND :to ORDER BY rowid DESC LIMIT :limit";

fn read(conn: &Reader, sql: &str, range: &Range, query: &str) -> Result<Postings> {
    let Range { chat, from, before, limit } = *range;
    let seqs: Vec<Seq> = conn.all(
        sql,
        params! {
            ":query": query, ":from": row_id(chat, from), ":to": row_id(chat, before) - 1, ":limit": limit,
        },
    )?;
    let is_complete = seqs.len() < limit as usize;
    let held = match seqs.last() {
        Some(oldest) if !is_complete => {
            let newest = before.0.saturating_sub(1);
            let (all, read) = (newest.saturating_sub(from.0).max(1), newest.saturating_sub(oldest.0) + 1);
            seqs.len() as f64 * f64::from(all) / f64::from(read)
        }
        _ => seqs.len() as f64,
    };
    Ok(Postings { seqs, held, is_complete })
}

/// Puts a word in quotes, so that FTS5 does not read a member's words as query syntax.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('"', ""))
}

/// Returns a query for a stem as a word or in a compound.
fn word_or_compound(stem: &str, language: Language) -> String {
    let compounds = language.compound_prefixes(stem);
    let terms = compounds.iter().map(|prefix| format!(" OR {} *", quoted(prefix)));
    format!("({}{})", quoted(stem), terms.collect::<String>())
}

/// Returns the approximate number of messages in a chat, including deleted ones.
pub fn messages(conn: &Reader, chat: ChatKey) -> Result<f64> {
    Ok(search::newest(conn, chat)? as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Priority;
    use crate::search::{Indexed, insert};
    use crate::testkit::new_store;

    const CHAT: ChatKey = ChatKey(1);

    /// Stores a chat with the messages `said` and runs `look` in it. A second chat has the same messages, which must
    /// not be found.
    async fn found<T: Send + 'static>(said: &[&str], look: fn(&Reader, &Range) -> Result<T>) -> T {
        let (_folder, store) = new_store().await;
        let said: Vec<String> = said.iter().map(|text| (*text).to_owned()).collect();
        store
            .write(Priority::Background, move |tx| {
                for (seq, text) in (1..).map(Seq).zip(&said) {
                    for chat in [CHAT, ChatKey(2)] {
                        let author = if seq.0 % 2 == 0 { "Ben" } else { "Ann" };
                        let language = Language::from_code("est");
                        insert(tx, &Indexed { chat, seq, text: text.into(), author, language })?;
                    }
                }
                look(tx, &Range { chat: CHAT, from: Seq(0), before: Seq(9), limit: 3 })
            })
            .await
            .unwrap()
    }

    const SAID: [&str; 9] = ["tea", "soup tea", "tea", "no", "tea", "no", "no", "tea soup", "tea"];

    fn seqs(of: &Postings) -> Vec<u32> {
        of.seqs.iter().map(|seq| seq.0).collect()
    }

    #[tokio::test]
    async fn a_common_word_is_read_as_far_as_the_limit_and_its_count_estimated() {
        let tea = found(&SAID, |conn, range| of_stem(conn, range, "tea")).await;
        assert_eq!((seqs(&tea), tea.is_complete), (vec![8, 5, 3], false));
        assert!((tea.held - 4.0).abs() < 1e-9, "three in the last six of eight: {}", tea.held);
        let soup = found(&SAID, |conn, range| of_stem(conn, range, "soup")).await;
        assert_eq!((seqs(&soup), soup.held, soup.is_complete), (vec![8, 2], 2.0, true));
    }

    #[tokio::test]
    async fn pairs_authors_and_parts_of_words_are_looked_for() {
        let pairs = found(&SAID, |conn, range| of_all(conn, range, &["tea", "soup"], None)).await;
        assert_eq!(seqs(&pairs), [8, 2]);
        let odd = found(&SAID, |conn, range| of_all(conn, range, &["tea", "x\" OR \"tea"], None)).await;
        assert_eq!(seqs(&odd), [] as [u32; 0]);
        let by = found(&SAID, |conn, range| of_stem_by(conn, range, "tea", "Ann", Language::DEFAULT)).await;
        assert_eq!(seqs(&by), [5, 3, 1]);
        let parts = found(&["broneerisin", "ei"], |conn, range| of_part(conn, range, "broneerida")).await;
        assert_eq!(seqs(&parts), [1]);
    }
}
