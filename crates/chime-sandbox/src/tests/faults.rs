use std::time::Duration;

use serde_json::json;
use tokio::net::TcpStream;

use crate::faults::{FOREVER, Fault};
use crate::tests::Desk;

/// Sends `hi` with `fault` for one call. Returns whether a readable response arrived, and how often the message was
/// sent.
async fn sending_under(fault: Fault) -> (bool, usize) {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&[]);
    desk.sandbox.fault("sendmessage", fault, 1);
    let answer = desk.try_call("sendMessage", json!({"chat_id": chat, "text": "hi"})).await;
    let sent = desk.sandbox.sent_by_bot(chat).len();
    desk.send(chat, "after the fault").await;
    (answer.is_ok(), sent)
}

#[tokio::test]
async fn a_line_dropped_before_the_call_leaves_nothing_behind() {
    assert_eq!(sending_under(Fault::DropBefore).await, (false, 0));
}

#[tokio::test]
async fn a_line_dropped_after_the_call_leaves_the_message() {
    assert_eq!(sending_under(Fault::DropAfter).await, (false, 1));
}

#[tokio::test]
async fn garbage_and_half_answers_cannot_be_read() {
    assert_eq!(sending_under(Fault::Garbage).await, (false, 1));
    assert_eq!(sending_under(Fault::Truncated).await, (false, 1));
    assert_eq!(sending_under(Fault::Status(502, "<h1>Bad Gateway</h1>".to_owned())).await, (false, 0));
}

#[tokio::test]
async fn half_an_answer_arrives_before_the_line_breaks() {
    let desk = Desk::open().await;
    desk.sandbox.fault("getMe", Fault::Truncated, 1);
    let mut response = desk.client.get(desk.url("getMe")).send().await.unwrap();
    let promised = response.content_length().unwrap();
    let half = response.chunk().await.unwrap().unwrap();
    assert_eq!(u64::try_from(half.len()).unwrap(), promised / 2);
    assert!(response.chunk().await.is_err());
}

#[tokio::test]
async fn a_throttled_call_says_how_long_in_both_places() {
    let desk = Desk::open().await;
    desk.sandbox.fault("*", Fault::Throttle(7), 1);
    let response = desk.client.get(desk.url("getMe")).send().await.unwrap();
    assert_eq!((response.status().as_u16(), response.headers()["retry-after"].to_str().unwrap()), (429, "7"));
    let body: serde_json::Value = response.json().await.unwrap();
    assert_eq!(body["parameters"]["retry_after"], 7);
}

#[tokio::test]
async fn faults_come_in_order_and_pass() {
    let desk = Desk::open().await;
    desk.sandbox.fault("getMe", Fault::Status(500, "{}".to_owned()), 2);
    desk.sandbox.fault("getMe", Fault::Status(503, "{}".to_owned()), FOREVER);
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(desk.client.get(desk.url("getMe")).send().await.unwrap().status().as_u16());
    }
    desk.sandbox.clear_faults();
    seen.push(desk.client.get(desk.url("getMe")).send().await.unwrap().status().as_u16());
    assert_eq!(seen, [500, 500, 503, 503, 200]);
    assert_eq!(desk.sandbox.calls().len(), 5);
}

#[tokio::test]
async fn a_call_hangs_until_it_is_released() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&[]);
    desk.sandbox.fault("sendMessage", Fault::Hang, 1);
    desk.sandbox.fault("sendMessage", Fault::HangAfter, 1);
    let params = json!({"chat_id": chat, "text": "hi"});
    let release = async {
        desk.sandbox.called("sendMessage", 2).await;
        let sent = desk.sandbox.sent_by_bot(chat).len();
        desk.sandbox.release();
        sent
    };
    let first = desk.try_call("sendMessage", params.clone());
    let second = async {
        desk.sandbox.called("sendMessage", 1).await;
        desk.try_call("sendMessage", params.clone()).await
    };
    let (first, second, sent) = tokio::join!(first, second, release);
    assert_eq!((first.is_ok(), second.is_ok(), sent), (false, true, 1));
}

#[tokio::test]
async fn a_delay_is_one_of_the_clock() {
    let desk = Desk::open().await;
    desk.sandbox.fault("getMe", Fault::Delay(Duration::from_hours(1)), 1);
    let wait = async {
        desk.sandbox.called("getMe", 1).await;
        desk.clock.advance(Duration::from_hours(1));
    };
    let (answer, ()) = tokio::join!(desk.call("getMe", json!({})), wait);
    assert_eq!(Desk::result(&answer)["username"], "bot");
}

#[tokio::test]
async fn every_call_is_on_record() {
    let desk = Desk::open().await;
    desk.sandbox.fault("getMe", Fault::DropBefore, 1);
    desk.try_call("getMe", json!({})).await.ok();
    desk.poll(json!({"limit": 5})).await;
    let calls = desk.sandbox.calls();
    assert!(calls[0].is("getme"));
    assert_eq!(calls[1].params, json!({"limit": 5}));
}

#[tokio::test]
async fn with_the_last_handle_every_line_is_cut_and_the_door_closed() {
    let desk = Desk::open().await;
    let Desk { sandbox, client, .. } = desk;
    let address = sandbox.api_url().trim_start_matches("http://").to_owned();
    let url = format!("{}/bot{}/getUpdates", sandbox.api_url(), sandbox.token());
    let waiting = client.post(url).json(&json!({"timeout": 50})).send();
    let end = async {
        sandbox.called("getUpdates", 1).await;
        let clone = sandbox.clone();
        drop(sandbox);
        assert!(TcpStream::connect(&address).await.is_ok(), "a clone keeps it open");
        drop(clone);
    };
    let (poll, ()) = tokio::join!(waiting, end);
    assert!(poll.is_err());
    while TcpStream::connect(&address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}
