//! `chime read-document`: reads one document for the daemon, in a process of its own that has nothing else.

use std::io::{self, Read, Write};

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::cli::exit::{CommandResult, Exit};
use chime_documents::{MAX_BYTES, MAX_SECONDS, ReadRequest, read};

/// Maximum size of the heap. A PDF of 20 MB with large fonts takes half of it.
const MAX_MEMORY: u64 = 200 * 1024 * 1024;
/// Maximum size of the line in front of the document: a file name and a type.
const MAX_LINE: usize = 4_096;

/// Reads a [`ReadRequest`] line and the bytes of the document from standard input, and writes the result as JSON.
pub(super) fn run() -> CommandResult {
    // Members see the reason in words of their language. What a reader writes when it panics may quote the document.
    std::panic::set_hook(Box::new(|_| {}));
    limit()?;
    convert()?;
    Ok(Exit::Done)
}

/// Limits memory and time. Forbids what a reader never needs: opening files or connections, and core dumps after a
/// crash.
fn limit() -> io::Result<()> {
    let limits = [
        (Resource::Data, MAX_MEMORY),
        (Resource::Cpu, MAX_SECONDS),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
        (Resource::Nofile, 0),
    ];
    for (resource, most) in limits {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

fn convert() -> io::Result<()> {
    let mut input = Vec::new();
    io::stdin().lock().take((MAX_BYTES + MAX_LINE) as u64 + 1).read_to_end(&mut input)?;
    let line = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (head, rest) = input.split_at(line);
    let request: ReadRequest = serde_json::from_slice(head)?;
    let result = read(rest.get(1..).unwrap_or_default(), &request);
    let mut output = io::stdout().lock();
    serde_json::to_writer(&mut output, &result)?;
    output.flush()
}
