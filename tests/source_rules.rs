//! Rules for the source code that neither the compiler nor clippy checks.

#![expect(clippy::expect_used, reason = "a source that cannot be read fails the test that reads it")]

use std::fs;
use std::path::{Path, PathBuf};

const MAX_FUNCTION_LINES: usize = 80;
/// Crates of pure functions, with the dependencies that their manifests must not have.
const PURE_CRATES: [&str; 2] = ["chime-core", "chime-relevance"];
const IMPURE: [&str; 4] = ["tokio", "rusqlite", "reqwest", "teloxide"];

#[test]
fn functions_are_short() {
    let mut wrong = Vec::new();
    for source in production_sources() {
        for (name, length) in functions(&source.code) {
            if length > MAX_FUNCTION_LINES {
                wrong.push(format!("{}: fn {name} has {length} lines, the limit is {MAX_FUNCTION_LINES}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sql_stays_in_the_store() {
    let mut wrong = Vec::new();
    for source in production_sources().into_iter().filter(|source| !source.path.starts_with("crates/chime-store/")) {
        for word in ["SELECT ", "INSERT ", "UPDATE ", "DELETE FROM"] {
            if source.code.contains(&format!("\"{word}")) {
                wrong.push(format!("{}: SQL outside the store", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pure_crates_depend_on_no_io() {
    for name in PURE_CRATES {
        let manifest = read(&root().join("crates").join(name).join("Cargo.toml"));
        for crate_name in IMPURE {
            let names_it = manifest.lines().any(|line| line.starts_with(crate_name));
            assert!(!names_it, "{name} depends on {crate_name}");
        }
    }
    for source in production_sources().iter().filter(|source| source.path.starts_with("crates/chime-relevance/")) {
        assert!(!source.code.contains("std::fs") && !source.code.contains("async "), "{}: IO", source.path);
    }
}

#[test]
fn lints_are_expected_with_a_reason() {
    for source in production_sources() {
        let code = &source.code;
        assert!(
            !code.contains("#[allow(") && !code.contains("#![allow("),
            "{}: use #[expect(.., reason)]",
            source.path
        );
        assert!(
            !code.contains("cfg(test)]\nfn") && !code.contains("cfg!(test)"),
            "{}: cfg(test) in behaviour",
            source.path
        );
    }
}

#[test]
fn pages_name_files_that_exist() {
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        for path in read(&root().join(page)).split('`').skip(1).step_by(2) {
            let is_path = ["crates/", "src/", "tests/", "migrations/", "prompts/", "lang/"]
                .iter()
                .any(|start| path.starts_with(start));
            if is_path && !path.contains(['<', '*', 'N']) {
                assert!(root().join(path).exists(), "{page} names {path}, which does not exist");
            }
        }
    }
}

#[test]
fn links_of_pages_lead_to_files_and_headings() {
    let pages: Vec<PathBuf> = ["", "docs", "deploy"].iter().flat_map(|folder| pages_in(&root().join(folder))).collect();
    assert!(pages.len() > 20, "the pages were not found");
    let contents = read(&root().join("docs/SUMMARY.md"));
    for page in &pages {
        let text = read(page);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.with_file_name("").join(file) };
            // Pages in docs/ are also a site, which has no other files.
            let is_within = !(page.starts_with(root().join("docs")) && file.starts_with(".."));
            let leads = link.contains("://")
                || is_within
                    && target.exists()
                    && (heading.is_empty() || headings(&read(&target)).any(|found| found == heading));
            assert!(leads, "{} links to {link}", page.display());
        }
        let name = page.file_name().unwrap_or_default().to_string_lossy();
        let is_listed = page.parent() != Some(&root().join("docs")) || contents.contains(&format!("({name})"));
        assert!(is_listed || name == "SUMMARY.md", "docs/SUMMARY.md does not list {name}");
    }
}

fn pages_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("read a folder").map(|entry| entry.expect("read an entry").path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}

/// Returns the headings of a page, as links name them.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let named = |heading: &str| heading.to_lowercase().replace(' ', "-");
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(move |line| named(line.trim_start_matches('#').trim()).chars().filter(kept).collect())
}

struct Source {
    /// Path relative to the repository.
    path: String,
    /// Code without comments and without the tests at the end.
    code: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("read a source file")
}

/// Paths of the program and of the crates that ship with it.
fn production_sources() -> Vec<Source> {
    let mut found = Vec::new();
    let mut pending = vec![root().join("src"), root().join("crates")];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).expect("read a folder") {
            let path = entry.expect("read an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !["tests", "chime-testkit", "chime-world", "chime-eval"].contains(&name.as_str()) {
                    pending.push(path);
                }
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") && !name.ends_with("_properties.rs") {
                found.push(source(&path));
            }
        }
    }
    assert!(found.len() > 300, "the sources were not found");
    found
}

fn source(path: &Path) -> Source {
    let code = read(path)
        .split("#[cfg(test)]\nmod ")
        .next()
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect();
    Source { path: path.strip_prefix(root()).expect("inside the repository").to_string_lossy().into_owned(), code }
}

/// Returns the functions with their lengths in lines, found by rustfmt's indentation.
fn functions(code: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let Some(at) = line.find("fn ") else { continue };
        let is_definition = line[..at]
            .split_whitespace()
            .all(|word| matches!(word, "pub" | "async" | "const" | "unsafe") || word.starts_with("pub("));
        let close = format!("{}}}", " ".repeat(indent));
        if let Some(length) = lines[start..].iter().position(|line| *line == close).filter(|_| is_definition) {
            let name = line[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push((name, length + 1));
        }
    }
    found
}
