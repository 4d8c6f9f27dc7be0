//! `deploy/install.sh`, below a folder and without systemd.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use chime_sandbox::Setup;
use chime_store::backups;

use super::Machine;

/// Runs the script with the machine's settings. Returns whether it succeeded, and its output.
async fn run(machine: &Machine, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(machine.folder.path().join("release/install.sh"));
    command.args(["--root", "a root"]).args(arguments).current_dir(machine.folder.path()).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).envs(&machine.settings);
    let output =
        tokio::task::spawn_blocking(move || command.output()).await.expect("no panic").expect("run the script");
    let shown = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&shown).into_owned())
}

/// Returns the names of the files in `folder`, in order.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Machine with the files of a release, whose model server is found by itself.
async fn with_release() -> (Machine, PathBuf) {
    let mut machine = Machine::new(Setup::default()).await;
    let release = machine.folder.path().join("release");
    std::fs::create_dir(&release).expect("a folder");
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
    for name in ["install.sh", "chimectl", "chime.service"] {
        std::fs::copy(deploy.join(name), release.join(name)).expect("copy a file of the release");
    }
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_chime"), release.join("chime")).expect("link the binary");
    let server = machine.settings.remove("OPENAI_BASE_URL").expect("the server");
    machine.settings.remove("MODEL");
    machine.settings.remove("OWNER_IDS");
    // Nothing listens on the first port.
    machine.set("LOCAL_SERVERS", &format!("http://127.0.0.1:9/v1 {server}"));
    let root = machine.folder.path().join("a root");
    (machine, root)
}

#[tokio::test]
async fn an_installation_finds_the_model_runs_and_is_upgraded_with_a_copy() {
    let (mut machine, root) = with_release().await;
    machine.model.always("On Friday.");
    let (done, shown) = run(&machine, &[]).await;
    assert!(done && shown.contains("ok telegram") && shown.contains("Using test-model."), "{shown}");
    let settings = root.join("etc/chime/chime.env");
    assert_eq!(std::fs::metadata(&settings).expect("the settings").permissions().mode() & 0o777, 0o600);
    let written = std::fs::read_to_string(&settings).expect("the settings");
    assert!(written.contains("\nMODEL=test-model\n") && written.contains(machine.telegram.token()), "{written}");
    assert_eq!(files(&root.join("usr/local/bin")), ["chime"]);

    let data = root.join("var/lib/chime");
    machine.set("DATABASE_PATH", data.join("chime.db").to_str().expect("text"));
    let mut daemon = machine.start();
    machine.telegram.called("getUpdates", 1).await;
    assert_eq!(daemon.stop().await, Some(0), "{}", daemon.log());
    machine.settings.remove("DATABASE_PATH");
    let (_, start) = shown.rsplit_once("start it: ").expect("a command that starts it");
    let check = start.lines().next().expect("the command").replace("chime' run", "chime' check");
    let mut sh = Command::new("sh");
    sh.args(["-c", &check]).env_clear();
    let output = tokio::task::spawn_blocking(move || sh.output()).await.expect("no panic").expect("run sh");
    let checked = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(checked.contains("ok telegram") && checked.contains("ok database"), "{check}: {checked}");
    machine.set("MODEL", "another");
    let (done, shown) = run(&machine, &[]).await;
    assert!(done && shown.contains("chime.db.before-v"), "{shown}");
    assert_eq!(std::fs::read_to_string(&settings).expect("the settings"), written, "an upgrade keeps the settings");
    let copies = files(&data).into_iter().filter(|name| name.starts_with("chime.db.before-v"));
    assert_eq!(copies.count(), 1, "{:?}", files(&data));

    let binary = machine.folder.path().join("release/chime");
    std::fs::remove_file(&binary).expect("take the release away");
    std::fs::write(&binary, "#!/bin/sh\nexit 69\n").expect("a release that fails its check");
    let (done, shown) = run(&machine, &[]).await;
    assert!(!done && shown.contains("is back"), "{shown}");
    let installed = std::fs::metadata(root.join("usr/local/bin/chime")).expect("the old program");
    assert!(installed.len() > 1_000_000, "it is the script");
    std::fs::remove_file(&binary).expect("take the broken release away");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_chime"), &binary).expect("link the binary");

    let (done, shown) = run(&machine, &["uninstall"]).await;
    assert!(done, "{shown}");
    assert_eq!(files(&root.join("usr/local/bin")), Vec::<String>::new());
    assert!(settings.exists() && data.join("chime.db").exists());
    let (done, shown) = run(&machine, &[]).await;
    assert!(done && shown.contains("ok database"), "it is installed again with its data: {shown}");
    assert!(run(&machine, &["uninstall", "--purge"]).await.0);
    assert!(!settings.exists() && !data.exists());
}

