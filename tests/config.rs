//! Tests of the configuration: settings, errors and generated documents.
//!
//! `.env.example` and the table in `docs/configuration.md` are generated from the list of keys. After changing a key
//! run `UPDATE_EXPECT=1 cargo test --test config`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use chime_core::config::{AllowedChats, Config, ConfigError, DemoPlace, Environment, KEYS, Key, Settings};
use expect_test::{Expect, expect, expect_file};
use proptest::prelude::*;

const TOKEN: &str = "TELEGRAM_BOT_TOKEN=123456:AAE-secret_part";

/// Parses settings written as in `.env`, one per line.
fn variables(lines: &str) -> BTreeMap<String, String> {
    lines
        .lines()
        .filter_map(|line| line.trim().split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn load(lines: &str) -> Result<Config, ConfigError> {
    let variables = variables(lines);
    Config::load(&Settings::new(|name| variables.get(name).cloned()))
}

fn outcome(config: Result<Config, ConfigError>) -> String {
    match config {
        Ok(config) => format!("{:#?}\n", Config { in_force: Vec::new(), ..config }),
        Err(error) => format!("{error}\n"),
    }
}

#[track_caller]
fn check(lines: &str, expected: Expect) {
    expected.assert_eq(&outcome(load(lines)));
}

#[track_caller]
fn check_demo(lines: &str, expected: Expect) {
    let variables = variables(lines);
    let place = DemoPlace {
        api_url: "http://127.0.0.1:4000".to_owned(),
        token: "7:demo".into(),
        database: "/tmp/demo.db".into(),
    };
    let demo = Config::for_demo(&Settings::new(|name| variables.get(name).cloned()), &place);
    let actual = demo.map(|demo| {
        let Config { telegram, llm, store, access, context, .. } = demo;
        format!(
            "{} {} {:?} {:?}\n{:?} {:?} {:?}",
            telegram.api_url, llm.base_url, llm.model, llm.timeout, store.path, access.chats, context.lookback_limit,
        )
    });
    expected.assert_eq(&actual.unwrap_or_else(|error| error.to_string()));
}

#[test]
fn a_token_alone_is_enough_and_the_defaults_are_closed_and_offline() {
    check(
        TOKEN,
        expect![[r#"
            Config {
                telegram: TelegramConfig {
                    token: SecretBox<str>([REDACTED]),
                    api_url: "https://api.telegram.org",
                    poll_timeout: 25s,
                    send_timeout: 15s,
                },
                llm: LlmConfig {
                    api_key: None,
                    base_url: "https://api.openai.com/v1",
                    model: None,
                    models: [],
                    model_fallback: None,
                    model_summary: None,
                    model_extract: None,
                    model_transcribe: None,
                    timeout: 60s,
                    deadline: 90s,
                    tool_rounds: 3,
                    captures_concepts: true,
                },
                store: StoreConfig {
                    path: "chime.db",
                    backups: None,
                },
                access: AccessConfig {
                    owners: [],
                    chats: Only(
                        [],
                    ),
                    private_chats: Members,
                },
                privacy: PrivacyConfig {
                    retention: Some(
                        31536000s,
                    ),
                    operator_contact: None,
                    announces: true,
                },
                context: ContextConfig {
                    tokens: Auto,
                    lookback_limit: 20,
                    time_threshold: 3600s,
                },
                time: TimeConfig {
                    zone: Zone(
                        Etc/UTC,
                    ),
                },
                embedding: Local,
                ingest: IngestConfig {
                    backlog_max_age: 900s,
                },
                answer: AnswerConfig {
                    streaming: Private,
                    links: Asked,
                    web: None,
                    test_servers: {},
                    test_program: None,
                },
                limits: LimitsConfig {
                    rate: Some(
                        RateLimit {
                            triggers: 60,
                            per: 300s,
                        },
                    ),
                    daily_tokens: DailyTokens {
                        total: Some(
                            12000000,
                        ),
                        per_chat: Some(
                            1200000,
                        ),
                        per_member: Some(
                            300000,
                        ),
                    },
                    prices: None,
                },
                memory: MemoryConfig {
                    is_on: true,
                    idle: SessionIdle {
                        in_groups: 3600s,
                        in_private: 900s,
                    },
                    max_messages: 500,
                    max_history: 60,
                    redaction: Summaries,
                },
                log: LogConfig {
                    format: Auto,
                    level: LevelFilter::INFO,
                },
                http: HttpConfig {
                    address: None,
                },
                console: ConsoleConfig {
                    address: None,
                    url: None,
                    token: None,
                },
                prompts: PromptConfig {
                    dir: None,
                },
                warnings: [],
                in_force: [],
            }
        "#]],
    );
}

#[test]
fn everything_that_is_wrong_is_told_at_once_and_secrets_stay_hidden() {
    check(
        "
        TELEGRAM_BOT_TOKEN=my-very-secret-token
        TELEGRAM_API_URL=https://user:hunter2@proxy?x
        OPENAI_API_KEY=sk-very secret
        POLL_TIMEOUT=90
        ANSWER_DEADLINE=2 weeks
        OWNER_IDS=@ann
        ALLOWED_CHATS=-100123,*
        PRIVATE_CHATS=nobody
        LOOKBACK_LIMIT=0
        OPENAI_BASE_URL=api.openai.com
        LOG_FORMAT=
        ",
        expect![[r#"
            the configuration has 11 problems
              TELEGRAM_BOT_TOKEN: found 20 characters (hidden)
                allowed: the token from @BotFather: digits, a colon, letters and digits
                example: TELEGRAM_BOT_TOKEN=123456789:AAExampleExampleExampleExampleExampl
              TELEGRAM_API_URL: found 28 characters (hidden)
                allowed: an address that begins with http:// or https://, without ? and #
                example: TELEGRAM_API_URL=http://127.0.0.1:8081
              POLL_TIMEOUT: found `90`
                allowed: a time from 1s to 50s, written with its unit like 250ms, 15s, 15m, 1h30m or 28d
                example: POLL_TIMEOUT=25s
              OPENAI_API_KEY: found 14 characters (hidden)
                allowed: the key that the model server gave you, without spaces
                example: OPENAI_API_KEY=sk-example
              OPENAI_BASE_URL: found `api.openai.com`
                allowed: an address that begins with http:// or https://, without ? and #, and without a method such as /chat/completions, which Chime adds by itself
                example: OPENAI_BASE_URL=http://127.0.0.1:11434/v1
              MODEL: not set
                allowed: the name of a model, as its server knows it
                example: MODEL=gpt-4.1-mini
              ANSWER_DEADLINE: found `2 weeks`
                allowed: a time from 100ms to 1h, written with its unit like 250ms, 15s, 15m, 1h30m or 28d
                example: ANSWER_DEADLINE=90s
              OWNER_IDS: found `@ann`
                allowed: ids of people (positive numbers), separated by commas
                example: OWNER_IDS=123456789,987654321
              ALLOWED_CHATS: found `-100123,*`
                allowed: ids of chats separated by commas, or * alone
                example: ALLOWED_CHATS=-1001234567890,-4001234567
              PRIVATE_CHATS: found `nobody`
                allowed: one of owners, members, all
                example: PRIVATE_CHATS=owners
              LOOKBACK_LIMIT: found `0`
                allowed: a whole number from 1 to 1000
                example: LOOKBACK_LIMIT=20
        "#]],
    );
}

#[test]
fn a_name_that_is_nearly_right_is_pointed_out_when_the_right_one_is_missing() {
    check(
        "
        TELEGRAM_TOKEN=123456:AAE-secret_part
        OPENAI_APIKEY=sk-secret
        OPENAI_BASE_URL=http://127.0.0.1:8080/v1
        OPENAI_MODEL=gpt-4.1
        ",
        expect![[r#"
            the configuration has 3 problems
              TELEGRAM_BOT_TOKEN: not set
                allowed: the token from @BotFather: digits, a colon, letters and digits
                example: TELEGRAM_BOT_TOKEN=123456789:AAExampleExampleExampleExampleExampl
                hint:    TELEGRAM_TOKEN is set; Chime reads TELEGRAM_BOT_TOKEN
              OPENAI_API_KEY: not set
                allowed: the key that the model server gave you, without spaces
                example: OPENAI_API_KEY=sk-example
                hint:    OPENAI_APIKEY is set; Chime reads OPENAI_API_KEY
              MODEL: not set
                allowed: the name of a model, as its server knows it
                example: MODEL=gpt-4.1-mini
                hint:    OPENAI_MODEL is set; Chime reads MODEL
        "#]],
    );
}

#[test]
fn a_wrong_name_beside_the_right_one_is_somebody_elses() {
    let config = load(&format!("{TOKEN}\nTELEGRAM_TOKEN=7:x\nOPENAI_MODEL=gpt-4.1\nPATH=/bin")).expect("a valid one");
    assert!(config.llm.is_offline() && config.warnings.is_empty(), "{config:?}");
}

#[test]
fn a_star_opens_every_chat_and_a_model_without_a_server_does_nothing_both_with_a_warning() {
    let config = load(&format!("{TOKEN}\nALLOWED_CHATS= * \nMODEL=gpt-4.1")).expect("a valid configuration");
    assert_eq!(config.access.chats, AllowedChats::All);
    assert_eq!(config.llm.model, None);
    let warnings: Vec<String> = config.warnings.iter().map(ToString::to_string).collect();
    expect![[r#"
        MODEL: has no effect without OPENAI_API_KEY or OPENAI_BASE_URL; answers are offline digests
        ALLOWED_CHATS: is *: anybody can add the bot to a chat and use up your model budget
        OPERATOR_CONTACT: is not set: members of chats to which strangers add the bot cannot reach you"#]]
    .assert_eq(&warnings.join("\n"));
}

#[test]
fn recordings_that_are_transcribed_are_not_redacted_and_without_a_server_there_are_none_both_with_a_warning() {
    let warnings = |lines: &str| {
        let config = load(&format!("{TOKEN}\nMODEL_TRANSCRIBE=whisper-1\n{lines}")).expect("a valid configuration");
        config.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    expect!["MODEL_TRANSCRIBE: has no effect without OPENAI_API_KEY or OPENAI_BASE_URL; nothing is transcribed"]
        .assert_eq(&warnings("REDACT=all"));
    expect!["MODEL_TRANSCRIBE: sends recordings as they are, although REDACT=all: nothing can be taken out of one"]
        .assert_eq(&warnings("OPENAI_API_KEY=sk-x\nMODEL=m\nREDACT=all"));
    expect![""].assert_eq(&warnings("OPENAI_API_KEY=sk-x\nMODEL=m"));
}

#[test]
fn without_a_rate_limit_only_the_daily_caps_that_are_set_remain_with_a_warning() {
    let config = load(&format!("{TOKEN}\nRATE_LIMIT=off\nDAILY_TOKENS_PER_CHAT=70k")).expect("a valid configuration");
    let caps = config.limits.daily_tokens;
    assert_eq!((config.limits.rate, caps.total, caps.per_chat, caps.per_member), (None, None, Some(70_000), None));
    assert_eq!(config.warnings.len(), 1);
}

#[test]
fn the_demo_takes_only_the_model_from_the_operator() {
    check_demo(
        "
        TELEGRAM_BOT_TOKEN=nonsense
        LOOKBACK_LIMIT=nonsense
        OWNER_IDS=nonsense
        OPENAI_BASE_URL=http://127.0.0.1:8080/v1/
        MODEL=small
        MODEL_TIMEOUT=5s
        ",
        expect![[r#"
            http://127.0.0.1:4000 http://127.0.0.1:8080/v1 Some("small") 5s
            "/tmp/demo.db" All 20"#]],
    );
    check_demo(
        "OPENAI_API_KEY=sk-1",
        expect![[r#"
        the configuration has a problem
          MODEL: not set
            allowed: the name of a model, as its server knows it
            example: MODEL=gpt-4.1-mini"#]],
    );
}

#[test]
fn a_dot_env_file_is_read_and_its_bad_lines_are_problems_like_any_other() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let reading = || {
        let environment = Environment::read(folder.path());
        Config::load(&environment.settings())
    };
    let write = |bytes: &[u8]| std::fs::write(folder.path().join(".env"), bytes).expect("write .env");

    assert!(reading().is_err(), "without a file there is no token");
    write(format!("{TOKEN}\nLOOKBACK_LIMIT=7").as_bytes());
    assert_eq!(reading().expect("a valid configuration").context.lookback_limit, 7);
    write(format!("{TOKEN}\nOPENAI_API_KEY sk-secret").as_bytes());
    expect![[r#"
        the configuration has a problem
          .env line 2: found text that is not NAME=value (hidden)
            allowed: NAME=value, one a line; a value that begins with a quote also ends with it, and has \\ for \ in double quotes
            example: OWNER_IDS=123456789
    "#]]
    .assert_eq(&outcome(reading()));
    write(b"A=\xff");
    let error = reading().expect_err("bytes that are no text");
    assert_eq!(error.problems.first().map(|problem| problem.name.as_str()), Some(".env"));
}

#[test]
fn the_list_of_keys_is_what_the_code_reads() {
    let asked = RefCell::new(Vec::new());
    let variables = variables(&format!("{TOKEN}\nOPENAI_API_KEY=sk-1\nMODEL=m"));
    let lookup = |name: &str| {
        asked.borrow_mut().push(name.to_owned());
        variables.get(name).cloned()
    };
    Config::load(&Settings::new(lookup)).expect("a valid configuration");
    let mistaken: Vec<&str> = KEYS.iter().flat_map(|key| key.mistaken).copied().collect();
    // The system sets the time zone under its own name.
    let is_ours = |name: &String| !mistaken.contains(&name.as_str()) && name != "TZ";
    let mut read: Vec<String> = asked.take().into_iter().filter(is_ours).collect();
    let mut listed: Vec<String> = KEYS.iter().map(|key| key.name.to_owned()).collect();
    read.sort();
    read.dedup();
    listed.sort();
    assert_eq!(read, listed);
}

#[test]
fn every_example_is_accepted() {
    let examples: BTreeMap<&str, &str> = KEYS.iter().map(|key| (key.name, key.example)).collect();
    let config = Config::load(&Settings::new(|name| examples.get(name).map(|value| (*value).to_owned())));
    assert!(config.is_ok(), "{}", outcome(config));
}

#[test]
fn the_example_file_lists_every_key_with_its_default() {
    let entry = |key: &Key| match key.default {
        _ if key.name == "TELEGRAM_BOT_TOKEN" => {
            format!("# {}\n# For example {}\n{}=\n", key.what, key.example, key.name)
        }
        Some(default) => format!("# {}\n# {}={default}\n", key.what, key.name),
        None => format!("# {}\n# {}={}\n", key.what, key.name, key.example),
    };
    let entries: Vec<String> = KEYS.iter().map(entry).collect();
    let head = "# Copy to .env and fill in. Where there is a default it is shown, else an example.\n\n";
    expect_file!["../.env.example"].assert_eq(&format!("{head}{}", entries.join("\n")));
}

#[test]
fn the_documentation_lists_every_key_with_its_default() {
    let rows: Vec<String> = KEYS
        .iter()
        .map(|key| {
            let default = key.default.map_or_else(|| "–".to_owned(), |default| format!("`{default}`"));
            format!("| `{}` | {default} | {} |\n", key.name, key.what)
        })
        .collect();
    let table = format!("| variable | default | what it is |\n| --- | --- | --- |\n{}", rows.concat());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    let page = std::fs::read_to_string(path).expect("read the page of settings");
    let (before, rest) = page.split_once("<!-- config:begin -->\n").expect("the marker before the table");
    let (_, after) = rest.split_once("<!-- config:end -->").expect("the marker after the table");
    expect_file!["../docs/configuration.md"]
        .assert_eq(&format!("{before}<!-- config:begin -->\n{table}<!-- config:end -->{after}"));
}

proptest! {
    #[test]
    fn any_value_is_accepted_or_named_and_a_secret_is_never_shown(
        index in 0..KEYS.len(),
        value in prop_oneof!["\\PC{0,40}", "[-0-9a-z:/*,. ]{1,30}"],
    ) {
        let key = KEYS[index];
        let mut variables = variables(&format!("{TOKEN}\nMODEL=m"));
        variables.insert(key.name.to_owned(), value.clone());
        if let Err(error) = Config::load(&Settings::new(|name| variables.get(name).cloned())) {
            let names: Vec<&str> = error.problems.iter().map(|problem| problem.name.as_str()).collect();
            prop_assert!(names.contains(&key.name), "{:?}", names);
            let shown = error.to_string();
            prop_assert!(!key.secret || value.trim().len() < 8 || !shown.contains(value.trim()), "{}", shown);
        }
    }
}

#[test]
fn every_setting_of_a_chat_is_documented() {
    let page = include_str!("../docs/settings.md");
    for entry in chime_core::chat_settings::CHAT_SETTINGS {
        assert!(page.contains(&format!("\n| `{}` |", entry.key)), "docs/settings.md lacks {}", entry.key);
    }
}

#[test]
fn a_model_may_have_a_server_and_a_key_of_its_own_which_are_never_shown() {
    let server = "OPENAI_API_KEY=sk-main\nMODEL=gpt-4.1\n";
    let own = "MODEL_SUMMARY=qwen3:8b@https://summaries.example.org/v1/\nMODEL_SUMMARY_KEY=sk-of-summaries\n\
               MODEL_FALLBACK=gpt-4.1-nano\nEMBEDDING=openai:bge@http://vectors:8080/v1\nMODELS=gpt-4.1 2/8, other/model:free";
    let config = load(&format!("{TOKEN}\n{server}{own}")).expect("a valid configuration");
    let summary = config.llm.model_summary.clone().expect("a model");
    let own_server = summary.server.expect("a server");
    assert_eq!((summary.name.as_str(), own_server.base_url.as_str()), ("qwen3:8b", "https://summaries.example.org/v1"));
    let shown = format!("{config:?}");
    assert!(
        own_server.api_key.is_some() && !shown.contains("sk-main") && !shown.contains("sk-of-summaries"),
        "{shown}"
    );
    assert_eq!(
        config.llm.hosts(config.embedding.server_model()),
        ["api.openai.com", "summaries.example.org", "vectors"]
    );
    let models: Vec<_> = config.llm.models.iter().map(|model| (model.name.as_str(), model.prices.is_some())).collect();
    assert_eq!(models, [("gpt-4.1", true), ("other/model:free", false)]);
    for wrong in [
        "MODEL_SUMMARY=@https://example.org/v1",
        "MODEL_SUMMARY=m@ftp://example.org/v1",
        "MODEL_SUMMARY=m@https://e.org/v1/models",
        "MODELS=m 1",
        "MODELS=m 1/x",
    ] {
        let error = load(&format!("{TOKEN}\n{server}{wrong}")).expect_err("refused");
        assert_eq!(error.problems.len(), 1, "{wrong}");
    }
    let idle =
        load(&format!("{TOKEN}\n{server}MODEL_SUMMARY=m\nMODEL_SUMMARY_KEY=sk-x")).expect("a valid configuration");
    assert_eq!(idle.warnings.len(), 1);
}

#[test]
fn a_page_that_other_machines_reach_without_tls_is_warned_about() {
    let warns = |lines: &str| {
        let config = load(&format!("{TOKEN}\n{lines}")).expect("valid settings");
        config.warnings.iter().any(|warning| warning.name == "CONSOLE_ADDR")
    };
    assert!(warns("CONSOLE_ADDR=0.0.0.0:9465"));
    assert!(warns("CONSOLE_ADDR=0.0.0.0:9465\nCONSOLE_URL=http://chime.example.org"));
    assert!(!warns("CONSOLE_ADDR=0.0.0.0:9465\nCONSOLE_URL=https://chime.example.org"));
    assert!(!warns("CONSOLE_ADDR=[::1]:9465"));
}
