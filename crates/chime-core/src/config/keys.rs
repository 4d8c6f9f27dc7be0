//! All environment variables of Chime with their defaults. Parsing, `.env.example`, the table in the documentation and
//! the error messages all use this list.

/// Environment variable that Chime reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    pub name: &'static str,
    /// Value used if the variable is unset or blank.
    pub default: Option<&'static str>,
    /// Description for the operator, in one sentence.
    pub what: &'static str,
    pub example: &'static str,
    /// `true` if the value must never be shown, not even in part.
    pub secret: bool,
    /// Wrong names that people use for this variable; an error message then gives the right one.
    pub mistaken: &'static [&'static str],
}

impl Key {
    const fn new(name: &'static str, example: &'static str, what: &'static str) -> Self {
        Self { name, default: None, what, example, secret: false, mistaken: &[] }
    }

    const fn default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    const fn secret(self) -> Self {
        Self { secret: true, ..self }
    }

    const fn mistaken(self, mistaken: &'static [&'static str]) -> Self {
        Self { mistaken, ..self }
    }
}

pub const TELEGRAM_BOT_TOKEN: Key = Key::new(
    "TELEGRAM_BOT_TOKEN",
    "123456789:AAExampleExampleExampleExampleExampl",
    "The bot's token from @BotFather. Required.",
)
.secret()
.mistaken(&["TELEGRAM_TOKEN", "TELEGRAM_BOT_KEY", "TELEGRAM_API_TOKEN", "BOT_TOKEN", "TELOXIDE_TOKEN"]);

pub const TELEGRAM_API_URL: Key = Key::new(
    "TELEGRAM_API_URL",
    "http://127.0.0.1:8081",
    "Where the Bot API is; requests go to `<url>/bot<token>/<method>`.",
)
.default("https://api.telegram.org")
.mistaken(&["TELEGRAM_URL", "TELEGRAM_BASE_URL"]);

pub const POLL_TIMEOUT: Key =
    Key::new("POLL_TIMEOUT", "25s", "How long one poll waits for news on Telegram's side, `1s` to `50s`.")
        .default("25s");

pub const SEND_TIMEOUT: Key =
    Key::new("SEND_TIMEOUT", "15s", "How long one request that sends something may take.").default("15s");

pub const OPENAI_API_KEY: Key = Key::new(
    "OPENAI_API_KEY",
    "sk-example",
    "The model server's key. Without it and without a base URL the offline responder answers.",
)
.secret()
.mistaken(&["OPENAI_APIKEY", "OPENAI_KEY", "OPENAI_TOKEN"]);

pub const OPENAI_BASE_URL: Key = Key::new(
    "OPENAI_BASE_URL",
    "http://127.0.0.1:11434/v1",
    "Any OpenAI-compatible server; the address usually ends in `/v1`.",
)
.default("https://api.openai.com/v1")
.mistaken(&["OPENAI_API_BASE", "OPENAI_BASEURL", "OPENAI_API_URL", "OPENAI_URL"]);

pub const MODEL: Key =
    Key::new("MODEL", "gpt-4.1-mini", "The model that answers. Required once a key or a base URL is set.")
        .mistaken(&["OPENAI_MODEL", "MODEL_NAME"]);

pub const MODELS: Key = Key::new(
    "MODELS",
    "gpt-4.1 2.00/8.00, gpt-4.1-nano 0.10/0.40",
    "Models of the same server among which admins choose for their chat with `/settings`, separated by commas, each with \
     the prices of a million tokens read and written, if known.",
);

pub const MODEL_FALLBACK: Key = Key::new(
    "MODEL_FALLBACK",
    "gpt-4.1-nano",
    "A second, cheaper model, asked when the first one fails or the day's tokens run low. `NAME@https://…/v1` names a model \
     of another server.",
);

pub const MODEL_FALLBACK_KEY: Key =
    Key::new("MODEL_FALLBACK_KEY", "sk-example", "The key of the server that `MODEL_FALLBACK` names.").secret();

pub const MODEL_SUMMARY_KEY: Key =
    Key::new("MODEL_SUMMARY_KEY", "sk-example", "The key of the server that `MODEL_SUMMARY` names.").secret();