/// Packages name their files with or without `./` before them.
#[tokio::test]
async fn a_package_replaces_no_settings_and_is_removed() {
    let (mut machine, root) = with_release().await;
    let folder = machine.folder.path().to_owned();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("make the folder");
        std::fs::write(&path, text).expect("write the file");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("make it a program");
    };
    // Stands for dpkg-deb, which other Linux systems lack: here a package is the archive of its files.
    write("tools/dpkg-deb", "#!/bin/sh\ncat \"$2\"\n");
    write("files/usr/bin/chime", "#!/bin/sh\n[ \"$1\" != check ] || grep -q '^TELEGRAM_BOT_TOKEN=.' .env\n");
    write("files/etc/chime/chime.env", "TELEGRAM_BOT_TOKEN=\n");
    // The second folder is where newer versions of cargo-deb put the unit.
    let others = ["lib/systemd/system", "usr/lib/systemd/system", "usr/sbin", "usr/share/doc/chime"];
    for (other, name) in others.iter().zip(["chime.service", "chime.service", "chimectl", "README.md"]) {
        write(&format!("files/{other}/{name}"), "");
    }
    let path = std::env::var("PATH").unwrap_or_default();
    machine.set("PATH", &format!("{}:{path}", folder.join("tools").display()));
    for names in [["usr", "etc", "lib"], ["./usr", "./etc", "./lib"]] {
        let packed =
            Command::new("tar").args(["-cf", "chime.deb", "-C", "files"]).args(names).current_dir(&folder).status();
        assert!(packed.expect("run tar").success());
        let (done, shown) = run(&machine, &["chime.deb"]).await;
        assert!(done, "{names:?}: {shown}");
        assert_eq!(files(&root.join("usr/bin")), ["chime"]);
        assert!(run(&machine, &["uninstall", "--purge"]).await.0);
        for folder in others.iter().chain(&["usr/bin"]) {
            assert_eq!(files(&root.join(folder)), Vec::<String>::new(), "{folder}");
        }
    }
}

/// Program whose copy takes until the next second, and holds the time of its end.
const SLOW_COPY: &str = r#"#!/bin/sh
[ "$1" = backup ] || exit 0
began=$(date +%s)
while [ "$(date +%s)" = "$began" ]; do :; done
date -u +'%Y-%m-%d %H:%M:%S' >"$2"
"#;

/// Forgetting deletes the copies made since; what is forgotten during a copy is in it.
#[tokio::test]
async fn the_copy_of_an_upgrade_bears_the_time_of_its_end() {
    let (machine, root) = with_release().await;
    let program = machine.folder.path().join("release/chime");
    std::fs::remove_file(&program).expect("take the program away");
    std::fs::write(&program, SLOW_COPY).expect("write the program");
    assert!(run(&machine, &[]).await.0);
    let database = root.join("var/lib/chime/chime.db");
    std::fs::write(&database, "").expect("write the database");
    assert!(run(&machine, &[]).await.0);
    let copies = backups::list(&database, None).expect("list the copies");
    assert_eq!(copies.len(), 1, "{copies:?}");
    let ended = std::fs::read_to_string(&copies[0].path).expect("read the copy");
    let named = copies[0].made_at.to_utc().format("%Y-%m-%d %H:%M:%S").to_string();
    assert!(named.as_str() >= ended.trim(), "it ended at {ended}, and is named {named}");
}

#[tokio::test]
async fn nothing_is_installed_without_a_token_or_a_release() {
    let (mut machine, root) = with_release().await;
    let (done, shown) = run(&machine, &["/nowhere"]).await;
    assert!(!done && shown.contains("/nowhere"), "{shown}");
    machine.settings.remove("TELEGRAM_BOT_TOKEN");
    let (done, shown) = run(&machine, &[]).await;
    assert!(!done && shown.contains("TELEGRAM_BOT_TOKEN"), "{shown}");
    std::fs::remove_file(machine.folder.path().join("release/chimectl")).expect("lose a file of the release");
    let (done, shown) = run(&machine, &[]).await;
    assert!(!done && shown.contains("there is no chimectl"), "{shown}");
    assert_eq!(files(&root), Vec::<String>::new());
}
