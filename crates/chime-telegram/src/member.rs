//! Membership status in a chat.

use crate::dto::ChatMember;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberStatus {
    Owner,
    Admin,
    Member,
    /// Never a member, left, or banned.
    Outside,
}

impl MemberStatus {
    pub fn is_admin(self) -> bool {
        matches!(self, Self::Owner | Self::Admin)
    }

    pub fn is_member(self) -> bool {
        !matches!(self, Self::Outside)
    }
}

impl ChatMember {
    /// Returns the status, or `None` if it is missing. Unknown statuses count as `Member`.
    pub fn status(&self) -> Option<MemberStatus> {
        Some(match (self.status.as_deref()?, self.is_member) {
            ("creator", _) => MemberStatus::Owner,
            ("administrator", _) => MemberStatus::Admin,
            ("left" | "kicked", _) | ("restricted", Some(false)) => MemberStatus::Outside,
            _ => MemberStatus::Member,
        })
    }

    /// Returns `false` for a restricted member without the right to send messages.
    pub fn may_send(&self) -> bool {
        self.status.as_deref() != Some("restricted") || self.can_send_messages != Some(false)
    }
}