pub const MODEL_TRANSCRIBE_KEY: Key =
    Key::new("MODEL_TRANSCRIBE_KEY", "sk-example", "The key of the server that `MODEL_TRANSCRIBE` names.").secret();

pub const EMBEDDING_KEY: Key =
    Key::new("EMBEDDING_KEY", "sk-example", "The key of the server that `EMBEDDING` names.").secret();

pub const MODEL_SUMMARY: Key = Key::new(
    "MODEL_SUMMARY",
    "gpt-4.1-nano",
    "The model that summarizes in the background; `MODEL` where it is not set. `NAME@https://…/v1` for another server.",
);

pub const MODEL_EXTRACT: Key = Key::new(
    "MODEL_EXTRACT",
    "gpt-4.1-nano",
    "The model of the same server that extracts facts as JSON; `MODEL` where it is not set.",
);

pub const MODEL_TRANSCRIBE: Key = Key::new(
    "MODEL_TRANSCRIBE",
    "gpt-4o-mini-transcribe",
    "The model that transcribes voice messages and video notes; without it they are `[voice 0:12]` to Chime. \
     `NAME@https://…/v1` for another server.",
)
.mistaken(&["MODEL_TRANSCRIPTION", "MODEL_WHISPER", "TRANSCRIBE_MODEL", "WHISPER_MODEL"]);

pub const MODEL_TIMEOUT: Key = Key::new(
    "MODEL_TIMEOUT",
    "60s",
    "How long the model server may stay silent in the middle of an answer. The first word may take five times as long, or \
     three times what the learned reading speed says.",
)
.default("60s");

pub const ANSWER_DEADLINE: Key = Key::new(
    "ANSWER_DEADLINE",
    "90s",
    "How long a failed call of the model may be tried again. A call that makes progress is not cut.",
)
.default("90s");

pub const TOOL_ROUNDS: Key = Key::new(
    "TOOL_ROUNDS",
    "0",
    "How often the model may look something up in the chat before it answers, `0` to `10`; `0` for models that misuse tools.",
)
.default("3");

pub const DATABASE_PATH: Key =
    Key::new("DATABASE_PATH", "/var/lib/chime/chime.db", "The SQLite file that holds everything.").default("chime.db");

pub const BACKUP_DIR: Key = Key::new(
    "BACKUP_DIR",
    "/var/backups/chime",
    "A folder for a checked copy of the database each day. Protect it like the database. Without it no copies are made.",
)
.mistaken(&["BACKUP_FOLDER", "BACKUP_PATH"]);

pub const BACKUP_KEEP: Key =
    Key::new("BACKUP_KEEP", "14", "How many daily copies stay; the oldest is deleted.").default("7");

pub const OWNER_IDS: Key =
    Key::new("OWNER_IDS", "123456789,987654321", "Telegram ids of the people who own this bot, separated by commas.")
        .mistaken(&["OWNER_ID"]);

pub const ALLOWED_CHATS: Key = Key::new(
    "ALLOWED_CHATS",
    "-1001234567890,-4001234567",
    "Ids of the chats in which the bot works, separated by commas; `*` lets anyone add it anywhere.",
)
.mistaken(&["ALLOWED_CHAT", "ALLOWED_CHAT_IDS"]);

pub const PRIVATE_CHATS: Key = Key::new(
    "PRIVATE_CHATS",
    "owners",
    "Who may write to the bot in private: `owners`, `members` of the chats in which it works, or `all`.",
)
.default("members");

pub const RETENTION_DAYS: Key =
    Key::new("RETENTION_DAYS", "90", "Messages older than this many days are deleted; `0` keeps them for good.")
        .default("365");

pub const OPERATOR_CONTACT: Key = Key::new(
    "OPERATOR_CONTACT",
    "@your_name",
    "How members reach whoever runs this bot: shown when it joins a chat, and by `/privacy`.",
);

pub const CONTEXT_TOKENS: Key = Key::new(
    "CONTEXT_TOKENS",
    "1600",
    "How many tokens of earlier messages an answer may rest on; `auto`: what the model server reads in about eight seconds, \
     600 to 6000.",
)
.default("auto");

