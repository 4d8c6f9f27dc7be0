//! Rewrites Markdown as models write it so that the parser reads it as intended.

use super::clean::{fold_tag, is_formatting_tag};
use super::latex::{lowered, raised, with_signs};
use chime_core::{Fence, Fences, behind_bullet, columns};

/// Character that the parser treats as white space, so that it recognizes `*` next to it as emphasis.
/// [`clean`](super::clean::clean) removes it later.
pub(super) const EDGE: char = '\u{85}';
/// Columns of indentation from which a fence is itself part of indented code.
const INDENTED: usize = 4;

/// Converts `<pre>…</pre>` that begins a line to fenced code.
pub(super) fn with_html_code_fenced(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let (mut fences, mut rest) = (Fences::default(), markdown);
    while let Some(line) = rest.split_inclusive('\n').next() {
        let is_code = fences.is_code(line);
        match html_code(rest).filter(|_| !is_code) {
            Some((fenced, behind)) => {
                out.push_str(&fenced);
                rest = behind;
            }
            None => {
                out.push_str(line);
                rest = &rest[line.len()..];
            }
        }
    }
    out
}

/// Returns `<pre>…</pre>` at the start of a text as fenced code, and the text behind it.
fn html_code(text: &str) -> Option<(String, &str)> {
    let (pre, behind) = text.strip_prefix("<pre").filter(|pre| pre.starts_with(['>', ' ']))?.split_once("</pre>")?;
    let (_, mut code) = pre.split_once('>')?;
    let mut language = "";
    if let Some((attributes, inside)) = code.trim_start().strip_prefix("<code").and_then(|code| code.split_once('>')) {
        let word = attributes.split("language-").nth(1).and_then(|word| word.split(['"', '\'', ' ']).next());
        language = word.unwrap_or_default();
        code = inside.trim_end().strip_suffix("</code>").unwrap_or(inside);
    }
    let code = code.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    let fenced = format!("```{language}\n{}\n```\n", code.trim_matches('\n'));
    (!code.contains("```")).then_some((fenced, behind.strip_prefix('\n').unwrap_or(behind)))
}

/// Aligns fenced code with its list item, so that the parser recognizes its fences and keeps its indentation.
pub(super) fn with_fences_in_place(markdown: &str) -> String {
    let lines: Vec<&str> = markdown.split_inclusive('\n').collect();
    let mut out = String::with_capacity(markdown.len());
    let mut items = ListMargins::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let margin = items.margin_of(line);
        at += 1;
        let (text, line) = line.split_at(late_fence(line, &lines[at..]).unwrap_or_default());
        if !text.is_empty() {
            out.push_str(text);
            out.push('\n');
        }
        let Some(opening) = Fence::of(line).filter(|fence| !fence.margin.contains('>')) else {
            out.push_str(line);
            continue;
        };
        let (length, mark) = code_block(&lines[at..], &opening);
        let (code, end) = match length {
            Some(length) => (&lines[at..at + length], lines.get(at + length)),
            None => (&lines[at..], None),
        };
        at += code.len() + usize::from(end.is_some());
        let to = if opening.indent() >= margin + INDENTED { margin } else { opening.indent() };
        let is_bullet = opening.margin.contains(|c: char| !c.is_whitespace());
        let line = line.replacen(opening.mark, &mark, 1);
        if is_bullet {
            out.push_str(&line)
        } else {
            push_moved(&mut out, &line, opening.indent(), to)
        }
        // Code that is indented less than its fence: its least indented line sets the margin to remove.
        let begins = code.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(line)).min();
        let from = begins.map_or(opening.indent(), |begins| begins.min(opening.indent()));
        code.iter().for_each(|line| push_code_moved(&mut out, line, from, to));
        if let Some(end) = end {
            push_moved(&mut out, &end.replacen(opening.mark, &mark, 1), indent(end), to);
        }
    }
    out
}

