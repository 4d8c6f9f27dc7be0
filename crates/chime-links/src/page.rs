//! Finds the text of a page in its bytes.

use std::collections::HashMap;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};

/// Maximum number of elements and texts that are parsed, about 100 MB of memory. Scripts count little, however long.
const MOST_NODES: usize = 500_000;
/// Bytes of HTML that are parsed at once.
const PART_BYTES: usize = 4_096;
const MOST_ELEMENTS: usize = 50_000;
/// Maximum depth of nested elements in which an article is looked for, which is recursive, and takes long for a deep
/// page. A deeper page is read as a whole.
const MOST_DEPTH: usize = 256;
/// Maximum number of characters of a text that is kept.
const MOST_CHARS: usize = 200_000;
/// Minimum length of an article. With fewer characters the whole page is read, as for a list of opening hours, and
/// with it what the page says about itself.
const ARTICLE_CHARS: usize = 200;
/// Minimum length of a page's text, in bytes, since Chinese says more with each character. A shorter text usually only
/// asks to switch on scripts.
const FEWEST_BYTES: usize = 20;
/// Number of bytes at the beginning of a page in which it names its encoding.
const HEAD_BYTES: usize = 4_096;
/// Maximum time after which a page sends browsers to another one, in seconds. After a longer time it is meant to be
/// read.
const MOST_DELAY: f64 = 5.0;
/// Elements that browsers show on a line of their own, but `dom_query` does not.
const OWN_LINE: &str =
    "dd, option, label, legend, button, summary, caption, figcaption, address, aside, header, footer";
/// Marks around the text of a link, and behind a heading: characters that no page uses.
const LINK_START: char = '\u{10FFFD}';
const LINK_END: char = '\u{10FFFE}';
const HEADING_END: char = '\u{10FFFF}';

/// Reason why a page has no text for the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnreadablePage {
    #[error("the address may not be fetched")]
    Refused,
    #[error("the server cannot be reached")]
    Unreachable,
    #[error("the server gives no page")]
    NoPage,
    #[error("the page is too large")]
    TooLarge,
    #[error("there is no text")]
    NoText,
    /// Such as a picture.
    #[error("it is a file, not a page")]
    File,
    #[error("the server takes too long")]
    TooSlow,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageText {
    /// Empty if the page has none.
    pub title: String,
    /// Date of the page as the page gives it, mostly `2026-01-31T10:00:00Z`.
    pub published: Option<String>,
    /// Paragraphs with a blank line between them.
    pub text: String,
    /// `true` if the page was cut to the maximum length.
    pub is_cut: bool,
}

/// Reads a page. `media_type` is the server's `Content-Type`. Parsing takes long for pages that are built to be slow. It
/// stops when `is_wanted` returns `false`.
///
/// # Errors
/// [`UnreadablePage::File`] for bytes that are not text, whatever the server says, and [`UnreadablePage::NoText`].
pub fn page_text(
    body: &[u8],
    media_type: Option<&str>,
    at: &str,
    is_wanted: &dyn Fn() -> bool,
) -> Result<PageText, UnreadablePage> {
    let media_type = media_type.unwrap_or("text/html").to_ascii_lowercase();
    let kind = media_type.split(';').next().unwrap_or_default().trim();
    let is_html = matches!(kind, "text/html" | "application/xhtml+xml");
    let is_text = is_html || kind.starts_with("text/") || kind.ends_with("json") || kind.ends_with("xml");
    let looks_binary = body.starts_with(b"%PDF-") || body.starts_with(b"PK\x03\x04");
    if !is_text || looks_binary {
        return Err(UnreadablePage::File);
    }
    let text = decoded(body, &media_type);
    if text.matches('\0').count() * 20 > text.chars().count() {
        return Err(UnreadablePage::File);
    }
    // Soft hyphens would hide words from the search.
    let text = text.replace(['\0', '\u{AD}'], "");
    let page = match is_html {
        true => article(&text, at, is_wanted).ok_or(UnreadablePage::NoText)?,
        false => PageText { text, ..PageText::default() },
    };
    let whole = page.text.trim();
    let text: String = whole.chars().take(MOST_CHARS).collect();
    let is_cut = page.is_cut || text.len() < whole.len();
    if text.len() >= FEWEST_BYTES { Ok(PageText { text, is_cut, ..page }) } else { Err(UnreadablePage::NoText) }
}

