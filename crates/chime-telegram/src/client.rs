//! HTTP client of the Bot API.
//!
//! Uses teloxide's payload types but not its client, which sleeps inside a request after a 5xx and ends long polls
//! early.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap};
use reqwest::multipart::{Form, Part};
use reqwest::redirect::Policy;
use secrecy::ExposeSecret;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use teloxide::payloads::{
    AnswerCallbackQuery, GetChatAdministrators, GetChatMember, GetFile, GetMe, GetMyShortDescription, GetWebhookInfo,
    LeaveChat, SetMyShortDescription,
};
use teloxide::requests::Payload;
use teloxide::types as wire;

use crate::dto::{self, Items};
use crate::error::{LostReply, TelegramError, classify};
use crate::member::MemberStatus;
use crate::request;
use crate::update::{RawUpdate, parse_batch};
use chime_core::config::TelegramConfig;
use chime_core::json_fault as fault;
use chime_core::texts::Menu;
use chime_core::{
    BotIdentity, Button, ChatId, FormattedText, ForumTopicId, MessageId, Outgoing, Poll, ReplyTarget, Timestamp,
    UserId, is_loopback,
};

/// Time added to `poll_timeout` before our side ends a poll that the server has not answered.
const POLL_GRACE: Duration = Duration::from_secs(10);

/// Time limit for a large file over a slow connection.
const FILE_TIMEOUT: Duration = Duration::from_secs(120);
/// Largest response in bytes: 100 updates of at most 512 KiB each, and some more.
const MOST_BYTES: usize = 100 * 512 * 1024 + 64 * 1024;
/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Client of the Bot API. Cheap to clone: clones share connections.
#[derive(Debug, Clone)]
pub struct Telegram {
    shared: Arc<ClientState>,
}

#[derive(Debug)]
struct ClientState {
    options: TelegramConfig,
    /// Replaced after a failed poll, so that a dead connection is not reused.
    polling: Mutex<reqwest::Client>,
    /// Separate from `polling`, so that a hung poll never delays a reply.
    sending: reqwest::Client,
    server_date: Mutex<Option<Timestamp>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    pub id: MessageId,
    pub sent_at: Timestamp,
}

impl Telegram {
    /// Builds the HTTP clients without opening a connection.
    ///
    /// # Errors
    /// [`TelegramError::NotSent`] when no HTTP client can be built, for example without CA certificates.
    pub fn new(options: TelegramConfig) -> Result<Self, TelegramError> {
        let polling = Mutex::new(http_client(&options.api_url)?);
        let sending = http_client(&options.api_url)?;
        Ok(Self { shared: Arc::new(ClientState { options, polling, sending, server_date: Mutex::default() }) })
    }

    /// Returns the identity of the bot.
    ///
    /// # Errors
    /// Connection errors and the errors of [`classify`], here and in all methods.
    pub async fn get_me(&self) -> Result<BotIdentity, TelegramError> {
        let me: dto::User = self.request(&GetMe::new()).await?;
        let name = me.display_name().unwrap_or_default();
        let mut usernames: Vec<String> = me.username.into_iter().collect();
        for username in me.active_usernames.map_or_else(Vec::new, |Items(active)| active) {
            if !usernames.contains(&username) {
                usernames.push(username);
            }
        }
        Ok(BotIdentity {
            id: UserId(me.id.ok_or_else(|| missing("id"))?),
            usernames,
            name,
            reads_all_group_messages: me.can_read_all_group_messages == Some(true),
        })
    }

