//! `/usage`: shows admins the tokens that the chat used today and this month, by member and model.

use std::collections::BTreeMap;

use chrono::Datelike;

use crate::commands::handlers::{CommandRequest, Commands, Shown};
use chime_access::cap_of_chat;
use chime_answer::sanitize::shown_name;
use chime_core::texts::{Texts, filled};
use chime_core::{Job, Member, Spent, UserId, grouped};
use chime_jobs::JobResult;
use chime_store::usage::MemberUsage;
use chime_store::{chats, messages, usage};

/// Largest number of members that are listed by name.
const MOST_MEMBERS: usize = 15;

impl Commands {
    pub(super) async fn show_usage(&self, job: &Job, command: CommandRequest) -> JobResult {
        let message = &command.message.message;
        let usual = &command.texts().usage.only_admins;
        if let Some(refusal) = self.refusal_to_change(&command.chat, message.sender.id, usual).await? {
            return self.say(job, &command, refusal).await;
        }
        let (chat, now) = (command.chat.key, self.base.clock.now());
        let first = now.day() - i64::from(now.to_utc().day0());
        let read = move |conn: &chime_store::Reader| {
            let spent = usage::spent(conn, now, chat, UserId(0))?;
            let used = usage::of_chat(conn, chat, first, now)?;
            // A member's name is deleted together with that member's newest message, so that message is a source of the
            // reply.
            let users = used.iter().filter_map(|it| it.user);
            let rests_on =
                users.map(|user| messages::newest_of(conn, chat, user)).collect::<chime_store::Result<Vec<_>>>()?;
            Ok((used, chats::members(conn, chat)?, spent, rests_on.into_iter().flatten().collect()))
        };
        let (used, members, spent, rests_on) = self.base.store.read(read).await?;
        let cap = cap_of_chat(Spent { of_member: 0, ..spent }, self.base.config.limits.daily_tokens);
        let markdown = report(&used, &members, cap, command.texts());
        self.answer_showing(job, &command, Shown { markdown, rests_on, ..Shown::of_chat(chat) }).await
    }
}

fn report(used: &[MemberUsage], members: &[Member], cap: Option<u64>, texts: &Texts) -> String {
    let own = &texts.usage;
    let [today, all, cost] =
        [|it: &MemberUsage| it.today, |it: &MemberUsage| it.all, |it: &MemberUsage| it.cost_micros]
            .map(|part| used.iter().map(part).sum::<u64>());
    let today = match cap {
        Some(cap) => filled(&own.today_of, &[("n", &grouped(today)), ("cap", &grouped(cap))]),
        None => filled(&own.today, &[("n", &grouped(today))]),
    };
    let mut lines = vec![format!("- {today}"), format!("- {}", filled(&own.month, &[("n", &grouped(all))]))];
    if cost > 0 {
        lines.push(format!("- {}", filled(&own.cost, &[("n", &format!("{:.2}", cost as f64 / 1e6))])));
    }
    let name = |it: &MemberUsage| match it.user {
        None => own.background.clone(),
        Some(user) => {
            let known = members.iter().find(|member| member.id == user);
            known.map_or(own.others.clone(), |member| shown_name(&member.name))
        }
    };
    let model = |it: &MemberUsage| format!("`{}`", it.model.replace('`', ""));
    for (head, parts) in [(&own.members, sums(used, name)), (&own.models, sums(used, model))] {
        if !parts.is_empty() {
            lines.push(format!("\n{head}\n"));
            let parts = parts.into_iter().take(MOST_MEMBERS);
            lines.extend(parts.map(|(name, tokens)| format!("- {name}: {}", grouped(tokens))));
        }
    }
    format!("{}\n\n{}", own.head, lines.join("\n"))
}

/// Returns the tokens of the month by name, the largest first.
fn sums(used: &[MemberUsage], name: impl Fn(&MemberUsage) -> String) -> Vec<(String, u64)> {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for it in used {
        *sums.entry(name(it)).or_default() += it.all;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
    sums
}
