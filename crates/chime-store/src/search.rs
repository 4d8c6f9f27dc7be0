//! Full-text index of messages. The rowids of a chat's messages form one range, and each search is limited to the range
//! of one chat.

use std::borrow::Cow;

use super::row::row_id;
use super::sql::{Statements, params};

use super::{Reader, Result, Writer};
use chime_core::{ChatKey, Language, Seq, folded, stems};

/// Indexed content of a message. To remove an entry, FTS5 needs exactly the content that was inserted.
pub struct Indexed<'a> {
    pub chat: ChatKey,
    pub seq: Seq,
    pub text: Cow<'a, str>,
    pub author: &'a str,
    pub language: Language,
}

pub fn insert(tx: &Writer<'_>, entry: &Indexed<'_>) -> Result<()> {
    write(tx, "INSERT INTO message_fts (rowid, text, author) VALUES (:id, :text, :author)", entry)?;
    write_parts(tx, "INSERT INTO message_part_fts (rowid, text) VALUES (:id, :text)", entry)
}

pub fn remove(tx: &Writer<'_>, entry: &Indexed<'_>) -> Result<()> {
    write(
        tx,
        "INSERT INTO message_fts (message_fts, rowid, text, author) VALUES ('delete', :id, :text, :author)",
        entry,
    )?;
    write_parts(tx, "INSERT INTO message_part_fts (message_part_fts, rowid, text) VALUES ('delete', :id, :text)", entry)
}

pub fn is_empty(conn: &Reader) -> Result<bool> {
    Ok(!conn.any("SELECT 1 FROM message_fts_docsize LIMIT 1", &[])?)
}

/// Removes all entries.
pub fn clear(tx: &Writer<'_>) -> Result<()> {
    tx.run("INSERT INTO message_fts (message_fts) VALUES ('delete-all')", &[])?;
    tx.run("INSERT INTO message_part_fts (message_part_fts) VALUES ('delete-all')", &[])
}

/// Adds or removes the trigrams of a text, which find parts of words. Only for languages without a stemmer.
fn write_parts(tx: &Writer<'_>, sql: &str, entry: &Indexed<'_>) -> Result<()> {
    if entry.language.has_stemmer() || entry.text.trim().is_empty() {
        return Ok(());
    }
    tx.run(sql, params! { ":id": row_id(entry.chat, entry.seq), ":text": &*folded(&entry.text) })
}

fn write(tx: &Writer<'_>, sql: &str, entry: &Indexed<'_>) -> Result<()> {
    let mut words = stems(&entry.text, entry.language);
    let compounds: Vec<String> = words.iter().filter_map(|word| entry.language.reversed_compound(word)).collect();
    words.extend(compounds);
    let text = words.join(" ");
    let author = stems(entry.author, entry.language).join(" ");
    if text.is_empty() {
        return Ok(());
    }
    tx.run(
        sql,
        params! {
            ":id": row_id(entry.chat, entry.seq), ":text": text, ":author": author,
        },
    )
}

/// Row id of the entry that [`unsettle`] adds. No message has it.
const EXTRA: i64 = -1;

/// Adds an entry, so that merging everything rewrites an index of one segment too. The beginnings of deleted words may
/// be in the boundaries of its pages until then.
pub fn unsettle(tx: &Writer<'_>) -> Result<()> {
    tx.run("INSERT INTO message_fts (rowid, text, author) VALUES (:id, 'a', '')", params! { ":id": EXTRA })
}