/// Returns the position of a fence that opens code at the end of a line of text, as in `Run:` and three backticks. The
/// fences below tell it from backticks that are talked about: the next one closes, and the others come in pairs.
fn late_fence(line: &str, below: &[&str]) -> Option<usize> {
    let at = line.find("```").filter(|_| Fence::of(line).is_none())?;
    let is_language = |c: char| c.is_alphanumeric() || "+#-_.".contains(c);
    let fence = Fence::of(&line[at..]).filter(|fence| fence.info.trim().chars().all(is_language))?;
    let mut below = below.iter().filter_map(|line| Fence::of(line));
    (below.next()?.closes(&fence) && below.count() % 2 == 0).then_some(at)
}

/// Returns the number of lines of the code that `opening` begins, or `None` if it does not end, and the mark to put
/// around it: a longer one if a fence with a language begins another block in the code.
fn code_block(lines: &[&str], opening: &Fence<'_>) -> (Option<usize>, String) {
    let fences = lines.iter().map(|line| Fence::of(line).filter(|fence| fence.may_close(opening)));
    let (mut depth, mut longest) = (0, opening.mark.len());
    for (at, fence) in fences.enumerate().filter_map(|(at, fence)| Some((at, fence?))) {
        match (fence.closes(opening), depth) {
            (true, 0) => return (Some(at), opening.mark[..1].repeat(longest)),
            (true, _) => depth -= 1,
            (false, _) => depth += 1,
        }
        longest = longest.max(fence.mark.len() + 1);
    }
    // The blocks are not nested, or one of them has no end.
    let is_end = |line: &&str| Fence::of(line).is_some_and(|fence| fence.closes(opening));
    (lines.iter().position(is_end), opening.mark.to_owned())
}

/// Moves each list item, with its lines, to the text of the item that it is in. Models indent by two columns whatever
/// the width of the bullet above, so that the parser would take `  - b` below `1. a` for an item beside it.
pub(super) fn with_items_nested(markdown: &str) -> String {
    /// Least indentation of an item within another.
    const NESTED: usize = 2;
    /// Columns of bullet and text as written, and the columns by which the lines of the item move.
    struct Item {
        bullet: usize,
        text: usize,
        moved: usize,
    }
    let mut out = String::with_capacity(markdown.len());
    let (mut items, mut fences, mut is_code, mut after_empty): (Vec<Item>, _, _, _) =
        (Vec::new(), Fences::default(), false, false);
    for line in markdown.split_inclusive('\n') {
        let (begins, content) = (indent(line), line.trim_start_matches([' ', '\t']));
        let was_code = std::mem::replace(&mut is_code, fences.is_code(line));
        let behind = behind_bullet(content).filter(|_| !was_code);
        let is_empty = content.trim().is_empty();
        while !was_code && !is_empty && (behind.is_some() || after_empty) {
            let Some(_) = items.pop_if(|item| begins < item.bullet + NESTED) else { break };
        }
        after_empty = is_empty;
        let around = items.last();
        let further = around.filter(|_| behind.is_some()).map_or(0, |item| item.text.saturating_sub(begins));
        let moved = around.map_or(0, |item| item.moved) + further;
        match was_code {
            true => push_code_moved(&mut out, line, begins, begins + moved),
            false => push_moved(&mut out, line, begins, begins + moved),
        }
        if let Some(behind) = behind {
            items.push(Item { bullet: begins, text: begins + content.len() - behind.trim_start().len(), moved });
        }
    }
    out
}

fn indent(line: &str) -> usize {
    columns(&line[..line.len() - line.trim_start_matches([' ', '\t']).len()])
}

/// Writes a line, shifted from column `from` to column `to`.
fn push_moved(out: &mut String, line: &str, from: usize, to: usize) {
    if from == to || line.trim().is_empty() {
        return out.push_str(line);
    }
    let content = line.trim_start_matches([' ', '\t']);
    out.push_str(&" ".repeat((indent(line) + to).saturating_sub(from)));
    out.push_str(content);
}

/// Writes a line of code, shifted from column `from` to column `to`. Tabs stay if none of them is part of the margin.
fn push_code_moved(out: &mut String, line: &str, from: usize, to: usize) {
    if line.starts_with('\t') && from == 0 {
        out.push_str(&" ".repeat(to - from));
        return out.push_str(line);
    }
    push_moved(out, line, from, to);
}

