//! The `chime` program.

use chime::cli::{self, Exit};

/// jemalloc, since answers are allocated on one thread and freed on another, which costs more with glibc.
/// `.cargo/config.toml` sets the number of arenas.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> Exit {
    // reqwest needs a default cryptography provider. Tests may have installed one; then this changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    cli::main()
}