/// Removes the entry of [`unsettle`].
pub fn settle(tx: &Writer<'_>) -> Result<()> {
    tx.run(
        "INSERT INTO message_fts (message_fts, rowid, text, author) VALUES ('delete', :id, 'a', '')",
        params! { ":id": EXTRA },
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merging {
    /// Merges only segments of similar size. Merged data is not merged again until as much new data has arrived.
    Alike,
    /// Merges everything into one segment, which rewrites the whole index. Only the first step uses it; later steps use
    /// [`Merging::Alike`].
    All,
}

/// Merges about `pages` pages of the index. The index then has fewer segments, which makes searches faster. Returns
/// `true` if there is more to merge.
pub fn merge(tx: &Writer<'_>, merging: Merging, pages: i32) -> Result<bool> {
    let changes = || tx.one::<i64>("SELECT total_changes()", &[]);
    let before = changes()?;
    // FTS5 merges all segments if the number is negative.
    let pages = if merging == Merging::All { -pages } else { pages };
    tx.run("INSERT INTO message_fts (message_fts, rank) VALUES ('merge', :pages)", params! { ":pages": pages })?;
    // The INSERT itself counts as one change, so a higher number shows that pages were merged.
    Ok(changes()? - before > 1)
}

/// Returns the number of the newest message, or 0. It is about the number of messages in the chat, including deleted
/// ones.
pub fn newest(conn: &Reader, chat: ChatKey) -> Result<i64> {
    let newest: Option<i64> = conn.one(
        "SELECT max(id) & 4294967295 AS seq FROM message WHERE id BETWEEN :chat << 32 AND (:chat << 32) | 4294967295",
        params! { ":chat": chat },
    )?;
    Ok(newest.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postings::{self, Range};
    use crate::testkit::new_store;
    use crate::{Priority, StoreError};

    const CHAT: ChatKey = ChatKey(1);

    fn every(before: Seq) -> Range {
        Range { chat: CHAT, from: Seq(0), before, limit: 100 }
    }

    fn segments(conn: &Reader) -> Result<i64> {
        // The upper bits of a page id are the number of the segment. The first pages belong to no segment.
        Ok(conn
            .query_row("SELECT count(DISTINCT id >> 37) FROM message_fts_data WHERE id > 10", [], |row| row.get(0))?)
    }

    #[tokio::test]
    async fn merging_leaves_fewer_segments_and_the_same_words() {
        let (_folder, store) = new_store().await;
        for seq in (1..=23).map(Seq) {
            let add = move |tx: &Writer<'_>| {
                insert(
                    tx,
                    &Indexed { chat: CHAT, seq, text: "thai".into(), author: "Ann", language: Language::DEFAULT },
                )
            };
            store.write(Priority::Background, add).await.unwrap();
        }
        let found = |conn: &Reader| postings::of_stem(conn, &every(Seq(100)), "thai").map(|found| found.seqs);
        let (many, before) = store.read(move |conn| Ok((segments(conn)?, found(conn)?))).await.unwrap();
        let merge_all = async |merging| {
            store.merge_index(merging).await.unwrap();
            store.read(move |conn| Ok((segments(conn)?, found(conn)?))).await.unwrap()
        };
        let (few, after) = merge_all(Merging::Alike).await;
        assert!(few < many, "{many} segments became {few}");
        let (one, in_one) = merge_all(Merging::All).await;
        assert_eq!((one, before.len()), (1, 23));
        assert_eq!((&before, &before), (&after, &in_one));
    }

    #[tokio::test]
    async fn parts_of_words_are_indexed_where_there_is_no_stemmer_and_removed() {
        let (_folder, store) = new_store().await;
        let estonian = Language::from_code("est");
        let said = [(1, "broneerisin laua restoranis", estonian), (2, "restoran?", Language::DEFAULT)];
        let range = Range { chat: CHAT, from: Seq(0), before: Seq(10), limit: 10 };
        let found = move |conn: &Reader| Ok::<_, StoreError>(postings::of_part(conn, &range, "restorani")?.seqs);
        let outcome = store.write(Priority::Background, move |tx| {
            let entry = |(seq, text, language)| Indexed {
                chat: CHAT,
                seq: Seq(seq),
                text: Cow::Borrowed(text),
                author: "Ann",
                language,
            };
            said.into_iter().try_for_each(|of| insert(tx, &entry(of)))?;
            let before = found(tx)?;
            remove(tx, &entry(said[0]))?;
            Ok((before, found(tx)?))
        });
        assert_eq!(outcome.await.unwrap(), (vec![Seq(1)], Vec::new()));
    }

    #[tokio::test]
    async fn a_compound_is_found_by_its_first_and_last_word_until_it_is_removed() {
        let (_folder, store) = new_store().await;
        let [german, dutch, english] = ["deu", "nld", "eng"].map(Language::from_code);
        let said = [
            (1, "die Mietkautionen sind hoch", german),
            (2, "de borg en de Huurwaarborg", dutch),
            (3, "die Kaution", german),
            (4, "a Mietkaution", english),
            (5, "der Kautionsschutz", german),
        ];
        let entry = move |(seq, text, language): (u32, &'static str, Language)| Indexed {
            chat: CHAT,
            seq: Seq(seq),
            text: Cow::Borrowed(text),
            author: "Ann",
            language,
        };
        let found = |conn: &Reader, word: &str, language| {
            let stem = &stems(word, language)[0];
            postings::of_word(conn, &every(Seq(10)), stem, language).map(|found| found.seqs)
        };
        let outcome = store.write(Priority::Background, move |tx| {
            said.into_iter().try_for_each(|of| insert(tx, &entry(of)))?;
            let before = found(tx, "Kautionen", german)?;
            let others = (found(tx, "waarborg", dutch)?, found(tx, "Kaution", english)?);
            let both = postings::of_all(tx, &every(Seq(10)), &["kaution", "hoch"], Some(german))?.seqs;
            remove(tx, &entry(said[0]))?;
            let after = found(tx, "Kaution", german)?;
            [said[1], said[2], said[3], said[4]].into_iter().try_for_each(|of| remove(tx, &entry(of)))?;
            tx.execute_batch("CREATE VIRTUAL TABLE temp.said USING fts5vocab(main, message_fts, row)")?;
            let left: i64 = tx.query_row("SELECT count(*) FROM said", [], |row| row.get(0))?;
            Ok((before, others, both, after, left))
        });
        let (before, others, both, after, left) = outcome.await.unwrap();
        assert_eq!(before, [Seq(5), Seq(3), Seq(1)]);
        assert_eq!(others, (vec![Seq(2)], vec![Seq(3)]));
        assert_eq!(both, [Seq(1)]);
        assert_eq!((after, left), (vec![Seq(5), Seq(3)], 0), "no term stays in the index");
    }

    #[tokio::test]
    async fn a_rewritten_index_has_no_beginning_of_a_removed_word() {
        let (_folder, store) = new_store().await;
        // Words that stay, and between them words that go.
        let word = |seq: u32| format!("zq{:06}{}", seq / 2, if seq.is_multiple_of(2) { 'a' } else { 'b' });
        let all: Vec<(Seq, String)> = (2..4_000).map(|seq| (Seq(seq), word(seq))).collect();
        let gone: Vec<(Seq, String)> = all.iter().filter(|(seq, _)| seq.0 % 2 == 1).cloned().collect();
        store.write(Priority::Background, store_all(&all, insert)).await.unwrap();
        store.merge_index(Merging::All).await.unwrap();
        store.write(Priority::Background, store_all(&gone, remove)).await.unwrap();
        let left = |conn: &Reader| -> Result<i64> {
            let sql = "SELECT count(*) FROM message_fts_idx WHERE instr(CAST(term AS TEXT), 'b') > 0";
            Ok(conn.query_row(sql, [], |row| row.get(0))?)
        };
        assert!(store.read(left).await.unwrap() > 0, "boundaries of pages have some");
        // A rewriting that was killed before its last step.
        store.write(Priority::Background, unsettle).await.unwrap();
        store.rewrite_index().await.unwrap();
        assert_eq!(store.read(left).await.unwrap(), 0);
        let extra = |conn: &Reader| -> Result<i64> {
            let sql = "SELECT count(*) FROM message_fts WHERE message_fts MATCH 'a'";
            Ok(conn.query_row(sql, [], |row| row.get(0))?)
        };
        assert_eq!(store.read(extra).await.unwrap(), 0, "the extra entry is gone");
    }

    /// Returns work that inserts or removes messages with these texts.
    fn store_all(
        texts: &[(Seq, String)],
        change: fn(&Writer<'_>, &Indexed<'_>) -> Result<()>,
    ) -> impl FnOnce(&Writer<'_>) -> Result<()> + Send + use<> {
        let texts = texts.to_vec();
        move |tx| {
            texts.iter().try_for_each(|(seq, text)| {
                let text = Cow::Borrowed(text.as_str());
                change(tx, &Indexed { chat: CHAT, seq: *seq, text, author: "Ann", language: Language::DEFAULT })
            })
        }
    }

    #[tokio::test]
    async fn what_is_removed_in_the_middle_of_merging_is_gone() {
        let (_folder, store) = new_store().await;
        let word = |seq: Seq| format!("word{}x", seq.0.wrapping_mul(2_654_435_761) % 1_000_003);
        let changed = |seqs: std::ops::Range<u32>, change: fn(&Writer<'_>, &Indexed<'_>) -> Result<()>| {
            store.write(Priority::Background, move |tx| {
                seqs.map(Seq).try_for_each(|seq| {
                    let text = &format!("thai {}", word(seq));
                    change(
                        tx,
                        &Indexed {
                            chat: CHAT,
                            seq,
                            text: Cow::Borrowed(text),
                            author: "Ann",
                            language: Language::DEFAULT,
                        },
                    )
                })
            })
        };
        for begin in (0..4_000).step_by(1_000) {
            changed(begin..begin + 1_000, insert).await.unwrap();
        }
        assert!(store.write(Priority::Background, |tx| merge(tx, Merging::All, 1)).await.unwrap(), "it is half done");
        changed(0..3_990, remove).await.unwrap();
        let left = store.write(Priority::Background, move |tx| {
            tx.execute_batch("CREATE VIRTUAL TABLE temp.said USING fts5vocab(main, message_fts, row)")?;
            let said = |word: String| {
                tx.query_row("SELECT count(*) FROM said WHERE term = ?1", [word], |row| row.get::<_, i64>(0))
            };
            let thai = postings::of_stem(tx, &every(Seq(5_000)), "thai")?.seqs;
            Ok((thai.len(), said(word(Seq(7)))?, said(word(Seq(3_995)))?))
        });
        assert_eq!(left.await.unwrap(), (10, 0, 1));
        store.merge_index(Merging::Alike).await.unwrap();
        let after = store.read(|conn| postings::of_stem(conn, &every(Seq(5_000)), "thai")).await;
        assert_eq!(after.unwrap().seqs.len(), 10);
    }
}
