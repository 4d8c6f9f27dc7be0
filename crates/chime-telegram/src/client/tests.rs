use std::error::Error;
use std::future::{Future, pending};

use expect_test::{Expect, expect};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use chime_core::{CommandName, MenuScope};
use chime_core::{FormattedText, ReplyTarget};
use chime_testkit::updates::{BotApi, validate_request};

const TOKEN: &str = "123:VERY-SECRET";

enum ScriptedReply {
    Say(u16, &'static str),
    /// Like `Say`, but keeps the connection open.
    Stay(u16, &'static str),
    /// Closes the connection after reading the request.
    HangUp,
    Hang,
    /// Announces a longer body than it sends.
    CutShort,
}

fn client(address: &str, send_timeout: Duration) -> Telegram {
    Telegram::new(TelegramConfig {
        api_url: format!("http://{address}/"),
        token: TOKEN.into(),
        poll_timeout: Duration::from_secs(50),
        send_timeout,
    })
    .unwrap()
}

/// Runs `test` against a server that plays `replies`, one per connection. Returns the result and all requests as method
/// and parameters, checked against the Bot API.
async fn against<T, F: Future<Output = T>>(
    replies: Vec<ScriptedReply>,
    send_timeout: Duration,
    test: impl FnOnce(Telegram) -> F,
) -> (T, Vec<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let telegram = client(&listener.local_addr().unwrap().to_string(), send_timeout);
    let seen = Mutex::new(Vec::new());
    let server = async {
        let mut held = Vec::new();
        for reply in replies {
            let (mut stream, _) = listener.accept().await.unwrap();
            let request = request(&mut stream).await;
            seen.lock().push(request);
            respond(&mut stream, &reply).await;
            if matches!(reply, ScriptedReply::Hang | ScriptedReply::Stay(..)) {
                held.push(stream);
            }
        }
        pending::<()>().await;
    };
    let outcome = tokio::select! {
        outcome = test(telegram) => outcome,
        () = server => unreachable!("the server never ends"),
    };
    let seen = seen.into_inner();
    for (method, params) in &seen {
        validate_request(BotApi::bundled(), method, params).unwrap();
    }
    (outcome, seen)
}

async fn request(stream: &mut TcpStream) -> (String, Value) {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_lowercase().split_once("content-length: ").and_then(|(_, rest)| {
                rest.split_once("\r\n").map_or(rest, |(length, _)| length).trim().parse::<usize>().ok()
            });
            if body.len() >= length.unwrap_or(0) {
                let path = head.split(' ').nth(1).unwrap();
                let method = path.strip_prefix(&format!("/bot{TOKEN}/")).unwrap().to_owned();
                return (method, serde_json::from_str(body).unwrap());
            }
        }
        let mut chunk = [0; 4096];
        let read = stream.read(&mut chunk).await.unwrap();
        assert!(read > 0, "the request ended early");
        bytes.extend_from_slice(&chunk[..read]);
    }
}

async fn respond(stream: &mut TcpStream, reply: &ScriptedReply) {
    let text = match reply {
        ScriptedReply::Say(status, body) => {
            format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
        }
        ScriptedReply::Stay(status, body) => {
            format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        }
        ScriptedReply::CutShort => "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"ok\":true,".to_owned(),
        ScriptedReply::HangUp | ScriptedReply::Hang => return,
    };
    stream.write_all(text.as_bytes()).await.unwrap();
}

fn outgoing() -> Outgoing {
    let to = ReplyTarget { chat: ChatId(-1001), forum_topic: None, reply_to: Some(MessageId(42)) };
    Outgoing::new(to, FormattedText::plain("hello"))
}

/// Formats the error and its sources as a log would.
fn described(error: &TelegramError) -> String {
    let mut described = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(cause) = source {
        described.push_str(&format!(" {cause} {cause:?}"));
        source = cause.source();
    }
    described
}

/// Sends one message and checks the outcome.
async fn check_send(reply: ScriptedReply, timeout: Duration, expected: Expect) {
    let (outcome, seen) = against(vec![reply], timeout, |t| async move { t.send(&outgoing()).await }).await;
    assert_eq!(seen.len(), 1);
    let shown = match outcome {
        Ok(sent) => format!("{sent:?}"),
        Err(error) => {
            assert!(!described(&error).contains("SECRET"), "the token leaks: {}", described(&error));
            error.to_string()
        }
    };
    expected.assert_eq(&shown);
}

