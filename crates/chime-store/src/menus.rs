//! Command menus that Telegram has, as hashes of their commands and descriptions.

use super::sql::{Statements, params};
use super::{Reader, Result, Writer};

pub fn hashes(conn: &Reader) -> Result<Vec<i64>> {
    conn.all("SELECT hash FROM command_menu ORDER BY hash", &[])
}

pub fn replace(tx: &Writer<'_>, hashes: &[i64]) -> Result<()> {
    tx.run("DELETE FROM command_menu", &[])?;
    hashes.iter().try_for_each(|hash| {
        tx.run("INSERT OR IGNORE INTO command_menu (hash) VALUES (:hash)", params! { ":hash": hash })
    })
}