/// The list items that a line may belong to.
#[derive(Default)]
struct ListMargins {
    /// Column at which the text of each item starts, outermost first.
    texts: Vec<usize>,
    after_empty: bool,
}

impl ListMargins {
    /// Returns the column at which the text of the innermost item starts that a line can belong to; 0 if there is none.
    fn margin_of(&mut self, line: &str) -> usize {
        let (begins, content) = (indent(line), line.trim_start_matches([' ', '\t']));
        if content.trim().is_empty() {
            self.after_empty = true;
            return 0;
        }
        let bullet = behind_bullet(content);
        if bullet.is_some() || self.after_empty {
            self.texts.retain(|text| *text <= begins);
        }
        self.after_empty = false;
        let margin = self.texts.iter().rev().find(|text| **text <= begins).copied().unwrap_or(0);
        if let Some(behind) = bullet.filter(|_| begins < margin + INDENTED) {
            self.texts.push(begins + content.len() - behind.trim_start().len());
        }
        margin
    }
}

/// Rewrites text outside of code for the parser: LaTeX, emphasis next to East Asian punctuation, and HTML tags such as
/// `<sup>`.
pub(super) fn with_words_read(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut fences = Fences::default();
    let mut text = String::new();
    let mut below = markdown;
    for line in markdown.split_inclusive('\n') {
        below = &below[line.len()..];
        if fences.is_code(line) {
            push_read(&mut out, &std::mem::take(&mut text), markdown);
            out.push_str(line);
            continue;
        }
        // A rule directly below a paragraph would make it a heading, which models write with `#`. Text directly below a
        // table would be its last row, and text directly below a list a part of its last item.
        let is_section = is_section_below_list(line, &text, below);
        let is_below = is_section || is_below_table(line, &text) || is_below_list(line, &text, below);
        if (is_rule(line) && !text.trim().is_empty()) || is_below {
            push_read(&mut out, &std::mem::take(&mut text), markdown);
            out.push('\n');
        }
        if is_section && line.starts_with(BOLD) {
            // Directly below a paragraph, a list could begin with no number but 1.
            text.push_str("### ");
        }
        push_with_indentation(&mut text, line);
        if line.trim().is_empty() {
            push_read(&mut out, &std::mem::take(&mut text), markdown);
        }
    }
    push_read(&mut out, &text, markdown);
    out
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && line.bytes().all(|byte| byte == b'-')
}

/// Returns `true` if `paragraph` has a table, with its row of dashes such as `|---|:-:|`, and `line` is no row of it.
fn is_below_table(line: &str, paragraph: &str) -> bool {
    let is_dashes = |line: &str| line.contains('|') && line.contains('-') && line.chars().all(|c| "|:- \t".contains(c));
    !line.contains('|') && paragraph.lines().skip(1).any(is_dashes)
}

/// Returns `true` if `line` begins a sentence, and `paragraph` ends with two or more list items without further
/// lines. If another item is `below`, the line belongs to the item above it.
fn is_below_list(line: &str, paragraph: &str, below: &str) -> bool {
    let begins_sentence = line.starts_with(|c: char| c == '*' || c.is_alphanumeric() && !c.is_lowercase());
    let mut items = paragraph.lines().skip_while(|line| !is_item(line));
    let is_list = items.clone().count() > 1 && items.all(is_item);
    let mut below = below.lines().take_while(|line| !line.trim().is_empty());
    begins_sentence && is_list && !is_item(line) && !below.any(is_item)
}

fn is_item(line: &str) -> bool {
    behind_bullet(line.trim_start()).is_some()
}