pub const EMBEDDING: Key = Key::new(
    "EMBEDDING",
    "model2vec:/srv/models/potion-base-8M",
    "Embedding model used for the similarity of texts: `local`, the one inside the program; `off`; `model2vec:<folder>`, another \
     static model with a WordPiece tokenizer; or `openai:<model>`, a model of the server at `OPENAI_BASE_URL` or, as \
     `openai:<model>@https://…/v1`, of another one, to which every message then goes.",
)
.default("local");

pub const LOOKBACK_LIMIT: Key =
    Key::new("LOOKBACK_LIMIT", "20", "How many messages of a short talk without a long silence come in as they are.")
        .default("20");

pub const TIME_THRESHOLD: Key =
    Key::new("TIME_THRESHOLD", "60m", "A silence longer than this ends a short talk.").default("60m");

pub const TIME_ZONE: Key = Key::new(
    "TIME_ZONE",
    "Europe/Berlin",
    "The time zone in which times are shown, by its IANA name; that of the machine where it is not set.",
)
.mistaken(&["TIMEZONE"]);

pub const BACKLOG_MAX_AGE: Key =
    Key::new("BACKLOG_MAX_AGE", "15m", "After downtime, tags older than this are counted, not answered.")
        .default("15m");

pub const STREAMING: Key = Key::new(
    "STREAMING",
    "all",
    "Where answers are shown while they are written: `off`, `private` chats, or `all`. Admins choose for a chat with \
     `/settings`.",
)
.default("private");

pub const LINKS: Key = Key::new(
    "LINKS",
    "off",
    "When pages that members link to are fetched and read: `off`, `asked` (a question is about the link), or `on` (a \
     question is about messages with a link). Admins choose for a chat with `/settings`.",
)
.default("asked");

pub const WEB_SEARCH: Key = Key::new(
    "WEB_SEARCH",
    "https://searx.example.org",
    "Whether and by which service answers may search the web: `off`, the address of a SearXNG server, or `brave`, `tavily` \
     or `exa`. Admins switch it off for a chat with `/settings`.",
)
.default("off");

pub const WEB_SEARCH_KEY: Key =
    Key::new("WEB_SEARCH_KEY", "BSA-example", "The key for `brave`, `tavily` or `exa`.").secret();

pub const MEMORY: Key = Key::new(
    "MEMORY",
    "off",
    "Whether sessions are summarized in the background: `on` or `off`. Admins switch it off for a chat with `/memory off`.",
)
.default("on");

pub const SESSION_IDLE: Key =
    Key::new("SESSION_IDLE", "90m", "A silence longer than this ends a session of a group.").default("60m");

pub const SESSION_IDLE_PRIVATE: Key =
    Key::new("SESSION_IDLE_PRIVATE", "30m", "The same in private chats.").default("15m");

pub const SESSION_MAX_MESSAGES: Key =
    Key::new("SESSION_MAX_MESSAGES", "200", "A session ends at this many messages, however lively it is.")
        .default("500");

pub const MAX_CHAT_HISTORY: Key =
    Key::new("MAX_CHAT_HISTORY", "100", "Messages of one talk beyond which a summary stands for its oldest part.")
        .default("60");

pub const REDACT: Key = Key::new(
    "REDACT",
    "all",
    "E-mail addresses, phone and card numbers, IBANs, keys, tokens and wallets are taken out of what is sent to a server: \
     for summaries and embeddings (`summaries`), for answers too (`all`), or not at all (`off`).",
)
.default("summaries");

pub const RATE_LIMIT: Key = Key::new(
    "RATE_LIMIT",
    "20/10m",
    "How often the bot may be tagged in one conversation and by one member: so many times within a time. `off` is for \
     load runs: it also lifts the daily caps below that are not set.",
)
.default("60/300s");

pub const DAILY_TOKENS: Key = Key::new(
    "DAILY_TOKENS",
    "500k",
    "Tokens that all model calls of a day (UTC) may take together, or `off`. Near it answers get shorter, over it they stop.",
)
.default("12M");

pub const DAILY_TOKENS_PER_CHAT: Key =
    Key::new("DAILY_TOKENS_PER_CHAT", "off", "The same for one chat.").default("1200k");