/// Converts a body to text. The encoding is given by its byte order mark, or it is UTF-8, which other bytes are not by
/// chance, else it is given by `Content-Type`, else by the page itself. One that does not fit is replaced by a guess.
fn decoded(body: &[u8], media_type: &str) -> String {
    let head = String::from_utf8_lossy(body.get(..HEAD_BYTES).unwrap_or(body)).to_ascii_lowercase();
    let marked = Encoding::for_bom(body).map(|(encoding, _)| encoding);
    let is_utf8 = !body.is_ascii() && std::str::from_utf8(body).is_ok();
    let evident = marked.or_else(|| is_utf8.then_some(UTF_8));
    let given = evident.or_else(|| named(media_type)).or_else(|| named_in_page(&head));
    let text = given.map(|encoding| encoding.decode(body).0);
    let fits = |text: &str| {
        let broken = text.matches(char::REPLACEMENT_CHARACTER).count();
        broken * 2 <= text.chars().filter(|character| !character.is_ascii()).count()
    };
    text.filter(|text| fits(text)).unwrap_or_else(|| guessed(body).decode(body).0).into_owned()
}

fn guessed(body: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(body, true);
    detector.guess(None, Utf8Detection::Allow)
}

/// Returns the encoding after `charset=`.
fn named(text: &str) -> Option<&'static Encoding> {
    let after = text.split_once("charset=")?.1.trim_start_matches(['"', '\'', ' ']);
    let label = after.split(['"', '\'', ';', ' ', '>', '/']).next()?;
    Encoding::for_label(label.as_bytes())
}

/// Returns the encoding that a `meta` element gives. What is readable so far is not UTF-16.
fn named_in_page(head: &str) -> Option<&'static Encoding> {
    let found = head.split("<meta").skip(1).find_map(|meta| named(meta.split('>').next()?))?;
    Some(if [UTF_16LE, UTF_16BE].contains(&found) { UTF_8 } else { found })
}

fn article(html: &str, at: &str, is_wanted: &dyn Fn() -> bool) -> Option<PageText> {
    let (page, is_cut) = parsed(html, is_wanted)?;
    separate(&page);
    if is_too_deep(&page) {
        let title = page.select_single("title").text().trim().to_owned();
        return Some(PageText { title, text: whole_text(&page), published: None, is_cut });
    }
    let config = Config { max_elements_to_parse: MOST_ELEMENTS, text_mode: TextMode::Formatted, ..Config::default() };
    let mut reader = Readability::with_document(page.clone(), Some(at), Some(config)).ok()?;
    let metadata = reader.get_article_metadata(reader.parse_json_ld());
    let found = reader.parse().ok().map(|article| article.text_content.trim().to_owned());
    let text = match found.filter(|text| text.chars().count() >= ARTICLE_CHARS) {
        Some(article) => format!("{article}\n\n{}", text_beside(&page, &article)),
        None => short_text(&page, metadata.excerpt),
    };
    Some(PageText { title: metadata.title.trim().to_owned(), published: metadata.published_time, text, is_cut })
}

/// Parses a page. Returns `true` with it if it was cut.
fn parsed(html: &str, is_wanted: &dyn Fn() -> bool) -> Option<(Document, bool)> {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let mut parser = parse_document(Document::default(), ParseOpts { tree_builder, ..ParseOpts::default() });
    let mut rest = html;
    while !rest.is_empty() && parser.tokenizer.sink.sink.tree.len() < MOST_NODES {
        if !is_wanted() {
            return None;
        }
        let most = rest.floor_char_boundary(PART_BYTES);
        // No tag is cut in two, since the rest may be left out.
        let (part, after) = rest.split_at(rest[..most].rfind('>').map_or(most, |end| end + 1));
        parser.process(part.into());
        rest = after;
    }
    Some((parser.finish(), !rest.is_empty()))
}

fn is_too_deep(page: &Document) -> bool {
    let (mut node, mut depth) = (page.root(), 0);
    loop {
        if let Some(child) = node.first_child() {
            (node, depth) = (child, depth + 1);
            if depth > MOST_DEPTH {
                return true;
            }
            continue;
        }
        node = loop {
            if let Some(next) = node.next_sibling() {
                break next;
            }
            let Some(parent) = node.parent() else { return false };
            (node, depth) = (parent, depth - 1);
        };
    }
}

/// Separates the texts of neighbouring elements.
fn separate(page: &Document) {
    for term in page.select("dt").nodes() {
        term.append_child(&page.tree.new_text(" "));
    }
    for element in page.select(OWN_LINE).nodes() {
        element.append_child(&page.tree.new_element("br"));
    }
}

