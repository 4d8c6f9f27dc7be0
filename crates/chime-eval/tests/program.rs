//! Checks the figures of `chime-eval` against an independent scorer on the same predictions.

#![expect(clippy::expect_used, reason = "a story that cannot go on fails its test")]

use std::collections::BTreeMap;
use std::process::Command;

use chime_runtime::clock::Clock;
use chime_testkit::ModelServer;

type Figures = BTreeMap<String, BTreeMap<String, f64>>;

const PACK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/groups");
/// Written by the independent scorer, by selector.
const FIGURES: &str = include_str!("../../../tests/data/groups/figures.json");

fn chime_eval(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_chime-eval")).args(arguments).output().expect("run chime-eval");
    (output.status.code(), String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn figures_agree_with_an_independent_scorer_to_three_decimals() {
    let expected: BTreeMap<String, Figures> = serde_json::from_str(FIGURES).expect("figures");
    assert_eq!(expected.len(), 3);
    for (selector, expected) in expected {
        let (code, printed) = chime_eval(&["context", PACK, "--selector", &selector, "--json"]);
        assert_eq!(code, Some(0));
        let mut packs: BTreeMap<String, Figures> = serde_json::from_str(&printed).expect("one object");
        let found = packs.remove("groups").expect("the pack by its name");
        let names = |figures: &Figures| figures.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&found), names(&expected), "{selector}");
        for (heading, figures) in &expected {
            for (name, value) in figures {
                let ours = found[heading].get(name).copied().unwrap_or(f64::NAN);
                assert!((ours - value).abs() < 6e-4, "{selector} {heading} {name}: {ours}, not {value}");
            }
        }
    }
}

/// The selection may change with every fit, but must stay better than the baselines.
#[test]
fn what_the_daemon_runs_is_ahead_of_every_baseline() {
    let f1 = |selector: &str| {
        let (_, printed) = chime_eval(&["context", PACK, "--selector", selector, "--json"]);
        let packs: BTreeMap<String, Figures> = serde_json::from_str(&printed).expect("one object");
        packs["groups"]["group"]["F1"]
    };
    let ours = f1("chime");
    for baseline in ["last-20", "seed", "recent-windows"] {
        assert!(ours > f1(baseline), "{baseline} is ahead of {ours}");
    }
}

#[test]
fn predictions_are_a_line_a_query_within_the_limits() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("predictions.jsonl");
    let (code, _) = chime_eval(&["context", PACK, "--k", "7", "--predictions", &file.display().to_string()]);
    assert_eq!(code, Some(0));
    let lines = std::fs::read_to_string(&file).expect("predictions");
    assert_eq!(lines.lines().count(), 26);
    for line in lines.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("an object");
        let ids = |name: &str| line[name].as_array().map_or(0, Vec::len);
        assert!(line["query_id"].is_string() && ids("selected") <= 7 && ids("ranked") <= 200, "{line}");
    }
}

#[test]
fn a_folder_that_is_no_pack_is_told() {
    let (code, printed) = chime_eval(&["context", "/nowhere/at/all"]);
    assert_eq!((code, printed.as_str()), (Some(1), ""));
}

/// Forty questions in eight languages that use other words than the chat. The chats are small, so only the first five
/// ranks count.
#[test]
fn reworded_questions_find_their_messages_better_than_any_baseline() {
    const REWORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/reworded");
    let found = |retriever: &str| {
        let (code, printed) = chime_eval(&["recall", REWORDED, "--retriever", retriever, "--json"]);
        assert_eq!(code, Some(0));
        let packs: BTreeMap<String, Figures> = serde_json::from_str(&printed).expect("one object");
        packs["reworded"]["qa"]["turn@5"]
    };
    let ours = found("fitted");
    assert!(ours > 0.7, "{ours}");
    for baseline in ["tags", "bm25", "seed-blend"] {
        assert!(ours > found(baseline) + 0.1, "{baseline} comes near {ours}");
    }
}

#[test]
fn predictions_of_recall_are_a_line_a_question() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("predictions.jsonl");
    for scope in ["turn", "session"] {
        let arguments = ["recall", PACK, "--scope", scope, "--predictions", &file.display().to_string()];
        assert_eq!(chime_eval(&arguments).0, Some(0));
        let lines = std::fs::read_to_string(&file).expect("predictions");
        for line in lines.lines() {
            let line: serde_json::Value = serde_json::from_str(line).expect("an object");
            assert!(line["query_id"].is_string() && line["selected"].as_array().is_some_and(|ids| ids.len() <= 20));
        }
    }
}

