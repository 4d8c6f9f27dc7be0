//! `chime mcp`, beside the running daemon.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use chime_core::ChatId;
use chime_sandbox::NewChat;
use chime_world::World;
use serde_json::{Value, json};

/// Assistant that calls the server's tools.
struct Assistant {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    sent: u64,
}

impl Assistant {
    /// Starts the server for `chats`, and agrees on the protocol.
    fn start(w: &World, chats: &[ChatId]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chime"));
        command.arg("mcp").args(chats.iter().flat_map(|chat| ["--chat".to_owned(), chat.to_string()]));
        command.env_clear().env("DATABASE_PATH", w.database()).env("TIME_ZONE", "UTC");
        command.current_dir(w.database().parent().expect("a folder")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("start chime mcp");
        let (stdin, stdout) = (child.stdin.take().expect("its input"), child.stdout.take().expect("its output"));
        let mut assistant = Self { child, stdin, stdout: BufReader::new(stdout), sent: 0 };
        let info = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
        let greeted = assistant.ask("initialize", hello);
        assert_eq!(greeted["result"]["serverInfo"]["name"], "chime", "{greeted}");
        assistant.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assistant
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").expect("it reads");
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let id = self.sent;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("an answer");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool. Returns whether it succeeded, and its text.
    fn call(&mut self, tool: &str, arguments: Value) -> (bool, String) {
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}))["result"].take();
        let text = result["content"][0]["text"].as_str().expect("a text").to_owned();
        (result["isError"] != true, text)
    }

    /// Closes its input and waits for its end.
    fn end(self) {
        let Self { mut child, stdin, .. } = self;
        drop(stdin);
        assert!(child.wait().expect("it ends").success());
    }
}

#[tokio::test]
async fn an_assistant_reads_the_named_chats_and_nobody_who_opted_out() {
    World::run(async |w| {
        w.say("ann", "the boat leaves at nine from the old pier");
        w.say("ben", "zqsecret7xk is the code of the gate");
        let other = w.telegram.add_chat(NewChat::supergroup("Another table"));
        w.say_in(other, "cat", "the plums are ripe");
        w.settled().await;
        let out = w.say("ben", "/optout");
        w.answer_to(out).await;
        w.settled().await;

        let mut assistant = Assistant::start(w, &[w.chat]);
        let listed = assistant.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().expect("tools");
        let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["search", "read", "recap", "decisions"]);

        let (done, found) = assistant.call("search", json!({"query": "when does the boat leave?"}));
        assert!(done && found.contains("the boat leaves at nine") && found.contains("https://t.me/c/"), "{found}");
        let (done, read) = assistant.call("read", json!({"chat": w.chat.0}));
        assert!(done && read.contains(" ann: the boat leaves") && !read.contains("plums"), "{read}");
        let (_, searched) = assistant.call("search", json!({"query": "zqsecret7xk code of the gate"}));
        let (done, recap) = assistant.call("recap", json!({}));
        assert!(done, "{recap}");
        let (done, decisions) = assistant.call("decisions", json!({"since": "2020-01-31"}));
        assert!(done, "{decisions}");
        for text in [&read, &searched, &recap, &decisions] {
            assert!(!text.contains("zqsecret7xk"), "{text}");
        }
        let (done, long_ago) = assistant.call("read", json!({"until": "2020-01-31"}));
        assert!(done && !long_ago.contains("boat"), "{long_ago}");
        for arguments in [json!({"chat": other.0}), json!({"chat": 1}), json!({"chats": 1}), json!({"since": "May"})] {
            let (done, shown) = assistant.call("read", arguments.clone());
            assert!(!done && !shown.contains("plums"), "{arguments}: {shown}");
        }
        assert!(!assistant.call("search", json!({})).0);
        assistant.end();

        let mut both = Assistant::start(w, &[w.chat, other]);
        assert!(!both.call("read", json!({})).0, "which chat?");
        assert!(both.call("read", json!({"chat": other.0})).1.contains("cat: the plums are ripe"));
        both.end();
        // The daemon was not disturbed.
        w.model.script([chime_testkit::Reply::text("At nine.")]);
        let asked = w.say("ann", "@bot when does the boat leave?");
        w.answer_to(asked).await;
    })
    .await;
}

#[tokio::test]
async fn a_chat_that_is_not_there_is_refused_at_the_start() {
    World::offline(async |w| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chime"));
        command.args(["mcp", "--chat", "-999"]).env_clear().env("DATABASE_PATH", w.database());
        let output = command.stdin(Stdio::null()).output().expect("run chime mcp");
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && shown.contains("chat -999 is not in "), "{shown}");
    })
    .await;
}
