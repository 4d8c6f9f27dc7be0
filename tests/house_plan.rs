//! The house plan, checked: which room opens onto which, which rooms never touch the world, how large a file may be.

#![expect(clippy::expect_used, reason = "a source that cannot be read fails the test that reads it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Room -> rooms that it may enter. `run` is what the room's drivers (`run.rs`, `run/`) may enter beside those.
struct Room {
    name: &'static str,
    may: &'static [&'static str],
    run: &'static [&'static str],
}

const fn room(name: &'static str, may: &'static [&'static str], run: &'static [&'static str]) -> Room {
    Room { name, may, run }
}

const ROOMS: &[Room] = &[
    room("domain", &[], &[]),
    room("config", &["domain"], &[]),
    room("clock", &["domain"], &[]),
    room("resilience", &["domain"], &["clock"]),
    room("store", &["domain", "config"], &[]),
    room("embed", &["domain", "config"], &[]),
    room("llm", &["domain", "config", "resilience", "clock"], &[]),
    room("telegram", &["domain", "config", "resilience"], &[]),
    room("gateway", &["domain", "config", "access", "resilience", "llm", "store"], &["clock"]),
    room("trigger", &["domain", "config"], &[]),
    room("texts", &["domain"], &[]),
    room("access", &["domain", "config"], &["store"]),
    // Telegram: how old things are is told by both clocks.
    room("privacy", &["domain", "config", "texts"], &["store", "telegram", "clock", "scheduler"]),
    room("prompts", &["domain"], &[]),
    // Embed: words are compared by their vectors, which the model that ships computes on the spot. Llm: a server may make the
    // vectors that are kept.
    room("retrieval", &["domain", "embed", "trigger"], &["store", "clock", "llm", "scheduler"]),
    // Llm: a server may make the vectors that messages are compared by.
    room(
        "memory",
        &["domain", "config", "texts", "trigger", "prompts", "retrieval"],
        &["store", "embed", "gateway", "llm", "clock", "scheduler", "resilience", "privacy"],
    ),
    room("context", &["domain", "config", "trigger", "retrieval", "embed"], &["store", "llm", "clock", "resilience"]),
    room(
        "answer",
        &["domain", "config", "texts", "trigger", "access", "context", "memory", "retrieval", "prompts", "embed"],
        // Privacy: the first answer in a chat tells what is kept.
        &["store", "gateway", "llm", "telegram", "clock", "scheduler", "resilience", "privacy", "voice"],
    ),
    room(
        "voice",
        &["domain", "telegram", "memory"],
        &["config", "access", "store", "gateway", "llm", "clock", "scheduler"],
    ),
    room(
        "recap",
        &["domain", "config", "texts", "trigger", "access", "memory", "answer"],
        &["store", "telegram", "clock", "scheduler"],
    ),
    room(
        "commands",
        &["domain", "config", "texts", "access", "privacy", "memory", "answer", "recap", "trigger"],
        &["store", "telegram", "clock", "scheduler", "archive"],
    ),
    room(
        "ingest",
        &["domain", "config", "trigger", "access", "privacy", "resilience"],
        &["store", "telegram", "clock", "scheduler"],
    ),
    // Nobody who objects is kept of an import either.
    room("archive", &["domain"], &["config", "privacy", "access", "store", "clock"]),
    room("scheduler", &["domain"], &["store", "clock"]),
    room("eval", &["domain", "context", "retrieval", "embed", "trigger", "store", "clock"], &[]),
    room("health", &["domain", "store", "gateway", "ingest", "telemetry"], &["clock"]),
    // Answer and gateway: the model is asked about a made-up talk in the form and the size that answers have.
    room(
        "checkup",
        &["domain", "config", "embed", "store", "llm", "telegram", "prompts", "resilience", "answer", "gateway"],
        &["clock"],
    ),
    room("sandbox", &["domain", "clock"], &[]),
    room("telemetry", &["config"], &[]),
    room(
        "cli",
        &[
            "app",
            "archive",
            "eval",
            "embed",
            "retrieval",
            "checkup",
            "config",
            "store",
            "sandbox",
            "memory",
            "context",
            "answer",
            "domain",
            "clock",
            "telemetry",
            "prompts",
            "texts",
            "trigger",
        ],
        &[],
    ),
    room(
        "app",
        &[
            "memory",
            "texts",
            "recap",
            "domain",
            "embed",
            "gateway",
            "config",
            "clock",
            "resilience",
            "store",
            "llm",
            "telegram",
            "trigger",
            "access",
            "privacy",
            "prompts",
            "context",
            "answer",
            "commands",
            "ingest",
            "scheduler",
            "health",
            "retrieval",
            "voice",
        ],
        &[],
    ),
];

/// The crates below the program: a file in `src` each, which names its rooms.
const CRATES: &[&str] = &["foundation", "connectors", "engine", "assistant"];

/// Rooms that think. Only their drivers touch the world.
const PURE: &[&str] = &[
    "domain",
    "resilience",
    "trigger",
    "access",
    "privacy",
    "context",
    "memory",
    "recap",
    "retrieval",
    "archive",
    "answer",
    "commands",
    "ingest",
    "scheduler",
    "voice",
    "checkup",
    "health",
    "texts",
];
const WORLD: &[&str] = &[
    "async ",
    ".await",
    "tokio::",
    "rusqlite::",
    "teloxide::",
    "async_openai::",
    "reqwest::",
    "std::fs",
    "std::net",
    "std::env",
    "::now(",
    "tracing::",
];
/// Foreign words that belong to one room alone.
const OWNED: &[(&str, &[&str])] = &[
    ("rusqlite", &["store"]),
    ("teloxide", &["telegram"]),
    ("async_openai", &["llm"]),
    ("axum", &["sandbox", "testkit", "health"]),
    ("std::env", &["config", "cli"]),
];
const MAX_LINES: usize = 400;
const MAX_FUNCTION_LINES: usize = 80;

#[test]
fn rooms_open_only_onto_permitted_rooms() {
    let mut wrong = Vec::new();
    for source in production_sources() {
        let Some(plan) = ROOMS.iter().find(|plan| plan.name == source.room) else {
            assert!(
                matches!(source.room.as_str(), "main" | "lib" | "testkit") || CRATES.contains(&source.room.as_str()),
                "{}: a room without a plan",
                source.path
            );
            continue;
        };
        for target in entered(&source.code) {
            let open = target == plan.name
                || plan.may.contains(&target.as_str())
                || (source.is_driver && plan.run.contains(&target.as_str()));
            if ROOMS.iter().any(|other| other.name == target) && !open {
                wrong.push(format!("{}: `{}` must not use `{target}`", source.path, plan.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_plan_itself_has_no_cycle() {
    fn visit(name: &'static str, path: &mut Vec<&'static str>) {
        assert!(!path.contains(&name), "a cycle: {path:?} -> {name}");
        path.push(name);
        let plan = ROOMS.iter().find(|plan| plan.name == name).expect("every room named in the plan has one");
        for next in plan.may.iter().chain(plan.run) {
            visit(next, path);
        }
        path.pop();
    }
    ROOMS.iter().for_each(|plan| visit(plan.name, &mut Vec::new()));
}

/// The picker's files import each other downwards only; none of them enters the room by its own door.
#[test]
fn the_pickers_files_have_no_cycle() {
    let files: BTreeMap<String, String> = (production_sources().into_iter())
        .filter(|source| source.room == "context")
        .map(|source| {
            let module = source.path.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
            (module, source.code)
        })
        .collect();
    let imports = |module: &str| -> Vec<String> {
        let is_door = module == "context" || files.keys().any(|other| other.starts_with(&format!("{module}::")));
        let named =
            if is_door && files[module].lines().all(|line| !line.contains("fn ")) { "" } else { &files[module] };
        named_paths(named).iter().filter_map(|path| file_of(path, &files)).filter(|other| other != module).collect()
    };
    fn visit(module: &str, path: &mut Vec<String>, done: &mut Vec<String>, imports: &dyn Fn(&str) -> Vec<String>) {
        assert!(!path.iter().any(|before| before == module), "a cycle: {path:?} -> {module}");
        if done.iter().any(|known| known == module) {
            return;
        }
        path.push(module.to_owned());
        imports(module).iter().for_each(|next| visit(next, path, done, imports));
        path.pop();
        done.push(module.to_owned());
    }
    let mut done = Vec::new();
    files.keys().for_each(|module| visit(module, &mut Vec::new(), &mut done, &imports));
    assert!(done.len() > 20 && imports("context::window").contains(&"context::budget".to_owned()), "{done:?}");
}

#[test]
fn pure_rooms_never_touch_the_world() {
    let mut wrong = Vec::new();
    for source in
        production_sources().into_iter().filter(|source| PURE.contains(&source.room.as_str()) && !source.is_driver)
    {
        for token in WORLD {
            if source.code.contains(token) {
                wrong.push(format!("{}: `{token}` in a pure room", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn foreign_crates_stay_in_their_room() {
    let mut wrong = Vec::new();
    for source in production_sources() {
        for (word, owners) in OWNED {
            if source.code.contains(&format!("{word}::")) && !owners.contains(&source.room.as_str()) {
                wrong.push(format!("{}: `{word}` belongs to {owners:?}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sql_stays_in_the_store() {
    let mut wrong = Vec::new();
    for source in production_sources().into_iter().filter(|source| source.room != "store") {
        for word in ["SELECT ", "INSERT ", "UPDATE ", "DELETE FROM"] {
            if source.code.contains(&format!("\"{word}")) {
                wrong.push(format!("{}: SQL outside the store", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_and_no_function_outgrows_its_place() {
    let mut wrong = Vec::new();
    for source in production_sources() {
        let lines = source.code.lines().count();
        if lines > MAX_LINES {
            wrong.push(format!("{} has {lines} production lines, the limit is {MAX_LINES}", source.path));
        }
        for (name, length) in functions(&source.code) {
            if length > MAX_FUNCTION_LINES {
                wrong.push(format!("{}: fn {name} has {length} lines, the limit is {MAX_FUNCTION_LINES}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_room_says_what_it_owns_and_never_does() {
    for plan in ROOMS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(plan.name).join("mod.rs");
        if let Ok(text) = fs::read_to_string(&folder) {
            for word in ["*Owns*", "*Never*", "*Entry*"] {
                assert!(text.contains(word), "src/{}/mod.rs does not say {word}", plan.name);
            }
        }
    }
}

#[test]
fn no_lint_is_switched_off_in_silence() {
    for source in production_sources() {
        assert!(
            !source.code.contains("#[allow(") && !source.code.contains("#![allow("),
            "{}: use #[expect(.., reason)]",
            source.path
        );
        assert!(
            !source.code.contains("cfg(test)]\nfn") && !source.code.contains("cfg!(test)"),
            "{}: cfg(test) in behaviour",
            source.path
        );
    }
}

struct Source {
    /// Relative to src.
    path: String,
    room: String,
    /// Without comments and without the tests at the end.
    code: String,
    is_driver: bool,
}

fn production_sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeMap::new();
    let mut pending = vec![root.clone()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).expect("read a folder of src") {
            let path: PathBuf = entry.expect("read an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = source(&root, &path);
                let is_test = source.path.contains("tests/")
                    || source.path.ends_with("tests.rs")
                    || source.path.ends_with("_properties.rs");
                if source.room != "testkit" && !is_test {
                    found.insert(source.path.clone(), source);
                }
            }
        }
    }
    assert!(found.len() > 20, "the sources were not found");
    found.into_values().collect()
}

fn source(root: &Path, path: &Path) -> Source {
    let text = fs::read_to_string(path).expect("read a source file");
    let code = text
        .split("#[cfg(test)]\nmod ")
        .next()
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect();
    let relative = path.strip_prefix(root).expect("inside src");
    let parts: Vec<String> = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let room = parts[0].trim_end_matches(".rs").to_owned();
    let is_driver = parts.len() > 1 && parts[1].trim_end_matches(".rs") == "run";
    Source { path: parts.join("/"), room, code, is_driver }
}

/// The rooms that a file names: `crate::room` or `crate::{…}` are the only ways to one.
fn entered(code: &str) -> Vec<String> {
    let word = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    code.split("crate::").skip(1).map(word).filter(|name| !name.is_empty()).collect()
}

/// The paths below `crate` that code names, each item of a list by itself.
fn named_paths(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let stem: String = rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).collect();
        match rest[stem.len()..].strip_prefix('{').and_then(|list| list.split_once('}')) {
            Some((list, _)) => paths.extend(list.split(',').map(|item| format!("{stem}{}", item.trim()))),
            None => paths.push(stem),
        }
    }
    paths
}

/// The file that a path leads to: the longest part of it that is one.
fn file_of(path: &str, files: &BTreeMap<String, String>) -> Option<String> {
    let parts: Vec<&str> = path.split("::").collect();
    (1..=parts.len()).rev().map(|length| parts[..length].join("::")).find(|module| files.contains_key(module))
}

/// Functions by indentation, as rustfmt leaves them, with their length in lines.
fn functions(code: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let Some(at) = line.find("fn ") else { continue };
        let before = line[..at].trim();
        let opens = before.is_empty()
            || before
                .split_whitespace()
                .all(|w| matches!(w, "pub" | "async" | "const" | "unsafe") || w.starts_with("pub("));
        if !opens {
            continue;
        }
        let close = format!("{}}}", " ".repeat(indent));
        if let Some(length) = lines[start..].iter().position(|line| *line == close) {
            let name = line[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push((name, length + 1));
        }
    }
    found
}