/// Returns `true` if `line` is the heading of the next section of a list whose sections follow each other without empty
/// lines: `paragraph` ends with an item and has two or begins with such a heading, and an item `below` is of the same kind.
fn is_section_below_list(line: &str, paragraph: &str, below: &str) -> bool {
    let is_bold = |line: &str| {
        let parts: Vec<&str> = line.split(BOLD).collect();
        matches!(parts[..], [before, _, behind] if !format!("{before}{behind}").contains(char::is_alphanumeric))
    };
    let is_heading = |line: &str| {
        !is_item(line) && !line.starts_with([' ', '\t']) && (is_bold(line) || line.trim_end().ends_with(':'))
    };
    let mut above = paragraph.lines().filter(|line| !line.starts_with([' ', '\t']));
    let (first, items) = (above.clone().next().unwrap_or_default(), above.clone().filter(|line| is_item(line)).count());
    let is_alike = is_heading(first) && is_bold(first) == is_bold(line);
    let is_numbered = |line: &str| line.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let next = below.lines().next().unwrap_or_default();
    is_heading(line)
        && (is_alike || items > 1 && above.clone().skip_while(|line| !is_item(line)).all(is_item))
        && above
            .next_back()
            .is_some_and(|last| is_item(last) && (!is_item(next) || is_numbered(last) == is_numbered(next)))
}

/// Adds `line` to its paragraph. The parser drops the indentation of its lines, so an item such as `  ◦ b` below `• a`,
/// which are no bullets of Markdown, gets no-break spaces: as many as it stands to the right of the first item.
fn push_with_indentation(paragraph: &mut String, line: &str) {
    const BULLETS: [char; 5] = ['•', '◦', '▪', '‣', '○'];
    let is_item = |line: &str| line.trim_start().starts_with(BULLETS);
    let content = line.trim_start_matches([' ', '\t']);
    match paragraph.lines().find(|line| is_item(line)).filter(|_| is_item(content)) {
        Some(first) => {
            let blanks = "\u{a0}".repeat(indent(line).saturating_sub(indent(first)));
            paragraph.push_str(&format!("{blanks}{content}"));
        }
        None => paragraph.push_str(line),
    }
}

/// Rewrites a paragraph of the text `whole`, except for its code spans.
fn push_read(out: &mut String, paragraph: &str, whole: &str) {
    let is_single = paragraph.matches(BOLD).count() == 1;
    let mut emphasis = Emphasis { open: Vec::new(), is_single };
    let read = |text: &str, is_behind_code: bool| {
        // With the end of the code before it, the text does not begin a line.
        let text = if is_behind_code { &format!("`{text}") } else { text };
        with_signs(&with_footnotes(&with_characters(text, whole)[usize::from(is_behind_code)..]))
    };
    let mut rest = paragraph;
    while let Some(at) = rest.find('`') {
        let marks = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        let (before, code) = rest.split_at(at);
        emphasis.push(out, &read(before, rest.len() < paragraph.len()));
        let length = code_length(code, marks).unwrap_or(marks);
        out.push_str(&code[..length]);
        rest = &code[length..];
    }
    emphasis.push(out, &read(rest, rest.len() < paragraph.len()));
}

