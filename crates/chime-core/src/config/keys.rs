//! All environment variables of Chime with their defaults. Parsing, `.env.example`, the table in the documentation and
//! the error messages all use this list.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    pub name: &'static str,
    /// Value used if the variable is unset or blank.
    pub default: Option<&'static str>,
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

/// Defines a constant for each key, and the list of all in the same order.
macro_rules! keys {
    ($($name:ident($example:literal) $(.$set:ident($($value:expr)?))* => $what:literal;)+) => {
        $(pub const $name: Key = Key::new(stringify!($name), $example, $what)$(.$set($($value)?))*;)+

        /// All keys, in the order of the documentation.
        pub const KEYS: &[Key] = &[$($name),+];
    };
}

keys! {
    TELEGRAM_BOT_TOKEN("123456789:AAExampleExampleExampleExampleExampl")
        .secret()
        .mistaken(&["TELEGRAM_TOKEN", "TELEGRAM_BOT_KEY", "TELEGRAM_API_TOKEN", "BOT_TOKEN", "TELOXIDE_TOKEN"]) =>
        "The bot's token from @BotFather. Required.";
    OPENAI_API_KEY("sk-example").secret().mistaken(&["OPENAI_APIKEY", "OPENAI_KEY", "OPENAI_TOKEN"]) =>
        "The model server's key. Without it and without a base URL there is no model, and the bot shows messages instead \
         of answers.";
    OPENAI_BASE_URL("http://127.0.0.1:11434/v1")
        .default("https://api.openai.com/v1")
        .mistaken(&["OPENAI_API_BASE", "OPENAI_BASEURL", "OPENAI_API_URL", "OPENAI_URL"]) =>
        "Any OpenAI-compatible server; an address without a path gets `/v1`.";
    MODEL("gpt-4.1-mini").mistaken(&["OPENAI_MODEL", "MODEL_NAME"]) =>
        "The model that answers. Required once a key or a base URL is set.";
    MODELS("gpt-4.1 2.00/8.00, gpt-4.1-nano 0.10/0.40") =>
        "Models of the same server among which admins choose for their chat with `/settings`, separated by commas, \
         each with the prices of a million tokens read and written, if known.";
    MODEL_FALLBACK("gpt-4.1-nano") =>
        "A second, cheaper model, asked when the first one fails or the day's tokens run low. `NAME@https://…/v1` \
         names a model of another server.";
    MODEL_FALLBACK_KEY("sk-example").secret() =>
        "The key of the server that `MODEL_FALLBACK` names.";
    MODEL_SUMMARY("gpt-4.1-nano") =>
        "The model that summarizes in the background, by default `MODEL`. `NAME@https://…/v1` for another server.";
    MODEL_SUMMARY_KEY("sk-example").secret() =>
        "The key of the server that `MODEL_SUMMARY` names.";
    MODEL_EXTRACT("gpt-4.1-nano") =>
        "The model of the same server that names tags, topics and concepts, by default `MODEL`.";
    MODEL_TRANSCRIBE("gpt-4o-mini-transcribe")
        .mistaken(&["MODEL_TRANSCRIPTION", "MODEL_WHISPER", "TRANSCRIBE_MODEL", "WHISPER_MODEL"]) =>
        "The model that transcribes voice messages and video notes; without it they are `[voice 0:12]` to Chime. \
         `NAME@https://…/v1` for another server.";
    MODEL_TRANSCRIBE_KEY("sk-example").secret() =>
        "The key of the server that `MODEL_TRANSCRIBE` names.";
    OWNER_IDS("123456789,987654321").mistaken(&["OWNER_ID"]) =>
        "Telegram ids of the people who own this bot, separated by commas.";
    ALLOWED_CHATS("-1001234567890,-4001234567").mistaken(&["ALLOWED_CHAT", "ALLOWED_CHAT_IDS"]) =>
        "Ids of the chats in which the bot works, separated by commas; `*` lets anyone add it anywhere.";
    PRIVATE_CHATS("owners").default("members") =>
        "Who may write to the bot in private: `owners`, `members` of the chats in which it works, or `all`.";
    RETENTION_DAYS("90").default("365") =>
        "Messages older than this many days are deleted; `0` keeps them for good.";
    OPERATOR_CONTACT("@your_name") =>
        "How members reach the operator: shown when the bot joins a chat, and by `/privacy`.";
    DATABASE_PATH("/var/lib/chime/chime.db").default("chime.db") =>
        "The SQLite file that holds everything.";
    BACKUP_DIR("/var/backups/chime").mistaken(&["BACKUP_FOLDER", "BACKUP_PATH"]) =>
        "A folder for a checked copy of the database each day. Protect it like the database. Without it no copies are \
         made.";
    BACKUP_KEEP("14").default("7") =>
        "How many daily copies stay, for as many days, at most 30.";
    CONTEXT_TOKENS("1600").default("auto") =>
        "How many tokens of messages a prompt may hold, fewer if the model's context holds fewer; `auto`: as many as the \
         model server reads in about eight seconds, 600 to 6000.";
    EMBEDDING("model2vec:/srv/models/potion-base-8M").default("local") =>
        "Embedding model used for the similarity of texts: `local`, the one inside the program; `off`; \
         `model2vec:<folder>`, another static model with a WordPiece tokenizer; or `openai:<model>`, a model of the \
         server at `OPENAI_BASE_URL` or, as `openai:<model>@https://…/v1`, of another one, to which every message then \
         goes.";
    EMBEDDING_KEY("sk-example").secret() =>
        "The key of the server that `EMBEDDING` names.";
    LOOKBACK_LIMIT("20").default("20") =>
        "How many of the newest messages, up to a long silence, count as the talk just before a question, which is \
         one of the features by which messages are chosen.";
    TIME_THRESHOLD("60m").default("60m") =>
        "A silence longer than this ends the talk that `LOOKBACK_LIMIT` counts.";
    TIME_ZONE("Europe/Berlin").mistaken(&["TIMEZONE"]) =>
        "The time zone in which times are shown, by its IANA name; by default the time zone of the machine.";
    BACKLOG_MAX_AGE("15m").default("15m") =>
        "After downtime, tags older than this are counted, not answered.";
    STREAMING("all").default("private") =>
        "Where answers are shown while they are written: `off`, `private` chats, or `all`. Admins choose for a chat \
         with `/settings`.";
    LINKS("off").default("asked") =>
        "When pages that members link to are fetched and read: `off`, `asked` (a question is about the link), or `on` \
         (a question is about messages with a link). Admins choose for a chat with `/settings`.";
    WEB_SEARCH("https://searx.example.org").default("off") =>
        "Whether and by which service answers may search the web: `off`, the address of a SearXNG server, or `brave`, \
         `tavily` or `exa`. Admins switch it off for a chat with `/settings`.";
    WEB_SEARCH_KEY("BSA-example").secret() =>
        "The key for `brave`, `tavily` or `exa`.";
    MEMORY("off").default("on") =>
        "Whether sessions are summarized in the background: `on` or `off`. Admins switch it off for a chat with \
         `/memory off`.";
    SESSION_IDLE("90m").default("60m") =>
        "A silence longer than this ends a session of a group that has three or more messages of members.";
    SESSION_IDLE_PRIVATE("30m").default("15m") =>
        "The same in private chats.";
    SESSION_MAX_MESSAGES("200").default("500") =>
        "A session ends at this many messages, even without a silence.";
    MAX_CHAT_HISTORY("100").default("60") =>
        "If a thread has more messages than this, a summary replaces its oldest part.";
    REDACT("all").default("summaries") =>
        "E-mail addresses, phone and card numbers, IBANs, keys, tokens and wallets are taken out of what is sent to a \
         server: for summaries and embeddings (`summaries`), for answers too (`all`), or not at all (`off`).";
    RATE_LIMIT("20/10m").default("60/300s") =>
        "How often the bot may be tagged in one conversation and by one member: a number of times within a period. \
         Besides, the fifth tag of a member within eight seconds is one too many. `off` is for load runs: it also lifts \
         the daily caps below that are not set.";
    DAILY_TOKENS("500k").default("12M") =>
        "Tokens that all model calls of a day (UTC) may take together, or `off`. Near it answers get shorter, over it \
         they stop.";
    DAILY_TOKENS_PER_CHAT("off").default("1200k") =>
        "The same for one chat.";
    DAILY_TOKENS_PER_MEMBER("off").default("300k") =>
        "The same for one member.";
    PRICE_IN("0.40") =>
        "What a million tokens read by the model cost, in any currency. If it is set, costs are recorded too.";
    PRICE_OUT("1.60") =>
        "What a million tokens written by the model cost.";
    MODEL_TIMEOUT("60s").default("60s") =>
        "How long the model server may stay silent in the middle of an answer. The first word may take five times as \
         long, or three times what the learned reading speed says.";
    ANSWER_DEADLINE("90s").default("90s") =>
        "How long a failed call of the model may be tried again. A call that makes progress is not cut.";
    TOOL_ROUNDS("0").default("3") =>
        "How often the model may look something up in the chat before it answers, `0` to `10`; `0` for models that \
         misuse tools.";
    POLL_TIMEOUT("25s").default("25s") =>
        "How long Telegram may hold a poll that has no updates, `1s` to `50s`.";
    SEND_TIMEOUT("15s").default("15s") =>
        "How long one request that sends something may take.";
    LOG_FORMAT("json").default("auto") =>
        "`human`, `json`, or `auto`: human on a terminal, JSON otherwise.";
    LOG_LEVEL("debug").default("info") =>
        "How much is logged: `error`, `warn`, `info`, `debug` or `trace`. No level shows what members write.";
    HTTP_ADDR("127.0.0.1:9464").default("off") =>
        "Where `GET /healthz` and `GET /metrics` are served, or `off`. There is no password.";
    CONSOLE_ADDR("127.0.0.1:9465").default("off") =>
        "Where the owners' page is served, or `off`. Keep it on this machine, and reach it through SSH or a proxy with \
         TLS.";
    CONSOLE_URL("https://chime.example.org") =>
        "How a browser reaches the owners' page through a proxy; by default `http://` and `CONSOLE_ADDR`.";
    CONSOLE_TOKEN("32-or-more-letters-and-digits-by-chance").secret() =>
        "With it in the header `Authorization: Bearer`, a program reads chats as JSON at the console's address.";
    PROMPTS_DIR("/etc/chime/prompts") =>
        "A folder whose templates replace the prompts inside the binary.";
    TELEGRAM_API_URL("http://127.0.0.1:8081")
        .default("https://api.telegram.org").mistaken(&["TELEGRAM_URL", "TELEGRAM_BASE_URL"]) =>
        "Where the Bot API is; requests go to `<url>/bot<token>/<method>`.";
}
