//! Finds the file of an export, and repairs bytes in it that a JSON parser rejects.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::archive::import::error::ImportError;
use chime_core::repair_bytes;

const NAME: &str = "result.json";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Number of bytes read at once.
const CHUNK: usize = 1 << 20;

/// Finds the export for a path: the file itself, or the only `result.json` in the folder or its direct subfolders.
///
/// # Errors
/// [`ImportError::NoExport`] and [`ImportError::SeveralExports`].
pub fn locate(path: &Path) -> Result<PathBuf, ImportError> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let own = path.join(NAME);
    if own.is_file() {
        return Ok(own);
    }
    let failed = |source| ImportError::File { path: path.to_owned(), source };
    let entries = std::fs::read_dir(path).map_err(failed)?.flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path().join(NAME)).filter(|file| file.is_file()).collect();
    found.sort();
    match found.as_slice() {
        [] => Err(ImportError::NoExport { path: path.to_owned(), is_html: path.join("messages.html").exists() }),
        [one] => Ok(one.clone()),
        several => Err(ImportError::SeveralExports { path: path.to_owned(), found: listed(several) }),
    }
}

/// Formats a list of files: the first few by their paths.
fn listed(files: &[PathBuf]) -> String {
    const NAMED: usize = 5;
    let mut names: Vec<String> = files.iter().take(NAMED).map(|file| file.display().to_string()).collect();
    if files.len() > NAMED {
        names.push("…".to_owned());
    }
    names.join(", ")
}

/// Opens an export for a JSON parser. `bytes` counts the bytes read so far.
pub fn open(path: &Path, bytes: Arc<AtomicU64>) -> Result<impl Read, ImportError> {
    let file = File::open(path).map_err(|source| ImportError::File { path: path.to_owned(), source })?;
    Ok(BufReader::with_capacity(CHUNK, RepairingReader::new(CountingReader { file, bytes })))
}

struct CountingReader {
    file: File,
    bytes: Arc<AtomicU64>,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Reader that removes a byte-order mark and replaces lone surrogates in JSON. Some exporters cut a text in the middle
/// of an emoji and so write only half of a surrogate pair.
struct RepairingReader<R> {
    inner: R,
    buffer: Vec<u8>,
    /// Number of buffered bytes that the caller has read.
    taken: usize,
    /// Number of buffered bytes that are already repaired.
    ready: usize,
    has_begun: bool,
    is_at_end: bool,
}

impl<R: Read> RepairingReader<R> {
    fn new(inner: R) -> Self {
        Self { inner, buffer: Vec::new(), taken: 0, ready: 0, has_begun: false, is_at_end: false }
    }

    fn refill(&mut self) -> std::io::Result<()> {
        self.buffer.drain(..self.ready);
        (self.taken, self.ready) = (0, 0);
        while self.ready == 0 && !self.is_at_end {
            let read = Read::by_ref(&mut self.inner).take(CHUNK as u64).read_to_end(&mut self.buffer)?;
            self.is_at_end = read == 0;
            if !self.has_begun {
                self.has_begun = true;
                if self.buffer.starts_with(BYTE_ORDER_MARK) {
                    self.buffer.drain(..BYTE_ORDER_MARK.len());
                }
            }
            self.ready = repair_bytes(&mut self.buffer, self.is_at_end);
        }
        Ok(())
    }
}

impl<R: Read> Read for RepairingReader<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.taken == self.ready {
            self.refill()?;
        }
        let count = into.len().min(self.ready - self.taken);
        into[..count].copy_from_slice(&self.buffer[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reader that returns one byte at a time, so that the buffer ends at each position once.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let count = into.len().min(self.0.len()).min(1);
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &[u8]) {
        for end in 0..=bytes.len() {
            // Bytes reported as final do not change when more bytes follow.
            let mut whole = bytes.to_vec();
            let done = repair_bytes(&mut whole[..end], false);
            repair_bytes(&mut whole[done..], true);
            assert_eq!(whole, expected, "in two parts: {end}");
        }
        let mut read = Vec::new();
        RepairingReader::new(Slow(bytes)).read_to_end(&mut read).unwrap();
        assert_eq!(read, expected);
    }

    #[test]
    fn halves_are_replaced_and_pairs_stay() {
        check(br"a\ud83d b", br"a\ufffd b");
        check(br"\uDE00\ud83d\ude00\uD83D", br"\ufffd\ud83d\ude00\ufffd");
        check(br"\\ud83d \n \u0041 \", br"\\ud83d \n \u0041 \");
        check(br"\ud83d\n\ud83", br"\ufffd\n\ud83");
        check(b"\xed\xa0\xbd \xed\x95\x9c \xed", b"\xef\xbf\xbd \xed\x95\x9c \xed");
        check(b"", b"");
    }

    #[test]
    fn a_byte_order_mark_is_taken_off_at_the_beginning_alone() {
        let mut read = Vec::new();
        RepairingReader::new(&b"\xef\xbb\xbf{\"\xef\xbb\xbf\"}"[..]).read_to_end(&mut read).unwrap();
        assert_eq!(read, b"{\"\xef\xbb\xbf\"}");
    }
}