    /// Waits for updates from `offset` on. Confirms all earlier ones, which Telegram then never sends again.
    ///
    /// # Errors
    /// As [`get_me`](Self::get_me). After an error nothing is confirmed.
    pub async fn get_updates(&self, offset: Option<i64>) -> Result<Vec<RawUpdate>, TelegramError> {
        let options = &self.shared.options;
        let payload = request::get_updates(offset, options.poll_timeout)?;
        let client = self.shared.polling.lock().clone();
        let limit = options.poll_timeout.saturating_add(POLL_GRACE);
        let outcome = self.call(&client, &payload, limit).await;
        match &outcome {
            Ok(_) | Err(TelegramError::Throttled { .. } | TelegramError::Conflict { .. }) => {}
            Err(_) => self.forget_poll_connection(),
        }
        parse_batch(outcome?.get()).map_err(|fault| TelegramError::Malformed { fault })
    }

    /// Returns the server's date from its last response, in whole seconds, or `None` before the first response.
    pub fn server_date(&self) -> Option<Timestamp> {
        *self.shared.server_date.lock()
    }

    /// Returns the host of the webhook that receives the updates, if one is set. Omits the path, which may contain a
    /// secret.
    pub async fn webhook_host(&self) -> Result<Option<String>, TelegramError> {
        let webhook: dto::Webhook = self.request(&GetWebhookInfo::new()).await?;
        let url = webhook.url.filter(|url| !url.is_empty());
        let host = |url: String| reqwest::Url::parse(&url).ok().and_then(|url| url.host_str().map(str::to_owned));
        Ok(url.map(|url| host(url).unwrap_or_else(|| "an address that cannot be read".to_owned())))
    }

    /// Sends one message. Not idempotent: after [`Unknown`](TelegramError::Unknown) or
    /// [`Malformed`](TelegramError::Malformed), the message may have been sent.
    pub async fn send(&self, outgoing: &Outgoing) -> Result<Sent, TelegramError> {
        let message: dto::MessageReference = self.request(&request::send_message(outgoing)?).await?;
        Ok(Sent {
            id: message.id().ok_or_else(|| missing("message_id"))?,
            sent_at: Timestamp::from_secs(message.date.ok_or_else(|| missing("date"))?),
        })
    }

    /// Sends a poll and returns the ids of the message and of the poll. Not idempotent, like [`send`](Self::send).
    pub async fn send_poll(&self, to: ReplyTarget, poll: &Poll) -> Result<(MessageId, String), TelegramError> {
        let message: dto::MessageReference = self.request(&request::send_poll(to, poll)?).await?;
        let id = message.id().ok_or_else(|| missing("message_id"))?;
        Ok((id, message.poll.and_then(|poll| poll.id).ok_or_else(|| missing("poll"))?))
    }

    /// Answers a question in a chat that the bot is not in. Returns the id with which the answer can be edited.
    pub async fn answer_guest(&self, query: &str, content: &FormattedText) -> Result<String, TelegramError> {
        let sent: dto::SentGuestMessage = self.request(&request::answer_guest_query(query, content)).await?;
        sent.inline_message_id.ok_or_else(|| missing("inline_message_id"))
    }

    pub async fn edit_guest_answer(&self, id: &str, content: &FormattedText) -> Result<(), TelegramError> {
        self.tell(&request::edit_inline_message(id, content)).await
    }

    /// Sends a file. Not idempotent, like [`send`](Self::send).
    pub async fn send_file(&self, chat: ChatId, name: &str, bytes: Vec<u8>) -> Result<(), TelegramError> {
        let file = Part::bytes(bytes).file_name(name.to_owned());
        let form = Form::new().text("chat_id", chat.to_string()).part("document", file);
        let request = self.shared.sending.post(self.url("sendDocument")).timeout(FILE_TIMEOUT).multipart(form);
        self.answer_to(request).await.map(drop)
    }

