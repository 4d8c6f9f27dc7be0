//! Reads the items that an answer suggests: from numbered and bulleted lists, tables, bold names and prose.

mod line;
mod prose;

use std::collections::BTreeSet;

use crate::followup::items::line::{ListLine, Marker, read_lines};
use crate::followup::words::fold;
use chime_core::{Suggested, source_list};

/// Maximum number of items of one answer.
const MAX_ITEMS: usize = 20;

/// Returns the items that an answer lists or marks, in its order, without repeated titles. `kind` is the kind that the
/// question asked for.
pub fn items(answer: &str, kind: Option<&str>) -> Vec<Suggested> {
    let answer = line::without_tags(answer);
    let found = [listed, tabled, prose::bold, prose::quoted]
        .into_iter()
        .map(|read| read(&answer, kind))
        .find(|found| !found.is_empty());
    without_repetitions(found.unwrap_or_default(), kind)
}

/// Returns the items of an answer without a list: the names of a line such as "Mocha, Ivy, Juno", else those that
/// sentences offer with words such as "try": those in quotes, else all names after such words, which need not be items.
pub fn offered_items(answer: &str, kind: Option<&str>) -> Vec<Suggested> {
    let answer = line::without_tags(answer);
    let names = comma_separated(&answer, kind);
    let found = if names.is_empty() { prose::offered(&answer, kind) } else { names };
    let quoted = if found.is_empty() { Vec::new() } else { prose::quoted(&answer, kind) };
    without_repetitions(if quoted.is_empty() { found } else { quoted }, kind)
}

fn without_repetitions(found: Vec<Suggested>, kind: Option<&str>) -> Vec<Suggested> {
    let mut items: Vec<Suggested> = Vec::new();
    for item in found {
        if !items.iter().any(|other| fold(&other.title) == fold(&item.title)) {
            items.push(Suggested { kind: kind.map(str::to_owned), ..item });
        }
    }
    items.truncate(MAX_ITEMS);
    items
}

/// Returns the item of an answer of one line that is, or begins with, a name: "Concordia: five players, no dice." Only
/// for answers to a wish, because "Ben: he has the key." looks the same.
pub fn only_item(answer: &str, kind: Option<&str>) -> Option<Suggested> {
    let answer = line::without_tags(answer);
    let answer = answer.trim();
    let found = Some(answer).filter(|text| !text.contains('\n')).and_then(|text| line::item(text, kind))?;
    let rest = answer.strip_prefix(found.title.as_str())?;
    let is_named = rest == "." || [":", " –", " —", " - ", " ("].iter().any(|sign| rest.starts_with(sign));
    (is_named && line::is_name(&found.title)).then(|| Suggested { kind: kind.map(str::to_owned), ..found })
}

/// Returns `true` if an answer is a list of things, most of them short, or of one with a number and a name in bold.
pub fn lists_things(answer: &str) -> bool {
    /// Maximum number of characters of a name.
    const NAME: usize = 60;
    let answer = line::without_tags(answer);
    let found = listed(&answer, None);
    let is_name = |line: &ListLine<'_>| matches!(line.marker, Marker::Number(_)) && line.text.starts_with("**");
    if found.len() == 1 {
        return read_lines(&answer).iter().any(is_name);
    }
    let short = found.iter().filter(|item| item.title.chars().count() <= NAME).count();
    found.len() >= 2 && 2 * short >= found.len()
}

/// Returns `true` if most entries of the list in an answer are names, unlike the steps of a recipe below its ingredients.
pub fn lists_names(answer: &str) -> bool {
    let answer = line::without_tags(answer);
    let lines = read_lines(&answer);
    let ingredients = lines.iter().take_while(|line| !matches!(line.marker, Marker::Number(_)));
    let has_ingredients = ingredients.filter(|line| line.marker == Marker::Bullet).count() > 1;
    let listed = entries_of_list(&lines);
    let names = listed.iter().filter(|entry| line::is_named(&entry.text)).count();
    let is_numbered = lines.iter().any(|line| matches!(line.marker, Marker::Number(_)));
    listed.len() > 1 && 2 * names > listed.len() && !(is_numbered && has_ingredients)
}

/// Returns `true` if an answer is a short numbered list of names in bold that are not from messages: things to choose
/// from, whatever the question was.
pub fn offers_choice(answer: &str) -> bool {
    /// Longer lists are rarely to choose from, such as what to pack.
    const MOST: usize = 5;
    let lines = read_lines(answer);
    let entries = entries(&lines, |line| matches!(line.marker, Marker::Number(_)));
    let is_named = |entry: &ListEntry| entry.text.starts_with("**") || entry.text.starts_with("[**");
    (2..=MOST).contains(&entries.len()) && entries.iter().all(is_named) && !is_of_messages(answer, entries.len())
}