const PATIENT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_sent_message_has_an_id_and_a_time() {
    check_send(
        ScriptedReply::Say(
            200,
            r#"{"ok":true,"result":{"message_id":43,"date":1790000000,"chat":{},"text":"\ud800"}}"#,
        ),
        PATIENT,
        expect!["Sent { id: MessageId(43), sent_at: Timestamp(1790000000000) }"],
    )
    .await;
}

#[tokio::test]
async fn an_outcome_that_nobody_told_us_is_unknown() {
    check_send(ScriptedReply::HangUp, PATIENT, expect!["the outcome is not known"]).await;
    check_send(ScriptedReply::CutShort, PATIENT, expect!["the outcome is not known"]).await;
    check_send(ScriptedReply::Hang, Duration::from_millis(100), expect!["the outcome is not known"]).await;
    check_send(ScriptedReply::Say(504, "<html>"), PATIENT, expect!["the outcome is not known"]).await;
}

#[tokio::test]
async fn success_without_a_message_is_malformed() {
    check_send(
        ScriptedReply::Say(200, "<html>"),
        PATIENT,
        expect!["unreadable answer: syntax error at line 1 column 1"],
    )
    .await;
    check_send(
        ScriptedReply::Say(200, r#"{"ok":true,"result":true}"#),
        PATIENT,
        expect!["unreadable answer: data error at line 1 column 4"],
    )
    .await;
    check_send(
        ScriptedReply::Say(200, r#"{"ok":true,"result":{}}"#),
        PATIENT,
        expect!["unreadable answer: no `message_id` in the result"],
    )
    .await;
}

#[tokio::test]
async fn a_refusal_comes_through() {
    check_send(
        ScriptedReply::Say(429, r#"{"ok":false,"error_code":429,"description":"x","parameters":{"retry_after":3}}"#),
        PATIENT,
        expect!["throttled for 3 s"],
    )
    .await;
}

#[tokio::test]
async fn without_a_connection_surely_nothing_was_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = client(&address, PATIENT).send(&outgoing()).await.unwrap_err();
    assert!(matches!(error, TelegramError::NotSent(_)), "{error:?}");
    assert!(!described(&error).contains("SECRET"), "{}", described(&error));
}

#[tokio::test]
async fn the_client_shows_no_token() {
    let shown = format!("{:?}", client("127.0.0.1:1", PATIENT));
    assert!(shown.contains("api_url") && !shown.contains("SECRET"), "{shown}");
}

#[tokio::test]
async fn an_api_url_that_is_none_sends_nothing_and_shows_no_token() {
    let options = TelegramConfig {
        api_url: "not a url".to_owned(),
        token: TOKEN.into(),
        poll_timeout: PATIENT,
        send_timeout: PATIENT,
    };
    let error = Telegram::new(options).unwrap().get_me().await.unwrap_err();
    assert!(matches!(error, TelegramError::NotSent(_)), "{error:?}");
    assert!(!described(&error).contains("SECRET"), "{}", described(&error));
}

#[tokio::test]
async fn a_hung_poll_holds_up_no_reply() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let telegram = client(&listener.local_addr().unwrap().to_string(), PATIENT);
    let (polled, poll_arrived) = tokio::sync::oneshot::channel();
    let server = async {
        let (mut hung, _) = listener.accept().await.unwrap();
        assert_eq!(request(&mut hung).await.0, "getUpdates");
        polled.send(()).unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        assert_eq!(request(&mut stream).await.0, "sendMessage");
        let sent = ScriptedReply::Say(200, r#"{"ok":true,"result":{"message_id":43,"date":1790000000}}"#);
        respond(&mut stream, &sent).await;
        pending::<()>().await;
    };
    let reply = async {
        poll_arrived.await.unwrap();
        telegram.send(&outgoing()).await
    };
    tokio::select! {
        sent = reply => assert_eq!(sent.unwrap().id, MessageId(43)),
        updates = telegram.get_updates(None) => panic!("the poll ended: {updates:?}"),
        () = server => unreachable!("the server never ends"),
    }
}

#[tokio::test]
async fn after_a_failed_poll_its_connection_is_not_used_again() {
    // Both connections stay open and serve one request each: a second request on the first would hang.
    let replies = vec![ScriptedReply::Stay(502, "<html>"), ScriptedReply::Stay(200, r#"{"ok":true,"result":[]}"#)];
    let ((), seen) = against(replies, PATIENT, |telegram| async move {
        telegram.get_updates(None).await.unwrap_err();
        assert_eq!(telegram.get_updates(None).await.unwrap(), []);
    })
    .await;
    assert_eq!(seen.len(), 2);
}

#[tokio::test]
async fn polling_recovers_from_every_bad_answer() {
    let replies = vec![
        ScriptedReply::HangUp,
        ScriptedReply::CutShort,
        ScriptedReply::Say(200, "garbage"),
        ScriptedReply::Say(500, "<html>"),
        ScriptedReply::Say(409, r#"{"ok":false,"error_code":409,"description":"Conflict: terminated"}"#),
        ScriptedReply::Say(200, r#"{"ok":true,"result":[null,{"update_id":8,"message":{}}]}"#),
    ];
    let (shown, seen) = against(replies, PATIENT, |telegram| async move {
        let mut shown = Vec::new();
        for _ in 0..6 {
            shown.push(match telegram.get_updates(Some(8)).await {
                Ok(updates) => format!("{:?}", updates.iter().map(|u| u.id).collect::<Vec<_>>()),
                Err(error) => error.to_string(),
            });
        }
        shown.join("\n")
    })
    .await;
    expect![[r#"
        the outcome is not known
        the outcome is not known
        unreadable answer: syntax error at line 1 column 1
        the outcome is not known
        somebody else receives the updates: Conflict: terminated
        [None, Some(UpdateId(8))]"#]]
    .assert_eq(&shown);
    assert!(seen.iter().all(|(_, params)| params["offset"] == 8 && params["allowed_updates"].is_array()));
}

#[tokio::test]
async fn the_bot_learns_who_it_is() {
    let me = r#"{"ok":true,"result":{"id":99,"is_bot":true,"first_name":"Chime","username":"chime_bot",
        "active_usernames":["chime_bot","chime"],"can_read_all_group_messages":true}}"#;
    let (me, _) =
        against(vec![ScriptedReply::Say(200, me)], PATIENT, |t| async move { t.get_me().await.unwrap() }).await;
    expect![[r#"BotIdentity { id: UserId(99), usernames: ["chime_bot", "chime"], name: "Chime", reads_all_group_messages: true }"#]]
        .assert_eq(&format!("{me:?}"));
}

#[tokio::test]
async fn every_other_method_is_as_the_bot_api_has_it() {
    let done = || ScriptedReply::Say(200, r#"{"ok":true,"result":true}"#);
    let member = ScriptedReply::Say(200, r#"{"ok":true,"result":{"status":"creator","user":{"id":5}}}"#);
    let replies = vec![done(), done(), done(), done(), done(), member];
    let chat = ChatId(-1001);
    let (status, seen) = against(replies, PATIENT, |t| async move {
        t.typing(chat, None).await.unwrap();
        t.react(chat, MessageId(42), Some("👀")).await.unwrap();
        let commands = vec![(CommandName::Ask, "Ask about the chat")];
        t.set_commands(&Menu { scope: MenuScope::Private, language: "en", commands }).await.unwrap();
        t.leave_chat(chat).await.unwrap();
        t.answer_callback("q1", Some("Done")).await.unwrap();
        t.get_chat_member(chat, UserId(5)).await.unwrap()
    })
    .await;
    assert_eq!(status, MemberStatus::Owner);
    let shown: Vec<String> = seen.iter().map(|(method, params)| format!("{method} {params}")).collect();
    expect![[r#"
        sendChatAction {"action":"typing","chat_id":-1001}
        setMessageReaction {"chat_id":-1001,"message_id":42,"reaction":[{"emoji":"👀","type":"emoji"}]}
        setMyCommands {"commands":[{"command":"ask","description":"Ask about the chat"}],"scope":{"type":"all_private_chats"}}
        leaveChat {"chat_id":-1001}
        answerCallbackQuery {"callback_query_id":"q1","text":"Done"}
        getChatMember {"chat_id":-1001,"user_id":5}"#]]
    .assert_eq(&shown.join("\n"));
}

#[tokio::test]
async fn an_answer_without_end_is_not_kept_in_memory() {
    let endless: &'static str = Box::leak("x".repeat(MOST_BYTES + 1).into_boxed_str());
    let (outcome, _) = against(vec![ScriptedReply::Say(200, endless)], Duration::from_secs(30), async |telegram| {
        telegram.get_updates(None).await
    })
    .await;
    let error = outcome.unwrap_err();
    assert!(matches!(&error, TelegramError::Malformed { fault } if fault.starts_with("more than")), "{error:?}");
}
