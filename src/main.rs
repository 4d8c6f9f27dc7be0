//! The `chime` program.

use chime::cli::{self, Exit};

fn main() -> Exit {
    // reqwest needs to be told which cryptography to use; a second call, by a test, changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    cli::main()
}