/// Converts the marks of numbered footnotes, such as `[^1]`, to raised digits, also where the footnote stands (`[^1]:
/// …`).
fn with_footnotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from)) = rest.split_once("[^") {
        out.push_str(before);
        let number = from.split_once(']').filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
        let number = number.and_then(|(number, behind)| Some((raised(number)?, behind)));
        match number.filter(|(number, _)| !number.is_empty()) {
            Some((number, behind)) => {
                let begins_line = out.is_empty() || out.ends_with('\n');
                out.push_str(&number);
                rest = behind.strip_prefix(':').filter(|_| begins_line).unwrap_or(behind);
            }
            None => {
                out.push_str("[^");
                rest = from;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Returns the length in bytes of a code span that opens with this many backticks; `None` if it is unclosed.
pub(super) fn code_length(code: &str, marks: usize) -> Option<usize> {
    let mut at = marks;
    while let Some(next) = code[at..].find('`') {
        let begins = at + next;
        let length = code[begins..].len() - code[begins..].trim_start_matches('`').len();
        at = begins + length;
        if length == marks {
            return Some(at);
        }
    }
    None
}

/// Converts an HTML link, without its first `<`, to a link in Markdown. Returns it with the text behind it.
fn html_link(from: &str) -> Option<(String, &str)> {
    let (attributes, rest) = from.strip_prefix("a ")?.split_once('>')?;
    let (_, url) = attributes.split_once("href=")?;
    let quote = url.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (url, _) = url[1..].split_once(quote)?;
    let (words, behind) = rest.split_once("</a>")?;
    let is_plain = !url.contains(['<', '>', '"', '\n']) && !words.contains(['<', '[', ']', '`', '\n']);
    is_plain.then(|| (format!("[{words}](<{url}>)"), behind))
}

/// HTML tags that lay out a page, without text of their own.
const BLOCKS: [&str; 15] =
    ["p", "div", "center", "section", "article", "blockquote", "ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6"];
const INLINE: [&str; 5] = ["span", "font", "mark", "small", "big"];

/// Converts a tag of [`BLOCKS`] or [`INLINE`], without its `<`, to a line break, a bullet or nothing. Returns it with
/// the text behind it; `None` if the text is about the tag: blanks or punctuation are around it, or it has no partner
/// in `whole`. `before` is what is written so far.
fn layout_tag<'a>(before: &str, from: &'a str, whole: &str, is_numbered: bool) -> Option<(String, &'a str)> {
    let (inside, behind) = from.split_once('>').filter(|_| !before.ends_with('\\'))?;
    let name = inside.trim_start_matches('/').split([' ', '/']).next()?;
    let is_block = BLOCKS.contains(&name);
    if !is_block && !INLINE.contains(&name) {
        return None;
    }
    let mut text = behind;
    while let Some((_, further)) = text.strip_prefix('<').and_then(|tag| tag.split_once('>')) {
        text = further;
    }
    let next = text.chars().next().filter(|c| *c != '\n');
    let line = before.rsplit('\n').next().unwrap_or_default();
    let written = line.trim_start_matches([' ', '\t', '>']);
    let begins_line = written.is_empty() || behind_bullet(written).is_some_and(|item| item.trim().is_empty());
    let is_closing = inside.starts_with('/');
    let is_paired = whole.contains(&format!("</{name}>")) && whole.contains(&format!("<{name}"));
    let is_markup = match is_closing {
        true => before.ends_with(|c: char| !c.is_whitespace() && !"([/,;<\"".contains(c)),
        false => {
            let has_attributes = inside.contains("=\"") || inside.contains("='");
            next.is_some_and(|c| c.is_alphanumeric() || !c.is_ascii() || "*_~\"'([$".contains(c))
                && (begins_line || has_attributes || is_paired)
        }
    };
    if !(is_markup || begins_line && next.is_none() && is_paired) {
        return None;
    }
    let is_row = line.trim_start().starts_with('|');
    let is_list = matches!(name, "ul" | "ol");
    let newline = match is_row {
        _ if !is_block || begins_line || before.ends_with("<br>") => "",
        true => "<br>",
        false => "\n",
    };
    let shown = match (name, is_closing) {
        ("li", true) => String::new(),
        ("li", false) if is_row => format!("{newline}• "),
        ("li", false) if is_numbered => format!("{newline}1. "),
        ("li", false) => format!("{newline}- "),
        (_, true) if is_row || next.is_none() && !is_list => String::new(),
        (_, true) if is_list => newline.repeat(2),
        (_, false) if name.starts_with('h') && !is_row => format!("{newline}### "),
        _ => newline.to_owned(),
    };
    Some((shown, behind))
}

/// Converts `<sup>`, `<sub>`, `<code>` and links on one line to raised and lowered characters, code spans and
/// Markdown, and tags that lay out a page to line breaks and lists. `whole` is the text that `text` is a part of.
fn with_characters(text: &str, whole: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from)) = rest.split_once('<') {
        out.push_str(before);
        let read = &text[..text.len() - from.len()];
        if let Some((shown, behind)) = layout_tag(&out, from, whole, read.rfind("<ol") > read.rfind("<ul")) {
            // Indentation before a tag would make code of the text.
            let line = out.rfind('\n').map_or(0, |newline| newline + 1);
            if out[line..].trim().is_empty() {
                out.truncate(line);
            }
            out.push_str(&shown);
            rest = behind;
            continue;
        }
        if let Some((link, behind)) = html_link(from) {
            out.push_str(&link);
            rest = behind;
            continue;
        }
        let pair = ["sup", "sub", "code", "kbd", "tt"].into_iter().find_map(|name| {
            let inside = from.strip_prefix(name)?.strip_prefix('>')?;
            let (inside, behind) = inside.split_once(&format!("</{name}>"))?;
            (!inside.contains(['<', '`', '\n'])).then_some((name, inside, behind))
        });
        match pair {
            Some((name, inside, behind)) => {
                match name {
                    "sup" => out.push_str(&raised(inside).unwrap_or_else(|| inside.to_owned())),
                    "sub" => out.push_str(&lowered(inside).unwrap_or_else(|| inside.to_owned())),
                    _ if inside.trim().is_empty() => {}
                    _ => out.push_str(&format!("`{inside}`")),
                }
                rest = behind;
            }
            None => {
                // A tag at the start of a line would start an HTML block, whose Markdown is not read. The edge prevents
                // it.
                let begins = out.trim_end_matches([' ', '>']);
                let is_first = begins.is_empty() || begins.ends_with('\n');
                let fold = fold_tag(from);
                let is_open = |tag: &str| {
                    let (tag, escaped) = (format!("<{tag}>"), format!("\\<{tag}>"));
                    out.matches(&tag).count() > out.matches(&escaped).count()
                };
                // In a sentence, such a tag is what the sentence is about.
                let is_fold = fold.is_some_and(|(tag, _)| {
                    is_first || begins.ends_with("<details") || tag.strip_prefix('/').is_some_and(is_open)
                });
                if is_first && (is_fold || is_formatting_tag(from)) {
                    out.push(EDGE);
                }
                match fold {
                    Some((tag, behind)) if is_fold => {
                        out.push_str(&format!("<{tag}>"));
                        rest = behind;
                    }
                    _ => {
                        out.push_str(if fold.is_some() { "\\<" } else { "<" });
                        rest = from;
                    }
                }
            }
        }
    }
    out.push_str(rest);
    out
}