/// Returns the lines of a page that its article does not have, such as prices and opening hours. Leaves out menus.
/// Headings and lines that only link to other pages are kept where a text follows.
fn text_beside(page: &Document, article: &str) -> String {
    page.select("nav, button").remove();
    for link in page.select("a[href]:not([href^='tel:'], [href^='mailto:'])").nodes() {
        link.prepend_child(&page.tree.new_text(LINK_START.to_string()));
        link.append_child(&page.tree.new_text(LINK_END.to_string()));
    }
    for heading in page.select("h1, h2, h3, h4, h5, h6").nodes() {
        heading.append_child(&page.tree.new_text(HEADING_END.to_string()));
    }
    let mut in_article: HashMap<&str, usize> = HashMap::new();
    article.lines().for_each(|line| *in_article.entry(line.trim()).or_default() += 1);
    let (mut beside, mut heading, mut is_link) = (String::new(), String::new(), false);
    for line in whole_text(page).lines() {
        let (mut own, mut linked, mut links) = (0, 0, 0);
        for character in line.chars() {
            match character {
                LINK_START => is_link = true,
                LINK_END => (is_link, links) = (false, links + 1),
                _ if !character.is_alphanumeric() => {}
                _ if is_link => linked += 1,
                _ => own += 1,
            }
        }
        let shown = line.replace([LINK_START, LINK_END, HEADING_END], "");
        if own + linked == 0 {
            if !beside.ends_with("\n\n") {
                beside.push('\n');
            }
        } else if let Some(count) = in_article.get_mut(shown.trim()).filter(|count| **count > 0) {
            *count -= 1;
            heading.clear();
        } else if line.contains(HEADING_END) || own == 0 || (links > 1 && linked > own) {
            heading = shown + "\n";
        } else {
            beside.extend([std::mem::take(&mut heading).as_str(), shown.as_str(), "\n"]);
        }
    }
    beside
}

/// Returns everything that a page without an article shows. If that is little, adds the description and the JSON-LD
/// data by which other programs show the page.
fn short_text(page: &Document, description: Option<String>) -> String {
    let data = page.select("script[type='application/ld+json']").text();
    let shown = whole_text(page);
    if shown.chars().count() >= ARTICLE_CHARS {
        return shown;
    }
    [shown, description.unwrap_or_default(), data.trim().to_owned()].join("\n\n")
}

/// Returns the address to which the beginning of a page sends browsers at once.
pub(crate) fn refresh(body: &[u8]) -> Option<String> {
    let head = Document::from(String::from_utf8_lossy(body.get(..HEAD_BYTES).unwrap_or(body)).into_owned());
    let content = head.select("head > meta[http-equiv='refresh' i]").attr("content")?;
    let (delay, address) = content.split_once([';', ','])?;
    let is_soon = delay.trim().parse().is_ok_and(|seconds: f64| seconds <= MOST_DELAY);
    let address = match address.trim().split_at_checked(4) {
        Some((name, address)) if name.eq_ignore_ascii_case("url=") => address,
        _ => address,
    };
    is_soon.then(|| address.trim_matches(['"', '\'', ' ']).to_owned())
}

