//! Sets the commit that `chime --version` shows: `CHIME_COMMIT` if set, else the commit of the surrounding repository.
//! Packs the relocations of the program, which makes it 3 MB smaller, where the C library can read them.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CHIME_COMMIT");
    let given = std::env::var("CHIME_COMMIT").ok().filter(|commit| !commit.is_empty());
    // Release builds only: in development each commit would cause a full rebuild.
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = given.or_else(|| is_release.then(commit_of_repository).flatten());
    let suffix = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    println!("cargo::rustc-env=CHIME_COMMIT_SUFFIX={suffix}");
    if has_new_glibc().is_some_and(|is_new| is_new) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Returns true if the program is built for this machine and its C library is glibc 2.36 or newer.
fn has_new_glibc() -> Option<bool> {
    let var = |name| std::env::var(name).ok();
    if var("HOST") != var("TARGET") || var("CARGO_CFG_TARGET_ENV")? != "gnu" {
        return None;
    }
    let done = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let minor = String::from_utf8_lossy(&done.stdout).trim().strip_prefix("glibc 2.")?.parse::<u32>().ok()?;
    Some(minor >= 36)
}

/// Returns the short hash of the current commit, with a `+` if files differ from it. `None` outside a repository.
fn commit_of_repository() -> Option<String> {
    println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    let commit = git(&["rev-parse", "--short=9", "HEAD"])?;
    let differs = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|files| !files.is_empty());
    Some(if differs { format!("{commit}+") } else { commit })
}

fn git(arguments: &[&str]) -> Option<String> {
    let done = Command::new("git").args(arguments).output().ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_owned())
}
