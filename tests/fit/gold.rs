use serde_json::json;

use crate::truth::{GoldLine, Truth};

fn line(message_id: i64, conversation: &str, replies: &[i64]) -> GoldLine {
    let line = json!({
        "chat_id": "a chat", "message_id": message_id, "gold_conversation_id": conversation, "gold_reply_to_all": replies,
    });
    serde_json::from_value(line).expect("a line")
}

#[test]
fn a_message_may_be_about_two_things_or_about_none() {
    let lines = [line(1, "a", &[]), line(2, "-", &[]), line(3, "b+a", &[]), line(4, "b", &[])];
    let truth = Truth::of(&lines, true, 200);
    assert_eq!((truth.same(2), truth.same(3)), (&[0][..], &[2][..]));
    assert!(truth.are_kin(2, 3) && !truth.are_kin(0, 3) && !truth.is_known(1));
}

#[test]
fn conversations_that_are_joined_later_are_not_known_to_be_one_before() {
    let lines = [line(1, "a", &[]), line(2, "a", &[]), line(3, "a", &[1]), line(4, "a", &[2, 3])];
    let truth = Truth::of(&lines, false, 200);
    assert_eq!((truth.same(2), truth.same(3)), (&[0][..], &[0, 1, 2][..]));
}