    /// Downloads a file by its id; `None` if it has more than `most` bytes.
    pub async fn download(&self, file: &str, most: usize) -> Result<Option<Vec<u8>>, TelegramError> {
        let place: dto::Download = self.request(&GetFile::new(wire::FileId(file.to_owned()))).await?;
        let path = place.file_path.ok_or_else(|| missing("file_path"))?;
        let TelegramConfig { api_url, token, .. } = &self.shared.options;
        if path.starts_with('/') {
            let reading = read_local(PathBuf::from(path), token.expose_secret().to_owned(), most);
            return reading.await.inspect_err(|error| tracing::warn!(%error, "chat.error: a file cannot be read"));
        }
        let url = format!("{}/file/bot{}/{path}", api_url.trim_end_matches('/'), token.expose_secret());
        let response = self.shared.sending.get(url).timeout(FILE_TIMEOUT).send().await.map_err(connection_error)?;
        let status = response.status().as_u16();
        if status != 200 {
            classify(status, "")?;
        }
        read_at_most(response, most).await
    }

    /// Replaces the text and buttons of a message, which may be an ephemeral one that `receiver` sees.
    pub async fn edit_for(
        &self,
        receiver: UserId,
        chat: ChatId,
        message: MessageId,
        content: &FormattedText,
        buttons: &[Vec<Button>],
    ) -> Result<(), TelegramError> {
        match message.ephemeral_number() {
            Some(number) => self.tell(&request::edit_ephemeral(chat, receiver, number, content, buttons)?).await,
            None => self.edit(chat, message, content, buttons).await,
        }
    }

    /// Replaces the text and buttons of a message. Idempotent: an unchanged message counts as success.
    pub async fn edit(
        &self,
        chat: ChatId,
        message: MessageId,
        content: &FormattedText,
        buttons: &[Vec<Button>],
    ) -> Result<(), TelegramError> {
        match self.tell(&request::edit_message(chat, message, content, buttons)?).await {
            Err(TelegramError::NotModified) => Ok(()),
            edited => edited,
        }
    }

    /// Shows the beginning of an answer in a private chat while the model writes it. A later draft with the same
    /// `answer_to` replaces it.
    pub async fn draft(
        &self,
        chat: ChatId,
        forum_topic: Option<ForumTopicId>,
        answer_to: MessageId,
        content: &FormattedText,
    ) -> Result<(), TelegramError> {
        self.tell(&request::send_message_draft(chat, forum_topic, answer_to, content)?).await
    }

    pub async fn delete(&self, chat: ChatId, message: MessageId) -> Result<(), TelegramError> {
        self.tell(&request::delete_message(chat, message)?).await
    }

    /// Shows the typing status for 5 s or until the next message of the bot.
    pub async fn typing(&self, chat: ChatId, forum_topic: Option<ForumTopicId>) -> Result<(), TelegramError> {
        self.tell(&request::typing(chat, forum_topic)?).await
    }

    /// Sets the bot's reaction to a message, or removes it if `emoji` is `None`. Telegram allows only certain `emoji`.
    pub async fn react(&self, chat: ChatId, message: MessageId, emoji: Option<&str>) -> Result<(), TelegramError> {
        self.tell(&request::react(chat, message, emoji)?).await
    }

    pub async fn set_commands(&self, menu: &Menu) -> Result<(), TelegramError> {
        self.tell(&request::set_commands(menu)).await
    }

    /// Returns the current short description, shown on the bot's profile page.
    pub async fn short_description(&self) -> Result<String, TelegramError> {
        let kept: dto::ShortDescription = self.request(&GetMyShortDescription::new()).await?;
        Ok(kept.short_description.unwrap_or_default())
    }

    /// Sets the short description of at most 120 characters.
    pub async fn set_short_description(&self, line: &str) -> Result<(), TelegramError> {
        let mut payload = SetMyShortDescription::new();
        payload.short_description = Some(line.to_owned());
        self.tell(&payload).await
    }

    pub async fn leave_chat(&self, chat: ChatId) -> Result<(), TelegramError> {
        self.tell(&LeaveChat::new(request::chat_id(chat))).await
    }

