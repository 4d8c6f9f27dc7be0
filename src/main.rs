//! The `chime` program.

use chime::cli::{self, Exit};

fn main() -> Exit {
    keep_few_heaps();
    // reqwest needs to be told which cryptography to use; a second call, by a test, changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    cli::main()
}

/// glibc keeps a heap for each of up to eight threads per processor and gives little of it back: a flood of long messages
/// took 200 MB in place of 118.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn keep_few_heaps() {
    const HEAPS: libc::c_int = 2;
    /// Bytes at the end of a heap that go back to the system. An answer takes many pieces of some hundred KB: to have each
    /// from the system anew took a tenth of its time.
    const GIVEN_BACK_FROM: libc::c_int = 2 * 1024 * 1024;
    /// Larger pieces come from the system one by one.
    const LARGE: libc::c_int = 1024 * 1024;
    #[expect(unsafe_code, reason = "glibc has no other way")]
    // SAFETY: `mallopt` takes any numbers, and no other thread runs yet.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, HEAPS);
        libc::mallopt(libc::M_TRIM_THRESHOLD, GIVEN_BACK_FROM);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn keep_few_heaps() {}
