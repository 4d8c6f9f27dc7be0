//! The text of twenty pages, each of which begins with the words that it must have and must not have.

use std::fs;
use std::path::Path;

use chime_links::page_text;

fn listed<'p>(page: &'p str, name: &str) -> impl Iterator<Item = &'p str> {
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_suffix(" -->")).unwrap_or_default();
    line.split('|').map(str::trim).filter(|words| !words.is_empty())
}

#[test]
fn no_passage_of_a_page_is_lost_and_little_of_what_surrounds_it_is_kept() {
    /// Of 19 parts of pages that are not their text, such as menus and banners.
    const MOST_KEPT: usize = 6;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    let mut files: Vec<_> = fs::read_dir(folder).expect("the pages").map(|it| it.expect("a page").path()).collect();
    files.sort();
    assert_eq!(files.len(), 20);
    let (mut lost, mut kept) = (Vec::new(), Vec::new());
    for path in files {
        let page = fs::read_to_string(&path).expect("a page");
        let read = page_text(page.as_bytes(), None, "https://example.org/page", &|| true).expect("a text");
        let text = read.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown = |words: &str| format!("{}: {words}", path.display());
        lost.extend(listed(&page, "<!-- has: ").filter(|words| !text.contains(words)).map(shown));
        kept.extend(listed(&page, "<!-- lacks: ").filter(|words| text.contains(words)).map(shown));
    }
    assert_eq!(lost, Vec::<String>::new());
    assert!(kept.len() <= MOST_KEPT, "{kept:#?}");
}