    /// Returns the status of a user in a chat. `user` may be a chat in whose name somebody writes. Makes no request if
    /// the ids tell the answer: ids of groups and channels are negative, ids of people positive.
    pub async fn member_status(&self, chat: ChatId, user: UserId) -> Result<MemberStatus, TelegramError> {
        match (chat.0 == user.0, user.0 < 0) {
            // A private chat has the id of its user.
            (true, false) => Ok(MemberStatus::Owner),
            // Only admins can post in the name of their group.
            (true, true) => Ok(MemberStatus::Admin),
            (false, true) => Ok(MemberStatus::Outside),
            (false, false) => self.status_or_admin(chat, user).await,
        }
    }

    /// Returns the status of a user. In a group with hidden members, Telegram tells a bot that is no admin only who the
    /// admins are: everybody else counts as [`Outside`](MemberStatus::Outside) there.
    async fn status_or_admin(&self, chat: ChatId, user: UserId) -> Result<MemberStatus, TelegramError> {
        let refused = match self.get_chat_member(chat, user).await {
            Err(refused @ TelegramError::Refused { .. }) => refused,
            status => return status,
        };
        match self.request::<_, Items<dto::ChatMember>>(&GetChatAdministrators::new(request::chat_id(chat))).await {
            Ok(Items(admins)) => {
                let listed = admins.into_iter().find(|admin| admin.user.as_ref().and_then(|it| it.id) == Some(user.0));
                Ok(listed.and_then(|admin| admin.status()).unwrap_or(MemberStatus::Outside))
            }
            Err(error) if error.is_lasting() => Err(refused),
            Err(error) => Err(error),
        }
    }

    pub async fn get_chat_member(&self, chat: ChatId, user: UserId) -> Result<MemberStatus, TelegramError> {
        let payload = GetChatMember::new(request::chat_id(chat), request::user_id(user)?);
        let member: dto::ChatMember = self.request(&payload).await?;
        member.status().ok_or_else(|| missing("status"))
    }

    /// Ends the loading state of a pressed button, with an optional short notice.
    pub async fn answer_callback(&self, id: &str, text: Option<&str>) -> Result<(), TelegramError> {
        let mut payload = AnswerCallbackQuery::new(wire::CallbackQueryId(id.to_owned()));
        payload.text = text.map(str::to_owned);
        self.tell(&payload).await
    }

    async fn tell<P: Payload + Serialize>(&self, payload: &P) -> Result<(), TelegramError> {
        self.call(&self.shared.sending, payload, self.shared.options.send_timeout).await.map(drop)
    }

    async fn request<P: Payload + Serialize, T: DeserializeOwned>(&self, payload: &P) -> Result<T, TelegramError> {
        let result = self.call(&self.shared.sending, payload, self.shared.options.send_timeout).await?;
        serde_json::from_str(result.get()).map_err(|error| TelegramError::Malformed { fault: fault(&error) })
    }

    async fn call<P: Payload + Serialize>(
        &self,
        client: &reqwest::Client,
        payload: &P,
        limit: Duration,
    ) -> Result<Box<RawValue>, TelegramError> {
        let url = self.url(&method_name::<P>());
        let body = serde_json::to_vec(payload).map_err(|error| TelegramError::unsendable(fault(&error)))?;
        let request = client.post(url).header(CONTENT_TYPE, "application/json").timeout(limit).body(body);
        self.answer_to(request).await
    }

    fn url(&self, method: &str) -> String {
        let TelegramConfig { api_url, token, .. } = &self.shared.options;
        format!("{}/bot{}/{method}", api_url.trim_end_matches('/'), token.expose_secret())
    }

    async fn answer_to(&self, request: reqwest::RequestBuilder) -> Result<Box<RawValue>, TelegramError> {
        let response = request.send().await.map_err(connection_error)?;
        let status = response.status().as_u16();
        if let Some(date) = date_of(response.headers()) {
            *self.shared.server_date.lock() = Some(date);
        }
        let too_long = || TelegramError::Malformed { fault: format!("more than {MOST_BYTES} bytes") };
        let body = read_at_most(response, MOST_BYTES).await?.ok_or_else(too_long)?;
        classify(status, &String::from_utf8_lossy(&body))
    }

