//! Sets the commit that `chime --version` shows: `CHIME_COMMIT` if set, else the commit of the surrounding repository.

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