/// Returns `true` if an answer cites messages for most of its `listed` items.
pub fn is_of_messages(answer: &str, listed: usize) -> bool {
    let cites = |line: &&str| line.split('[').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    2 * answer.lines().filter(|line| source_list(line).is_none()).filter(cites).count() > listed
}

/// Returns `true` if the title of `item` is among `titles`. Case and diacritics are ignored.
pub fn repeats_title(item: &Suggested, mut titles: impl Iterator<Item = impl AsRef<str>>) -> bool {
    let title = fold(&item.title);
    titles.any(|other| fold(other.as_ref()) == title)
}

/// Returns the items of the numbered lists, else of the first bulleted one: bullets may be details of numbered entries.
fn listed(answer: &str, kind: Option<&str>) -> Vec<Suggested> {
    let item = |entry: ListEntry| Some(Suggested { number: Some(entry.number), ..line::list_item(&entry.text, kind)? });
    entries_of_list(&read_lines(answer)).into_iter().filter_map(item).collect()
}

/// Entry of a list, with the lines indented below it.
struct ListEntry {
    number: u32,
    text: String,
}

fn entries_of_list(lines: &[ListLine<'_>]) -> Vec<ListEntry> {
    let numbered = entries(lines, |line| matches!(line.marker, Marker::Number(_)));
    if numbered.is_empty() { entries(lines, |line| line.marker == Marker::Bullet) } else { numbered }
}

/// Returns the entries of all numbered sections, or of the first bulleted list: lines for which `is_entry` is `true`.
fn entries(lines: &[ListLine<'_>], is_entry: impl Fn(&ListLine<'_>) -> bool) -> Vec<ListEntry> {
    let Some(level) = lines.iter().filter(|line| is_entry(line)).map(|line| line.indent).min() else {
        return Vec::new();
    };
    let is_numbered = lines.iter().any(|line| is_entry(line) && line.marker != Marker::Bullet);
    let (mut found, mut bullets): (Vec<ListEntry>, u32) = (Vec::new(), 0);
    for line in lines {
        if line.is_heading() {
            // Each heading starts the count of bullets again.
            bullets = 0;
        }
        if is_entry(line) && line.indent == level {
            bullets += 1;
            let number = if let Marker::Number(number) = line.marker { number } else { bullets };
            found.push(ListEntry { number, text: line.text.to_owned() });
        } else if let Some(entry) = found.last_mut() {
            if line.marker == Marker::None && line.indent == 0 && !is_numbered && !line.is_heading() {
                break;
            }
            if !line.is_heading() {
                entry.text.push('\n');
                entry.text.push_str(line.text);
            }
        }
    }
    found
}

/// Returns the names of an answer that is nothing but three or more of them: "Mocha, Ivy, Juno".
fn comma_separated(answer: &str, kind: Option<&str>) -> Vec<Suggested> {
    let names: Vec<&str> = answer.trim().trim_end_matches('.').split(", ").collect();
    let is_list = names.len() >= 3 && names.iter().all(|name| line::is_name(name) && !name.contains([':', '\n']));
    let items = names.into_iter().filter(|_| is_list).filter_map(|name| line::item(name, kind));
    items.collect()
}

/// Returns `true` if most entries of the list in an answer have one of `names`: "1. Tent – Ana".
pub fn is_of_members(answer: &str, names: &BTreeSet<String>) -> bool {
    let lines = read_lines(answer);
    let entries = entries_of_list(&lines);
    let has_name = |entry: &&ListEntry| fold(&entry.text).split(' ').any(|word| names.contains(word));
    2 * entries.iter().filter(has_name).count() > entries.len()
}

/// Returns the items in the first column of a table, or in the second if the first contains row numbers.
fn tabled(answer: &str, kind: Option<&str>) -> Vec<Suggested> {
    let rows = answer.lines().map(str::trim).filter(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let is_rule =
        |cells: &Vec<&str>| cells.iter().all(|cell| !cell.is_empty() && cell.chars().all(|c| "-: ".contains(c)));
    let body = cells.skip_while(move |cells| !is_rule(cells)).skip(1);
    let read = |cells: Vec<&str>| {
        let counts = |cell: &&&str| cell.trim_end_matches('.').parse::<u32>().is_ok();
        let kept: Vec<&str> = cells.iter().skip(usize::from(cells.first().filter(counts).is_some())).copied().collect();
        line::list_item(&kept.join(" | "), kind)
    };
    body.filter_map(read).collect()
}

#[cfg(test)]
mod tests;