/// Mark of bold text.
const BOLD: &str = "**";
/// Punctuation at the end of a label, after which a model may write a blank before the closing marks.
const LABEL_ENDS: [char; 4] = [':', '：', '.', '?'];

/// Runs of `*` in a paragraph.
struct Emphasis {
    /// Runs that may have opened emphasis, each with its length and its end in the output.
    open: Vec<(usize, usize)>,
    /// `true` if the paragraph has only one [`BOLD`].
    is_single: bool,
}

impl Emphasis {
    /// Writes `text`. Adds an [`EDGE`] where punctuation inside emphasis meets a non-ASCII letter outside, as in
    /// `**「本」**は`, or a label meets a letter, as in `**Note:**text`: CommonMark recognizes no emphasis there. Moves
    /// blanks out of bold text, and drops a mark that opens bold text without an end.
    fn push(&mut self, out: &mut String, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find('*') {
            let (before, marks) = rest.split_at(at);
            out.push_str(before);
            let length = marks.len() - marks.trim_start_matches('*').len();
            let (marks, mut behind) = marks.split_at(length);
            let (previous, mut next) = (out.chars().next_back(), behind.chars().next());
            let is_apart = previous.is_none_or(char::is_whitespace);
            let opened = self.open.last().filter(|(open, _)| *open == length).map(|(_, at)| *at);
            if marks == BOLD && is_apart && opened.is_none() {
                if self.is_single && next.is_some_and(is_of_prose) {
                    rest = behind;
                    continue;
                }
                if begins_bold(behind) {
                    behind = behind.trim_start_matches(' ');
                    next = behind.chars().next();
                }
            }
            let mut is_closing = opened.is_some() && previous.is_some_and(|c| !c.is_whitespace());
            // `**Note: **text`: the blank belongs behind the marks.
            let inside = out.trim_end_matches(' ').len();
            let mut blanks = String::new();
            let is_bold = |at: usize| {
                let bold = out.get(at..inside).unwrap_or_default();
                bold.ends_with(LABEL_ENDS) || marks == BOLD && is_bold_before(bold, behind)
            };
            if inside < out.len() && opened.is_some_and(is_bold) {
                (is_closing, blanks) = (true, out.split_off(inside));
            }
            if previous == Some('\\') || length > 3 {
                out.push_str(marks);
            } else if is_closing {
                self.open.pop();
                out.push_str(marks);
                let is_label =
                    previous.is_some_and(|c| LABEL_ENDS.contains(&c)) && next.is_some_and(char::is_alphanumeric);
                if is_label || (previous.is_some_and(is_punctuation) && next.is_some_and(is_far_letter)) {
                    out.push(EDGE);
                }
                out.push_str(&blanks);
            } else {
                if previous.is_some_and(is_far_letter) && next.is_some_and(is_punctuation) {
                    out.push(EDGE);
                }
                out.push_str(marks);
                if next.is_some_and(|c| !c.is_whitespace()) {
                    self.open.push((length, out.len()));
                }
            }
            rest = behind;
        }
        out.push_str(rest);
    }
}

