//! Web server on loopback, which a story fills.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Clone)]
pub struct Site {
    pub at: SocketAddr,
    /// Paths of the requests so far.
    paths: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// Starts a server whose path `/slow` sends a byte now and then, without end. For all others, `respond` gives the
    /// type and the body.
    pub fn start<B: Into<Vec<u8>>>(respond: impl Fn(&str) -> (&'static str, B) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = listener.local_addr().expect("an address");
        let paths = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&paths);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut request = [0; 4096];
                let length = stream.read(&mut request).unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..length]).into_owned();
                let path = request.split(' ').nth(1).unwrap_or_default();
                let (media_type, body) = respond(path);
                let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: {media_type}\r\n\r\n");
                let _ = stream.write_all(head.as_bytes());
                noted.lock().expect("the paths").push(path.to_owned());
                if path == "/slow" {
                    std::thread::spawn(move || {
                        let _ = stream.set_read_timeout(Some(Duration::from_millis(20)));
                        // Nothing is read until the client hangs up, so each read takes the whole time.
                        while stream.write_all(b"a").is_ok() && !matches!(stream.read(&mut [0]), Ok(0)) {}
                    });
                } else {
                    let _ = stream.write_all(&body.into());
                }
            }
        });
        Self { at, paths }
    }

    /// Starts a server whose pages have `text`.
    pub fn of_pages(text: &str) -> Self {
        let page = format!("<title>Volcano</title><p>{text}</p>");
        Self::start(move |_| ("text/html", page.clone()))
    }

    pub fn address(&self, path: &str) -> String {
        format!("http://volcano.example:{}{path}", self.at.port())
    }

    pub fn paths(&self) -> Vec<String> {
        self.paths.lock().expect("the paths").clone()
    }

    pub fn count(&self) -> usize {
        self.paths().len()
    }
}
