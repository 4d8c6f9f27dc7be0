//! The `chime-eval` program.

use chime::cli::{self, Exit};
use chime_eval::arguments::Arguments;
use chime_eval::commands;

fn main() -> Exit {
    // reqwest needs a default cryptography provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    cli::start(|arguments: Arguments| commands::run(arguments.command))
}
