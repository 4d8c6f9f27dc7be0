//! Describes service messages in short English phrases.

use crate::dto::{self, Items, filled, minutes};
use chime_core::UserId;

/// Returns the event in words to put after the sender's name, such as `pinned a message`, or a whole sentence such as
/// `Ana joined`. `None` if the message describes no event.
pub fn describe(message: &dto::TelegramMessage) -> Option<String> {
    let (service, actor) = (&message.service, message.head.from.as_ref());
    members(service, actor).or_else(|| with_a_name(service)).or_else(|| message.event.map(str::to_owned))
}

/// Returns the users that the event names besides its sender.
pub fn named(service: &dto::Service) -> Vec<UserId> {
    let invited = service.video_chat_participants_invited.as_ref().and_then(|invited| invited.users.as_ref());
    let owner = service.chat_owner_changed.as_ref().and_then(|change| change.new_owner.as_ref());
    let lists = [Items::of(service.new_chat_members.as_ref()), Items::of(invited)];
    let users = lists.into_iter().flatten().chain(service.left_chat_member.as_ref()).chain(owner);
    users.filter_map(|user| user.id).map(UserId).collect()
}

pub fn left(service: &dto::Service) -> Option<UserId> {
    service.left_chat_member.as_ref().and_then(|user| user.id).map(UserId)
}

pub fn joined_bots(service: &dto::Service) -> Vec<UserId> {
    let joined = Items::of(service.new_chat_members.as_ref()).iter();
    joined.filter(|user| user.is_bot == Some(true)).filter_map(|user| user.id).map(UserId).collect()
}

fn members(service: &dto::Service, actor: Option<&dto::User>) -> Option<String> {
    let actor = actor.and_then(|user| user.id);
    if let Some(Items(joined)) = &service.new_chat_members {
        let by_themselves = joined.iter().all(|member| member.id == actor);
        let names = names(joined);
        return Some(if by_themselves { format!("{names} joined") } else { format!("added {names}") });
    }
    let left = service.left_chat_member.as_ref()?;
    let name = name(left);
    Some(if left.id == actor { format!("{name} left") } else { format!("removed {name}") })
}

fn with_a_name(service: &dto::Service) -> Option<String> {
    let topic = |topic: &dto::Named| filled(topic.name.as_deref());
    if let Some(title) = &service.new_chat_title {
        Some(format!("changed the title to {title}"))
    } else if let Some(created) = &service.forum_topic_created {
        Some(topic(created).map_or_else(|| "created a topic".to_owned(), |name| format!("created the topic {name}")))
    } else if let Some(edited) = &service.forum_topic_edited {
        let renamed = topic(edited).map(|name| format!("renamed the topic to {name}"));
        Some(renamed.unwrap_or_else(|| "changed the topic's icon".to_owned()))
    } else if let Some(call) = &service.video_chat_ended {
        let length = call.duration.map(minutes).map(|length| format!(" after {length}"));
        Some(format!("ended the video chat{}", length.unwrap_or_default()))
    } else if let Some(invited) = &service.video_chat_participants_invited {
        Some(format!("invited {} to the video chat", names(Items::of(invited.users.as_ref()))))
    } else {
        let owner = service.chat_owner_changed.as_ref()?.new_owner.as_ref();
        Some(format!("made {} the owner", owner.map_or_else(|| "someone".to_owned(), name)))
    }
}

fn names(users: &[dto::User]) -> String {
    match users {
        [] => "someone".to_owned(),
        users => users.iter().map(name).collect::<Vec<_>>().join(", "),
    }
}

fn name(user: &dto::User) -> String {
    user.display_name().unwrap_or_else(|| "someone".to_owned())
}
