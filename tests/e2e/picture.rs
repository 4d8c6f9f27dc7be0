//! The pictures in the README, drawn from what the demo shows.

use std::fmt::Write;

use expect_test::expect_file;
use serde_json::Value;

use crate::showcase::{played, played_with};

/// Messages of the demo around the recorded question.
const SHOWN: [i64; 6] = [15, 16, 22, 24, 29, 30];
const WIDTH: usize = 400;
const LINE: usize = 18;
/// Characters that fit into a line of a bubble.
const COLUMNS: usize = 42;
const COLOURS: [(&str, &str); 6] = [
    ("Ana", "#c0392b"),
    ("Ben", "#a04000"),
    ("Carl", "#2471a3"),
    ("Dina", "#b03a7a"),
    ("You", "#1e8449"),
    ("bot", "#7d3c98"),
];

/// Question and answer that the demo shows to users without a model.
const RECORDED: &str = include_str!("../../src/cli/demo/friday-answer.txt");

/// Returns the part of [`RECORDED`] between two marks, without line breaks.
fn recorded(from: &str, to: &str) -> String {
    let rest = RECORDED.split_once(from).map_or("", |(_, rest)| rest);
    let part = rest.split_once(to).map_or(rest, |(part, _)| part);
    part.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("a line");
        if !last.is_empty() && last.chars().count() + word.chars().count() >= COLUMNS {
            lines.push(word.to_owned());
        } else {
            last.push_str(if last.is_empty() { "" } else { " " });
            last.push_str(word);
        }
    }
    lines
}

/// Returns text for SVG in which citations such as `[1]` look like links.
fn marked_up(line: &str) -> String {
    let escaped = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut parts = escaped.split('[');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(']') {
            Some((number, rest)) if number.parse::<u8>().is_ok() => {
                let _ = write!(out, r##"<tspan fill="#2481cc">[{number}]</tspan>{rest}"##);
            }
            _ => out = format!("{out}[{part}"),
        }
    }
    out
}

/// Picture while it is drawn, from top to bottom.
#[derive(Default)]
struct Picture {
    body: String,
    y: usize,
}

impl Picture {
    fn text(&mut self, x: usize, style: &str, content: &str) {
        self.y += LINE;
        let _ = writeln!(self.body, r#"<text x="{x}" y="{}" {style}>{content}</text>"#, self.y);
    }

    /// Draws a message: name, the start of the message it replies to, and its lines.
    fn bubble(&mut self, name: &str, quoted: Option<&str>, lines: &[String]) {
        let is_own = name == "You";
        let (x, fill) = if is_own { (40, "#e3f7d3") } else { (12, "#ffffff") };
        let height = LINE * (lines.len() + 1 + usize::from(quoted.is_some())) + 14;
        let top = self.y;
        let _ = writeln!(
            self.body,
            r#"<rect x="{x}" y="{top}" width="{}" height="{height}" rx="12" fill="{fill}"/>"#,
            WIDTH - 52
        );
        let colour = COLOURS.iter().find(|(of, _)| *of == name).map_or("#555", |(_, colour)| colour);
        self.text(x + 12, &format!(r#"fill="{colour}" font-weight="bold""#), name);
        if let Some(quoted) = quoted {
            let start: String = quoted.chars().take(COLUMNS - 8).collect();
            self.text(
                x + 12,
                r##"fill="#888" font-size="12""##,
                &format!("▏{}{}", marked_up(start.trim_end()), if start.len() < quoted.len() { "…" } else { "" }),
            );
        }
        for line in lines {
            self.text(x + 12, "", &marked_up(line));
        }
        self.y = top + height + 8;
    }

    fn finished(&self) -> String {
        let height = self.y + 8;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
             font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif\" font-size=\"14\" fill=\"#111\">\n\
             <title>A group chat in which the bot answers with numbered sources</title>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"20\" fill=\"#c9d9c2\"/>\n\
             <rect width=\"{WIDTH}\" height=\"44\" rx=\"20\" fill=\"#517da2\"/>\n\
             <text x=\"20\" y=\"28\" fill=\"#fff\" font-weight=\"bold\">Friday table</text>\n{}</svg>\n",
            self.body
        )
    }
}

#[test]
fn the_picture_of_the_readme_is_what_the_demo_shows() {
    let shown = played_with(&["--json"], &[]);
    let said: Vec<Value> = shown.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let text_of = |id: i64| said.iter().find(|said| said["id"] == id).and_then(|said| said["text"].as_str());
    let mut picture = Picture { y: 56, ..Picture::default() };
    for message in said.iter().filter(|said| said["event"] == "message") {
        if !message["id"].as_i64().is_some_and(|id| SHOWN.contains(&id)) {
            continue;
        }
        let quoted = message["reply_to"].as_i64().and_then(text_of);
        let text = message["text"].as_str().expect("a text");
        picture.bubble(message["from"].as_str().expect("a name"), quoted, &wrapped(text));
    }
    assert!(played(&[]).contains(RECORDED));
    let question = recorded("  You  ", "\n");
    picture.bubble("You", None, &wrapped(&question));
    let sources = format!("Sources: {}", recorded("Sources: ", "\n\n"));
    let lines = [wrapped(&recorded("  bot  ", "Sources: ")), vec![String::new()], wrapped(&sources)].concat();
    picture.bubble("bot", Some(&question), &lines);
    expect_file!["../../docs/pictures/chat.svg"].assert_eq(&picture.finished());
}

#[test]
fn the_picture_of_a_terminal_is_what_the_demo_prints() {
    /// Width of a character of 13 pixels in most fixed fonts.
    const CHARACTER: usize = 8;
    let shown = played(&[]);
    let (talk, rest) = shown.split_once(RECORDED).expect("the recorded answer");
    let newest = |line: &&str| (22..=30).any(|id| line.trim_start().starts_with(&format!("#{id} ")));
    // The times of the newest messages depend on the clock.
    let without_time = |line: &str| {
        let (number, said) = line.trim().split_once(' ').expect("a number");
        format!("  {number} {}", said.split_once(' ').map_or("", |(_, said)| said))
    };
    let talk = talk.lines().filter(newest).map(without_time);
    let lines: Vec<String> = talk.chain(format!("{RECORDED}{rest}").trim_end().lines().map(str::to_owned)).collect();
    let longest = lines.iter().map(|line| line.chars().count()).max().expect("lines");
    let (width, height) = (longest * CHARACTER + 32, lines.len() * LINE + 28);
    let mut body = String::new();
    for (place, line) in (1..).zip(&lines).filter(|(_, line)| !line.trim().is_empty()) {
        let _ =
            writeln!(body, r#"<text x="16" y="{}" xml:space="preserve">{}</text>"#, place * LINE + 10, marked_up(line));
    }
    let picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"13\" fill=\"#ddd\">\n\
         <title>The demo in a terminal</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#1e1e1e\"/>\n{body}</svg>\n"
    );
    expect_file!["../../docs/pictures/demo.svg"].assert_eq(&picture);
}
