//! Pages from servers on loopback, which the policy allows under test names only.

#![expect(clippy::expect_used, reason = "a server that cannot start fails its test")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use encoding_rs::{SHIFT_JIS, WINDOWS_1251};

use chime_links::{AddressPolicy, Fetcher, PageText, UnreadablePage, WebContent};

const TEXT: &str = "The ferry to the island runs at eight, twelve and five on weekdays.";

const CYRILLIC: &str = "<p>Паром на остров отправляется в восемь, двенадцать и пять часов по будням.</p>";
const JAPANESE: &str = "<meta charset=Shift_JIS><p>島へのフェリーは平日の八時と十二時と五時に出ます。</p>";

/// Server that answers each path as `answer` writes it, and counts requests for `/secret`.
struct FerrySite {
    at: SocketAddr,
    secrets: Arc<AtomicUsize>,
}

impl FerrySite {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = listener.local_addr().expect("an address");
        let secrets = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&secrets);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counted = Arc::clone(&counted);
                thread::spawn(move || answer(stream, at, &counted));
            }
        });
        Self { at, secrets }
    }

    /// Reads a path of the site by its test name.
    async fn read(&self, path: &str) -> Result<PageText, UnreadablePage> {
        self.fetch(path).await.map(|content| match content {
            WebContent::Page(page) => page,
            WebContent::Pdf(_) => PageText::default(),
        })
    }

    async fn fetch(&self, path: &str) -> Result<WebContent, UnreadablePage> {
        self.read_address(&format!("http://ferry.example:{}{path}", self.at.port())).await
    }

    async fn read_address(&self, address: &str) -> Result<WebContent, UnreadablePage> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let metadata = "169.254.169.254:80".parse().expect("an address");
        let names = [("ferry.example", self.at), ("metadata.example", metadata)];
        let names: BTreeMap<String, SocketAddr> = names.map(|(name, at)| (name.to_owned(), at)).into();
        let policy = AddressPolicy::new(["models.example".to_owned()]).with_test_names(names);
        Fetcher::new(policy).read(address).await
    }
}

fn answer(mut stream: TcpStream, at: SocketAddr, secrets: &AtomicUsize) {
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return,
            Ok(length) => request.extend_from_slice(&part[..length]),
        }
    }
    let request = String::from_utf8_lossy(&request).to_lowercase();
    assert!(request.contains("user-agent: chime/") && !request.contains("cookie:") && !request.contains("referer:"));
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let ok = |head: &str, body: &[u8]| {
        [format!("HTTP/1.1 200 OK\r\nConnection: close\r\nSet-Cookie: a=b\r\n{head}\r\n\r\n").as_bytes(), body].concat()
    };
    let to = |place: &str| {
        format!("HTTP/1.1 302 Found\r\nSet-Cookie: a=b\r\nConnection: close\r\nContent-Length: 0\r\nLocation: {place}\r\n\r\n").into_bytes()
    };
    let html = format!("<title>Ferry</title><p>{TEXT}</p>");
    let bytes = match path.as_str() {
        "/page" => ok("Content-Type: text/html", html.as_bytes()),
        "/1" => to("/2"),
        "/2" => to("3"),
        "/3" => ok("Content-Type: text/html", b"<meta http-equiv=Refresh content='0; URL=/page'>Please wait"),
        "/loop" => to("/loop"),
        "/raw" => to("/паром"),
        "/%d0%bf%d0%b0%d1%80%d0%be%d0%bc" => ok("Content-Type: text/html", html.as_bytes()),
        "/to-loopback" => to(&format!("http://127.0.0.1:{}/secret", at.port())),
        "/to-v6" => to(&format!("http://[::1]:{}/secret", at.port())),
        "/to-mapped" => to(&format!("http://[::ffff:127.0.0.1]:{}/secret", at.port())),
        "/to-octal" => to(&format!("http://0177.0.0.1:{}/secret", at.port())),
        "/to-decimal" => to(&format!("http://2130706433:{}/secret", at.port())),
        "/to-metadata" => to("http://169.254.169.254/latest"),
        "/to-name" => to("http://metadata.example/latest"),
        "/to-localhost" => to(&format!("http://localhost:{}/secret", at.port())),
        "/to-file" => to("file:///etc/passwd"),
        "/secret" => {
            secrets.fetch_add(1, Ordering::SeqCst);
            ok("Content-Type: text/html", html.as_bytes())
        }
        "/claimed" => ok("Content-Type: text/html\r\nContent-Length: 2147483648", html.as_bytes()),
        "/streamed" => {
            let _ = stream.write_all(&ok("Content-Type: text/html", html.as_bytes()));
            while stream.write_all(&[b'x'; 65_536]).is_ok() {}
            return;
        }
        "/cyrillic" => ok("Content-Type: text/html; charset=windows-1251", &WINDOWS_1251.encode(CYRILLIC).0),
        "/japanese" => ok("Content-Type: text/html", &SHIFT_JIS.encode(JAPANESE).0),
        "/undeclared" => ok("Content-Type: text/html", &WINDOWS_1251.encode(CYRILLIC).0),
        "/zipped" => ok("Content-Type: text/html\r\nContent-Encoding: gzip", &gzip(html.as_bytes())),
        "/zipped-and-more" => {
            let body = [gzip(html.as_bytes()).as_slice(), b"\n\0\0"].concat();
            ok("Content-Type: text/html\r\nContent-Encoding: gzip", &body)
        }
        "/unzipped" => ok("Content-Type: text/html\r\nContent-Encoding: gzip", html.as_bytes()),
        "/bomb" => ok("Content-Type: text/html\r\nContent-Encoding: gzip", &gzip(&vec![b'x'; 200_000_000])),
        "/pdf" => ok("Content-Type: text/html", b"%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj and more of it"),
        "/large.pdf" => ok("Content-Type: application/pdf", &[b"%PDF-1.7".as_slice(), &[b'x'; 8_000_000]].concat()),
        "/huge.pdf" => ok("Content-Type: application/pdf", &[b"%PDF-1.7".as_slice(), &[b'x'; 22_000_000]].concat()),
        "/picture" => ok("Content-Type: image/png", b"\x89PNG and so on, some bytes of a picture"),
        "/scripts" => {
            ok("Content-Type: text/html", b"<div id=app></div><script>show('all that there is to see')</script>")
        }
        _ => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec(),
    };
    let _ = stream.write_all(&bytes);
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(body).expect("memory");
    encoder.finish().expect("memory")
}

