//! The `chime` program.

use chime::cli::{self, Exit};

/// Uses jemalloc: answers are allocated on one thread and freed on another, which needs more memory with glibc.
/// `.cargo/config.toml` sets the number of its arenas.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> Exit {
    // reqwest needs a default provider of cryptography. If one is installed already, as by a test, this does nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    cli::main()
}
