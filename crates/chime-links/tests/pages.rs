//! The text of twenty pages, each of which begins with the words that it must have and must not have.

#![expect(clippy::expect_used, reason = "a page that is not there fails its test")]

use std::fs;
use std::path::Path;

use chime_links::page_text;

fn listed<'p>(page: &'p str, name: &str) -> impl Iterator<Item = &'p str> {
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_suffix(" -->")).unwrap_or_default();
    line.split('|').map(str::trim).filter(|words| !words.is_empty())
}

#[test]
fn a_page_is_read_without_what_surrounds_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    let mut files: Vec<_> = fs::read_dir(folder).expect("the pages").map(|it| it.expect("a page").path()).collect();
    files.sort();
    assert_eq!(files.len(), 20);
    let mut wrong = Vec::new();
    for path in files {
        let page = fs::read_to_string(&path).expect("a page");
        let read = page_text(page.as_bytes(), None, "https://example.org/page", &|| true).expect("a text");
        let text = read.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = path.file_name().expect("a name").display().to_string();
        let lost = listed(&page, "<!-- has: ").filter(|words| !text.contains(words)).map(|words| (words, "lost"));
        let kept = listed(&page, "<!-- lacks: ").filter(|words| text.contains(words)).map(|words| (words, "kept"));
        wrong.extend(lost.chain(kept).map(|(words, how)| format!("{name}: {how} {words}")));
    }
    assert_eq!(wrong, Vec::<String>::new());
}