    fn forget_poll_connection(&self) {
        if let Ok(fresh) = http_client(&self.shared.options.api_url) {
            *self.shared.polling.lock() = fresh;
        }
    }
}

/// Returns the method name on the wire, such as `getUpdates` for `GetUpdates`.
pub fn method_name<P: Payload>() -> String {
    let mut name = P::NAME.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    name
}

/// Builds a client for HTTP/1 only: a timed-out request closes its connection, whereas HTTP/2 would reuse a dead one.
/// Does not follow redirects, which would send the token in the path to another host.
fn http_client(api_url: &str) -> Result<reqwest::Client, TelegramError> {
    /// Connections that were idle for this long are closed, because a router may have dropped them silently.
    const IDLE: Duration = Duration::from_secs(30);
    // reqwest panics without a process-wide provider. A second installation is refused and does no harm.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = reqwest::Url::parse(api_url).ok();
    let is_near = url.as_ref().and_then(reqwest::Url::host_str).is_some_and(is_loopback);
    let builder = reqwest::Client::builder();
    // A server on this machine is never behind a proxy.
    let builder = if is_near { builder.no_proxy() } else { builder };
    // Without TLS, skips loading the system's certificates: it would take longer than the rest of the start.
    let is_plain = is_near && url.as_ref().is_some_and(|url| url.scheme() == "http");
    let builder = if is_plain { builder.tls_certs_only([]) } else { builder };
    builder
        .http1_only()
        .redirect(Policy::none())
        .tcp_nodelay(true)
        .tcp_keepalive(IDLE)
        .pool_idle_timeout(IDLE)
        .connect_timeout(CONNECT_TIMEOUT)
        .build()
        .map_err(connection_error)
}

/// Reads the body of a response; `None` if it has more than `most` bytes. A proxy in between may send endless data.
async fn read_at_most(mut response: reqwest::Response, most: usize) -> Result<Option<Vec<u8>>, TelegramError> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(connection_error)? {
        if body.len() + piece.len() > most {
            return Ok(None);
        }
        body.extend_from_slice(&piece);
    }
    Ok(Some(body))
}

/// Reads a file from the disk of a Bot API server in local mode; `None` if it has more than `most` bytes. The server
/// keeps its files in a folder named after the token: a path or link to another place is refused.
async fn read_local(path: PathBuf, token: String, most: usize) -> Result<Option<Vec<u8>>, TelegramError> {
    let read = move || -> std::io::Result<Option<Vec<u8>>> {
        let path = path.canonicalize()?;
        if !path.components().any(|part| part.as_os_str() == token.as_str()) {
            return Err(std::io::ErrorKind::PermissionDenied.into());
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
        Ok((bytes.len() <= most).then_some(bytes))
    };
    let read = tokio::task::spawn_blocking(read).await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    // The error omits the path, which contains the token.
    read.map_err(|error| {
        let advice =
            "the Bot API server keeps files on its own disk: let Chime read its working directory at the same path";
        TelegramError::unsendable(format!("{advice} ({})", error.kind()))
    })
}

fn date_of(headers: &HeaderMap) -> Option<Timestamp> {
    let date = chrono::DateTime::parse_from_rfc2822(headers.get(DATE)?.to_str().ok()?).ok()?;
    Some(Timestamp::from_secs(date.timestamp()))
}

/// Converts an error and removes its address, which contains the token.
fn connection_error(error: reqwest::Error) -> TelegramError {
    let error = error.without_url();
    if error.is_connect() || error.is_builder() {
        TelegramError::NotSent(error)
    } else {
        TelegramError::Unknown(LostReply::Connection(error))
    }
}

fn missing(field: &str) -> TelegramError {
    TelegramError::Malformed { fault: format!("no `{field}` in the result") }
}

#[cfg(test)]
mod tests;
