//! The `chime` program.

use chime::cli::{self, Exit};

/// Memory that one thread allocates and another frees, as everything that an answer is made from is, costs less than with
/// glibc. `.cargo/config.toml` says how many heaps there are.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> Exit {
    // reqwest needs to be told which cryptography to use; a second call, by a test, changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    cli::main()
}
