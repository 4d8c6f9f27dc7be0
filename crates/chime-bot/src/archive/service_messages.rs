//! Describes the service messages of an export (such as “Ana joined”), mostly with the words of live updates.

use chime_core::event_words;
use serde_json::Value;

/// Returns a description of a service message, or `None` for kinds that are not stored.
pub fn describe(message: &Value) -> Option<String> {
    let title = || message["title"].as_str().filter(|title| !title.is_empty());
    let actor = message["actor"].as_str();
    let named = |verb: &str, name: Option<&str>, without: &str| {
        name.map_or_else(|| without.to_owned(), |name| format!("{verb} {name}"))
    };
    Some(match message["action"].as_str()? {
        "invite_members" if members(message) == actor.map(|actor| vec![actor]).unwrap_or_default() => {
            format!("{} joined", actor.unwrap_or("someone"))
        }
        "invite_members" => format!("added {}", counted_members(message)),
        "join_group_by_link" | "join_group_by_request" => format!("{} joined", actor.unwrap_or("someone")),
        "remove_members" if members(message) == actor.map(|actor| vec![actor]).unwrap_or_default() => {
            format!("{} left", actor.unwrap_or("someone"))
        }
        "remove_members" => format!("removed {}", counted_members(message)),
        "edit_group_title" => named("changed the title to", title(), "changed the title to someone"),
        "topic_created" => named("created the topic", title(), "created a topic"),
        "topic_edit" => named(
            "renamed the topic to",
            message["new_title"].as_str().filter(|it| !it.is_empty()),
            "changed the topic's icon",
        ),
        "invite_to_group_call" => format!("invited {} to the video chat", counted_members(message)),
        "group_call" => match message["duration"].as_i64().or_else(|| message["duration_seconds"].as_i64()) {
            Some(seconds) => format!("ended the video chat after {}:{:02}", seconds / 60, seconds % 60),
            None => "started a video chat".to_owned(),
        },
        "custom_action" => message["text"].as_str().filter(|text| !text.is_empty())?.to_owned(),
        other => event_words(other).map_or_else(|| other.replace('_', " "), str::to_owned),
    })
}

fn members(message: &Value) -> Vec<&str> {
    message["members"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the number of members in words. An export has their names without ids, so a request to be forgotten would
/// not find them here.
fn counted_members(message: &Value) -> String {
    match message["members"].as_array().map_or(0, Vec::len) {
        0 | 1 => "a member".to_owned(),
        count => format!("{count} members"),
    }
}