/// Returns everything that a page shows.
fn whole_text(page: &Document) -> String {
    page.select("script, style, noscript, template, head, svg, iframe").remove();
    page.formatted_text().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn read(body: &[u8], media_type: &str) -> Result<PageText, UnreadablePage> {
        page_text(body, Some(media_type), "https://example.org/page", &|| true)
    }

    #[test]
    fn an_article_comes_first_without_menus_and_with_title_and_date() {
        let paragraph = "The town council decided on Monday that the old bridge will be closed for repair until May. ";
        let html = format!(
            "<html><head><title>Bridge closed - Town News</title>
             <meta property='article:published_time' content='2026-01-31T10:00:00Z'></head><body>
             <nav><a href='/'>Home</a> <b>Sport</b></nav>
             <article><h1>Bridge closed</h1><p>{0}{0}</p><p>{0}{0}</p><p>{0}</p></article>
             <aside>Toll: 2 EUR</aside><dl><dt>Monday<dd>closed<dt>Friday<dd>9-17</dl>
             <h3><a href='/jazz'>Jazz night</a></h3><p>12 May</p><a href='tel:5550102'>555 0102</a>
             <h3>Most read</h3><ul><li><a href='/a'>Ten tips</a></ul><script>track('everything')</script></body></html>",
            paragraph
        );
        let page = read(html.as_bytes(), "text/html; charset=utf-8").expect("a page");
        assert!(page.title.starts_with("Bridge closed"), "{page:?}");
        assert_eq!(page.published.as_deref(), Some("2026-01-31T10:00:00Z"));
        assert!(page.text.contains("old bridge will be closed"), "{page:?}");
        assert!(page.text.starts_with("The town council") && !page.text.contains("track"), "{page:?}");
        for beside in ["\nToll: 2 EUR\n", "\nMonday closed\nFriday 9-17\n", "\nJazz night\n12 May\n", "\n555 0102"] {
            assert!(page.text.replace("\n\n", "\n").contains(beside), "{beside}: {page:?}");
        }
        assert!(!["Sport", "Most read", "Ten tips"].iter().any(|menu| page.text.contains(menu)), "{page:?}");
    }

    #[test]
    fn a_page_without_an_article_is_read_as_a_whole() {
        let page = read(b"<title>Volcano</title><style>p{}</style><h1>Opening hours</h1><ul><li>Monday closed<li>Friday 18 to 23</ul>", "text/html");
        let page = page.expect("a page");
        assert!(
            page.text.contains("Monday closed") && page.text.contains("Friday 18 to 23") && !page.text.contains("p{}"),
            "{page:?}"
        );
    }

    #[test]
    fn a_page_without_text_is_read_by_its_description() {
        let html = "<meta property='og:description' content='12 March, Harbour stage'><div id=app></div>
             <script type='application/ld+json'>{\"@type\": \"Event\", \"startDate\": \"2026-03-12T19:00\"}</script>";
        let page = read(html.as_bytes(), "text/html").expect("a page");
        assert!(page.text.contains("12 March, Harbour stage") && page.text.contains("2026-03-12T19:00"), "{page:?}");
    }

    #[test]
    fn other_encodings_are_read() {
        let (russian, japanese) =
            ("Мост закрыт на ремонт до мая", "橋は五月まで修理のため閉鎖されます。迂回してください。");
        let of = |encoding: &'static Encoding, text: &str| encoding.encode(text).0.into_owned();
        let body = of(encoding_rs::WINDOWS_1251, &format!("<p>{russian}</p>"));
        assert_eq!(read(&body, "text/html; charset=windows-1251").map(|page| page.text).as_deref(), Ok(russian));
        let body = of(encoding_rs::SHIFT_JIS, &format!("<meta charset=\"Shift_JIS\"><p>{japanese}</p>"));
        assert_eq!(read(&body, "text/html").map(|page| page.text).as_deref(), Ok(japanese));
        let body = of(
            encoding_rs::WINDOWS_1251,
            &format!("<script charset=utf-8></script><meta charset=windows-1251><p>{russian}"),
        );
        for media_type in ["text/html", "text/html; charset=utf-8"] {
            assert_eq!(read(&body, media_type).map(|page| page.text).as_deref(), Ok(russian), "{media_type}");
        }
        for text in [russian, "a page of plain ASCII text"] {
            let body = format!("<meta charset=utf-16>\0<p>{text}");
            for media_type in ["text/html", "text/html; charset=ISO-8859-1"] {
                let page = read(body.as_bytes(), media_type);
                assert_eq!(page.map(|page| page.text).as_deref(), Ok(text), "{media_type}");
            }
        }
    }

    #[test]
    fn what_has_no_text_is_no_page() {
        for (body, media_type, expected) in [
            ("%PDF-1.7 \0\u{1}", "text/html", UnreadablePage::File),
            ("some bytes of an image that are no text at all", "image/png", UnreadablePage::File),
            ("a\0b a\0b a\0b a\0b a\0b a\0b a\0b", "text/plain", UnreadablePage::File),
            (
                "<div id=app></div><script>var a = 'a long text of a script';</script>",
                "text/html",
                UnreadablePage::NoText,
            ),
            ("", "text/html", UnreadablePage::NoText),
        ] {
            assert_eq!(read(body.as_bytes(), media_type), Err(expected), "{body}");
        }
        assert!(read("<p>営業時間：9時から17時".as_bytes(), "text/html").is_ok());
    }

    #[test]
    fn a_long_script_cuts_no_text_and_many_elements_do() {
        let script = format!("<script>{}</script><p>The ferry runs at eight.", "x".repeat(3_000_000));
        let page = read(script.as_bytes(), "text/html").expect("a page");
        assert_eq!((page.text.as_str(), page.is_cut), ("The ferry runs at eight.", false));
        let many = format!("<p>The ferry runs at eight.{}and at nine", "<br>".repeat(2 * MOST_NODES));
        let page = read(many.as_bytes(), "text/html").expect("a page");
        assert_eq!((page.text.as_str(), page.is_cut), ("The ferry runs at eight.", true));
    }

    #[test]
    fn deeply_nested_elements_are_read_without_an_article_and_stop_when_nobody_waits() {
        for open in ["<div>", "<b>", "<ul><li>", "<table><tr><td>", "<a><b>"] {
            let html = open.repeat(8_000 / open.len());
            assert_eq!(read(html.as_bytes(), "text/html"), Err(UnreadablePage::NoText), "{open}");
            let page = read(format!("{html}Munalaid 9:40, Kihnu 10:40").as_bytes(), "text/html");
            assert_eq!(page.map(|page| page.text).as_deref(), Ok("Munalaid 9:40, Kihnu 10:40"), "{open}");
            let html = open.repeat(1_000_000 / open.len());
            let parts = std::cell::Cell::new(0);
            let is_wanted = || parts.replace(parts.get() + 1) < 3;
            assert!(page_text(html.as_bytes(), None, "https://example.org/page", &is_wanted).is_err(), "{open}");
        }
    }
}
