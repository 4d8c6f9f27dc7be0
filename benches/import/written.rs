//! Writes the export: every kind of message in the format, and in the middle a talk with a decision.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use chime_testkit::Export;
use serde_json::json;

use crate::Outcome;

/// Messages that the question is about. The third contains the decision.
const TALK: [&str; 4] = [
    "shall we rent the blue canoe or the yellow canoe for the regatta?",
    "the yellow canoe has had a crack in its keel since Easter",
    "then it is decided: we rent the blue canoe, and Ana pays the deposit of 90",
    "agreed, I pay the deposit for the blue canoe on Thursday",
];
pub const QUESTION: &str = "@bot what did we decide about the canoe for the regatta?";
pub const DECISION: &str = TALK[2];

/// Returns the id of the message with the decision, far from both ends.
pub fn decision(export: &Export) -> i64 {
    begin(export) + 2
}

fn begin(export: &Export) -> i64 {
    // A place of plain texts.
    export.messages * 2 / 5 / 128 * 128 + 1
}

pub fn write(export: &Export, path: &Path) -> Outcome<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let head = json!({"name": "Friday table", "type": export.kind, "id": export.chat}).to_string();
    write!(out, "{},\n\"messages\": [", head.trim_end_matches('}'))?;
    let begin = begin(export);
    for id in 1..=export.messages {
        let mut message = export.message(id);
        let said = usize::try_from(id - begin).ok().and_then(|place| TALK.get(place));
        if let Some(said) = said {
            message = json!({"id": id, "type": "message", "date_unixtime": message["date_unixtime"], "text": said,
                "date": message["date"], "from": format!("Member {}", id % 7), "from_id": format!("user{}", 5000 + id % 7)});
        }
        write!(out, "{}{message}", if id == 1 { "\n" } else { ",\n" })?;
    }
    out.write_all(b"\n]}\n")?;
    Ok(out.flush()?)
}