pub const DAILY_TOKENS_PER_MEMBER: Key =
    Key::new("DAILY_TOKENS_PER_MEMBER", "off", "The same for one member.").default("300k");

pub const PRICE_IN: Key = Key::new(
    "PRICE_IN",
    "0.40",
    "What a million tokens read by the model cost, in any currency; with it the money spent is kept too.",
);

pub const PRICE_OUT: Key = Key::new("PRICE_OUT", "1.60", "What a million tokens written by the model cost.");

pub const LOG_FORMAT: Key =
    Key::new("LOG_FORMAT", "json", "`human`, `json`, or `auto`: human on a terminal, JSON otherwise.").default("auto");

pub const LOG_LEVEL: Key = Key::new(
    "LOG_LEVEL",
    "debug",
    "How much is logged: `error`, `warn`, `info`, `debug` or `trace`. No level shows what members write.",
)
.default("info");

pub const HTTP_ADDR: Key = Key::new(
    "HTTP_ADDR",
    "127.0.0.1:9464",
    "Where `GET /healthz` and `GET /metrics` are served, or `off`. Nobody is asked for a password there.",
)
.default("off");

pub const CONSOLE_ADDR: Key = Key::new(
    "CONSOLE_ADDR",
    "127.0.0.1:9465",
    "Where the owners' page is served, or `off`. Keep it on this machine, and reach it through SSH or a proxy with TLS.",
)
.default("off");

pub const CONSOLE_URL: Key = Key::new(
    "CONSOLE_URL",
    "https://chime.example.org",
    "How a browser reaches the owners' page through a proxy; `http://` and `CONSOLE_ADDR` where it is not set.",
);

pub const CONSOLE_TOKEN: Key = Key::new(
    "CONSOLE_TOKEN",
    "32-or-more-letters-and-digits-by-chance",
    "With it in the header `Authorization: Bearer`, a program reads chats as JSON at the console's address.",
)
.secret();

pub const PROMPTS_DIR: Key =
    Key::new("PROMPTS_DIR", "/etc/chime/prompts", "A folder whose templates replace the prompts inside the binary.");

/// All keys, in the order of the documentation.
pub const KEYS: &[Key] = &[
    TELEGRAM_BOT_TOKEN,
    OPENAI_API_KEY,
    OPENAI_BASE_URL,
    MODEL,
    MODELS,
    MODEL_FALLBACK,
    MODEL_FALLBACK_KEY,
    MODEL_SUMMARY,
    MODEL_SUMMARY_KEY,
    MODEL_EXTRACT,
    MODEL_TRANSCRIBE,
    MODEL_TRANSCRIBE_KEY,
    OWNER_IDS,
    ALLOWED_CHATS,
    PRIVATE_CHATS,
    RETENTION_DAYS,
    OPERATOR_CONTACT,
    DATABASE_PATH,
    BACKUP_DIR,
    BACKUP_KEEP,
    CONTEXT_TOKENS,
    EMBEDDING,
    EMBEDDING_KEY,
    LOOKBACK_LIMIT,
    TIME_THRESHOLD,
    TIME_ZONE,
    BACKLOG_MAX_AGE,
    STREAMING,
    LINKS,
    WEB_SEARCH,
    WEB_SEARCH_KEY,
    MEMORY,
    SESSION_IDLE,
    SESSION_IDLE_PRIVATE,
    SESSION_MAX_MESSAGES,
    MAX_CHAT_HISTORY,
    REDACT,
    RATE_LIMIT,
    DAILY_TOKENS,
    DAILY_TOKENS_PER_CHAT,
    DAILY_TOKENS_PER_MEMBER,
    PRICE_IN,
    PRICE_OUT,
    MODEL_TIMEOUT,
    ANSWER_DEADLINE,
    TOOL_ROUNDS,
    POLL_TIMEOUT,
    SEND_TIMEOUT,
    LOG_FORMAT,
    LOG_LEVEL,
    HTTP_ADDR,
    CONSOLE_ADDR,
    CONSOLE_URL,
    CONSOLE_TOKEN,
    PROMPTS_DIR,
    TELEGRAM_API_URL,
];