/// One case in a group and one in a private chat, both answered with the fact of the first.
const CASES: &str = r"
[[case]]
id = 'port'
kind = 'follow_up'
language = 'en'
chat = '''
-1d 09:04 Ana: the logs say port 8443 is taken
-1d 09:05 Ben > 1: @bot which process?
-1d 09:05 Bot > 2: The old gateway.
09:09 Carla: lunch at 12?
'''
asker = 'Paul'
ask = '@bot which port is taken?'
reply_to = 3
facts = ['8443']

[[case]]
id = 'dentist'
kind = 'private'
language = 'en'
chat = '''
09:00 Lena: the dentist is on Tuesday at 15:30
09:00 Bot > 1: Noted.
'''
asker = 'Lena'
ask = 'when is the dentist?'
facts = ['(?i)tuesday']
";

#[tokio::test(flavor = "multi_thread")]
async fn cases_are_played_through_the_daemon_and_asked_plainly() {
    let model = ModelServer::start(Clock::system()).await.expect("a model server");
    model.always("It is port 8443.");
    let folder = tempfile::tempdir().expect("a folder");
    let (cases, report) = (folder.path().join("cases.toml"), folder.path().join("report.json"));
    std::fs::write(&cases, CASES).expect("write the cases");
    let mut program = Command::new(env!("CARGO_BIN_EXE_chime-eval"));
    program.env_clear().current_dir(folder.path()).args(["answers", "--model", "scripted", "--verbose"]);
    program.args(["--url", &model.base_url(), "--json"]).args([&report, &cases]);
    let output = tokio::task::spawn_blocking(move || program.output()).await.expect("it ends").expect("run chime-eval");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written = std::fs::read_to_string(&report).expect("the report");
    let report: serde_json::Value = serde_json::from_str(&written).expect("JSON");
    for answerer in ["chime", "plain"] {
        let counts = ["answers", "right", "apologies"].map(|name| report[answerer][name].as_u64());
        assert_eq!(counts, [Some(2), Some(1), Some(0)], "{answerer}: {printed}");
    }
    assert!(printed.contains("chime RIGHT") && printed.contains("chime WRONG"), "{printed}");
    let plain = model.requests().remove(0);
    let expected = "Ana: the logs say port 8443 is taken\nBen: @bot which process?\nBot: The old gateway.\n\
                    Carla: lunch at 12?\nPaul: which port is taken?";
    assert_eq!(plain["messages"][1]["content"], expected);
    let asked = model.requests().remove(1).to_string();
    assert!(asked.contains("8443 is taken") && asked.contains("lunch at 12"), "{asked}");
}

/// Every change of what is shown for one of the 1,112 labelled triggers is visible in a commit. `UPDATE_EXPECT=1`
/// writes the file anew. Processors round differently, so the file holds on x86-64 only.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_messages_shown_for_each_labelled_trigger_are_those_on_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("predictions.jsonl");
    let chats = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/chats");
    let (code, _) = chime_eval(&["context", chats, "--predictions", &file.display().to_string()]);
    assert_eq!(code, Some(0));
    let predictions = std::fs::read_to_string(&file).expect("predictions");
    let mut lines: Vec<String> = predictions.lines().map(selection_line).collect();
    lines.sort();
    let record = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/selection.txt");
    expect_test::expect_file![record].assert_eq(&(lines.join("\n") + "\n"));
}

/// Formats a prediction: `en_01-3: focus 12 14, shown 3-9 12-14`.
fn selection_line(line: &str) -> String {
    let prediction: serde_json::Value = serde_json::from_str(line).expect("JSON");
    let ids = |key: &str| -> Vec<i64> {
        let mut ids: Vec<i64> = serde_json::from_value(prediction[key].clone()).expect("ids");
        ids.sort_unstable();
        ids
    };
    let run = |run: &[i64]| match run {
        [only] => only.to_string(),
        _ => format!("{}-{}", run[0], run[run.len() - 1]),
    };
    let runs = |ids: &[i64]| ids.chunk_by(|a, b| a + 1 == *b).map(run).collect::<Vec<_>>().join(" ");
    let name = prediction["query_id"].as_str().expect("an id");
    format!("{name}: focus {}, shown {}", runs(&ids("selected")), runs(&ids("given")))
}
