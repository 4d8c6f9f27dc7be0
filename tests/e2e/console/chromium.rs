//! The page in a real browser, without a screen.
//!
//! `apt install chromium`, then `cargo test --test e2e console:: -- --ignored`. Pictures of all views are in
//! `target/tmp/console`; with `UPDATE_EXPECT=1` two of them become those of the documentation.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::console::{Browser, link, timeline, with_console};
use chime_core::ChatId;
use chime_sandbox::Post;
use chime_testkit::Reply;
use chime_world::World;

const PROGRAM: &str = "/usr/bin/chromium";
const WIDTHS: [u32; 2] = [360, 1400];
const SCHEMES: [&str; 2] = ["light", "dark"];
/// Largest picture in the documentation, in bytes.
const MOST_BYTES: usize = 120_000;
/// Maximum number of key presses that reach everything on a page.
const MOST_TABS: usize = 700;

/// Chromium with one tab, driven by its DevTools protocol over pipes.
struct Chromium {
    child: Child,
    to: File,
    from: BufReader<File>,
    sent: u64,
    /// Number of pages that were loaded.
    loaded: u64,
    tab: Option<String>,
    /// Errors of the console, requests to other hosts, and what is too wide or not reached.
    complaints: Vec<String>,
    host: String,
}

impl Chromium {
    fn start(folder: &Path, host: &str) -> Self {
        let (commands, events) = (folder.join("commands"), folder.join("events"));
        let made = Command::new("mkfifo").args([&commands, &events]).status();
        assert!(made.expect("run mkfifo").success());
        let script = "exec \"$0\" \"$@\" 3<commands 4>events";
        let flags = [
            "--headless",
            "--hide-scrollbars",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--force-prefers-reduced-motion",
            "--remote-debugging-pipe",
        ];
        let mut command = Command::new("sh");
        command.args(["-c", script, PROGRAM]).args(flags).arg(format!("--user-data-dir={}", folder.display()));
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("start Chromium");
        // Opening a pipe waits for the other side.
        let to = OpenOptions::new().write(true).open(&commands).expect("the pipe of commands");
        let from = BufReader::new(File::open(&events).expect("the pipe of events"));
        let mut chromium =
            Self { child, to, from, sent: 0, loaded: 0, tab: None, complaints: Vec::new(), host: host.to_owned() };
        let target = chromium.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].take();
        let tab = chromium.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        chromium.tab = tab["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            chromium.call(&format!("{domain}.enable"), json!({}));
        }
        chromium
    }

    /// Calls a method and returns its result. Events that arrive meanwhile are looked at.
    fn call(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let id = self.sent;
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(tab) = &self.tab {
            message["sessionId"] = json!(tab);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("it reads");
        loop {
            let mut event = self.event();
            if event["id"] == id {
                assert!(event.get("error").is_none(), "{method}: {event}");
                return event["result"].take();
            }
        }
    }

    fn event(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).expect("an event");
        bytes.pop();
        let event: Value = serde_json::from_slice(&bytes).expect("JSON");
        let params = &event["params"];
        match event["method"].as_str() {
            Some("Page.loadEventFired") => self.loaded += 1,
            Some("Network.requestWillBeSent") => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                // The icon of a date field is inside the browser.
                if !url.starts_with(&self.host) && !url.starts_with("data:") {
                    self.complaints.push(format!("a request to {url}"));
                }
            }
            Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded") => {
                self.complaints.push(params.to_string());
            }
            _ => {}
        }
        event
    }

    fn open(&mut self, path: &str) {
        let before = self.loaded;
        self.call("Page.navigate", json!({"url": format!("{}{path}", self.host)}));
        self.wait_for_load(before);
    }

    /// Waits until more pages than `before` were loaded.
    fn wait_for_load(&mut self, before: u64) {
        while self.loaded == before {
            self.event();
        }
    }

    fn evaluate(&mut self, expression: &str) -> Value {
        let found = self.call("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(found.get("exceptionDetails").is_none(), "{found}");
        found["result"]["value"].clone()
    }

    fn press(&mut self, key: &str, code: u32) {
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let params = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    fn set_screen(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", media);
    }

    fn picture(&mut self, whole: bool) -> Vec<u8> {
        let params = json!({"format": "png", "captureBeyondViewport": whole});
        let data = self.call("Page.captureScreenshot", params)["data"].take();
        BASE64_STANDARD.decode(data.as_str().expect("a picture")).expect("base64")
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a plausible model reply, also for summaries and tags.
fn reply(request: &Value) -> Reply {
    match request["response_format"]["json_schema"]["name"].as_str() {
        Some("tags") => Reply::text(r#"{"tags":[{"tag":"boat","conf":0.9},{"tag":"lake","conf":0.8}]}"#),
        Some("concepts") => Reply::text(r#"{"concepts":[]}"#),
        Some("topics") => Reply::text(r#"{"topics":[]}"#),
        Some(_) | None => Reply::text(
            "- The boat leaves at nine from the old pier. [m2]\n- Dan brings the rope and the red tent. [m4]\n\
             - Wood for the fire is still missing. [m8] [m99]",
        ),
    }
}

/// Has a group talk for some days, with questions and answers each day. Returns the number of messages before the last
/// day.
async fn live(w: &mut World) -> usize {
    w.model.improvise(reply);
    for messages in [3, 7, 2, 5, 9, 4, 6] {
        for n in 0..messages {
            w.say(["Ana", "Ben", "Cat", "Dan"][n % 4], "who comes along to the lake this time, and with whom?");
        }
        for _ in 0..messages / 2 {
            let tag = w.say("Dan", "@bot who comes along?");
            w.answer_to(tag).await;
        }
        w.settled().await;
        w.quiet(Duration::from_secs(24 * 3600)).await;
    }
    let before = w.all_stored(w.chat).await.len();
    w.play(
        "
        17:00 Ana#1 When does the boat leave on Saturday?
        17:02 Ben#2>1 At nine, from the old pier. Be there early, it is a small boat and the captain does not wait.
        17:03 Cat#3 Did anybody see the match yesterday?
        17:04 Dan#4>2 I bring the rope and the red tent, it has room for four
        17:05 Ana#5>3 our keeper could not catch a cold
        17:06 Cat#6>5 the second goal was a gift
        17:07 Ben#7>4 then we only need the small one too
        17:09 Dan#8 who takes wood for the fire? There was none left at the lake last time
        17:11 Ana#9>8 me, if somebody has a car
        17:12 Cat#10>6 and the referee!
        ",
    );
    w.settled().await;
    w.quiet(Duration::from_secs(4 * 3600)).await;
    let tag = w.say("Ana", "@bot what do we still need for the lake?");
    w.answer_to(tag).await;
    for (name, text) in [
        ("Dan", "I ask my brother for the car"),
        ("Ben", "great, then I buy bread and cheese"),
        ("Cat", "מתי יוצאים? Saturday 9:00?"),
    ] {
        w.say(name, text);
    }
    w.reply("Ana", tag, "thanks, that helps 🛶");
    let long = format!("https://example.org/{}", "a-very-long-address-".repeat(20));
    let by = w.member("Ben");
    w.telegram.say(w.chat, Post::new(by, long, w.clock.now()));
    w.settled().await;
    before
}

/// Looks at every view at each width and in both colour schemes. Runs outside of the daemon's thread.
fn look(host: &str, link: &str, views: &[(&str, String)], pictures: &Path) -> Vec<String> {
    let profile = tempfile::tempdir().expect("a folder");
    let mut chromium = Chromium::start(profile.path(), host);
    // Logging in takes one key.
    chromium.set_screen(1400, 900, "light");
    chromium.open(&link[host.len()..]);
    let before = chromium.loaded;
    chromium.press("Enter", 13);
    chromium.wait_for_load(before);
    assert_eq!(chromium.evaluate("document.querySelector('h1').textContent"), "Overview");
    for (name, path) in views {
        for width in WIDTHS {
            for scheme in SCHEMES {
                chromium.set_screen(width, 900, scheme);
                chromium.open(path);
                let wide =
                    chromium.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
                if wide != 0 {
                    chromium.complaints.push(format!("{name} at {width} pixels is too wide by {wide}"));
                }
                let picture = chromium.picture(true);
                std::fs::write(pictures.join(format!("{name}-{width}-{scheme}.png")), picture)
                    .expect("write a picture");
            }
        }
        chromium.set_screen(1400, 900, "light");
        chromium.open(path);
        reach_everything(&mut chromium, name);
    }
    for (name, shown) in [("overview", "console-overview.png"), ("chat", "console-chat.png")] {
        let path = views.iter().find(|view| view.0 == name).map(|view| &view.1);
        chromium.set_screen(1000, 600, "light");
        chromium.open(path.expect("a view"));
        let picture = chromium.picture(false);
        assert!(picture.len() < MOST_BYTES, "{shown} has {} bytes", picture.len());
        let folder = if std::env::var_os("UPDATE_EXPECT").is_some() { Path::new("docs/pictures") } else { pictures };
        std::fs::write(folder.join(shown), picture).expect("write a picture");
    }
    std::mem::take(&mut chromium.complaints)
}

/// Presses Tab until the page begins again, and checks that each link, button, field and fold had the focus, visibly.
fn reach_everything(chromium: &mut Chromium, name: &str) {
    let wanted = "[...document.querySelectorAll('a[href], button, input:not([type=hidden]), summary')]";
    let visible = format!("{wanted}.filter(it => it.checkVisibility())");
    let count = chromium.evaluate(&format!("{visible}.length")).as_u64().expect("a count");
    let mut reached = BTreeSet::new();
    for _ in 0..MOST_TABS {
        chromium.press("Tab", 9);
        let at = chromium.evaluate(&format!("{visible}.indexOf(document.activeElement)")).as_i64().expect("a place");
        if at >= 0 {
            reached.insert(at);
            let outline = chromium.evaluate("getComputedStyle(document.activeElement).outlineStyle");
            if outline != "solid" {
                let element = chromium.evaluate("document.activeElement.outerHTML");
                chromium.complaints.push(format!("{name}: the focus is not seen on {element}"));
            }
        }
        if reached.len() as u64 == count {
            return;
        }
    }
    chromium.complaints.push(format!("{name}: {} of {count} are reached by the keyboard", reached.len()));
}

#[tokio::test]
#[ignore = "needs Chromium: apt install chromium, cargo test --test e2e console:: -- --ignored"]
async fn every_view_is_seen_by_a_real_browser() {
    // The clock runs ahead of the model while sessions are summarized.
    let settings = [
        ("MEMORY", "on"),
        // Threads that are not long enough for a summary of their own.
        ("MAX_CHAT_HISTORY", "200"),
        ("PRICE_IN", "0.4"),
        ("PRICE_OUT", "1.6"),
        ("MODEL_TIMEOUT", "1h"),
        ("ANSWER_DEADLINE", "1h"),
    ];
    with_console(&settings, async |w, ann: ChatId| {
        let before = live(w).await;
        let chat = timeline(w, w.chat).await;
        let first = link(w, ann).await;
        let mut browser = Browser::new(&first);
        browser.log_in(&first).await;
        let shown = browser.get(&chat).await.body;
        let answer = shown.split('"').find(|part| part.starts_with("/answers/")).expect("an answer").to_owned();
        let views = [
            ("overview", "/".to_owned()),
            ("chat", format!("{chat}?after={before}")),
            ("search", format!("{chat}?q=boat")),
            ("answer", format!("{answer}?context_tokens=300")),
            ("memory", format!("{chat}/memory")),
            ("privacy", format!("/privacy?user={}", ann)),
            ("settings", "/settings".to_owned()),
        ];
        let pictures = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("console");
        std::fs::create_dir_all(&pictures).expect("a folder for the pictures");
        let link = link(w, ann).await;
        let host = link.split("/login").next().expect("an address").to_owned();
        let looking = tokio::task::spawn_blocking(move || look(&host, &link, &views, &pictures));
        assert_eq!(looking.await.expect("it looks at everything"), Vec::<String>::new());
    })
    .await;
}
