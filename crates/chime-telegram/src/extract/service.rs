//! Describes service messages in short English phrases.

use crate::dto::{self, Items, filled, minutes};
use chime_core::{TOPIC_CLOSED, UserId};

/// Returns the event in words to put after the sender's name, such as `pinned a message`, or a whole sentence such as
/// `Ana joined`. `None` if the message describes no event.
pub fn describe(service: &dto::Service, actor: Option<&dto::User>) -> Option<String> {
    members(service, actor).or_else(|| with_a_name(service)).or_else(|| plain(service).map(str::to_owned))
}

/// Returns the users that the event names besides its sender.
pub fn named(service: &dto::Service) -> Vec<UserId> {
    let invited = service.video_chat_participants_invited.as_ref().and_then(|invited| invited.users.as_ref());
    let owner = service.chat_owner_changed.as_ref().and_then(|change| change.new_owner.as_ref());
    let lists = [Items::of(service.new_chat_members.as_ref()), Items::of(invited)];
    let users = lists.into_iter().flatten().chain(service.left_chat_member.as_ref()).chain(owner);
    users.filter_map(|user| user.id).map(UserId).collect()
}

/// Returns the bots that were added to the chat.
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

fn plain(service: &dto::Service) -> Option<&'static str> {
    let suggested_post = service.suggested_post_approved.is_some()
        || service.suggested_post_approval_failed.is_some()
        || service.suggested_post_declined.is_some()
        || service.suggested_post_paid.is_some()
        || service.suggested_post_refunded.is_some();
    let gift = service.gift.is_some() || service.unique_gift.is_some() || service.gift_upgrade_sent.is_some();
    let price = service.paid_message_price_changed.is_some() || service.direct_message_price_changed.is_some();
    let events = [
        (service.migrate_to_chat_id.is_some(), "turned the group into a supergroup"),
        (service.migrate_from_chat_id.is_some(), "turned the group into a supergroup"),
        (service.pinned_message.is_some(), "pinned a message"),
        (service.new_chat_photo.is_some(), "changed the chat photo"),
        (service.delete_chat_photo.is_some(), "removed the chat photo"),
        (service.group_chat_created.is_some(), "created the group"),
        (service.supergroup_chat_created.is_some(), "created the group"),
        (service.channel_chat_created.is_some(), "created the channel"),
        (service.message_auto_delete_timer_changed.is_some(), "changed the auto-delete timer"),
        (service.chat_owner_left.is_some(), "left, and was the owner"),
        (service.forum_topic_closed.is_some(), TOPIC_CLOSED),
        (service.forum_topic_reopened.is_some(), "reopened the topic"),
        (service.general_forum_topic_hidden.is_some(), "hid the General topic"),
        (service.general_forum_topic_unhidden.is_some(), "showed the General topic again"),
        (service.video_chat_scheduled.is_some(), "scheduled a video chat"),
        (service.video_chat_started.is_some(), "started a video chat"),
        (service.boost_added.is_some(), "boosted the chat"),
        (service.chat_background_set.is_some(), "changed the chat background"),
        (service.checklist_tasks_done.is_some(), "ticked off tasks of a checklist"),
        (service.checklist_tasks_added.is_some(), "added tasks to a checklist"),
        (service.poll_option_added.is_some(), "added an option to a poll"),
        (service.poll_option_deleted.is_some(), "removed an option from a poll"),
        (service.giveaway_created.is_some(), "started a giveaway"),
        (service.giveaway_completed.is_some(), "finished a giveaway"),
        (service.proximity_alert_triggered.is_some(), "came close to another member"),
        (gift, "sent a gift"),
        (service.successful_payment.is_some(), "made a payment"),
        (service.refunded_payment.is_some(), "got a payment back"),
        (service.users_shared.is_some(), "shared contacts"),
        (service.chat_shared.is_some(), "shared a chat"),
        (service.connected_website.is_some(), "logged in to a website"),
        (service.write_access_allowed.is_some(), "allowed the bot to write"),
        (service.passport_data.is_some(), "sent documents"),
        (service.web_app_data.is_some(), "sent data from a web app"),
        (service.managed_bot_created.is_some(), "created a bot"),
        (price, "changed the price of messages"),
        (suggested_post, "dealt with a suggested post"),
    ];
    events.into_iter().find_map(|(happened, words)| happened.then_some(words))
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