/// Returns `true` if [`BOLD`] before `behind`, which begins with a blank, opens bold text: `** Friday at seven** for
/// nine`.
fn begins_bold(behind: &str) -> bool {
    let line = behind.split('\n').next().unwrap_or_default();
    let ends = |(inside, after): (&str, &str)| {
        inside.starts_with(' ')
            && !inside.trim().is_empty()
            && !inside.ends_with([' ', '/'])
            && !after.starts_with(|c: char| c == '*' || c.is_alphanumeric())
    };
    line.split_once(BOLD).is_some_and(ends)
}

/// Returns `true` if [`BOLD`] between `bold`, a blank and `behind` ends bold text, as in `**Friday at seven **for
/// nine`, and is not the mark of code, as in `**kwargs and **args`.
fn is_bold_before(bold: &str, behind: &str) -> bool {
    let line = behind.split('\n').next().unwrap_or_default();
    let next_opens = line.split_once(BOLD).is_none_or(|(between, _)| between.ends_with(' '));
    next_opens && !bold.contains('\n') && bold.contains(is_of_prose)
}

/// Returns `true` for a letter that is no ASCII small letter, as in most bold text but not in code such as
/// `**kwargs`.
fn is_of_prose(c: char) -> bool {
    c.is_uppercase() || c.is_alphabetic() && !c.is_ascii()
}

fn is_far_letter(c: char) -> bool {
    c.is_alphanumeric() && !c.is_ascii()
}

fn is_punctuation(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace() && c != EDGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_moved_into_their_list_item() {
        for (markdown, moved) in [
            ("1. Run\n   ```sh\nls\n  -l\n```\n2. Next\n", "1. Run\n   ```sh\n   ls\n     -l\n   ```\n2. Next\n"),
            ("- a\n  ```\n    x\n\n  y\n  ```\n", "- a\n  ```\n    x\n\n  y\n  ```\n"),
            ("Text:\n    ```sh\n    ls\n      -l\n    ```\nend", "Text:\n```sh\nls\n  -l\n```\nend"),
            ("- a\n      ```\n      x\n      ```\n", "- a\n  ```\n  x\n  ```\n"),
            ("- ```\nx\n```\n", "- ```\n  x\n  ```\n"),
            ("````\n   ```\n x\n````\n", "````\n   ```\n x\n````\n"),
            ("> ```\n> x\n> ```\n", "> ```\n> x\n> ```\n"),
            ("   ```\nx\n", "   ```\n   x\n"),
        ] {
            assert_eq!(with_fences_in_place(markdown), moved, "{markdown}");
        }
    }

    #[test]
    fn code_is_not_read() {
        for code in [
            "`$x^2$` ``a ` \\times``",
            "```\n**注意：**明天 \\times <sup>2</sup>\n```\n",
            "~~~\n$x^2$\n```\n$x^2$\n~~~",
        ] {
            assert_eq!(with_words_read(code), code);
        }
    }
}
