//! Tests of the findings that an operator reads, for every kind of problem.

use std::path::PathBuf;

use expect_test::{Expect, expect};

use super::*;
use chime_core::{ChatId, ChatKind, JobId, UserId};

#[track_caller]
fn check(findings: impl IntoIterator<Item = CheckFinding>, expected: Expect) {
    let lines: Vec<String> = findings.into_iter().map(|finding| finding.to_string()).collect();
    expected.assert_eq(&lines.join("\n"));
}

fn bot(reads_all_group_messages: bool) -> BotIdentity {
    let usernames = vec!["chime_bot".to_owned()];
    BotIdentity { id: UserId(7), usernames, name: "Chime".to_owned(), reads_all_group_messages }
}

fn group(id: i64, title: Option<&str>) -> Chat {
    Chat { id: ChatId(id), kind: ChatKind::Supergroup, title: title.map(str::to_owned), username: None }
}

fn inspection() -> Inspection {
    Inspection { version: 5, known: 5, bytes: 120 << 20, is_writable: true, damage: None }
}

#[test]
fn a_database_is_sound_or_the_line_says_how_to_get_one() {
    let path = PathBuf::from("/var/lib/chime/chime.db");
    let marker = PathBuf::from("/var/lib/chime/chime.db.instance");
    let cases = [
        Ok(inspection()),
        Ok(Inspection { version: 3, ..inspection() }),
        Ok(Inspection { is_writable: false, ..inspection() }),
        Ok(Inspection { damage: Some("row 3 missing from index x".to_owned()), ..inspection() }),
        Err(StoreError::Absent { path: path.clone() }),
        Err(StoreError::Missing { path: path.clone(), marker: marker.clone() }),
        Err(StoreError::Emptied { path: path.clone(), marker }),
        Err(StoreError::Newer { path: path.clone(), found: 9, known: 5 }),
        Err(StoreError::Foreign { path: path.clone() }),
    ];
    check(
        cases.iter().map(|case| database(&path, case)),
        expect![[r#"
            ok database: /var/lib/chime/chime.db is sound, version 5, 120 MiB
            warn database: /var/lib/chime/chime.db is of version 3, this chime writes version 5; do: start chime run: it makes a copy and migrates
            FAIL database: /var/lib/chime/chime.db cannot be written; do: give the user that runs chime the right to write the file and its folder
            FAIL database: /var/lib/chime/chime.db is damaged: row 3 missing from index x; do: stop chime, move the file and its -wal away, then chime restore your newest backup
            warn database: there is none at /var/lib/chime/chime.db yet; do: start chime run, or set DATABASE_PATH
            FAIL database: /var/lib/chime/chime.db was here and is gone; do: chime restore a backup; or delete /var/lib/chime/chime.db.instance to start with an empty one
            FAIL database: /var/lib/chime/chime.db was here and is empty now; do: move it away, then chime restore a backup; or delete it and /var/lib/chime/chime.db.instance to start with an empty one
            FAIL database: /var/lib/chime/chime.db is of version 9, this chime knows versions up to 5; do: install the newer chime again
            FAIL database: /var/lib/chime/chime.db is not a Chime database; do: set DATABASE_PATH to another file"#]],
    );
}

#[test]
fn a_full_disk_fails_before_it_is_full() {
    let database = 2 << 30;
    let free = [Some(50 << 30), Some(1 << 30), Some(20 << 20), None];
    check(
        free.map(|free| disk(free, database)),
        expect![[r#"
            ok disk: 50.0 GiB are free
            warn disk: 1.0 GiB are free, a backup or a migration may need more; do: free space on the disk of the database, or move it to another one
            FAIL disk: only 20 MiB are free; do: free space on the disk of the database, or move it to another one
            warn disk: the free space cannot be told; do: create the folder of DATABASE_PATH"#]],
    );
}

#[test]
fn updates_that_could_not_be_stored_are_counted() {
    assert_eq!(updates(0), None);
    check(
        updates(3),
        expect![[
            r#"warn updates: 3 of the last days could not be stored; do: report it, with the lines "update.parked" of the log"#
        ]],
    );
}

#[test]
fn parked_jobs_are_named_with_their_last_error() {
    let parked: Vec<ParkedJob> = (1..=4)
        .map(|id| ParkedJob {
            id: JobId(id),
            kind: "answer".to_owned(),
            attempts: 8,
            last_error: Some("panicked".to_owned()),
        })
        .collect();
    check(
        [jobs(3, &[], 0), jobs(0, &parked[..1], 1), jobs(0, &parked, 12)],
        expect![[r#"
            ok jobs: 3 open, none parked
            warn jobs: 1 parked: #1 answer (attempt 8: panicked); do: chime retry JOB with its number, or chime retry all
            warn jobs: 12 parked: #1 answer (attempt 8: panicked), #2 answer (attempt 8: panicked), #3 answer (attempt 8: panicked), …; do: chime retry JOB with its number, or chime retry all"#]],
    );
}

#[test]
fn a_clock_may_be_off_by_seconds_and_not_by_minutes() {
    let secs = Duration::from_secs;
    check(
        [clock(secs(2), secs(0)), clock(secs(0), secs(45)), clock(secs(7200), secs(0))],
        expect![[r#"
            ok clock: agrees with Telegram's
            warn clock: 45s behind Telegram's; do: set the clock, for example with systemctl enable --now systemd-timesyncd
            FAIL clock: 2h ahead of Telegram's; do: set the clock, for example with systemctl enable --now systemd-timesyncd"#]],
    );
}

#[test]
fn telegram_and_a_webhook() {
    let down = || TelegramError::Failed { status: 500, description: "no\nluck".to_owned() };
    check(
        [
            telegram(&Ok(bot(true))),
            telegram(&Err(TelegramError::Unauthorized)),
            telegram(&Err(TelegramError::LoggedOut)),
            telegram(&Err(TelegramError::unsendable("Bad Request"))),
            telegram(&Err(down())),
            webhook(&Ok(None)),
            webhook(&Ok(Some("hooks.example.org".to_owned()))),
            webhook(&Err(down())),
        ],
        expect![[r#"
            ok telegram: the token belongs to @chime_bot
            FAIL telegram: Telegram refuses the bot token: it is wrong or was revoked; do: copy it from @BotFather (/token) and set TELEGRAM_BOT_TOKEN
            FAIL telegram: the bot is logged out at this Bot API server: it was moved to another one; do: set TELEGRAM_API_URL to the server at which it works, or wait ten minutes after the move
            FAIL telegram: the Bot API server answers: refused with 400: Bad Request; do: check TELEGRAM_API_URL
            FAIL telegram: Telegram cannot be reached: status 500: no luck; do: check the network, a proxy or firewall, CA certificates and TELEGRAM_API_URL
            ok webhook: none is set, so chime may poll
            FAIL webhook: updates go to a webhook at hooks.example.org instead of chime; do: open https://api.telegram.org/bot<TOKEN>/deleteWebhook once, with your token in it
            warn webhook: it cannot be told whether one is set: status 500: no luck; do: check again later"#]],
    );
}

#[test]
fn privacy_mode_matters_where_the_bot_is_no_admin() {
    let groups = [
        (group(-1001, Some("Friday table")), Some(MemberStatus::Member)),
        (group(-1002, None), Some(MemberStatus::Admin)),
        (group(-1003, Some("Old one")), Some(MemberStatus::Outside)),
    ];
    check(
        privacy(&bot(false), &groups),
        expect![[r#"
        FAIL privacy: privacy mode is on and the bot is no admin in "Friday table" (-1001): it sees no plain mentions there; do: send /setprivacy to @BotFather, choose Disable, then remove the bot from the group and add it again; or make it an admin there
        warn privacy: the bot is no longer in "Old one" (-1003); do: add it again if it should be there"#]],
    );
    check(
        privacy(&bot(true), &groups),
        expect![[r#"
            ok privacy: privacy mode is off: the bot reads its groups
            warn privacy: the bot is no longer in "Old one" (-1003); do: add it again if it should be there"#]],
    );
    check(
        privacy(&bot(false), &groups[1..2]),
        expect!["ok privacy: privacy mode is on, and the bot is an admin in all 1 groups"],
    );
    check(
        privacy(&bot(false), &[]),
        expect![
            "warn privacy: privacy mode is on: in groups the bot sees no plain mentions; do: send /setprivacy to @BotFather, choose Disable, then remove the bot from the group and add it again; or make it an admin there"
        ],
    );
}

#[test]
fn each_failure_of_a_model_has_its_own_remedy() {
    let refused = |check| LlmError::Refused { reason: "HTTP 4xx".to_owned(), check };
    let failures = [
        refused(Check::Key),
        refused(Check::Credit),
        refused(Check::Access),
        refused(Check::Model),
        LlmError::Refused { reason: "HTTP 404".to_owned(), check: Check::Model },
        refused(Check::Address),
        refused(Check::Request),
        LlmError::Throttled { retry_after: None },
        LlmError::Unavailable { status: 503, retry_after: None },
        LlmError::TimedOut,
        LlmError::Malformed { what: "it is not JSON" },
        LlmError::Empty,
        LlmError::Noise,
        LlmError::OnlyThoughts,
        LlmError::NoRoom,
        LlmError::BrokeOff,
    ];
    check(
        failures.iter().map(|error| model("gpt", &ModelSettings::of("MODEL", false), Err(error))),
        expect![[r#"
            FAIL model: gpt: the server refuses (HTTP 4xx); do: set OPENAI_API_KEY to a key of this server
            FAIL model: gpt: the server refuses (HTTP 4xx); do: check the account's credit and limits
            FAIL model: gpt: the server refuses (HTTP 4xx); do: check that OPENAI_API_KEY may use this model
            FAIL model: gpt: the server refuses (HTTP 4xx); do: set MODEL to a name that the server lists at OPENAI_BASE_URL/models
            FAIL model: gpt: the server refuses (HTTP 404); do: correct OPENAI_BASE_URL, which usually ends in /v1, or set MODEL to a name that the server lists at OPENAI_BASE_URL/models
            FAIL model: gpt: the server refuses (HTTP 4xx); do: check OPENAI_BASE_URL, which ends in /v1
            FAIL model: gpt: the server refuses (HTTP 4xx); do: check that this model can chat
            FAIL model: gpt: the model server asks us to slow down; do: check again in a minute, or raise the account's limits
            FAIL model: gpt: the model server is out of order (HTTP 503); do: look at the model server's own log
            FAIL model: gpt: the model took too long; do: use a faster model, or raise MODEL_TIMEOUT
            FAIL model: gpt: the model server's answer cannot be used: it is not JSON; do: correct OPENAI_BASE_URL: it usually ends in /v1
            warn model: gpt answers without text; do: ask it something in a chat to be sure
            FAIL model: gpt: the model writes only noise: one character or word again and again; do: update the model server and the driver of its GPU, or try another model
            FAIL model: gpt: the model server sent the whole answer as reasoning; do: start the model server without its reasoning parser, or let the model think
            warn model: gpt thinks longer than an answer may be; do: use a model that thinks less, or switch its thinking off at the server
            FAIL model: gpt: the model server's answer broke off; do: look at the model server's own log"#]],
    );
    check(
        [
            model("gpt", &ModelSettings::of("MODEL", false), Ok(Duration::from_millis(820))),
            no_model(),
            ability(Ability::Tools, &Ok(true)),
            ability(Ability::Tools, &Ok(false)),
            ability(Ability::Streaming, &Err(refused(Check::Request))),
        ],
        expect![[r#"
            ok model: gpt answers in 820ms
            warn model: none is set: answers are digests of the conversation; do: set OPENAI_BASE_URL or OPENAI_API_KEY, and MODEL
            ok tools: the model calls tools
            warn tools: the model does not call tools; do: nothing if answers please you: what is lost is that it looks further into the chat's past by itself; else try another MODEL, or start the server with tool support
            warn streaming: the server does not stream: the model server refused (HTTP 4xx): check that this model can chat; do: nothing: answers come in one piece"#]],
    );
}

#[test]
fn the_remedy_names_the_setting_of_the_model() {
    let refused = |check| LlmError::Refused { reason: "HTTP 4xx".to_owned(), check };
    let own = ModelSettings::of("MODEL_SUMMARY", true);
    let failures = [refused(Check::Model), refused(Check::Access), refused(Check::Address)];
    check(
        [model("foo", &ModelSettings::of("MODELS", false), Err(&failures[0]))]
            .into_iter()
            .chain(failures.iter().map(|error| model("foo", &own, Err(error)))),
        expect![[r#"
            FAIL model: foo: the server refuses (HTTP 4xx); do: set MODELS to a name that the server lists at OPENAI_BASE_URL/models
            FAIL model: foo: the server refuses (HTTP 4xx); do: set MODEL_SUMMARY to a name that the server lists at the address in MODEL_SUMMARY/models
            FAIL model: foo: the server refuses (HTTP 4xx); do: check that MODEL_SUMMARY_KEY may use this model
            FAIL model: foo: the server refuses (HTTP 4xx); do: check the address in MODEL_SUMMARY, which ends in /v1"#]],
    );
}

#[test]
fn a_bot_that_nobody_may_use_is_pointed_out() {
    let closed = AccessConfig { chats: AllowedChats::Only(Vec::new()), ..AccessConfig::open() };
    let owned = AccessConfig { owners: vec![UserId(1)], ..closed.clone() };
    let nobody = Admitted::default();
    check(
        [access(&closed, nobody), access(&closed, Admitted { owners: 1, chats: 2 }), access(&owned, nobody)],
        expect![[r#"
            warn access: there is no owner and no allowed chat, so nobody can use the bot; do: start `chime run` and send the bot the /claim line that it shows, or set OWNER_IDS to your Telegram id, or ALLOWED_CHATS to the ids of your groups
            ok access: owners: 1, allowed chats: 2
            ok access: owners: 1, allowed chats: 0"#]],
    );
}

#[test]
fn templates_that_lack_something_are_named() {
    let folder = PathBuf::from("/etc/chime/prompts");
    let gaps = ["template `role.md` is empty", "template `context.md` does not always show {{ lines }}"];
    let gaps = gaps.map(str::to_owned).to_vec();
    check(
        [Ok((2, Vec::new())), Ok((2, gaps)), Ok((0, Vec::new()))].iter().map(|found| prompts(&folder, found)),
        expect![[r#"
            ok prompts: /etc/chime/prompts replaces 2 of the templates
            warn prompts: /etc/chime/prompts: template `role.md` is empty, template `context.md` does not always show {{ lines }}; do: put back what the built-in template shows, or remove the file
            warn prompts: /etc/chime/prompts holds none of the templates, so the built-in ones are used; do: copy the templates that you want to change into it, or unset PROMPTS_DIR"#]],
    );
}