#[tokio::test]
async fn a_page_is_read_behind_redirects_and_decompressed() {
    let site = FerrySite::start();
    for path in ["/page", "/1", "/raw", "/zipped", "/zipped-and-more", "/unzipped"] {
        let page = site.read(path).await.expect("a page");
        assert_eq!((page.title.as_str(), page.text.as_str()), ("Ferry", TEXT), "{path}");
    }
    let page = site.read_address(&format!("ferry.example:{}/page", site.at.port())).await;
    assert!(page.is_ok(), "an address without a scheme: {page:?}");
}

#[tokio::test]
async fn old_encodings_are_read_also_where_none_is_named() {
    let site = FerrySite::start();
    for (path, words) in [
        ("/cyrillic", "отправляется в восемь"),
        ("/japanese", "島へのフェリー"),
        ("/undeclared", "отправляется в восемь"),
    ] {
        let page = site.read(path).await.expect("a page");
        assert!(page.text.contains(words), "{path}: {page:?}");
    }
}

#[tokio::test]
async fn what_is_not_public_is_never_reached() {
    let site = FerrySite::start();
    for path in [
        "/to-loopback",
        "/to-v6",
        "/to-mapped",
        "/to-octal",
        "/to-decimal",
        "/to-metadata",
        "/to-name",
        "/to-localhost",
        "/to-file",
    ] {
        assert_eq!(site.read(path).await, Err(UnreadablePage::Refused), "{path}");
    }
    let port = site.at.port();
    for address in [
        format!("http://127.0.0.1:{port}/secret"),
        format!("http://0x7f.1:{port}/secret"),
        format!("http://017700000001:{port}/secret"),
        format!("http://[::1]:{port}/secret"),
        "http://10.0.0.1/".to_owned(),
        "https://models.example/v1".to_owned(),
        "ftp://ferry.example/page".to_owned(),
        "javascript:alert(1)".to_owned(),
    ] {
        assert_eq!(site.read_address(&address).await, Err(UnreadablePage::Refused), "{address}");
    }
    assert_eq!(site.secrets.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn size_and_redirects_are_limited() {
    let site = FerrySite::start();
    for path in ["/claimed", "/streamed", "/bomb", "/huge.pdf"] {
        assert_eq!(site.read(path).await, Err(UnreadablePage::TooLarge), "{path}");
    }
    assert_eq!(site.read("/loop").await, Err(UnreadablePage::NoPage));
    assert_eq!(site.read("/missing").await, Err(UnreadablePage::NoPage));
}

#[tokio::test]
async fn what_has_no_text_is_not_read() {
    let site = FerrySite::start();
    for (path, expected) in [("/picture", UnreadablePage::File), ("/scripts", UnreadablePage::NoText)] {
        assert_eq!(site.read(path).await, Err(expected), "{path}");
    }
}

#[tokio::test]
async fn a_pdf_is_returned_as_it_is() {
    let site = FerrySite::start();
    for (path, length) in [("/pdf", 59), ("/large.pdf", 8_000_008)] {
        let content = site.fetch(path).await;
        assert!(matches!(&content, Ok(WebContent::Pdf(bytes)) if bytes.len() == length), "{path}");
    }
}
